"""Interactions in two parts: what models learn from, and what they are tested on."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import ITEM
from recframe._base.values import column_name, whole_number
from recframe._data.chance import FIELD_SIZE, places, scramble
from recframe._data.common import count_of, query_of_frames
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import labels_of, open_rows
from recframe._plan.sources import item_spec, key_specs, with_list_key
from recframe.errors import OptionError, OptionTypeError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._base.values import Labels
    from recframe._engines.base import Engine
    from recframe._engines.rows import Rows
    from recframe._plan.query import Query


HOW = ("fraction", "count", "last", "since")
LATEST, ROWS = "latest", "rows"
"""How a share of all rows is split off by time, and what it is a share of."""
TIME, TEST, TEST_ORDER, ITEMS, RANDOM, IN_TEST_LISTS = "time", "test", "order", "items", "chance", "chosen"
LEAST = Fraction(1, 1_000_000)
END_OF_TIME = 2**63
"""No column of whole numbers holds a later time."""


@dataclass(frozen=True)
class Terms:
    """The arguments of a split after their checks."""

    how: str
    size: int | Fraction | None
    """How many items of a list go to the test, or what share; None: it is a matter of time."""
    column: str | None
    """The column of time."""
    since: int | float | None
    dated: bool | None
    users: int | Fraction | None
    least: int
    seed: int

    @classmethod
    def of(cls, options: Mapping[str, Any], labels: Labels) -> Terms:
        """Check all that can be checked without a frame."""
        how = _how(options)
        size = None if how == "since" else _amount(how, options[how])
        # A share by time is one of all rows, and chance plays no part in it.
        how = LATEST if how == "fraction" and options["time"] is not None else how
        column, since, dated = _time(how, options, labels)
        return cls(
            how=how,
            size=size,
            column=column,
            since=since,
            dated=dated,
            users=None if options["users"] is None else _amount("users", options["users"]),
            least=count_of("min_items", options["min_items"]),
            seed=seed_of(options["seed"]),
        )

    @property
    def drawn(self) -> bool:
        """Whether chance plays a part."""
        return self.how in ("fraction", "count") or self.users is not None

    @property
    def counted(self) -> bool:
        """Whether the items of lists are counted."""
        return self.how not in ("since", LATEST) or self.users is not None or self.least > 1


def split(
    frame: Any, bound: Mapping[str, Any], options: Mapping[str, Any], roles: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return the rows to learn from and the rows to test on; see `Rec.split`."""
    terms = Terms.of(options, labels_of(frame))
    query = query_of_frames("split", frame, bound, roles)
    # Chance knows a key by its place among all keys, which needs their order.
    pair = {**key_specs(query, "order" if terms.drawn else "key"), **item_spec(query, "order")}
    time = {} if terms.column is None else {TIME: ColumnSpec(terms.column, "time", "time", dated=terms.dated)}
    rows = open_rows({"frame": Source(frame, (pair if terms.counted else {}) | time)})
    whole = _parted(rows, query, terms)
    whole = rows.engine.collect_once(whole.select(*rows.row, TEST))
    return rows.pick(whole.filter(nw.col(TEST) == 0), {}), rows.pick(whole.filter(nw.col(TEST) == 1), {})


def _parted(rows: Rows, query: Query, terms: Terms) -> Frame:
    """Add to each row whether it goes to the test."""
    whole = rows.frames["frame"]
    keys: list[str] = []
    if terms.counted:
        whole, keys = with_list_key(whole, key_specs(query))
        whole = places(rows.engine, whole, [*(key_specs(query) if terms.drawn else ()), ITEM])
        whole = _ordered(rows.engine, whole, keys, terms)
        whole = whole.with_columns(nw.col(TEST_ORDER).max().over(*keys).alias(ITEMS))
    if terms.how == LATEST:
        # Rows of one time are on one side. A missing time has no rank, so it comes after all others.
        # Ranks are floats on pandas, and pandas 2.2 warns where whole numbers meet floats.
        rank, last = nw.col(TIME).rank("min", descending=True), nw.len().cast(nw.Float64()) + 1
        latest = nw.when(nw.col(TIME).is_null()).then(last).otherwise(rank).cast(nw.Int64())
        whole = whole.with_columns(latest.alias(LATEST), nw.len().cast(nw.Int64()).alias(ROWS))
    order, of = (LATEST, ROWS) if terms.how == LATEST else (TEST_ORDER, ITEMS)
    test = nw.col(TIME) >= terms.since if terms.size is None else nw.col(order) <= _share(terms.size, nw.col(of))
    whole = whole.with_columns(nw.when(test).then(1).otherwise(0).alias(TEST))
    if terms.least > 1:
        enough = (nw.col(ITEMS) >= terms.least).cast(nw.Int64())
        whole = whole.with_columns((nw.col(TEST) * enough).alias(TEST))
    if terms.users is not None:
        whole = _chosen(rows.engine, whole, keys, terms, terms.users)
    return whole


# --- the order in which a list's items go to the test ---------------------------------------------------------


def _ordered(engine: Engine, frame: Frame, keys: Sequence[str], terms: Terms) -> Frame:
    """Add the number of each distinct item of a list in the order in which they go to the test.

    Rows that repeat an item share its number. By time the latest goes first, and an item counts with its latest time.
    """
    main = nw.lit(0)
    if terms.how == "last":
        frame = places(engine, frame, [TIME])
        frame = frame.with_columns(nw.col(TIME).max().over(*keys, ITEM).alias(TIME))
        main = nw.col(TIME)
    elif terms.how not in ("since", LATEST):
        frame = scramble(frame, [*keys, ITEM], f"{terms.seed}/items", RANDOM)
        main = nw.col(RANDOM)
    # The item decides where two are equal.
    frame = frame.with_columns((main * (FIELD_SIZE + 1) + nw.col(ITEM)).alias(TEST_ORDER))
    order = nw.col(TEST_ORDER).rank("dense", descending=terms.how == "last").over(*keys)
    return frame.with_columns(order.cast(nw.Int64()).alias(TEST_ORDER))


def _chosen(engine: Engine, frame: Frame, keys: Sequence[str], terms: Terms, users: int | Fraction) -> Frame:
    """Leave in the test only lists that are drawn at random."""
    lists = frame.select(*keys, ITEMS).unique().filter(nw.col(ITEMS) >= terms.least).drop(ITEMS)
    lists = scramble(lists, keys, f"{terms.seed}/lists", RANDOM)
    # A second number decides where two chances are equal.
    lists = scramble(lists, keys, f"{terms.seed}/ties", TEST_ORDER)
    lists = lists.with_columns(
        (nw.col(RANDOM) * (FIELD_SIZE + 1) + nw.col(TEST_ORDER)).alias(TEST_ORDER), nw.len().alias(ITEMS)
    )
    lists = lists.with_columns(nw.col(TEST_ORDER).rank("min").cast(nw.Int64()).alias(TEST_ORDER))
    lists = lists.filter(nw.col(TEST_ORDER) <= _share(users, nw.col(ITEMS).cast(nw.Int64())))
    frame = engine.join(frame, lists.select(*keys, nw.lit(1).alias(IN_TEST_LISTS)), keys)
    return frame.with_columns(nw.when(nw.col(IN_TEST_LISTS).is_null()).then(0).otherwise(nw.col(TEST)).alias(TEST))


def _share(size: int | Fraction, of: nw.Expr) -> Any:
    """Return how many of something: a number of them, or a fraction rounded up, exactly."""
    if isinstance(size, Fraction):
        return (of * size.numerator + size.denominator - 1) // size.denominator
    return size


# --- arguments ------------------------------------------------------------------------------------------------


def _how(options: Mapping[str, Any]) -> str:
    """Return which of the kinds of split the call names."""
    kinds = [name for name in HOW if options[name] is not None]
    if len(kinds) != 1:
        what = " and ".join(f"{name}={quoted(options[name])}" for name in kinds)
        msg = f"{what} exclude each other" if kinds else "split needs to know which rows go to the test"
        raise OptionError(msg, "give one of fraction=0.2, count=2, last=1 (with time=) and since=... (with time=)")
    return kinds[0]


def _time(how: str, options: Mapping[str, Any], labels: Labels) -> tuple[str | None, Any, bool | None]:
    """Return the column of time, the point in time as a number, and whether that is a date."""
    column = options["time"]
    timed = how in ("last", "since", LATEST)
    if timed and column is None:
        msg = f"{how}={quoted(options[how])} needs the column that says when"
        raise OptionError(msg, f"split({how}=..., time='timestamp')")
    if not timed:
        if column is not None:
            msg = f"time={quoted(column)} is not read with {how}="
            raise OptionError(msg, "split(last=1, time=...), split(fraction=0.2, time=...), or leave it out")
        return None, None, None
    column = column_name("time", column, labels)
    return (column, *moment("since", options["since"])) if how == "since" else (column, None, None)


def moment(name: str, since: Any) -> tuple[int | float, bool]:
    """Return a point in time as a number, and whether it was a date or a datetime: then in microseconds, UTC."""
    value, is_finer = since, getattr(since, "nanosecond", 0) != 0
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        # NumPy gives datetimes finer than microseconds as bare numbers.
        value = value.astype("datetime64[us]") if value.dtype.kind == "M" else value
        value, is_finer = value.item(), bool(value < since)
    if is_finer:
        msg = f"{name}={quoted(since)} is finer than microseconds, in which times are compared with it"
        raise OptionError(msg, "round it, as by .floor('us') of pandas")
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            msg = f"{name}={quoted(value)} is no point in time"
            raise OptionError(msg, "an ISO date such as '1998-03-01', a datetime, or a number") from None
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day, tzinfo=dt.UTC)
    if isinstance(value, dt.datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=dt.UTC)
        return (aware - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1), True
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < END_OF_TIME:
        msg = f"{name}={quoted(value)} is no point in time"
        raise OptionTypeError(msg, "a datetime, or a number where the times are numbers")
    return value, False


def _amount(name: str, value: Any) -> int | Fraction:
    """Return a number of things, or an exact fraction of them."""
    if name == "count" or (name != "fraction" and (not isinstance(value, Real) or isinstance(value, Integral))):
        return count_of(name, value)
    share: Any = value if isinstance(value, Real) and not isinstance(value, bool) else None
    if share is None or not 0 < share < 1:
        msg = f"{name}={quoted(value)} is not between 0 and 1"
        hint = "fraction=0.2, or count=2 for a number of items" if name == "fraction" else f"{name}=1 or {name}=0.1"
        raise (OptionTypeError if share is None else OptionError)(msg, hint)
    return min(max(LEAST, Fraction(float(share)).limit_denominator(LEAST.denominator)), 1 - LEAST)


def seed_of(value: object) -> int:
    """Return a seed."""
    return whole_number("seed", value, "seed=0", least=-(2**63), most=2**63 - 1)
