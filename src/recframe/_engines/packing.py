"""What the packed sorts of polars and of NumPy share: how scores are scaled to integers, and which rows need no sort.

The first rows of most lists are often among those from some score on::

    score   list 1   list 2   list 3
    high    █ █ █    █ █ █ █  █          sorted: lists with enough of these rows need no others
    ───────────────────────────────
    low     ░ ░ ░ ░  ░ ░ ░    █ █ █      not sorted, except for lists that have too few above

A sample of lists shows which score to take, and whether it saves time. If lists differ much, all rows are sorted.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BITS = 62
"""The bits of a signed integer without its sign and one for the end of the last list."""
FEWEST_BITS = 8
"""The bits of a score below which too many different scores would be equal."""
MOST_BITS = 50
"""The bits of a score that a float keeps exactly in spite of rounding."""
SAMPLE = 2**13
"""The least number of rows in the sample; it has at most twice as many."""
FEWEST_LISTS = 16
"""The fewest lists that the sample needs."""
MANY_ROWS = 32 * SAMPLE
"""With fewer rows, sorting all of them takes less time than the sample."""
MOST_SORTED = 0.35
"""If more than this share of the rows needs a sort, leaving out the others takes as long as sorting them."""


def scale(most: float, least: float, bits: int) -> float | None:
    """Return the factor that scales distances of scores to integers of some bits; None if they are infinite or tiny."""
    spread = most - least
    if not spread < math.inf:
        return None
    factor = (2.0**bits - 1) / spread if spread else 0.0
    return factor if factor < math.inf else None


def bits_of_sample(rows: int, lists: int, upto: int) -> int | None:
    """Return how many last bits of a list's number decide whether it is in the sample; None: sort all rows.

    Parameters
    ----------
    rows : int
        All rows.
    lists : int
        How many lists there may be.
    upto : int
        How many rows of a list are needed.
    """
    # Where most lists have enough rows, they have at least half as many again.
    if rows < MANY_ROWS or 1.5 * upto * lists > MOST_SORTED * rows:
        return None
    bits = (rows // SAMPLE).bit_length() - 1
    # The most lists that may have the same last bits: sampling all rows of a single list would be wasted work.
    return bits if -(-lists >> bits) >= FEWEST_LISTS else None


def score_to_sort_from(lists: Sequence[int], scores: Sequence[float], upto: int) -> float | None:
    """Return the score from which on to sort, so that the fewest rows are sorted; None if even these are many.

    Parameters
    ----------
    lists, scores : sequence of int, sequence of float
        The list and the score of each row of some lists.
    upto : int
        How many rows of a list are needed.
    """
    by_list = defaultdict(list)
    for number, score in zip(lists, scores, strict=True):
        by_list[number].append(score)
    if len(by_list) < FEWEST_LISTS:
        return None
    # All rows of a list are sorted if it has too few rows, or too few from the score on.
    rows_of_short_lists = sum(len(rows) for rows in by_list.values() if len(rows) < upto)
    last_needed = sorted((sorted(rows)[-upto], len(rows)) for rows in by_list.values() if len(rows) >= upto)
    ordered = sorted(scores)
    fewest = MOST_SORTED * len(ordered)
    least = None
    for score, rows in last_needed:
        sort = rows_of_short_lists + len(ordered) - bisect_left(ordered, score)
        if sort < fewest:
            fewest, least = sort, score
        rows_of_short_lists += rows
    return least
