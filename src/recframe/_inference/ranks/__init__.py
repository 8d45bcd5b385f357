"""The ranks of many models, and how many lists it takes to tell models apart.

It reads values per list. Tests of pairs belong to `comparison/`.
"""
