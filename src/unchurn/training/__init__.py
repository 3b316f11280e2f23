"""REDUCE: train models of any framework; `StableClassifier` and `upgrade`."""
