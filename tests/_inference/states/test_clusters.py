"""The page on states: what Spark, Dask, Ray and Daft compute in parts is what one call computes."""

from __future__ import annotations

import os
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import recframe

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pytest.importorskip("scipy")

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "states.md"
METRICS = ["ndcg", "coverage"]
ROLES: dict[str, Any] = {"by": "user", "score": ["old", "new"], "k": 5, "per": "country"}
CLUSTERS = [pytest.param("Spark", marks=pytest.mark.spark), "Dask", "Ray", "Daft"]
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not part of this distribution")


def code(heading: str) -> str:
    """Return the code below a heading of the page, with four parts in place of 64."""
    section = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = section[0] if not heading else next(each for each in section if each.startswith(f"{heading}\n"))
    (block,) = re.findall(r"^```py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return block.replace("64", "4")


@pytest.fixture(scope="module")
def rows():
    draw = random.Random(1)
    return pl.DataFrame(
        [
            {"user": f"u{user}", "country": "xyz"[user % 3], "item": item, "relevant": int(draw.random() < 0.3)}
            | {"old": draw.random(), "new": draw.random()}
            for user in range(60)
            for item in draw.sample(range(40), 8)
        ]
    )


@pytest.fixture(scope="module")
def visits(rows):
    """Return what each engine calls its frame of the rows, with what else the page takes as given."""
    opened: list[Any] = []

    def of(engine: str) -> dict[str, Any]:
        if engine == "Spark":
            pytest.importorskip("pyspark")
            from engines import Spark

            spark = Spark()
            return {"spark": spark.session, "visits": spark.session.createDataFrame(rows.to_arrow())}
        if engine == "Dask":
            dask = pytest.importorskip("dask.dataframe")
            return {"visits": dask.from_pandas(rows.to_pandas(), npartitions=3)}
        if engine == "Daft":
            return {"visits": pytest.importorskip("daft").from_arrow(rows.to_arrow())}
        ray = pytest.importorskip("ray")
        if not opened:
            opened.append(ray)
            os.environ["PYTHONPATH"] = os.pathsep.join([*sys.path, os.environ.get("PYTHONPATH", "")])
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100_000_000)
        return {"visits": ray.data.from_arrow(rows.to_arrow())}

    yield of
    for ray in opened:
        ray.shutdown()


def states(names: dict[str, Any], block: str) -> Any:
    """Run the code of the page on a frame, and return the states that it finds."""
    # Functions of `__main__` are sent to workers whole, as those of a notebook are.
    names = {"__name__": "__main__", **names}
    exec(code("") + block, names)  # noqa: S102
    return names["found"]


def sorted_rows(frame: Any) -> list[dict[str, Any]]:
    frame = pl.from_pandas(frame) if hasattr(frame, "iloc") else pl.from_arrow(frame)
    return frame.sort([name for name in ("country", "model", "metric") if name in frame.columns]).to_dicts()


@pytest.mark.filterwarnings("ignore")  # of the engines themselves
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_parts_of_a_cluster_add_up_to_one_call(cluster, rows, visits):
    merged = recframe.merge_states(states(visits(cluster), code(cluster)))
    for call in ("evaluate", "compare", "describe"):
        metrics = METRICS if call == "evaluate" else METRICS[:1]
        expected = getattr(recframe.rec(rows.to_arrow()), call)(metrics, **ROLES)
        result = [row for row in sorted_rows(getattr(merged, call)()) if row.get("metric", "ndcg@5") == "ndcg@5"]
        for one, other in zip(result, sorted_rows(expected), strict=True):
            # Sums know no percentiles.
            assert {*other} - {*one} <= {"p10", "p25", "p50", "p75", "p90"}
            assert one == {
                name: pytest.approx(other[name], abs=1e-12, rel=1e-12, nan_ok=True)
                if isinstance(other[name], float)
                else other[name]
                for name in one
            }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_users_that_are_split_over_parts_are_refused(cluster, visits):
    block = code(cluster)
    by_item = re.sub(r'(repartition\(4, |shuffle\(|keys=\[|col\()"user"', r'\1"item"', block, count=1)
    assert by_item != block
    with pytest.raises(recframe.InputError, match="lists are in two states"):
        states(visits(cluster), by_item)
