"""MEASURE: two models' predictions side by side, what moved and whether beyond noise."""
