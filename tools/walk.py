"""Count what calls run: functions of recframe, their files, native collects, and the SELECTs of SQL.

``python tools/walk.py`` prints a row for each call. Calls, functions and files are of the second equal call on six
rows. Native collects, the plans that polars computes, are of the second on 1,000 lists of 20 rows. SQL is DuckDB's,
with the CPU time that it takes to write it. Python 3.12 counts fewer calls, as a comprehension is none there.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import recframe

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = str(Path(recframe.__file__).parent)


def small(*, tied: bool) -> pl.DataFrame:
    """Return two lists of three rows."""
    return pl.DataFrame(
        {
            "user": [1, 1, 1, 2, 2, 2],
            "item": [1, 2, 3, 1, 2, 3],
            "relevant": [1, 0, 2, 0, 1, 0],
            "score": [0.9, 0.9, 0.1, 0.3, 0.3, 0.1] if tied else [0.9, 0.8, 0.1, 0.3, 0.2, 0.1],
            "other": [0.1, 0.8, 0.3, 0.5, 0.3, 0.2],
            "country": ["at"] * 3 + ["be"] * 3,
        }
    )


def large(*, tied: bool) -> pl.DataFrame:
    """Return 1,000 lists of 20 rows, the first two relevant; the scores of tied lists have one digit."""
    row = pl.int_range(20_000)
    score = (row * 7919 % 20_011) / 20_011
    return pl.select(
        user=row // 20,
        item=row % 20,
        relevant=(row % 20).is_in([0, 1]).cast(pl.Int64),
        score=score.round(1) if tied else score,
        other=(row * 104_729 % 20_011) / 20_011,
        country=pl.when(row // 20 % 2 == 0).then(pl.lit("at")).otherwise(pl.lit("be")),
    )


def truth_of(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the relevant items of a frame, with the country of their list."""
    return frame.filter(pl.col("relevant") > 0).select("user", "item", "relevant", "country")


CALLS: dict[str, Callable[[Any], Any]] = {
    "ndcg(5)": lambda frame: frame.rec.ndcg(5),
    "evaluate: truth, two models, per": lambda frame: frame.drop("relevant", "country").rec.evaluate(
        ["ndcg", "map"], k=[1, 5], truth=truth_of(frame), score=["score", "other"], per="country"
    ),
    "compare": lambda frame: frame.rec.compare("ndcg", k=5, score=["score", "other"]),
    "contributions": lambda frame: frame.rec.contributions("ndcg", 5),
    "check": lambda frame: frame.rec.check(5),
    "8 x 4": lambda frame: frame.rec.evaluate(
        ["precision", "recall", "f1", "hit_rate", "mrr", "map", "dcg", "ndcg"], k=[1, 5, 10, 20]
    ),
}


def walk(call: Callable[[], Any]) -> tuple[int, int, int]:
    """Return how many calls of how many functions in how many files of recframe a call runs."""
    codes: list[Any] = []

    def note(called: Any, event: str, _: object) -> None:
        if event == "call" and called.f_code.co_filename.startswith(SOURCE):
            codes.append(called.f_code)

    _profiled(note, call)
    return len(codes), len(set(codes)), len({code.co_filename for code in codes})


def native_collects(call: Callable[[], Any]) -> int:
    """Return how many plans polars computes in a call, also those that it builds for steps on data frames."""
    count = 0

    def note(_: object, event: str, called: Any) -> None:
        nonlocal count
        name = getattr(called, "__qualname__", "")
        count += event == "c_call" and name in ("PyLazyFrame.collect", "PyLazyFrame.collect_with_callback")

    _profiled(note, call)
    return count


def _profiled(note: Callable[..., None], call: Callable[[], Any]) -> None:
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)


def sql_of(metric: str, k: int) -> tuple[int, float]:
    """Return how many SELECTs DuckDB's query of a metric has, and the seconds of CPU to write it."""
    import duckdb

    relation = duckdb.from_arrow(small(tied=False).to_arrow())
    written = getattr(recframe.rec(relation), metric)
    written(k)
    start = time.process_time()
    query = written(k)
    return query.sql_query().upper().count("SELECT"), time.process_time() - start


def main() -> None:
    """Print the counts of each call."""
    write = sys.stdout.write
    write(f"Python {sys.version.split()[0]}, polars {pl.__version__}\n")
    write(f"{'call':38} {'ties':5} {'calls':>6} {'functions':>9} {'files':>6} {'native collects':>15}\n")
    for name, call in CALLS.items():
        for tied in (False, True):
            few, many = partial(call, small(tied=tied)), partial(call, large(tied=tied))
            few()
            many()
            calls, functions, files = walk(few)
            write(
                f"{name:38} {'yes' if tied else 'no':5} {calls:6,} {functions:9} {files:6} {native_collects(many):15}\n"
            )
    for metric, k in (("precision", 2), ("ndcg", 5)):
        selects, seconds = sql_of(metric, k)
        write(f"DuckDB: {metric}({k}) has {selects} SELECTs, written in {seconds * 1000:.0f} ms\n")


if __name__ == "__main__":
    main()
