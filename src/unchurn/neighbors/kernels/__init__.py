"""Compiled code: trees, products, counting."""
