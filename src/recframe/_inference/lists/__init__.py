"""The values of models list by list: keys, sums over lists, stored baselines, and frames of results.

The folders beside it read these. A test or an interval belongs to `statistics/`.
"""
