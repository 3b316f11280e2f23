"""What is measured of two models' predictions: flips, probabilities, slices."""
