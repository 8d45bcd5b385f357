"""sampled=: estimates of what lists would have in full, from lists of one relevant item and a sample of the others."""

from __future__ import annotations

import math
import random
from contextlib import contextmanager
from itertools import combinations

import narwhals as nw
import pytest

import recframe
from compare import assert_equal, same

np = pytest.importorskip("numpy")

from oracle.sampled import least_squares, probabilities  # noqa: E402 - it needs NumPy
from recframe._plan.sampled_lists import is_estimated  # noqa: E402
from recframe.metrics import _sampled_ranks as sampled_ranks  # noqa: E402
from recframe.metrics._sampled_ranks import table  # noqa: E402
from recframe.metrics._weights import DISCOUNTS  # noqa: E402

OF_RANK = {
    "recall@2": lambda rank: float(rank <= 2),
    "hit_rate@3": lambda rank: float(rank <= 3),
    "precision@2": lambda rank: (rank <= 2) / 2,
    "f1@2": lambda rank: (rank <= 2) * 2 / 3,
    "mrr": lambda rank: 1 / rank,
    "map@3": lambda rank: (rank <= 3) / rank,
    "pr_auc": lambda rank: 1 / rank,
    "ndcg": lambda rank: 1 / math.log2(rank + 1),
    "ndcg(discount=jarvelin)@4": lambda rank: (rank <= 4) / max(1, math.log2(rank)),
    "rbp(p=0.5)": lambda rank: 0.5**rank,
}
"""What metrics are of a list with one relevant item."""
M, N = 3, 8


def samples(m, n):
    """Yield the items of every list that may be sampled, for each rank of the relevant one."""
    for rank in range(1, n + 1):
        for some in combinations([item for item in range(1, n + 1) if item != rank], m):
            yield rank, sorted((rank, *some))


def rows_of(lists):
    return [
        {"user": user, "item": item, "relevant": int(item == rank), "score": -float(item)}
        for user, (rank, items) in enumerate(lists)
        for item in items
    ]


@pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("label", ["recall@2", "ndcg"])
def test_bias_and_variance_are_least(label, gamma):
    expected = least_squares(OF_RANK[label], M, N, gamma)
    assert np.allclose(table(OF_RANK[label], M, N, gamma), expected, rtol=0, atol=1e-10)
    assert gamma != 0.1 or table(OF_RANK[label], M, N, "bv") == table(OF_RANK[label], M, N, gamma)


def test_bias_is_least_of_all_tables_that_do_not_grow():
    optimize = pytest.importorskip("scipy.optimize")
    chance, expected = probabilities(M, N), np.array([OF_RANK["recall@2"](rank) for rank in range(1, N + 1)])
    steps = np.tril(np.ones((M + 1, M + 1))).T
    result = optimize.lsq_linear(chance @ steps, expected, bounds=(0, np.inf), tol=1e-14)
    assert np.allclose(table(OF_RANK["recall@2"], M, N, "cls"), steps @ result.x, atol=1e-8)


def test_the_estimated_rank_is_unbiased():
    result = probabilities(M, N) @ table(lambda rank: rank, M, N, "rank")
    assert np.allclose(result, range(1, N + 1))


def test_many_ranks_are_read_in_blocks(monkeypatch):
    whole = table(OF_RANK["ndcg"], 5, 60, "bv")
    monkeypatch.setattr("recframe.metrics._sampled_ranks.RANKS_AT_ONCE", 7)
    assert np.allclose(table(OF_RANK["ndcg"], 5, 60, "bv"), whole, atol=1e-12)


def test_every_sample_together_tells_the_mean_of_whole_lists(polars_engine):
    # Each rank is as likely as the others, and so is each sample: estimates are right on average, plain values are not.
    labels = [*OF_RANK]
    (result,) = polars_engine.ask(
        polars_engine.frame(rows_of(samples(M, N))), "evaluate", labels, sampled=(M, N), estimator=0.05
    )
    whole = polars_engine.frame(rows_of((rank, range(1, N + 1)) for rank in range(1, N + 1)))
    (expected,) = polars_engine.ask(whole, "evaluate", labels)
    assert all(result[label] == pytest.approx(expected[label], abs=1e-9) for label in labels), (result, expected)
    (plain,) = polars_engine.ask(polars_engine.frame(rows_of(samples(M, N))), "evaluate", labels)
    assert all(plain[label] > expected[label] + 0.05 for label in labels)


def tied_lists(seed, count):
    """Return lists of four rows with one relevant, some of whose scores tie."""
    draw = random.Random(seed)
    return [
        {"user": user, "item": item, "relevant": int(item == draw_of), "score": draw.randrange(3) / 2}
        for user, draw_of in ((user, draw.randrange(M + 1)) for user in range(count))
        for item in range(M + 1)
    ]


@pytest.mark.parametrize("truth", [False, True])
def test_every_list_has_the_mean_estimate_of_the_places_that_ties_leave_open(engine, truth):
    rows = tied_lists(1, 8)
    labels = engine.some([*OF_RANK])
    expected = {}
    for user in range(8):
        own = [row for row in rows if row["user"] == user]
        (score,) = (row["score"] for row in own if row["relevant"])
        first = sum(row["score"] > score for row in own)
        size = sum(row["score"] == score for row in own)
        tables = {label: least_squares(OF_RANK[label], M, N, 0.1) for label in labels}
        expected[user,] = {label: math.fsum(t[first : first + size]) / size for label, t in tables.items()}
    given = {}
    frame = engine.frame(rows)
    if truth:
        frame, given["truth"] = engine.frames(
            [{name: row[name] for name in ("user", "item", "score")} for row in rows],
            [{"user": row["user"], "item": row["item"]} for row in rows if row["relevant"]],
        )
    result = engine.ask(frame, "evaluate", labels, sampled=(M, N), per="user", **given)
    rounded = [{name: round(value, 10) for name, value in row.items()} for row in result]
    assert_equal(rounded, {key: {n: round(v, 10) for n, v in own.items()} for key, own in expected.items()}, ["user"])


def test_tie_policies_choose_among_these_places(polars_engine):
    rows = tied_lists(3, 5)
    frame, given = polars_engine.frame(rows), {"sampled": (M, N), "per": "user"}
    estimates = table(OF_RANK["mrr"], M, N, "bv")
    for ties in ("best", "worst", "item"):
        for row in polars_engine.ask(frame, "evaluate", ["mrr"], ties=ties, **given):
            own = [other for other in rows if other["user"] == row["user"]]
            (hit,) = (other for other in own if other["relevant"])
            tied = [other for other in own if other["score"] == hit["score"] and other is not hit]
            ahead = {"best": 0, "worst": len(tied), "item": sum(other["item"] < hit["item"] for other in tied)}[ties]
            assert same(row["mrr"], estimates[sum(other["score"] > hit["score"] for other in own) + ahead])


def test_places_among_sampled_rows_have_no_gaps(engine):
    # Ranks of the whole list say more than the place among the sampled rows, which estimates read.
    rows = [{"user": 1, "item": i, "relevant": int(i == 1), "rank": i + 1} for i in range(M + 1)]
    gaps = [row | {"rank": 10 * row["rank"]} for row in rows]
    labels = engine.some([*OF_RANK, "roc_auc"])
    expected, result = (
        engine.ask(engine.frame(each), "evaluate", labels, rank="rank", sampled=(M, N)) for each in (rows, gaps)
    )
    assert result == expected


def test_parts_of_a_lazy_frame_have_the_same_mean():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(tied_lists(4, 12))
    (expected,) = frame.rec.evaluate("mrr", sampled=(M, N)).row(0)
    result = frame.lazy().rec.evaluate("mrr", sampled=(M, N), partitions=3)
    assert isinstance(result, pl.LazyFrame)
    assert same(result.collect().item(), expected)


@pytest.mark.parametrize("estimator", ["rank", "cls", 0.3])
def test_a_sample_of_all_items_is_the_whole_list(polars_engine, estimator):
    if estimator == "cls":
        pytest.importorskip("scipy")
    frame, labels = polars_engine.frame(rows_of((rank, range(1, N + 1)) for rank in (1, 2, 5, 8))), [*OF_RANK]
    (result,) = polars_engine.ask(frame, "evaluate", labels, sampled=(N - 1, N), estimator=estimator)
    (expected,) = polars_engine.ask(frame, "evaluate", labels)
    assert all(result[label] == pytest.approx(expected[label], abs=1e-9) for label in labels)


def test_roc_auc_needs_no_estimate(polars_engine):
    frame = polars_engine.frame(rows_of(samples(2, 5)))
    (row,) = polars_engine.ask(frame, "evaluate", ["roc_auc", "gauc", "mrr"], sampled=(2, 5))
    assert same(row["roc_auc"], 0.5)
    assert same(row["gauc"], 0.5)
    # Alone, it reads lists of several relevant items and of any length.
    frame = polars_engine.frame([{"user": 1, "relevant": int(score > 2), "score": score} for score in range(5)])
    assert polars_engine.ask(frame, "roc_auc", sampled=(2, 5)) == 1


def test_rows_and_models_have_estimates_too(polars_engine):
    rows = [row | {"other": float(row["item"])} for row in tied_lists(2, 6)]
    frame = polars_engine.frame(rows)
    result = polars_engine.ask(frame, "contributions", "mrr", sampled=(M, N))
    for user in range(6):
        own = [row for row in result if row["user"] == user]
        assert same(sum(row["contribution"] for row in own), own[0]["mrr"])
    pytest.importorskip("scipy")
    given = {"score": ["score", "other"], "sampled": (M, N)}
    (row,) = polars_engine.ask(frame, "compare", "mrr", **given)
    means = {one["model"]: one["mrr"] for one in polars_engine.ask(frame, "evaluate", "mrr", **given)}
    assert same(row["mean"], means[row["model"]])


def test_lists_that_do_not_fit(engine):
    rows = rows_of([(1, [1, 2, 3]), (2, [2, 3, 4, 5])])
    two = [row | {"relevant": 1} for row in rows_of([(1, [1, 2, 3])])]
    for data, message in ((rows, "lists of 3 rows, but a list has 4"), (two, "one relevant item, but a list has 3")):
        frame = engine.frame(data)
        if engine.lazy:
            result = engine.ask(frame, "mrr", sampled=(2, 9))
            assert result is None or math.isnan(result)
        else:
            with pytest.raises(recframe.InputError, match=message):
                engine.ask(frame, "mrr", sampled=(2, 9))


@pytest.mark.parametrize(
    ("label", "given", "message"),
    [
        ("dcg@2", {"sampled": (1, 9)}, "but dcg@2 is not such a metric"),
        ("precision", {"sampled": (1, 9)}, "but precision is not such a metric"),
        ("coverage@2", {"sampled": (1, 9)}, "but coverage@2 is not such a metric"),
        ("ndcg(ideal=ones)@2", {"sampled": (1, 9)}, "is not such a metric"),
        ("recall", {"sampled": (1, 9), "propensity": "score"}, "cannot be combined"),
        ("mrr", {"sampled": 9}, "not a pair of numbers"),
        ("mrr", {"estimator": "rank"}, "estimator='rank' is about sampled lists, but there is no sampled="),
        (
            "ndcg@2",
            {"sampled": (1, 9), "like": "rectools"},
            r"ndcg@2, which is ndcg\(gain=binary,ideal=ones\)@2 under like='rectools', is not such a metric",
        ),
        ("mrr", {"sampled": (9, 9)}, "no smaller number before a larger"),
        ("mrr", {"sampled": (0, 9)}, "less than 1"),
        ("mrr", {"sampled": (1, 9), "estimator": 1.5}, "not above 0 and at most 1"),
        ("mrr", {"sampled": (1, 9), "estimator": "best"}, "is not 'bv', 'cls', 'rank', 'pooled' or a number"),
    ],
)
def test_what_is_refused(label, given, message):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1, 1], "item": [1, 2], "relevant": [1, 0], "score": [1.0, 0.5]})
    with pytest.raises(recframe.RecError, match=message):
        frame.rec.evaluate(label, **given)


def test_the_hint_names_every_metric_that_allows_it():
    named = recframe.metrics.names_where(is_estimated)
    assert {"recall", "precision@10", "f1@10", "ndcg", "gauc"} < set(named)
    frame = pytest.importorskip("polars").DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [1.0, 0.5]})
    assert frame.rec.evaluate(named, sampled=(1, 5)).shape == (1, len(named))


def test_an_estimator_without_numpy_says_what_to_install(monkeypatch):
    monkeypatch.setattr("recframe.errors.find_spec", lambda _: None)
    with pytest.raises(recframe.MissingExtraError, match="estimator='bv'"):
        table(OF_RANK["mrr"], 2, 7, "bv")
    assert table(OF_RANK["mrr"], 2, 7, "rank") == (1.0, 0.25, 1 / 7)


def test_a_metric_of_ones_own_may_be_estimated(polars_engine):
    class Nearness(recframe.Metric):
        name = "nearness"

        def of_rank(self, rank):
            return 10.0 - rank

        def terms(self, row):
            return {"nearness": row.hit * row.weight(lambda position: 10.0 - position, None)}

        def value(self, sums):
            return sums["nearness"]

    frame = polars_engine.frame(rows_of([(4, [2, 4, 6])]))
    assert polars_engine.value(frame, Nearness()) == 8.0
    assert polars_engine.value(frame, Nearness(), sampled=(2, 7), estimator="rank") == 10 - (1 + 6 / 2)


def test_discounts_of_ranks_are_those_of_positions():
    ranks = [float(rank) for rank in range(1, 30)]
    positions = nw.from_native(pytest.importorskip("polars").DataFrame({"position": ranks}))
    for name, discount in DISCOUNTS.items():
        weights = positions.select(weight=discount(nw.col("position")))["weight"].to_list()
        assert [discount(rank) for rank in ranks] == pytest.approx([w / weights[0] for w in weights]), name


@pytest.mark.parametrize("estimator", ["bv", "cls", 0.5])
def test_more_items_than_minutes_allow_are_refused(estimator):
    with pytest.raises(recframe.errors.OptionError, match=r"looks at each of 1,000,000,000 ranks, at most 100,000,000"):
        sampled_ranks.table(lambda rank: 1 / rank, 2, 10**9, estimator)
    assert len(sampled_ranks.table(lambda rank: 1 / rank, 2, 10**9, "rank")) == 3


def test_long_estimates_show_how_far_they_are(monkeypatch):
    pytest.importorskip("numpy")
    reports = []

    @contextmanager
    def bar(total, what, *, show):
        yield lambda done: reports.append((done, total, what, show))

    monkeypatch.setattr(sampled_ranks, "progress_bar", bar)
    sampled_ranks.table(lambda rank: 1 / rank, 2, 50_000, "bv")
    assert reports == [(done, 50_000, "ranks", None) for done in (20_000, 40_000, 50_000)]
