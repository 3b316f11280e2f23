"""A result for readers: tables, charts, a page."""
