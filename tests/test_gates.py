"""What a job that stops on bad numbers can rely on: no list without a value, no role that names nothing, no key of nothing."""

from __future__ import annotations

import datetime as dt
import re

import pytest

import recframe
from recframe._inference.lists.claims import correction_factor

SOME = {"user": [1, 1, 2], "item": ["a", "b", "a"], "relevant": [1, 0, 0], "score": [0.9, 0.1, 0.5]}
NONE = {
    "user": [1, 1, 2],
    "item": ["a", "b", "a"],
    "relevant": [0, 0, 0],
    "score": [0.9, 0.1, 0.5],
    "country": [*"ddf"],
}
RECOMMENDED = {"user": [1, 1, 2], "item": ["a", "b", "a"], "score": [0.9, 0.1, 0.5]}
SEEN = {"user": [1, 1, 2], "item": ["a", "b", "a"], "clicked": [0, 1, 0]}


# --- undefined lists ----------------------------------------------------------------------------------------------------


def test_raise_returns_the_value_where_every_list_has_one(engine):
    if engine.lazy:
        pytest.skip("refused at the call")
    frame = engine.frame({"user": [1, 1, 2], "relevant": [1, 0, 1], "score": [1.0, 2.0, 1.0]})
    assert engine.ask(frame, "mrr", undefined="raise") == 0.75
    result = engine.ask(frame, "mrr", per="user", undefined="raise")
    assert [row["mrr"] for row in result] == [0.5, 1]


def test_raise_all_takes_a_frame_with_one_defined_list(engine):
    if engine.lazy:
        pytest.skip("needs the data")
    frame = engine.frame(SOME)
    assert engine.ask(frame, "ndcg", 1, undefined="raise_all") == 1.0
    assert engine.ask(frame, "evaluate", ["ndcg", "recall"], k=1, undefined="raise_all") == [
        {"ndcg@1": 1.0, "recall@1": 1.0}
    ]
    per = engine.ask(frame, "ndcg", 1, per="user", undefined="raise_all")
    assert [row["ndcg@1"] for row in per] == [1.0, None]


@pytest.mark.parametrize("per", [None, "user", "country"])
def test_raise_all_refuses_a_frame_without_a_defined_list(engine, per):
    if engine.lazy:
        pytest.skip("needs the data")
    frame = engine.frame(NONE)
    for ask in (
        lambda: engine.ask(frame, "ndcg", 1, undefined="raise_all", per=per),
        lambda: engine.ask(frame, "evaluate", ["precision", "ndcg"], k=[1, 2], undefined="raise_all", per=per),
    ):
        with pytest.raises(
            recframe.UndefinedError,
            match=r"(?s)no list has a value of .*@1, because no list has a relevant item.*Hint: .*undefined='skip'",
        ):
            ask()
    with pytest.raises(recframe.UndefinedError, match="2 lists have no ndcg@1 because they have no relevant item"):
        engine.ask(frame, "ndcg", 1, undefined="raise", per=per)


def test_raise_all_looks_at_each_model(engine):
    if engine.lazy:
        pytest.skip("needs the data")
    truth = {"user": [1], "item": ["a"]}
    # Without a ranked row of the list, lists="ranked" leaves it out, so that the second model has no list at all.
    rows = {"user": [1, 1], "item": ["a", "b"], "good": [0.9, 0.1], "empty": [None, None], "model": ["x", "y"]}
    frame, truth = engine.frames(rows | {"empty": [None, float("nan")]}, truth)
    given = {"k": 1, "truth": truth, "lists": "ranked", "undefined": "raise_all"}
    with pytest.raises(recframe.UndefinedError, match="model 'empty'"):
        engine.ask(frame, "evaluate", ["ndcg"], score=["good", "empty"], **given)
    assert engine.ask(frame, "evaluate", ["ndcg"], score=["good"], **given) == [{"model": "good", "ndcg@1": 1.0}]
    # The models of the long format by their own names, whatever replaces text within the call.
    stacked = engine.frame({"user": [1, 1], "item": ["a", "b"], "score": [0.9, None], "model": ["x", "y"]})
    with pytest.raises(recframe.UndefinedError, match="model 'y'"):
        engine.ask(stacked, "evaluate", ["ndcg"], model="model", **given)


@pytest.mark.parametrize("per", [None, "country"])
@pytest.mark.parametrize("call", ["describe", "compare", "state", "rank_models"])
def test_calls_by_list_refuse_what_raise_all_refuses(engine, call, per):
    if engine.lazy:
        pytest.skip("needs the data")
    models = {"by": "user", "score": ["score", "other"], "k": 2, "per": per, "undefined": "raise_all"}
    some, none = (engine.frame(data | {"country": [*"ddf"], "other": [0.1, 0.9, 0.5]}) for data in (SOME, NONE))
    assert getattr(recframe.rec(some), call)("ndcg", **models) is not None
    with pytest.raises(recframe.UndefinedError, match="no list of the model 'score' has a value of ndcg@2"):
        engine.rows(getattr(recframe.rec(none), call)("ndcg", **models))


@pytest.mark.filterwarnings("ignore:the numbers may mean nothing")
@pytest.mark.parametrize("call", ["describe", "compare", "state"])
def test_calls_refuse_undefined_values_of_all_lists(engine, call):
    """`describe`, `compare` and merged states of `entropy` returned missing values."""
    if engine.lazy:
        pytest.skip("needs the data")
    nothing = float("nan")
    some = {"score": [0.9, 0.1, nothing], "other": [0.1, 0.9, nothing], "none": [nothing] * 3}
    frame = engine.frame({"user": [1, 1, 2], "item": [*"aba"], "country": [*"ddf"], **some})

    def ask(undefined, other):
        models = {"by": "user", "item": "item", "score": ["score", other], "per": "country", "undefined": undefined}
        if call == "state":
            state = recframe.rec(frame).state("entropy", k=2, items=True, **models)
            return recframe.merge_states([state], per="country").evaluate()
        return engine.rows(getattr(recframe.rec(frame), call)("entropy", k=2, **models))

    assert ask("skip", "none") is not None
    assert ask("raise_all", "other") is not None
    with pytest.raises(recframe.UndefinedError, match="entropy@2 has 3 undefined of 4 values, because there is no"):
        ask("raise_all", "none")
    with pytest.raises(recframe.UndefinedError, match="entropy@2 has 3 undefined of 4 values, because there is no"):
        ask("raise", "none")


def test_raise_all_needs_the_data(engine):
    if not engine.lazy:
        pytest.skip("has the data")
    with pytest.raises(recframe.OptionError, match="undefined='raise_all' needs the data"):
        recframe.rec(engine.frame(SOME)).ndcg(1, undefined="raise_all")


def test_a_gate_without_the_option_warns_and_is_nan(engine):
    if engine.lazy or engine.postpones or engine.library == "pyarrow":
        pytest.skip("gives frames")
    with (
        engine.running(),
        pytest.warns(
            recframe.UndefinedWarning, match="no list has a value of ndcg@1, because no list has a relevant item$"
        ),
    ):
        value = recframe.rec(engine.frame(NONE)).ndcg(1)
    assert value != value  # noqa: PLR0124 - NaN


# --- roles that somebody named ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["ndcg", "check"])
def test_a_relevance_that_was_named_must_be_in_the_truth(engine, method):
    frame, truth = engine.frames(RECOMMENDED, SEEN)
    assert engine.ask(frame, "ndcg", 1, truth=truth, relevant="clicked") == 0.0
    if not engine.checks:
        with pytest.raises(Exception, match="clickd"):
            engine.ask(frame, method, 1, truth=truth, relevant="clickd")
        return
    with pytest.raises(recframe.MissingColumnError, match=r"(?s)relevant='clickd': truth has no such.*mean 'clicked'"):
        engine.ask(frame, method, 1, truth=truth, relevant="clickd")
    bound = recframe.rec(frame, validate=True)(relevant="clickd")
    with pytest.raises(recframe.MissingColumnError, match="relevant='clickd'"):
        getattr(bound, method)(1, truth=truth)


def test_a_relevance_that_nobody_named_may_be_absent(engine):
    frame, truth = engine.frames(RECOMMENDED, {"user": [1, 2], "item": ["a", "b"]})
    assert engine.ask(frame, "ndcg", 1, truth=truth) == 0.5


def test_a_label_that_was_named_must_be_in_the_truth(engine):
    if not engine.answers_with_rows:
        pytest.skip("only evaluates")
    frame, truth = engine.frames(RECOMMENDED, SEEN)
    with engine.running(), pytest.raises(Exception, match="clickd"):
        engine.rows(recframe.rec(frame).label(truth, relevant="clickd"))
    rows = None if engine.lazy or engine.postpones else engine.ask(frame, "label", truth, relevant="clicked")
    assert rows is None or [row["clicked"] for row in rows] == [0.0, 1.0, 0.0]


# --- a key of nothing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nothing", [[], ()])
def test_a_key_of_no_column_is_refused(engine, nothing):
    with pytest.raises(recframe.OptionError, match=r"(?s)by=[(\[][)\]] names no column.*by=None"):
        engine.ask(engine.frame(SOME), "ndcg", 1, by=nothing)
    assert engine.ask(engine.frame(SOME), "ndcg", 1, by=None) == 1.0


# --- a truth in memory with a lazy frame ------------------------------------------------------------------------------


def test_an_eager_truth_goes_with_a_lazy_frame(engine):
    if not engine.postpones:
        pytest.skip("for lazy polars frames")
    frame, truth = engine.frames(RECOMMENDED, SEEN)
    held = truth.collect()
    for method in ("ndcg", "recall", "check", "contributions", "evaluate"):
        args = (1,) if method not in ("contributions", "evaluate") else ("ndcg", 1)
        given = {"relevant": "clicked"}
        result, expected = (engine.ask(frame, method, *args, truth=each, **given) for each in (held, truth))
        assert result == expected
    labelled = [engine.rows(recframe.rec(frame).label(each, relevant="clicked")) for each in (held, truth)]
    assert sorted(labelled[0], key=repr) == sorted(labelled[1], key=repr)
    with pytest.raises(TypeError, match="truth is a polars LazyFrame, but the frame is a polars DataFrame"):
        recframe.rec(frame.collect()).ndcg(1, truth=truth)


# --- require ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "least"),
    [
        (0.3, 0.3),
        (0.31, 0.3),
        (1, {"ndcg@10": 0.3}),
        (-0.1, -0.2),
        (float("inf"), 1),
        (0.5599999999999999, 0.56),
        (-0.30000000000000004, -0.3),
    ],
)
def test_require_accepts_what_suffices(value, least):
    assert recframe.require(value, least) is None


@pytest.mark.parametrize(
    ("value", "least", "message"),
    [
        (0.29, 0.3, "the value is 0.29, below 0.3"),
        (0.29, {"ndcg@10": 0.3}, "ndcg@10 is 0.29, below 0.3"),
        (-0.5, -0.4, "the value is -0.5, below -0.4"),
        (float("nan"), 0.3, r"the value has no value \(nan\), but must be at least 0.3"),
        (None, {"map": 0}, r"map has no value \(nan\), but must be at least 0"),
        (0.3 - 1e-12, 0.3, "the value is 0.299999999999, below 0.3"),
    ],
)
def test_require_refuses_what_falls_short(value, least, message):
    with pytest.raises(recframe.ThresholdError, match=f"^{message}$"):
        recframe.require(value, least)


def test_require_accepts_and_refuses_by_most():
    recframe.require(0.3, most=0.3)
    recframe.require(0.5600000000000001, 0.1, most={"gini@10": 0.56})
    for value, limits, message in (
        (0.31, {"most": 0.3}, "the value is 0.31, above 0.3"),
        (0.5, {"least": 0.6, "most": 0.4}, "the value is 0.5, below 0.6; the value is 0.5, above 0.4"),
        (float("nan"), {"most": {"gini": 0.3}}, r"gini has no value \(nan\), but must be at most 0.3"),
    ):
        with pytest.raises(recframe.ThresholdError, match=f"^{message}$"):
            recframe.require(value, **limits)
    with pytest.raises(recframe.OptionTypeError, match="(?s)no limit is given.*most=0.3"):
        recframe.require(0.3)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_require_reads_frames_by_most(library):
    module = pytest.importorskip(library)
    frame = module.DataFrame({"model": ["old", "new"], "gini@10": [0.25, 0.35], "map": [0.5, 0.6]})
    recframe.require(frame, {"map": 0.5}, most={"gini@10": 0.35})
    with pytest.raises(
        recframe.ThresholdError, match="^map of model 'old' is 0.5, below 0.55; gini@10 of model 'new' is 0"
    ):
        recframe.require(frame, {"map": 0.55}, most={"gini@10": 0.3})
    recframe.require(module.DataFrame(DESCRIBED), most={"mrr@10": 0.3}, by="low")
    with pytest.raises(recframe.ThresholdError, match="^the lower end of mrr@10 of model 'new' is 0.29, above 0.25$"):
        recframe.require(module.DataFrame(DESCRIBED), most={"mrr@10": 0.25}, by="low")
    with pytest.raises(recframe.MissingColumnError, match="no column 'mrr'"):
        recframe.require(frame, most={"mrr": 1})
    with pytest.raises(recframe.OptionTypeError, match=r"most\['map'\]='1' is not a number"):
        recframe.require(frame, most={"map": "1"})
    with pytest.raises(
        recframe.ThresholdError, match="map has no value, but must be at most 1: the result has no rows"
    ):
        recframe.require(frame[:0], most={"map": 1})


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_require_names_the_model_and_the_metric(library):
    frame = pytest.importorskip(library).DataFrame(
        {"model": ["old", "new"], "ndcg@10": [0.25, 0.35], "map": [0.5, None], "mrr": [0.1, 0.1]}
    )
    recframe.require(frame, {"NDCG@10": 0.2})
    with pytest.raises(recframe.RecError) as caught:
        recframe.require(frame, {"nDCG@10": 0.3, "map": 0.1})
    expected = (
        "ndcg@10 of model 'old' is 0.25, below 0.3; map of model 'new' has no value (nan), but must be at least 0.1"
    )
    assert str(caught.value) == expected


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_require_names_the_segment(library):
    frame = pytest.importorskip(library).DataFrame({"user": [1, 1, 2], "relevant": [1, 0, 0], "score": [3, 2, 1]})
    with pytest.raises(recframe.ThresholdError, match=r"mrr of user 2 has no value"):
        recframe.require(frame.rec.evaluate("mrr", per="user"), {"mrr": 1})
    with pytest.raises(recframe.ThresholdError, match=r"^mrr is 1, below 2$"):
        recframe.require(frame.rec.evaluate("mrr", counts=True), {"mrr": 2})


def test_a_nullable_value_that_is_missing_passes_no_gate():
    pd = pytest.importorskip("pandas")
    with pytest.raises(recframe.ThresholdError, match=r"map of model 'a' has no value \(nan\)"):
        recframe.require(pd.DataFrame({"model": ["a"], "map": pd.array([None], dtype="Float64")}), {"map": 0})


def test_a_result_without_rows_passes_no_gate():
    pl = pytest.importorskip("polars")
    with pytest.raises(recframe.ThresholdError, match="the result has no rows"):
        recframe.require(pl.DataFrame({"map": []}), {"map": 0})


def test_require_names_no_count_that_stands_between_metrics():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"model": ["new"], "map": [0.5], "num_rel": [37], "mrr": [0.1]})
    with pytest.raises(recframe.ThresholdError, match="mrr of model 'new' is 0.1") as caught:
        recframe.require(frame, {"map": 0.4, "mrr": 0.2})
    assert "37" not in str(caught.value)


def test_require_says_what_it_accepts():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"map": [0.5]})
    for result, least, message in (
        (frame, {"mapp": 0.1}, "(?s)no column 'mapp'; it has 'map'.*did you mean 'map'"),
        (frame, 0.1, "names no metric"),
        (frame, {}, "names no metric"),
        (frame, {"map": "0.1"}, "not a number"),
        (frame.lazy(), {"map": 0.1}, "lazy"),
        ("0.5", 0.1, "neither a number nor a frame"),
        (0.5, {"map": 0.1, "mrr": 0.1}, "names 2 metrics"),
    ):
        with pytest.raises(recframe.RecError, match=message):
            recframe.require(result, least)


# --- limits of intervals ------------------------------------------------------------------------------------------------


DESCRIBED = {
    "model": ["old", "new"], "metric": ["mrr@10"] * 2, "lists": [9, 9], "mean": [0.29, 0.4], "low": [0.2, 0.29], "high": [0.29, 0.5],
}  # fmt: skip


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_require_judges_an_end_of_the_interval(library):
    module = pytest.importorskip(library)
    frame = module.DataFrame(DESCRIBED)
    recframe.require(frame, {"MRR@10": 0.29}, by="high")
    with pytest.raises(recframe.ThresholdError, match="^the upper end of mrr@10 of model 'old' is 0.29, below 0.3$"):
        recframe.require(frame, {"mrr@10": 0.3}, by="high")
    text = "^the lower end of mrr@10 of model 'old' is 0.2, below 0.3; the lower end of mrr@10 of model 'new' is 0.29, below 0.3$"
    with pytest.raises(recframe.ThresholdError, match=text):
        recframe.require(frame, {"mrr@10": 0.3}, by="low")
    with pytest.raises(recframe.ThresholdError, match="^mrr@10 of model 'old' is 0.29, below 0.3$"):
        recframe.require(frame, {"mrr@10": 0.3}, by="mean")


def test_an_interval_that_is_missing_passes_no_gate(polars_engine):
    pytest.importorskip("scipy")
    frame = polars_engine.frame({"user": [1, 1], "relevant": [0, 1], "score": [2.0, 1.0]})
    described = recframe.rec(frame).describe("mrr")
    for by in ("low", "high"):
        with pytest.raises(recframe.ThresholdError, match=r"end of mrr has no value \(nan\), but must be at least 0.1"):
            recframe.require(described, {"mrr": 0.1}, by=by)


def test_limits_of_intervals_say_what_they_accept():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(DESCRIBED)
    for result in (0.5, pl.DataFrame({"mrr@10": [0.5]})):
        with pytest.raises(recframe.RecError, match="by='high' is a column of describe"):
            recframe.require(result, {"mrr@10": 0.3}, by="high")
    with pytest.raises(recframe.OptionError, match="by='p50'"):
        recframe.require(frame, {"mrr@10": 0.3}, by="p50")
    with pytest.raises(recframe.MissingColumnError, match="the result has no metric 'map'; it has 'mrr@10'"):
        recframe.require(frame, {"map": 0.3}, by="high")


def test_a_gate_reads_results_of_arrow():
    pa = pytest.importorskip("pyarrow")
    result = recframe.rec(pa.table(SOME)).evaluate(["mrr"], per="user")
    with pytest.raises(recframe.ThresholdError, match="mrr of user 2 has no value"):
        recframe.require(result, {"mrr": 0.3})
    recframe.require(recframe.rec(pa.table(SOME)).evaluate(["mrr"]), {"mrr": 0.3})


def test_a_gate_names_segments_by_any_label_and_level_of_pandas():
    pd = pytest.importorskip("pandas")
    rec = recframe.rec(pd.DataFrame(SOME).assign(relevant=[0, 1, 1]).rename(columns={"user": 7}))
    actual = rec.evaluate("mrr", by=7, per=7)
    for result in (actual, actual.set_index(7)):
        with pytest.raises(recframe.ThresholdError, match="mrr of 7 1 is 0.5, below 0.6"):
            recframe.require(result, {"mrr": 0.6})
    pytest.importorskip("scipy")
    with pytest.raises(recframe.ThresholdError, match="mrr of 7 1 is 0.5, below 0.6"):
        recframe.require(rec.describe("mrr", by=7, per=7), {"mrr": 0.6}, by="mean")


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


# --- verdicts ------------------------------------------------------------------------------------------------------------


def compared(library, *, per=None, **given):
    """A comparison of 12 lists: in country at, new is worse; in de, both are equal."""
    rows = [
        {
            "user": user, "item": item, "relevant": int(item == 0), "country": "at" if user < 8 else "de",
            "day": dt.date(2026, 3, 1 + user % 2), "old": -item, "new": item if user < 7 else -item,
        }
        for user in range(12)
        for item in range(3)
    ]  # fmt: skip
    frame = library.DataFrame(rows)
    return recframe.rec(frame, score=["old", "new"]).compare("mrr", baseline="old", per=per, **given)


def test_require_judges_verdicts(library):
    worse = compared(library)
    with pytest.raises(recframe.ThresholdError) as caught:
        recframe.require(worse, verdict="not worse")
    text = str(caught.value)
    assert text.startswith("mrr of model 'new' may be worse than 'old': the verdict is 'worse', the difference -0.3")
    with pytest.raises(recframe.ThresholdError, match="mrr of model 'new' is not shown to be better than 'old'"):
        recframe.require(worse, verdict="better")
    with pytest.raises(recframe.ThresholdError) as caught:
        recframe.require(compared(library, per=["country", "day"]), verdict="not worse")
    assert "mrr of model 'new' and country 'at' and day 2026-03-01 may be worse" in str(caught.value)
    # The other way round the model is better.
    better = recframe.rec(library.DataFrame(rows_of_better()), score=["old", "new"]).compare("mrr", baseline="old")
    for verdict in ("not worse", "better"):
        recframe.require(better, verdict=verdict)


def rows_of_better():
    return [
        {"user": user, "item": item, "relevant": int(item == 0), "old": item, "new": -item}
        for user in range(8)
        for item in range(3)
    ]


def test_require_says_which_result_a_verdict_judges(library):
    actual = compared(library)
    for call in (
        lambda: recframe.require(actual, "not worse"),
        lambda: recframe.require(actual, {"mrr": 0.3}),
    ):
        with pytest.raises(recframe.RecError, match=r"verdict='not worse'\)? judges a result of compare"):
            call()
    for result in (0.4, recframe.rec(library.DataFrame(rows_of_better()), score="new").describe("mrr")):
        with pytest.raises(recframe.OptionTypeError, match="(?s)judges a result of compare, .*rec.compare"):
            recframe.require(result, verdict="not worse")
    with pytest.raises(recframe.OptionError, match="verdict='worse' is not one of 'not worse', 'better'"):
        recframe.require(actual, verdict="worse")
    with pytest.raises(recframe.OptionError, match="does not go with least="):
        recframe.require(actual, {"mrr": 0.3}, verdict="not worse")


def test_a_gate_shows_dates_as_text(library):
    rows = [row | {"day": dt.date(2026, 3, 1 + row["user"] % 2)} for row in rows_of_better()]
    frame = library.DataFrame(rows)
    with pytest.raises(recframe.ThresholdError, match="mrr of day 2026-03-01 is 0.333333, below 0.8"):
        recframe.require(recframe.rec(frame, score="old").evaluate("mrr", per="day"), {"mrr": 0.8})


def guarded(library, models=("new",), lists=300, **given):
    """Some models without a loss, compared on five metrics."""
    np = pytest.importorskip("numpy")
    random, rows = np.random.default_rng(0), lists * 20
    relevant = (random.random(rows) < 0.15) * 1
    columns = {name: relevant + random.normal(size=rows) for name in ("old", *models)}
    frame = library.DataFrame({
        "user": np.repeat(np.arange(lists), 20), "item": np.tile(np.arange(20), lists), "relevant": relevant, **columns,
    })  # fmt: skip
    metrics = ["ndcg@10", "mrr", "recall@5", "precision@5", "map"]
    return recframe.rec(frame, score=["old", *models]).compare(metrics, baseline="old", **given)


def test_rows_that_all_must_pass_are_not_corrected_for_their_number(library):
    result = guarded(library, margin="12%")
    verdicts = result["verdict"].to_list()
    assert verdicts == ["equivalent", "equivalent", "open", "open", "equivalent"]
    recframe.require(result, verdict="not worse")
    assert guarded(library, margin="12%", correction="none")["verdict"].to_list() == ["equivalent"] * 5
    # A changed copy has lost the p-values, so its verdicts decide.
    with pytest.raises(
        recframe.ThresholdError, match="the verdict is 'open', the difference -0.01219, its p-value, adju"
    ):
        recframe.require(result[2:], verdict="not worse")
    with pytest.raises(recframe.ThresholdError) as caught:
        recframe.require(guarded(library, margin="8%"), verdict="not worse")
    assert str(caught.value).split("; ")[0] == (
        "recall@5 of model 'new' may be worse than 'old' by more than 8%: the verdict is 'open', the difference -0.01219, "
        "the p-value of a loss of 8% is 0.188, and 0.05 or more fails"
    )
    with pytest.raises(
        recframe.ThresholdError, match=r"the difference \+0.005673, the p-value of no gain is 0.83, and"
    ):
        recframe.require(result, verdict="better")


@pytest.mark.parametrize(("correction", "times"), [("holm", 2), ("none", 1), ("bonferroni", 2), ("bh", 2), ("maxt", 2)])
def test_several_models_are_corrected_for_their_number(library, correction, times):
    result = guarded(library, models=("new", "other"), correction=correction, resamples=200, margin=0.02)
    with pytest.raises(recframe.ThresholdError) as caught:
        recframe.require(result, verdict="not worse")
    first = str(caught.value).split("; ")[0]
    adjusted = ", adjusted for 2 models," if times > 1 else ""
    assert re.search(rf"the p-value of a loss of 0.02{adjusted} is [\d.]+, and 0.05 or more fails$", first)


@pytest.mark.parametrize(
    ("correction", "expected"), [("holm", 2), ("bonferroni", 3), ("none", 1), ("bh", 1.5), ("romano-wolf", 2)]
)
def test_models_at_risk(correction, expected):
    """The first model passes even for three; the second fails for two."""
    p_values, models = [0.001, 0.016, 0.03, 0.4, 0.2, float("nan")], ["a", "a", "b", "b", "c", "c"]
    assert correction_factor(p_values, models, correction, 0.05) == expected
    assert correction_factor([0.01, 0.02], ["a", "b"], correction, 0.05) == {"bonferroni": 2}.get(correction, 1)


def test_a_gate_of_merged_states(library):
    np = pytest.importorskip("numpy")
    random, rows = np.random.default_rng(3), 6_000
    relevant = (random.random(rows) < 0.15) * 1
    frame = library.DataFrame({
        "user": np.repeat(np.arange(300), 20), "relevant": relevant,
        "old": relevant + random.normal(size=rows), "new": relevant + random.normal(size=rows),
    })  # fmt: skip
    merged = recframe.merge_states(frame.rec.state(["ndcg@10", "mrr"], score=["old", "new"]))
    result = merged.compare(baseline="old", margin=0.08)
    assert list(result.columns)[-1] == "verdict"
    recframe.require(result, verdict="not worse")
    with pytest.raises(recframe.ThresholdError, match=r"by more than 0\.001: .* the p-value of a loss of 0\.001 is"):
        recframe.require(merged.compare(baseline="old", margin=0.001), verdict="not worse")


@pytest.mark.parametrize("call", ["better", "not worse"])
def test_a_row_without_a_p_value_never_passes(library, call):
    frame = library.DataFrame({"user": [1, 1], "relevant": [0, 1], "old": [2, 1], "new": [1, 2]})
    result = frame.rec(score=["old", "new"]).compare("mrr", margin=0.5)
    with pytest.raises(recframe.ThresholdError, match=r"mrr of model 'new' has no p-value \(nan\) of its difference"):
        recframe.require(result, verdict=call)
