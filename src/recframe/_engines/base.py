"""What each library provides for the plan: an adapter that opens its frames, and an engine that computes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from importlib.util import find_spec
from operator import and_
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import narwhals as nw

from recframe._base.columns import COUNT, EQUAL, POSITION, SIZE, START
from recframe._engines.column_errors import missing_columns
from recframe.errors import InputError, OptionTypeError, check_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from recframe._base.columns import Addends, Frame
    from recframe._engines.column_spec import Source
    from recframe._engines.constructors import Constructors
    from recframe._engines.ids import IdColumns
    from recframe.errors import RecError


Built = TypeVar("Built")
Later: TypeAlias = "Callable[[], Frame]"
"""Waits for a frame that may be built in the background, and returns it."""
PositionSpec: TypeAlias = "tuple[Sequence[str], str]"
"""The group keys, and the score to rank by within each group."""


class Needed(NamedTuple):
    """The rows of lists that metrics read."""

    rows: nw.Expr
    """An expression that selects rows, whatever their position."""
    upto: int
    """All rows up to this position."""
    recomputed: tuple[nw.Expr, ...] = ()
    """Columns that a database computes again from other columns after the rows are ranked, so they need no sort."""


# Constant expressions are converted once and reused.
_ROWS = nw.len()
_COUNT = nw.len().alias(COUNT)
_IS_SEVERAL = nw.col(COUNT) > 1


class ExpressionCall(NamedTuple):
    """What an adapter needs to know about a call whose arguments may be expressions."""

    name: str
    """The name of the call; empty for a metric, an accessor or a chart."""
    roles: frozenset[str]
    """The arguments that name columns, for which an expression may stand."""
    accepted: Sequence[str]
    """The arguments that the call accepts, including frames of judgments."""


class WithExpressions(NamedTuple):
    """A frame with a column for each expression among the arguments of a call."""

    frame: Any
    arguments: Mapping[str, Any]
    """The arguments, which name these columns in place of the expressions."""
    dropped: list[str]
    """The columns to drop from a result that has the frame's columns."""


class Adapter(ABC):
    """The frames of a library: how to read them, and how to answer in kind.

    An adapter is made for the frame that a call starts from; `registry.adapter_of` finds its class.

    Attributes
    ----------
    eager : bool
        Whether the frames hold their rows, so that results are values. Results of lazy frames are frames.
    postpones : bool
        Whether a call checks its arguments only, and is made again with data frames when its result is collected.
    remedy : str
        What to do for calls that do not accept such frames.
    answers_with_rows : bool
        Whether calls that return the user's own rows accept such frames.
    any_label : bool
        Whether the labels of columns may be other objects than text.
    writes_sql : bool
        Whether each step of a plan is a SELECT, which the database computes again for each step that reads it.
    join_example : str
        How the library joins a frame of users, as a format string with the key, for hints.
    pivot_example : str
        How the library pivots models in rows to columns, as a format string, for hints; empty: hints do not show it.
    reads_parts : bool
        Whether ``partitions=`` reads the lists in parts.
    instead_of_parts : str
        What to do instead of ``partitions=``, if it is not supported.
    constructors : Constructors
        The functions that make frames from lists and values, if the library has them.
    """

    eager: ClassVar[bool]
    postpones: ClassVar[bool] = False
    remedy: ClassVar[str] = ""
    answers_with_rows: ClassVar[bool] = False
    any_label: ClassVar[bool] = False
    writes_sql: ClassVar[bool] = False
    join_example: ClassVar[str] = "df.join(users, {!r})"
    pivot_example: ClassVar[str] = ""
    reads_parts: ClassVar[bool] = False
    instead_of_parts: ClassVar[str] = "the frame is in memory already"
    constructors: ClassVar[Constructors]

    def __init__(self, frame: Any = None) -> None:
        self._frame = frame

    def postpone(
        self,
        function: Callable[..., Any],
        *args: Any,
        results: int = 1,  # noqa: ARG002
        validate: bool = False,  # noqa: ARG002
        text_of: Callable[[tuple[Any, ...]], str | None] | None = None,  # noqa: ARG002
        **keywords: Any,
    ) -> Any:
        """Return the result of a function, or lazy frames that call the function when they are collected.

        Parameters
        ----------
        function : callable
            A function that can be pickled, so that lazy frames can be stored.
        *args, **keywords
            Its arguments, with frames among them, or among the values of tuples and dicts.
        results : int
            How many frames it returns.
        validate : bool
            Whether to check the columns of lazy frames now.
        text_of : callable, optional
            Returns a text that only equal arguments share, so that the columns of equal calls are found only once.
        """
        return function(*args, **keywords)

    def made_now(self, function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
        """Return the result of a function. The columns that it reads from lazy frames are collected now."""
        return function(*args, **keywords)

    @property
    def knows_order(self) -> bool:
        """Whether the rows of frames have an order when they are evaluated."""
        return self.eager or self.postpones

    @abstractmethod
    def names(self, frame: Any) -> list[Any]:
        """Return the names of a frame's columns, and of the levels of its index if it has one."""

    def as_narwhals(self, frame: Any) -> Any:
        """Return a frame as Narwhals reads it."""
        try:
            return nw.from_native(frame)
        except nw.exceptions.DuplicateError as error:
            raise InputError(str(error), "rename or drop one of them") from error

    def as_result(self, frame: Any) -> Any:
        """Return a result as Narwhals reads it, with the levels of its index as columns if it has one."""
        return self.as_narwhals(frame)

    @abstractmethod
    def open_frames(self, sources: Mapping[str, Source], *, rows: Collection[str] = ()) -> Session:
        """Return a session with the needed columns of frames, or raise for them; see `registry.open_frames`."""

    def some_values(self, frame: Any, column: Any, rows: slice | Sequence[int]) -> list[Any]:
        """Return the values that an eager frame's column has in some rows, missing ones as None or NaN."""
        columns = self.as_narwhals(frame)
        values: list[Any] = columns[rows, columns.columns.index(column)].to_list()
        return values

    def first_rows_and(self, frame: Any, count: int, marked: nw.Series[Any]) -> Any:
        """Return the first rows of an eager frame, and the marked ones among the other rows."""
        rows = self.as_narwhals(frame)
        # Slices, because `head` and `tail` of pandas copy.
        return nw.concat([rows[:count], rows[count:].filter(marked)], how="vertical").to_native()

    def values_to_compare(self, frame: Any, column: Any, count: int, marked: nw.Series[Any] | None) -> Any | None:  # noqa: ARG002
        """Return an eager frame's column in its first rows and the marked ones after them, to compare its values.

        `marked` may end before the frame does. `Engine.lists_with_repeats` reads the result.

        Other values may stand for the column's values if they are equal in the same rows. None: the values cannot be
        compared.
        """
        return None

    def may_hold_nan(self, frame: Any, column: Any, opened: Frame, name: str) -> bool:  # noqa: ARG002
        """Return whether a column of an eager frame may hold NaN that is not missing, judged by its sum, which is fast.

        `opened` is the frame under the plan's names, where NaN has become missing, and `name` the column in it.
        """
        rows = self.as_narwhals(frame)
        values = rows[:, rows.columns.index(column)]
        return bool(values.dtype.is_float() and math.isnan(values.sum() or 0.0))

    def number_columns(self, frame: Any) -> list[Any]:
        """Return the columns that hold numbers, or true and false."""
        schema = self.as_narwhals(frame).collect_schema().items()
        return [name for name, dtype in schema if dtype.is_numeric() or dtype == nw.Boolean]

    @abstractmethod
    def items_frame(self, column: str, items: list[Any]) -> Any:
        """Return a frame of one column that holds the given items."""

    def side_frame(self, other: Any) -> Any:
        """Return a further frame of a call, converted to the kind of the first frame if that costs nothing."""
        return other

    def with_expressions(
        self,
        frame: Any,
        arguments: Mapping[str, Any],
        bound: Mapping[str, Any],  # noqa: ARG002
        asked: ExpressionCall,  # noqa: ARG002
    ) -> WithExpressions:
        """Return the frame of a call with a column for each expression among the arguments."""
        return WithExpressions(frame, arguments, [])

    def stack_models(self, frames: Mapping[str, Any], model: str) -> Any:  # noqa: ARG002
        """Return the rows of the frames of several models, with the model's name in the column `model`."""
        msg = f"a frame for each model is read in memory, but these are {type(self).__name__} frames"
        raise OptionTypeError(msg, "stack them with UNION ALL and a column of the model's name, and give `model=`")

    def spread_arrays(
        self,
        frame: Any,  # noqa: ARG002
        item: str,  # noqa: ARG002
        column: str,
        names: Sequence[str],  # noqa: ARG002
    ) -> Any:
        """Return a lazy frame of the item with a column for each position of an array column; raise without names."""
        msg = f"features[{column!r}] holds lists, and a lazy frame does not say how long they are"
        raise OptionTypeError(msg, "give one column per feature, or an eager frame")

    def open_rows(self, sources: Mapping[str, Source], numbered: Sequence[str]) -> Any:
        """Open frames for a call that returns the user's own rows, as `Rows`; see `registry.open_rows`."""
        raise NotImplementedError

    @property
    def ids(self) -> IdColumns:
        """The object that looks up ids in columns."""
        raise NotImplementedError

    def check_names(self, sources: Mapping[str, Source]) -> None:
        """Raise one error for all columns that frames lack."""
        names = {name: self.names(source.native) for name, source in sources.items()}
        error = missing_columns(sources, names, self.join_example)
        if error is not None:
            raise error

    def checked(self, name: str, source: Source) -> Any:
        """Return a frame, or raise if it lacks a column."""
        self.check_names({name: source})
        return source.native

    def checked_later(self, name: str, source: Source) -> Any:
        """Return a frame, or raise if it lacks a column; a lazy polars frame raises when it is collected."""
        return self.checked(name, source)


class Engine(Adapter):
    """An adapter of a library that computes: what the plan needs in addition to Narwhals expressions.

    Methods with a body are defaults, which an engine overrides if it has a faster way.
    """

    averages_at_once: ClassVar[bool] = False
    """Whether the mean over lists is computed in one step, if nothing else reads the sums."""

    @property
    def sums_at_once(self) -> bool:
        """Whether a step that sums stacked rows takes less time than a step for each part."""
        return self.writes_sql

    def collect_once(self, frame: Frame) -> Frame:
        """Compute a frame once for all steps that read it: an eager frame now, a lazy one when it runs, if possible."""
        return frame

    def submit(self, build: Later) -> Later:
        """Start building a frame in a background thread where supported; call the result to wait for it."""
        return cache(build)

    def prefetch(self, builds: Sequence[Callable[[], Built]]) -> Iterator[Built]:
        """Yield what each function builds, the next one in a background thread where supported."""
        return (build() for build in builds)

    def opened_rows(self, frame: Frame) -> Any:
        """Return the rows of an opened eager frame, as a frame of the engine's own library."""
        return frame.collect().to_native()

    def scalar(self, frame: Frame) -> Any:
        """Return the value of an eager frame with one row and one column, None if it is missing."""
        raise NotImplementedError

    def lists_with_repeats(
        self,
        rows: Any,  # noqa: ARG002
        keys: Sequence[str],  # noqa: ARG002
        scores: Sequence[str],  # noqa: ARG002
        items: Any | None,  # noqa: ARG002
    ) -> int | None:
        """Return how many lists repeat an item, or None if another check has to find out.

        The result is None too if one of the scores may order no list, because all rows of each list tie.

        Parameters
        ----------
        rows : frame
            A few rows of an opened frame, in the engine's own library.
        keys, scores : list of str
            The columns of the list's key and of the scores.
        items : array or series, optional
            The items of the rows, as `Adapter.values_to_compare` returns them; None: only scores are checked.
        """
        return None

    def extremes(self, frame: Frame, column: str) -> tuple[float, float]:
        """Return the least and the greatest number of a column of an eager frame, 0 and 0 if it has none."""
        number = nw.col(column).cast(nw.Float64()).fill_nan(None)
        ends = frame.select(least=number.min(), greatest=number.max()).collect().row(0)
        return float(ends[0] or 0), float(ends[1] or 0)

    def most_groups(self, frame: Frame, keys: Sequence[str]) -> int | None:  # noqa: ARG002
        """Return an upper bound of the number of groups in an eager frame, or None if the engine has none at once."""
        return None

    def rows_like(self, frame: Frame, keys: Sequence[str], rows: Sequence[int], most: int) -> list[int] | None:
        """Return the numbers of the rows whose keys, column by column, occur in some rows; None if more than `most`."""
        columns = self.collected(frame.select(*keys)).iter_columns()
        is_like = reduce(and_, (column.is_in(column[list(rows)].to_list()) for column in columns))
        return is_like.arg_true().to_list() if is_like.sum() <= most else None

    def value_now(self, frame: Frame) -> Any:
        """Return the `scalar` of an eager frame, and None for a lazy frame, whose rows are not read."""
        return self.scalar(frame) if self.eager else None

    def may_hold(self, frame: Frame, condition: nw.Expr) -> bool:
        """Return whether a row meets a condition. For a lazy frame, whose rows are not read, the answer is True."""
        return not self.eager or self.scalar(frame.filter(condition).select(nw.len())) > 0

    def narrow(self, frame: Frame, columns: Sequence[str]) -> Frame:
        """Return these columns of a frame. Further columns may stay if they cost nothing."""
        return frame.select(*columns)

    def drop_missing(self, frame: Frame, column: str) -> Frame:
        """Return the rows whose value in the column is not missing."""
        return frame.filter(~nw.col(column).is_null())

    def rank_rows(
        self,
        frame: Frame,
        keys: Sequence[str],
        score: str,
        upto: int | None,
        needed: Needed | None,  # noqa: ARG002
    ) -> Frame:
        """Return the rows whose tied blocks start among the first `upto`, with the start and the size of the block.

        With `needed`, other rows may be left out, and so may the score.
        """
        return ranked_by_windows(frame, keys, score, upto)

    def is_untied(self, ranked: Frame) -> bool:
        """Return whether no rows of ranked lists tie. For lazy frames, whose rows are not read, the answer is no."""
        return self.eager and self.extremes(ranked, SIZE)[1] <= 1

    def number_rows(
        self, frame: Frame, keys: Sequence[str], column: str, *, descending: bool, tied: bool = False
    ) -> Frame:
        """Add each row's position in its list by a column, as a float. Rows with equal values are in any order.

        With `tied`, equal values get the position of the first of them, and the column `EQUAL` counts them.
        """
        return numbered_by_windows(frame, keys, column, descending=descending, tied=tied)

    def number_hits(self, hits: Frame, keys: Sequence[str], start: str) -> Frame:
        """Add the position of each hit among the hits of its list, as `number_rows` does, if no rows tie.

        The column `start` holds the positions of hits, and is missing in other rows.
        """
        return self.number_rows(hits, keys, start, descending=False)

    def with_positions(self, frame: Frame, specs: Mapping[str, PositionSpec], *, first: bool = False) -> Frame:
        """Add columns with the position of each row in its group by a score.

        Tied rows get their mean position, or with `first` their first position.
        """
        how: Any = "min" if first else "average"
        ranks = {name: nw.col(score).rank(how, descending=True).over(*group) for name, (group, score) in specs.items()}
        return frame.with_columns(**{name: rank.cast(nw.Float64()) for name, rank in ranks.items()})

    def one_value(self, rows: Frame, keys: Sequence[str], column: str, error: RecError) -> Frame:
        """Return the only known value of a column in each group, or raise if a group has several values.

        In SQL, the query raises when it runs.
        """
        values = self.collect_once(known_values(rows, keys, column))
        several = values.group_by(*keys).agg(_COUNT).filter(_IS_SEVERAL)
        if self.scalar(several.select(_ROWS)):
            raise error
        return values

    def stack(self, frames: Sequence[Frame]) -> Frame:
        """Return the rows of frames of the same columns."""
        return nw.concat(list(frames), how="vertical")

    def sum_by(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        """Return the sums of columns in each group, or over all rows."""
        sums = [nw.col(column).sum() for column in columns]
        return frame.group_by(*group).agg(*sums) if group else frame.select(*sums)

    def sum_exactly(
        self, frame: Frame, group: Sequence[str], columns: Sequence[str], counted: Mapping[str, str] | None = None
    ) -> Frame:
        """Return the sums of columns in each group, or over all rows: the same in any order if the engine can.

        `counted` maps the name of each count to the column, one of `columns`, whose values it counts.
        """
        counts = {name: (~nw.col(column).is_null()).cast(nw.Float64()) for name, column in (counted or {}).items()}
        return self.sum_by(frame.with_columns(**counts) if counts else frame, group, [*columns, *counts])

    def sum_in_order(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        """Return the sums of columns in each group, added in the order of the rows if the engine keeps an order."""
        return self.sum_by(frame, group, columns)

    def sum_disordered(self, frame: Frame, group: Sequence[str], columns: Sequence[str], least: Sequence[str]) -> Frame:
        """Return the sums of columns in each group, whose rows come in any order, and the least values of others."""
        values = [nw.col(*columns).sum(), *([nw.col(*least).min()] if least else [])]
        return self.in_order(frame, group, columns).group_by(*group).agg(*values)

    def in_order(
        self,
        frame: Frame,
        group: Sequence[str],  # noqa: ARG002
        columns: Sequence[str],  # noqa: ARG002
        *,
        is_ranked: bool = False,  # noqa: ARG002
    ) -> Frame:
        """Return the rows of each group sorted by columns, if the order decides the last bits of their sums.

        With `is_ranked`, rows that were ranked without ties are in this order already, if the engine keeps it.
        """
        return frame

    def sum_terms(self, part: Addends, group: Sequence[str]) -> Frame:
        """Return the sums of a part's terms in each group, or the distinct groups if it has no terms.

        If each group has one row, its terms are returned as they are.
        """
        rows = part.frame.select(*group, *part.terms.values())
        if part.one_row_each:
            return rows
        add = self.sum_in_order if part.order else self.sum_exactly
        return add(rows, group, list(part.terms)) if part.terms else rows.unique()

    def sum_separately(self, parts: Sequence[Addends], group: Sequence[str], columns: Sequence[str]) -> Frame | None:  # noqa: ARG002
        """Return the sums of each group over parts that are summed separately; None to sum all parts together."""
        return None

    def count_shared(
        self,
        left: Frame,  # noqa: ARG002
        right: Frame,  # noqa: ARG002
        keys: Sequence[str],  # noqa: ARG002
    ) -> tuple[int, int, int] | None:
        """Return how many keys two frames have, and how many they share, where the engine counts them fast.

        The numbers are of the left frame, shared, and of the right frame.
        """
        return None

    def distinct(self, frame: Frame, keys: Sequence[str]) -> Frame:
        """Return the distinct keys of rows."""
        return frame.select(*keys).unique()

    def count_rows(self, frame: Frame, keys: Sequence[str], name: str, values: Mapping[str, str]) -> Frame:
        """Return how many rows each group has, and by other names how many have a value in a column."""
        counts = (nw.col(column).count().alias(other) for other, column in values.items())
        return frame.group_by(*keys).agg(nw.len().alias(name), *counts)

    def sums_before(self, frame: Frame, columns: Mapping[str, str], keys: Sequence[str], order: str) -> Frame:
        """Add the sums of columns, by the names of the sums, over the rows of a group that come before each row."""
        sums = (_sum_before(name, column, (*keys,), order) for name, column in columns.items())
        return frame.with_columns(*sums)

    def ratios(self, frame: Frame, columns: Sequence[str], sides: Mapping[str, tuple[str, str]]) -> Frame:
        """Return columns of a frame. A column in `sides` is a quotient, missing if the divisor is not above 0."""
        return frame.select(*(_ratio(name, *sides[name]) if name in sides else name for name in columns))

    @abstractmethod
    def join(self, left: Frame, right: Frame, on: Sequence[str]) -> Frame:
        """Return all rows of the left frame, with the right frame's columns by equal keys. Missing keys are equal."""

    @abstractmethod
    def repeat(self, frame: Frame, times: str) -> Frame:
        """Repeat each row as often as a column says, at least once, and number its copies from 1 in `POSITION`."""

    def holds_long_queries(self, frame: Frame) -> bool:  # noqa: ARG002
        """Return whether a plan of some hundred columns that read each other can be computed."""
        return True

    def look_up(self, rows: Frame, table: Frame, column: str, suffix: str = "_right") -> Frame:
        """Add the columns of a table of positions, looked up by the position in a column; missing if it has no row."""
        return rows.join(table, left_on=column, right_on=POSITION, how="left", suffix=suffix)

    @abstractmethod
    def positions(self, upto: int | Frame) -> Frame:
        """Return a frame whose column `POSITION` has the integers from 1 to a number, or to a frame's only value."""

    def collected(self, frame: Frame) -> nw.DataFrame[Any]:
        """Return the rows of a frame, as an eager frame of a library that is installed."""
        return frame.collect()

    def in_kind(self, frame: nw.DataFrame[Any]) -> Any:
        """Return collected rows as a frame of the engine's own library."""
        return frame.to_native()

    def release(self, frames: Iterable[Frame], columns: Collection[str] | None = None) -> None:
        """Free the rows of frames, or some columns, because nothing reads them anymore.

        A postponed call releases all of its rows at once, because nothing else refers to them.
        """

    def frame_of(self, native: Any) -> Frame:
        """Return a frame of the engine's own library as a frame of the plan."""
        return lazy(native)

    def computed(self, compute: Callable[[], Any], schema: Callable[[], Any]) -> Any:  # noqa: ARG002
        """Return the result of a function for eager frames; None for frames of a database, which cannot hold it.

        If frames have no rows, only the columns of the answer matter: then return an empty frame with the schema.
        """
        return compute() if self.eager else None


@dataclass(frozen=True)
class Session:
    """The opened frames of a call, with the engine that computes them and the way back to the user's names."""

    engine: Engine
    frames: Mapping[str, Frame]
    finish: Callable[[Frame, Mapping[str, str], Sequence[str]], Any]
    """Returns a result as a frame of the user's kind, from its new column names and the columns to sort by."""
    columns: Mapping[str, Mapping[str, str]]
    """The columns that were read from each frame: the user's names by the plan's names."""


@lru_cache(4096)
def _sum_before(name: str, column: str, keys: tuple[str, ...], order: str) -> nw.Expr:
    """Return the sum of a column over the rows of a group that come before each row."""
    value = nw.col(column)
    return (value.cum_sum().over(*keys, order_by=order) - value).alias(name)


@lru_cache(4096)
def _ratio(name: str, above: str, below: str) -> nw.Expr:
    """Return a quotient of two columns, missing if the divisor is not above 0."""
    return nw.when(nw.col(below) > 0).then(nw.col(above) / nw.col(below)).alias(name)


def known_values(rows: Frame, keys: Sequence[str], column: str) -> Frame:
    """Return the distinct values of a column in each group, without missing ones."""
    return rows.select(*keys, column).filter(_is_known(column)).unique()


@lru_cache(4096)
def _is_known(column: str) -> nw.Expr:
    """Return whether a column is not missing."""
    return ~nw.col(column).is_null()


def ranked_by_windows(frame: Frame, keys: Sequence[str], score: str, upto: int | None) -> Frame:
    """Return the rows whose tied blocks start among the first `upto`, with the start and the size of the block."""
    rows = frame.with_columns(nw.col(score).rank("min", descending=True).over(*keys).alias(START))
    rows = rows if upto is None else rows.filter(nw.col(START) <= upto)
    return rows.with_columns(nw.col(START).cast(nw.Int64()), sizes(keys))


def numbered_by_windows(frame: Frame, keys: Sequence[str], column: str, *, descending: bool, tied: bool) -> Frame:
    """Return rows with the columns that `Engine.number_rows` adds."""
    # In short lists polars finds ordinal ranks in half the time of others.
    new = {POSITION: nw.col(column).rank("min" if tied else "ordinal", descending=descending).over(*keys)}
    new |= {EQUAL: nw.len().over(*keys, column)} if tied else {}
    return frame.with_columns(*(number.cast(nw.Float64()).alias(name) for name, number in new.items()))


def sizes(keys: Sequence[str]) -> nw.Expr:
    """Return how many rows each row's tied block has."""
    return nw.len().over(*keys, START).cast(nw.Int64()).alias(SIZE)


def fetched(frame: Frame) -> nw.DataFrame[Any]:
    """Return the rows of a frame in a database. PyArrow transfers them, to polars too."""
    check_packages("rows of a database", "arrow", "pyarrow")
    return frame.collect(backend="polars" if find_spec("polars") else "pyarrow")


def values_of(column: nw.Series[Any]) -> list[Any]:
    """Return the values of a column, None for missing values and for NaN, which pandas uses for missing values."""
    rows = zip(column.to_list(), column.is_null().to_list(), strict=True)
    # Only NaN differs from itself.
    return [None if missing or value != value else value for value, missing in rows]  # noqa: PLR0124


def lazy(native: Any) -> Frame:
    """Return the Narwhals lazy frame of any supported frame."""
    frame: Frame = nw.from_native(native).lazy()
    return frame
