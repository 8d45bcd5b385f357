"""Is one model better than another? Paired tests over the same lists, how values spread, and what changed.

`compare.py` makes the rows of a comparison, `tested.py` tests them, `describe.py` describes each model alone.
Tests without frames belong to `statistics/`.
"""
