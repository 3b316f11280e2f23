"""`StableClassifier`: what it is given, how it fits, what it saves."""
