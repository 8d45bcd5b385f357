"""What `check` finds in data, and what eager calls warn about.

`findings.py` has the table of findings; each other file looks at one thing: rows, lists, the truth, relevance.
A mistake in an argument is no finding: it raises where the argument is checked.
"""
