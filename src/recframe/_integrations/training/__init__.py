"""Metrics where models are trained: scorers of scikit-learn, and evaluation functions of boosters."""
