"""The errors that all engines raise alike for columns of the wrong type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe.errors import ColumnTypeError, InputError, MissingColumnError, closest_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from recframe._engines.column_spec import ColumnSpec

COLUMNS = {
    "by": "user userid uid customer customerid visitor visitorid member memberid session sessionid query queryid qid",
    "item": "item itemid iid product productid sku movie movieid article articleid doc docid docno document documentid",
    "relevant": "relevant relevance rel isrelevant label labels grade grades rating ratings click clicks clicked "
    "isclicked bought purchased liked watched ytrue target",
    "score": "score scores prediction predictions pred preds ypred yscore",
}
"""What the columns of a role are often called, in small letters and without underscores, the most usual first."""


def called(name: str) -> str:
    """Return what messages call a frame."""
    return "the frame" if name == "frame" else name


def missing_column(spec: ColumnSpec, name: str, in_frame: Collection[Any], read: Collection[Any]) -> MissingColumnError:
    """Return the error for a column that a frame lacks; those that the call reads already stand for no other one."""
    names = ", ".join(map(repr, in_frame)) or "no columns"
    msg = f"{spec.role}={spec.column!r}: {called(name)} has no such column; it has {names}"
    several = [part.strip() for part in str(spec.column).split(",")]
    free = [column for column in in_frame if column not in read or spec.role == "per"]
    near, usual = closest_of(spec.column, map(str, free)), _usual_columns(spec.role, free)
    near = near if near in map(str, usual) or not usual else ""
    if len(several) > 1 and {*several} <= {*in_frame}:
        hint = f"{spec.role}={several}"
    elif name not in ("frame", "users", "items") and spec.role in ("by", "item"):
        what = ", ".join([repr(near)] if near else map(repr, usual)) or "the column that holds it"
        hint = f"frames are matched by columns of one name: in {name}, rename {what} to {spec.column!r}"
    elif near:
        hint = f"did you mean {near!r}?"
    else:
        also = ["rank='rank'"] if spec.role == "score" and "rank" in in_frame else []
        also += ["by=None, if the frame is one list"] if spec.role == "by" and not usual else []
        if spec.role == "relevant" and not usual:
            of_truth = "leave relevant= out, if each of its rows is relevant"
            also += [of_truth if name == "truth" else "truth=, if another frame holds what was relevant"]
        elif name == "truth" and not usual:
            also += ["join it to truth"]
        also += [f"{spec.role}={column!r}" for column in usual]
        hint = " or ".join(also) or f"{spec.role}= names the column that holds it"
    return MissingColumnError.of(msg, hint, spec.role, spec.column)


def alike_columns(name: str, alike: Iterable[str]) -> InputError:
    """Return the error for columns of a frame that are read for each other."""
    msg = f"{called(name)} has several columns of the name {' or '.join(map(repr, dict.fromkeys(alike)))}"
    return InputError(msg, "rename all but one of them")


def _usual_columns(role: str, in_frame: Collection[Any]) -> list[Any]:
    """Return the columns of a frame whose names are usual for a role, the most usual first."""
    plain = {str(column).lower().replace("_", "").replace(" ", ""): column for column in in_frame}
    return [plain[name] for name in COLUMNS.get(role, "").split() if name in plain]


def not_a_number(spec: ColumnSpec, dtype: object) -> ColumnTypeError:
    """Return the error for a column whose type its role cannot use."""
    expected = "bool, integer or float" if spec.may_be_bool else "integer or float"
    what = "relevance" if spec.role == "relevant" else f"a {spec.role}"
    msg = f"{spec.role}={spec.column!r} has the type {dtype}, but {what} must be {expected}"
    hint = "cast the column to a number first"
    if any(word in str(dtype).lower() for word in ("list", "array")):
        hint = "one row an item: see recframe.from_lists, or explode the column"
    return ColumnTypeError(msg, hint)


def not_a_time(spec: ColumnSpec, dtype: object) -> ColumnTypeError:
    """Return the error for a column that holds no points in time, or those of another kind."""
    expected, hint = {
        None: ("a date, a datetime or a number", "parse the column first"),
        True: ("a date or a datetime, as what it is compared with is one", "parse or cast it, or give a number"),
        False: ("a number, as what it is compared with is one", "give a datetime or a timedelta instead"),
    }[spec.dated]
    msg = f"{spec.role}={spec.column!r} has the type {dtype}, but a {spec.role} is {expected}"
    return ColumnTypeError(msg, hint)


def no_lists(role: str, column: str, dtype: object) -> ColumnTypeError:
    """Return the error for a column that should hold lists."""
    return ColumnTypeError(f"{role}={column!r} has the type {dtype}, but lists are needed", "a list in order for each")


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
