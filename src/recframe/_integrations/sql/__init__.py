"""Metrics as the text of a query: the plan on tables without rows, as Ibis writes it, made readable.

Running a query is for the engines in `_engines/sql`.
"""
