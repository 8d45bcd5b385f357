"""What every engine under test can do, and the plain data that tests are written in."""

from __future__ import annotations

import datetime as dt
import math
import warnings
import zlib
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import recframe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Data = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]


def columns_of(data: Data) -> dict[str, list[Any]]:
    """Return data as a dict of columns."""
    if isinstance(data, dict):
        return {name: list(values) for name, values in data.items()}
    return {name: [row[name] for row in data] for name in data[0]}


def rows_of(data: Data) -> list[dict[str, Any]]:
    """Return data as a list of rows."""
    if not isinstance(data, dict):
        return [dict(row) for row in data]
    return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]


def is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def kind_of(values: Sequence[Any]) -> str:
    """Return the kind of a column from its values: a name that every engine maps to one of its types."""
    types = {type(value) for value in values if value is not None and not is_nan(value)}
    if not types:
        return "float64" if any(map(is_nan, values)) else "null"
    if types == {int} and any(map(is_nan, values)):
        return "float64"
    for name, kinds in {
        "bool": {bool}, "int64": {int}, "float64": {int, float}, "str": {str}, "date": {dt.date}, "datetime": {dt.datetime},
    }.items():  # fmt: skip
        if types <= kinds:
            return name
    return "object"


def python_value(value: Any) -> Any:
    """Return a native value as Python's own, and None for each way to be missing."""
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime()
    elif hasattr(value, "item"):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if value != value else value  # noqa: PLR0124 - NaN, and pandas' NaT


STATISTICS = (
    "compare", "rank_models", "sample_size", "describe", "estimate_with_judge", "bounds", "changes", "state", "agreement",
)  # fmt: skip
"""The calls whose results SQL engines give as polars frames, of `agreement` those with intervals."""


COMPLETE = {"compare": "details", "describe": "details", "check": "all"}
"""The calls whose results are shorter unless an argument asks for all of it."""


def _one_value(rows: list[dict[str, Any]]) -> Any:
    """Return the value of one row with one column, NaN if it is missing."""
    ((value,),) = (row.values() for row in rows)
    return math.nan if value is None else value


class Engine(ABC):
    """One way to hold a frame and to compute on it."""

    name: str
    library: str
    lazy = False
    """Whether frames are queries, and so are results: their rows are not checked."""
    postpones = False
    """Whether calls are made with data frames when their results are collected."""
    sorts = True
    """Whether results come sorted by key."""
    checks = True
    """Whether the names and types of columns are checked before any work."""
    tells_nan = True
    """Whether NaN and missing are two things."""
    answers_with_rows = True
    """Whether the calls that answer with the frame's own rows accept it."""
    share = 1
    """The engine runs one of this many labels and random examples within a test. More than 1 where each query is
    slow (SQL) or where frames differ only in their types and so get the same plan. ``--engines=`` sets it to 1."""
    kinds: frozenset[str]
    """The kinds of columns that frames can hold."""

    @abstractmethod
    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        """Return a native frame; kinds of columns follow from their values unless named."""

    def frames(self, *data: Data) -> list[Any]:
        """Return several frames in which columns of one name have one type."""
        columns = [columns_of(each) for each in data]
        together = {
            name: [value for each in columns for value in each.get(name, ())]
            for name in {n for c in columns for n in c}
        }
        kinds = {name: kind_of(values) for name, values in together.items()}
        return [self.frame(each, kinds) for each in columns]

    @abstractmethod
    def rows(self, result: Any) -> list[dict[str, Any]]:
        """Return a native result as rows of plain Python values."""

    def enum(self, frame: Any, column: str, values: Sequence[str]) -> Any:
        """Return a frame in which a column of text has values in an order of its own."""
        raise NotImplementedError

    def some(self, labels: Sequence[Any], shift: int = 0) -> list[Any]:
        """Return the engine's share of labels."""
        return [*labels[shift % self.share :: self.share]]

    def runs(self, *example: Any) -> bool:
        """Return whether a random example belongs to the engine's share."""
        return zlib.crc32(repr(example).encode()) % self.share == 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Set up what recframe needs on this engine, and undo it afterwards."""
        yield

    def ask(self, frame: Any, method: str, *args: Any, **given: Any) -> Any:
        """Call a method of the namespace: a float, or rows where the call returns a frame.

        A lazy frame's answer to a call that an eager frame answers with a float is its one value. Results have all
        rows and columns, unless an argument says otherwise.
        """
        if method in COMPLETE:
            given.setdefault(COMPLETE[method], True)
        with self.running(), warnings.catch_warnings():
            # Whether a mean is defined is compared as a value; the warning has tests of its own.
            warnings.simplefilter("ignore", recframe.UndefinedWarning)
            # Tests use frames whose numbers mean little; test_data_warnings.py says when they are warned of.
            warnings.simplefilter("ignore", recframe.DataWarning)
            result = getattr(recframe.rec(frame), method)(*args, **given)
            if isinstance(result, float):
                return result
            if method in STATISTICS and not isinstance(result, type(frame)):
                return [{name: python_value(value) for name, value in row.items()} for row in result.rows(named=True)]
            rows = self.rows(result)
        frames = ("evaluate", "check", "contributions", "tune_fusion", "exposure", *STATISTICS)
        lazy = self.lazy or self.postpones
        single = lazy and method not in frames and not (given.get("per") or given.get("per_item"))
        return _one_value(rows) if single else rows

    def value(self, frame: Any, metric: Any, **given: Any) -> Any:
        """Evaluate one metric: its value, or rows with `per` or `per_item`."""
        rows = self.ask(frame, "evaluate", metric, **given)
        return rows if given.get("per") or given.get("per_item") else _one_value(rows)

    def __repr__(self) -> str:
        return self.name
