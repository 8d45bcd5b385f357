"""The user's own rows of polars frames."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import polars as pl

from recframe._base.columns import ROW
from recframe._engines.polars.columns import sorted_rows
from recframe._engines.polars.compat import col, collect, series
from recframe._engines.rows import MODEL_ROW, OTHER_ROW, Rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.column_spec import Source

TEXT = (pl.String, pl.Categorical, pl.Enum)


class EagerRows(Rows):
    """Rows of data frames, by their numbers."""

    def pick(self, result: Frame, new: Mapping[str, str], sort: Sequence[str] = ()) -> pl.DataFrame:
        native: pl.DataFrame = self._sources["frame"].native
        picked = collect(result.select(ROW, *new).to_native())
        # Mostly the rows are sorted already, and checking that is much faster than sorting.
        picked = picked if series(picked, ROW).is_sorted() else picked.sort(ROW)
        if picked.height < native.height:
            native = native[picked[ROW]]
        native = native.with_columns(picked.select(pl.col(name).alias(column) for name, column in new.items()))
        return sorted_rows(native, sort) if sort else native

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
        columns = [_align_types(series(above, name), series(below, name)) for name in below.columns]
        above, below = (frame.with_columns(pair[i] for pair in columns) for i, frame in enumerate((above, below)))
        return pl.concat([above, below], how="diagonal_relaxed")


def _types(sources: Mapping[str, Source], new: Mapping[str, str], schema: pl.Schema) -> dict[str, pl.DataType]:
    """Return the types of the new columns that the frame lacks: as in the truth's `schema`, otherwise integers."""
    specs = sources["frame"].specs
    return {column: schema.get(column, pl.Int64()) for name, column in new.items() if name not in specs}


def _typed(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a new column, cast to the type of the user's column."""
    if dtype.is_integer():
        # The largest integers were rounded up when they became floats, so the cast fails and they become the maximum.
        return col(column).cast(dtype, strict=False).fill_null(dtype.max())  # type: ignore[attr-defined]
    return col(column).cast(dtype) if dtype == pl.Boolean or dtype.is_numeric() else col(column)


def _align_types(above: pl.Series, below: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return two columns in one type if possible: the type of the first one."""
    if above.dtype == below.dtype != pl.Categorical:
        return above, below
    if above.dtype in TEXT and below.dtype in TEXT:
        below = below.cast(pl.String)
    with suppress(pl.exceptions.PolarsError):
        return above, below.cast(above.dtype)
    return (above.cast(pl.String), below) if above.dtype in TEXT else (above, below)
