"""From user and item factors to the top k of each user, with NumPy."""
