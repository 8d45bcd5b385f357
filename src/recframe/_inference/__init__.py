"""What values of lists say about models: comparisons, ranks, states, agreement, fusion, judgments, gates.

Each folder reads the values that a plan returned, list by list. `lists/` has what they share, `statistics/` has
intervals and tests without frames. How a value is computed belongs to `_plan` and `metrics`.
"""
