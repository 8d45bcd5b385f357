"""The kinds of frames that recframe accepts, and the adapter of each.

An adapter's module is imported by the first call with such a frame: its library is imported by then.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.defaults import current
from recframe._engines.sharing import SHARED
from recframe.errors import NO_FRAMES, MissingExtraError, OptionTypeError, not_grouped, one_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recframe._engines.base import Adapter, Session
    from recframe._engines.column_spec import ColumnSpec, Source
    from recframe._engines.constructors import Constructors
    from recframe._engines.ids import IdColumns
    from recframe._engines.rows import Rows


@dataclass(frozen=True)
class Kind:
    """A kind of frame: its class, and the location of its adapter."""

    module: str
    """The module of the library that has the class of the frames."""
    name: str
    """The name of this class."""
    adapter: str
    """The module in this package and the class of the adapter."""
    called: str
    """How messages refer to such frames."""
    makes_frames: bool = False
    """Whether its library can make new frames from lists and values."""

    @property
    def frame_class(self) -> Any:
        """The class of the frames, or an empty tuple if the library is not imported."""
        return getattr(sys.modules.get(self.module), self.name, ())

    @cached_property
    def adapter_class(self) -> type[Adapter]:
        """The class of the adapter. This imports its module, and so the library."""
        module, name = self.adapter.split(":")
        kind: type[Adapter] = getattr(import_module(f"recframe._engines.{module}"), name)
        return kind


KINDS = (
    Kind("polars", "DataFrame", "polars.adapter:EagerPolars", "a polars DataFrame or LazyFrame", makes_frames=True),
    Kind("polars", "LazyFrame", "polars.lazy:LazyPolars", "a polars DataFrame or LazyFrame"),
    Kind("pandas", "DataFrame", "pandas.adapter:Pandas", "a pandas DataFrame", makes_frames=True),
    Kind("pyarrow", "Table", "arrow:Arrow", "a PyArrow table"),
    Kind("duckdb", "DuckDBPyRelation", "sql.duckdb:DuckDB", "a DuckDB relation"),
    Kind("ibis", "Table", "sql.ibis:Ibis", "an Ibis table"),
    Kind("pyspark.sql", "DataFrame", "sql.spark:Spark", "a Spark DataFrame"),
)
LIBRARY = "library"
"""The setting of `recframe.Config` for the library that makes new frames."""
MAKERS = {kind.module: kind for kind in KINDS if kind.makes_frames}
"""The libraries that can make new frames. By default, the first installed library makes them."""


def kind_of(frame: object) -> Kind | None:
    """Return the kind of a frame, or None if a value is not a supported frame."""
    kind = _KNOWN.get(type(frame))
    if kind is None and type(frame).__module__ != "builtins":
        kind = next((kind for kind in KINDS if isinstance(frame, kind.frame_class)), None)
        if kind is not None:
            _KNOWN[type(frame)] = kind
    return kind


_KNOWN: dict[type, Kind] = {}
"""A cache: the kind of each class of frames."""


def is_frame(value: object) -> bool:
    """Return whether a value is a supported frame."""
    return kind_of(value) is not None


SINGLE_COLUMNS = ("Series", "ChunkedArray")
"""The names of classes that support Arrow's interface but are single columns, not frames."""


def as_supported_frame(value: Any, kind: Kind | None = None) -> Any:
    """Return a value as a supported frame if it is not one yet: a Narwhals frame, or a table with Arrow's interface.

    A table becomes a frame of pandas or PyArrow if `kind`, or without it the table's own library, is one of them.
    Otherwise it becomes a polars frame if polars is installed. Its stream can be read only once, so it is read here.
    Other values are returned unchanged.
    """
    if kind_of(value) is not None:
        return value
    if isinstance(value, nw.DataFrame | nw.LazyFrame):
        return value.to_native()
    # Asks the class, because frames of SQLFrame have an attribute of any name.
    if not hasattr(type(value), "__arrow_c_stream__") or type(value).__name__ in SINGLE_COLUMNS:
        return value
    module = type(value).__module__.partition(".")[0] if kind is None else kind.module
    if module not in ("pyarrow", "pandas") and find_spec("polars") is not None:
        import polars as pl

        return pl.DataFrame(value)
    if find_spec("pyarrow") is None:
        return value
    table = import_module("pyarrow").table(value)
    return table.to_pandas() if module == "pandas" else table


def frames_of_models(models: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the frames in a mapping of models to frames, or an empty dict if it is another mapping."""
    frames = {name: as_supported_frame(frame) for name, frame in models.items()}
    return frames if any(map(is_frame, frames.values())) else {}


def stack_frames_of_models(models: Mapping[Any, Any], model: str) -> Any:
    """Return the rows of the frames of several models in one frame, with the model's name in the column `model`.

    It raises if a model's name is not text, if the frames are of several kinds or of a database, if their columns
    differ, or if they have a column `model`. For lazy frames, the columns are checked when the result is collected.
    """
    first = next(iter(models.values()))
    adapter = adapter_of(first)
    frames = {}
    for name, frame in models.items():
        if not isinstance(name, str):
            msg = f"the frames have the name {name!r} among theirs, but a model is named by text"
            raise OptionTypeError(msg, "recframe.rec({'old': frame, 'new': other})")
        frames[name] = adapter.side_frame(frame)
        if kind_of(frames[name]) is not kind_of(first):
            what = f"the frame of {name!r}"
            raise of_another_kind(what, frame, first)
    return adapter.stack_models(frames, model)


def sides_as_supported_frames(frame: object, roles: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return roles, with those in `names` as supported frames, if possible of the same kind as a frame."""
    kind = kind_of(frame)
    return {name: as_supported_frame(value, kind) if name in names else value for name, value in roles.items()}


def adapter_of(frame: object) -> Adapter:
    """Return the adapter of a frame, or raise if a value is not a supported frame."""
    kind = kind_of(frame)
    if kind is None:
        if "GroupBy" in type(frame).__name__:
            raise OptionTypeError(*not_grouped(frame))
        msg = f"{a_type(frame)} is no frame that recframe knows"
        *names, last = dict.fromkeys(kind.called for kind in KINDS)
        raise OptionTypeError(msg, f"{_start_of_hint(frame)}give {', '.join(names)} or {last}")
    return kind.adapter_class(frame)


def _start_of_hint(value: object) -> str:
    """Return the start of the hint for a value that is not a supported frame, "" for most values."""
    # Classes, never attributes: frames of SQLFrame have a column for any name that they are asked for.
    if isinstance(value, nw.DataFrame | nw.LazyFrame | nw.Series):
        return "give its to_native(); else "
    if type(value).__module__.partition(".")[0] == "sqlframe":
        return "fetch the rows with toPandas(); else "
    return NO_FRAMES.get(type(value).__name__, "")


def is_lazy(frame: object) -> bool:
    """Return whether a value is a lazy frame, so that results must stay frames."""
    return is_frame(frame) and not adapter_of(frame).eager


def labels_of(*frames: object) -> list[Any] | None:
    """Return the column labels of the frames whose labels need not be text; None if there is no such frame."""
    adapters = [(adapter_of(frame), frame) for frame in frames if is_frame(frame)]
    by_frame = [adapter.names(frame) for adapter, frame in adapters if adapter.any_label]
    return [label for labels in by_frame for label in labels] if by_frame else None


def of_another_kind(name: str, value: object, frame: object) -> OptionTypeError:
    """Return the error for a further argument that is not a frame, or is a frame of another library."""
    msg = f"{name} is {a_type(value)}, but the frame is {a_type(frame)}"
    return OptionTypeError(msg, f"{_start_of_hint(value)}give both as {type_name(frame)}")


def check_answers_with_rows(frame: object) -> None:
    """Raise for a frame of a library that only evaluates: the user's own rows come from polars and pandas frames."""
    if not is_frame(frame):
        return
    adapter = adapter_of(frame)
    if not adapter.answers_with_rows:
        msg = f"this accepts frames of polars or pandas, but the frame is {a_type(frame)}"
        raise OptionTypeError(msg, adapter.remedy)


def type_name(frame: object) -> str:
    """Return the library and the type of a value as text, for messages."""
    return f"{type(frame).__module__.split('.')[0]} {type(frame).__name__}".removeprefix("builtins ")


def a_type(frame: object) -> str:
    """Return the library and the type of a value as text, with the article."""
    name = type_name(frame)
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


# --- frames in ----------------------------------------------------------------------------------------------


def open_frames(sources: Mapping[str, Source], either: dict[str, ColumnSpec], *, rows: Collection[str] = ()) -> Session:
    """Return a session with the needed columns of frames of the same kind.

    Parameters
    ----------
    sources : dict of str to Source
        The user's frames by their names: ``"frame"``, and the others of the call.
    either : dict of str to ColumnSpec
        Columns to read from ``"truth"`` if it has them, otherwise from ``"frame"``.
    rows : collection of str
        The frames whose rows to number, which must be eager.

    Raises
    ------
    RecError
        A frame is of another kind, lacks a needed column, or has a column of a type that its use does not allow.
    RowsNeededError
        The frames are lazy polars frames: the call checked its arguments, and opens data frames when it is collected.
    """
    adapter, sources = _in_one_kind(sources)
    shared = SHARED.get()
    if shared is None or not adapter.eager:
        return _opened(adapter, sources, either, rows)
    return shared.session(sources, either, rows, partial(_opened, adapter, sources, either, rows))


def _opened(
    adapter: Adapter, sources: dict[str, Source], either: Mapping[str, ColumnSpec], rows: Collection[str]
) -> Session:
    """Return a session of frames of the same kind, after the columns in `either` are assigned to frames."""
    if either:
        # Only this step needs the column names of a lazy frame.
        names = adapter.names(sources["truth"].native)
        of_truth = {name: spec for name, spec in either.items() if spec.column in names}
        rest = {name: spec for name, spec in either.items() if name not in of_truth}
        sources = {
            **sources,
            "frame": sources["frame"].with_specs(rest),
            "truth": sources["truth"].with_specs(of_truth),
        }
    return adapter.open_frames(sources, rows=rows)


def open_rows(sources: Mapping[str, Source], numbered: Sequence[str] = ("frame",)) -> Rows:
    """Open frames of the same kind for a call that returns rows of ``"frame"``.

    Parameters
    ----------
    sources : dict of str to Source
        The user's frames, and the columns to read from each.
    numbered : sequence of str
        The frames whose rows the result holds.

    Raises
    ------
    RecError, RowsNeededError
        As from `open_frames`.
    """
    adapter, sources = _in_one_kind(sources)
    rows: Rows = adapter.open_rows(sources, numbered)
    return rows


def _in_one_kind(sources: Mapping[str, Source]) -> tuple[Adapter, dict[str, Source]]:
    """Return the adapter of a call's first frame, and all frames in its kind; raise for a frame of another kind."""
    frame = sources["frame"].native
    adapter = adapter_of(frame)
    kind = kind_of(frame)
    converted = {}
    for name, source in sources.items():
        native = adapter.side_frame(source.native)
        if native is not frame and kind_of(native) is not kind:
            raise of_another_kind(name, native, frame)
        converted[name] = source.with_native(native)
    return adapter, converted


# --- new frames ---------------------------------------------------------------------------------------------


def constructors_for(values: tuple[object, ...], library: str | None) -> Constructors:
    """Return the functions that make frames, of the values' library or of a library by name.

    Parameters
    ----------
    values : tuple
        The user's arguments. Frames and columns among them must be of one library.
    library : str, optional
        The name of the library. None: the library of the values, otherwise the one that Config names, otherwise polars
        if it is installed, otherwise pandas.
    """
    check_library(library)
    names = {name for name in map(_library_of, values) if name is not None}
    if len(names) > 1 or (library is not None and names - {library}):
        msg = f"what is given is of {' and '.join(sorted(names))}" + (f", but library={library!r}" if library else "")
        raise OptionTypeError(msg, "give everything in one library")
    library = library or (None if names else current().get(LIBRARY))
    return _maker([*names] or ([library] if library is not None else [*MAKERS]), library).constructors


def check_library(library: object) -> None:
    """Raise if a value is not the name of a library that makes frames."""
    if library is not None and not (isinstance(library, str) and library in MAKERS):
        error = one_of(LIBRARY, library, MAKERS)
        raise error


def ids_for(frame: object, library: str | None) -> IdColumns:
    """Return the object that looks up ids in frames like this one, or in frames of a named or installed library."""
    if frame is not None:
        return adapter_of(frame).ids
    library = library or current().get(LIBRARY)
    return _maker([*MAKERS] if library is None else [library], library).ids


def _maker(libraries: Sequence[str], requested: str | None) -> Adapter:
    """Return the adapter of the first library that is installed."""
    for name in libraries:
        # If a library is installed but broken, raise its error instead of trying another library.
        if find_spec(name) is not None:
            return MAKERS[name].adapter_class()
    what = "making a frame" if requested is None else f"library={requested!r}"
    raise MissingExtraError.of(what, requested or "polars")


def _library_of(value: object) -> str | None:
    """Return the library of a frame or a column that can make frames; None for other values.

    A frame of a library that cannot make frames raises an error.
    """
    check_answers_with_rows(value)
    kind = kind_of(value)
    if kind is not None:
        return kind.module
    for name in MAKERS:
        module = sys.modules.get(name)
        if module is not None and isinstance(value, module.Series):
            return name
    return None
