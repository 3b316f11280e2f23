"""REDUCE: how anything is trained, of any framework, and `StableClassifier`."""
