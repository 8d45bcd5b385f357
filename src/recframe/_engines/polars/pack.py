"""Packs the rows of a polars frame into integers, and sorts them: list, score, and a tail, from the highest bit on.

After the sort, the rows of a list follow each other, the best first::

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

The tail holds the row's other columns as digits if they are few integers. Otherwise, or in a small frame, it holds the
row's number. Scaling keeps the order of scores, but may give different scores the same bits.
"""

from __future__ import annotations

import math
import sys
from itertools import filterfalse
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from recframe._base.values import MOST_EXACT
from recframe._engines.packing import BITS, FEWEST_BITS, MOST_BITS, scale
from recframe._engines.polars.compat import FEW_ROWS, collect, numpy_if_installed, numpy_if_it_sorts_fast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recframe._engines.polars.frame import Facts

MOST_DIGITS = 2**12
"""The largest number of different tails of digits."""
FEW = 1000
"""How many values to test before all of them are tested."""

FEWEST_FOR_NUMPY = 2**12
"""Up to this number of integers, polars sorts faster than NumPy."""
MATCHED_THREADS = 4
"""With AVX-512, NumPy on one core sorts as fast as polars with this number of threads."""
SAFE_FACTOR = 2.0
"""From this factor on, integers scaled by it have different bits, rounding included. A factor of 0 means that all
numbers are equal."""
CODED = pl.Categorical, pl.Enum
"""The types of columns that polars stores as codes."""
PACKED = "packed"
UNKNOWN: list[Any] = [None, None, False, False]


class Digit(NamedTuple):
    """A column of integers as one digit."""

    name: str
    dtype: pl.DataType
    least: int
    """The value of the digit 0."""
    size: int
    """How many values the digit has."""
    lacks: bool
    """Whether the digit 0 stands for a missing value."""


class Digits(NamedTuple):
    """Columns of integers that are the digits of one number per row."""

    columns: tuple[Digit, ...]

    @classmethod
    def of(cls, frame: pl.DataFrame, names: Sequence[str], facts_of: Facts) -> Digits | None:
        """Return the digits of columns, or None if a column does not hold integers."""
        columns = []
        for name in names:
            least, most, are_integers, lacks = facts_of.get(name) or UNKNOWN
            if not are_integers or least is None or not -(2**BITS) < least <= most < 2**BITS:
                return None
            count = int(most) - int(least) + lacks + 1
            columns.append(Digit(name, frame.get_column(name).dtype, int(least) - lacks, count, lacks))
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
        """Return the number of each row: an expression, or a series from a frame's `get_column`; 0 without columns."""
        number: Any = 0
        for index, (name, dtype, least, count, lacks) in enumerate(self.columns):
            codes = column(name).to_physical() if dtype in CODED else column(name)
            digit = codes.cast(pl.Int64)
            digit = digit - least if least else digit  # subtracting 0 would take time too
            digit = digit.fill_null(0) if lacks else digit
            number = number * count + digit if index else digit
        return number

    def read(self, number: pl.Expr) -> dict[str, pl.Expr]:
        """Return the columns by their names, from the number of each row."""
        decoded = {}
        for index, (name, dtype, least, count, lacks) in reversed([*enumerate(self.columns)]):
            # The first digit is what is left. It needs no `%`, which is slow.
            digit = number % count if index else number
            value = digit + least if least else digit
            value = pl.when(digit > 0).then(value) if lacks else value
            decoded[name] = value.cast(dtype).alias(name)
            number = number // count
        return decoded


class Scale(NamedTuple):
    """The scale that turns scores into integers of some bits."""

    end: float
    """The best score: the highest, or the lowest."""
    factor: float
    descending: bool

    @classmethod
    def of(cls, scores: pl.Series, bits: int, *, descending: bool) -> Scale | None:
        """Return a scale for scores, or None if they are too far apart for these bits."""
        most, least = float(scores.max()), float(scores.min())  # type: ignore[arg-type]
        factor = None if bits < FEWEST_BITS else scale(most, least, bits)
        return None if factor is None else cls(most if descending else least, factor, descending)

    def distance(self, scores: Any) -> Any:
        """Return the distance of each score from the best one: an expression, or a series."""
        value = scores.cast(pl.Float64)
        distance = (self.end - value if self.descending else value - self.end) * self.factor
        # The numbers fit. Wrapping skips a check that takes half of the time.
        return distance.cast(pl.Int64, wrap_numerical=True)


class Pack(NamedTuple):
    """The rows of a frame as sorted integers."""

    frame: pl.DataFrame
    """The columns to read back."""
    codes: pl.Series
    lists: Digits
    digits: Digits | None
    """The digits in the tail; None: the tail holds the row's number."""
    score: int
    """The distance from one scaled score to the next: the tail is below it."""
    list: int
    """The distance from one list to the next."""
    in_order: bool
    """Whether the rows came in this order."""
    scale: Scale

    def numbers(self, codes: Any) -> Any:
        """Return the row numbers in the tails of packed rows."""
        return codes & (self.score - 1)

    def read(self) -> dict[str, pl.Expr]:
        """Return the columns of packed rows by name, decoded from the integer or looked up by the row's number."""
        code = pl.col(PACKED)
        lists = self.lists.read(code // self.list) if self.lists.readable else {}
        if self.digits is not None:
            # A mask takes a quarter of the time of `%`.
            return lists | self.digits.read(code & (self.score - 1))
        others = [column for column in self.frame.get_columns() if column.name not in lists]
        return lists | {column.name: pl.lit(column).gather(self.numbers(code)) for column in others}

    def separates_scores(self, scores: pl.Series, codes: pl.Series, goes_on: pl.Series) -> bool:
        """Return whether rows with equal bits have equal scores. The bits above the tail hold the list and the score.

        `codes` are packed rows. `goes_on` says for each row, from the second on, whether it has the bits of the row
        before it.
        """
        digits = () if self.digits is None else self.digits.columns
        digit = next((digit for digit in digits if digit.name == scores.name), None)
        # Larger integers may differ although they are equal as floats.
        are_exact = digit is not None and -MOST_EXACT <= digit.least <= MOST_EXACT - digit.size
        if (are_exact or scores.dtype.is_float()) and (
            not self.scale.factor or (digit is not None and self.scale.factor >= SAFE_FACTOR)
        ):
            return True
        bits = (codes.slice(1).filter(goes_on) % self.list // self.score).unique().alias(PACKED)
        rows = scores.to_frame().lazy()
        name = scores.name
        if 2 * scores.head(FEW).n_unique() < min(FEW, len(scores)):
            rows = rows.unique()  # for few different scores, this is faster than joining all rows
        matching = rows.with_columns(self.scale.distance(pl.col(name)).alias(PACKED))
        matching = matching.join(bits.to_frame().lazy(), on=PACKED, how="semi")
        return bool(collect(matching.select(name).unique().select(pl.len())).item() == len(bits))


def pack(
    frame: pl.DataFrame, lists: Digits, digits: Digits | None, score: str, columns: Sequence[str], *, descending: bool
) -> Pack | None:
    """Return the rows of a frame as sorted integers, to be read back with some columns; None if they do not fit.

    The tail holds the digits of the columns that are no keys, or the row's number if `digits` is None.
    """
    tail_bits = ((frame.height if digits is None else digits.many) - 1).bit_length()
    score_bits = min(MOST_BITS, BITS - (lists.many - 1).bit_length() - tail_bits)
    scaled = Scale.of(frame.get_column(score), score_bits, descending=descending)
    if scaled is None:
        return None
    # A small frame computes with series, because a plan would cost more than the computation.
    few = frame.height <= FEW_ROWS
    column: Callable[[str], Any] = frame.get_column if few else pl.col
    number: Any = pl.int_range(frame.height, eager=True) if few else pl.int_range(pl.len())
    codes = (lists.number(column) * 2**score_bits + scaled.distance(column(score))) * 2**tail_bits
    codes = (codes + (number if digits is None else digits.number(column))).alias(PACKED)
    codes = codes if few else collect(frame.lazy().select(codes)).to_series()
    # Compare without the tail. The first rows usually show that the rows are not sorted.
    bits = -(2**tail_bits)
    in_order = (codes.head(FEW) & bits).is_sorted() and (codes & bits).is_sorted()
    codes = codes if in_order else sort_integers(codes)
    bounds = 2**tail_bits, 2 ** (tail_bits + score_bits)
    return Pack(pl.DataFrame([*map(frame.get_column, columns)]), codes, lists, digits, *bounds, in_order, scaled)


def digits_of(
    frame: pl.DataFrame, keys: Sequence[str], columns: Sequence[str], facts_of: Facts
) -> tuple[Digits | None, Digits | None]:
    """Return the digits of the keys, or None if a key does not hold integers, and the digits of the other columns.

    The other columns are None if they do not fit into a tail, or if any column cannot be read back from digits. In a
    small frame they are None too, because looking rows up by number is faster. The keys may form more numbers than an
    integer can hold, so check `Digits.many`.
    """
    few = frame.height <= FEW_ROWS
    _add_facts(frame, keys if few else list(dict.fromkeys([*keys, *columns])), facts_of)
    lists = Digits.of(frame, keys, facts_of)
    tail = None if few else Digits.of(frame, [name for name in columns if name not in keys], facts_of)
    fits = tail is not None and tail.readable and tail.many <= MOST_DIGITS
    return lists, tail if fits and lists is not None and lists.readable else None


def shared_digits(frames: Sequence[pl.DataFrame], keys: Sequence[str], facts: Sequence[Facts]) -> Digits | None:
    """Return digits that encode the keys of several frames in the same way, or None if a key does not hold integers.

    The keys may form more numbers than an integer can hold, so check `Digits.many`.
    """
    shared: Facts = {}
    for frame, facts_of in zip(frames, facts, strict=True):
        _add_facts(frame, keys, facts_of)
        for name in keys:
            least, most, are_integers, lacks = facts_of.get(name) or UNKNOWN
            if least is None:
                return None
            others = shared.get(name) or [least, most, True, False]
            shared[name] = [min(least, others[0]), max(most, others[1]), are_integers and others[2], lacks or others[3]]
    return Digits.of(frames[0], keys, shared)


def _add_facts(frame: pl.DataFrame, names: Sequence[str], facts_of: Facts) -> None:
    """Add the missing facts about columns that may hold only integers."""
    columns = [*filter(may_be_integers, map(frame.get_column, filterfalse(facts_of.get, names)))]
    # In a small frame, one step for all columns costs more than computing on each series.
    few = frame.height <= FEW_ROWS or not columns
    looked_up = [fact for column in columns for fact in facts(column if few else pl.col(column.name), column.dtype)]
    answers = looked_up if few else frame.select(**{f"{number}": fact for number, fact in enumerate(looked_up)}).row(0)
    for number, column in enumerate(columns):
        facts_of.setdefault(column.name, [])[:] = answers[4 * number : 4 * number + 4]


def facts(values: Any, dtype: pl.DataType) -> tuple[Any, ...]:
    """Return the least and the largest number, whether all are integers, and whether some values are missing."""
    values = values.to_physical() if dtype in CODED else values
    are_integers = _is_integer(values).all() if dtype.is_float() else True
    return values.min(), values.max(), are_integers, values.null_count() > 0


def may_be_integers(column: pl.Series) -> bool:
    """Return whether a column may hold only integers: by its type, or for floats by the first values."""
    if column.dtype.is_float():
        return bool(column.head(FEW).to_frame().select(_is_integer(pl.first()).all()).item())
    return column.dtype.is_integer() or column.dtype in (pl.Boolean, pl.Categorical, pl.Enum)


def _is_integer(number: Any) -> Any:
    """Return whether a number is an integer, stored as a float."""
    return number % 1 == 0  # the remainder of inf is NaN; polars' floor() of 16-bit floats leaves 0.5


# --- the sort -----------------------------------------------------------------------------------------------


def sort_integers(packed: pl.Series) -> pl.Series:
    """Return the integers sorted, by NumPy if that is faster: on few cores, or on one core for a small frame."""
    many = len(packed) > FEW_ROWS
    # To import NumPy takes longer than to sort a small frame.
    by_numpy = (
        pl.thread_pool_size() <= MATCHED_THREADS if many else len(packed) > FEWEST_FOR_NUMPY and "numpy" in sys.modules
    )
    numpy = numpy_if_it_sorts_fast() if by_numpy else None
    if numpy is None:
        return packed.sort(multithreaded=many)
    # The sort is in place, so the chunks are copied only once, to memory that NumPy requests in large pages.
    integers = numpy.concatenate([part.to_numpy() for part in packed.get_chunks()])
    integers.sort()
    return pl.Series(packed.name, integers)


def in_order_of_rows(rows: pl.Series, values: pl.Series, height: int) -> pl.Series:
    """Return values in the order of their row numbers, missing for rows without a value."""
    numpy = numpy_if_installed() if height > FEW_ROWS else None
    some_lack = len(rows) < height
    if numpy is None or (some_lack and not values.dtype.is_float()):
        return pl.repeat(None, height, dtype=values.dtype, eager=True).scatter(rows, values)
    # NumPy is faster than polars, because it does not check the row numbers.
    array = values.to_numpy()
    in_order = numpy.full(height, numpy.nan) if some_lack else numpy.empty(height, dtype=array.dtype)
    in_order[rows.to_numpy()] = array
    return pl.Series(in_order, nan_to_null=some_lack)
