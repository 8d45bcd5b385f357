"""What judgments that are missing, or made by a model, leave open."""
