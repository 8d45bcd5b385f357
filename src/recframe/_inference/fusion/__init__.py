"""One ranking out of the rankings of several models, and the choice of how to combine them.

`fuse.py` combines, `tune.py` tries a grid. How good the result is, an ordinary call says.
"""
