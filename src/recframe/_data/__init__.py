"""From raw data to a frame with lists, scores and relevance.

Splits, labels, candidates, baselines and propensities are here; `files/` reads and writes TREC, TSV and dicts,
`factors/` ranks by factors. What a call does with the frame belongs to the plan.
"""
