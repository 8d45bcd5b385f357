"""The errors that all engines raise alike for columns of the wrong type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe.errors import ColumnTypeError, MissingColumnError, closest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from recframe._engines.column_spec import ColumnSpec


def called(name: str) -> str:
    """Return what messages call a frame."""
    return "the frame" if name == "frame" else name


def missing_column(spec: ColumnSpec, name: str, there: Collection[Any]) -> MissingColumnError:
    """Return the error for a column that a frame lacks."""
    names = ", ".join(map(repr, there))
    msg = f"{spec.role}={spec.column!r}: {called(name)} has no such column; it has {names}"
    several = [part.strip() for part in str(spec.column).split(",")]
    if len(several) > 1 and {*several} <= {*there}:
        hint = f"{spec.role}={several}"
    else:
        also = "rank='rank'" if spec.role == "score" and "rank" in there else ""
        hint = closest(spec.column, map(str, there)) or also
    return MissingColumnError.of(msg, hint, spec.role, spec.column)


def not_a_number(spec: ColumnSpec, dtype: object) -> ColumnTypeError:
    """Return the error for a column whose type its role cannot use."""
    expected = "bool, integer or float" if spec.may_be_bool else "integer or float"
    what = "relevance" if spec.role == "relevant" else f"a {spec.role}"
    msg = f"{spec.role}={spec.column!r} has the type {dtype}, but {what} must be {expected}"
    return ColumnTypeError(msg, "cast the column to a number first")


def not_a_time(spec: ColumnSpec, dtype: object) -> ColumnTypeError:
    """Return the error for a column that holds no points in time, or those of another kind."""
    expected, hint = {
        None: ("a date, a datetime or a number", "parse the column first"),
        True: ("a date or a datetime, as what it is compared with is one", "give a number instead, or cast the column"),
        False: ("a number, as what it is compared with is one", "give a datetime or a timedelta instead"),
    }[spec.dated]
    msg = f"{spec.role}={spec.column!r} has the type {dtype}, but a {spec.role} is {expected}"
    return ColumnTypeError(msg, hint)


def no_lists(role: str, column: str, dtype: object) -> ColumnTypeError:
    """Return the error for a column that should hold lists."""
    return ColumnTypeError(f"{role}={column!r} has the type {dtype}, but lists are needed", "one list of items a row")


def unlike_keys(spec: ColumnSpec, left: tuple[str, object], right: tuple[str, object]) -> ColumnTypeError:
    """Return the error for a key that has types in two frames, each named with its type, which never match."""
    types = ", but ".join(f"{dtype} in {called(name)}" for name, dtype in (left, right))
    msg = f"{spec.role}={spec.column!r} has the type {types}"
    return ColumnTypeError(msg, "cast one of them, else no row would match")


def no_common_type(spec: ColumnSpec, dtypes: Iterable[object]) -> ColumnTypeError:
    """Return the error for a key of several types, none of which holds all of its values."""
    types = " and ".join(dict.fromkeys(map(str, dtypes)))
    msg = f"{spec.role}={spec.column!r} has the types {types}, and none holds the values of all frames"
    return ColumnTypeError(msg, "cast it to one type in all frames")


def finest_unit(*units: str) -> str:
    """Return the unit in which points in time of several units compare."""
    return next(unit for unit in ("ns", "us", "ms", "s") if unit in units)
