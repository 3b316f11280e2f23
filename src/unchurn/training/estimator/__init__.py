"""`StableClassifier`: its inputs, fitting and saving."""
