"""The version of unchurn, below every room that states it."""

__version__ = "0.2.0"
