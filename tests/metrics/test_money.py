"""Money metrics equal their oracle, on every engine."""

from __future__ import annotations

import itertools

import pytest

from compare import assert_oracle
from spellings import spellings_of
from strategies import shop

CUTOFFS = (1, 2, 3, 9, None)


@pytest.mark.parametrize("grades", [(0, 0, 0, 1, 2, 3, -1), (0, 1)], ids=["graded", "binary"])
def test_every_list(engine, grades):
    labels = [label for name in ("money_precision", "money_recall") for label in spellings_of(name, CUTOFFS)]
    assert_oracle(engine, shop(f"money {grades}", 250, grades=grades), labels)


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_bounds_where_relevance_is_yes_or_no(engine, ties):
    assert_oracle(engine, shop(f"money {ties}", 250, grades=(0, 1)), spellings_of("money_recall", CUTOFFS), ties)


def test_a_missing_column_of_values_is_named(engine):
    if engine.lazy:
        pytest.skip("needs the data")
    frame = engine.frame([{"user": 1, "item": 1, "relevant": 4, "score": 1.0}])
    with pytest.raises(KeyError, match="value='price': the frame has no such column"):
        engine.ask(frame, "evaluate", ["money_recall"])


REPEATED = [
    {"item": "a", "relevant": 1, "score": 1.0, "price": 1.0},
    {"item": "a", "relevant": 0, "score": 1.0, "price": 5.0},
    {"item": "b", "relevant": 2, "score": 1.0, "price": 2.0},
    {"item": "a", "relevant": 1, "score": 0.0, "price": 8.0},
]
BOUGHT = [{"item": "a", "price": 3.0}, {"item": "a", "price": 4.0}]


def in_every_order(rows):
    """Return the rows of lists that differ only in the order of their rows."""
    orders = itertools.permutations(rows)
    return [{"user": user, **row} for user, order in enumerate(orders) for row in order]


@pytest.mark.parametrize(
    ("ties", "from_frame", "from_truth"),
    [
        ("average", (3 / 8, 3 / 11 / 3), (4 / 10, 1 / 3)),
        ("best", (1, 2 / 11), (1, 1)),
        ("worst", (0, 0), (0, 0)),
        ("item", (1 / 6, 1 / 2 / 11), (1 / 2, 1 / 2)),
    ],
)
def test_prices_of_an_item_that_is_repeated_at_one_score(polars_engine, ties, from_frame, from_truth):
    rows, bought = in_every_order(REPEATED), in_every_order(BOUGHT)
    truth = [{**row, "user": user} for user in range(24) for row in bought if row["user"] == user % 2]
    for given, expected in (({}, from_frame), ({"truth": polars_engine.frame(truth)}, from_truth)):
        metrics, frame = ["money_precision", "money_recall"], polars_engine.frame(rows)
        result = polars_engine.ask(frame, "evaluate", metrics, k=1, ties=ties, per="user", **given)
        assert len(result) == 24
        for _, *values in map(dict.values, result):
            assert values == pytest.approx(expected)
