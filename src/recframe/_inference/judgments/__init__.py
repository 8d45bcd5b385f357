"""What judgments leave open if they are missing or made by a model.

`bounds.py` has the least and greatest value that unjudged items allow, `estimate.py` corrects a judge by a sample
of human judgments.
"""
