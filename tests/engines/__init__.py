"""The engines under test: one module a library, one entry of `ENGINES` an engine.

Tests write their data as plain columns, a dict of lists in which None and NaN are missing, or as a list of row dicts.
An `Engine` makes a native frame of them, calls recframe, and returns plain Python: floats, or a list of row dicts in
which every missing value is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from engines.arrow import Arrow
from engines.duckdb import DuckDB
from engines.ibis import Ibis
from engines.pandas import Pandas
from engines.polars import Polars
from engines.spark import Spark

if TYPE_CHECKING:
    from engines.base import Engine


@dataclass(frozen=True)
class Entry:
    """An engine, the packages that it needs, and its share of the tests: one in `default`, with ``--all`` one in `ci`.

    Every: of the tests that have no other parameter or test a message, it runs one in this many.
    """

    engine: Engine
    needs: tuple[str, ...]
    default: int = 1
    ci: int = 1
    every: int | None = None

    @property
    def is_installed(self) -> bool:
        """Whether all the packages are there, in versions that will do."""
        return all(map(_is_installed, map(Requirement, self.needs)))


def _is_installed(requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(version(requirement.name), prereleases=True)
    except PackageNotFoundError:
        return False


WITH_POLARS = _is_installed(Requirement("polars"))

REGISTRY = (
    Entry(Polars("polars", lazy=False), needs=("polars",), default=20, every=1),
    # CI runs more of its tests in morsels of four rows.
    Entry(Polars("polars lazy", lazy=True), needs=("polars",), default=32, ci=8),
    # Before polars 2, lazy frames were collected in memory: the streaming engine was an experiment.
    Entry(Polars("polars in-memory", lazy=True, collect="in-memory"), needs=("polars>=2",), default=96, ci=16),
    # Where polars is not installed, "pandas" works alone anyway; CI has a group for that.
    Entry(Pandas("pandas alone", alone=True), needs=("pandas", "polars"), default=96, ci=12, every=6),
    # These are opened as frames of polars, each in its own way: one plan, and each runs a part of its tests.
    Entry(Pandas("pandas"), needs=("pandas",), default=48 if WITH_POLARS else 4, ci=12 if WITH_POLARS else 1),
    Entry(Pandas("pandas nullable", "nullable"), needs=("pandas",), default=96, ci=12),
    Entry(Pandas("pandas pyarrow", "pyarrow"), needs=("pandas", "pyarrow"), default=96, ci=12),
    Entry(Arrow(), needs=("pyarrow", "polars"), default=96, ci=12),
    Entry(DuckDB(), needs=("duckdb", "pyarrow"), default=144, ci=16),
    Entry(Ibis(), needs=("ibis-framework", "duckdb", "pyarrow"), default=192, ci=96),
    Entry(Spark(), needs=("pyspark", "pyarrow"), default=96, ci=384),
    # Frames of tests are small, and those are planned in a way of their own.
    Entry(Polars("polars many rows", lazy=False, many=True), needs=("polars",), default=96, ci=8),
)

ENGINES = {entry.engine.name: entry for entry in REGISTRY if entry.is_installed}
"""The engines that can be tested here, by name."""
