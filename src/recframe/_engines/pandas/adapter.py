"""Pandas data frames: polars computes if it is installed, otherwise pandas itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from recframe._base.columns import EQUAL, POSITION, ROW, SIZE, START
from recframe._engines.base import Engine, Session, lazy
from recframe._engines.column_errors import check_same_columns
from recframe._engines.column_spec import columns_of, specs_of
from recframe._engines.pandas import constructors as pandas_constructors
from recframe._engines.pandas import repeats as pandas_repeats
from recframe._engines.pandas import sort as pandas_sort
from recframe._engines.pandas import sums as pandas_sums
from recframe._engines.pandas.columns import (
    check_once,
    column_of,
    is_number,
    kept_exact,
    names_of,
    read_columns,
    series_of,
    sort_mixed,
    with_levels,
)
from recframe._engines.pandas.ids import PandasIds
from recframe._engines.pandas.rows import PandasRows
from recframe._engines.pandas.transfer import pandas_frame, polars_frame, to_pandas

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import narwhals as nw

    from recframe._base.columns import Frame
    from recframe._engines.base import Needed
    from recframe._engines.column_spec import Source
    from recframe._engines.constructors import Constructors
    from recframe._engines.ids import IdColumns
    from recframe._engines.polars.adapter import EagerPolars
    from recframe._engines.rows import Rows

NEEDED = "needed"


class Pandas(Engine):
    """Data frames, and Narwhals on pandas itself."""

    eager = True
    answers_with_rows = True
    any_label = True
    pivot_example = "df.pivot(index={index!r}, columns={model!r}, values={values!r}).reset_index()"
    join_example = "df.merge(users, on={!r})"
    constructors: ClassVar[Constructors] = pandas_constructors

    def names(self, frame: Any) -> list[Any]:
        return names_of(frame)

    def as_narwhals(self, frame: Any) -> Any:
        labels = frame.columns if isinstance(frame, pd.DataFrame) else ()
        named = [name is not pd.NA for name in labels]  # NA equals nothing: no call can name it
        return super().as_narwhals(frame if all(named) else frame.loc[:, named])

    def as_result(self, frame: Any) -> Any:
        return self.as_narwhals(with_levels(frame, frame.index.names))

    def check_names(self, sources: Mapping[str, Source]) -> None:
        super().check_names(sources)
        for name, source in sources.items():
            check_once(name, source)

    def open_frames(self, sources: Mapping[str, Source], *, rows: Collection[str] = ()) -> Session:
        self.check_names(sources)
        arrays, decoders = read_columns(sources)
        models = {name for name, spec in specs_of(sources).items() if spec.use == "model"}
        for name in rows:
            arrays[name][ROW] = np.arange(len(sources[name].native))
        engine = polars_engine()
        by_polars = None if engine is None else engine.of_heights([len(each.native) for each in sources.values()])
        wrap = pandas_frame if by_polars is None else polars_frame

        def finish(result: Frame, names: Mapping[str, str], sort: Sequence[str]) -> pd.DataFrame:
            coded = to_pandas(result if by_polars is None else by_polars.collect_once(result))
            keys = {name: decoders[name] for name in decoders.keys() - models}
            out = _decoded(coded, keys)
            if sort:
                try:
                    out = out.sort_values(list(sort), kind="stable", na_position="last")
                except TypeError:
                    # Codes are in the order of rows.
                    out = sort_mixed(_decoded(coded.sort_values(list(sort), kind="stable"), keys), sort)
            # The codes of models sort by first appearance.
            out = _decoded(out, {name: decoders[name] for name in decoders.keys() & models})
            return out.reset_index(drop=True).rename(columns=dict(names))

        frames = {name: wrap(columns) for name, columns in arrays.items()}
        return Session(by_polars or self, frames, finish, columns_of(sources))

    def open_rows(self, sources: Mapping[str, Source], numbered: Sequence[str]) -> Rows:
        session = self.open_frames(sources, rows=numbered)
        return PandasRows(sources, session.engine, session.frames, [ROW])

    def number_columns(self, frame: Any) -> list[Any]:
        # Narwhals has no type of sparse columns, nor of numbers that are objects.
        return [name for name in self.as_narwhals(frame).columns if is_number(frame[name])]

    def stack_models(self, frames: Mapping[str, pd.DataFrame], model: str) -> pd.DataFrame:
        check_same_columns({name: frame.columns for name, frame in frames.items()}, model)
        return pd.concat([frame.assign(**{model: name}) for name, frame in frames.items()], ignore_index=True)

    def items_frame(self, column: str, items: list[Any]) -> pd.DataFrame:
        return pd.DataFrame({column: series_of(items)})

    def lists_with_repeats(
        self, rows: Any, keys: Sequence[str], scores: Sequence[str], items: Any | None
    ) -> int | None:
        return pandas_repeats.lists_with_repeats(rows, keys, scores, items)

    def values_to_compare(self, frame: Any, column: Any, count: int, marked: nw.Series[Any] | None) -> Any | None:
        values = column_of(frame, column)
        numbers = slice(count) if marked is None else _rows_of(count, marked)
        return pandas_repeats.comparable_codes(values.iloc[numbers])

    def some_values(self, frame: Any, column: Any, rows: slice | Sequence[int]) -> list[Any]:
        values = column_of(frame, column)
        if isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf":
            listed: list[Any] = values.to_numpy()[rows].tolist()
            return listed
        return list(values.array[rows].to_numpy(dtype=object, na_value=None))

    def first_rows_and(self, frame: Any, count: int, marked: Any) -> Any:
        # To filter and to concatenate copies all columns, several times over.
        return frame.take(_rows_of(count, marked))

    def may_hold_nan(self, frame: Any, column: Any, opened: Frame, name: str) -> bool:  # noqa: ARG002
        dtype = column_of(frame, column).dtype
        return bool(pd.api.types.is_extension_array_dtype(dtype) and pd.api.types.is_float_dtype(dtype))

    @property
    def ids(self) -> IdColumns:
        return PandasIds()

    def scalar(self, frame: Frame) -> Any:
        value = frame.collect().item()
        return None if pd.isna(value) else value

    def drop_missing(self, frame: Frame, column: str) -> Frame:
        # Few frames lack scores, and leaving rows out copies all other rows.
        return super().drop_missing(frame, column) if frame.collect().to_native()[column].hasnans else frame

    def rank_rows(
        self, frame: Frame, keys: Sequence[str], score: str, upto: int | None, needed: Needed | None
    ) -> Frame:
        native = frame.collect().to_native()
        # Nullable integers become objects, which are not sorted here.
        ranked_rows = pandas_sort.rank_rows([native[key].to_numpy() for key in keys], native[score].to_numpy(), upto)
        if ranked_rows is None:
            return super().rank_rows(frame, keys, score, upto, needed)
        if needed is not None:
            rows = frame.select(needed.rows.alias(NEEDED)).collect().to_native()
            read = rows[NEEDED].to_numpy(dtype=bool)[ranked_rows.rows]
            read = read | (ranked_rows.start <= needed.upto) if needed.upto else read
            ranked_rows = pandas_sort.RankedRows(*(column[read] for column in ranked_rows))
        ranked = native.drop(columns=score).take(ranked_rows.rows).reset_index(drop=True)
        return lazy(ranked.assign(**{START: ranked_rows.start, SIZE: ranked_rows.size}))

    def number_rows(self, frame: Frame, keys: Sequence[str], column: str, **how: bool) -> Frame:
        native = frame.collect().to_native()
        numbered_rows = pandas_sort.numbered([native[key].to_numpy() for key in keys], native[column].to_numpy(), **how)
        if numbered_rows is None:
            return super().number_rows(frame, keys, column, **how)
        new = {POSITION: numbered_rows.start.astype(float)}
        if how.get("tied"):
            new[EQUAL] = numbered_rows.size.astype(float)
        return lazy(native.take(numbered_rows.rows).reset_index(drop=True).assign(**new))

    def sum_by(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        if not group:
            return super().sum_by(frame, group, columns)
        # Natively, because Narwhals would add many columns one by one.
        native = frame.collect().to_native()
        sums = native.groupby(list(group), dropna=False, sort=False, observed=True)[list(columns)].sum()
        return lazy(sums.copy().reset_index())  # a copy is one block, to which columns are added without a warning

    def sum_exactly(
        self, frame: Frame, group: Sequence[str], columns: Sequence[str], counted: Mapping[str, str] | None = None
    ) -> Frame:
        return lazy(pandas_sums.exact_sums(frame.collect().to_native(), group, columns, counted or {}))

    def in_order(
        self,
        frame: Frame,
        group: Sequence[str],
        columns: Sequence[str],
        *,
        is_ranked: bool = False,  # noqa: ARG002
    ) -> Frame:
        return lazy(frame.collect().to_native().sort_values([*group, *columns], kind="stable", ignore_index=True))

    def join(self, left: Frame, right: Frame, on: Sequence[str]) -> Frame:
        # Natively: Narwhals has no join in which a missing key equals a missing key.
        return lazy(left.collect().to_native().merge(right.collect().to_native(), on=list(on), how="left"))

    def repeat(self, frame: Frame, times: str) -> Frame:
        native = frame.collect().to_native()
        many = native[times].to_numpy(dtype="int64")
        copies = native.take(np.repeat(np.arange(len(native)), many)).reset_index(drop=True)
        copies[POSITION] = np.arange(len(copies)) - np.repeat(np.cumsum(many) - many, many) + 1
        return lazy(copies)

    def positions(self, upto: int | Frame) -> Frame:
        last = upto if isinstance(upto, int) else self.scalar(upto)
        return lazy(pd.DataFrame({POSITION: np.arange(1, int(last or 0) + 1)}))  # the largest of no rows is missing


def _rows_of(count: int, marked: nw.Series[Any]) -> Any:
    """Return the numbers of the first rows, and of the marked ones among the other rows."""
    return np.concatenate([np.arange(count), count + np.flatnonzero(marked.to_numpy())])


def _decoded(frame: pd.DataFrame, decoders: Mapping[str, Any]) -> pd.DataFrame:
    """Return a frame with the values of codes. The code -1, or a missing code, becomes a missing value."""
    for name, values in decoders.items():
        if name in frame.columns:
            codes = frame[name].fillna(-1).to_numpy(dtype="int64")
            column = pd.Series(values)
            column = kept_exact(column) if (codes < 0).any() else column
            frame = frame.assign(**{name: column.array.take(codes, allow_fill=True)})
    return frame


def polars_engine() -> type[EagerPolars] | None:
    """Return the faster engine, or None where polars is not installed."""
    try:
        from recframe._engines.polars import adapter as polars
    except ModuleNotFoundError as error:
        # If polars is installed but broken, raise: pandas alone would take ten times as long.
        if error.name != "polars":
            raise
        return None
    return polars.EagerPolars
