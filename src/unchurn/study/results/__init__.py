"""The result of a study: its numbers, its files, and reading them again."""
