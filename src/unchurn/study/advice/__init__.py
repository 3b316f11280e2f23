"""What to use, by what was measured."""
