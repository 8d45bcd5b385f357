"""Is one model better than another? Paired tests over the same lists, how values spread, and what changed."""
