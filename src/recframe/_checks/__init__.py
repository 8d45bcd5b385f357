"""The findings of `check`, and the data warnings of eager calls.

`findings.py` has the table of findings; each other file looks at one thing: rows, lists, the truth, relevance.
A mistake in an argument is no finding: it raises where the argument is checked.
"""
