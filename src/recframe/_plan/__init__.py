"""The plan of a call: rank, sum over the rows of a list, average over the lists."""
