"""What lists add up to, stored and merged.

A state has sums that add up exactly, so that parts of the lists can be evaluated where they are. What the sums
say is computed as from one call on all rows.
"""
