"""Recommend a method from the measured results of a study."""
