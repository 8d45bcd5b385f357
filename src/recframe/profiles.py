"""Profiles: ``like="trec_eval"`` and others, and what they make of a metric in words.

>>> from recframe import profiles
>>> sorted(profiles.PROFILES)
['ranx', 'recometrics', 'recommenders', 'rectools', 'sklearn', 'spark', 'torchmetrics', 'trec_eval']
>>> profiles.PROFILES["rectools"].metrics["ndcg"].options
{'gain': 'binary', 'ideal': 'ones'}
"""

from __future__ import annotations

from recframe._explain import explain
from recframe._libraries import PROFILES
from recframe._profile import Definition, Profile

__all__ = ["PROFILES", "Definition", "Profile", "explain"]
