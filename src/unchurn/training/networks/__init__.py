"""The paper's networks, and the layers that make them fast."""
