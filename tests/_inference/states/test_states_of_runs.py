"""Merged states of several training runs answer what one call on all rows answers."""

import warnings

import pytest

pytest.importorskip("scipy")

import recframe
from compare import same
from recframe import DataWarning, InputError, OptionError
from tests._inference.comparison.test_runs import ASKED, METRICS, asked, rows_of
from tests._inference.states.test_state import assert_same, plain

CALLS = {"compare": {"details": True, "margin": 0.05}, "describe": {"details": True}, "rank_models": {"details": True}}


@pytest.fixture(params=["polars", "pandas", "lazy"])
def frame_of(request):
    library = pytest.importorskip("polars" if request.param == "lazy" else request.param)
    return lambda rows: library.DataFrame(rows).lazy() if request.param == "lazy" else library.DataFrame(rows)


def states_of(frame_of, rows, parts=3, **how):
    """Return the states of parts of the lists."""
    frames = [frame_of([row for row in rows if row["user"] % parts == part]) for part in range(parts)]
    return [recframe.rec(frame).state(METRICS, **{**ASKED, **how}) for frame in frames]


def answers(merged, call, **given):
    """Return the rows of a result, without the warning of runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return plain(getattr(merged, call)(**given))


@pytest.mark.parametrize("counts", [{"old": 4, "newer": 3}, {"old": 1, "newer": 3, "third": 2}, {"old": 1, "newer": 1}])
def test_states_answer_as_one_call(frame_of, counts):
    rows = rows_of(counts, lists=30)
    rows[0]["score"] = -9.0
    merged = recframe.merge_states(states_of(frame_of, rows))
    for call, given in CALLS.items():
        expected = plain(frame_of(asked(frame_of(rows), call, METRICS, **ASKED, **given)))
        result = answers(merged, call, **given)
        assert_same(result, expected, result[0])
    means = {(row["model"], row["metric"]): row["mean"] for row in answers(merged, "describe")}
    for row in plain(merged.evaluate()):
        assert all(same(row[metric], means[row["model"], metric]) for metric in METRICS)


def test_states_are_merged_in_any_order_and_by_added_columns():
    polars = pytest.importorskip("polars")
    rows = rows_of({"old": 3, "newer": 3}, lists=30)
    one, *others = states_of(polars.DataFrame, rows)
    expected = answers(recframe.merge_states(one, others), "compare", details=True)
    assert_same(answers(recframe.merge_states(recframe.merge_states(others).state(), one), "compare", details=True), expected)  # fmt: skip
    named = [state.with_columns(part=polars.lit(name)) for name, state in zip("abc", (one, *others), strict=True)]
    by_part = answers(recframe.merge_states(named), "compare", correction="none", details=True)
    alone = answers(recframe.merge_states(one), "compare", correction="none", details=True)
    assert_same(
        [row for row in by_part if row["part"] == "a"], alone, [name for name in alone[0] if name != "detectable"]
    )


def test_one_model_needs_no_name():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(rows_of({"old": 4}))
    expected = asked(frame, "describe", METRICS, runs="seed")
    assert_same(answers(recframe.merge_states(frame.rec.state(METRICS, runs="seed")), "describe"), expected)


def test_warnings_of_states_with_few_runs():
    polars = pytest.importorskip("polars")
    for counts, words in (
        ({"old": 1, "newer": 1}, "each model has one run"),
        ({"old": 1, "newer": 3}, "'old' has one"),
    ):
        merged = recframe.merge_states(states_of(polars.DataFrame, rows_of(counts)))
        for call in CALLS:
            with pytest.warns(DataWarning, match=words):
                getattr(merged, call)()


def test_states_that_lack_runs_or_do_not_go_with_them():
    polars = pytest.importorskip("polars")
    rows = rows_of({"old": 3, "newer": 3})
    states = states_of(polars.DataFrame, rows)
    short = [row for row in rows if row["user"] % 3 < 2 or row["model"] == "newer" or row["seed"] < 5]
    for damaged, words in (
        (states_of(polars.DataFrame, short), "the run '5' of 'old' is in"),
        ([state.filter(polars.col("kind") != "run") for state in states], "lack rows of runs of 'old'"),
        ([state.filter(polars.col("item").ne_missing("5")) for state in states], "lack rows of runs of 'old'"),
        (
            [states[0], states_of(polars.DataFrame, [row for row in rows if row["seed"] == 5], runs=None)[1]],
            "differ in runs",
        ),
    ):
        with pytest.raises(InputError, match=words):
            recframe.merge_states(damaged).compare()
    merged = recframe.merge_states(states)
    for call, given, words in (
        ("compare", {"test": "anytime"}, "does not go with test='anytime'"),
        ("compare", {"baseline": recframe.merge_states(states)}, "other states as the baseline"),
        ("sample_size", {"difference": 0.1}, "sample_size"),
    ):
        with pytest.raises(OptionError, match=words):
            getattr(merged, call)(**given)
    with pytest.raises(OptionError, match="does not go with strata='part'"):
        recframe.merge_states([state.with_columns(part=polars.lit("a")) for state in states]).evaluate(strata="part")
    with pytest.raises(OptionError, match="does not go with items=True"):
        polars.DataFrame(rows).rec.state(METRICS, items=True, **ASKED)
