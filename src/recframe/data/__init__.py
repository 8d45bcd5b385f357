"""From raw data to a frame: labels, lists, splits, candidates and baselines. Every call answers with a frame."""
