"""The ranks of many models, and how many lists it takes to find their differences.

It reads values per list. Tests of pairs belong to `comparison/`.
"""
