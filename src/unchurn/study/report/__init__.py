"""Show a study's result: tables, charts, an HTML page."""
