"""Bounds over all judgments of unjudged items, against every judgment of them."""

import itertools
import random

import narwhals as nw
import pytest

pytest.importorskip("scipy")

import recframe
from recframe import metrics

# Items are repeated to see that they count once.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.DataWarning")


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


METRICS = [
    "precision@3", "precision(denominator=list)@4", "recall@3", "recall(capped=True)@2", "recall", "f1@3", "fbeta(beta=2)@2",
    "hit_rate@2", "mrr", "mrr@3", "map@3", "map(norm=relevant)@4", "map(norm=k)@3", "map", "rbp@4",
    "rbp(gain=linear)@3", "dcg@3", "dcg(gain=exp2)", "ndcg@3", "ndcg", "ndcg(gain=exp2)@2", "ndcg(gain=binary)@3",
    "ndcg(discount=reciprocal)@4", "ndcg(grades=relevant)@3", "ndcg(grades=positive)@3",
]  # fmt: skip


def case(seed, grade):
    """Return recommendations with ties, repeats and missing scores, judgments of a part of them, and what was unjudged."""
    draw, rows, judged, unjudged = random.Random(seed), [], [], []
    for user in range(3):
        items = draw.sample("abcdefgh", draw.randint(3, 7))
        left = draw.sample(items, draw.randint(0, min(7 - grade, len(items))))
        for item in items:
            score = draw.choice([0, 1, 2, 3, None]) if draw.random() < 0.9 else 2
            rows.append({"user": user, "item": item, "score": score})
            if item in left:
                unjudged.append((user, item))
                judged += [{"user": user, "item": item, "relevant": None}] * draw.randint(0, 1)
            else:
                judged.append({"user": user, "item": item, "relevant": draw.randint(0, grade)})
        rows.append(dict(rows[-1], score=1))
        judged.append({"user": user, "item": "outside", "relevant": draw.randint(0, grade)})
    judged.append({"user": 9, "item": "a", "relevant": 1})
    return rows, judged, unjudged


def every_judgment(rows, judged, unjudged, grade):
    """Return the recommendations and the truth of each list under each judgment, as lists of their own."""
    frame, truth = [], []
    for user in {row["user"] for row in judged}:
        own = [item for of, item in unjudged if of == user]
        for number, grades in enumerate(itertools.product(range(grade + 1), repeat=len(own))):
            key = {"list": f"{user}:{number}", "user": user, "number": number}
            frame += [row | key for row in rows if row["user"] == user]
            truth += [row | key for row in judged if row["user"] == user]
            truth += [{"item": item, "relevant": given} | key for item, given in zip(own, grades, strict=True) if given]
    return frame, truth


@pytest.mark.parametrize("grade", [1, 2])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("min_relevance", [None, 2])
def test_bounds_are_those_of_every_judgment(library, seed, grade, min_relevance):
    if min_relevance is not None and grade < min_relevance:
        pytest.skip("nothing would be relevant")
    rows, judged, unjudged = case(seed, grade)
    given = {"min_relevance": min_relevance}
    frame, truth = (library.DataFrame(each) for each in every_judgment(rows, judged, unjudged, grade))
    keys = {row["list"]: (row["user"], row["number"]) for row in every_judgment(rows, judged, unjudged, grade)[1]}
    values = recframe.rec(frame).evaluate(METRICS, by="list", per="list", truth=truth, **given)
    lists = values["list"].to_list()
    result = recframe.rec(library.DataFrame(rows)).bounds(
        METRICS, truth=library.DataFrame(judged), grade=grade, **given
    )
    for place, metric in enumerate(METRICS):
        by_user = {}
        for name, value in zip(lists, values[list(values.columns)[place + 1]].to_list(), strict=True):
            user, number = keys[name]
            by_user.setdefault(user, {})[number] = value if value == value else None  # noqa: PLR0124 - NaN
        by_user = {user: each for user, each in by_user.items() if each[0] is not None}
        every = [[value for value in each.values() if value is not None] for each in by_user.values()]
        assert result["lists"].to_list()[place] == len(every), metric
        if every:
            expected = [sum(end(each) for each in every) / len(every) for end in (lambda each: each[0], min, max)]
            ours = [result[name].to_list()[place] for name in ("mean", "least", "greatest")]
            assert ours == pytest.approx(expected, abs=1e-12), metric


@pytest.mark.parametrize("metric", ["recall(rel=2)@3", "ndcg(rel=2)@3", "ndcg(grades=relevant,rel=2)@3"])
def test_a_level_in_a_name_is_that_of_a_call(library, metric):
    rows, judged, _ = case(1, 3)
    rec, truth = recframe.rec(library.DataFrame(rows)), library.DataFrame(judged)
    plain = metric.replace(",rel=2", "").replace("(rel=2)", "")
    expected = nw.from_native(rec.bounds(plain, truth=truth, min_relevance=2)).drop("metric").row(0)
    for several in (metric, [metric, "mrr(rel=2)"]):
        result = nw.from_native(rec.bounds(several, truth=truth)).drop("metric")
        assert result.row(0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("most", [1, 20, 300])
def test_many_candidates_are_evaluated_some_at_a_time(library, monkeypatch, most):
    rows, judged, _ = case(5, 2)
    rec, truth = recframe.rec(library.DataFrame(rows)), library.DataFrame(judged)
    together = nw.from_native(rec.bounds(METRICS, truth=truth)).drop("metric").rows()
    monkeypatch.setattr("recframe._inference.judgments.bounds.MOST_AT_ONCE", most)
    for result, expected in zip(
        nw.from_native(rec.bounds(METRICS, truth=truth)).drop("metric").rows(), together, strict=True
    ):
        assert result == pytest.approx(expected, abs=1e-12)


def test_the_mean_is_that_of_evaluate_and_the_share_judged_is_that_of_judged(engine):
    rows, judged, _ = case(7, 2)
    frame, truth = engine.frames(rows + [dict(row, score=None) for row in rows[:1]], judged)
    result = engine.ask(frame, "bounds", ["ndcg", "mrr"], k=3, truth=truth)
    (whole,) = engine.ask(frame, "evaluate", ["ndcg", "mrr"], k=3, truth=truth, score=["score"])
    per = engine.ask(frame, "evaluate", ["ndcg@3", "judged@3"], truth=truth, per="user", score="score")
    lists = [row for row in per if row["ndcg@3"] is not None]
    shares = [row["judged@3"] for row in lists if row["judged@3"] is not None]
    for row in result:
        assert row["mean"] == pytest.approx(whole[row["metric"]])
        assert row["least"] <= row["mean"] <= row["greatest"]
    assert len(shares) < len(lists) == result[0]["lists"]
    assert result[0]["judged"] == pytest.approx(sum(shares) / len(shares))


@pytest.mark.parametrize("seed", range(3))
def test_repeated_judgments_count_as_in_evaluate(library, seed):
    rows, judged, _ = case(seed, 2)
    # The lower grade comes last, and the larger one counts.
    judged += [row | {"relevant": 0} for row in judged if row["relevant"]]
    rec, truth = recframe.rec(library.DataFrame(rows)), library.DataFrame(judged)
    labels = ["dcg@3", "ndcg@3", "recall@3", "map"]
    result = rec.bounds(labels, truth=truth)["mean"].to_list()
    values = nw.from_native(rec.evaluate(labels, truth=truth)).rows()[0]
    assert result == pytest.approx(values)


def test_models_and_ranks_have_bounds_of_their_own(library):
    rows, judged, _ = case(2, 1)
    ranks = [row | {"rank": place % 8 + 1 if row["score"] is not None else None} for place, row in enumerate(rows)]
    truth = library.DataFrame(judged)
    both = recframe.rec(library.DataFrame([row | {"other": int(row["item"] < "d")} for row in rows]))
    result = both.bounds("ndcg", 3, score=["score", "other"], truth=truth)
    assert result["model"].to_list() == ["score", "other"]
    for place, model in enumerate(["score", "other"]):
        alone = both.bounds("ndcg", 3, score=model, truth=truth)
        for name in ("mean", "least", "greatest"):
            assert alone[name].to_list() == [result[name].to_list()[place]]
    by_rank = recframe.rec(library.DataFrame(ranks)).bounds("mrr", 3, rank="rank", truth=truth)
    mean = recframe.rec(library.DataFrame(ranks)).mrr(3, rank="rank", truth=truth)
    assert by_rank["mean"].to_list() == pytest.approx([mean])


def test_segments_have_bounds_of_their_own(engine):
    rows, judged, _ = case(2, 1)
    rows = [row | {"market": "at" if row["user"] else None} for row in rows]
    judged = [row for row in judged if row["user"] < 9]
    frame, truth = engine.frames(rows, judged)
    result = engine.ask(frame, "bounds", ["ndcg@3", "mrr"], truth=truth, per="market")
    assert len(result) == 4
    for market in ("at", None):
        users = {row["user"] for row in rows if row["market"] == market}
        own = [[row for row in each if row["user"] in users] for each in (rows, judged)]
        part, of_part = engine.frames(*own)
        for row in engine.ask(part, "bounds", ["ndcg@3", "mrr"], truth=of_part):
            (same,) = (each for each in result if (each["market"], each["metric"]) == (market, row["metric"]))
            assert {name: same[name] for name in row} == pytest.approx(row)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"metrics": "roc_auc"}, "bounds of roc_auc are not known exactly"),
        ({"metrics": metrics.MAP(norm="hits")}, "leave norm='hits' out"),
        ({"metrics": "ndcg(ideal=ranked)"}, "leave ideal='ranked' out"),
        ({"truth": None}, "bounds needs truth="),
        ({"grade": -1}, "makes no item relevant"),
        ({"grade": 1, "min_relevance": 2}, "makes no item relevant"),
        ({"grade": float("inf")}, r"grade=inf, but ndcg@3 accepts at most 1e\+300"),
        ({"metrics": "ndcg(gain=exp2)@3", "grade": 2000}, r"grade=2000, but .* accepts at most"),
        ({"min_relevance": 0}, "min_relevance=0 makes items of grade 0 relevant"),
        ({"negative": True}, "truth= holds the relevance -1"),
    ],
)
def test_what_has_no_exact_bounds_is_refused(library, given, message):
    rows, judged, _ = case(1, 1)
    judged += [{"user": 0, "item": "z", "relevant": -1}] if "negative" in given else []
    given = {"metrics": "ndcg@3", "truth": library.DataFrame(judged), **given}
    given.pop("negative", None)
    with pytest.raises(recframe.RecError, match=message):
        recframe.rec(library.DataFrame(rows)).bounds(**given)


@pytest.mark.parametrize("how", ["bound", "Config"])
def test_models_in_rows_are_refused_however_they_are_named(library, how):
    rows, judged, _ = case(1, 1)
    frame = library.DataFrame([row | {"model": name} for row in rows for name in "ab"])
    rec = frame.rec(model="model") if how == "bound" else frame.rec
    config = recframe.Config(**({"model": "model"} if how == "Config" else {}))
    with config, pytest.raises(recframe.OptionError, match="model='model' names models in rows, but bounds reads"):
        rec.bounds("mrr", truth=library.DataFrame(judged))


def test_segments_of_a_truth_without_rows(library):
    frame = library.DataFrame({"user": [1], "item": ["a"], "score": [1.0], "market": ["x"]})
    truth = library.DataFrame({"user": [1], "item": ["a"], "market": ["x"]})
    assert len(frame.rec.bounds("mrr", truth=truth[:0], per="market")) == 0


def test_bounds_of_scores_of_128_bits():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1] * 4, "item": [*"abcd"], "score": [3, 1, 2, 2]})
    truth = pl.DataFrame({"user": [1, 1], "item": ["a", "c"], "relevant": [1, 0]})
    large = frame.with_columns(pl.col("score").cast(pl.Int128) + 2**70)
    assert large.rec.bounds("ndcg@3", truth=truth).equals(frame.rec.bounds("ndcg@3", truth=truth))
