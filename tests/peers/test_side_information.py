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
        result = engine.ask(engine.frame(rows), "evaluate", [metric], k=k, **given)
        ours = {row["user"]: scale * value for row in result for name, value in row.items() if name != "user"}
        assert ours == pytest.approx(dict(enumerate(values)), abs=1e-11)


LIKED = ((0, 2, 5, 8, 11), (1, 4, 6, 9), (2, 5, 8, 10), (1, 3, 6, 9), (2, 5, 7, 10))
"""The relevant items of the lists."""
PARTIAL = {
    1: (0.2, 0.0, 0.0, 0.0, 0.5),
    2: (0.4, 0.0, 0.0, 0.25, 0.5),
    3: (0.4666666666666667, 0.08333333333333333, 0.16666666666666666, 0.3333333333333333, 0.5),
    5: (0.52, 0.2, 0.3, 0.4, 0.6),
}
"""RecTools 0.19.0, PartialAUC(n)."""
PAP = {
    1: (1.0, 0.0, 0.0, 0.0, 1.0),
    2: (0.75, 0.0, 0.0, 0.5, 1.0),
    3: (0.777777777778, 0.111111111111, 0.222222222222, 0.444444444444, 0.666666666667),
    5: PARTIAL[5],
}
"""RecTools 0.19.0, PAP(n): other values than PartialAUC where a list has more than n relevant items."""
PAST = [(user, item) for item in range(11) for user in range(5, 5 + (12 - item) // 2)] + [
    (0, 3), (0, 7), (1, 3), (1, 0), (2, 1), (2, 9), (2, 11), (3, 2), (4, 0), (4, 6),
]  # fmt: skip
"""Users and the items that they had; several items are equally popular, and one is new."""
RANKS = {
    2: (0.041666666667, 0.0, 0.0, 0.0, 0.125),
    4: (0.041666666667, 0.0, 0.083333333333, 0.041666666667, 0.0625),
    8: (0.041666666667, 0.0, 0.066666666667, 0.041666666667, 0.035714285714),
}
"""RecTools 0.19.0, Serendipity(k)."""
HISTORY = (0.375, 0.214285714286, 0.3, 0.5, 0.25)
"""Recommenders 1.2.1, user_serendipity of whole lists with item_sim_measure="item_feature_vector"."""
CO_OCCURRENCES = (0.292268229434, 0.077717295338, 0.253819643944, 0.261164549685, 0.201913412684)
"""The same with its default, "item_cooccurrence_count"."""
WHO = [{"item": item} | {f"u{user}": int((user, item) in PAST) for user in range(11)} for item in range(12)]
"""Features that say which users had an item."""


def of_lists(engine, metric: str, **given) -> dict:
    """Return the value of each list of `PLACES`, with `LIKED` as truth."""
    rows = [
        {"user": user, "item": item, "rank": place}
        for user, items in enumerate(PLACES)
        for place, item in enumerate(items, 1)
    ]
    truth = [{"user": user, "item": item} for user, items in enumerate(LIKED) for item in items]
    past = [{"user": user, "item": item} for user, item in PAST]
    frames = {name: engine.frame(given[name]) for name in ("features",) if name in given}
    frames |= {"train": engine.frame(past)} if "serendipity" in metric else {}
    frames |= {"truth": engine.frame(truth), "rank": "rank", "per": "user"}
    result = engine.ask(engine.frame(rows), "evaluate", [metric], **(given | frames))
    return {row["user"]: value for row in result for name, value in row.items() if name != "user"}


def test_partial_auc_of_the_first_others(engine):
    for positives, of_n in (("all", PARTIAL), ("first", PAP)):
        for n, values in of_n.items():
            ours = of_lists(engine, f"partial_auc(negatives={n},positives={positives})")
            assert ours == pytest.approx(dict(enumerate(values)), abs=1e-11)


def test_serendipity_by_ranks(engine):
    for k, values in RANKS.items():
        ours = of_lists(engine, f"serendipity(unexpected=ranks,denominator=list)@{k}", catalog=12)
        assert ours == pytest.approx(dict(enumerate(values)), abs=1e-11)


@pytest.mark.parametrize(("features", "values"), [(FEATURES, HISTORY), (WHO, CO_OCCURRENCES)], ids=["features", "who"])
def test_serendipity_by_the_history(engine, features, values):
    ours = of_lists(engine, "serendipity(unexpected=history,denominator=list)", features=features)
    assert ours == pytest.approx(dict(enumerate(values)), abs=1e-11)
