"""Ranks the rows of a polars frame within their lists by one sort of packed integers.

Ranking takes most of the time of a call. Each row becomes one integer (`polars_pack` draws it): sorted, the rows of a
list follow each other, the best first. Different scores may have the same bits there: rows with the same bits are
compared by their scores, and the few that differ are ranked among themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from recframe._columns import POSITION, SIZE, START
from recframe._engines.high_scores import bits_of_sample, score_to_sort_from
from recframe._engines.polars_compat import EXPLODE, collect, collect_columns, is_in
from recframe._engines.polars_frame import native
from recframe._engines.polars_pack import INDEX, PACKED, digits_of, pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._engines.base import Needed
    from recframe._engines.polars_pack import Digits, Pack

RUN, NEXT = "run", "next"


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


BLOCK = (START, SIZE)
"""The columns of a tied block."""
ROWS_AT_ONCE = 2**24
"""Of more rows, some lists at a time are ranked: each row takes 40 bytes meanwhile."""
SAME_BITS = "same_bits"
"""Whether a row has the bits of the previous one."""


def rank_rows(
    frame: pl.DataFrame, keys: Sequence[str], score: str, upto: int | None, mark: Mark | None = None
) -> pl.DataFrame | None:
    """Return rows with the positions where their tied blocks start in their lists, and the sizes of the blocks.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows to rank; no score is missing.
    keys, score : sequence of str, str
        The list and what ranks it, the highest first.
    upto : int, optional
        The last position that matters: rows whose block starts after it are left out.
    mark : Mark, optional
        Which rows are needed: all rows get their positions, and the others are left out.

    Returns
    -------
    polars.DataFrame or None
        The rows without their score, those of a list one after the other by position; None where the keys have no
        integer codes, or the numbers do not fit.
    """
    columns = [name for name in frame.columns if name != score]
    lists, digits = digits_of(frame, keys, [name for name in columns if name not in keys])
    if lists is None:
        return None
    least = None if upto is None else _score_to_sort_from(frame, lists, score, upto)
    if upto is None or least is None:
        ranked = _ranked(frame, lists, digits, score, upto, mark)
        return None if ranked is None else ranked.rows
    ranked = _ranked(_filtered(frame, pl.col(score) >= least), lists, digits, score, upto, mark, high=True)
    if ranked is None or ranked.whole is None:
        return None
    lacks = pl.repeat(value=True, n=lists.many, eager=True).scatter(ranked.whole, values=False)
    in_others = is_in(lists.number(), lacks.arg_true().cast(pl.Int64))
    others = _filtered(frame, in_others) if lacks.any() else frame.head(0)
    if others.is_empty():
        return ranked.rows
    rest = _ranked(others, lists, digits, score, upto, mark)
    return None if rest is None else pl.concat([_filtered(ranked.rows, ~in_others), rest.rows])


def _score_to_sort_from(frame: pl.DataFrame, lists: Digits, score: str, upto: int) -> float | None:
    """Return the score from which on most lists have enough rows; None where all rows are sorted."""
    bits = bits_of_sample(frame.height, lists.many, upto)
    if bits is None:
        return None
    number = lists.number()
    last_bits = number & (2**bits - 1)
    # One of the lists is that of some row, so that there is one.
    some = _filtered(frame, last_bits == frame.slice(frame.height // 2, 1).select(last_bits).item())
    sample = some.select(number.alias(PACKED), score)
    return score_to_sort_from(sample.get_column(PACKED).to_list(), sample.get_column(score).to_list(), upto)


def number_rows(frame: pl.DataFrame, keys: Sequence[str], column: str, *, descending: bool) -> pl.DataFrame | None:
    """Return rows with their positions in their lists by a column, equal ones in any order; None as `rank_rows`."""
    if frame.get_column(column).null_count():
        return None
    lists, digits = digits_of(frame, keys, [name for name in frame.columns if name not in keys])
    packed = None if lists is None else pack(frame, lists, digits, column, frame.columns, descending=descending)
    if packed is None:
        return None
    placed = _first_rows(packed, _spans(packed, None))
    rows, position = placed.get_column(PACKED), placed.get_column(START).alias(POSITION)
    in_order = packed.rows(rows)
    different = ~_equals_previous(pl.col(column))
    mixed = in_order.select((pl.lit(placed.get_column(SAME_BITS)) & different).any()).item()
    return None if mixed else in_order.with_columns(position)


# --- positions ----------------------------------------------------------------------------------------------


class _Ranked(NamedTuple):
    rows: pl.DataFrame
    """The rows of tied blocks that start up to a position, with their positions and the sizes of their blocks."""
    whole: pl.Series | None
    """The numbers of the lists that have a row at this position, where lower scores were left out."""


def _ranked(
    frame: pl.DataFrame,
    lists: Digits,
    digits: Digits | None,
    score: str,
    upto: int | None,
    mark: Mark | None,
    *,
    high: bool = False,
) -> _Ranked | None:
    """Rank rows by sorts, those of high scores or all; None where the numbers do not fit."""
    many = -(-frame.height // ROWS_AT_ONCE)
    if many <= 1:
        return _ranked_at_once(frame, lists, digits, score, upto, mark, high=high)
    parts: list[_Ranked] = []
    for index in range(many):
        some = _filtered(frame, lists.number() % many == index)
        if some.is_empty():
            continue
        part = _ranked_at_once(some, lists, digits, score, upto, mark, high=high)
        if part is None:
            return None
        parts.append(part)
    whole = [part.whole for part in parts if part.whole is not None]
    # In order, as polars 1.21 sets values in no other.
    return _Ranked(pl.concat([part.rows for part in parts]), pl.concat(whole).sort() if high else None)


def _ranked_at_once(
    frame: pl.DataFrame,
    lists: Digits,
    digits: Digits | None,
    score: str,
    upto: int | None,
    mark: Mark | None,
    *,
    high: bool,
) -> _Ranked | None:
    """Rank rows by one sort."""
    columns = [name for name in frame.columns if name != score]
    readable = None if mark is None else mark.rows
    packed = pack(frame, lists, digits, score, columns, descending=True, mark=readable)
    ranked = None if packed is None else _placed(packed, frame.get_column(score), upto, mark, high=high)
    if packed is None or ranked is not None or digits is None:
        return ranked
    # Different scores have the same bits, and only the number of a row tells its score.
    return _ranked_at_once(frame, lists, None, score, upto, mark, high=high)


def _filtered(frame: pl.DataFrame, condition: pl.Expr) -> pl.DataFrame:
    return collect(frame.lazy().filter(condition))


def _placed(packed: Pack, scores: pl.Series, upto: int | None, mark: Mark | None, *, high: bool) -> _Ranked | None:
    """Return the rows of tied blocks that start up to a position; None where the bits of a block do not tell."""
    spans = _spans(packed, upto)
    first = _first_rows(packed, spans)
    rows, same_bits = first.get_column(PACKED), first.get_column(SAME_BITS)
    first = first.drop(SAME_BITS).insert_column(2, pl.repeat(1, first.height, dtype=pl.Int64, eager=True).alias(SIZE))
    conditions = [] if mark is None else [mark._replace(rows=packed.needed(mark.rows)).of_frame()]
    if same_bits.any():
        in_block = same_bits | same_bits.shift(-1, fill_value=False)
        own_scores = packed.scores(scores, rows.filter(in_block))
        if own_scores is None:
            return None
        blocks = _tied_blocks(first.filter(in_block), same_bits.filter(in_block), own_scores)
        where = in_block.arg_true()
        first = first.with_columns(first.get_column(name).scatter(where, blocks.get_column(name)) for name in BLOCK)
        # Of rows with the same bits, those of lower scores may start after the last position.
        conditions += [] if upto is None else [pl.col(START) <= upto]
    first = first.filter(*conditions) if conditions else first
    ranked = packed.rows(first.get_column(PACKED)).hstack(first.drop(PACKED))
    return _Ranked(ranked, _whole_lists(packed, spans, upto) if high else None)


def _whole_lists(packed: Pack, spans: pl.DataFrame, upto: int | None) -> pl.Series:
    """Return the numbers of the lists that have a row at a position."""
    whole = spans.lazy().filter(pl.col("end") - pl.col("start") >= (upto or 1))
    return collect_columns(whole.select(pl.lit(packed.codes).gather("start") // packed.list)).to_series()


def _spans(packed: Pack, upto: int | None) -> pl.DataFrame:
    """Return where each list starts and ends, and where to stop reading it."""
    # Few plans of many expressions each: in a small frame, a plan costs more than what it computes.
    codes, many = packed.codes, len(packed.codes)
    start, end = pl.col("start"), pl.col("start").shift(-1).fill_null(many)
    starts = (~_equals_previous_from(packed.list)).arg_true().cast(pl.Int64).alias("start")
    spans = codes.to_frame().lazy().select(starts).select(start, end.alias("end"))
    if upto is None:
        return collect_columns(spans.with_columns(pl.col("end").alias("stop")))
    return _to_whole_blocks(packed, spans.with_columns(pl.min_horizontal(pl.col("start") + upto, "end").alias("stop")))


def _first_rows(packed: Pack, spans: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that can be among the first of their lists, and the positions that they had without ties."""
    codes, start, stop = packed.codes, pl.col("start"), pl.col("stop")
    position = pl.int_ranges(1, stop - start + 1).explode(**EXPLODE).alias(START)
    all_rows = spans.get_column("stop").equals(spans.get_column("end"))
    rows = pl.lit(codes) if all_rows else pl.lit(codes).gather(pl.int_ranges("start", "stop").explode(**EXPLODE))
    placed = spans.lazy().select(rows, position)
    return collect_columns(placed.with_columns(_equals_previous_from(packed.score).alias(SAME_BITS)))


def _to_whole_blocks(packed: Pack, spans: pl.LazyFrame) -> pl.DataFrame:
    """Stop reading a list after the rows that have the bits of its last one, so that the last block stays whole."""
    codes, stop = pl.lit(packed.codes), pl.col("stop")
    last = codes.gather(stop - 1) // packed.score
    next_one = codes.gather(stop.clip(upper_bound=len(packed.codes) - 1)) // packed.score
    stops_early = stop < pl.col("end")
    stops = collect_columns(spans.with_columns(last.alias("last"), ((last == next_one) & stops_early).alias("goes_on")))
    goes_on = stops.get_column("goes_on")
    if not goes_on.any():
        return stops
    limit = (stops.get_column("last").filter(goes_on) + 1) * packed.score
    moved = stops.get_column("stop").scatter(goes_on.arg_true(), _first_at_least(packed.codes, limit))
    return stops.with_columns(moved)


def _first_at_least(ordered: pl.Series, limits: pl.Series) -> pl.Series:
    """Return the index of the first value of an ordered column that is not less than each limit."""
    # The method of a column needs NumPy in polars 1.21, the expression does not.
    return pl.select(pl.lit(ordered).search_sorted(limits).cast(pl.Int64)).to_series()


def _tied_blocks(rows: pl.DataFrame, same_bits: pl.Series, scores: pl.Series) -> pl.DataFrame:
    """Return the starts and the sizes of the tied blocks of packed rows that have the bits of a neighbour."""
    starts = pl.when(~pl.col(SAME_BITS)).then(pl.col(INDEX))
    rows = rows.with_columns(same_bits).with_columns(pl.int_range(pl.len()).alias(INDEX))
    rows = rows.with_columns(
        starts.forward_fill().alias(RUN), starts.shift(-1).backward_fill().fill_null(pl.len()).alias(NEXT)
    )
    blocks = rows.select(
        pl.col(START) - (pl.col(INDEX) - pl.col(RUN)), (pl.col(NEXT) - pl.col(RUN)).alias(SIZE), RUN, INDEX
    )
    run = blocks.get_column(RUN)
    apart = run.filter(blocks.select(_equals_previous(pl.col(RUN)) & ~_equals_previous(pl.lit(scores))).to_series())
    if not len(apart):
        return blocks
    # Runs of the same bits but different scores are ranked by these.
    mixed = pl.DataFrame(apart.unique())
    within = pl.col("score").rank("min", descending=True).over(RUN).cast(pl.Int64) - 1
    size = pl.len().over(RUN, "score").cast(pl.Int64).alias(SIZE)
    ranked = blocks.with_columns(scores.alias("score")).join(mixed, on=RUN, how="semi")
    ranked = ranked.with_columns(pl.col(START) + within, size).drop("score")
    return pl.concat([blocks.join(mixed, on=RUN, how="anti"), ranked]).sort(INDEX)


def _equals_previous_from(bit: int) -> pl.Expr:
    """Return which packed rows equal the previous one in all bits from one on, without a division."""
    differ = pl.col(PACKED) ^ pl.col(PACKED).shift(1)
    return (differ < bit).fill_null(value=False)


def _equals_previous(values: pl.Expr) -> pl.Expr:
    """Return which values are equal to the previous one."""
    return (values == values.shift(1)).fill_null(value=False)
