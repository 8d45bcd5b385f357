"""Metrics as the text of a query of SQL: tables of columns, the plan on them as Ibis writes it, made readable."""
