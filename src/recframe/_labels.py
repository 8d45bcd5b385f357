"""What may name a column: text, and of pandas frames any label that they have."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from recframe._defaults import config_hint
from recframe.errors import MissingColumnError, OptionTypeError, shown

FRAME_LIBRARIES = ("polars", "pandas", "narwhals", "numpy", "pyarrow", "duckdb", "ibis", "pyspark")
VALUES = ("Series", "Index", "ndarray", "ChunkedArray", "Array")
"""What libraries call the values of a column."""
FRAMES = ("DataFrame", "LazyFrame", "Table", "DuckDBPyRelation")

Labels = Collection[Any] | None
"""The column labels of the call's pandas frames, which need not be text; None: columns are named by text only."""


def column_name(role: str, given: object, labels: Labels = None) -> str:
    """Return the column that an argument names.

    Raises
    ------
    OptionTypeError
        The argument is an expression, a column, a number or anything else that names no column.
    MissingColumnError
        It could be the label of a pandas frame, but is not.
    """
    if is_label(given, labels):
        return given  # type: ignore[return-value] # what is called a name may be any label of pandas
    if labels is not None and isinstance(given, int | float | tuple) and not isinstance(given, bool):
        names = ", ".join(map(shown, labels))
        msg = f"{role}={shown(given)}: the frame has no such column; it has {names}"
        raise MissingColumnError.of(msg, "", role, given)
    what, hint = _instead(role, given)
    hint = config_hint(role, given) or hint
    msg = f"{role}={shown(given)} is {what}not the name of a column"
    raise OptionTypeError(msg, hint)


def column_names(role: str, given: object, labels: Labels = None) -> str | list[str] | None:
    """Return what an argument names: one column, a list of columns, or None.

    A tuple that is a label of a pandas frame is one column; any other tuple is a sequence of columns.
    """
    if given is None or is_label(given, labels) or not isinstance(given, Sequence) or isinstance(given, bytes):
        return None if given is None else column_name(role, given, labels)
    return [column_name(role, name, labels) for name in given]


def as_tuple(given: Any) -> tuple[str, ...]:
    """Return the columns that `column_names` found, as a tuple."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, list) else (given,)


def is_label(given: object, labels: Labels) -> bool:
    """Return whether something is text that can name a column, or a label that the frames have."""
    if isinstance(given, str):
        # Half a surrogate pair is no text to polars.
        return given.isascii() or not any("\ud800" <= character <= "\udfff" for character in given)
    try:
        # A set compares what has one hash only, so that nothing without a truth value is compared.
        return labels is not None and given in set(labels)
    except TypeError:
        return False


def holds_values(given: object) -> bool:
    """Return whether something is a column's values, of any library."""
    kinds = [(base.__module__.split(".")[0], base.__name__) for base in type(given).__mro__]
    return any(library in FRAME_LIBRARIES and name in VALUES for library, name in kinds)


def _instead(role: str, given: object) -> tuple[str, str]:
    """Return what was given in the place of a name, and the remedy."""
    kind = type(given)
    if kind.__module__.split(".")[0] not in FRAME_LIBRARIES:
        return "", f"{role}='name'"
    if kind.__name__ in FRAMES:
        return "a frame, ", f"{role}='name'"
    name = _name_of(given)
    if name is not None:
        return ("the column itself, " if holds_values(given) else "an expression, "), f"{role}={name!r}"
    also = ", or give min_relevance=" if role == "relevant" else ""
    add = "df.assign(name=...)" if kind.__module__.startswith("pandas") else "df.with_columns(name=...)"
    what = "a column's values, " if holds_values(given) else "an expression, "
    return what, f"add the column to the frame first, {add}, then {role}='name'{also}"


def _name_of(given: Any) -> str | None:
    """Return the name of a column that an expression or a series is, unless it is computed from it."""
    if holds_values(given):
        name = getattr(given, "name", None)
        return name if isinstance(name, str) and name and not _is_boolean(given) else None
    roots = given.meta.root_names() if type(given).__module__.startswith("polars") else []
    return roots[0] if len(roots) == 1 and str(given) == f'col("{roots[0]}")' else None


def _is_boolean(given: Any) -> bool:
    """Return whether a column holds truth values: then it keeps the name of the column that it was compared with."""
    return str(getattr(given, "dtype", "")).lower().startswith("bool")
