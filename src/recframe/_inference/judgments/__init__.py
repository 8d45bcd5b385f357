"""Incomplete judgments: bounds of a metric if items are unjudged, and estimates from a model's judgments."""
