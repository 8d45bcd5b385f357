"""The user's own rows of polars frames."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import polars as pl

from recframe._columns import ROW
from recframe._engines.polars_columns import read_lazy, sorted_rows
from recframe._engines.polars_compat import col, collect, series
from recframe._engines.rows import MODEL_ROW, OTHER_ROW, Rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine
    from recframe._engines.column_spec import Source
    from recframe._engines.polars_schema import SchemaCheck

CARRIED = "carried "
"""The prefix of the names of a lazy frame's own columns."""
TEXT = (pl.String, pl.Categorical, pl.Enum)


class EagerRows(Rows):
    """Rows of data frames, by their numbers."""

    def pick(self, result: Frame, new: Mapping[str, str], sort: Sequence[str] = ()) -> pl.DataFrame:
        native: pl.DataFrame = self._sources["frame"].native
        picked = collect(result.select(ROW, *new).to_native())
        # Most often the rows are in order, which is seen in a fraction of the time of a sort.
        picked = picked if series(picked, ROW).is_sorted() else picked.sort(ROW)
        if picked.height < native.height:
            native = native[picked[ROW]]
        native = native.with_columns(picked.select(pl.col(name).alias(column) for name, column in new.items()))
        # Objects that polars cannot sort stay as they come.
        orderly = [name for name in sort if native.schema[name] != pl.Object]
        return sorted_rows(native, orderly) if orderly else native

    def extend(
        self, result: Frame, added: Frame, names: Mapping[str, str], new: Mapping[str, str], model: str | None = None
    ) -> pl.DataFrame:
        source: pl.DataFrame = self._sources["truth"].native
        numbers = [OTHER_ROW, *([MODEL_ROW] if model is not None else [])]
        above = self.pick(result, new)
        extra = collect(added.select(*numbers, *new).to_native()).sort(numbers)
        below = source[extra[OTHER_ROW]].select(map(col, names.values()))
        below = below.with_columns(extra.select(pl.col(name).alias(column) for name, column in new.items()))
        if model is not None:
            models = self._sources["frame"].native[extra[MODEL_ROW]].select(col(model))
            below = below.with_columns(models.get_columns())
        types = _types(self._sources, new, source.schema)
        typed = [_typed(column, dtype) for column, dtype in types.items()]
        above, below = (frame.with_columns(typed) for frame in (above, below))
        columns = [_alike(series(above, name), series(below, name)) for name in below.columns]
        above, below = (frame.with_columns(pair[i] for pair in columns) for i, frame in enumerate((above, below)))
        return pl.concat([above, below], how="diagonal_relaxed")


class LazyRows(Rows):
    """Rows of plans, which keep all their columns."""

    def __init__(self, engine: Engine, sources: Mapping[str, Source], check: SchemaCheck) -> None:
        carried = {"frame": [pl.all().name.prefix(CARRIED)]}
        frames = {name: read_lazy(check, name, source.specs, carried.get(name, ())) for name, source in sources.items()}
        super().__init__(sources, engine, frames, [])

    def pick(self, result: Frame, new: Mapping[str, str], sort: Sequence[str] = ()) -> pl.LazyFrame:  # noqa: ARG002
        added = (pl.col(name).alias(CARRIED + column) for name, column in new.items())
        native: pl.LazyFrame = result.to_native().with_columns(added)
        return native.select(pl.col(f"^(?s:{CARRIED}.*)$").name.map(_own_name))

    def extend(
        self, result: Frame, added: Frame, names: Mapping[str, str], new: Mapping[str, str], model: str | None = None
    ) -> pl.LazyFrame:
        own, theirs = (self._sources[name].native.collect_schema() for name in ("frame", "truth"))
        types = _types(self._sources, new, theirs)
        by_name = {**names, **new, **({"model": model} if model is not None else {})}
        below: pl.LazyFrame = added.to_native().select(pl.col(name).alias(column) for name, column in by_name.items())
        # Older polars makes fractions of Int64 beside UInt64, and rounds them.
        both = [name for name in names.values() if name in own and name in theirs]
        whole = [name for name in both if own[name] in (pl.Int64, pl.UInt64) and theirs[name].is_integer()]
        parts = [self.pick(result, new), below.with_columns(col(name).cast(own[name]) for name in whole)]
        above, below = (part.with_columns(_typed(column, dtype) for column, dtype in types.items()) for part in parts)
        # By name, polars would read some columns as patterns: it lines up numbers.
        columns = dict.fromkeys([*own, *by_name.values()])
        numbers = {name: str(number) for number, name in enumerate(columns)}
        number_of = {name: numbers[name] for name in by_name.values()}
        lacks = [pl.lit(None).alias(number) for name, number in numbers.items() if name not in number_of]
        below = below.rename(number_of).with_columns(lacks).select(numbers.values())
        rows: pl.LazyFrame = pl.concat([above.rename(numbers).select(numbers.values()), below], how="vertical_relaxed")
        return rows.rename({number: name for name, number in numbers.items()})


def _own_name(name: str) -> str:
    return name.removeprefix(CARRIED)


def _types(sources: Mapping[str, Source], new: Mapping[str, str], schema: pl.Schema) -> dict[str, pl.DataType]:
    """Return the types of the new columns that only the truth says."""
    specs = sources["frame"].specs
    return {column: schema.get(column, pl.Int64()) for name, column in new.items() if name not in specs}


def _typed(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a new column in the type of the user's."""
    if dtype.is_integer():
        # The largest integers are no floats: they were rounded up, to one that the type does not hold.
        return col(column).cast(dtype, strict=False).fill_null(dtype.max())  # type: ignore[attr-defined]
    return col(column).cast(dtype) if dtype == pl.Boolean or dtype.is_numeric() else col(column)


def _alike(above: pl.Series, below: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Give values of another frame the type of the column that they extend, where they fit."""
    if above.dtype == below.dtype != pl.Categorical:
        return above, below
    if above.dtype in TEXT and below.dtype in TEXT:
        below = below.cast(pl.String)
    if pl.Object in (above.dtype, below.dtype):
        return above, pl.Series(below.name, below.to_list(), dtype=pl.Object)
    with suppress(pl.exceptions.PolarsError):
        return above, below.cast(above.dtype)
    return (above.cast(pl.String), below) if above.dtype in TEXT else (above, below)
