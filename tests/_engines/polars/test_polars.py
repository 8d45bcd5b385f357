"""Eager polars: frames that are built in the background, and keys that come back as they were."""

from __future__ import annotations

import datetime as dt
import threading
from contextvars import ContextVar

import narwhals as nw
import pytest

import recframe
from compare import same
from recframe.metrics import parse
from spellings import SPELLED
from strategies import BY, crowd
from tests._plan.test_lazy import FRAME

pl = pytest.importorskip("polars")

SOME_DAY = dt.date(2024, 2, 27)


@pytest.mark.parametrize(("threads", "in_background"), [(2, True), (1, False)])
def test_eager_polars_builds_a_frame_once_in_the_background(monkeypatch, threads, in_background):
    from recframe._engines.polars.adapter import EagerPolars

    monkeypatch.setattr(pl, "thread_pool_size", lambda: threads)
    builders = []
    later = EagerPolars().submit(lambda: builders.append(threading.current_thread()) or pl.LazyFrame(FRAME))
    assert later() is later()
    (builder,) = builders
    assert (builder is not threading.current_thread()) == in_background


def test_an_error_in_the_background_is_raised():
    class Wrong(recframe.metrics.NDCG):
        def best_terms(self, row):
            return {name: nw.col("no such column") for name in super().best_terms(row)}

    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="no such column"):
        pl.DataFrame(FRAME).rec.evaluate([Wrong(5)])


def test_background_threads_carry_the_context(monkeypatch):
    from recframe._engines.polars.adapter import EagerPolars

    monkeypatch.setattr(pl, "thread_pool_size", lambda: 2)
    named: ContextVar[str] = ContextVar("named", default="nothing")
    named.set("the caller's")
    engine = EagerPolars()
    assert engine.submit(named.get)() == "the caller's"
    assert [*engine.prefetch([named.get] * 3)] == ["the caller's"] * 3


def test_every_frame_of_the_background_is_awaited_so_that_no_error_is_lost(monkeypatch):
    from recframe._engines.polars import adapter as polars
    from recframe._engines.polars.adapter import EagerPolars

    monkeypatch.setattr(polars, "FEW_ROWS", 0)  # few rows need no background
    frame = pl.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "relevant": [0, 1, 1, 0], "score": [1, 2, 3, 4]})
    left = []

    def submit(_, build):
        left.append(build)
        return lambda: left.remove(build) or build() if build in left else build()

    monkeypatch.setattr(EagerPolars, "submit", submit)
    for name in ("ndcg@2", "map", "mrr", "r_precision", "roc_auc", "err(max_relevance=1)", "judged@1", "coverage@1"):
        frame.rec.evaluate(name)
        assert not left, name
    frame.rec.contributions("ndcg@2")
    assert not left


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
@pytest.mark.parametrize("given", [{}, {"per": BY}, {"per": BY, "ties": "item"}, {"score": ["score", "item"]}])
@pytest.mark.parametrize("with_truth", [False, True])
def test_few_rows_are_planned_another_way_and_give_the_same(monkeypatch, given, with_truth):
    from recframe._engines.polars import adapter as polars
    from recframe._engines.polars import pack as polars_pack
    from recframe._engines.polars import texts as polars_texts

    frame = pl.DataFrame(crowd(44, 60), infer_schema_length=None)
    some = [label for label in SPELLED[::5] if "ties" not in given or not parse(label).requires_average_ties]
    given = {"by": BY, **given}
    if with_truth:
        given["truth"] = frame.filter(pl.col("relevant").is_not_null()).sample(fraction=0.8, seed=1)
    few = frame.rec.evaluate(some, **given)
    for module in (polars, polars_pack, polars_texts):
        monkeypatch.setattr(module, "FEW_ROWS", 0)
    many = frame.rec.evaluate(some, **given)
    assert few.columns == many.columns
    for label in few.columns:
        for one, other in zip(few[label], many[label], strict=True):
            assert one == other if isinstance(one, str) else same(one, other), label


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
@pytest.mark.parametrize("ties", ["average", "item"])
def test_rows_past_a_cutoff_add_nothing(monkeypatch, ties):
    pytest.importorskip("numpy")
    from recframe._engines.base import Engine
    from recframe._engines.polars import adapter as polars
    from recframe._engines.polars import runs as polars_runs

    looked = []
    monkeypatch.setattr(polars, "FEW_ROWS", 0)
    monkeypatch.setattr(
        polars_runs, "_sums_of_runs", lambda *given, run=polars_runs._sums_of_runs: looked.append(1) or run(*given)
    )
    frame = pl.DataFrame(crowd(45, 80), infer_schema_length=None)
    for label in SPELLED:
        metric = parse(label)
        if metric.cutoff != 2 or (ties == "item" and metric.requires_average_ties):
            continue
        cut = frame.rec.evaluate(label, by=BY, per=BY[:1], ties=ties)
        with monkeypatch.context() as general:
            general.setattr(polars.EagerPolars, "sum_terms", Engine.sum_terms)
            whole = frame.rec.evaluate(label, by=BY, per=BY[:1], ties=ties)
        assert cut.sort(BY[0]).equals(whole.sort(BY[0])), label
    assert looked


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
def test_polars_keys_come_back_as_they_were(polars_engine):
    rows = [row for row in crowd(43, 60) if row["user"] is not None]
    for kind in ("int8", "uint64", "float32", "categorical", "enum", "str", "date"):
        relabel = {"categorical": str, "enum": str, "str": str, "date": lambda i: SOME_DAY + dt.timedelta(days=i)}
        frame = polars_engine.frame(
            [{**row, "user": relabel.get(kind, int)(row["user"])} for row in rows], {"user": kind}
        )
        assert recframe.rec(frame).ndcg(per="user").schema["user"] == frame.schema["user"], kind


@pytest.mark.parametrize("units", [("ms", "us"), ("us", "ns"), ("ns", "ms")])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_points_in_time_of_two_units_match_far_ones_too(units, zone):
    def days(unit):
        last = dt.date(2024, 1, 2) if unit == "ns" else dt.date(9999, 12, 31)
        return pl.Series([dt.date(2024, 1, 1), last]).cast(pl.Datetime(unit)).dt.replace_time_zone(zone)

    frame = pl.DataFrame({"user": days(units[0]), "item": [1, 1], "score": [1, 1]})
    truth = pl.DataFrame({"user": days(units[1]), "item": [1, 1]})
    common = {*frame["user"].dt.date()} & {*truth["user"].dt.date()}
    assert {*frame.rec.mrr(truth=truth, per="user").filter(pl.col("mrr") == 1)["user"].dt.date()} == common
    if "ns" not in units and not hasattr(pl.LazyFrame, "pipe_with_schema"):
        return  # older polars refuses to join the two units
    if "ns" not in units:
        lazy = frame.lazy().rec.mrr(truth=truth.lazy(), per="user").collect()
        assert {*lazy.filter(pl.col("mrr") == 1)["user"].dt.date()} == common
        return
    frame, truth = (
        each.with_columns(pl.col("user") + pl.duration(nanoseconds=1, time_unit="ns"))
        if each.schema["user"].time_unit == "ns"
        else each
        for each in (frame, truth)
    )
    with pytest.raises(recframe.errors.ColumnTypeError, match="and none holds the values of all frames"):
        frame.rec.mrr(truth=truth)


@pytest.mark.skipif(not hasattr(pl, "UInt128"), reason="needs polars 1.34")
@pytest.mark.parametrize("other", ["Int64", "UInt64", "Int128"])
def test_ids_of_128_bits_match_smaller_ones(other):
    for large in (2**100, 2**127):
        frame = pl.DataFrame({"user": pl.Series([1, large], dtype=pl.UInt128), "item": [1, 1], "score": [1, 1]})
        truth = pl.DataFrame({"user": pl.Series([1, 2], dtype=getattr(pl, other)), "item": [1, 1]})
        if large < 2**127:
            assert frame.rec.mrr(truth=truth, per="user").rows() == [(1, 1.0), (2, 0.0), (large, None)]
            lazy = frame.lazy().rec.mrr(truth=truth.lazy(), per="user").collect()
            assert sorted(lazy.rows()) == [(1, 1.0), (2, 0.0), (large, None)]
        else:
            with pytest.raises(recframe.errors.ColumnTypeError, match="UInt128 and .* none holds the values"):
                frame.rec.mrr(truth=truth)


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float64, pl.Boolean])
def test_the_least_and_the_largest_number_of_a_column_are_asked_once(dtype, monkeypatch):
    from recframe._engines.polars import pack as polars_pack

    asked, facts, most = [], polars_pack.facts, pl.Series.max

    def of_plan(values, dtype):
        asked.extend(values.meta.root_names() if isinstance(values, pl.Expr) else [])
        return facts(values, dtype)

    def of_series(values):
        asked.append(values.name)
        return most(values)

    monkeypatch.setattr(polars_pack, "facts", of_plan)
    monkeypatch.setattr(pl.Series, "max", of_series)
    rows = pl.int_range(2**17, eager=True)
    frame = pl.DataFrame({"user": rows // 8, "relevant": (rows % 2).cast(dtype), "score": rows % 7 / 8})
    frame.rec.dcg(k=2)
    assert asked.count("relevance") == 1
