"""From raw data to a frame with lists, scores and relevance."""
