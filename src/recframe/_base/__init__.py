"""What every other room uses: names of columns, roles, checks of single values, defaults, signatures, guesses.

Nothing here knows a frame library or a metric. A table that several rooms read belongs here; code with one reader
belongs to its reader.
"""
