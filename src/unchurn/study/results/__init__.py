"""What came of a study: the result, its files, and what is read from them."""
