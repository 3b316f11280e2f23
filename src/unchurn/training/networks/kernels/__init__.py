"""Compiled code: pooling, and the gradients that it lets through."""
