"""`upgrade` and `Stay`: the model that replaces the one in production."""
