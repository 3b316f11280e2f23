"""STUDY: what the paper published, and what reproduces it."""
