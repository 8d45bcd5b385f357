"""Spearman's and Kendall's correlation equal their oracle, on every engine."""

from __future__ import annotations

import math
import random

import pytest

from compare import assert_oracle
from oracle.correlation import tau_b
from strategies import shop


@pytest.mark.parametrize("grades", [(0, 0, 0, 1, 2, 3, -1), (0, 1)], ids=["graded", "binary"])
def test_every_list(engine, grades):
    assert_oracle(engine, shop(f"correlation {grades}", 250, grades=grades), ["spearman", "kendall"])


def test_kendall_of_many_levels(engine):
    if engine.lazy:
        pytest.skip("a lazy frame needs twenty")
    rng = random.Random(3)
    rows = [
        {
            "user": user,
            "item": n,
            "relevant": rng.random() if user else rng.randint(0, 9),
            "score": rng.randint(0, 20) / 2,
        }
        for user in (0, 1)
        for n in range(70)
    ]
    result = {
        row["user"]: row["kendall"] for row in engine.ask(engine.frame(rows), "evaluate", ["kendall"], per="user")
    }
    for user in (0, 1):
        selected = [row for row in rows if row["user"] == user]
        expected = tau_b([row["relevant"] for row in selected], [row["score"] for row in selected])
        assert result[user] == pytest.approx(expected, abs=1e-12)


def test_no_ranked_row_leaves_correlations_undefined(engine):
    frame = engine.frame({"user": [1, 1, 2], "item": [1, 2, 1], "relevant": [1, 0, 1], "score": [None, None, None]})
    for metric in ("kendall", "spearman"):
        for by in ("user", None):
            assert math.isnan(engine.ask(frame, metric, by=by))
        assert [row[metric] for row in engine.ask(frame, "evaluate", [metric], per="user")] == [None, None]
