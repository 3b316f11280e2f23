"""Pages and texts for people: of a bench, of a comparison."""
