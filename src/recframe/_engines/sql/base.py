"""What the SQL engines share.

Their frames are plans without rows, but they know their columns and types. So names and types are checked at once, and
nothing runs before the user fetches the result.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import COUNT
from recframe._engines.base import Engine, Session, fetched, known_values, lazy
from recframe._engines.column_errors import not_a_number, several_columns_of_name
from recframe._engines.column_spec import columns_of, specs_of
from recframe._engines.key_types import common_type
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from narwhals.dtypes import DType

    from recframe._base.columns import Frame
    from recframe._engines.column_spec import ColumnSpec, Source
    from recframe.errors import RecError


class SqlEngine(Engine):
    """An engine that writes SQL. The abstract method and the overridable ones differ between databases."""

    eager = False
    writes_sql = True
    instead_of_parts = "its engine goes to disk by itself"

    @abstractmethod
    def untyped(self, native: Any) -> set[str]:
        """Return the columns without a type: all of their values are missing."""

    def cast(self, frame: Frame, column: str, dtype: DType) -> Frame:
        """Return a frame with a column of another type."""
        return frame.with_columns(nw.col(column).cast(dtype))

    def folds_case(self, frame: Frame) -> bool:  # noqa: ARG002
        """Return whether columns whose names differ only by case are read for each other."""
        return False

    def spelled(self, column: str) -> str:
        """Return the name of a user's column as the engine quotes it."""
        return column

    def rename(self, frame: Frame, names: Mapping[str, str]) -> Any:
        """Return a native frame under the user's names."""
        if self.folds_case(frame):
            check_case([names.get(name, name) for name in self.names(frame.to_native())])
        return (frame.rename(dict(names)) if names else frame).to_native()

    def names(self, frame: Any) -> list[Any]:
        return list(frame.columns)

    def open_frames(self, sources: Mapping[str, Source], *, rows: Collection[str] = ()) -> Session:  # noqa: ARG002
        """Read the needed columns, after the checks of names and types."""

        def finish(result: Frame, names: Mapping[str, str], sort: Sequence[str]) -> Any:  # noqa: ARG001
            return self.rename(result, names)

        self.check_names(sources)
        for name, source in sources.items():
            self._check_case_of_column(name, source)
        untyped = {name: self.untyped(source.native) for name, source in sources.items()}
        frames = {name: _read(self, source, untyped[name]) for name, source in sources.items()}
        for column, spec in specs_of(sources).items():
            if spec.is_number or spec.is_flag:
                continue
            holders = {name: frame for name, frame in frames.items() if column in sources[name].specs}
            empty = {name for name in holders if sources[name].specs[column].column in untyped[name]}
            frames |= _align(self, holders, column, spec, empty)
        return Session(self, frames, finish, columns_of(sources))

    def _check_case_of_column(self, name: str, source: Source) -> None:
        """Raise if two columns have the name of a column to read, except for upper and lower case."""
        for spec in source.specs.values():
            same_in_lower_case = [each for each in self.names(source.native) if each.lower() == spec.column.lower()]
            repeats = same_in_lower_case.count(spec.column) > 1
            if len(same_in_lower_case) > 1 and (repeats or self.folds_case(lazy(source.native))):
                raise several_columns_of_name(name, same_in_lower_case)

    def narrow(self, frame: Frame, columns: Sequence[str]) -> Frame:  # noqa: ARG002
        return frame  # a database reads only what is used

    def collected(self, frame: Frame) -> nw.DataFrame[Any]:
        return fetched(frame)

    def one_value(self, rows: Frame, keys: Sequence[str], column: str, error: RecError) -> Frame:
        # No Narwhals expression raises an error. But casting text to a number does, so the text is the message.
        lists = known_values(rows, keys, column).group_by(*keys).agg(nw.col(column).min(), nw.len().alias(COUNT))
        text = nw.when(nw.col(COUNT) > 1).then(nw.lit(" ".join(str(error).split()))).otherwise(nw.lit("1"))
        return lists.select(*keys, nw.when(text.cast(nw.Int64()) == 1).then(nw.col(column)).alias(column))


def check_case(names: Sequence[str]) -> None:
    """Raise where columns of a result have names that differ only by case."""
    folded = [name.lower() for name in names]
    same_in_lower_case = [name for name in names if folded.count(name.lower()) > 1]
    if same_in_lower_case:
        listed = " and ".join(map(repr, same_in_lower_case))
        msg = f"the result would have the columns {listed}, which DuckDB reads for each other"
        raise OptionError(msg, "rename the column of the frame first")


def _read(engine: SqlEngine, source: Source, untyped: set[str]) -> Frame:
    """Return the columns of a source under the plan's names, with the columns that the query computes from them."""
    frame = lazy(source.native)
    schema = frame.collect_schema()
    columns = {name: _column(engine, spec, schema, untyped) for name, spec in source.specs.items()}
    made = {name: spec.made for name, spec in source.specs.items() if spec.made is not None}
    columns |= {name: make(columns[name]) for name, make in made.items()}
    return frame.select(*(column.alias(name) for name, column in columns.items()))


def _column(engine: SqlEngine, spec: ColumnSpec, schema: nw.Schema, untyped: set[str]) -> nw.Expr:
    """Return the expression that reads a column, checked and without NaN."""
    if spec.column not in schema:
        return nw.lit(spec.default)
    column = nw.col(engine.spelled(spec.column))
    dtype = schema[spec.column]
    if spec.use == "exists":
        return nw.lit(1.0)
    if spec.use == "nan":
        return column.is_nan().fill_null(value=False).cast(nw.Float64()) if dtype.is_float() else nw.lit(0.0)
    if spec.is_number and spec.column in untyped:
        return column.cast(nw.Float64())
    if spec.is_number and not (dtype.is_numeric() or (dtype == nw.Boolean and spec.may_be_bool)):
        raise not_a_number(spec, dtype)
    if spec.use == "order" and dtype == nw.Categorical:
        return column.cast(nw.String())
    return column.fill_nan(None) if dtype.is_float() else column


def _align(
    engine: SqlEngine, holders: Mapping[str, Frame], column: str, spec: ColumnSpec, empty: set[str]
) -> dict[str, Frame]:
    """Return the frames whose key had to be cast to the type that all frames share, or raise if none fits.

    A key without values, in `empty`, can be cast to any type.
    """
    types = {name: frame.collect_schema()[column] for name, frame in holders.items() if name not in empty}
    if not types:
        return {}
    are_all_integers = len({*types.values()}) > 1 and all(map(_is_integer_type, types.values()))
    # Spark reads integers of 64 bits without a sign as decimals.
    with_decimals = are_all_integers and not all(dtype.is_integer() for dtype in types.values())
    common = nw.Decimal(38, 0) if with_decimals else common_type(spec, types, types)
    return {
        name: engine.cast(frame, column, common)
        for name, frame in holders.items()
        if name in empty or types[name] != common
    }


def _is_integer_type(dtype: DType) -> bool:
    """Return whether a type holds whole numbers only."""
    return dtype.is_integer() or (isinstance(dtype, nw.Decimal) and dtype.scale == 0)
