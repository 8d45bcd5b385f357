"""Metrics where models are trained: scorers for scikit-learn, evaluation functions for boosters, MLflow.

Each translates predictions into a frame and calls the namespace.
"""
