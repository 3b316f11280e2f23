"""What an upgrade breaks, and what helps: not in the paper, which retrains on the same data."""
