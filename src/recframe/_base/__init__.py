"""Code that all other folders use: column names, roles, checks of single values, defaults, signatures, guesses.

Nothing here knows a frame library or a metric. A table that several folders read belongs here; code with one reader
belongs to its reader.
"""
