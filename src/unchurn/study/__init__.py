"""STUDY: settings × runs on your data, what came of it and what to use."""
