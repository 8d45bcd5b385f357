"""Print one table of ratios from one run: ``python -m benchmarks``.

Each ratio is the median over repeats in which both sides take turns, with its least and greatest value.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.child import ask
from benchmarks.data import Shape
from benchmarks.factors import factor_memory_row, factor_rows
from benchmarks.memory import memory_rows
from benchmarks.own import growth_rows, shape_rows
from benchmarks.peers import pytrec_eval_rows, ranx_rows, rectools_rows, scipy_rows, sklearn_rows
from benchmarks.table import machine, render
from benchmarks.timing import Missing, Row, slower

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUPS = ("own", "pandas", "growth", "peers", "correlation", "factors", "memory")
SHAPES = (Shape(100_000, 50), Shape(10_000, 500), Shape(500_000, 10))
PEERS = Shape(20_000, 100)
CORRELATED = Shape(10_000, 50)
FACTORS = Shape(5_000, 20_000)
MANY_FACTORS = Shape(100_000, 100_000)
QUICK = 100
"""How many times fewer lists a quick run has."""


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small frames, to see whether it runs")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--repeats", type=int, default=5, help="how often each side runs (default: 5)")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS, help="some groups of rows")
    parser.add_argument(
        "--rectools", metavar="PYTHON", help="the Python of an environment with RecTools, recframe and polars"
    )
    return parser.parse_args()


def measure(given: argparse.Namespace) -> Iterator[Row | Missing]:
    """Run the groups that were asked for."""
    scale = QUICK if given.quick else 1
    shapes = [Shape(shape.lists // scale, shape.length) for shape in SHAPES]
    peers = Shape(PEERS.lists // scale, PEERS.length)
    repeats = given.repeats
    if "own" in given.only:
        for shape in shapes:
            yield from shape_rows(shape, repeats)
    if "pandas" in given.only:
        for shape in shapes:
            times = ask("pandas_alone", lists=shape.lists, length=shape.length, repeats=repeats)
            yield slower("ndcg@5, pandas alone / groupby rank", shape, times["ours"], times["rank"], 2.5)
    if "growth" in given.only:
        yield from growth_rows(Shape(shapes[0].lists // 10, shapes[0].length), repeats)
    if "peers" in given.only:
        yield from ranx_rows(peers, repeats)
        yield from pytrec_eval_rows(peers, repeats)
        yield from sklearn_rows(peers, repeats)
        yield from rectools_rows(peers, repeats, given.rectools)
    if "correlation" in given.only:
        yield from scipy_rows(Shape(CORRELATED.lists // scale, CORRELATED.length), repeats)
    if "factors" in given.only:
        # The catalogue keeps most of its items: each user has thirty of them.
        yield from factor_rows(Shape(FACTORS.lists // scale, FACTORS.length), repeats)
        yield factor_memory_row(Shape(MANY_FACTORS.lists // scale, MANY_FACTORS.length))
    if "memory" in given.only:
        yield from memory_rows(shapes[0], repeats)
        yield from memory_rows(peers, repeats)


def main() -> None:
    given = options()
    rows = []
    for row in measure(given):
        # A small frame is all fixed costs, of which the limits say nothing.
        rows.append(replace(row, limit=None) if given.quick and isinstance(row, Row) else row)
        print(f"{row.what} ({row.shape})", file=sys.stderr)  # whoever waits sees that it goes on
    print(render(rows, markdown=given.markdown))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
