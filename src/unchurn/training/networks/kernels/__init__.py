"""Compiled code: pooling, and the gradients of what it lets through."""
