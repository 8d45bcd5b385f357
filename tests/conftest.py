"""The engines under test.

Tests write their data as plain columns, a dict of lists in which None and NaN are missing, or as a list of row dicts.
An `Engine` makes a native frame of them, asks recframe, and hands back plain Python: floats, or a list
of row dicts in which every missing value is None. A further engine is one more entry of `_engines`.
"""

from __future__ import annotations

import datetime as dt
import importlib.util
import math
import os
import sys
import warnings
import zlib
from abc import ABC, abstractmethod
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

import recframe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Data = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]

# One example runs on a whole engine: how long it takes says nothing, and failures must be repeatable.
settings.register_profile(
    "recframe",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("recframe")

WHOLE = bool(os.environ.get("RECFRAME_WHOLE"))
"""Whether every engine takes every test and example, for which there is no time at each change: an hour for Spark."""


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


# --- plain data -------------------------------------------------------------------------------------------


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


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def kind_of(values: Sequence[Any]) -> str:
    """Return the kind of a column from its values: a name that every engine maps to one of its types."""
    types = {type(value) for value in values if value is not None and not _is_nan(value)}
    if not types:
        return "float64" if any(map(_is_nan, values)) else "null"
    if types == {int} and any(map(_is_nan, values)):
        return "float64"
    for name, kinds in {
        "bool": {bool}, "int64": {int}, "float64": {int, float}, "str": {str}, "date": {dt.date}, "datetime": {dt.datetime},
    }.items():  # fmt: skip
        if types <= kinds:
            return name
    return "object"


def _plain(value: Any) -> Any:
    """Return a native value as Python's own, and None for each way to be missing."""
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime()
    elif hasattr(value, "item"):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if value != value else value  # noqa: PLR0124 - NaN, and pandas' NaT


# --- engines ----------------------------------------------------------------------------------------------


class Engine(ABC):
    """One way to hold a frame and to compute on it."""

    name: str
    library: str
    lazy = False
    """Whether frames, and so results, are lazy."""
    sorts = True
    """Whether results come sorted by key."""
    checks = True
    """Whether the names and types of columns are checked before any work."""
    tells_nan = True
    """Whether NaN and missing are two things."""
    answers_with_rows = True
    """Whether the calls that answer with the frame's own rows take it."""
    share = 1
    """Of many labels or random examples, every how manieth this engine takes: SQL is compiled anew for each query, and
    frames that differ only in their types come to the same plan."""
    kinds: frozenset[str]
    """The kinds of columns that frames can hold."""

    @abstractmethod
    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        """Return a native frame; kinds of columns are taken from their values unless named."""

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
        share = 1 if WHOLE else self.share
        return [*labels[shift % share :: share]]

    def takes(self, *example: Any) -> bool:
        """Return whether a random example belongs to the engine's share."""
        return WHOLE or zlib.crc32(repr(example).encode()) % self.share == 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hold what must be so while recframe works."""
        yield

    def ask(self, frame: Any, method: str, *args: Any, **given: Any) -> Any:
        """Call a method of the namespace: a float, or rows where the call returns a frame.

        A lazy frame's answer to a call that an eager frame answers with a float is its one value.
        """
        with self.running(), warnings.catch_warnings():
            # Whether a mean is defined is compared as a value; the warning has tests of its own.
            warnings.simplefilter("ignore", recframe.UndefinedWarning)
            result = getattr(recframe.rec(frame), method)(*args, **given)
            if isinstance(result, float):
                return result
            rows = self.rows(result)
        single = self.lazy and method not in ("evaluate", "check", "contributions") and given.get("per") is None
        if not single:
            return rows
        ((value,),) = (row.values() for row in rows)
        return math.nan if value is None else value

    def __repr__(self) -> str:
        return self.name


class Polars(Engine):
    """Polars frames: eager, or lazy under one of polars' own engines."""

    library = "polars"
    kinds = frozenset(
        [
            "null",
            "bool",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "float32",
            "float64",
            "str",
            "categorical",
            "enum",
            "date",
            "datetime",
        ]
    )

    def __init__(self, name: str, *, lazy: bool, collect: str | None = None) -> None:
        self.name, self.lazy, self.sorts, self.checks = name, lazy, not lazy, not lazy
        self._collect = collect
        if not lazy:
            self.kinds |= {"object"}  # polars itself cannot group a lazy frame by Python objects

    def _dtype(self, kind: str, values: Sequence[Any]) -> Any:
        import polars as pl

        if kind == "enum":
            return pl.Enum(sorted({value for value in values if value is not None}))
        return {
            "null": pl.Null, "bool": pl.Boolean, "str": pl.String, "categorical": pl.Categorical, "date": pl.Date,
            "datetime": pl.Datetime("us"), "object": pl.Object, "float32": pl.Float32, "float64": pl.Float64,
            "int8": pl.Int8, "int16": pl.Int16, "int32": pl.Int32, "int64": pl.Int64, "uint8": pl.UInt8,
            "uint16": pl.UInt16, "uint32": pl.UInt32, "uint64": pl.UInt64,
        }[kind]  # fmt: skip

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        import polars as pl

        columns = columns_of(data)
        chosen = {name: (kinds or {}).get(name) or kind_of(values) for name, values in columns.items()}
        frame = pl.DataFrame(
            [
                pl.Series(name, values, dtype=self._dtype(chosen[name], values), strict=False)
                for name, values in columns.items()
            ]
        )
        return frame.lazy() if self.lazy else frame

    def enum(self, frame: Any, column: str, values: Sequence[str]) -> Any:
        import polars as pl

        return frame.with_columns(pl.col(column).cast(pl.Enum(values)))

    def rows(self, result: Any) -> list[dict[str, Any]]:
        import polars as pl

        if self.lazy:
            assert isinstance(result, pl.LazyFrame), f"lazy in, {type(result)} out"
            result = result.collect(**({"engine": self._collect} if self._collect else {}))
        assert isinstance(result, pl.DataFrame), f"polars in, {type(result)} out"
        return [{name: _plain(value) for name, value in row.items()} for row in result.to_dicts()]


class Pandas(Engine):
    """Pandas frames of one family of dtypes, with polars behind them where it is installed."""

    library = "pandas"
    tells_nan = False
    _NUMPY = {"bool": "bool", "date": "object", "datetime": "datetime64[us]", "categorical": "category",
              "object": "object", "null": "object"}  # fmt: skip
    _NULLABLE = {"bool": "boolean", "str": "string", "float32": "Float32", "float64": "Float64"}

    kinds = Polars.kinds | {"object"}

    def __init__(self, name: str, dtypes: str = "numpy", *, alone: bool = False) -> None:
        self.name, self._dtypes, self._alone = name, dtypes, alone
        # Where polars is not installed, which is tested too, pandas takes all.
        self.share = 4 if alone or dtypes != "numpy" else 1

    def _series(self, kind: str, values: list[Any]) -> Any:
        import pandas as pd

        if kind == "enum":
            categories = sorted({value for value in values if value is not None})
            return pd.Series(pd.Categorical(values, categories=categories, ordered=True))
        if self._dtypes == "pyarrow" and kind not in ("categorical", "object"):
            return pd.Series(values, dtype=self._arrow(kind))
        if self._dtypes == "nullable" and kind in self._NULLABLE:
            return pd.Series(values, dtype=self._NULLABLE[kind])
        if self._dtypes == "nullable" and "int" in kind:
            return pd.Series(
                values, dtype=kind.replace("uint", "UInt") if kind[0] == "u" else kind.replace("int", "Int")
            )
        if kind == "str":
            return pd.Series(values)  # pandas 3: `str`, before: object
        if None in values and (kind == "bool" or "int" in kind):
            # NumPy's types hold no missing value: pandas itself makes floats of integers, and objects of bools.
            return pd.Series(values, dtype="object" if kind == "bool" else "float64")
        return pd.Series(values, dtype=self._NUMPY.get(kind, kind))

    @staticmethod
    def _arrow(kind: str) -> Any:
        import pandas as pd
        import pyarrow as pa

        name = {"str": pa.string(), "date": pa.date32(), "datetime": pa.timestamp("us"), "bool": pa.bool_()}
        return pd.ArrowDtype(name[kind] if kind in name else getattr(pa, kind)())

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        import pandas as pd

        columns = columns_of(data)
        return pd.DataFrame(
            {name: self._series((kinds or {}).get(name) or kind_of(values), values) for name, values in columns.items()}
        )

    def enum(self, frame: Any, column: str, values: Sequence[str]) -> Any:
        import pandas as pd

        return frame.assign(**{column: pd.Categorical(frame[column], categories=values, ordered=True)})

    def rows(self, result: Any) -> list[dict[str, Any]]:
        import pandas as pd

        assert isinstance(result, pd.DataFrame), f"pandas in, {type(result)} out"
        assert list(result.index) == list(range(len(result))), "the index is not fresh"
        values = zip(*(result[name].tolist() for name in result.columns), strict=True)
        return [dict(zip(result.columns, map(_plain, row), strict=True)) for row in values]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Take polars away where pandas is to work alone."""
        with pytest.MonkeyPatch.context() as patch:
            if self._alone:
                # What recframe finds where polars is not installed; whoever imports it all the same fails.
                patch.setattr("recframe._frames._pandas.polars_engine", lambda: None)
                patch.setitem(sys.modules, "polars", None)
            yield


class Arrow(Engine):
    """PyArrow tables, which other engines read too."""

    name = library = "pyarrow"
    answers_with_rows = False
    share = 4
    kinds = Polars.kinds - {"enum"}

    def _dtype(self, kind: str) -> Any:
        import pyarrow as pa

        return {
            "null": pa.null(), "bool": pa.bool_(), "str": pa.string(), "categorical": pa.dictionary(pa.int32(), pa.string()),
            "enum": pa.string(), "date": pa.date32(), "datetime": pa.timestamp("us"), "decimal": pa.decimal128(20, 0),
        }.get(kind) or getattr(pa, kind)()  # fmt: skip

    def table(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        """Return a PyArrow table."""
        import pyarrow as pa

        columns = columns_of(data)
        arrays = {}
        for name, values in columns.items():
            dtype = self._dtype((kinds or {}).get(name) or kind_of(values))
            # As anywhere, integers have no NaN.
            known = [None if _is_nan(value) else value for value in values] if pa.types.is_integer(dtype) else values
            arrays[name] = pa.array(known, dtype, from_pandas=False)
        return pa.table(arrays)

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        return self.table(data, kinds)

    def rows(self, result: Any) -> list[dict[str, Any]]:
        import pyarrow as pa

        assert isinstance(result, pa.Table), f"a table in, {type(result)} out"
        return [{name: _plain(value) for name, value in row.items()} for row in result.to_pylist()]


class DuckDB(Arrow):
    """DuckDB relations on PyArrow tables."""

    name = library = "duckdb"
    lazy, sorts, share = True, False, 8
    kinds = Polars.kinds

    @cached_property
    def connection(self) -> Any:
        import duckdb

        return duckdb.connect(config={"threads": 1})

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        relation = self.connection.from_arrow(self.table(data, kinds))
        for name, kind in (kinds or {}).items():
            if kind == "enum" and name in relation.columns:
                relation = self.enum(
                    relation, name, sorted({value for value in columns_of(data)[name] if value is not None})
                )
        return relation

    def enum(self, frame: Any, column: str, values: Sequence[str]) -> Any:
        listed = ", ".join(f"'{value}'" for value in values)
        return frame.project(f'* REPLACE ("{column}"::ENUM({listed}) AS "{column}")')

    def rows(self, result: Any) -> list[dict[str, Any]]:
        import duckdb

        assert isinstance(result, duckdb.DuckDBPyRelation), f"a relation in, {type(result)} out"
        names = result.columns
        return [dict(zip(names, map(_plain, row), strict=True)) for row in result.fetchall()]


class Ibis(Arrow):
    """Ibis tables in memory, which DuckDB reads."""

    name = library = "ibis"
    lazy, sorts, share = True, False, 24  # DuckDB, which it writes SQL for, takes a larger share itself

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        import ibis

        return ibis.memtable(self.table(data, kinds))

    def rows(self, result: Any) -> list[dict[str, Any]]:
        import ibis

        assert isinstance(result, ibis.Table), f"an expression in, {type(result)} out"
        return [{name: _plain(value) for name, value in row.items()} for row in result.to_pyarrow().to_pylist()]


class Spark(Arrow):
    """Spark DataFrames in local mode."""

    name = library = "spark"
    lazy, sorts, share = True, False, 4
    kinds = frozenset(
        ["null", "bool", "int8", "int16", "int32", "int64", "float32", "float64", "str", "date", "datetime"]
    )

    @cached_property
    def session(self) -> Any:
        from pyspark.sql import SparkSession

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings = {
            "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "4",
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.session.timeZone": "UTC", "spark.log.level": "ERROR",
        }  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Spark thinks of the pandas and Java there are
            builder = SparkSession.builder.master("local[2]")
            for name, value in settings.items():
                builder = builder.config(name, value)
            return builder.getOrCreate()

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        # What has no sign is wider in Spark, as where it reads Parquet.
        wide = {"uint8": "int16", "uint16": "int32", "uint32": "int64", "uint64": "decimal"}
        signed = {name: wide.get(kind, kind) for name, kind in (kinds or {}).items()}
        return self.session.createDataFrame(self.table(data, signed))

    def rows(self, result: Any) -> list[dict[str, Any]]:
        from pyspark.sql import DataFrame

        assert isinstance(result, DataFrame), f"Spark in, {type(result)} out"
        rows = [{name: _plain(value) for name, value in row.items()} for row in result.toArrow().to_pylist()]
        # Spark's timestamps are points in time, here of UTC.
        return [
            {
                name: value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value
                for name, value in row.items()
            }
            for row in rows
        ]


class SparkWorkers(Spark):
    """Spark DataFrames whose lists polars evaluates on the workers, where a call can be parted."""

    name = "spark workers"

    def ask(self, frame: Any, method: str, *args: Any, **given: Any) -> Any:
        parted = {} if method in ("check", "contributions") else {"partitions": 3}
        return super().ask(frame, method, *args, **parted, **given)


def _engines() -> list[Any]:
    """Return what can be tested here, as parameters of the fixture."""
    found: list[Any] = []
    if _installed("polars"):
        found += [Polars("polars", lazy=False), Polars("polars lazy", lazy=True)]
    # Before, lazy frames were collected in memory: the streaming engine was an experiment.
    if _installed("polars") and int(version("polars").split(".")[0]) > 1:
        found += [Polars("polars in-memory", lazy=True, collect="in-memory")]
    if _installed("pandas"):
        without = [] if _installed("pyarrow") else [pytest.mark.skip(reason="pyarrow is not installed")]
        found += [
            Pandas("pandas"),
            Pandas("pandas nullable", "nullable"),
            pytest.param(Pandas("pandas pyarrow", "pyarrow"), marks=without, id="pandas pyarrow"),
        ]
        # Where polars is absent, pandas is alone anyway.
        found += [Pandas("pandas alone", alone=True)] if _installed("polars") else []
    if _installed("duckdb") and _installed("pyarrow"):
        found += [DuckDB()]
    if _installed("ibis") and _installed("duckdb"):
        found += [Ibis()]
    if _installed("pyarrow") and _installed("polars"):
        found += [Arrow()]
    if _installed("pyspark") and _installed("pyarrow"):
        found += [pytest.param(one, marks=pytest.mark.spark, id=one.name) for one in (Spark(), SparkWorkers())]
    return found


ENGINES = _engines()
SPARK_SHARE = 1 if WHOLE else 36
"""Every how manieth test runs on Spark, whose queries take seconds each."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave engines what they can do, and Spark its share of the tests of all engines."""

    def stays(item: pytest.Item) -> bool:
        one = (
            item.callspec.params.get("engine")
            if isinstance(item, pytest.Function) and hasattr(item, "callspec")
            else None
        )
        if one is None:
            return True
        if not one.answers_with_rows and item.path.name.startswith("test_data_"):
            return False
        return one.library != "spark" or zlib.crc32(item.name.encode()) % SPARK_SHARE == 0

    left = [item for item in items if not stays(item)]
    if left:
        items[:] = [item for item in items if stays(item)]
        config.hook.pytest_deselected(items=left)


@pytest.fixture(scope="session", params=ENGINES, ids=repr)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn. It holds no state, so that Hypothesis may use it for many examples."""
    return request.param


@pytest.fixture(params=["pandas", "pandas alone"])
def pandas_engine(request: pytest.FixtureRequest) -> Engine:
    """Pandas both ways, for what only its frames can hold."""
    pytest.importorskip("pandas")
    return Pandas(request.param, alone=request.param == "pandas alone")


@pytest.fixture
def polars_engine() -> Engine:
    """Eager polars, for what only its frames can hold."""
    pytest.importorskip("polars")
    return Polars("polars", lazy=False)
