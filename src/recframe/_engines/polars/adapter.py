"""The engine for polars data frames, which also computes for lazy polars, Arrow and pandas frames."""

from __future__ import annotations

from contextvars import copy_context
from dataclasses import replace
from functools import partial, reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any, ClassVar, cast

import narwhals as nw
import polars as pl

from recframe._base.columns import POSITION, ROW, TIED
from recframe._engines.base import Engine, Session
from recframe._engines.column_errors import check_same_columns
from recframe._engines.column_spec import columns_of
from recframe._engines.polars import constructors as polars_constructors
from recframe._engines.polars import pack as polars_pack
from recframe._engines.polars import repeats as polars_repeats
from recframe._engines.polars import runs as polars_runs
from recframe._engines.polars import sort as polars_sort
from recframe._engines.polars import sums as polars_sums
from recframe._engines.polars.columns import EagerColumns
from recframe._engines.polars.compat import EXPLODE, FEW_ROWS, col, collect, collect_columns, series
from recframe._engines.polars.expressions import with_expressions
from recframe._engines.polars.frame import PolarsFrame, computed_rows, eager_rows, lazy, native
from recframe._engines.polars.rows import EagerRows
from recframe._engines.polars.threads import background_pool, can_wait
from recframe._engines.postponed import RERUN, is_dry
from recframe.errors import ColumnTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor, Future

    from recframe._base.columns import Addends, Frame
    from recframe._engines.base import Built, ExpressionCall, Later, Needed, PositionSpec, WithExpressions
    from recframe._engines.column_spec import Source
    from recframe._engines.constructors import Constructors
    from recframe._engines.ids import IdColumns
    from recframe._engines.rows import Rows

MOST_JOINED = 2**23
"""The most rows for which joins use the in-memory engine."""


class EagerPolars(Engine):
    """The engine for data frames. Plans are collected between steps."""

    eager = True
    pivot_example = "df.pivot(on={model!r}, index={index!r}, values={values!r})"
    answers_with_rows = True
    constructors: ClassVar[Constructors] = polars_constructors
    _is_small = False
    """Whether all frames of a call have few rows. Then a plan costs more than the computation, so steps are direct."""

    _sorts_in_plans = False
    """Whether rows are sorted within a plan, because they are few and no column holds lists or objects."""

    _joins_in_memory = False
    """Whether joins are collected immediately, by the in-memory engine."""

    @property
    def sums_at_once(self) -> bool:
        return self._is_small

    def names(self, frame: pl.DataFrame) -> list[Any]:
        return list(frame.columns)

    def checked(self, name: str, source: Source) -> Any:
        if (rerun := RERUN.get()) is not None:
            rerun.note(source)
        return super().checked(name, source)

    def opened_rows(self, frame: Frame) -> pl.DataFrame:
        return eager_rows(frame)

    def scalar(self, frame: Frame) -> Any:
        return self._collect(frame).item()

    def stack(self, frames: Sequence[Frame]) -> Frame:
        return lazy(pl.concat([frame.to_native() for frame in frames]))

    def sum_by(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        # Polars may split the groups of more than 1,000 rows, by a random sample and although the order is kept, and
        # add the parts, which changes last bits. It does not split an expression of a sum, which is faster too.
        sums = [col(column).sum() + 0 if self._is_small else col(column).sum() for column in columns]
        rows = frame.to_native()
        return lazy(rows.group_by(list(group), maintain_order=self._is_small).agg(sums) if group else rows.select(sums))

    def sum_separately(self, parts: Sequence[Addends], group: Sequence[str], columns: Sequence[str]) -> Frame | None:
        if self._is_small:
            return None
        # Each part is summed separately. Stacked parts would hold a 0 in every column of the other parts.
        sums = []
        added = {name: list[pl.Expr]() for name in columns}
        # A join copies the columns so far, so the widest part comes last.
        for number, part in enumerate(sorted(parts, key=lambda part: len(part.terms))):
            names = {name: f"{number} {name}" for name in part.terms}
            sums.append(self.sum_terms(part, group).to_native().rename(names))
            for name, alias in names.items():
                added[name].append(pl.col(alias).fill_null(0.0))
        return lazy(polars_sums.joined(sums, list(group), added))

    def join(self, left: Frame, right: Frame, on: Sequence[str]) -> Frame:
        # Joins of Narwhals do not have these options.
        joined = left.to_native().join(
            right.to_native(), on=list(on), how="left", maintain_order="left", nulls_equal=True
        )
        return lazy(collect_columns(joined) if self._joins_in_memory else joined)

    def repeat(self, frame: Frame, times: str) -> Frame:
        numbers = pl.int_ranges(1, pl.col(times) + 1).alias(POSITION)
        return lazy(frame.to_native().with_columns(numbers).explode(POSITION, **EXPLODE))

    def positions(self, upto: int | Frame) -> Frame:
        if isinstance(upto, int):
            return lazy(pl.LazyFrame({POSITION: range(1, upto + 1)}, schema={POSITION: pl.Int64}))
        last = pl.first().max().cast(pl.Int64).fill_null(0)
        return lazy(upto.to_native().select(pl.int_range(1, last + 1).alias(POSITION)))

    @classmethod
    def of_heights(cls, heights: Sequence[int], types: Collection[pl.DataType] = ()) -> EagerPolars:
        """Return the engine for frames with these numbers of rows.

        `types` are the types of their columns, because lists and objects cannot be sorted within a plan.
        """
        engine = cls()
        most = max(heights, default=0)
        engine._is_small = most <= FEW_ROWS
        sortable = not any(dtype.is_nested() or dtype == pl.Object for dtype in types)
        engine._sorts_in_plans = engine._is_small and sortable
        # Ordered joins take five times as long in the streaming engine on several cores, but less memory.
        engine._joins_in_memory = FEW_ROWS < most <= MOST_JOINED and pl.thread_pool_size() > 1
        return engine

    def _collect(self, frame: Frame) -> pl.DataFrame:
        rows = computed_rows(frame)
        if rows is not None:
            return rows
        return collect_columns(frame.to_native()) if self._is_small else collect(frame.to_native())

    def open_frames(self, sources: Mapping[str, Source], *, rows: Collection[str] = ()) -> Session:
        self.check_names(sources)
        if (rerun := RERUN.get()) is not None:
            rerun.note(*sources.values())
        columns = EagerColumns.read(sources, rows)
        types = {dtype for frame in columns.frames.values() for dtype in frame.dtypes}
        engine = EagerPolars.of_heights([frame.height for frame in columns.frames.values()], types)
        frames = {name: lazy(frame) for name, frame in columns.frames.items()}
        columns = replace(columns, frames={})  # so that only the session refers to the rows

        def finish(result: Frame, names: Mapping[str, str], sort: Sequence[str]) -> pl.DataFrame:
            decoded = columns.decoded(engine.collected(result).to_native(), sort)
            return decoded.rename(dict(names)) if names else decoded

        return Session(engine, frames, finish, columns_of(sources))

    def open_rows(self, sources: Mapping[str, Source], numbered: Sequence[str]) -> Rows:
        session = self.open_frames(sources, rows=numbered)
        rerun = RERUN.get()
        if rerun is not None:
            rerun.answered.add(id(sources["frame"].native))
        return EagerRows(sources, session.engine, session.frames, [ROW])

    def with_expressions(
        self, frame: Any, arguments: Mapping[str, Any], bound: Mapping[str, Any], asked: ExpressionCall
    ) -> WithExpressions:
        return with_expressions(frame, arguments, bound, asked)

    def stack_models(self, frames: Mapping[str, pl.DataFrame], model: str) -> pl.DataFrame:
        stacked: pl.DataFrame = stacked_models(frames, model)
        return stacked

    def items_frame(self, column: str, items: list[Any]) -> pl.DataFrame:
        return pl.DataFrame({column: items}, strict=False)

    @property
    def ids(self) -> IdColumns:
        from recframe._engines.polars.ids import PolarsIds  # needs NumPy, as factors do

        return PolarsIds()

    def lists_with_repeats(
        self, rows: pl.DataFrame, keys: Sequence[str], scores: Sequence[str], items: Any | None
    ) -> int | None:
        return polars_repeats.lists_with_repeats(rows, keys, scores, items)

    def values_to_compare(
        self, frame: pl.DataFrame, column: Any, count: int, marked: nw.Series[Any] | None
    ) -> pl.Series:
        values = series(frame, column)
        first = values.head(count)
        if marked is None:
            return first
        return pl.concat([first, values.slice(count, len(marked)).filter(marked.to_native())])

    def some_values(self, frame: pl.DataFrame, column: Any, rows: slice | Sequence[int]) -> list[Any]:
        # `slice` takes half of the time of square brackets, and so do row numbers as a series.
        values = series(frame, column)
        if isinstance(rows, slice):
            start = rows.start or 0
            values = values.slice(start, rows.stop - start)
        else:
            values = values[pl.Series(rows, dtype=pl.get_index_type())]
        listed: list[Any] = values.to_list()
        return listed

    def first_rows_and(self, frame: pl.DataFrame, count: int, marked: nw.Series[Any]) -> pl.DataFrame:
        # Narwhals would copy all rows of both parts.
        return pl.concat([frame.head(count), frame.slice(count).filter(marked.to_native())])

    def release(self, frames: Iterable[Frame], columns: Collection[str] | None = None) -> None:
        rerun = RERUN.get()
        for frame in cast("Iterable[PolarsFrame]", frames):
            frame.release(columns)
        # The session's columns share memory with the user's frame, so the user's columns are dropped too.
        for rows in [] if rerun is None else rerun.owned:
            for name in rows.columns:
                rows.drop_in_place(name)

    def frame_of(self, native: pl.DataFrame) -> Frame:
        return lazy(native)

    def computed(self, compute: Callable[[], Any], schema: Callable[[], pl.Schema]) -> Any:
        return pl.DataFrame(schema=schema()) if is_dry() else compute()

    def may_hold_nan(self, frame: pl.DataFrame, column: Any, opened: Frame, name: str) -> bool:
        missing = eager_rows(opened).get_column(name).null_count()
        return missing > 0 and missing > series(frame, column).null_count()

    def collect_once(self, frame: Frame) -> Frame:
        if computed_rows(frame) is not None:
            return frame
        rows = self._collect(frame)
        return cast("Frame", PolarsFrame(rows.lazy(), rows, is_untied=getattr(frame, "is_untied", False)))

    def is_untied(self, ranked: Frame) -> bool:
        return getattr(ranked, "is_untied", False) or super().is_untied(ranked)

    def collected(self, frame: Frame) -> nw.DataFrame[Any]:
        return nw.from_native(self._collect(frame), eager_only=True)

    def sum_exactly(
        self, frame: Frame, group: Sequence[str], columns: Sequence[str], counted: Mapping[str, str] | None = None
    ) -> Frame:
        return lazy(polars_sums.exact_sums(self._collect(frame), group, columns, counted or {}))

    def sum_in_order(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        if self._is_small:
            return self.sum_by(frame, group, columns)
        return lazy(polars_runs.sums_in_order(self._collect(frame), group, {name: col(name) for name in columns}))

    def sum_terms(self, part: Addends, group: Sequence[str]) -> Frame:
        if self._is_small or not part.upto:
            return super().sum_terms(part, group)
        rows = self._collect(part.frame)
        terms = {name: native(term) for name, term in part.terms.items()}
        return lazy(polars_runs.sums_in_order(rows, group, terms, part.order, part.upto))

    def sum_disordered(self, frame: Frame, group: Sequence[str], columns: Sequence[str], least: Sequence[str]) -> Frame:
        return lazy(polars_sums.exact_sums(self._collect(frame), group, columns, {}, least))

    def in_order(self, frame: Frame, group: Sequence[str], columns: Sequence[str], *, is_ranked: bool = False) -> Frame:
        if is_ranked and getattr(frame, "is_untied", False):
            return frame
        if self._is_small:
            # A sort is enough, because the rows of a group are then added in their order.
            return lazy(frame.to_native().sort([*group, *columns], nulls_last=True))
        block = [*group, columns[0]]
        tied = columns[1:]
        return lazy(polars_runs.ordered_ties(self._collect(frame), block, tied)) if tied else frame

    def look_up(self, rows: Frame, table: Frame, column: str, suffix: str = "_right") -> Frame:
        if self._is_small:
            return super().look_up(rows, table, column, suffix)
        # Values are gathered by position, which takes a quarter of the time of a join.
        left = self._collect(rows)
        values = self._collect(table).drop(POSITION)
        index = left.get_column(column).cast(pl.Int64)
        index = (index - 1).set(index < 1, None)
        names = {name: name + suffix if name in left.columns else name for name in values.columns}
        return lazy(left.hstack(values.select(pl.all().gather(index)).rename(names)))

    def ratios(self, frame: Frame, columns: Sequence[str], sides: Mapping[str, tuple[str, str]]) -> Frame:
        rows = computed_rows(frame)
        if rows is None or rows.height != 1:
            return super().ratios(frame, columns, sides)
        # For a single row, a plan would cost more than the computation.
        row = rows.row(0, named=True)
        ratios = dict[str, float | None]()
        for name, (above, below) in sides.items():
            total = row[above]
            weight = row[below]
            ratios[name] = None if total is None or weight is None or weight <= 0 else total / weight
        divided = pl.DataFrame([ratios], schema=dict.fromkeys(ratios, pl.Float64))
        if list(columns) == divided.columns:
            return lazy(divided)
        return lazy(pl.DataFrame([series(divided if name in ratios else rows, name) for name in columns]))

    def count_shared(self, left: Frame, right: Frame, keys: Sequence[str]) -> tuple[int, int, int] | None:
        frames = (left, right)
        rows = [eager_rows(frame.select(*keys) if computed_rows(frame) is None else frame) for frame in frames]
        return polars_sums.count_shared(rows, keys, [getattr(frame, "facts", {}) for frame in frames])

    def distinct(self, frame: Frame, keys: Sequence[str]) -> Frame:
        # Many integers are counted or sorted in a tenth to a third of the time of `unique`.
        rows = None if self._is_small else polars_sums.distinct(eager_rows(frame.select(*keys)), keys)
        return frame.select(*keys).unique() if rows is None else lazy(rows)

    def count_rows(self, frame: Frame, keys: Sequence[str], name: str, values: Mapping[str, str]) -> Frame:
        counts = None
        if not self._is_small:
            counts = polars_sums.count_rows(eager_rows(frame.select(*keys, *values.values())), keys, name, values)
        return super().count_rows(frame, keys, name, values) if counts is None else lazy(counts)

    def sums_before(self, frame: Frame, columns: Mapping[str, str], keys: Sequence[str], order: str) -> Frame:
        if self._is_small:
            return super().sums_before(frame, columns, keys, order)
        return lazy(polars_sums.sums_before(self._collect(frame), columns, keys, order))

    @property
    def _has_threads(self) -> bool:
        """Whether work in background threads is faster."""
        return not self._is_small and pl.thread_pool_size() > 1 and can_wait()

    def submit(self, build: Later) -> Later:
        # A postponed call runs its steps one after the other, which needs less memory.
        if not self._has_threads or RERUN.get() is not None:
            return super().submit(build)
        # A background thread helps, because the sort and plans of few rows use only one core.
        pool = background_pool(1)
        frame = _submit(pool, build)
        pool.shutdown(wait=False)
        return frame.result

    def prefetch(self, builds: Sequence[Callable[[], Built]]) -> Iterator[Built]:
        if not self._has_threads:
            yield from super().prefetch(builds)
            return
        # The next model is sorted while the sums of the current one are computed.
        with background_pool(1) as pool:
            coming = _submit(pool, builds[0])
            for build in builds[1:]:
                current = coming.result()
                coming = _submit(pool, build)
                yield current
            yield coming.result()

    def extremes(self, frame: Frame, column: str) -> tuple[float, float]:
        # Read the column directly, because a plan would cost more.
        numbers: Any = eager_rows(frame.select(column) if computed_rows(frame) is None else frame).get_column(column)
        facts = getattr(frame, "facts", {}).setdefault(column, [])
        if not facts and (numbers.dtype.is_integer() or (not self._is_small and polars_pack.may_be_integers(numbers))):
            facts[:] = polars_pack.facts(numbers, numbers.dtype)
        least, most = facts[:2] or (numbers.min(), numbers.max())
        return float(least or 0), float(most or 0)

    def most_groups(self, frame: Frame, keys: Sequence[str]) -> int | None:
        rows = computed_rows(frame)
        # The facts are kept for the sort.
        if rows is None:
            return None
        lists, _ = polars_pack.digits_of(rows, keys, [], getattr(frame, "facts", {}))
        return None if lists is None else lists.many

    def rows_like(self, frame: Frame, keys: Sequence[str], rows: Sequence[int], most: int) -> list[int] | None:
        columns = [*map(eager_rows(frame).get_column, keys)]
        # `is_in` and `arg_true` of a series would make plans.
        is_like = reduce(and_, (reduce(or_, (column == column.slice(row, 1) for row in rows)) for column in columns))
        if is_like.sum() > most:
            return None
        numbers: list[int] = pl.int_range(len(is_like), eager=True).filter(is_like).to_list()
        return numbers

    def may_hold(self, frame: Frame, condition: nw.Expr) -> bool:
        any_row = frame.to_native().select(native(condition).any())
        return bool(collect(any_row, few=self._is_small or computed_rows(frame) is not None).item())

    def drop_missing(self, frame: Frame, column: str) -> Frame:
        rows = eager_rows(frame)
        if rows.get_column(column).null_count():
            return super().drop_missing(frame, column)
        # Keep the eager rows, so that the next step need not collect them again.
        return frame if getattr(frame, "rows", None) is rows else lazy(rows)

    def rank_rows(
        self, frame: Frame, keys: Sequence[str], score: str, upto: int | None, needed: Needed | None
    ) -> Frame:
        rows = eager_rows(frame)
        mark = polars_sort.Mark.of(needed)
        ranked = polars_sort.rank_rows(rows, keys, score, upto, mark, getattr(frame, "facts", {}))
        if not self._is_small:
            return lazy(collect_columns(ranked.rows))
        # Rows with the column TIED tie with rows that the frame leaves out.
        is_untied = ranked.is_untied and TIED not in rows.columns
        return cast("Frame", PolarsFrame(ranked.rows, is_untied=is_untied))

    def with_positions(self, frame: Frame, specs: Mapping[str, PositionSpec], *, first: bool = False) -> Frame:
        rows = eager_rows(frame)
        # Each sort uses only one core, so several run at the same time.
        with background_pool() as pool:
            coming = {
                name: _submit(pool, partial(polars_sort.positions_by_score, rows, group, score, first=first))
                for name, (group, score) in specs.items()
            }
        return lazy(rows.with_columns(each.result().alias(name) for name, each in coming.items()))

    def number_hits(self, hits: Frame, keys: Sequence[str], start: str) -> Frame:
        if not getattr(hits, "is_untied", False):
            return super().number_hits(hits, keys, start)
        rows = hits.to_native().with_columns(polars_sort.number_of_value(keys, start).alias(POSITION))
        return cast("Frame", PolarsFrame(rows, is_untied=True))

    def number_rows(
        self, frame: Frame, keys: Sequence[str], column: str, *, descending: bool, tied: bool = False
    ) -> Frame:
        if self._sorts_in_plans and not tied:
            return lazy(polars_sort.number_few_rows(frame.to_native(), keys, column, descending=descending))
        numbered = polars_sort.number_rows(self._collect(frame), keys, column, descending=descending, tied=tied)
        return lazy(numbered if self._is_small else collect_columns(numbered))


def _submit(pool: Executor, build: Callable[[], Built]) -> Future[Built]:
    """Start building something in another thread, with the caller's context variables, such as `Config`."""
    return pool.submit(copy_context().run, build)


def stacked_models(frames: Mapping[str, Any], model: str) -> Any:
    """Return the rows of several models' frames, all eager or all lazy, with the model's name in the column `model`."""
    schemas = {name: frame.collect_schema() for name, frame in frames.items()}
    check_same_columns(schemas, model)
    first, *others = schemas.values()
    named = [frame.select(*first, pl.lit(name).alias(model)) for name, frame in frames.items()]
    differing = [name for name in first if any(not _are_comparable(first[name], other[name]) for other in others)]
    if differing:
        types = " and ".join(dict.fromkeys(str(schema[differing[0]]) for schema in schemas.values()))
        msg = f"the column {differing[0]!r} of the models' frames is {types}"
        raise ColumnTypeError(msg, "give it one type in all frames")
    return pl.concat(named, how="vertical_relaxed")


def _are_comparable(left: pl.DataType, right: pl.DataType) -> bool:
    """Return whether columns of two types can be concatenated without changing their values."""
    return left == right or pl.Null in (left, right) or (left.is_numeric() and right.is_numeric())
