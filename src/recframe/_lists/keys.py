"""Keys of lists as text, and hashes of it that are the same on every machine."""

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

    from recframe._columns import Frame
    from recframe._engines.base import Session
    from recframe._plan.opened import Opened

PLACE = "place of list"
"""The number of a row, where rows come back in another order."""


def texts_of(context: Opened, table: nw.DataFrame[Any], names: Sequence[str]) -> list[str | None]:
    """Return columns of the user as one text for each row; a missing value alone is None."""
    keys = table.select(*names)
    if context.engine.eager:
        keys = as_user_has(context.session, keys.with_row_index(PLACE).lazy()).sort(PLACE).select(*names)
    columns = [[_text(value) for value in values_of(keys[name])] for name in names]
    rows = list(zip(*columns, strict=True))
    return [row[0] if len(row) == 1 else json.dumps(row) for row in rows]


def as_user_has(session: Session, table: Frame, sort: Sequence[str] = ()) -> nw.DataFrame[Any]:
    """Return eager rows with the keys as the user wrote them: in the plan numbers may stand for them."""
    return nw.from_native(session.finish(table, {}, sort), eager_only=True)


def floats_of(column: nw.Series[Any]) -> Any:
    """Return a column of numbers as an array, NaN where one is missing."""
    return np.asarray(column.cast(nw.Float64()).to_numpy(), dtype=np.float64)


def numbered(keys: Iterable[Any]) -> tuple[Any, dict[Any, int]]:
    """Return the number of each key, in the order in which they come first, and the numbers of all keys."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp), numbers


def rows_of(table: nw.DataFrame[Any], names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the values of columns, row by row; lists and structs as tuples, which are keys of dicts."""
    columns = [
        [*map(_as_key, values_of(table[name]))] if table[name].dtype.is_nested() else values_of(table[name])
        for name in names
    ]
    return list(zip(*columns, strict=True)) if names else [()] * len(table)


def _as_key(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(map(_as_key, value.items()))
    return tuple(map(_as_key, value)) if isinstance(value, list | tuple) else value


def segments_of(
    table: nw.DataFrame[Any], per: Sequence[str], reported: nw.DataFrame[Any] | None = None
) -> tuple[nw.DataFrame[Any], Any]:
    """Return the values of `per` in a table of lists, in a known order or sorted, and the number of each list's."""
    if not per:
        return table.select(), np.zeros(len(table), dtype=np.intp)
    if reported is None:
        reported = table.select(*per).unique().sort(*per, nulls_last=True)
    numbers = {row: number for number, row in enumerate(rows_of(reported, per))}
    return reported, np.array([numbers[row] for row in rows_of(table, per)], dtype=np.intp)


def _text(value: Any) -> str | None:
    """Return a value of a key as text: whole floats like integers, as a column that lacks values may hold both."""
    if value is None:
        return None
    if isinstance(value, timedelta) and not getattr(value, "nanoseconds", 0):
        # pandas spells its own otherwise.
        return str(timedelta(value.days, value.seconds, value.microseconds))
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def fields_of(text: Any, kinds: Mapping[str, Any], what: str, remedy: str) -> dict[str, Any]:
    """Return the fields of a stored text in JSON, or raise where one is missing or of another type than its own."""
    try:
        fields = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        msg = f"{what} holds {quoted(text)}"
        raise InputError(msg, remedy)
    return check_fields(fields, kinds, what, remedy)


def check_fields(fields: dict[str, Any], kinds: Mapping[str, Any], what: str, remedy: str) -> dict[str, Any]:
    """Return the fields of a stored text, or raise where one is missing or of another type than its own."""
    wrong = next((name for name, kind in kinds.items() if not isinstance(fields.get(name, ...), kind)), None)
    if wrong is not None:
        msg = f"{what} {f'holds {wrong}={quoted(fields[wrong])}' if wrong in fields else f'lacks {wrong!r}'}"
        raise InputError(msg, remedy)
    return fields


def key_hash(text: str | None) -> int:
    """Return 64 bits of a list's key, the same on every machine."""
    data = b"\x00" if text is None else text.encode(errors="surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def pack(hashes: Any) -> str:
    """Return hashes as text."""
    return base64.b64encode(np.sort(hashes).astype("<u8").tobytes()).decode()


def unpack(text: str) -> Any:
    """Return the hashes that a text holds.

    Raises
    ------
    InputError
        The text holds none.
    """
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype="<u8")
    except (TypeError, ValueError):
        msg = f"keys={quoted(text)} are no keys of a state"
        raise InputError(msg, "give what df.rec.state(...) returned, unchanged") from None
