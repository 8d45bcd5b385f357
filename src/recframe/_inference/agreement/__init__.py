"""Agreement: how similar the rankings of models are."""
