"""DECIDE: a policy of limits, the verdict on a candidate, blends, and sample sizes."""
