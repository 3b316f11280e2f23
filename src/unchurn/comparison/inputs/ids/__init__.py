"""Decide how to pair the rows of tables: by ids, a pandas index, or position."""
