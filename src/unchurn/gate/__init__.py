"""DECIDE: a policy of limits, the verdict on a candidate, and how many rows that takes."""
