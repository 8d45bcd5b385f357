"""Fusion: one ranking made of several models' rankings, and the choice of the best fusion."""
