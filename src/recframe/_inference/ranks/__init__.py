"""The ranks of many models, and how many lists it takes to tell them apart."""
