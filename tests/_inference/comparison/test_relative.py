"""The interval of a relative difference, against the tests that it inverts."""

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import stats

import recframe
from recframe._inference.statistics import anytime, student
from recframe._inference.statistics.paired_hits import PairedHits
from recframe._inference.statistics.student import Sums
from sessions import MODELS, pair_of, rows_of


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


def test_at_the_ends_the_test_of_that_share_is_just_significant(engine):
    frame = engine.frame(rows_of(51, lists=60))
    result = engine.ask(frame, "compare", ["mrr", "ndcg@3"], by="session", score=MODELS, relative=True, confidence=0.9)
    assert len(result) == 6
    for row in result:
        _, ours, theirs = pair_of(engine, frame, row["metric"], row["model"], row["baseline"])
        for share in (row["relative_low"], row["relative_high"]):
            moved = ours - theirs - share * theirs
            assert stats.ttest_1samp(moved, 0).pvalue == pytest.approx(0.1, rel=1e-9)
        assert row["relative_low"] < row["relative"] < row["relative_high"]
        assert (row["relative_low"] < 0 < row["relative_high"]) == (row["p"] > 0.1)
    columns = list(result[0])
    assert columns[columns.index("relative") :][:4] == ["relative", "relative_low", "relative_high", "mean"]


@pytest.mark.parametrize("cluster", [None, "user"])
@pytest.mark.parametrize("test", ["t", "anytime"])
def test_weights_and_clusters_are_in_the_interval(engine, cluster, test):
    rows = rows_of(52, lists=60)
    frame, given = engine.frame(rows), {"by": "session", "score": ["a", "b"]}
    both, ours, theirs = pair_of(engine, frame, "mrr", "b", "a")
    of_list = {row["session"]: (row["weight"], row["user"]) for row in rows}
    weights, users = zip(*(of_list[key] for key in both), strict=True)
    asked = {"weight": "weight", "cluster": cluster, "relative": True, "test": test, "planned": 60}
    (row,) = engine.ask(frame, "compare", "mrr", **asked, **given)
    method = anytime.Student(0.05) if test == "t" else anytime.Asymptotic(0.05, 60)
    for share in (row["relative_low"], row["relative_high"]):
        moved = Sums.of(ours - (1 + share) * theirs, np.array(weights), cluster and np.array(users))
        assert method.p_value(moved, student.UNBOUNDED) == pytest.approx(0.05, rel=1e-7)


def test_a_baseline_that_may_be_0_has_no_interval(library):
    gains = [2] + [0] * 19
    rows = [
        {"user": user, "relevant": 2 * int(item == 0), "old": 0.5 if item else gain, "new": 1 - item / 2}
        for user, gain in enumerate(gains)
        for item in range(2)
    ]
    result = library.DataFrame(rows).rec.compare("dcg@1", score=["old", "new"], relative=True, details=True)
    (missing,) = result["relative_low"].to_list()
    assert missing is None or missing != missing  # noqa: PLR0124 - NaN
    assert result["relative"].to_list() == [pytest.approx(19)]


def test_rates_of_hits_have_the_interval_of_the_score_test(library):
    hits = [1] + [0] * 19
    rows = [
        {"user": user, "relevant": int(item == 0), "old": 0.5 if item else hit, "new": 1 - item / 2}
        for user, hit in enumerate(hits)
        for item in range(2)
    ]
    result = library.DataFrame(rows).rec.compare("hit_rate@1", score=["old", "new"], relative=True)
    hits = PairedHits(np.array([20.0]), np.array([0.95]), np.array([0.0]))
    low, high = hits.interval_of_ratio(np.array([0.05]), 0.95)
    assert result["relative_low"].to_list() == pytest.approx(low - 1)
    assert result["relative_high"].to_list() == pytest.approx(high - 1)


def test_models_that_are_equal_have_no_interval(library):
    frame = library.DataFrame([{**row, "b": row["a"]} for row in rows_of()])
    result = frame.rec.compare("mrr", by="session", score=["a", "b"], relative=True)
    (missing,) = result["relative_low"].to_list()
    assert missing is None or missing != missing  # noqa: PLR0124 - NaN


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"test": "bootstrap"}, "relative=True needs a test with a standard error, but test='bootstrap'"),
        ({"test": "anytime-bounded"}, "relative=True needs a test with a standard error"),
        ({"correction": "maxt"}, "relative=True gives the interval of each row"),
        ({"relative": "yes"}, "relative='yes'"),
    ],
)
def test_what_has_no_interval_of_a_share_is_refused(library, given, message):
    with pytest.raises(recframe.RecError, match=message):
        library.DataFrame(rows_of()).rec.compare(
            "mrr", by="session", score=["a", "b"], **{"relative": True, **given}, details=True
        )


def test_the_interval_holds_the_true_share():
    """A hit with probability 0.1, kept by half of the lists, and else anew with 0.2: 50 % more."""
    from recframe._inference.statistics.ratios import fieller

    random, lists, draws = np.random.default_rng(0), 200, 4_000
    old = random.random((draws, lists)) < 0.1
    new = np.where(random.random(old.shape) < 0.5, old, random.random(old.shape) < 0.2)
    d, b = new * 1.0 - old, old * 1.0
    n, total, squares = np.full(draws, float(lists)), d.sum(axis=1), (d**2).sum(axis=1)
    spread = squares - total**2 / n
    own = Sums(n, n, n, total, spread, spread, n, n)
    totals = {
        "baseline": b.sum(axis=1), "unit_weight_squares": n, "unit_products": total,
        "unit_cross": (d * b).sum(axis=1), "unit_baseline_squares": (b**2).sum(axis=1),
        "unit_baseline_products": b.sum(axis=1),
    }  # fmt: skip
    low, high = fieller(own, totals, anytime.Student(0.05).end(own, student.UNBOUNDED, 0.05))
    assert 0.94 < np.mean((low <= 0.5) & (high >= 0.5)) < 0.965
    # The interval of the difference over the baseline's mean does not know that this varies too.
    ends = [end / b.mean(axis=1) for end in student.interval(own, 0.95)]
    assert np.mean((ends[0] <= 0.5) & (ends[1] >= 0.5)) < 0.9
