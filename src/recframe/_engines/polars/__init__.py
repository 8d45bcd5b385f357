"""Polars: frames that hold rows, lazy frames, and the sort, sums and look-ups that polars does for other libraries.

`adapter.py` is the adapter of data frames, `lazy.py` the one of lazy frames. Only rooms of engines import this one.
"""
