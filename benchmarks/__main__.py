"""Print one table of ratios from one run: ``python -m benchmarks``.

Each ratio is the median over repeats in which both sides take turns, with its least and greatest value.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.calls import call_rows
from benchmarks.chart import LENGTH, K, Line, draw, lines
from benchmarks.comparisons import comparison_rows, resampling_rows
from benchmarks.data import Shape
from benchmarks.expressions import expression_rows
from benchmarks.factors import factor_memory_row, factor_rows
from benchmarks.files import file_rows
from benchmarks.handwritten import handwritten_rows
from benchmarks.isolated import Interpreter, interpreters
from benchmarks.libraries import library_rows
from benchmarks.lists import list_rows
from benchmarks.memory import memory_rows
from benchmarks.peers import pytrec_eval_rows, ranx_rows, rectools_rows, scipy_rows, sklearn_rows
from benchmarks.process import ROOT, ask
from benchmarks.shapes import growth_rows, shape_rows
from benchmarks.sizes import size_panels
from benchmarks.table import machine, render
from benchmarks.timing import CLOCK, Missing, Row, slower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Rows = Iterator[Row | Missing]

SHAPES = (Shape(100_000, 50), Shape(10_000, 500), Shape(500_000, 10))
GROUPED = Shape(100_000, 10), Shape(2_000, 500)
PEERS = Shape(20_000, 100)
CORRELATED = Shape(10_000, 50)
FACTORS = Shape(5_000, 20_000)
MANY_FACTORS = Shape(100_000, 100_000)
LISTS = Shape(1_000_000, 10)
MANY_LISTS = Shape(1_000_000, 5)
IN_FILES = 100
"""Rows of each list in files, whose number is an option."""
QUICK = 100
"""How many times fewer lists a quick run has."""


@dataclass(frozen=True)
class Run:
    """What was requested."""

    repeats: int
    scale: int
    rows: int
    folder: Path
    make: bool
    """Whether to make environments that are not there."""

    def scaled(self, shape: Shape) -> Shape:
        """Return a shape as large as this run wants it."""
        return Shape(shape.lists // self.scale, shape.length)

    @cached_property
    def interpreters(self) -> dict[str, Interpreter]:
        """Who has which library."""
        return interpreters(self.folder, make=self.make)


def shapes(run: Run) -> Rows:
    for shape in SHAPES:
        yield from shape_rows(run.scaled(shape), run.repeats)


def handwritten(run: Run) -> Rows:
    for shape in SHAPES:
        yield from handwritten_rows(run.scaled(shape), run.repeats)


def expressions(run: Run) -> Rows:
    for shape in GROUPED:
        yield from expression_rows(run.scaled(shape), run.repeats)


def pandas(run: Run) -> Rows:
    for shape in map(run.scaled, SHAPES):
        times = ask("pandas_alone", lists=shape.lists, length=shape.length, repeats=run.repeats)
        yield slower("ndcg@5, pandas alone / groupby rank", shape, times["ours"], times["rank"], 0.3)


def growth(run: Run) -> Rows:
    largest = run.scaled(SHAPES[0])
    return growth_rows(Shape(largest.lists // 10, largest.length), run.repeats)


def peers(run: Run) -> Rows:
    shape = run.scaled(PEERS)
    yield from ranx_rows(shape, run.repeats)
    yield from pytrec_eval_rows(shape, run.repeats)
    yield from sklearn_rows(shape, run.repeats)
    yield from rectools_rows(shape, run.repeats, run.interpreters["rectools"])


def libraries(run: Run) -> Rows:
    return library_rows(run.scaled(PEERS), run.repeats, run.interpreters)


def correlation(run: Run) -> Rows:
    return scipy_rows(run.scaled(CORRELATED), run.repeats)


def factors(run: Run) -> Rows:
    # The catalogue keeps most of its items: each user has thirty of them.
    yield from factor_rows(run.scaled(FACTORS), run.repeats)
    yield factor_memory_row(run.scaled(MANY_FACTORS))


def lists(run: Run) -> Rows:
    return list_rows(run.scaled(LISTS), run.repeats)


def calls(run: Run) -> Rows:
    return call_rows(run.scaled, run.repeats)


def comparisons(run: Run) -> Rows:
    yield from comparison_rows(run.scaled(SHAPES[0]), run.repeats)
    yield from resampling_rows(run.scaled(MANY_LISTS))


def memory(run: Run) -> Rows:
    yield from memory_rows(run.scaled(SHAPES[0]), run.repeats)
    yield from memory_rows(run.scaled(PEERS), run.repeats)


def files(run: Run) -> Rows:
    return file_rows(run.scaled(Shape(run.rows // IN_FILES, IN_FILES)), run.repeats)


USUAL: tuple[Callable[[Run], Rows], ...] = (
    shapes,
    pandas,
    growth,
    peers,
    correlation,
    factors,
    calls,
    comparisons,
    memory,
)
LONG: tuple[Callable[[Run], Rows], ...] = (handwritten, expressions, libraries, lists, files)
"""What only a run of all takes the time for, or one that names it."""
GROUPS = {group.__name__: group for group in (*USUAL, *LONG)}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small frames, to see whether it runs")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--repeats", type=int, default=5, help="how often each side runs (default: 5)")
    parser.add_argument("--cpu", action="store_true", help="CPU time of all cores, for a machine that others use too")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--only", nargs="+", choices=GROUPS, help="some groups of rows")
    which.add_argument("--all", action="store_true", help="every group; makes the environments of the other libraries")
    parser.add_argument(
        "--rows",
        type=int,
        default=100_000_000,
        help="the rows of the files, and the most of the drawings (default: 10⁸)",
    )
    parser.add_argument(
        "--peers", type=Path, metavar="FOLDER", default=ROOT / "build" / "peers",
        help="where the environments of the other libraries are kept (default: build/peers)",
    )  # fmt: skip
    parser.add_argument("--chart", type=Path, metavar="SVG", help="draw time over rows, from 10⁴ up")
    parser.add_argument("--sizes", type=Path, metavar="SVG", help="draw time and memory over rows of files")
    return parser.parse_args()


def main() -> None:
    arguments = options()
    if arguments.cpu:
        os.environ[CLOCK] = "cpu"  # for the processes that measure, too
    alone = (arguments.chart or arguments.sizes) and not arguments.only and not arguments.all
    names = arguments.only or (
        [] if alone else [group.__name__ for group in (*USUAL, *(LONG if arguments.all else ()))]
    )
    scale = QUICK if arguments.quick else 1
    make = arguments.all or arguments.chart is not None or "libraries" in names
    run = Run(arguments.repeats, scale, arguments.rows, arguments.peers.resolve(), make)
    rows = []
    for name in names:
        for row in GROUPS[name](run):
            # A small frame is all fixed costs, of which the limits say nothing.
            rows.append(replace(row, limit=None) if arguments.quick and isinstance(row, Row) else row)
            print(f"{row.what} ({row.shape})", file=sys.stderr)  # whoever waits sees that it goes on
    if rows:
        print(render(rows, markdown=arguments.markdown))
    clock = "CPU time of all cores" if arguments.cpu else "time of the clock"
    print(f"\n{machine()}, {clock}")
    if arguments.chart:
        title = f"NDCG@{K} of lists of {LENGTH} rows: {'CPU seconds' if arguments.cpu else 'seconds'} over rows"
        _draw(arguments.chart, {title: list(lines(run.rows // scale, run.repeats, run.interpreters))})
    if arguments.sizes:
        _draw(arguments.sizes, size_panels(run.rows // scale, cpu=arguments.cpu))


def _draw(path: Path, panels: dict[str, Sequence[Line]]) -> None:
    """Write the drawing, and print what it shows."""
    path.write_text(draw(panels, machine().splitlines()[0]), encoding="utf-8")
    for title, drawn in panels.items():
        print(f"\n{title}")
        for line in drawn:
            print(f"  {line.name}:", ", ".join(f"{rows:.0e}: {value:.3g}" for rows, value in line.values.items()))


if __name__ == "__main__":
    main()
