"""The version of unchurn, in the lowest layer so that all can import it."""

__version__ = "0.2.0"
