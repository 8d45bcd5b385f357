"""From a call's arguments to its answer: metrics of a frame, the cache of checked calls, the namespace on frames.

`evaluate.py` is where a call such as `df.rec.ndcg(5)` starts. What a call computes belongs to the plan, what it
accepts to `_base/roles.py`.
"""
