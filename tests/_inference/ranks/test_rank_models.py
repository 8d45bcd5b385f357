"""Ranks of models: R's csranks, t-tests of two models, merged states, and how often intervals hold true ranks."""

import numpy as np
import pytest

pytest.importorskip("scipy")

import recframe
from recframe._inference.ranks import rank_models
from recframe._inference.ranks.rank_models import Means
from recframe._inference.statistics import rank_intervals
from recframe._inference.statistics.rank_intervals import Ranks
from sessions import MODELS, rows_of, values_of

COLUMNS = ["mean", "lists", "rank", "rank_low", "rank_high", "tied_with_best"]


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


def means_of(name):
    """Return means and their covariance, by formulas that R was given too."""
    if name == "few":
        means, spread = np.array([0.52, 0.50, 0.47, 0.41]), np.array([0.011, 0.010, 0.012, 0.010])
        return means, np.outer(spread, spread) * (0.5 + 0.5 * np.eye(4))
    count = {"many": 30, "paired": 12, "ties": 9}[name]
    i = np.arange(count)
    if name == "many":
        spread = 0.012 + 0.004 * np.cos(i) ** 2
        alike = 0.8 ** np.abs(np.subtract.outer(i, i))
        return 0.3 + 0.1 * np.sin(i) + 0.05 * np.cos(8 * i), np.outer(spread, spread) * alike
    if name == "paired":
        return 0.40 + 0.004 * ((7 * i) % 12), 0.02**2 * (0.97 + 0.03 * np.eye(count))
    return np.where(i < 4, 0.5, np.where(i < 7, 0.46, 0.3)), np.diag((0.01 + 0.002 * (i % 3)) ** 2)


CSRANKS = {
    ("few", 0.95): ("1 1 3 4", "1 2 3 4", "2 2 3 4"),
    ("many", 0.95): (
        "3 1 6 5 14 26 15 1 1 8 17 17 17 8 1 1 17 26 14 7 7 1 4 21 28 8 1 3 9 11",
        "9 7 11 13 21 29 24 4 2 18 23 22 25 17 1 5 26 28 20 14 12 6 10 27 30 15 3 8 16 19",
        "19 14 19 20 27 30 28 10 8 23 27 27 27 22 7 12 28 30 26 20 18 12 18 29 30 25 8 16 26 26",
    ),
    ("paired", 0.9): ("9 2 7 1 5 1 3 8 1 6 1 4", "12 5 10 3 8 1 6 11 4 9 2 7", "12 8 12 6 11 4 9 12 7 12 5 10"),
    ("ties", 0.9): ("1 1 1 1 1 1 3 8 8", "1 1 1 1 5 5 5 8 8", "6 7 7 6 7 7 7 9 9"),
    ("ties", 0.95): ("1 1 1 1 1 1 1 8 8", "1 1 1 1 5 5 5 8 8", "7 7 7 7 7 7 7 9 9"),
}
"""Low, rank and high of `csranks(means, covariance, coverage, R=50000)`, its code of 2024 under R 4.2, of several seeds."""


@pytest.mark.parametrize(("name", "confidence"), CSRANKS)
def test_ranks_are_those_of_csranks(name, confidence):
    means, covariance = means_of(name)
    own = np.diag(covariance)
    variances = own[:, None] + own - 2 * covariance
    result = Ranks.of(means[:, None] - means, variances, np.inf, confidence, 20_000, 0)
    for ours, theirs in zip((result.low, result.rank, result.high), CSRANKS[name, confidence], strict=True):
        assert ours.tolist() == [int(one) for one in theirs.split()]


def test_few_units_make_models_more_alike_but_no_more_certain():
    """Errors of differences move towards one, and their squares keep their sum."""
    means, covariance = means_of("many")
    own = np.diag(covariance)
    variances = own[:, None] + own - 2 * covariance
    errors = {degrees: rank_intervals._draws(variances, degrees, 1, 0)[1] for degrees in (1e-9, 3.0, np.inf)}
    apart = ~np.eye(len(means), dtype=bool)
    assert errors[np.inf] == pytest.approx(np.sqrt(variances), abs=1e-12)
    assert np.ptp(errors[1e-9][apart]) < 1e-9 < np.ptp(errors[3.0][apart]) < np.ptp(errors[np.inf][apart])
    assert [np.square(each).sum() for each in errors.values()] == pytest.approx([variances.sum()] * 3)


@pytest.mark.parametrize("draw", range(3))
def test_ranks_by_lower_values_are_those_of_their_negatives(draw):
    values = np.random.default_rng(draw).normal([0.0, 0.1, 0.25, 0.6], 1.0, (60, 4))
    options = rank_models.Options(confidence=0.9, cluster=None, resamples=2_000, seed=0)
    ours = Means.of(values, np.ones_like(values)).ranks(options, higher_is_better=False)
    theirs = Means.of(-values, np.ones_like(values)).ranks(options, higher_is_better=True)
    for name in ("rank", "rank_low", "rank_high", "tied_with_best"):
        assert ours[name].tolist() == theirs[name].tolist()


@pytest.mark.parametrize(
    "more", [{}, {"weight": "weight"}, {"cluster": "user"}, {"cluster": "user", "weight": "weight"}]
)
def test_of_two_models_ranks_are_what_the_t_test_decides(engine, more):
    decided = set()
    for seed in range(4):
        rows = rows_of(seed, lists=40)
        frame = engine.frame([row | {"b": row["b"] + 0.4 * (row["relevant"] > 0) * seed} for row in rows])
        given = {"by": "session", "score": ["a", "b"], **more}
        (test,) = engine.ask(frame, "compare", "mrr", **given)
        result = {row["model"]: row for row in engine.ask(frame, "rank_models", "mrr", **given)}
        better, worse = ("b", "a") if test["difference"] > 0 else ("a", "b")
        assert [result[name]["rank"] for name in (better, worse)] == [1, 2]
        assert result[worse]["tied_with_best"] == (test["p"] >= 0.05)
        assert result["b"]["mean"] == pytest.approx(test["mean"])
        assert result["a"]["lists"] == test["lists"]
        decided.add(test["p"] < 0.05)
    assert decided == {True, False}


def test_the_mean_is_over_lists_in_which_every_model_has_a_value(engine):
    frame = engine.frame([row | {"c": row["c"] if row["session"] % 3 else None} for row in rows_of(3)])
    by_model = {model: values_of(engine, frame, "spearman", model) for model in MODELS}
    lists = [one for one in by_model["c"] if all(by_model[model].get(one) is not None for model in MODELS)]
    assert 2 < len(lists) < sum(value is not None for value in by_model["a"].values())
    for row in engine.ask(frame, "rank_models", "spearman", by="session", score=MODELS):
        assert row["mean"] == pytest.approx(np.mean([by_model[row["model"]][one] for one in lists]))
        assert row["lists"] == len(lists)


@pytest.mark.parametrize("more", [{}, {"cluster": "user"}, {"weight": "weight"}])
def test_merged_states_have_the_same_ranks(library, more):
    rows = rows_of(5, lists=60)
    frame = library.DataFrame(rows)
    halves = [library.DataFrame([row for row in rows if (row["session"] // 3) % 2 == half]) for half in (0, 1)]
    given = {"k": 3, "by": "session", "score": MODELS, **more}
    whole = recframe.rec(frame).rank_models(["ndcg", "mrr"], confidence=0.8, **given)
    merged = recframe.merge_states([recframe.rec(half).state(["ndcg", "mrr"], **given) for half in halves])
    result = merged.rank_models(confidence=0.8)
    assert list(result.columns) == list(whole.columns)
    assert result["mean"].to_list() == pytest.approx(whole["mean"].to_list())
    for name in ("metric", "model", *COLUMNS[1:]):
        assert result[name].to_list() == whole[name].to_list()


def test_states_without_all_pairs_are_refused(library):
    state = recframe.rec(library.DataFrame(rows_of(1))).state("mrr", by="session", score=MODELS, baseline="a")
    with pytest.raises(recframe.OptionError, match="rank_models needs all pairs of models"):
        recframe.merge_states(state).rank_models()


def test_segments_have_ranks_of_their_own(engine):
    rows = rows_of(6, lists=50)
    result = engine.ask(engine.frame(rows), "rank_models", "mrr", by="session", per="country", score=MODELS)
    for country in ("at", "be"):
        frame = engine.frame([row for row in rows if row["country"] == country])
        alone = engine.ask(frame, "rank_models", "mrr", by="session", score=MODELS)
        of_segment = {row["model"]: row for row in result if row["country"] == country}
        for row in alone:
            assert [of_segment[row["model"]][name] for name in COLUMNS[1:]] == [row[name] for name in COLUMNS[1:]]


def test_equal_models_are_tied_and_lower_ranks_are_better_where_lower_values_are(library):
    rows = [
        {"user": user, "item": item, "relevant": int(item == 1), "a": item, "b": item, "c": -item}
        for user in range(30)
        for item in range(2)
    ]
    frame = library.DataFrame(rows)
    result = frame.rec.rank_models("mrr", score=["a", "b", "c"])
    assert result["rank"].to_list() == [1, 1, 3]
    assert result["rank_low"].to_list() == [1, 1, 3]
    assert result["rank_high"].to_list() == [2, 2, 3]
    assert result["tied_with_best"].to_list() == [True, True, False]
    few = library.DataFrame(rows[:4]).rec.rank_models("mrr", score=["a", "b", "c"])
    assert (few["rank_low"].to_list(), few["rank_high"].to_list()) == ([1, 1, 1], [3, 3, 3])
    train = library.DataFrame({"user": [1, 2, 3], "item": [0, 0, 1]})
    upside_down = frame.rec.rank_models("arp", 1, score=["a", "c"], train=train)
    assert upside_down["rank"].to_list() == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("true", [[0.0] * 4, [0.0, 0.0, 0.2, 0.2], [0.0, 0.15, 0.3, 0.45]])
def test_intervals_hold_all_true_ranks(true):
    random, held, draws, true = np.random.default_rng(7), 0, 400, np.array(true)
    low = 1 + (true[None] > true[:, None]).sum(axis=1)
    high = len(true) - (true[None] < true[:, None]).sum(axis=1)
    for draw in range(draws):
        values = true + random.normal(size=(40, 1)) + 0.5 * random.normal(size=(40, len(true)))
        means = Means.of(values, np.ones(values.shape))
        ranks = Ranks.of(means.means[:, None] - means.means, means.variances, means.degrees, 0.95, 500, draw)
        held += bool(((ranks.low <= low) & (high <= ranks.high)).all())
    assert held / draws > 0.93


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"score": ["a"]}, "rank_models needs two models, but there is only 'a'"),
        ({"confidence": 1}, "confidence=1 is not a number between 0 and 1"),
        ({"resamples": 99}, "resamples=99 is less than 100"),
        ({"metrics": "coverage"}, "rank_models needs a value per list"),
    ],
)
def test_bad_arguments(library, given, message):
    given = {"metrics": "mrr", "by": "session", "score": ["a", "b"], **given}
    with pytest.raises(recframe.RecError, match=message):
        library.DataFrame(rows_of(1)).rec.rank_models(**given)


def test_tables_and_charts_show_ranks(library):
    pytest.importorskip("altair")
    rec = library.DataFrame(rows_of(2)).rec(by="session", score=MODELS)
    text = recframe.table(rec.rank_models("mrr", 3)).to_markdown()
    header = [cell.strip() for cell in text.splitlines()[0].strip("|").split("|")]
    assert header == ["metric", "model", "lists", "mean", "rank", "ranks", "tied with the best"]
    assert "| 1 to 3 | yes  " in text
    chart = rec.plot.ranks("mrr", 3).to_dict()
    assert [row["rank"] for row in chart["data"]["values"]] == [1, 2, 3]
    assert {row["rank_high"] for row in chart["data"]["values"]} == {3}


def test_a_hundred_draws_are_the_fewest(library):
    rec = recframe.rec(library.DataFrame(rows_of(1)))
    assert len(rec.rank_models("mrr", by="session", score=MODELS, resamples=100)) == 3


def test_models_with_values_in_different_lists_are_refused(library):
    rows = [
        {"user": user, "item": item, "relevant": 1, "a": 1.0 + item, "b": -1.0 * item if user else None}
        for user in range(6)
        for item in range(3)
    ]
    train = library.DataFrame({"user": [9, 9, 8], "item": [0, 1, 2]})
    state = recframe.rec(library.DataFrame(rows)).state("arp", 1, score=["a", "b"], train=train)
    with pytest.raises(recframe.OptionError, match="models have values of arp@1 in different lists"):
        recframe.merge_states(state).rank_models()


def test_the_shrunk_means_are_those_of_the_formula():
    polars = pytest.importorskip("polars")
    frame, random = polars.DataFrame(rows_of()), np.random.default_rng(1)
    scores = {name: polars.Series(random.normal(size=len(frame))) for name in ("d", "e")}
    given = {"by": "session", "score": [*MODELS, "d", "e"], "undefined": 0.0}
    frame = frame.with_columns(**scores)
    result = frame.rec.rank_models("ndcg@2", details=True, **given)
    pairs = frame.rec.compare("ndcg@2", details=True, **given)
    # The standard error, from the difference over its standard deviation.
    errors = np.square((pairs["difference"] / pairs["effect"]).to_numpy()) / pairs["lists"].to_numpy()
    means = result["mean"].to_numpy()
    share = min(2 * errors.mean() / 2 / np.square(means - means.mean()).sum(), 1)
    assert 0 < share < 1
    assert result["shrunk"].to_list() == pytest.approx((means.mean() + (1 - share) * (means - means.mean())).tolist())
    merged = recframe.merge_states(frame.rec.state("ndcg@2", **given)).rank_models(details=True)
    assert merged["shrunk"].to_list() == pytest.approx(result["shrunk"].to_list())
    assert "shrunk" not in frame.rec.rank_models("ndcg@2", **given).columns
    three = frame.rec.rank_models("ndcg@2", details=True, **(given | {"score": MODELS}))
    assert three["shrunk"].to_list() == three["mean"].to_list()
