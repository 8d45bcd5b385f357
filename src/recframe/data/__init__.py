"""From raw data to a frame: labels, lists, splits, candidates and baselines. Every call answers with a frame."""

from __future__ import annotations

from recframe.data._candidates import candidates
from recframe.data._lists import from_lists

__all__ = ["candidates", "from_lists"]
