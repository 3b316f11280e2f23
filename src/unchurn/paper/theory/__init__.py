"""The paper's two theorems: their bounds, and simulations of what they claim."""
