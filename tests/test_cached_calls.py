"""What a call is made of is kept for equal calls: their answers are those of a call that finds nothing kept."""

from __future__ import annotations

import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import recframe
from recframe import metrics
from recframe._call import cached_calls as _calls
from recframe.errors import MissingColumnError, OptionError, OptionTypeError

ROWS = {
    "user": [1, 1, 1, 2, 2, 2],
    "who": [1, 1, 2, 2, 3, 3],
    "item": [1, 2, 3, 1, 2, 3],
    "relevant": [0, 1, 2, 0, 0, 1],
    "score": [3.0, 2.0, 2.0, 1.0, 2.0, 2.0],
    "guess": [1.0, 2.0, 3.0, 3.0, 2.0, 1.0],
    "rank": [3, 1, 2, 1, 2, 3],
    "country": ["at", "at", "at", "be", "be", "be"],
}
TRUTH = {"user": [1, 1, 2], "item": [2, 3, 1], "relevant": [1, 2, 1], "country": ["at", "at", "be"]}
SCORES = ["score", "guess"]
ASKED = [
    ("ndcg", (2,), {}),
    ("ndcg", (2,), {"gain": "exp2", "truth": True}),
    ("ndcg", (2,), {"min_relevance": 2.0, "per": "country"}),
    ("precision", (2,), {"undefined": 0, "rank": "rank"}),
    ("precision", (2,), {"like": "sklearn", "ties": "worst", "item": "item"}),
    ("map", (2,), {"truth": True}),
    ("evaluate", (metrics.MAP(2),), {"by": "who"}),
    ("evaluate", (["P(rel=2)", "AP(rel=2)", "RR(rel=2)"],), {"k": [1, 2], "score": "guess"}),
    ("evaluate", (["ndcg", "mrr"],), {"k": [1, 2], "score": SCORES, "per": ["country"], "truth": True}),
    ("evaluate", (["ndcg", "mrr"],), {"score": SCORES, "counts": True}),
    ("evaluate", (["ndcg@2"],), {"chance": True}),
    ("contributions", ("ndcg", 2), {}),
    ("compare", ("ndcg@2",), {"score": SCORES}),
]


def answer(engine, name, given, named):
    """Return what a call answers, its rows in any order, or the text of its error."""
    frame, truth = engine.frames(ROWS, TRUTH)
    try:
        result = engine.ask(frame, name, *given, **{**named, **({"truth": truth} if "truth" in named else {})})
    except OptionError as error:
        return str(error)
    return sorted(map(repr, result)) if isinstance(result, list) else result


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: f"{ASKED.index(asked)}-{asked[0]}")
def test_an_answer_is_that_of_a_call_that_finds_nothing_kept(engine, asked, monkeypatch):
    result = [answer(engine, *asked) for _ in range(2)]
    monkeypatch.setattr(_calls.Arguments, "_key", lambda *_: None)
    assert result == [answer(engine, *asked)] * 2


@pytest.fixture
def frame():
    pl = pytest.importorskip("polars")
    return pl.DataFrame(ROWS)


def test_values_that_are_equal_but_of_another_type_are_others(frame):
    assert frame.rec.precision(1) == frame.rec.precision(k=1) == 0.25
    for wrong in (True, 1.0):
        with pytest.raises(OptionTypeError, match=f"k={wrong} "):
            frame.rec.precision(wrong)
        with pytest.raises(OptionTypeError, match=f"k={wrong} "):
            frame.rec.evaluate("precision", k=wrong)
    assert frame.rec.ndcg(2, min_relevance=1) == frame.rec.ndcg(2, min_relevance=1.0)
    with pytest.raises(OptionTypeError, match="min_relevance=True"):
        frame.rec.ndcg(2, min_relevance=True)
    frame.rec.evaluate("ndcg", counts=True)
    with pytest.raises(OptionTypeError, match="counts=1"):
        frame.rec.evaluate("ndcg", counts=1)


@pytest.mark.parametrize("options", [(3, 3.0), (4.0, 4)], ids=str)
def test_options_that_are_equal_but_spelled_apart_are_others(frame, options):
    values = [frame.rec.fbeta(2, beta=beta) for beta in options]
    assert values[0] == values[1]
    for beta in options:
        label = f"fbeta(beta={beta})@2"
        assert frame.rec.evaluate([metrics.FBeta(2, beta=beta)]).columns == [label]
        assert frame.rec.contributions("precision@2").columns
        assert frame.rec.evaluate([label, "mrr"], per="user").columns == ["user", label, "mrr"]


def test_labels_that_are_equal_but_of_another_type_are_others():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS)
    one, true = frame.rename(columns={"score": 1}), frame.rename(columns={"score": True})
    assert one.rec.ndcg(2, score=1) == true.rec.ndcg(2, score=True) == frame.rec.ndcg(2)
    with pytest.raises(MissingColumnError, match="score=1"):
        frame.rec.ndcg(2, score=1)


def test_what_holds_between_two_equal_calls_may_change(frame):
    by_score, by_guess = frame.rec.ndcg(2), frame.rec.ndcg(2, score="guess")
    assert by_score != by_guess
    with recframe.Config(score="guess"):
        assert frame.rec.ndcg(2) == by_guess
    assert frame.rec.ndcg(2) == by_score
    # Without scores, ranks are read.
    assert frame.drop("score").rec.ndcg(2) == frame.rec.ndcg(2, rank="rank") != by_score
    with pytest.raises(MissingColumnError, match="score"):
        frame.drop("score", "rank").rec.ndcg(2)
    for ties in ("best", "worst"):
        with recframe.Config(ties=ties):
            assert frame.rec.ndcg(2) == frame.rec(ties=ties).ndcg(2)


def test_lists_that_a_caller_changes_are_read_anew(frame):
    scores, names, grades = ["score"], ["ndcg@2"], {1: 1.0, 2: 3.0}
    one = frame.rec.evaluate(names, score=scores)
    scores.append("guess")
    names.append("mrr")
    both = frame.rec.evaluate(names, score=scores)
    assert (both.height, both.columns) == (2, ["model", "ndcg@2", "mrr"])
    scores.pop()
    names.pop()
    assert frame.rec.evaluate(names, score=scores).equals(one)
    before = frame.rec.err(2, probability={1: 0.1, 2: 0.3})
    grades = {1: 0.1, 2: 0.3}
    assert frame.rec.err(2, probability=grades) == before
    grades[2] = 0.9
    assert frame.rec.err(2, probability=grades) == frame.rec.err(2, probability={1: 0.1, 2: 0.9}) != before


def test_custom_metrics_and_functions_are_not_kept(frame):
    class Share(recframe.CutMetric):
        name = "share"
        factor = 1.0

        def terms(self, row):
            return {"hits": row.hit * row.weight(lambda position: self.factor * position**0.0, 2)}

        def value(self, sums):
            return sums["hits"]

    class Own(metrics.Precision):
        factor = 1.0

        def value(self, sums):
            return super().value(sums) * self.factor

    for kind in (Share, Own):
        before = frame.rec.evaluate(kind(k=2)).item()
        kind.factor = 3.0
        assert frame.rec.evaluate(kind(k=2)).item() == pytest.approx(3 * before)
    cached = len(_calls._cached)
    frame.rec.evaluate(Own(2), min_relevance=0.125)
    frame.rec.ndcg(2, min_relevance=0.125, gain=lambda relevance: relevance)
    frame.rec.evaluate([Own(2), "ndcg"], min_relevance=0.125)
    assert len(_calls._cached) == cached


def test_what_is_kept_is_bounded_and_holds_no_data(frame, monkeypatch):
    monkeypatch.setattr(_calls, "_cached", {})
    monkeypatch.setattr(_calls, "MAX_CACHED_CALLS", 4)
    expected = frame.rec.ndcg(2)
    for level in range(10):
        frame.rec.ndcg(2, min_relevance=-level)
        assert 0 < len(_calls._cached) <= 4
    assert frame.rec.ndcg(2) == expected
    other, truth = frame.clone(), frame.drop("score").clone()
    dies = [weakref.ref(other), weakref.ref(truth)]
    other.rec.ndcg(2, truth=truth)
    other.rec(truth=truth).evaluate(["ndcg", "arp"], train=truth, catalog=truth)
    del other, truth
    gc.collect()
    assert [ref() for ref in dies] == [None, None]


def test_what_a_query_keeps_does_not_pickle_and_does_not_grow_with_the_data(frame):
    pl = pytest.importorskip("polars")
    sizes = []
    for number in range(3):
        features = pl.DataFrame({"item": [1, 2, 3], **{f"f{number} {each}": [1, 0, 1] for each in range(number + 1)}})
        frame.rec.evaluate(["diversity@2"], features=features)
        call = next(reversed(_calls._cached.values()))
        sizes.append(len(call.query.cached))
    assert sizes[0] == sizes[2] > 0
    again = pickle.loads(pickle.dumps(call.query))
    assert again == call.query
    assert again.cached == {}


def test_arguments_that_cannot_be_written_are_refused_as_ever(frame):
    itself: list[object] = []
    itself.append(itself)
    for wrong in (itself, 10**5000, float("nan")):
        with pytest.raises(OptionTypeError):
            frame.rec.ndcg(2, by=wrong)


@pytest.mark.slow
def test_threads_may_make_equal_and_other_calls_at_once(frame, monkeypatch):
    monkeypatch.setattr(_calls, "_cached", {})
    monkeypatch.setattr(_calls, "MAX_CACHED_CALLS", 3)
    wanted = [
        {"score": score, "ties": ties, "min_relevance": level}
        for score in SCORES
        for ties in ("average", "best", "worst")
        for level in (None, 1, 2)
    ]
    expected = [frame.rec.ndcg(2, **roles) for roles in wanted]
    with ThreadPoolExecutor(8) as pool:
        result = list(pool.map(lambda roles: frame.rec.ndcg(2, **roles), wanted * 5))
    assert result == expected * 5
