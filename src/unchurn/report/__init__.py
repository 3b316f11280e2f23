"""Ground that knows no subject: tables, numbers, charts and pages."""
