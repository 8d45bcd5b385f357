"""Several models on the same lists: which is better, how values spread, how much rankings agree, how to fuse them."""
