"""How alike the rankings of models are."""
