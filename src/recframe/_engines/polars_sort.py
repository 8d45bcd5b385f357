"""Ranks the rows of a polars frame within their lists: by one sort of packed integers, or by windows if need be.

Ranking takes most of the time of a call. Each row becomes one integer (`polars_pack` draws it): sorted, the rows of a
list follow each other, the best first, so that all that follows is about neighbours. Different scores may have the same
bits: rows with the same bits are compared by their scores. Windows rank keys that have no integer codes, such as lists,
and scores too far apart for those of the sort.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from recframe._columns import EQUAL, POSITION, ROW, SIZE, START
from recframe._engines.base import numbered_by_windows, ranked_by_windows
from recframe._engines.packing import BITS, bits_of_sample, score_to_sort_from
from recframe._engines.polars_compat import FEW_ROWS, collect, collect_columns
from recframe._engines.polars_frame import lazy, native
from recframe._engines.polars_pack import PACKED, digits_of, in_order_of_rows, pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._engines.base import Needed
    from recframe._engines.polars_frame import Facts
    from recframe._engines.polars_pack import Digits, Pack


class Mark(NamedTuple):
    """`Needed` as polars computes it."""

    rows: pl.Expr
    upto: int = 0

    @classmethod
    def of(cls, needed: Needed | None) -> Mark | None:
        """Return what the plan needs; None: all rows."""
        return None if needed is None else cls(native(needed.rows), needed.upto)

    def of_frame(self) -> pl.Expr:
        """Return which rows of a frame are needed, once they have their positions."""
        return self.rows | (pl.col(START) <= self.upto) if self.upto else self.rows


ROWS_AT_ONCE = 2**24
"""Of more rows, some lists at a time are ranked: each row takes 40 bytes meanwhile."""
PIECE = 2**17
"""So many codes are compared at once: the memory of one piece is used again for the next."""
_TRUE, _FALSE = pl.Series([True]), pl.Series([False])
SCORE, GOES_ON, INDEX, PLACED_BY = "score of row", "goes on", "index of row", "placed by"


def rank_rows(
    frame: pl.DataFrame,
    keys: Sequence[str],
    score: str,
    upto: int | None,
    mark: Mark | None,
    facts: Facts | None = None,
) -> pl.LazyFrame:
    """Return rows as `ranked_by_sort` does, in any order."""
    ranked = ranked_by_sort(frame, keys, score, upto, mark, {} if facts is None else facts)
    if ranked is not None:
        return ranked
    rows: pl.LazyFrame = ranked_by_windows(lazy(frame), keys, score, upto).drop(score).to_native()
    return rows if mark is None else rows.filter(mark.of_frame())


def number_rows(
    frame: pl.DataFrame, keys: Sequence[str], column: str, *, descending: bool, tied: bool = False
) -> pl.LazyFrame:
    """Return rows with their positions by a column, as `Engine.number_rows` does; missing where it is."""
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


def places(frame: pl.DataFrame, keys: Sequence[str], score: str, *, first: bool) -> pl.Series:
    """Return the first or the mean position of each row's tied block, missing where the score is."""
    rows = frame.select(*keys, pl.col(score).alias(PLACED_BY)).with_row_index(ROW)
    scored = rows.filter(pl.col(PLACED_BY).is_not_null()) if rows.get_column(PLACED_BY).null_count() else rows
    place = pl.col(START).cast(pl.Float64) if first else pl.col(START) + (pl.col(SIZE) - 1) / 2
    ranked = collect_columns(rank_rows(scored, keys, PLACED_BY, None, None).select(ROW, place.alias(START)))
    return in_order_of_rows(ranked.get_column(ROW), ranked.get_column(START), frame.height)


# --- the sort -------------------------------------------------------------------------------------------------


def ranked_by_sort(
    frame: pl.DataFrame, keys: Sequence[str], score: str, upto: int | None, mark: Mark | None, facts: Facts
) -> pl.LazyFrame | None:
    """Return rows with the positions where their tied blocks start in their lists, and the sizes of the blocks.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows to rank; no score is missing.
    keys, score : sequence of str, str
        The list and what ranks it, the highest first.
    upto : int, optional
        The last position that matters: rows whose block starts after it are left out.
    mark : Mark or None
        Which rows are needed: all rows get their positions, and the others are left out. None: all are.
    facts : dict of str to list
        What is known of the columns; what is looked up is added.

    Returns
    -------
    polars.LazyFrame or None
        The rows without their score, those of a list one after the other by position, from a plan of few steps over
        sorted rows; None where the keys have no integer codes, or the numbers do not fit.
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
    rows, whole = ranked
    # In order, as polars 1.30 sets values in no other.
    lacks = pl.repeat(value=True, n=lists.many, eager=True).scatter(pl.concat(whole).unique().sort(), values=False)
    in_others = lists.number().is_in(lacks.arg_true().cast(pl.Int64).implode())
    others = _filtered(frame, in_others) if lacks.any() else frame.head(0)
    if others.is_empty():
        return rows
    rest = _ranked(others, lists, digits, score, upto, mark)
    return None if rest is None else pl.concat([rows.filter(~in_others), rest[0]])


def _score_to_sort_from(frame: pl.DataFrame, lists: Digits, score: str, upto: int) -> float | None:
    """Return the score from which on most lists have enough rows; None where all rows are sorted."""
    bits = bits_of_sample(frame.height, lists.many, upto)
    if bits is None:
        return None
    number = lists.number()
    last_bits = number & (2**bits - 1)
    # One of the lists is that of some row, so that there is one.
    sample = frame.lazy().filter(last_bits == frame.slice(frame.height // 2, 1).select(last_bits).item())
    # Sorted, as Python then sorts in no time.
    numbers, scores = collect(sample.select(number.alias(PACKED), score).sort(score)).get_columns()
    return score_to_sort_from(numbers.to_list(), scores.to_list(), upto)


def numbered_by_sort(
    frame: pl.DataFrame, keys: Sequence[str], column: str, *, descending: bool, tied: bool = False
) -> pl.LazyFrame | None:
    """Return rows with positions by a column, of equal ones in any order or the first; None as above."""
    lists, digits = digits_of(frame, keys, frame.columns, {})
    if lists is None:
        return None
    found = _in_order(frame, lists, digits, column, None, frame.columns, descending=descending)
    if found is None:
        return None
    rows = found.read((POSITION, EQUAL), pl.Float64, tied=tied and found.goes_on is not None)
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
) -> tuple[pl.LazyFrame, list[pl.Series]] | None:
    """Rank rows by sorts, all or those of high scores; None where the numbers do not fit.

    Returns
    -------
    rows : polars.LazyFrame
        Those of tied blocks that start up to a position, with their positions and the sizes of their blocks.
    whole : list of polars.Series
        The numbers of the lists that have a row at this position; empty where no lower scores were left out.
    """
    columns = [name for name in frame.columns if name != score]
    count = -(-frame.height // ROWS_AT_ONCE)
    rows: list[pl.LazyFrame] = []
    whole: list[pl.Series] = []
    for index in range(count):
        in_order = frame if count == 1 else _filtered(frame, lists.number() % count == index)
        if in_order.is_empty():
            continue
        part = _in_order(in_order, lists, digits, score, upto, columns, descending=True)
        if part is None:
            return None
        needed = part.blocks(upto, mark)
        # While the others are sorted, only what is needed of each part stays in memory.
        rows.append(needed if count == 1 else collect_columns(needed).lazy())
        if high and upto is not None:
            whole.append(part.lists_of_length(upto))
    return (rows[0] if count == 1 else pl.concat(rows)), whole


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
    """Return the first rows of lists in the order of a score, by one sort; None where the numbers do not fit."""
    packed = pack(frame, lists, digits, score, columns, descending=descending)
    if packed is None:
        return None
    codes, goes_on = _first_rows(packed, upto)
    scores = frame.get_column(score)
    if not goes_on.any():
        return _InOrder(packed, codes, None)
    if digits is None:
        return _by_score(packed, codes, scores, goes_on, descending=descending)
    if packed.tells(scores, codes, goes_on):
        return _InOrder(packed, codes, goes_on)
    # Different scores have the same bits, and only the number of a row tells its score.
    return _in_order(frame, lists, None, score, upto, columns, descending=descending)


def _filtered(frame: pl.DataFrame, condition: pl.Expr) -> pl.DataFrame:
    return collect(frame.lazy().filter(condition))


def _same_from(bit: int, codes: pl.Series, before: int = 1) -> pl.Series:
    """Return which codes, from one on, equal the one some places before in all bits from one on, without a division."""
    count = len(later := codes.slice(before))
    if count <= PIECE:
        return (later ^ codes.head(count)) < bit
    return pl.concat([_same_from(bit, codes.slice(at, PIECE + before), before) for at in range(0, count, PIECE)])


def _earlier(flags: pl.Series, by: int) -> pl.Series:
    """Return the flags some rows before, true before the first one: `shift` would be a plan of its own."""
    return _TRUE.new_from_index(0, by).append(flags).head(len(flags))


def _first_rows(packed: Pack, upto: int | None) -> tuple[pl.Series, pl.Series]:
    """Return the rows up to a position of their lists, and those after it that have the bits of the last one.

    And which of them, from the second on, have the bits of the one before.
    """
    codes, goes_on = packed.codes, _same_from(packed.score, packed.codes)
    if upto is None or upto >= len(codes):
        return codes, goes_on
    first, following = ~_same_from(packed.list, codes, upto), goes_on.slice(upto - 1)
    if first.all():
        return codes, goes_on
    # A row that has the bits of the one before is left out, or read, as that one is: along runs, by twice as far each.
    goes, by = following, 1
    while goes.any() and (read := goes & _earlier(first, by) & ~first).any():
        first, goes, by = first | read, goes & _earlier(goes, by), 2 * by
    return (
        codes.head(upto).append(codes.slice(upto).filter(first)).rechunk(),
        goes_on.head(upto - 1).append(following.filter(first)).rechunk(),
    )


def _by_score(packed: Pack, codes: pl.Series, scores: pl.Series, goes_on: pl.Series, *, descending: bool) -> _InOrder:
    """Return the first rows, those with the same bits in the order of their scores."""
    in_runs = pl.concat([_FALSE, goes_on]) | pl.concat([goes_on, _FALSE])
    of_runs = codes.filter(in_runs)
    values, same = scores[packed.numbers(of_runs)].alias(SCORE), _same_from(packed.score, of_runs)
    if not (same & (values.slice(1) != values.head(len(values) - 1))).any():
        return _InOrder(packed, codes, goes_on)
    bits = (of_runs // packed.score).alias(GOES_ON)
    rows = pl.DataFrame([of_runs, bits, values]).sort(GOES_ON, SCORE, descending=[False, descending])
    values, indices = rows.get_column(SCORE), in_runs.arg_true()
    codes = codes.clone().scatter(indices, rows.get_column(PACKED))
    goes_on = goes_on.clone().scatter(indices.slice(1) - 1, same & (values.slice(1) == values.head(len(values) - 1)))
    return _InOrder(packed._replace(in_order=False), codes, goes_on)


_INDEX = pl.int_range(pl.len(), dtype=pl.get_index_type())
"""The number of each row, in half of the memory that positions take."""


@cache
def _start(bit: int, *, tied: bool) -> pl.Expr:
    """Return where each row is in its list, whose own number starts at a bit; tied: of rows that hold their index."""
    code, index = pl.col(PACKED), pl.col(INDEX) if tied else _INDEX
    return index - pl.when((code ^ code.shift(1, fill_value=2**BITS)) >= bit).then(index).forward_fill() + 1


def _blocks(ranked: pl.LazyFrame, bit: int, height: int, names: tuple[str, str]) -> pl.LazyFrame:
    """Return the first row of each tied block, with where it starts in its list, and how many rows it has."""
    size = pl.col(INDEX).shift(-1, fill_value=height) - pl.col(INDEX)
    firsts = ranked.filter(~pl.col(GOES_ON))
    return firsts.select(INDEX, _start(bit, tied=True).alias(names[0]), size.alias(names[1]))


class _InOrder(NamedTuple):
    """The first rows of lists, in order."""

    packed: Pack
    codes: pl.Series
    goes_on: pl.Series | None
    """Which rows, from the second on, are in the tied block of the one before; None: no rows tie."""

    def blocks(self, upto: int | None, mark: Mark | None) -> pl.LazyFrame:
        """Return the needed rows of tied blocks that start up to a position, with where they start, and their sizes."""
        tied = self.goes_on is not None
        rows = self.read((START, SIZE), pl.Int64, mark, tied=tied)
        # Of rows with the same bits, those of lower scores may start after the last position.
        return rows.filter(pl.col(START) <= upto) if tied and upto is not None else rows

    def read(
        self, names: tuple[str, str], dtype: type[pl.DataType], mark: Mark | None = None, *, tied: bool
    ) -> pl.LazyFrame:
        """Return the rows, or those of them that are needed, with where their blocks start, and the sizes.

        Where no rows tie, each row is a block.
        """
        packed, height, columns = self.packed, len(self.codes), [self.codes.alias(PACKED)]
        columns += [pl.Series(GOES_ON, [False]).append(self.goes_on)] if tied and self.goes_on is not None else []
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
            # Only the first rows of blocks are computed with; the needed rows, which may be few, look theirs up.
            rows = rows.join_asof(_blocks(ranked, packed.list, height, names), on=INDEX)
        rows = rows if mark is None or not mark.upto else rows.filter(mark.of_frame())
        kept_columns: list[Any] = packed.frame.columns
        return rows.select(*map(decoded.get, kept_columns, kept_columns), pl.col(*names).cast(dtype))

    def lists_of_length(self, upto: int) -> pl.Series:
        """Return the numbers of the lists that have a row at a position."""
        reached = _same_from(self.packed.list, self.codes, upto - 1)
        return self.codes.slice(upto - 1).filter(reached) // self.packed.list
