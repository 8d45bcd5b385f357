"""Options and descriptions that several profiles share."""

BINARY = {"gain": "binary"}
POSITIVE = {"grades": "positive"}
FROM_LEVEL = {"grades": "relevant"}
"""For libraries that read only which items are relevant."""
NORM_RELEVANT = {"norm": "relevant"}
OVER_RANKED = {"over": "ranked"}
DENOMINATOR_LIST = {"denominator": "list"}
BY_THRESHOLD = {"points": "thresholds"}
LISTS_IN_ORDER = "it reads lists in order, not scores"
SCORED_ROWS = "It sees scored rows only: relevant items without a score do not exist for it."
