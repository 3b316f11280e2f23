"""What trains: torch networks, scikit-learn estimators, any function."""
