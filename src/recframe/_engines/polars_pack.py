"""Rows of a polars frame as sorted integers: the list, the score, and what tells the row, from the highest bit on.

Sorted, the rows of a list follow each other, the best first::

    bit 61                                                            bit 0
    ┌──────────────┬──────────────────────────────────┬───────────────────┐
    │     list     │ score: its distance to the best, │       tail        │
    │              │ scaled to the bits that are left │                   │
    └──────────────┴──────────────────────────────────┴───────────────────┘
                                                          ┌───────────┐
      the row has other columns of few whole numbers only │  digits   │ they are read from the integer
                                                          └───────────┘
                                                          ┌───────────┐
                  the row has others, or the frame few rows │  number   │ they are looked up by the row's number
                                                          └───────────┘

Scaling keeps the order of scores, but may give different scores the same bits.
"""

from __future__ import annotations

import math
from itertools import filterfalse
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from recframe._engines.packing import BITS, FEWEST_BITS, MOST_BITS, scale
from recframe._engines.polars_compat import FEW_ROWS, collect, numpy_if_installed, numpy_if_it_sorts_fast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recframe._engines.polars_frame import Facts

MOST_DIGITS = 2**12
"""How many different tails of digits there may be."""
FEW = 1000
"""How many values to look at before all are."""

MATCHED_THREADS = 4
"""How many threads of polars one core matches that sorts by NumPy, with AVX-512."""
SAFE_FACTOR = 2.0
"""Whole numbers are at least 1 apart: multiplied by so much, no two have the same bits, roundings included. By 0 are
multiplied numbers that are all equal."""
CODED = pl.Categorical, pl.Enum
"""The types of columns of codes."""
PACKED = "packed"
UNKNOWN: list[Any] = [None, None, False, False]


class Digits(NamedTuple):
    """Columns of whole numbers as the digits of one number."""

    columns: tuple[tuple[str, pl.DataType, int, int, bool], ...]
    """Their names, their types, their least values, how many values from there on they may have, and whether the least
    one stands for missing ones."""

    @classmethod
    def of(cls, frame: pl.DataFrame, names: Sequence[str], facts_of: Facts) -> Digits | None:
        """Return the digits of columns; None where one is not of whole numbers."""
        columns = []
        for name in names:
            least, most, whole, lacks = facts_of.get(name) or UNKNOWN
            if not whole or least is None or not -(2**BITS) < least <= most < 2**BITS:
                return None
            columns.append((name, frame.schema[name], int(least) - lacks, int(most) - int(least) + lacks + 1, lacks))
        return cls(tuple(columns))

    @property
    def many(self) -> int:
        """How many numbers there may be."""
        return math.prod(map(itemgetter(3), self.columns))

    @property
    def readable(self) -> bool:
        """Whether the columns can be read from the number: codes of categories cannot."""
        return not any(dtype in CODED for _, dtype, *_ in self.columns)

    def number(self, column: Callable[[str], Any] = pl.col) -> Any:
        """Return the number of each row: an expression, or a series of a frame's columns; of no columns, 0."""
        number: Any = 0
        for index, (name, dtype, least, count, lacks) in enumerate(self.columns):
            codes = column(name).to_physical() if dtype in CODED else column(name)
            digit = codes.cast(pl.Int64)
            digit = digit - least if least else digit  # to take 0 away takes as long
            digit = digit.fill_null(0) if lacks else digit
            number = number * count + digit if index else digit
        return number

    def read(self, number: pl.Expr) -> dict[str, pl.Expr]:
        """Return the columns by their names, from the number of each row."""
        decoded = {}
        for index, (name, dtype, least, count, lacks) in reversed([*enumerate(self.columns)]):
            # The first digit is what is left, and `%` takes its time.
            digit = number % count if index else number
            value = digit + least if least else digit
            value = pl.when(digit > 0).then(value) if lacks else value
            decoded[name] = value.cast(dtype).alias(name)
            number = number // count
        return decoded


class Scale(NamedTuple):
    """How scores become whole numbers of some bits."""

    end: float
    """The best score: the highest, or the lowest."""
    factor: float
    descending: bool

    @classmethod
    def of(cls, scores: pl.Series, bits: int, *, descending: bool) -> Scale | None:
        """Return the scale of scores; None where there is none."""
        most, least = float(scores.max()), float(scores.min())  # type: ignore[arg-type]
        factor = None if bits < FEWEST_BITS else scale(most, least, bits)
        return None if factor is None else cls(most if descending else least, factor, descending)

    def distance(self, scores: Any) -> Any:
        """Return the distance of each score from the best one: an expression, or a series."""
        value = scores.cast(pl.Float64)
        distance = (self.end - value if self.descending else value - self.end) * self.factor
        # The numbers fit; to check that takes half of the time.
        return distance.cast(pl.Int64, wrap_numerical=True)


class Pack(NamedTuple):
    """The rows of a frame as sorted integers."""

    frame: pl.DataFrame
    """The columns that rows are read back with."""
    codes: pl.Series
    lists: Digits
    digits: Digits | None
    """What the tail holds; None: the row's number."""
    score: int
    """The distance from one scaled score to the next: the tail is below it."""
    list: int
    """The distance from one list to the next."""
    in_order: bool
    """Whether the rows came in this order."""
    scale: Scale

    def numbers(self, codes: Any) -> Any:
        """Return the numbers of packed rows, where the tail holds them."""
        return codes & (self.score - 1)

    def read(self) -> dict[str, pl.Expr]:
        """Return the columns of packed rows by their names: those that the number holds from it, others by the row."""
        code = pl.col(PACKED)
        lists = self.lists.read(code // self.list) if self.lists.readable else {}
        if self.digits is not None:
            # `%` takes four times as long.
            return lists | self.digits.read(code & (self.score - 1))
        others = [column for column in self.frame.get_columns() if column.name not in lists]
        return lists | {column.name: pl.lit(column).gather(self.numbers(code)) for column in others}

    def tells(self, scores: pl.Series, codes: pl.Series, goes_on: pl.Series) -> bool:
        """Return whether rows with the bits of the one before have its score, if the tail does not say which it is."""
        is_whole = self.digits is not None and any(name == scores.name for name, *_ in self.digits.columns)
        # Whole numbers that are no floats may be different ones, and equal as floats.
        if scores.dtype.is_float() and (not self.scale.factor or (is_whole and self.scale.factor >= SAFE_FACTOR)):
            return True
        bits = (codes.slice(1).filter(goes_on) % self.list // self.score).unique().alias(PACKED)
        rows, name = scores.to_frame().lazy(), scores.name
        if 2 * scores.head(FEW).n_unique() < min(FEW, len(scores)):
            rows = rows.unique()  # few scores that repeat are found faster than looked up
        matching = rows.with_columns(self.scale.distance(pl.col(name)).alias(PACKED))
        matching = matching.join(bits.to_frame().lazy(), on=PACKED, how="semi")
        return bool(collect(matching.select(name).unique().select(pl.len())).item() == len(bits))


def pack(
    frame: pl.DataFrame, lists: Digits, digits: Digits | None, score: str, columns: Sequence[str], *, descending: bool
) -> Pack | None:
    """Return the rows of a frame as sorted integers, to be read back with some columns; None where they do not fit.

    With the digits of the columns that are no keys, or with the rows' numbers.
    """
    tail_bits = ((frame.height if digits is None else digits.many) - 1).bit_length()
    score_bits = min(MOST_BITS, BITS - (lists.many - 1).bit_length() - tail_bits)
    scaled = Scale.of(frame.get_column(score), score_bits, descending=descending)
    if scaled is None:
        return None
    # Series compute at once: of few rows, a plan costs more than what it computes.
    few = frame.height <= FEW_ROWS
    column: Callable[[str], Any] = frame.get_column if few else pl.col
    number: Any = pl.int_range(frame.height, eager=True) if few else pl.int_range(pl.len())
    codes = (lists.number(column) * 2**score_bits + scaled.distance(column(score))) * 2**tail_bits
    codes = (codes + (number if digits is None else digits.number(column))).alias(PACKED)
    codes = codes if few else collect(frame.lazy().select(codes)).to_series()
    # Without a tail; the first ones tell most often.
    bits = -(2**tail_bits)
    in_order = (codes.head(FEW) & bits).is_sorted() and (codes & bits).is_sorted()
    codes = codes if in_order else sort_integers(codes)
    bounds = 2**tail_bits, 2 ** (tail_bits + score_bits)
    return Pack(pl.DataFrame([*map(frame.get_column, columns)]), codes, lists, digits, *bounds, in_order, scaled)


def digits_of(
    frame: pl.DataFrame, keys: Sequence[str], columns: Sequence[str], facts_of: Facts
) -> tuple[Digits | None, Digits | None]:
    """Return the digits of the keys and those of columns that are no keys, None for each that the integers cannot hold.

    Few rows are looked up by their numbers sooner than read from digits.
    """
    few = frame.height <= FEW_ROWS
    _ask(frame, keys if few else list(dict.fromkeys([*keys, *columns])), facts_of)
    lists = Digits.of(frame, keys, facts_of)
    tail = None if few else Digits.of(frame, [name for name in columns if name not in keys], facts_of)
    fits = tail is not None and tail.readable and tail.many <= MOST_DIGITS
    return lists, tail if fits and lists is not None and lists.readable else None


def _ask(frame: pl.DataFrame, names: Sequence[str], facts_of: Facts) -> None:
    """Add what is not known yet of columns that may hold whole numbers only."""
    columns = [*filter(may_be_whole, map(frame.get_column, filterfalse(facts_of.get, names)))]
    # In a small frame, one step for all costs more than looks at columns that are held.
    few = frame.height <= FEW_ROWS or not columns
    looked_up = [fact for column in columns for fact in facts(column if few else pl.col(column.name), column.dtype)]
    answers = looked_up if few else frame.select(**{f"{number}": fact for number, fact in enumerate(looked_up)}).row(0)
    for number, column in enumerate(columns):
        facts_of.setdefault(column.name, [])[:] = answers[4 * number : 4 * number + 4]


def facts(values: Any, dtype: pl.DataType) -> tuple[Any, ...]:
    """Return the least and the largest number, whether all are whole, and whether some are missing."""
    values = values.to_physical() if dtype in CODED else values
    whole = _is_whole(values).all() if dtype.is_float() else True
    return values.min(), values.max(), whole, values.null_count() > 0


def may_be_whole(column: pl.Series) -> bool:
    """Return whether a column has the type of whole numbers, or floats whose first ones are whole."""
    if column.dtype.is_float():
        return bool(column.head(FEW).to_frame().select(_is_whole(pl.first()).all()).item())
    return column.dtype.is_integer() or column.dtype in (pl.Boolean, pl.Categorical, pl.Enum)


def _is_whole(number: Any) -> Any:
    """Return which numbers are whole."""
    return number % 1 == 0  # the remainder of inf is NaN; polars' floor() of 16-bit floats leaves 0.5


# --- the sort -----------------------------------------------------------------------------------------------


def sort_integers(packed: pl.Series) -> pl.Series:
    """Return the integers sorted, many on few cores by NumPy."""
    many = len(packed) > FEW_ROWS
    numpy = numpy_if_it_sorts_fast() if many and pl.thread_pool_size() <= MATCHED_THREADS else None
    if numpy is None:
        return packed.sort(multithreaded=many)
    # In place: what was computed in parts is copied but once, to memory that NumPy asks for in large pages.
    integers = numpy.concatenate([part.to_numpy() for part in packed.get_chunks()])
    integers.sort()
    return pl.Series(PACKED, integers)


def in_order_of_rows(rows: pl.Series, values: pl.Series, height: int) -> pl.Series:
    """Return values in the order of the rows that they belong to, missing for rows that have none."""
    numpy, some_lack = numpy_if_installed() if height > FEW_ROWS else None, len(rows) < height
    if numpy is None or (some_lack and not values.dtype.is_float()):
        return pl.repeat(None, height, dtype=values.dtype, eager=True).scatter(rows, values)
    # Faster than polars, as it does not check where numbers point to.
    array = values.to_numpy()
    in_order = numpy.full(height, numpy.nan) if some_lack else numpy.empty(height, dtype=array.dtype)
    in_order[rows.to_numpy()] = array
    return pl.Series(in_order, nan_to_null=some_lack)
