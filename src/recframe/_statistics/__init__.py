"""Statistics of values per list: intervals, tests and corrections. Needs NumPy and SciPy, nothing of the plan."""
