"""Ranks the rows of a polars frame within their lists, by one sort of packed integers or, if needed, by windows.

Ranking takes most of the time of a call. Each row becomes one integer, with the layout in `pack`. After a sort,
the rows of a list follow each other, the best first, so tied blocks are found by comparing neighbours. Different scores
may have the same bits. Then rows with the same bits are compared by their scores. Windows are used for keys without
integer codes, such as lists, and for scores that are too far apart for the bits.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from recframe._base.columns import EQUAL, POSITION, ROW, SIZE, START
from recframe._engines import packing
from recframe._engines.base import numbered_by_windows, ranked_by_windows
from recframe._engines.packing import BITS, bits_of_sample, score_to_sort_from
from recframe._engines.polars.compat import FEW_ROWS, collect, collect_columns
from recframe._engines.polars.frame import lazy, native
from recframe._engines.polars.pack import PACKED, digits_of, in_order_of_rows, pack
from recframe._engines.polars.sums import is_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._engines.base import Needed
    from recframe._engines.polars.frame import Facts
    from recframe._engines.polars.pack import Digits, Pack


class Mark(NamedTuple):
    """The rows that a plan needs: `Needed` with an expression of polars."""

    rows: pl.Expr
    upto: int = 0

    @classmethod
    def of(cls, needed: Needed | None) -> Mark | None:
        """Return the rows that the plan needs, or None for all rows."""
        return None if needed is None else cls(native(needed.rows), needed.upto)

    def is_needed(self) -> pl.Expr:
        """Return an expression that says whether a row of a ranked frame is needed."""
        return self.rows | (pl.col(START) <= self.upto) if self.upto else self.rows


class Ranked(NamedTuple):
    """Ranked rows."""

    rows: pl.LazyFrame
    is_untied: bool = False
    """Whether the rows are sorted by list and position, and no rows tie; False if that is not known."""


ROWS_AT_ONCE = 2**24
"""Frames with more rows are ranked in parts, some lists at a time, because ranking takes 40 bytes per row."""
PARTS_AT_ONCE = 8
"""The most parts into which rows are split at a time, because the filter of each part reads all of these rows."""
THINNED = 8
"""One in so many rows shows how many lists there are."""
LIST_BITS = 5
"""How many last bits of lists' numbers are the same in these rows."""
PIECE = 2**17
"""How many codes are compared at a time, so that the memory of one piece is reused for the next."""
_TRUE = pl.Series([True])
_FALSE = pl.Series([False])
SCORE = "score of row"
GOES_ON = "goes on"
"""Whether a row is in the tied block of the row before it."""
INDEX = "index of row"
RANKED_BY = "ranked by"


def rank_rows(
    frame: pl.DataFrame,
    keys: Sequence[str],
    score: str,
    upto: int | None,
    mark: Mark | None,
    facts: Facts | None = None,
) -> Ranked:
    """Return ranked rows, by a sort if possible and by windows otherwise; see `ranked_by_sort`.

    They may come in any order, unless the result says that they are sorted and untied.
    """
    ranked = ranked_by_sort(frame, keys, score, upto, mark, {} if facts is None else facts)
    if ranked is not None:
        return ranked
    rows: pl.LazyFrame = ranked_by_windows(lazy(frame), keys, score, upto).drop(score).to_native()
    return Ranked(rows if mark is None else rows.filter(mark.is_needed()))


def number_rows(
    frame: pl.DataFrame, keys: Sequence[str], column: str, *, descending: bool, tied: bool = False
) -> pl.LazyFrame:
    """Return rows with their positions by a column, missing if the column is missing; see `Engine.number_rows`."""
    missing = pl.col(column).is_null()
    scored = frame.filter(~missing) if frame.get_column(column).null_count() else frame
    numbered = numbered_by_sort(scored, keys, column, descending=descending, tied=tied)
    if numbered is None:
        windowed = numbered_by_windows(lazy(frame), keys, column, descending=descending, tied=tied)
        rows: pl.LazyFrame = windowed.to_native()
        return rows
    if scored is frame:
        return numbered
    lacks = [pl.lit(None, pl.Float64).alias(name) for name in (POSITION, *([EQUAL] if tied else []))]
    return pl.concat([numbered, frame.lazy().filter(missing).with_columns(lacks)])


def number_few_rows(frame: pl.LazyFrame, keys: Sequence[str], column: str, *, descending: bool) -> pl.LazyFrame:
    """Return a small frame with what `number_rows` adds, as a plan that only a later step computes.

    The rows are sorted, so their keys must be of types that polars sorts. Equal rows get different positions.
    """
    directions = [False] * len(keys) + [descending]
    order = pl.arg_sort_by(*keys, column, descending=directions, nulls_last=True, maintain_order=True)
    # Rows that polars knows to be sorted would be added in another way, which changes last bits.
    rows = frame.select(pl.all().gather(order))
    return rows.with_columns(number_of_value(keys, column).alias(POSITION))


def number_of_value(keys: Sequence[str], column: str) -> pl.Expr:
    """Return the number of each value of a column among the values of its list, missing where the column is missing.

    The rows of each list follow each other.
    """
    is_there = pl.col(column).is_not_null()
    number = is_there.cum_sum().cast(pl.Float64)
    before_list = pl.when(is_first(keys)).then(number - is_there.cast(pl.Float64)).forward_fill()
    return pl.when(is_there).then(number - before_list)


def positions_by_score(frame: pl.DataFrame, keys: Sequence[str], score: str, *, first: bool) -> pl.Series:
    """Return the first or the mean position of each row's tied block, missing if the score is missing."""
    rows = frame.select(*keys, pl.col(score).alias(RANKED_BY)).with_row_index(ROW)
    scored = rows.filter(pl.col(RANKED_BY).is_not_null()) if rows.get_column(RANKED_BY).null_count() else rows
    position = pl.col(START).cast(pl.Float64) if first else pl.col(START) + (pl.col(SIZE) - 1) / 2
    ranked = collect_columns(rank_rows(scored, keys, RANKED_BY, None, None).rows.select(ROW, position.alias(START)))
    return in_order_of_rows(ranked.get_column(ROW), ranked.get_column(START), frame.height)


# --- the sort -------------------------------------------------------------------------------------------------


def ranked_by_sort(
    frame: pl.DataFrame, keys: Sequence[str], score: str, upto: int | None, mark: Mark | None, facts: Facts
) -> Ranked | None:
    """Return rows with the first positions of their tied blocks, and the sizes of the blocks.

    Parameters
    ----------
    frame : polars.DataFrame
        The rows to rank. No score is missing.
    keys : sequence of str
        The key of a list.
    score : str
        The column to rank by, the highest first.
    upto : int, optional
        The last position that matters. Rows whose tied block starts after it are left out.
    mark : Mark or None
        The rows that are needed; None: all. Other rows count for positions, but are left out of the result.
    facts : dict of str to list
        The facts about columns. New facts are added.

    Returns
    -------
    Ranked or None
        The rows without their score. The rows of a list follow each other by position. The lists are sorted only if all
        of them were ranked by the same sort. None if the keys have no integer codes, or the numbers do not fit.
    """
    columns = [name for name in frame.columns if name != score]
    lists, digits = digits_of(frame, keys, columns, facts)
    if lists is None:
        return None
    least = None if upto is None else _score_to_sort_from(frame, lists, score, upto)
    if upto is None or least is None:
        ranked = _ranked(frame, lists, digits, score, upto, mark)
        return None if ranked is None else ranked[0]
    ranked = _ranked(_filtered(frame, pl.col(score) >= least), lists, digits, score, upto, mark, high=True)
    if ranked is None:
        return None
    rows, complete_lists = ranked
    # Lists with too few high scores are ranked again, with all rows. polars 1.30 can only scatter sorted indices.
    complete = pl.concat(complete_lists).unique().sort()
    is_incomplete = pl.repeat(value=True, n=lists.many, eager=True).scatter(complete, values=False)
    in_others = lists.number().is_in(is_incomplete.arg_true().cast(pl.Int64).implode())
    others = _filtered(frame, in_others) if is_incomplete.any() else frame.head(0)
    if others.is_empty():
        return rows
    rest = _ranked(others, lists, digits, score, upto, mark)
    return None if rest is None else Ranked(pl.concat([rows.rows.filter(~in_others), rest[0].rows]))


def _score_to_sort_from(frame: pl.DataFrame, lists: Digits, score: str, upto: int) -> float | None:
    """Return a score that enough rows of most lists reach, by a sample of lists; None if all rows are to be sorted."""
    number = lists.number()
    bits = bits_of_sample(frame.height, lists.many, upto)
    if bits is None and frame.height >= packing.MANY_ROWS:
        # The numbers of lists may have gaps, as in a part of the rows. Hashes spread them.
        number = number.hash()
        bits = bits_of_sample(frame.height, _count_lists(frame, number), upto)
    if bits is None:
        return None
    last_bits = number & (2**bits - 1)
    # The sample has the list of a row in the middle, so that it is never empty.
    sample = frame.lazy().filter(last_bits == frame.slice(frame.height // 2, 1).select(last_bits).item())
    # Sorted by polars, because Python sorts sorted lists fastest.
    numbers, scores = collect(sample.select(number.alias(PACKED), score).sort(score)).get_columns()
    return score_to_sort_from(numbers.to_list(), scores.to_list(), upto)


def _count_lists(frame: pl.DataFrame, number: pl.Expr) -> int:
    """Return about how many lists there are, by a few of all rows of a few lists."""
    numbers = frame.gather_every(THINNED).select(number).to_series()
    last_bits = numbers & (2**LIST_BITS - 1)
    some = numbers.filter(last_bits == last_bits[len(numbers) // 2])
    return frame.height * some.n_unique() // (THINNED * len(some))


def numbered_by_sort(
    frame: pl.DataFrame, keys: Sequence[str], column: str, *, descending: bool, tied: bool = False
) -> pl.LazyFrame | None:
    """Return rows with positions by a column, or None if `ranked_by_sort` would return None.

    Rows with equal values get positions in any order. With `tied`, they get the first position, and are counted.
    """
    lists, digits = digits_of(frame, keys, frame.columns, {})
    if lists is None:
        return None
    in_order = _in_order(frame, lists, digits, column, None, frame.columns, descending=descending)
    if in_order is None:
        return None
    rows = in_order.read((POSITION, EQUAL), pl.Float64, tied=tied and in_order.goes_on is not None)
    return rows if tied else rows.drop(EQUAL)


# --- positions ----------------------------------------------------------------------------------------------


def _ranked(
    frame: pl.DataFrame,
    lists: Digits,
    digits: Digits | None,
    score: str,
    upto: int | None,
    mark: Mark | None,
    *,
    high: bool = False,
    step: int = 1,
) -> tuple[Ranked, list[pl.Series]] | None:
    """Return ranked rows and, if only high scores are ranked, the lists with enough of them; None if they do not fit.

    Many rows are ranked in parts, and parts of many rows again: the numbers of their lists are equal modulo `step`.

    Returns
    -------
    ranked : Ranked
        The rows of tied blocks that start up to a position, with these starts and the sizes of the blocks.
    complete_lists : list of polars.Series
        The numbers of the lists that have a row at this position; empty unless `high`.
    """
    count = min(-(-frame.height // ROWS_AT_ONCE), PARTS_AT_ONCE)
    if count <= 1 or step >= lists.many:
        columns = [name for name in frame.columns if name != score]
        part = _in_order(frame, lists, digits, score, upto, columns, descending=True)
        if part is None:
            return None
        ranked_rows = Ranked(part.blocks(upto, mark), is_untied=part.goes_on is None)
        return ranked_rows, [part.lists_of_length(upto)] if high and upto is not None else []
    rows: list[pl.LazyFrame] = []
    complete_lists: list[pl.Series] = []
    for index in range(count):
        number = lists.number() if step == 1 else lists.number() // step
        some = _filtered(frame, number % count == index)
        if some.is_empty():
            continue
        ranked = _ranked(some, lists, digits, score, upto, mark, high=high, step=step * count)
        if ranked is None:
            return None
        # Only the needed rows of a part stay in memory while the other parts are sorted.
        rows.append(collect_columns(ranked[0].rows).lazy())
        complete_lists += ranked[1]
    return Ranked(pl.concat(rows)), complete_lists


def _in_order(
    frame: pl.DataFrame,
    lists: Digits,
    digits: Digits | None,
    score: str,
    upto: int | None,
    columns: Sequence[str],
    *,
    descending: bool,
) -> _InOrder | None:
    """Return the first rows of lists in the order of a score, by one sort; None if the numbers do not fit."""
    packed = pack(frame, lists, digits, score, columns, descending=descending)
    if packed is None:
        return None
    codes, goes_on = _first_rows(packed, upto)
    scores = frame.get_column(score)
    if not goes_on.any():
        return _InOrder(packed, codes, None)
    if digits is None:
        return _by_score(packed, codes, scores, goes_on, descending=descending)
    if packed.separates_scores(scores, codes, goes_on):
        return _InOrder(packed, codes, goes_on)
    # Different scores have the same bits. Sort again with the row's number in the tail, to look up the scores.
    return _in_order(frame, lists, None, score, upto, columns, descending=descending)


def _filtered(frame: pl.DataFrame, condition: pl.Expr) -> pl.DataFrame:
    """Return the rows that meet a condition."""
    return collect(frame.lazy().filter(condition))


def _same_from(bit: int, codes: pl.Series, before: int = 1) -> pl.Series:
    """Return whether each code equals the code `before` rows earlier in the bits from `bit` on, a power of 2.

    This is `code // bit`, compared without dividing.
    """
    later = codes.slice(before)
    count = len(later)
    if count <= PIECE:
        return (later ^ codes.head(count)) < bit
    return pl.concat([_same_from(bit, codes.slice(at, PIECE + before), before) for at in range(0, count, PIECE)])


def _earlier(flags: pl.Series, by: int) -> pl.Series:
    """Return the flags of earlier rows, true before the first one. `shift` would be slower, because it makes a plan."""
    return _TRUE.new_from_index(0, by).append(flags).head(len(flags))


def _first_rows(packed: Pack, upto: int | None) -> tuple[pl.Series, pl.Series]:
    """Return the codes of the rows up to a position, and whether each row has the bits of the row before it.

    Rows after the position are included if they have the same bits as the last row up to it. The flags start at the
    second row.
    """
    codes = packed.codes
    goes_on = _same_from(packed.score, packed.codes)
    if upto is None or upto >= len(codes):
        return codes, goes_on
    first = ~_same_from(packed.list, codes, upto)
    following = goes_on.slice(upto - 1)
    if first.all():
        return codes, goes_on
    # Rows with the bits of an included row are included too. Runs are followed in steps of 1, 2, 4, … rows.
    goes = following
    by = 1
    while goes.any():
        added = goes & _earlier(first, by) & ~first
        if not added.any():
            break
        first = first | added
        goes = goes & _earlier(goes, by)
        by *= 2
    return (
        codes.head(upto).append(codes.slice(upto).filter(first)).rechunk(),
        goes_on.head(upto - 1).append(following.filter(first)).rechunk(),
    )


def _by_score(packed: Pack, codes: pl.Series, scores: pl.Series, goes_on: pl.Series, *, descending: bool) -> _InOrder:
    """Return the first rows, with rows of the same bits sorted by their scores."""
    in_runs = pl.concat([_FALSE, goes_on]) | pl.concat([goes_on, _FALSE])
    run_codes = codes.filter(in_runs)
    values = scores[packed.numbers(run_codes)].alias(SCORE)
    same_bits = _same_from(packed.score, run_codes)
    if not (same_bits & (values.slice(1) != values.head(len(values) - 1))).any():
        return _InOrder(packed, codes, goes_on)
    bits = (run_codes // packed.score).alias(GOES_ON)
    rows = pl.DataFrame([run_codes, bits, values]).sort(GOES_ON, SCORE, descending=[False, descending])
    values = rows.get_column(SCORE)
    indices = in_runs.arg_true()
    codes = codes.clone().scatter(indices, rows.get_column(PACKED))
    is_tied = same_bits & (values.slice(1) == values.head(len(values) - 1))
    goes_on = goes_on.clone().scatter(indices.slice(1) - 1, is_tied)
    return _InOrder(packed._replace(in_order=False), codes, goes_on)


_INDEX = pl.int_range(pl.len(), dtype=pl.get_index_type())
"""The number of each row, in polars' index type, which takes half the memory of positions."""


@cache
def _start(bit: int, *, tied: bool) -> pl.Expr:
    """Return the position of each row in its list. The bits from `bit` on hold the list.

    With `tied`, the column INDEX holds the rows' numbers, because only some rows are left.
    """
    code = pl.col(PACKED)
    index = pl.col(INDEX) if tied else _INDEX
    return index - pl.when((code ^ code.shift(1, fill_value=2**BITS)) >= bit).then(index).forward_fill() + 1


def _blocks(ranked: pl.LazyFrame, bit: int, height: int, names: tuple[str, str]) -> pl.LazyFrame:
    """Return the first row of each tied block, with its position in the list and the size of the block."""
    size = pl.col(INDEX).shift(-1, fill_value=height) - pl.col(INDEX)
    firsts = ranked.filter(~pl.col(GOES_ON))
    return firsts.select(INDEX, _start(bit, tied=True).alias(names[0]), size.alias(names[1]))


class _InOrder(NamedTuple):
    """The first rows of lists, in order."""

    packed: Pack
    codes: pl.Series
    goes_on: pl.Series | None
    """Whether each row, from the second on, is in the tied block of the row before it; None: no rows tie."""

    def blocks(self, upto: int | None, mark: Mark | None) -> pl.LazyFrame:
        """Return the needed rows of tied blocks that start up to a position, with the blocks' starts and sizes."""
        tied = self.goes_on is not None
        rows = self.read((START, SIZE), pl.Int64, mark, tied=tied)
        # Rows with the same bits as the last row may have lower scores, and so start after the last position.
        return rows.filter(pl.col(START) <= upto) if tied and upto is not None else rows

    def read(
        self, names: tuple[str, str], dtype: type[pl.DataType], mark: Mark | None = None, *, tied: bool
    ) -> pl.LazyFrame:
        """Return the rows, or only the needed ones, with the starts and the sizes of their tied blocks.

        `names` are the columns of starts and sizes. If no rows tie, each row is a block.
        """
        packed = self.packed
        height = len(self.codes)
        columns = [self.codes.alias(PACKED)]
        if tied and self.goes_on is not None:
            columns.append(pl.Series(GOES_ON, [False]).append(self.goes_on))
        decoded: dict[str, pl.Expr] = {}
        if packed.in_order and height == packed.frame.height:
            columns += packed.frame.get_columns()
        elif packed.digits is None and height <= FEW_ROWS:
            columns += packed.frame[packed.numbers(self.codes)].get_columns()
        else:
            decoded = packed.read()
        start = _start(packed.list, tied=False).alias(names[0])
        ranked = pl.DataFrame(columns).lazy()
        ranked = ranked.with_row_index(INDEX) if tied else ranked.with_columns(start, pl.lit(1).alias(names[1]))
        rows = ranked
        if mark is not None:
            rows = rows.with_columns([decoded.pop(name) for name in mark.rows.meta.root_names() if name in decoded])
            rows = rows if mark.upto else rows.filter(mark.rows)
        if tied:
            # Starts and sizes are computed once per block. The needed rows, which may be few, look up their blocks.
            rows = rows.join_asof(_blocks(ranked, packed.list, height, names), on=INDEX)
        rows = rows if mark is None or not mark.upto else rows.filter(mark.is_needed())
        result_columns: list[Any] = packed.frame.columns
        return rows.select(*map(decoded.get, result_columns, result_columns), pl.col(*names).cast(dtype))

    def lists_of_length(self, upto: int) -> pl.Series:
        """Return the numbers of the lists that have a row at a position."""
        reached = _same_from(self.packed.list, self.codes, upto - 1)
        return self.codes.slice(upto - 1).filter(reached) // self.packed.list
