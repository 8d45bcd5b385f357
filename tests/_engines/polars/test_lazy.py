"""Calls on lazy polars frames are made with data frames when their results are collected."""

from __future__ import annotations

import gc
import inspect
import io
import os
import pickle
import subprocess
import sys
import threading
import warnings
import weakref

import pytest

import recframe

pl = pytest.importorskip("polars")
testing = pytest.importorskip("polars.testing")
plugins = pytest.importorskip("polars.io.plugins")

from recframe._engines.polars import lazy as polars_lazy  # noqa: E402 - needs polars

ROWS = 300
FRAME = pl.DataFrame(
    {
        "user": [f"u{n // 6}" for n in range(ROWS)],
        "item": [n * 7 % 40 for n in range(ROWS)],
        "relevant": [int(n % 3 == 0) for n in range(ROWS)],
        "score": [float(n * 7 % 11) for n in range(ROWS)],
        "other": [float(n * 5 % 13) for n in range(ROWS)],
        "day": [n // 60 for n in range(ROWS)],
    }
).with_columns(pl.format("g{}", "day").cast(pl.Categorical).alias("group"))
SIDE = {"train": FRAME.select("user", "item").head(60)}
CALLS = {
    "one metric": lambda rec, _: rec.ndcg(3),
    "segments": lambda rec, _: rec.evaluate(["ndcg", "map"], k=[1, 3], per="day", counts=True),
    "categories": lambda rec, _: rec.map(per="group"),
    "two models": lambda rec, _: rec.evaluate(["ndcg", "mrr", "gini"], 3, score=["score", "other"]),
    "models in rows": lambda rec, _: rec.evaluate(["ndcg", "mrr"], 3, model="group"),
    "a truth": lambda rec, side: rec.evaluate(["ndcg", "novelty"], 3, truth=side["truth"], train=side["train"]),
    "row order": lambda rec, _: rec.ndcg(3, ties="first"),
    "chance": lambda rec, _: rec.evaluate("ndcg", 3, chance=True),
    "rows": lambda rec, _: rec.top(2),
    "a random column": lambda rec, _: rec.add_random(seed=3),
}


def sides(kind):
    truth = FRAME.filter(pl.col("relevant") > 0).select("user", "item", "relevant").unique(["user", "item"])
    return {name: kind(frame) for name, frame in {**SIDE, "truth": truth}.items()}


def eager(frame):
    return frame


pytestmark = pytest.mark.filterwarnings("ignore::recframe.DataWarning")


def answers(case):
    """Return a lazy result, and what the eager call gives."""
    result = CALLS[case](FRAME.lazy().rec, sides(pl.DataFrame.lazy))
    expected = CALLS[case](FRAME.rec, sides(eager))
    name = result.collect_schema().names()[0]
    return result, pl.DataFrame({name: [expected]}) if isinstance(expected, float) else expected


@pytest.mark.parametrize("collector", ["streaming", "in-memory"])
@pytest.mark.parametrize("case", list(CALLS))
def test_results_are_those_of_eager_frames_bit_for_bit(case, collector):
    if case == "a random column" or collector == "streaming":
        pytest.importorskip(
            "polars", minversion="1.35"
        )  # before, streaming was an experiment, and a random column panics
    result, expected = answers(case)
    collected = result.collect(engine=collector)
    assert result.collect_schema() == collected.schema == expected.schema
    testing.assert_frame_equal(collected, expected, check_exact=True)


def test_results_are_plans_like_others(tmp_path):
    result, expected = answers("two models")
    first = expected.columns[1]
    assert result.filter(pl.col("model") == "other").select(first).collect().item() == expected[first][1]
    assert result.head(1).collect().equals(expected.head(1))
    assert result.with_columns(found=1).select("found").collect().height == expected.height
    assert result.join(result, on="model").collect().height == expected.height
    together = pl.collect_all([result, result.select(first), answers("segments")[0]])
    assert together[0].equals(expected)
    assert together[1].equals(expected.select(first))
    result.sink_parquet(tmp_path / "found.parquet")
    assert pl.read_parquet(tmp_path / "found.parquet").equals(expected)
    # A result is a frame for the next call.
    ranked = FRAME.lazy().rec.top(3).rec.evaluate("ndcg", 3, rank="rank").collect()
    assert ranked.equals(FRAME.rec.top(3).rec.evaluate("ndcg", 3, rank="rank"))


def test_results_are_collected_in_other_threads():
    result, expected = answers("a truth")
    collected = []
    threads = [threading.Thread(target=lambda: collected.append(result.collect())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [frame.equals(expected) for frame in collected] == [True] * 3


READ = "import pickle, sys; print(pickle.load(sys.stdin.buffer).collect().rows())"


@pytest.mark.slow
def test_results_are_collected_in_other_processes():
    pytest.importorskip("cloudpickle")
    with recframe.Config(item="day"):
        result = FRAME.lazy().rec.evaluate(["ndcg", "mrr"], 3, ties="item")
    expected = FRAME.rec.evaluate(["ndcg", "mrr"], 3, ties="item", item="day")
    read = subprocess.run([sys.executable, "-c", READ], input=pickle.dumps(result), capture_output=True, check=True)
    assert read.stdout.decode().strip() == str(expected.rows())
    assert pl.LazyFrame.deserialize(io.BytesIO(result.serialize())).collect().equals(expected)


ON_ONE_CORE = """
import polars as pl, recframe
assert pl.thread_pool_size() == 1
frame = pl.DataFrame({"user": [n // 5 for n in range(100_000)], "relevant": [n % 3 == 0 for n in range(100_000)]})
frame = frame.with_columns(pl.format("u{}", "user").alias("user"), score=pl.int_range(pl.len()) * 7 % 11)
frame = frame.with_columns(other=pl.col("score") * 3 % 5)
options = {"k": [2, 5], "score": ["score", "other"]}
expected = frame.rec.evaluate(["ndcg", "map"], **options)
lazy = frame.lazy().filter(pl.col("score") >= 0)
for engine in ("streaming", "in-memory"):
    found = lazy.rec.evaluate(["ndcg", "map"], **options)
    both = pl.collect_all([found, found.select("model"), lazy.rec.ndcg(5, per="user").rec(score="ndcg@5").check()], engine=engine)
    assert both[0].equals(expected)
    assert lazy.rec.evaluate(["ndcg", "map"], **options, partitions=3).collect(engine=engine).height == 2
"""


@pytest.mark.slow
def test_a_plan_within_a_plan_needs_no_second_core():
    subprocess.run(
        [sys.executable, "-c", ON_ONE_CORE], check=True, timeout=300, env={**os.environ, "POLARS_MAX_THREADS": "1"}
    )


def test_frames_live_no_longer_than_the_result():
    class Source:
        def __call__(self, columns, predicate, rows, size):
            yield FRAME.select(columns or pl.all())

    source = Source()
    reference = weakref.ref(source)
    result = plugins.register_io_source(source, schema=FRAME.schema).rec.evaluate("ndcg", 3)
    result.collect()
    del source, result
    gc.collect()
    assert reference() is None


def test_equal_calls_look_their_columns_up(monkeypatch):
    made = []
    made_of = polars_lazy.PostponedCall._resolve
    monkeypatch.setattr(polars_lazy, "_resolved_calls", {})
    monkeypatch.setattr(
        polars_lazy.PostponedCall, "_resolve", lambda call, schemas: made.append(call) or made_of(call, schemas)
    )
    for _ in range(3):
        FRAME.lazy().rec.evaluate(["ndcg", "mrr"], 3, truth=sides(pl.DataFrame.lazy)["truth"]).collect()
    assert len(made) == 1
    FRAME.lazy().cast({"relevant": pl.Float64}).rec.evaluate(["ndcg", "mrr"], 3).collect()
    FRAME.lazy().rec.evaluate(["ndcg", "mrr"], 4).collect()
    assert len(made) == 3


def test_rows_that_a_call_let_go_of_are_read_again(monkeypatch):
    from recframe._engines.polars.adapter import EagerPolars
    from recframe._plan.list_sums import Ranking

    released = []
    release = polars_lazy.PostponedCall._answer

    def answer(call, *arguments, releases):
        released.append(releases)
        return release(call, *arguments, releases=releases)

    monkeypatch.setattr(polars_lazy.PostponedCall, "_answer", answer)
    monkeypatch.setattr(Ranking, "_needs_rows", False)
    # Calls keep the rows of small frames.
    monkeypatch.setattr(EagerPolars, "sums_at_once", False)
    result = FRAME.lazy().rec.evaluate(["ndcg", "mrr"], 3, per="day").collect()
    assert result.equals(FRAME.rec.evaluate(["ndcg", "mrr"], 3, per="day"))
    assert released == [True, False]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"undefined": "raise"}, recframe.UndefinedError),
        ({"weight": "item"}, recframe.InputError),
        ({"per": "item"}, recframe.InputError),
        ({"rank": "score", "score": None}, recframe.InputError),
    ],
    ids=str,
)
def test_what_needs_rows_is_an_error_at_collect(given, error):
    pytest.importorskip("polars", minversion="1.35")  # before, polars makes its own error of ours
    frame = FRAME.with_columns(relevant=pl.when(pl.col("day") > 0).then("relevant"))
    given = {name: value for name, value in given.items() if value is not None}
    result = frame.lazy().rec.evaluate("ndcg", 3, **given)
    with pytest.raises(error) as expected:
        frame.rec.evaluate("ndcg", 3, **given)
    with pytest.raises(error) as raised:
        result.collect()
    # Which lists an error names is any choice.
    assert str(raised.value).startswith(str(expected.value).partition("such as")[0])


def test_what_the_schema_shows_is_an_error_before_rows_are_read():
    def refuse(*_):
        raise AssertionError

    result = plugins.register_io_source(refuse, schema=FRAME.schema).rec.ndcg(3, by="nobody")
    for resolve in (result.collect_schema, result.collect):
        with pytest.raises((recframe.MissingColumnError, pl.exceptions.ComputeError), match="nobody"):
            resolve()


PAIRS = FRAME.unique(["user", "item"], maintain_order=True)
WARNED = {
    "equal scores": (PAIRS.with_columns(score=1.0), {}),
    "models without a role": (
        pl.concat(PAIRS.with_columns(model=pl.lit(name)) for name in ("a", "b")),
        {"ties": "item"},
    ),
    "a score that is a rank": (PAIRS.with_columns(rank=pl.col("score").rank()), {"score": "rank"}),
    "a truth of other users": (PAIRS, {"truth": PAIRS.select("item", user=pl.lit("nobody"))}),
    "repeated items": (FRAME.with_columns(item=0), {"ties": "item"}),
}


@pytest.mark.filterwarnings("default::recframe.DataWarning")
@pytest.mark.parametrize("case", list(WARNED))
def test_warnings_come_at_collect(case):
    frame, given = WARNED[case]
    with pytest.warns(recframe.DataWarning) as expected:
        frame.rec.ndcg(3, **given)
    result = frame.lazy().rec.ndcg(
        3, **{name: getattr(each, "lazy", lambda each=each: each)() for name, each in given.items()}
    )
    with pytest.warns(recframe.DataWarning) as raised:
        result.collect()
    assert str(raised[0].message) == str(expected[0].message)


@pytest.mark.parametrize(("roles", "lists", "warned"), [({"item": "item"}, 5, 1), ({}, 5, 0), ({"item": "item"}, 4, 0)])
def test_lists_of_the_top_rows_are_seen_if_the_items_are_read(roles, lists, warned):
    columns = {"user": [n // 2 for n in range(2 * lists)], "item": range(2 * lists)}
    frame = pl.LazyFrame(columns | {"relevant": [1, 0] * lists, "score": [0.2, 0.1] * lists})
    with warnings.catch_warnings(record=True) as result:
        warnings.simplefilter("always")
        frame.rec.evaluate("recall", k=2, **roles).collect()
    assert ["recall is 1 by construction" in str(each.message) for each in result] == [True] * warned


@pytest.mark.filterwarnings("default::recframe.DataWarning")
def test_a_warning_at_collect_points_at_the_line_of_the_call():
    frame = pl.LazyFrame({"user": [1, 1], "item": [1, 2], "relevant": [1, 0], "score": [1, 1]})
    line = inspect.currentframe().f_lineno + 1
    result = frame.rec.mrr(2)
    with pytest.warns(recframe.DataWarning) as caught:
        result.collect()
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, line)]


@pytest.mark.filterwarnings("default::recframe.DataWarning")
@pytest.mark.parametrize("column", ["score", "model"])
def test_labels_are_warned_of_at_collect(column):
    frame, truth = PAIRS, PAIRS.select("user", "item", score=pl.col("user").cum_count() % 2)
    if column == "model":
        frame = frame.with_columns(model=pl.when(pl.col("item") % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b")))
        truth = truth.select("user", "item")
    with pytest.warns(recframe.DataWarning, match=f"'{column}'") as expected:
        frame.rec.label(truth)
    labelled = frame.lazy().rec.label(truth.lazy())
    with pytest.warns(recframe.DataWarning) as raised:
        labelled.collect()
    assert str(raised[0].message) == str(expected[0].message)


def test_a_float_that_is_missing_is_warned_of():
    nothing = FRAME.lazy().with_columns(relevant=0).rec.ndcg(3)
    with pytest.warns(recframe.UndefinedWarning):
        assert nothing.collect().item() is None


@pytest.mark.parametrize("undefined", ["raise", "raise_all"])
@pytest.mark.parametrize("metrics", [["ndcg", "coverage", "entropy"], ["map"]], ids=str)
@pytest.mark.parametrize("more", [{}, {"per": "day"}, {"score": ["score", "other"]}, {"partitions": 2}], ids=str)
def test_lists_with_values_are_no_error(undefined, metrics, more):
    given = {"k": 3, "undefined": undefined, **more}
    frame = FRAME.with_columns(relevant=1)
    result = frame.lazy().rec.evaluate(metrics, **given).collect()
    given.pop("partitions", None)
    testing.assert_frame_equal(result, frame.rec.evaluate(metrics, **given))
