"""What a look at data finds before anybody trusts the numbers."""
