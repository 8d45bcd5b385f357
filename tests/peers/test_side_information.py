"""Metrics that no profile has, against what libraries gave for the same lists."""

from __future__ import annotations

import pytest

PLACES = (
    (2, 6, 0, 8), (10, 5, 4, 7, 2, 1, 11), (6, 4, 8, 10, 0), (11, 3, 9, 5), (7, 2, 1, 4, 11, 10, 8),
)  # fmt: skip
"""The items of five lists, in order."""
FEATURES = [{"item": i} | {f"f{j}": int((i * j) % 5 < 2) for j in (1, 2, 3, 4)} for i in range(12)]
RECTOOLS = {
    2: (2.0, 0.0, 2.0, 2.0, 0.0),
    4: (2.5, 2.333333333333, 2.5, 2.5, 1.666666666667),
    8: (2.5, 2.190476190476, 2.4, 2.5, 2.095238095238),
}
"""RecTools 0.19.0, IntraListDiversity(k, PairwiseHammingDistanceCalculator(features)): numbers of features."""
LENSKIT = {
    2: (1.000021374223026, 2.0, 1.0000213742230257, 1.0000213742230262, 3.356133099761807e-05),
    4: (1.8231928464037472, 1.8112785206991213, 1.8231928464037477, 1.8231928464037477, 1.5000055935605796),
    8: (1.8231928464037472, 1.8092002846690984, 1.8954620344335544, 1.8231928464037477, 1.9402860278948078),
}
"""LensKit 2026.4.0, the entropy of shares of categories."""


@pytest.mark.parametrize(
    ("metric", "theirs", "scale"),
    [("diversity(distance=hamming)", RECTOOLS, 4), ("category_entropy(smoothing=0.000001)", LENSKIT, 1)],
)
def test_every_list(engine, metric, theirs, scale):
    rows = [
        {"user": user, "item": item, "rank": place}
        for user, items in enumerate(PLACES)
        for place, item in enumerate(items, 1)
    ]
    given = {"rank": "rank", "features": engine.frame(FEATURES), "per": "user"}
    for k, values in theirs.items():
        found = engine.ask(engine.frame(rows), "evaluate", [metric], k=k, **given)
        ours = {row["user"]: scale * value for row in found for name, value in row.items() if name != "user"}
        assert ours == pytest.approx(dict(enumerate(values)), abs=1e-11)


LIKED = ((0, 2, 5, 8, 11), (1, 4, 6, 9), (2, 5, 8, 10), (1, 3, 6, 9), (2, 5, 7, 10))
"""The relevant items of the lists."""
PARTIAL = {
    1: (0.2, 0.0, 0.0, 0.0, 0.5),
    2: (0.4, 0.0, 0.0, 0.25, 0.5),
    3: (0.4666666666666667, 0.08333333333333333, 0.16666666666666666, 0.3333333333333333, 0.5),
    5: (0.52, 0.2, 0.3, 0.4, 0.6),
}
"""RecTools 0.19.0, PartialAUC(n); for n = 5, which no list has more relevant items than, also PAP(n)."""


def test_partial_auc_of_the_first_others(engine):
    rows = [
        {"user": user, "item": item, "rank": place}
        for user, items in enumerate(PLACES)
        for place, item in enumerate(items, 1)
    ]
    truth = engine.frame([{"user": user, "item": item} for user, items in enumerate(LIKED) for item in items])
    for n, values in PARTIAL.items():
        found = engine.ask(engine.frame(rows), "partial_auc", negatives=n, rank="rank", truth=truth, per="user")
        ours = {row["user"]: value for row in found for name, value in row.items() if name != "user"}
        assert ours == pytest.approx(dict(enumerate(values)), abs=1e-12)
