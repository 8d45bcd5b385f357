"""Adapters of the frame libraries: one file each, found through `registry`."""
