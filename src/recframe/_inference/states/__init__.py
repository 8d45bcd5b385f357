"""What lists add up to, stored and merged."""
