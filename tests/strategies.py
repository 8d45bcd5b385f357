"""Random small lists: with Hypothesis for single surprising frames, seeded for thousands of lists at once."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import settings
from hypothesis import strategies as st

from oracle import Case, is_missing

if TYPE_CHECKING:
    import pytest

BINARY = (False, True)
GRADED = (-2, -1, 0, 0, 0, 1, 1, 2, 3)
NAN = math.nan

# Few values, so that ties, duplicates and repeated keys are common; 0.0 and -0.0 are the same score.
SCORES = (-math.inf, -1.5, -0.0, 0.0, 0.25, 0.5, math.inf)
FINITE = (-3.5, -1.5, -0.0, 0.0, 0.25, 0.5, 7.25)
MISSING = (None, NAN)
BY = ["user", "day"]
"""What a list of `crowd` is known by."""


def ranked_rows(scores: st.SearchStrategy[float], *, most: int = 60) -> st.SearchStrategy[list[tuple[int, float]]]:
    """Return up to `most` rows of few lists, each the number of its list and its score."""
    return st.lists(st.tuples(st.integers(-2, 2), scores), min_size=1, max_size=most)


ANY_SCORE = st.floats(allow_nan=False)


def leave_rows_out(patch: pytest.MonkeyPatch) -> None:
    """Let rows of low scores be left out of the sort of the smallest lists too."""
    limits = {"MANY_ROWS": 0, "SAMPLE": 1, "FEWEST_LISTS": 1, "MOST_SORTED": 1.5}
    for name, value in limits.items():
        patch.setattr(f"recframe._engines.packing.{name}", value)


# --- seeded -----------------------------------------------------------------------------------------------


def crowd(
    seed: int,
    lists: int,
    *,
    relevance: tuple[Any, ...] = GRADED,
    longest: int = 8,
    missing: float = 0.1,
    text: bool = False,
) -> list[dict[str, Any]]:
    """Return the shuffled rows of many lists with the columns user, day, item, relevant, score.

    A list is known by its user and day. Some keys are missing, some lists have one item, some nothing ranked,
    and most have tied blocks, of at most five rows so that all their orders can be tried. With an odd seed, some scores are
    infinite.
    """
    draw = random.Random(seed)
    # Infinite scores and others are ranked in different ways.
    known = SCORES if seed % 2 else FINITE
    days = (1.0, 2.0, None)
    n_users = math.ceil(lists / len(days))
    names = [f"u{i:05}" if text else i for i in range(n_users - 1)] + [None]
    rows: list[dict[str, Any]] = []
    for number in range(lists):
        user, day = names[number % n_users], days[number // n_users]
        shape = draw.random()
        size = 1 if shape < 0.1 else draw.randint(2, longest)
        # At most four rows a score; some lists have no ties at all, some nothing else.
        pool = known[:2] * 4 if shape < 0.3 else known * 3 if shape < 0.9 else range(longest)
        scores = draw.sample(pool, size)
        unserved = draw.random() < 0.05
        for place in range(size):
            absent = unserved or draw.random() < missing
            rows.append({
                "user": user,
                # A missing key is one key, whichever way it is missing.
                "day": draw.choice(MISSING) if day is None else day,
                "item": None if draw.random() < missing / 4 else draw.randrange(size + 2) if draw.random() < 0.2 else place,
                "relevant": None if draw.random() < missing else draw.choice(relevance),
                "score": draw.choice(MISSING) if absent else scores[place],
            })  # fmt: skip
    draw.shuffle(rows)
    return rows


def ranked_crowd(seed: int, lists: int, *, relevance: tuple[Any, ...] = GRADED) -> list[dict[str, Any]]:
    """Return the shuffled rows of many lists with a column rank: positions with gaps, and tied blocks."""
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for user in range(lists):
        position = draw.choice((1, 1, 1, 2, 4))
        for block in range(draw.randint(1, 4)):
            size = draw.choice((1, 1, 1, 2, 3))
            rows += [
                {
                    "user": user,
                    "item": 10 * block + i,
                    "relevant": draw.choice(relevance),
                    "rank": None if draw.random() < 0.1 else position,
                }
                for i in range(size)
            ]
            position += size + draw.choice((0, 0, 0, 1, 5))
    draw.shuffle(rows)
    return rows


ITEMS = [f"i{n:02d}" for n in range(14)]


def shop(seed: Any, lists: int, *, grades: tuple[int, ...] = (0, 0, 0, 1, 2, 3, -1), side: bool = False) -> Case:
    """Return short lists with prices: ties, missing scores, missing prices.

    With `side` there is side information as well: train, features, a catalog, none of which knows all users and items.
    """
    draw = random.Random(str(seed))
    rows = [
        {
            "user": user,
            "item": item,
            "relevant": draw.choice(grades),
            "score": None if draw.random() < 0.15 else draw.randint(0, 4) / 4,
            "price": draw.choice([1.0, 2.0, 5.0, None]),
        }
        for user in range(lists)
        for item in draw.sample(ITEMS, draw.randint(1, 6))
    ]
    if not side:
        return Case(rows, max_relevance=max(grades))
    train = [{"user": draw.randrange(lists + 3), "item": draw.choice(ITEMS[:11])} for _ in range(3 * lists)]
    features = {item: [draw.choice([0.0, 0.0, 1.0, 0.5]) for _ in range(3)] for item in draw.sample(ITEMS, 11)}
    return Case(rows, train, features, ITEMS, max(grades))


# --- Hypothesis -------------------------------------------------------------------------------------------


def examples(number: int) -> settings:
    """Return a decorator that gives a test so many random examples with ``--engines``, otherwise a part of them."""
    return settings(max_examples=max(1, number * settings.default.max_examples // 100))


def _sometimes_missing(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return values | st.sampled_from(MISSING)


def _keys() -> st.SearchStrategy[Any]:
    """Draw keys of one type, some of them missing."""
    return st.sampled_from(
        [
            st.integers(0, 2) | st.none(),
            st.sampled_from(["a", "b", "Ω"]) | st.none(),
            st.booleans(),
            st.sampled_from([0.0, 1.5, -2.0, None, NAN]),
        ]
    )


def _relevances() -> st.SearchStrategy[Any]:
    """Draw the relevance of one frame: bool, graded or float, complete or not."""
    return st.sampled_from(
        [
            st.booleans(),
            st.booleans() | st.none(),
            st.integers(0, 1),
            st.sampled_from([*GRADED, None]),
            _sometimes_missing(st.sampled_from([-0.5, 0.0, 0.5, 1.0, 2.5])),
            st.none(),
        ]
    )


def _scores() -> st.SearchStrategy[Any]:
    return st.sampled_from(
        [
            st.integers(0, 2),
            st.integers(0, 9) | st.none(),
            _sometimes_missing(st.sampled_from(SCORES)),
            _sometimes_missing(st.floats(allow_nan=False, width=32)),
        ]
    )


@st.composite
def frames(draw: st.DrawFn, *, max_rows: int = 12, keys: int = 2) -> list[dict[str, Any]]:
    """Draw a frame with the columns user, day, item, relevant and score.

    Few rows share a score, so that all orders of the tied items can be tried, even if all rows are one list.
    """
    columns = {
        "user": draw(_keys()),
        "day": draw(_keys()) if keys > 1 else st.just(0),
        "item": draw(st.sampled_from([st.integers(0, 5) | st.none(), st.sampled_from(["x", "y", "z", None])])),
        "relevant": draw(_relevances()),
        "score": draw(_scores()),
    }
    rows = draw(st.lists(st.fixed_dictionaries(columns), min_size=1, max_size=max_rows))
    kept: list[dict[str, Any]] = []
    tied: Counter[Any] = Counter()
    for row in rows:
        more = tied + Counter([row["score"]])
        if is_missing(row["score"]) or math.prod(map(math.factorial, more.values())) <= 720:
            kept.append(row)
            tied = more if not is_missing(row["score"]) else tied
    return kept


@st.composite
def truths(draw: st.DrawFn, rows: list[dict[str, Any]], *, relevance: bool = True) -> list[dict[str, Any]]:
    """Draw a truth for a frame: keys and items that it has, and others; some of them twice."""
    known = {name: [row[name] for row in rows] for name in ("user", "day", "item")}
    strange = {"user": "nobody", "day": "nobody", "item": "nothing"}
    columns: dict[str, st.SearchStrategy[Any]] = {}
    for name, values in known.items():
        kinds = {type(value) for value in values if not is_missing(value)}
        extra = {int: 7, float: 7.5, str: strange[name], bool: True}[kinds.pop()] if kinds else None
        columns[name] = st.sampled_from([*values, *([extra] if extra is not None else [])])
    if relevance:
        columns["relevant"] = draw(_relevances())
    return draw(st.lists(st.fixed_dictionaries(columns), min_size=1, max_size=10))
