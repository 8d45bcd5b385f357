"""A call repeats rows for the positions of tied blocks: the cutoff of each metric bounds their number."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import narwhals as nw
import pytest

import recframe
from recframe.metrics import METRICS, Serendipity
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from spellings import cutoffs_of, spelled

OTHERS = (BeyondAccuracyMetric, ExposureMetric, Serendipity)
OF_RELEVANCE = [name for name, kind in METRICS.items() if not issubclass(kind, OTHERS)]

PEAK = """
import resource, sys, warnings
import numpy as np, polars as pl
import recframe

warnings.simplefilter("ignore")
users = np.repeat(np.arange(5000), 100)
relevant = np.random.default_rng(0).integers(0, 2, len(users))
frame = pl.DataFrame({"user": users, "relevant": relevant, "score": np.zeros(len(users))})
for call in sys.argv[1:]:
    frame.rec.evaluate(call.split())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.fixture
def repeated(monkeypatch):
    """Collect how many rows each repetition makes."""
    engine = pytest.importorskip("recframe._engines.polars.adapter").EagerPolars
    repeat, counts = engine.repeat, []

    def counted(self, frame, times):
        counts.append(frame.select(nw.col(times).sum()).collect().item() or 0)
        return repeat(self, frame, times)

    monkeypatch.setattr(engine, "repeat", counted)
    return counts


@pytest.mark.filterwarnings("ignore::recframe.errors.DataWarning")
@pytest.mark.parametrize("name", [name for name in OF_RELEVANCE if 2 in cutoffs_of(name)])
def test_a_deeper_metric_adds_no_places_to_others(repeated, name):
    pl = pytest.importorskip("polars")
    rows = range(300)
    frame = pl.DataFrame(
        {"user": [row // 60 for row in rows], "item": rows, "relevant": [int(row % 3 < 1) for row in rows]}
    ).with_columns(score=0.0, price=1.0)
    label = spelled(name, 2)

    def places(*labels):
        repeated.clear()
        recframe.rec(frame).evaluate(list(labels))
        return sum(repeated)

    for other in ("map", "mrr", spelled("err", 3), "pfound"):
        assert places(label, other) <= places(label) + places(other), other


@pytest.mark.slow
@pytest.mark.parametrize("metrics", ["err@10 map", "pfound@10 map", "err@10 pfound@20 map"])
def test_the_peak_of_memory_is_that_of_the_metrics_apart(metrics):
    """Tied lists of a hundred rows took 5 kB a row, as every place up to the end of a block was computed."""
    pytest.importorskip("polars")
    pytest.importorskip("resource", reason="Windows does not say it")

    # With several threads, the peak depends on how far apart they are.
    environment = os.environ | {"POLARS_MAX_THREADS": "1"}

    def peaks(*calls):
        command = [sys.executable, "-c", PEAK, *calls]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True, env=environment) for _ in range(3)]
        return [int(run.stdout) for run in runs]

    # Equal runs differ by a few percent, and without cutoffs of their own the metrics took seven times the memory.
    assert min(peaks(metrics)) <= 1.1 * max(peaks(*metrics.split()))


@pytest.mark.slow
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_many_small_calls_leave_nothing_behind(library):
    namespace = pytest.importorskip(library)

    def objects_after(calls):
        for number in range(calls):
            frame = namespace.DataFrame({"user": [1, 1, 2], "relevant": [0, 1, 1], "a": [1, 2, 3], "b": [3, 2, 1]})
            recframe.rec(frame, score=["a", "b"]).evaluate([f"ndcg@{number % 3 + 1}", "mrr"], per="user")
        gc.collect()
        return len(gc.get_objects())

    before = objects_after(6)
    assert objects_after(60) - before < 60
