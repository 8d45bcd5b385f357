"""From user and item factors to the top k of each user, with NumPy.

The result is a frame like any other, and says how many other items there are.
"""
