"""Metrics as expressions of polars, which compute a group each: made from the metrics' records."""
