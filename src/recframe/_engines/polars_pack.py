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
                                                          ┌───────┬───┐
                                             it has others│ number│ ? │ they are looked up by the row's number;
                                                          └───────┴───┘ the last bit marks needed rows

Scaling keeps the order of scores, but may give different scores the same bits.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from recframe._engines.packing import BITS, FEWEST_BITS, MOST_BITS, scale
from recframe._engines.polars_compat import FEW_ROWS, collect, collect_columns, is_in, numpy_if_installed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    Spans = Mapping[str, tuple[int, int, bool]]
    """The least and the largest of the whole numbers of columns, and whether some are missing."""

MOST_DIGITS = 2**12
"""How many different tails of digits there may be."""
FEW = 1000
"""How many values to look at before all are."""
AVX512, AVX2 = {"X86_V4", "AVX512_SKX"}, {"X86_V3", "AVX2"}
"""What NumPy calls processors on which it sorts many numbers at once; with AVX2 from version 2 on."""

PACKED, INDEX = "packed", "index"


class Digits(NamedTuple):
    """Columns of whole numbers as the digits of one number."""

    columns: tuple[tuple[str, pl.DataType, int, int, bool], ...]
    """Their names, their types, their least values, how many values from there on they may have, and whether the least
    one stands for missing ones."""

    @classmethod
    def of(cls, frame: pl.DataFrame, names: Sequence[str], spans: Spans) -> Digits | None:
        """Return the digits of columns; None where one is not of whole numbers."""
        if not spans.keys() >= set(names):
            return None
        columns = []
        for name in names:
            least, most, lacks = spans[name]
            columns.append((name, frame.schema[name], least - lacks, most - least + lacks + 1, lacks))
        return cls(tuple(columns))

    @property
    def many(self) -> int:
        """How many numbers there may be."""
        return math.prod([many for *_, many, _ in self.columns])

    @property
    def readable(self) -> bool:
        """Whether the columns can be read from the number: codes of categories cannot."""
        return not any(dtype in (pl.Categorical, pl.Enum) for _, dtype, *_ in self.columns)

    def number(self) -> pl.Expr:
        """Return the number of each row."""
        number = None
        for name, _, least, many, lacks in self.columns:
            digit = pl.col(name).to_physical().cast(pl.Int64) - least
            digit = digit.fill_null(0) if lacks else digit
            number = digit if number is None else number * many + digit
        return pl.lit(0, dtype=pl.Int64) if number is None else number

    def read(self, number: pl.Expr) -> list[pl.Expr]:
        """Return the columns from the number of each row."""
        decoded = []
        for place, (name, dtype, least, many, lacks) in reversed([*enumerate(self.columns)]):
            # The first digit is what is left, and `%` takes its time.
            digit = number % many if place else number
            value = pl.when(digit > 0).then(digit + least) if lacks else digit + least
            decoded.append(value.cast(dtype).alias(name))
            number = number // many
        return decoded


class Pack(NamedTuple):
    """The rows of a frame as sorted integers."""

    frame: pl.DataFrame
    """The columns that rows are read back with."""
    codes: pl.Series
    lists: Digits
    digits: Digits | None
    """What the tail holds; None: the row's number and a mark."""
    score: int
    """The distance from one scaled score to the next: the tail is below it."""
    list: int
    """The distance from one list to the next."""
    in_order: bool
    """Whether the rows came in this order."""
    distance: pl.Expr
    """The bits of a score."""

    @property
    def tail(self) -> pl.Expr:
        """What is below the score; `%` takes four times as long."""
        return pl.col(PACKED) & (self.score - 1)

    def rows(self, packed: pl.Series) -> pl.DataFrame:
        """Return packed rows with the columns of the frame."""
        if self.in_order and len(packed) == self.frame.height:
            return self.frame
        rows, names = packed.alias(PACKED).to_frame(), self.frame.columns
        read = self.lists.read(pl.col(PACKED) // self.list) if self.lists.readable else []
        if self.digits is not None:
            return rows.select([*read, *self.digits.read(self.tail)]).select(names)
        known = rows.select(read)
        others = self.frame.drop(known.columns).select(pl.all().gather(self.numbers(packed)))
        return pl.DataFrame([*known.get_columns(), *others.get_columns()]).select(names)

    def numbers(self, packed: pl.Series) -> pl.Series:
        """Return the numbers of packed rows, where the tail holds them."""
        return packed.to_frame(PACKED).select(self.tail // 2).to_series()

    def scores(self, scores: pl.Series, packed: pl.Series) -> pl.Series | None:
        """Return the scores of packed rows, or what differs where they do; None where the bits do not tell."""
        if self.digits is None:
            return scores.gather(self.numbers(packed))
        bits = packed % self.list // self.score
        seen = pl.LazyFrame([bits.alias(PACKED)]).unique()
        rows, name, few = scores.to_frame().lazy(), scores.name, len(scores) <= FEW_ROWS
        if 2 * scores.head(FEW).n_unique() < min(FEW, len(scores)):
            rows = rows.unique()  # few scores that repeat are found faster than looked up
        matching = rows.with_columns(self.distance.alias(PACKED)).join(seen, on=PACKED, how="semi")
        differ = collect(matching.select(name).unique().select(pl.len()), few=few).item() > bits.n_unique()
        return None if differ else bits

    def needed(self, mark: pl.Expr) -> pl.Expr:
        """Return which packed rows are needed, from a column of them."""
        if self.digits is None:
            return pl.col(PACKED) & 1 == 1
        tails = pl.LazyFrame([pl.int_range(self.digits.many, eager=True).alias(PACKED)])
        marks = collect_columns(tails.select(self.digits.read(pl.col(PACKED))).select(mark))
        return is_in(self.tail, marks.to_series().arg_true().cast(pl.Int64))


def pack(
    frame: pl.DataFrame,
    lists: Digits,
    digits: Digits | None,
    score: str,
    columns: Sequence[str],
    *,
    descending: bool,
    mark: pl.Expr | None = None,
) -> Pack | None:
    """Return the rows of a frame as sorted integers, to be read back with some columns; None where they do not fit.

    With the digits of the columns that are no keys, or with the rows' numbers. Where not all rows are needed, `mark`
    says which ones are, from these columns.
    """
    tail_bits = (frame.height - 1).bit_length() + 1 if digits is None else (digits.many - 1).bit_length()
    score_bits = min(MOST_BITS, BITS - (lists.many - 1).bit_length() - tail_bits)
    distance = scaled(frame.get_column(score), score_bits, descending=descending)
    if distance is None:
        return None
    rows, tail = frame.lazy(), pl.col(INDEX).cast(pl.Int64) * 2 if digits is None else digits.number()
    if digits is None:
        rows, tail = rows.with_row_index(INDEX), tail if mark is None else tail + mark.cast(pl.Int64)
    packed = (lists.number() * 2**score_bits + distance) * 2**tail_bits + tail
    codes = collect(rows.select(packed.alias(PACKED)), few=frame.height <= FEW_ROWS).to_series()
    in_order = all((rows // 2**tail_bits if tail_bits else rows).is_sorted() for rows in (codes.head(FEW), codes))
    codes = codes if in_order else sort_integers(codes)
    bounds = 2**tail_bits, 2 ** (tail_bits + score_bits)
    return Pack(frame[columns], codes, lists, digits, *bounds, in_order, distance)


def digits_of(frame: pl.DataFrame, keys: Sequence[str], others: Sequence[str]) -> tuple[Digits | None, Digits | None]:
    """Return the digits of the keys and those of other columns, None for each that the integers cannot hold."""
    if frame.is_empty() or not all(_may_be_whole(frame.get_column(key)) for key in keys):
        return None, None
    spans = _spans(frame, [*keys, *others])
    lists, tail = Digits.of(frame, keys, spans), Digits.of(frame, others, spans)
    fits = tail is not None and tail.readable and tail.many <= MOST_DIGITS
    return lists, tail if fits and lists is not None and lists.readable else None


def scaled(scores: pl.Series, bits: int, *, descending: bool) -> pl.Expr | None:
    """Return the distance of each score from the best one, in whole numbers of some bits; None where that fails."""
    best, worst = float(scores.max()), float(scores.min())  # type: ignore[arg-type]
    factor = None if bits < FEWEST_BITS else scale(best, worst, bits)
    if factor is None:
        return None
    value = pl.col(scores.name).cast(pl.Float64)
    # The numbers fit; to check that takes half of the time.
    return ((best - value if descending else value - worst) * factor).cast(pl.Int64, wrap_numerical=True)


def _spans(frame: pl.DataFrame, names: Sequence[str]) -> Spans:
    """Return the spans of the columns that hold whole numbers only."""
    columns = [column for column in map(frame.get_column, names) if _may_be_whole(column)]
    # In a small frame, one step for all costs more than looks at columns that are held.
    few = frame.height <= FEW_ROWS
    facts = [fact for column in columns for fact in _facts(column if few else pl.col(column.name), column.dtype)]
    known = facts if few else frame.select(**{f"{number}": fact for number, fact in enumerate(facts)}).row(0)
    spans = {}
    for number, column in enumerate(columns):
        least, most, whole, lacks = known[4 * number : 4 * number + 4]
        if whole and least is not None and -(2**BITS) < least <= most < 2**BITS:
            spans[column.name] = int(least), int(most), lacks
    return spans


def _facts(values: Any, dtype: pl.DataType) -> tuple[Any, ...]:
    """Return the least and the largest number, whether all are whole, and whether some are missing."""
    values = values.to_physical() if dtype in (pl.Categorical, pl.Enum) else values
    whole = _is_whole(values).all() if dtype.is_float() else True
    return values.min(), values.max(), whole, values.null_count() > 0


def _may_be_whole(column: pl.Series) -> bool:
    """Return whether a column has the type of whole numbers, or floats whose first ones are whole."""
    if column.dtype.is_float():
        return bool(column.head(FEW).to_frame().select(_is_whole(pl.first()).all()).item())
    return column.dtype.is_integer() or column.dtype in (pl.Boolean, pl.Categorical, pl.Enum)


def _is_whole(number: Any) -> Any:
    """Return which numbers are whole."""
    return number.is_finite() & (number == number.floor())


# --- the sort -----------------------------------------------------------------------------------------------


def sort_integers(packed: pl.Series) -> pl.Series:
    """Return the integers sorted, by NumPy where its sort is the faster one."""
    if len(packed) <= FEW_ROWS or not numpy_is_faster():
        # Few are sorted before other cores could help, or NumPy be imported.
        return packed.sort(multithreaded=len(packed) > FEW_ROWS)
    return pl.Series(PACKED, numpy_if_installed().sort(packed.to_numpy()))


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


@cache
def numpy_is_faster() -> bool:
    """Return whether NumPy's sort is faster than that of polars: the processor and the number of threads tell."""
    numpy = numpy_if_installed()
    if numpy is None:
        return False
    known = numpy.show_config(mode="dicts").get("SIMD Extensions", {})
    features = {feature for kind in ("baseline", "found") for feature in known.get(kind, ())}
    return pl.thread_pool_size() <= matched_threads(features, numpy.__version__)


def matched_threads(features: AbstractSet[str], version: str) -> int:
    """Return how many threads of polars one core matches that sorts by NumPy, from what the processor knows."""
    if features & AVX512:
        return 4
    return 2 if features & AVX2 and not version.startswith("1.") else 0
