"""Eager polars: frames that are built in the background, and keys that come back as they were."""

from __future__ import annotations

import datetime as dt
import threading

import narwhals as nw
import pytest

import recframe
from strategies import crowd
from test_lazy import FRAME

pl = pytest.importorskip("polars")

SOME_DAY = dt.date(2024, 2, 27)


@pytest.mark.parametrize(("eager", "threads", "beside"), [(True, 2, True), (True, 1, False), (False, 2, False)])
def test_eager_polars_builds_a_frame_once_beside_what_comes_meanwhile(monkeypatch, eager, threads, beside):
    from recframe._engines.polars import EagerPolars, LazyPolars

    monkeypatch.setattr(pl, "thread_pool_size", lambda: threads)
    builders = []
    later = (EagerPolars if eager else LazyPolars)().later(
        lambda: builders.append(threading.current_thread()) or pl.LazyFrame(FRAME)
    )
    assert later() is later()
    (builder,) = builders
    assert (builder is not threading.current_thread()) == beside


def test_an_error_beside_what_comes_meanwhile_is_raised():
    class Wrong(recframe.metrics.NDCG):
        def best_terms(self, row):
            return {name: nw.col("no such column") for name in super().best_terms(row)}

    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="no such column"):
        pl.DataFrame(FRAME).rec.evaluate([Wrong(5)])


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
def test_polars_keys_come_back_as_they_were(polars_engine):
    rows = [row for row in crowd(43, 60) if row["user"] is not None]
    for kind in ("int8", "uint64", "float32", "categorical", "enum", "str", "date"):
        relabel = {"categorical": str, "enum": str, "str": str, "date": lambda i: SOME_DAY + dt.timedelta(days=i)}
        frame = polars_engine.frame(
            [{**row, "user": relabel.get(kind, int)(row["user"])} for row in rows], {"user": kind}
        )
        assert recframe.rec(frame).ndcg(per="user").schema["user"] == frame.schema["user"], kind
