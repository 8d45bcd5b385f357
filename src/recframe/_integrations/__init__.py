"""Other ways to ask for metrics: the text of a query, polars expressions, and callbacks of training libraries.

Each folder translates a call of another tool into a call of the package and back. No metric is defined here.
"""
