"""Who proposes neighbours; exact distances decide."""
