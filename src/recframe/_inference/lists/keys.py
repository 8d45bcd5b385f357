"""Keys of lists as rows, as text, and as hashes that are the same on every machine."""

from __future__ import annotations

import base64
import json
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


def texts_of(context: Opened, table: nw.DataFrame[Any], names: Sequence[str]) -> list[str | None]:
    """Return one text per row for some of the user's columns: JSON for several columns, None for one missing value."""
    keys = table.select(*names)
    if context.engine.eager:
        keys = (
            restore_user_values(context.session, keys.with_row_index(ROW_NUMBER).lazy()).sort(ROW_NUMBER).select(*names)
        )
    columns = [_texts(keys[name]) for name in names]
    return columns[0] if len(columns) == 1 else [json.dumps(row) for row in zip(*columns, strict=True)]


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


def key_hash(text: str | None) -> int:
    """Return a hash of 64 bits for the text of a list's key, the same on every machine."""
    data = b"\x00" if text is None else text.encode(errors="surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def key_hashes(texts: Iterable[str | None]) -> Any:
    """Return what `key_hash` returns for many texts, as an array."""
    encoded = (b"\x00" if text is None else text.encode(errors="surrogatepass") for text in texts)
    digests = b"".join([blake2b(data, digest_size=8).digest() for data in encoded])
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


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
