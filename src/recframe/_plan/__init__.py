"""The plan of a call: rank, sum over the rows of a list, average over the lists.

It starts at `plan.py`; each other file is one step or one kind of term. Expressions are Narwhals only, and columns
are declared in `_base/columns.py`. What values mean for a decision belongs to `_inference`.
"""
