"""Ground: tables, numbers, charts and pages, for any subject."""
