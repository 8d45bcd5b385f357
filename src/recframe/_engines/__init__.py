"""All that knows a frame library: one adapter for each kind of frame, found through `registry`.

`base.py` says what an adapter must have. `polars/`, `pandas/` and `sql/` hold what serves one library or one
language. Nothing here knows a metric, a role or the plan.
"""
