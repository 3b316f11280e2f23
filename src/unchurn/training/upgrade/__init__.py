"""`upgrade` and `Stay`: make the model that replaces the one in production."""
