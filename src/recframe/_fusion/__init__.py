"""One ranking out of those of several models, and the choice of how."""
