"""Searches that propose candidate neighbours; exact distances decide."""
