"""`upgrade` and `Stay`: make a model to replace the one in production."""
