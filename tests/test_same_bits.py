"""Equal calls give the same bits, whatever the threads, and so do rows in any order, where an engine has one."""

from __future__ import annotations

import math
import os
import pathlib
import random
import subprocess
import sys

import pytest

import recframe
from recframe._engines.exact_sums import exactly_summable_parts

LISTS, LENGTH = 300, 12
"""So many that the sum of their values is rounded."""
METRICS = ["ndcg@10", "map@10", "rbp@5", "mrr", "recall@5", "err@10", "pr_auc"]


def rows(digits, lists=LISTS):
    """Return rows of graded relevance, with scores that tie where they have few digits."""
    rng = random.Random(digits)
    return [
        {
            "user": user,
            "item": item,
            "relevant": rng.choice([0, 0, 0.1, 0.3, 0.7]),
            "score": round(rng.random(), digits),
            "old": round(rng.random(), digits),
            "day": user % 7,
        }
        for user in range(lists)
        for item in range(LENGTH)
    ]


CALLS = {
    "evaluate": lambda engine, frame: engine.ask(frame, "evaluate", METRICS),
    "models": lambda engine, frame: engine.ask(frame, "evaluate", METRICS[:3], score=["old", "score"]),
    "per": lambda engine, frame: engine.ask(frame, "evaluate", METRICS, per="day"),
    "lists": lambda engine, frame: engine.ask(frame, "evaluate", METRICS, per="user"),
    "compare": lambda engine, frame: engine.ask(frame, "compare", METRICS[:2], score=["old", "score"]),
    "describe": lambda engine, frame: engine.ask(frame, "describe", METRICS[:2]),
    "agreement": lambda engine, frame: engine.ask(frame, "agreement", k=10, score=["old", "score"]),
}


def bits(result):
    """Return the rows of a result with each bit of its numbers, in one order."""
    return sorted([value.hex() if isinstance(value, float) else str(value) for value in row.values()] for row in result)


def skip_what_cannot_run(engine, call):
    """Skip engines whose bits may differ, and calls whose packages are missing."""
    if call in ("compare", "describe", "agreement"):
        pytest.importorskip("scipy")
    if engine.library not in ("polars", "pandas"):
        pytest.skip("its threads add numbers as they come, see docs/engines.md")
    if engine.name == "polars many rows":
        pytest.skip("half a minute in pieces of seven rows; test_any_number_of_threads has as many rows as it takes")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("digits", [1, 9])
def test_equal_calls(engine, call, digits):
    skip_what_cannot_run(engine, call)
    frame = engine.frame(rows(digits))
    assert len({str(bits(CALLS[call](engine, frame))) for _ in range(5)}) == 1


@pytest.mark.parametrize("call", ["compare", "lists"])
def test_equal_calls_on_few_lists(polars_engine, call):
    """Polars cuts groups of so many rows into parts, where it does not keep their order."""
    if call == "compare":
        pytest.importorskip("scipy")
    frame = polars_engine.frame(rows(9, lists=150))
    assert len({str(bits(CALLS[call](polars_engine, frame))) for _ in range(40)}) == 1


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("digits", [1, 9])
def test_rows_in_any_order(engine, call, digits):
    skip_what_cannot_run(engine, call)
    data = rows(digits)
    expected = bits(CALLS[call](engine, engine.frame(data)))
    for seed in range(3):
        shuffled = random.Random(seed).sample(data, len(data))
        assert bits(CALLS[call](engine, engine.frame(shuffled))) == expected


@pytest.mark.parametrize("kind", ["polars", "polars lazy", "pandas"])
def test_fifty_equal_calls(kind):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(rows(9))
    if kind == "pandas":
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(frame.to_dict(as_series=False))
    elif kind == "polars lazy":
        if not hasattr(pl.LazyFrame, "pipe_with_schema"):
            pytest.skip("polars adds numbers as they come")
        frame = frame.lazy()
    result = set()
    for _ in range(50):
        answer = recframe.rec(frame).evaluate(METRICS[:3])
        answer = answer.collect() if kind == "polars lazy" else answer
        result.add(tuple(float(answer[label][0]).hex() for label in METRICS[:3]))
    assert len(result) == 1


PROGRAM = """
import pathlib
import sys
import polars as pl
import recframe
from recframe.cli import main
folder = pathlib.Path(sys.argv[1])
place = pl.int_range(120_000, eager=True)
frame = pl.DataFrame({
    "user": place // 20, "item": place * 31 % 1_009, "relevant": (place * 7919 % 10_007) % 5 // 2 * 1.0,
    "score": place * 104_729 % 10_037, "other": place * 7_907 % 101, "day": place // 20 % 7,
}).sample(fraction=1.0, shuffle=True, seed=1)
metrics = ["ndcg", "map", "rbp", "mrr", "err", "r_precision"]
for rows in (frame, frame.head(60_000), frame.lazy()):
    truth = rows.filter(pl.col("relevant") > 0).select("user", "item", "relevant")
    for options in ({"score": ["score", "other"]}, {"per": "day"}, {"score": "other", "truth": truth}):
        ranked = rows.drop("relevant") if "truth" in options else rows
        for _ in range(2):
            result = recframe.rec(ranked).evaluate(metrics, k=10, **options).lazy().collect()
            for row in sorted(result.rows()):
                print(*(value.hex() if isinstance(value, float) else value for value in row))
frame.write_parquet(folder / "rows.parquet")
for ending in ("json", "csv", "parquet"):
    main(["evaluate", str(folder / "rows.parquet"), "-m", "ndcg@10", "-m", "map", "--out", str(folder / f"r.{ending}")])
    print((folder / f"r.{ending}").read_bytes())
"""


@pytest.mark.slow
def test_any_number_of_threads(tmp_path):
    pl = pytest.importorskip("polars")
    pytest.importorskip("numpy")
    pytest.importorskip("click")
    if not hasattr(pl.LazyFrame, "pipe_with_schema"):
        pytest.skip("polars adds numbers of lazy frames as they come")
    result = set()
    for threads in range(1, 9):
        environment = {**os.environ, "POLARS_MAX_THREADS": str(threads)}
        line = [sys.executable, "-c", PROGRAM, str(tmp_path)]
        result.add(subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(result) == 1


PARTS = """
import random
import sys
sys.path.insert(0, sys.argv[1])
import polars as pl
import recframe
from recframe.metrics import METRICS
from recframe.metrics.subtopics import SubtopicMetric
from spellings import spellings_of
rng = random.Random(1)
rows = pl.LazyFrame([
    {
        "user": user, "item": item, "relevant": rng.choice([0, 0, 0.1, 0.3, 0.7]), "score": round(rng.random(), 1),
        "price": rng.random(), "subtopic": rng.choice("abc"), "group": rng.choice("xy"),
    }
    for user in range(40) for item in rng.sample(range(30), rng.randint(1, 12))
])
sides = {
    "train": pl.LazyFrame([{"user": rng.randrange(40), "item": rng.randrange(30)} for _ in range(300)]),
    "features": pl.LazyFrame([{"item": item, "x": rng.random(), "y": rng.random()} for item in range(30)]),
    "catalog": list(range(30)), "value": "price", "group": "group",
}
intents = {"truth": rows.filter(pl.col("relevant") > 0).select("user", "item", "relevant", "subtopic"), "subtopic": "subtopic"}
topical = [name for name in METRICS if issubclass(METRICS[name], SubtopicMetric)]
by_intents = [label for name in topical for label in spellings_of(name, (3,))]
divided = ["precision", "recall", "map", "ndcg", "novelty", "arp", "serendipity"]
several = [label for name in METRICS for label in spellings_of(name, (3,))[: None if name in divided else 1]]
for answer in (
    rows.rec.evaluate(several, per="user", **sides),
    rows.drop("relevant", "subtopic").rec.evaluate(by_intents, per="user", **intents),
    rows.rec.exposure(group="group"),
    rows.rec.add_propensity(sides["train"], "p"),
):
    for row in sorted(map(repr, answer.collect().rows())):
        print(row)
"""


@pytest.mark.slow
def test_batches_of_any_size(tmp_path):
    """By one number polars multiplies with its reciprocal, but divides where a batch has one row."""
    pl = pytest.importorskip("polars")
    if not hasattr(pl.LazyFrame, "pipe_with_schema"):
        pytest.skip("polars adds numbers of lazy frames as they come")
    result = set()
    for rows_of_batch in (2, 100_000):
        environment = {**os.environ, "POLARS_IDEAL_MORSEL_SIZE": str(rows_of_batch)}
        line = [sys.executable, "-c", PARTS, str(pathlib.Path(__file__).parent)]
        result.add(subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(result) == 1


def test_equal_lines_of_a_terminal_write_equal_files(tmp_path):
    pl = pytest.importorskip("polars")
    pytest.importorskip("click")
    from recframe.cli import main

    pl.DataFrame(rows(9)).write_parquet(tmp_path / "rows.parquet")
    for ending in ("json", "csv", "parquet"):
        files = [tmp_path / f"{number}.{ending}" for number in range(8)]
        for file in files:
            call = ["evaluate", str(tmp_path / "rows.parquet"), "-m", "ndcg@10", "-m", "map@10", "-m", "rbp", "--out"]
            assert main([*call, str(file)]) == 0
        assert len({file.read_bytes() for file in files}) == 1


# --- sums ---------------------------------------------------------------------------------------------------


def numbers(seed):
    """Return numbers of very different sizes, some of which cancel."""
    rng = random.Random(seed)
    size = 9 if seed % 2 else 300
    some = [rng.uniform(-1, 1) * 10.0 ** rng.randint(-size, size) for _ in range(rng.randint(1, 400))]
    return [*some, *(-value for value in some[::3])]


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_parts_are_not_rounded(seed):
    numpy = pytest.importorskip("numpy")
    values = numbers(seed)
    parts = [part.tolist() for part in exactly_summable_parts(numpy.array(values), lambda part: numpy.abs(part).max())]
    # Python's sum is that of floats one after the other.
    for part in parts:
        total = 0.0
        for value in part:
            total += value
        assert total == math.fsum(part)
    assert list(map(math.fsum, zip(*parts, strict=True))) == values


@pytest.mark.parametrize(
    "values", [[], [0.0, -0.0], [math.nan, 1.0], [math.inf, 1.0], [math.inf, -math.inf], [1e308, 1e308, -1e308]]
)
def test_numbers_that_cannot_be_cut_are_added_as_they_are(values):
    pl = pytest.importorskip("polars")
    from recframe._engines.polars import sums as polars_sums

    frame = pl.DataFrame({"key": [1] * len(values), "x": pl.Series(values, dtype=pl.Float64)})
    expected = frame["x"].sum()
    for result in (polars_sums.exact_sums(frame, group, ["x"], {})["x"] for group in ([], ["key"])):
        assert result.to_list() == pytest.approx([expected], nan_ok=True) or not values


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize("seed", range(5))
def test_exact_sums_of_groups(library, seed):
    frames = pytest.importorskip(library)
    if library == "polars":
        from recframe._engines.polars.sums import exact_sums
    else:
        from recframe._engines.pandas.sums import exact_sums
    rng = random.Random(seed)
    data = [(rng.randint(0, 2), value) for value in numbers(seed)]
    result = set()
    for _ in range(4):
        rng.shuffle(data)
        frame = frames.DataFrame({"key": [key for key, _ in data], "x": [value for _, value in data]})
        for group in ([], ["key"]):
            sums = exact_sums(frame, group, ["x"], {"count": "x"})
            columns = sorted(zip(*(sums[name].to_list() for name in [*group, "x", "count"]), strict=True))
            result.add((len(group), str([[*key, total.hex(), int(count)] for *key, total, count in columns])))
    assert len(result) == 2


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("height", [0, 300, 70_000])
def test_sums_in_order_are_sums(together, height):
    pl = pytest.importorskip("polars")
    from recframe._engines.polars.runs import sums_in_order

    rng = random.Random(height)
    keys = [rng.randint(0, height // 9) for _ in range(height)]
    data = {"key": sorted(keys) if together else keys, "x": [rng.choice([None, 0.5, 3.0, -1.0]) for _ in range(height)]}
    frame = pl.DataFrame(data, schema={"key": pl.Int64, "x": pl.Float64})
    result = sums_in_order(frame, ["key"], {"x": pl.col("x")})
    assert result.schema == frame.schema
    assert result.sort("key").equals(frame.group_by("key").agg(pl.col("x").sum()).sort("key"))
