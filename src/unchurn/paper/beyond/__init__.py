"""Beyond the paper: what lowers churn most at no cost, on its six tasks and on tables of others."""
