"""Check the compared files for mistakes: cautions (warnings) and doubts (no promotion)."""
