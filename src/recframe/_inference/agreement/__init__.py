"""How similar the rankings of models are: rank correlations and rank-biased overlap.

It reads ranked rows, not values. The mean over lists and its interval come from `lists/` and `statistics/`.
"""
