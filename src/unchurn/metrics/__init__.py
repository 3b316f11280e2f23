"""Ground: churn, the intervals around it, and the registry of what is shown."""
