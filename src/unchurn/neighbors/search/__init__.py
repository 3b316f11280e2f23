"""Who proposes candidates for neighbours; exact distances decide."""
