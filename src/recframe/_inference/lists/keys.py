"""Keys of lists as rows, as text, and as hashes that are the same on every machine."""

from __future__ import annotations

import base64
import json
import re
from datetime import timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._engines.base import values_of
from recframe.errors import InputError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Session
    from recframe._plan.opened import Opened

ROW_NUMBER = "number of row"
"""The column that numbers rows, to restore their order after a step that changes it."""
IS_INTEGER = re.compile("0|-?[1-9][0-9]{0,18}")
"""The texts of integers, as Python writes them, of at most 19 digits."""


def texts_of(context: Opened, table: nw.DataFrame[Any], names: Sequence[str]) -> list[str | None]:
    """Return one text per row for some of the user's columns: JSON for several columns, None for one missing value."""
    return _texts_of_rows(_user_columns(context, table, names))


def key_hashes(context: Opened, table: nw.DataFrame[Any], names: Sequence[str]) -> Any:
    """Return a hash of 64 bits for each row's values in some of the user's columns, the same on every machine.

    Values with the same text have the same hash, such as the number 5 and the text "5".
    """
    columns = _user_columns(context, table, names)
    first = columns[0]
    if len(columns) == 1 and first.dtype.is_integer() and not first.null_count():
        integers = first.to_numpy()
        if integers.dtype.kind == "i" or (integers.dtype.kind == "u" and integers.max(initial=0) < 2**63):
            return mixed(np.zeros(len(integers), dtype=np.uint64), integers.astype(np.int64).view(np.uint64))
    return np.fromiter(map(_text_hash, _texts_of_rows(columns)), np.uint64, len(table))


def mixed(hashes: Any, bits: Any) -> Any:
    """Return hashes mixed with more bits, by the finalizer of SplitMix64."""
    hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + bits + np.uint64(0x632BE59BD9B4E019)
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return hashes ^ (hashes >> np.uint64(31))


def _text_hash(text: str | None) -> int:
    """Return the hash of a key's text. The text of an integer has the hash of the integer, which is faster to get."""
    if text is not None and IS_INTEGER.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(mixed(np.zeros(1, dtype=np.uint64), np.array([int(text)]).view(np.uint64))[0])
    data = b"\x00" if text is None else text.encode(errors="surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _user_columns(context: Opened, table: nw.DataFrame[Any], names: Sequence[str]) -> list[nw.Series[Any]]:
    """Return columns with the user's values in place of the numbers that may stand for them."""
    keys = table.select(*names)
    if context.engine.eager:
        keys = (
            restore_user_values(context.session, keys.with_row_index(ROW_NUMBER).lazy()).sort(ROW_NUMBER).select(*names)
        )
    return [keys[name] for name in names]


def _texts_of_rows(columns: Sequence[nw.Series[Any]]) -> list[str | None]:
    """Return one text per row: JSON for several columns, None for one missing value."""
    texts = [*map(_texts, columns)]
    return texts[0] if len(texts) == 1 else [json.dumps(row) for row in zip(*texts, strict=True)]


def _texts(column: nw.Series[Any]) -> list[str | None]:
    """Return the text of each value of a column."""
    if column.dtype.is_integer() and not column.null_count():
        return [*map(str, column.to_list())]  # the same texts, several times as fast
    return [_text(value) for value in values_of(column)]


def restore_user_values(session: Session, table: Frame, sort: Sequence[str] = ()) -> nw.DataFrame[Any]:
    """Return rows with the user's keys in place of the numbers that may stand for them in the plan."""
    return nw.from_native(session.finish(table, {}, sort), eager_only=True)


def floats_of(column: nw.Series[Any]) -> Any:
    """Return a column of numbers as an array, with NaN for missing values."""
    return np.asarray(column.cast(nw.Float64()).to_numpy(), dtype=np.float64)


def numbered(keys: Iterable[Any]) -> tuple[Any, dict[Any, int]]:
    """Return keys as numbers in the order of first appearance, and the number of each distinct key."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp), numbers


def rows_of(table: nw.DataFrame[Any], names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the values of columns as one tuple per row. Lists and structs become tuples, which can be hashed."""
    columns = [
        [*map(_as_key, values_of(table[name]))] if table[name].dtype.is_nested() else values_of(table[name])
        for name in names
    ]
    return list(zip(*columns, strict=True)) if names else [()] * len(table)


def _as_key(value: Any) -> Any:
    """Return a value that can be hashed: a list or a struct as a tuple."""
    if isinstance(value, dict):
        return tuple(map(_as_key, value.items()))
    return tuple(map(_as_key, value)) if isinstance(value, list | tuple) else value


def segments_of(
    table: nw.DataFrame[Any], per: Sequence[str], reported: nw.DataFrame[Any] | None = None
) -> tuple[nw.DataFrame[Any], Any]:
    """Return the segments of a table of lists, sorted or in the order of `reported`, and each list's segment number."""
    if not per:
        return table.select(), np.zeros(len(table), dtype=np.intp)
    if reported is None:
        reported = table.select(*per).unique().sort(*per, nulls_last=True)
    numbers = {row: number for number, row in enumerate(rows_of(reported, per))}
    return reported, np.array([numbers[row] for row in rows_of(table, per)], dtype=np.intp)


def _text(value: Any) -> str | None:
    """Return a key's value as text; a whole float as an integer, because pandas makes floats of integers with gaps."""
    if value is None:
        return None
    if isinstance(value, timedelta) and not getattr(value, "nanoseconds", 0):
        # pandas writes its own kind of timedelta differently.
        return str(timedelta(value.days, value.seconds, value.microseconds))
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def fields_of(text: Any, kinds: Mapping[str, Any], subject: str, remedy: str) -> dict[str, Any]:
    """Return the fields of a stored JSON text, or raise if a field is missing or has another type than in `kinds`.

    The error begins with the `subject`, such as the file and the column.
    """
    try:
        fields = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        msg = f"{subject} holds {quoted(text)}"
        raise InputError(msg, remedy)
    return check_fields(fields, kinds, subject, remedy)


def check_fields(fields: dict[str, Any], kinds: Mapping[str, Any], subject: str, remedy: str) -> dict[str, Any]:
    """Return the fields, or raise if a field is missing or has another type than in `kinds`."""
    for name, kind in kinds.items():
        if name not in fields:
            msg = f"{subject} lacks {name!r}"
            raise InputError(msg, remedy)
        if not isinstance(fields[name], kind):
            msg = f"{subject} holds {name}={quoted(fields[name])}"
            raise InputError(msg, remedy)
    return fields


def pack(hashes: Any) -> str:
    """Return hashes as one text, sorted, in base64."""
    return base64.b64encode(np.sort(hashes).astype("<u8").tobytes()).decode()


def unpack(text: str) -> Any:
    """Return the hashes in a text of `pack`.

    Raises
    ------
    InputError
        The text is not base64 of hashes.
    """
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype="<u8")
    except (TypeError, ValueError):
        msg = f"keys={quoted(text)} are no keys of a state"
        raise InputError(msg, "give what df.rec.state(...) returned, unchanged") from None
