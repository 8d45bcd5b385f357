"""Metrics as expressions of polars: one call of the plan for all groups.

Methods are made from the records of metrics. No formula is written here.
"""
