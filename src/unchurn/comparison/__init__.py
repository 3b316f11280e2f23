"""MEASURE: compare two models' predictions: what changed, and whether it exceeds noise."""
