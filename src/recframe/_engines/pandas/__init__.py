"""Pandas: the adapter that hands rows to polars, and NumPy's sort and sums for pandas without polars.

`adapter.py` decides which of the two is used. Only rooms of engines import this one.
"""
