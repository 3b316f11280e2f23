"""What an upgrade breaks, and what helps: beside the paper, whose methods retrain on equal data."""
