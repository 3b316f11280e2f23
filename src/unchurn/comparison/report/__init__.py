"""Show a comparison: sentences, tables, charts, an HTML page."""
