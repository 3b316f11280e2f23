"""Measures of two models' paired predictions: flips, probabilities, slices."""
