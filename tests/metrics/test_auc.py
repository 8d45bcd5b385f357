"""The areas under the ROC and the precision-recall curve equal their oracle, on every engine."""

from __future__ import annotations

import pytest

from compare import assert_equal, assert_oracle
from spellings import spellings_of
from strategies import ranked_crowd, shop

LABELS = [label for name in ("roc_auc", "gauc", "pr_auc") for label in spellings_of(name, (1, 2, 3, 9, None))]


@pytest.mark.parametrize("ties", ["average", "best", "worst"])
@pytest.mark.parametrize("grades", [(0, 0, 0, 1, 2, 3, -1), (0, 1)], ids=["graded", "binary"])
def test_every_list(engine, ties, grades):
    labels = [*LABELS, "pr_auc(points=thresholds,over=ranked)"]
    if ties != "average":
        labels = [label for label in labels if "@" not in label and "points" not in label]
    assert_oracle(engine, shop(f"auc {ties} {grades}", 250, grades=grades), labels, ties)


def test_rows_that_tie_together_cannot_be_ordered(engine):
    frame = engine.frame([{"user": 1, "item": 1, "relevant": 1, "score": 1.0}])
    with pytest.raises(ValueError, match=r"ties='best' orders tied rows, but pr_auc\(points=thresholds\) counts them"):
        engine.ask(frame, "pr_auc", points="thresholds", ties="best")


def without_gaps(rows):
    """Return rows whose ranks count those of their list in front of them."""
    ranks = {user: [row["rank"] for row in rows if row["user"] == user] for user in {row["user"] for row in rows}}

    def closed(row):
        ahead = [rank for rank in ranks[row["user"]] if rank is not None and rank < row["rank"]]
        return 1 + len(ahead)

    return [{**row, "rank": row["rank"] and closed(row)} for row in rows]


@pytest.mark.parametrize("ties", ["average", "best"])
def test_gaps_between_ranks_are_no_rows(engine, ties):
    rows = ranked_crowd(62, 60, relevance=(0, 0, 1, 2))
    labels = ["roc_auc", "roc_auc(over=ranked)", "gauc", *(["spearman", "kendall"] if ties == "average" else [])]
    requested = {"rank": "rank", "per": "user", "ties": ties}
    result, expected = (
        engine.ask(engine.frame(each), "evaluate", labels, **requested) for each in (rows, without_gaps(rows))
    )
    assert_equal(result, {(row["user"],): {label: row[label] for label in labels} for row in expected}, ["user"])
    assert all(row["roc_auc"] is None or 0 <= row["roc_auc"] <= 1 for row in result)


@pytest.mark.parametrize(
    ("ranks", "k", "value"),
    [([1, 5, 9, 10], 2, None), ([1, 5, 9, 10], 9, 1 / 2), ([2, 3, 5, 7], 5, 1 / 2), ([2, 2, 5, 7], 2, None), ([3, 3, 5, 7], 5, 1 / 4)],
)  # fmt: skip
def test_gaps_within_the_top_hold_no_pairs(polars_engine, ranks, k, value):
    frame = polars_engine.frame({"user": [1] * 4, "relevant": [1, 0, 1, 0], "rank": ranks})
    ((result,),) = (row.values() for row in polars_engine.ask(frame, "evaluate", ["roc_auc"], k=k, rank="rank"))
    assert result == (None if value is None else pytest.approx(value))
