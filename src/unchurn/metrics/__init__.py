"""Ground: churn, intervals, budgets, and the registry of metrics that studies show."""
