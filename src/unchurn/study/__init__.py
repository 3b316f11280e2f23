"""STUDY: train settings in several runs on your data, show the results, and advise what to use."""
