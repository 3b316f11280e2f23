"""The training loop: one run of a method, its steps, its random numbers."""
