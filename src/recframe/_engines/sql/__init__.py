"""Engines that write SQL: DuckDB, Ibis and Spark.

`base.py` has what they share. The text of a query that users ask for belongs to `_integrations/sql`.
"""
