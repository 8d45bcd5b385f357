"""Files of earlier versions are read: states merge with those of today, and baselines are compared.

The files in `stored` hold what this program writes. They are never written again: a version of states or baselines
that a later recframe cannot read alike needs files of its own, beside these::

    python -c "import sys; sys.path[:0] = ['.', 'tests']; from tests.test_stored_files import write; write()"
"""

from __future__ import annotations

from pathlib import Path

import pytest

import recframe
from engines import ENGINES
from tests._inference.states.test_state import assert_same, plain

STORED = Path(__file__).parent / "stored"
METRICS = [
    "ndcg@3",
    "ndcg(gain=exp2)@2",
    "mrr",
    "recall@2",
    "precision@2",
    "map",
    "err(max_relevance=2)@3",
    "gauc",
    "dcg@3",
    "hit_rate@1",
]
ALL_LISTS = ["coverage@2", "gini@2", "entropy@2"]
BY = ["user", "market", "price", "member"]
KINDS = {"user": "int64", "market": "str", "price": "float64", "member": "bool", "day": "str", "visitor": "int64", "weight": "float64", "item": "str", "relevant": "int64", "old": "float64", "new": "float64"}  # fmt: skip
MODELS = ["old", "new"]
CASES = {
    "plain": (METRICS, {}),
    "segments": (METRICS, {"per": "day", "cluster": "visitor", "weight": "weight"}),
    "items": ([*METRICS, *ALL_LISTS], {"items": True, "catalog": 20}),
}
CALLS = ("evaluate", "compare", "describe")


def rows(first, last):
    """Return the rows of some lists: keys of many types, without a value among them, ties, and lists without a hit."""
    return [
        {
            "user": None if each == 0 else each * 1_000_003,
            "market": ("de", "größe", "", "日本", None)[each % 5],
            "price": (0.1, 2.0, -0.5, 1e20)[each % 4],
            "member": each % 3 == 0,
            "day": f"d{each % 2}",
            "visitor": each % 7,
            "weight": float(each % 4 + 1),
            "item": f"i{(each + item) % 9}",
            "relevant": max((each * 7 + item * 5) % 6 - 3, 0),
            "old": float((each * 3 + item * 2) % 4),
            "new": None if (each + item) % 8 == 0 else float((each * 5 + item * 3) % 7),
        }
        for each in range(first, last)
        for item in range(1 + each % 5)
    ]


def state(engine, first, last, case):
    metrics, roles = CASES[case]
    return recframe.rec(engine.frame(rows(first, last), KINDS)).state(metrics, by=BY, score=MODELS, **roles)


def write():
    """Write the files, with the first 20 of the lists of the states, and the older model of all lists."""
    engine = ENGINES["polars"].engine
    for case in CASES:
        state(engine, 0, 20, case).write_parquet(STORED / f"state-{case}.parquet")
    frame = recframe.rec(engine.frame(rows(0, 40), KINDS))
    frame.evaluate(METRICS, by=BY, score="old", save=STORED / "baseline.parquet")


def read(engine, name):
    """Return a stored file as a frame of the engine's library."""
    if engine.library == "pandas":
        pytest.importorskip("pyarrow")
    return pytest.importorskip(engine.library).read_parquet(STORED / name)


@pytest.fixture(params=[name for name in ("polars", "pandas", "pandas alone", "pandas nullable") if name in ENGINES])
def library(request):
    pytest.importorskip("scipy")
    return ENGINES[request.param].engine


@pytest.mark.parametrize("case", CASES)
def test_a_stored_state_merges_with_one_of_today(library, case):
    with library.running():
        merged = recframe.merge_states(read(library, f"state-{case}.parquet"), state(library, 20, 40, case))
        whole = recframe.merge_states(state(library, 0, 40, case))
        for call in CALLS if case != "items" else CALLS[:1]:
            assert_same(plain(getattr(merged, call)()), plain(getattr(whole, call)()))


@pytest.mark.parametrize("case", CASES)
def test_a_list_of_a_stored_state_is_not_counted_twice(library, case):
    stored, again = read(library, f"state-{case}.parquet"), state(library, 19, 21, case)
    with library.running(), pytest.raises(recframe.InputError, match="1 list"):
        recframe.merge_states(stored, again)


def test_a_stored_baseline_is_compared_as_its_frame_is(library):
    frame, roles = library.frame(rows(0, 40), KINDS), {"by": BY}
    pytest.importorskip("polars" if library.library == "polars" else "pyarrow")
    result = library.ask(frame, "compare", METRICS, score="new", baseline=STORED / "baseline.parquet", **roles)
    expected = library.ask(frame, "compare", METRICS, score=MODELS, baseline="old", **roles)
    assert {row["changed"] for row in result} == {"nothing"}
    assert_same(result, expected, [name for name in expected[0] if name not in ("model", "baseline")])
