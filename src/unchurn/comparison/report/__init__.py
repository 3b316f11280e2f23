"""A comparison for readers: words, tables, charts, a page."""
