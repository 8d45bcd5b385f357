"""The values of models list by list: keys, sums over lists, stored baselines, and frames of results."""
