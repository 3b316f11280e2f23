"""The demo: one story from runs made then and there, beside what the paper published."""
