"""The demo: one story, told from runs made on the spot, beside what the paper published."""
