"""The plan of a call: rank the rows, sum over the rows of each list, average over the lists."""
