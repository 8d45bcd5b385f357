"""The adapter for polars lazy frames: a call runs on data frames when its result is collected."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import xor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import narwhals as nw
import polars as pl
from polars.io import plugins

from recframe._engines.base import Adapter
from recframe._engines.column_spec import Source
from recframe._engines.polars import constructors as polars_constructors
from recframe._engines.polars.adapter import EagerPolars, stacked_models
from recframe._engines.polars.compat import KNOWS_SCHEMA_LATER, col
from recframe._engines.polars.expressions import with_expressions
from recframe._engines.postponed import RERUN, ReleasedError, Rerun, RowsNeededError
from recframe.errors import LINE_OF_CALL, user_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import ExpressionCall, WithExpressions
    from recframe._engines.column_spec import ColumnSpec
    from recframe._engines.constructors import Constructors


PART = "recframe part"
"""The column with the number of a row's part."""
MOST_NARROW = 2**8
"""The most parts whose numbers are one byte."""


class LazyPolars(Adapter):
    """The adapter for lazy frames.

    A call stops when it asks for columns or rows. It runs again on data frames when its result is collected.
    """

    eager = False
    postpones = True
    remedy = "collect the frame first"
    reads_parts = True
    answers_with_rows = True
    constructors: ClassVar[Constructors] = polars_constructors

    def postpone(
        self,
        function: Callable[..., Any],
        *args: Any,
        results: int = 1,
        validate: bool = False,
        text_of: Callable[[tuple[Any, ...]], str | None] | None = None,
        **keywords: Any,
    ) -> Any:
        try:
            return function(*args, **keywords)
        except RowsNeededError:
            call = PostponedCall.of(function, args, keywords, text_of)
        if validate:
            call.resolved()
        answers = tuple(call.lazy_frame(number) for number in range(results))
        return answers if results > 1 else answers[0]

    def made_now(self, function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except RowsNeededError:
            call = PostponedCall.of(function, args, keywords)
        return call.answer()

    def names(self, frame: pl.LazyFrame) -> NoReturn:  # noqa: ARG002
        raise RowsNeededError

    def as_narwhals(self, frame: pl.LazyFrame) -> NoReturn:  # noqa: ARG002
        raise RowsNeededError

    def as_result(self, frame: pl.LazyFrame) -> Any:
        return nw.from_native(frame)

    def open_frames(self, sources: Mapping[str, Source], *, rows: Collection[str] = ()) -> NoReturn:  # noqa: ARG002
        raise RowsNeededError

    def open_rows(self, sources: Mapping[str, Source], numbered: Sequence[str]) -> NoReturn:  # noqa: ARG002
        raise RowsNeededError

    def items_frame(self, column: str, items: list[Any]) -> pl.DataFrame:
        return EagerPolars().items_frame(column, items)

    def side_frame(self, other: Any) -> Any:
        """Return a data frame as a lazy one."""
        return other.lazy() if isinstance(other, pl.DataFrame) else other

    def with_expressions(
        self, frame: Any, arguments: Mapping[str, Any], bound: Mapping[str, Any], asked: ExpressionCall
    ) -> WithExpressions:
        return with_expressions(frame, arguments, bound, asked)

    def stack_models(self, frames: Mapping[str, pl.LazyFrame], model: str) -> pl.LazyFrame:
        # No schema is resolved now, because reading a schema may be slow.
        return resolved_later(next(iter(frames.values())), partial(_stacked, frames, model))

    def checked(self, name: str, source: Source) -> NoReturn:  # noqa: ARG002
        raise RowsNeededError

    def checked_later(self, name: str, source: Source) -> Any:
        return resolved_later(source.native, partial(_checked, name, source))

    def without_pairs(self, pairs: pl.LazyFrame, seen: pl.LazyFrame, specs: Mapping[str, ColumnSpec]) -> pl.LazyFrame:
        """Return the rows of a plan whose keys another plan lacks, as a plan, because all pairs may exceed memory."""
        return resolved_later(pairs, partial(_without_pairs, seen, specs))


def _stacked(
    frames: Mapping[str, pl.LazyFrame],
    model: str,
    first: pl.LazyFrame,
    schema: pl.Schema,  # noqa: ARG001
) -> pl.LazyFrame:
    """Return the rows of all models, with the model's name in the column `model`."""
    lazy: pl.LazyFrame = stacked_models({**frames, next(iter(frames)): first}, model)
    return lazy


def _checked(name: str, source: Source, frame: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    """Return a frame, or raise if its schema lacks a column."""
    EagerPolars().check_names({name: source.with_native(pl.DataFrame(schema=schema))})
    return frame


def _without_pairs(
    seen: pl.LazyFrame, specs: Mapping[str, ColumnSpec], pairs: pl.LazyFrame, schema: pl.Schema
) -> pl.LazyFrame:
    """Return the rows of `pairs` whose keys are not in `seen`."""
    schemas = {"frame": schema, "seen": seen.collect_schema()}
    empty = {name: Source(pl.DataFrame(schema=each), specs) for name, each in schemas.items()}
    session = EagerPolars().open_frames(empty)
    # The names of these columns differ from all columns of the user.
    keys = {
        f"compared {name}": _comparable(col(specs[name].column), dtype)
        for name, dtype in session.frames["frame"].to_native().collect_schema().items()
    }
    rows = pairs.with_columns(**keys)
    return rows.join(seen.select(**keys), on=list(keys), how="anti", nulls_equal=True).drop(list(keys))


def resolved_later(frame: pl.LazyFrame, function: Callable[[pl.LazyFrame, pl.Schema], pl.LazyFrame]) -> pl.LazyFrame:
    """Return the plan that a function makes of a plan and its schema. Older versions of polars read the schema now."""
    return frame.pipe_with_schema(function) if KNOWS_SCHEMA_LATER else function(frame, frame.collect_schema())


CACHE_SIZE = 256
_resolved_calls: dict[Any, Resolved] = {}
"""A cache of resolved calls, by the text of a call and the schemas of its frames. It holds no data."""


@dataclass(frozen=True)
class Slot:
    """A placeholder for a lazy frame among the arguments of a call."""

    number: int


@dataclass(frozen=True)
class Resolved:
    """The facts about a call that follow from the schemas of its frames."""

    schemas: list[pl.Schema]
    """The schemas of the frames."""
    answers: list[pl.Schema]
    """The schemas of the results."""
    columns: list[set[str] | None]
    """The columns that the call reads of each frame; None for a frame that it never opens."""
    answered: frozenset[int]
    """The numbers of the frames whose own rows the call returns."""
    parts: frozenset[int]
    """The numbers of the frames that are read in parts."""


@dataclass
class PostponedCall:
    """A call on lazy frames.

    Attributes
    ----------
    function : callable
        The call.
    arguments : tuple
        Its arguments by position and by name, with a `Slot` in place of each lazy frame.
    frames : list of LazyFrame
        The lazy frames, each once.
    text : str, optional
        A text that only equal calls share, apart from their frames; None if the arguments cannot be compared.
    line : tuple of str and int
        The file and line at which the user made the call.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    frames: list[pl.LazyFrame]
    text: str | None = None
    line: tuple[str, int] = field(default_factory=user_line)

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        keywords: Mapping[str, Any],
        text_of: Callable[[tuple[Any, ...]], str | None] | None = None,
    ) -> PostponedCall:
        """Return the call of a function with these arguments."""
        frames: list[pl.LazyFrame] = []

        def slot(value: Any) -> Any:
            if not isinstance(value, pl.LazyFrame):
                return value
            known = next((number for number, frame in enumerate(frames) if frame is value), len(frames))
            if known == len(frames):
                frames.append(value)
            return Slot(known)

        arguments = _replaced((args, keywords), slot)
        named = _replaced(arguments, lambda value: f"\0{value.number}" if isinstance(value, Slot) else value)
        return cls(function, arguments, frames, None if text_of is None else text_of(named))

    def lazy_frame(self, number: int) -> pl.LazyFrame:
        """Return one of the results as a lazy frame."""

        def source(
            columns: list[str] | None,
            predicate: pl.Expr | None,
            rows: int | None,
            size: int | None,  # noqa: ARG001
        ) -> Iterator[pl.DataFrame]:
            resolved = self.resolved()
            answer = self.answer(columns, resolved)
            answer = answer[number] if isinstance(answer, tuple) else answer
            answer = answer if columns is None else answer.select(map(col, columns))
            types = resolved.answers[number]
            answer = answer.cast({name: types[name] for name, kind in answer.schema.items() if kind == pl.Null})
            answer = answer if predicate is None else answer.filter(predicate)
            yield answer if rows is None else answer.head(rows)

        def schema() -> pl.Schema:
            return self.resolved().answers[number]

        if not KNOWS_SCHEMA_LATER:
            return plugins.register_io_source(source, schema=schema)
        # Errors in this callback reach the user unchanged. Errors in a source's schema become errors of polars.
        scan = partial(plugins.register_io_source, source)
        return pl.LazyFrame().pipe_with_schema(lambda *_: scan(schema=schema()))

    def resolved(self) -> Resolved:
        """Return the facts from the frames' schemas, or raise for columns that are missing or of a wrong type."""
        # Schemas are read at each collect, because a scan may find another file.
        schemas = [frame.collect_schema() for frame in self.frames]
        key = self.function, self.text, tuple(tuple(schema.items()) for schema in schemas)
        resolved = None if self.text is None else _resolved_calls.get(key)
        if resolved is None:
            resolved = self._resolve(schemas)
            if self.text is not None:
                if len(_resolved_calls) >= CACHE_SIZE:
                    _resolved_calls.clear()
                _resolved_calls[key] = resolved
        return resolved

    def _resolve(self, schemas: list[pl.Schema]) -> Resolved:
        """Return the facts from a dry run of the call with frames that have no rows."""
        empty = [pl.DataFrame(schema=schema) for schema in schemas]
        rerun = Rerun(dry=True)
        answer = self._run([*empty], rerun)
        answers = answer if isinstance(answer, tuple) else (answer,)
        types: list[Any] = [_with_known_types(getattr(each, "schema", {}), schemas) for each in answers]
        columns = [rerun.columns.get(id(frame)) for frame in empty]
        answered = frozenset(number for number, frame in enumerate(empty) if id(frame) in rerun.answered)
        parts = frozenset(number for number, frame in enumerate(empty) if id(frame) in rerun.parts)
        return Resolved(schemas, types, columns, answered, parts)

    def answer(self, columns: Collection[str] | None = None, resolved: Resolved | None = None) -> Any:
        """Return the result of the call for its frames, which are collected now.

        Parameters
        ----------
        columns : collection of str, optional
            The columns of the result that are needed; None: all. The result may lack the other columns of the user.
        resolved : Resolved, optional
            The facts from the frames' schemas, if they were read just now.
        """
        resolved = resolved or self.resolved()
        try:
            return self._answer(columns, resolved, releases=True)
        except ReleasedError:
            # The call reads rows again after they were freed, so they are collected once more and kept.
            return self._answer(columns, resolved, releases=False)

    def _answer(self, columns: Collection[str] | None, resolved: Resolved, *, releases: bool) -> Any:
        """Return the result of the call; with `releases`, the rows are freed as soon as nothing reads them."""
        plans = {
            number: self._read(resolved, number, columns)
            for number, names in enumerate(resolved.columns)
            if names is not None
        }
        read_at_once = [number for number in plans if number not in resolved.parts]
        frames = [pl.DataFrame(schema=schema) for schema in resolved.schemas]
        for number, rows in zip(read_at_once, _collect_all([plans[number] for number in read_at_once]), strict=True):
            frames[number] = rows
        with Parts({id(frames[number]): plans[number] for number in resolved.parts}) as parts:
            return self._run(frames, Rerun(reader=parts, owned=[*frames] if releases else []))

    def _read(self, resolved: Resolved, number: int, columns: Collection[str] | None) -> pl.LazyFrame:
        """Return a frame with the columns that the call reads, in the user's order."""
        names = resolved.schemas[number].names()
        read = resolved.columns[number] or set()
        if number in resolved.answered:
            read = {*names} if columns is None else read | {*columns}
        # At least one column is read, because a frame without columns has no rows.
        return self.frames[number].select([col(name) for name in names if name in read] or pl.first())

    def _run(self, frames: list[pl.DataFrame], rerun: Rerun) -> Any:
        """Return the result of the call for data frames. The list is emptied, so that only the call refers to them."""
        args, keywords = _replaced(
            self.arguments, lambda value: frames[value.number] if isinstance(value, Slot) else value
        )
        frames.clear()
        tokens = RERUN.set(rerun), LINE_OF_CALL.set(self.line)
        try:
            return self.function(*args, **keywords)
        finally:
            RERUN.reset(tokens[0])
            LINE_OF_CALL.reset(tokens[1])


def _with_known_types(answer: Mapping[str, Any], schemas: Sequence[pl.Schema]) -> pl.Schema:
    """Return the schema of a result. A column of type Null gets its type from the first frame that knows it.

    In a dry run without rows, a column may be Null although rows of another frame would give it a type.
    """
    known = {name: kind for schema in reversed(schemas) for name, kind in schema.items() if kind != pl.Null}
    types: dict[str, Any] = {name: known.get(name, kind) if kind == pl.Null else kind for name, kind in answer.items()}
    return pl.Schema(types)


class Parts:
    """Collects lazy frames in parts, which hold whole lists and need less memory than all rows; see `PartReader`.

    The rows are read once and written to one temporary file for each part, because a scan for each part would decode
    all rows again. Each file is deleted as soon as its rows are collected.

    Parameters
    ----------
    plans : mapping of int to LazyFrame
        The lazy frames, by the identity of the data frame that stands for each.
    """

    def __init__(self, plans: Mapping[int, pl.LazyFrame]) -> None:
        self.plans = plans
        self._folder: TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def part(
        self,
        frames: Mapping[str, pl.DataFrame],
        keys: Mapping[str, str],
        opened: Mapping[str, Frame],
        index: int,
        of: int,
    ) -> dict[str, pl.DataFrame]:
        """Return the rows of one part of the lists, by the names of the frames.

        Parameters
        ----------
        frames : mapping of str to DataFrame
            The data frames without rows that stand for the lazy frames.
        keys : mapping of str to str
            The user's columns of the list key, by the plan's names.
        opened : mapping of str to Frame
            The same frames under the plan's names, whose key columns have the types to compare in.
        index, of : int
            Which part, from 0, and how many parts there are.
        """
        if of == 1:
            return dict(zip(frames, _collect_all([self.plans[id(frame)] for frame in frames.values()]), strict=True))
        if self._folder is None:
            self._folder = self._split(frames, keys, opened, of)
        rows = {}
        for name in frames:
            path = _path_of(self._folder, name, index)
            rows[name] = pl.scan_ipc(path).collect(engine="streaming")
            with suppress(PermissionError):  # Windows deletes no file that is in memory
                path.unlink()
        return rows

    def _split(
        self, frames: Mapping[str, pl.DataFrame], keys: Mapping[str, str], opened: Mapping[str, Frame], of: int
    ) -> TemporaryDirectory[str]:
        """Return a folder with a file for each frame and part of the lists."""
        folder = TemporaryDirectory(prefix="recframe-", ignore_cleanup_errors=True)
        sinks = []
        for name, frame in frames.items():
            types = opened[name].to_native().collect_schema()
            key = [_comparable(col(column), types[plan]) for plan, column in keys.items()]
            # A struct takes longer to hash than its fields, and a wide number longer to compare than a narrow one.
            hashes = reduce(xor, (field.hash(seed) for seed, field in enumerate(key)))
            number = (hashes % of).cast(pl.UInt8 if of <= MOST_NARROW else pl.UInt64)
            rows = self.plans[id(frame)].with_columns(number.alias(PART))
            for index in range(of):
                part = rows.filter(pl.col(PART) == index).drop(PART)
                path = _path_of(folder, name, index)
                sinks.append(part.sink_ipc(path, compression="uncompressed", lazy=True))
        _collect_all(sinks)
        return folder

    def distinct(self, frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        (rows,) = _collect_all([self.plans[id(frame)].select(map(col, columns)).unique(maintain_order=True)])
        return rows

    def greatest(self, frame: pl.DataFrame, column: str) -> float:
        number = col(column).cast(pl.Float64).fill_nan(None).fill_null(0.0).max()
        (rows,) = _collect_all([self.plans[id(frame)].select(number)])
        return float(rows.item() or 0.0)


def _path_of(folder: TemporaryDirectory[str], name: str, index: int) -> Path:
    """Return the file that holds the rows of a frame in one part."""
    return Path(folder.name, f"{name}-{index}.arrow")


def _comparable(key: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return a key in a type in which equal values of all frames are equal and have the same hash."""
    if dtype in (pl.Categorical, pl.Enum):
        return key.cast(pl.String)
    key = key.cast(dtype)
    return key.fill_nan(None) if dtype.is_float() else key


def _collect_all(plans: Sequence[pl.LazyFrame]) -> list[pl.DataFrame]:
    """Return the rows of plans, computed together, so that a file is read once."""
    return pl.collect_all(plans, engine="streaming")


def _replaced(value: Any, replace: Callable[[Any], Any]) -> Any:
    """Return an argument with each value in its tuples and dicts replaced."""
    if type(value) is tuple:
        return tuple(_replaced(each, replace) for each in value)
    if type(value) is dict:
        return {name: _replaced(each, replace) for name, each in value.items()}
    return replace(value)
