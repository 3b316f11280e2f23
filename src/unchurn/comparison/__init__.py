"""MEASURE: compare two models' predictions: what changed, and whether beyond noise."""
