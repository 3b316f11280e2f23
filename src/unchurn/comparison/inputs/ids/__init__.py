"""How rows of two tables are paired: ids, an index, or their place."""
