"""Interactions in two parts: what models learn from, and what they are tested on."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw

from recframe._base.columns import ITEM
from recframe._base.values import column_name, whole_number
from recframe._data.chance import FIELD_SIZE, replace_by_ranks, scramble
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
    from recframe._plan.request import Request


KINDS = ("fraction", "count", "last", "since")
LATEST = "latest"
"""The rank of a row by time, the latest first: for a fraction of all rows by time."""
ROWS = "rows"
"""The number of all rows; the test gets a fraction of them."""
TIME = "time"
TEST = "test"
TEST_ORDER = "order"
ITEMS = "items"
"""The number of a list's distinct items."""
LISTS = "lists"
"""The number of lists that may be drawn."""
RANDOM = "chance"
IN_TEST_LISTS = "chosen"
LEAST = Fraction(1, 1_000_000)
END_OF_TIME = 2**63
"""Later than any time in a column of integers."""


class TimeOptions(NamedTuple):
    """The options of a split about time."""

    column: str | None
    since: int | float | None
    """The first time of the test, as a number."""
    is_date: bool | None


@dataclass(frozen=True)
class SplitOptions:
    """The checked arguments of a split."""

    kind: str
    size: int | Fraction | None
    """How many items of a list go to the test, or what share of them; None: the time decides."""
    time_column: str | None
    since: int | float | None
    """The first time of the test, as a number."""
    is_date: bool | None
    """Whether `since` is a date or a datetime; None without `since`."""
    users: int | Fraction | None
    min_items: int
    seed: int

    @classmethod
    def of(cls, options: Mapping[str, Any], labels: Labels) -> SplitOptions:
        """Return the options, or raise for what can be checked without a frame."""
        kind = _kind_of_split(options)
        size = None if kind == "since" else _amount(kind, options[kind])
        # With a time, a fraction is a fraction of all rows, and nothing is random.
        kind = LATEST if kind == "fraction" and options["time"] is not None else kind
        time_column, since, is_date = _time_options(kind, options, labels)
        return cls(
            kind=kind,
            size=size,
            time_column=time_column,
            since=since,
            is_date=is_date,
            users=None if options["users"] is None else _amount("users", options["users"]),
            min_items=count_of("min_items", options["min_items"]),
            seed=seed_of(options["seed"]),
        )

    @property
    def is_random(self) -> bool:
        """Whether random numbers decide."""
        return self.kind in ("fraction", "count") or self.users is not None

    @property
    def counts_items(self) -> bool:
        """Whether the items of lists are counted."""
        return self.kind not in ("since", LATEST) or self.users is not None or self.min_items > 1


def split(request: Request, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the rows to learn from and the rows to test on; see `Rec.split`."""
    split_options = SplitOptions.of(options, labels_of(request.frame))
    query = query_of_frames("split", request)
    # A random number depends on the rank of a key among all keys, so keys must have an order.
    pair = {**key_specs(query, "order" if split_options.is_random else "key"), **item_spec(query, "order")}
    time = {}
    if split_options.time_column is not None:
        time[TIME] = ColumnSpec(split_options.time_column, "time", "time", dated=split_options.is_date)
    rows = open_rows({"frame": Source(request.frame, (pair if split_options.counts_items else {}) | time)})
    with_test = _with_test_column(rows, query, split_options)
    with_test = rows.engine.collect_once(with_test.select(*rows.row, TEST))
    return rows.pick(with_test.filter(nw.col(TEST) == 0), {}), rows.pick(with_test.filter(nw.col(TEST) == 1), {})


def _with_test_column(rows: Rows, query: Query, split_options: SplitOptions) -> Frame:
    """Add the column TEST: 1 for rows that go to the test, otherwise 0."""
    frame = rows.frames["frame"]
    keys: list[str] = []
    if split_options.counts_items:
        frame, keys = with_list_key(frame, key_specs(query))
        frame = replace_by_ranks(rows.engine, frame, [*(key_specs(query) if split_options.is_random else ()), ITEM])
        frame = _with_test_order(rows.engine, frame, keys, split_options)
        frame = frame.with_columns(nw.col(TEST_ORDER).max().over(*keys).alias(ITEMS))
    if split_options.kind == LATEST:
        # Rows of one time are on one side. A missing time has no rank, so it comes after all others.
        # Ranks are floats on pandas, and pandas 2.2 warns where whole numbers meet floats.
        rank = nw.col(TIME).rank("min", descending=True)
        last = nw.len().cast(nw.Float64()) + 1
        latest = nw.when(nw.col(TIME).is_null()).then(last).otherwise(rank).cast(nw.Int64())
        frame = frame.with_columns(latest.alias(LATEST), nw.len().cast(nw.Int64()).alias(ROWS))
    order, total = (LATEST, ROWS) if split_options.kind == LATEST else (TEST_ORDER, ITEMS)
    if split_options.size is None:
        is_test = nw.col(TIME) >= split_options.since
    else:
        is_test = nw.col(order) <= _count_of_share(split_options.size, nw.col(total))
    frame = frame.with_columns(nw.when(is_test).then(1).otherwise(0).alias(TEST))
    if split_options.min_items > 1:
        has_enough = (nw.col(ITEMS) >= split_options.min_items).cast(nw.Int64())
        frame = frame.with_columns((nw.col(TEST) * has_enough).alias(TEST))
    if split_options.users is not None:
        frame = _keep_drawn_lists(rows.engine, frame, keys, split_options, split_options.users)
    return frame


# --- the order in which a list's items go to the test ---------------------------------------------------------


def _with_test_order(engine: Engine, frame: Frame, keys: Sequence[str], split_options: SplitOptions) -> Frame:
    """Add the number of each distinct item of a list in the order in which they go to the test.

    Rows that repeat an item share its number. By time the latest goes first, and an item counts with its latest time.
    """
    first_key = nw.lit(0)
    if split_options.kind == "last":
        frame = replace_by_ranks(engine, frame, [TIME])
        frame = frame.with_columns(nw.col(TIME).max().over(*keys, ITEM).alias(TIME))
        first_key = nw.col(TIME)
    elif split_options.kind not in ("since", LATEST):
        frame = scramble(frame, [*keys, ITEM], f"{split_options.seed}/items", RANDOM)
        first_key = nw.col(RANDOM)
    # If times or random numbers are equal, the rank of the item decides.
    frame = frame.with_columns((first_key * (FIELD_SIZE + 1) + nw.col(ITEM)).alias(TEST_ORDER))
    order = nw.col(TEST_ORDER).rank("dense", descending=split_options.kind == "last").over(*keys)
    return frame.with_columns(order.cast(nw.Int64()).alias(TEST_ORDER))


def _keep_drawn_lists(
    engine: Engine, frame: Frame, keys: Sequence[str], split_options: SplitOptions, users: int | Fraction
) -> Frame:
    """Take all lists out of the test except a random sample."""
    lists = frame.select(*keys, ITEMS).unique().filter(nw.col(ITEMS) >= split_options.min_items).drop(ITEMS)
    lists = scramble(lists, keys, f"{split_options.seed}/lists", RANDOM)
    # Among equal random numbers, a second random number decides.
    lists = scramble(lists, keys, f"{split_options.seed}/ties", TEST_ORDER)
    lists = lists.with_columns(
        (nw.col(RANDOM) * (FIELD_SIZE + 1) + nw.col(TEST_ORDER)).alias(TEST_ORDER), nw.len().alias(LISTS)
    )
    lists = lists.with_columns(nw.col(TEST_ORDER).rank("min").cast(nw.Int64()).alias(TEST_ORDER))
    lists = lists.filter(nw.col(TEST_ORDER) <= _count_of_share(users, nw.col(LISTS).cast(nw.Int64())))
    frame = engine.join(frame, lists.select(*keys, nw.lit(1).alias(IN_TEST_LISTS)), keys)
    return frame.with_columns(nw.when(nw.col(IN_TEST_LISTS).is_null()).then(0).otherwise(nw.col(TEST)).alias(TEST))


def _count_of_share(size: int | Fraction, total: nw.Expr) -> Any:
    """Return a number as it is, or a fraction of the total, rounded up without rounding errors."""
    if isinstance(size, Fraction):
        return (total * size.numerator + size.denominator - 1) // size.denominator
    return size


# --- arguments ------------------------------------------------------------------------------------------------


def _kind_of_split(options: Mapping[str, Any]) -> str:
    """Return the kind of split that the call names, or raise for none and for several."""
    kinds = [name for name in KINDS if options[name] is not None]
    if len(kinds) != 1:
        what = " and ".join(f"{name}={quoted(options[name])}" for name in kinds)
        msg = f"{what} exclude each other" if kinds else "split needs to know which rows go to the test"
        raise OptionError(msg, "give one of fraction=0.2, count=2, last=1 (with time=) and since=... (with time=)")
    return kinds[0]


def _time_options(kind: str, options: Mapping[str, Any], labels: Labels) -> TimeOptions:
    """Return the column of time and the point in time, or raise for arguments that do not go with the kind of split."""
    column = options["time"]
    timed = kind in ("last", "since", LATEST)
    if timed and column is None:
        msg = f"{kind}={quoted(options[kind])} needs the column that says when"
        raise OptionError(msg, f"split({kind}=..., time='timestamp')")
    if not timed:
        if column is not None:
            msg = f"time={quoted(column)} is not read with {kind}="
            raise OptionError(msg, "split(last=1, time=...), split(fraction=0.2, time=...), or leave it out")
        return TimeOptions(None, None, None)
    column = column_name("time", column, labels)
    since, is_date = moment("since", options["since"]) if kind == "since" else (None, None)
    return TimeOptions(column, since, is_date)


def moment(name: str, since: Any) -> tuple[int | float, bool]:
    """Return a point in time as a number, and whether it was a date or a datetime: then in microseconds, UTC."""
    value = since
    is_finer = getattr(since, "nanosecond", 0) != 0
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        # NumPy gives datetimes finer than microseconds as bare numbers.
        value = value.astype("datetime64[us]") if value.dtype.kind == "M" else value
        is_finer = bool(value < since)
        value = value.item()
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
    """Return a checked seed."""
    return whole_number("seed", value, "seed=0", least=-(2**63), most=2**63 - 1)
