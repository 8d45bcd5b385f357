"""Where users stop in tied blocks, as exact expected values over all orders of tied rows.

The probability to pass j rows of a block, S(j), is the mean over its subsets of j rows of the product of their
probabilities q to go on. In a block of t rows, what its first i rows add to S(j) is the sum over these of q times what
the rows before add to S(j - 1), times j/(t - j + 1): a running sum for each j. What the block adds is linear in S(j),
so the sums are nested from the last j to the first, as in Horner's method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from recframe._columns import (
    POSITION,
    SIZE,
    START,
    examined_column,
    stop_column,
)
from recframe._expressions.fields import columns_of, field, on_columns
from recframe._expressions.rows import blocks, tied_block
from recframe.metrics._row import STOPS

if TYPE_CHECKING:
    import narwhals as nw

    from recframe._arguments import Ties
    from recframe._expressions.steps import Steps
    from recframe._plan.requirements import Requirements

MOST_PLACES = 50
"""The most positions of a tied block at which a user may stop."""
TOO_LONG = (
    f"err and pfound of a group count more than {MOST_PLACES} positions of a tied block: give a k up to {MOST_PLACES}, "
    "or use df.rec.evaluate(..., per=...)"
)


def cascade_sums(rows: Steps, requirements: Requirements, ties: Ties) -> Steps:
    """Return the sums over the places of tied blocks at which users stop, from ranked rows."""
    upto = requirements.place_cutoffs[STOPS]
    places = MOST_PLACES if upto is None else min(upto, MOST_PLACES)
    stopping = range(len(requirements.numbers.stops))
    # Text is no number: that is an error of polars which names it.
    error = pl.when(_is_too_long(upto, places, stopping)).then(pl.lit(TOO_LONG)).cast(pl.Float64).fill_null(0.0)
    block = tied_block(rows.names).add({examined_column(n): field(examined_column(n)).first() for n in stopping})
    added = {}
    for name, term in requirements.places[STOPS].summands.items():
        here = [n for n in stopping if stop_column(n) in columns_of(term)]
        added[name] = pl.sum_horizontal(*(_added(term, n, places) for n in here)) + error
    return blocks(rows, ties, block.select(added))


def _is_too_long(upto: int | None, places: int, stopping: range) -> pl.Expr:
    """Return whether users may stop at more places of a block than are computed."""
    stops = ((field(stop_column(n)) > 0).any() & (field(examined_column(n)) > 0).any() for n in stopping)
    more = (pl.len() > places) & pl.any_horizontal(*stops)
    return more if upto is None else more & (field(START).first() + places - 1 < upto)


def _added(term: nw.Expr, number: int, places: int) -> pl.Expr:
    """Return what a block adds by a probability to stop, from the list of its rows."""
    on, size = 1 - field(stop_column(number)), field(SIZE)
    weights = [_at_place(term, number, position) for position in range(1, places + 1)]
    total = -weights[-1]
    for position in reversed(range(1, places)):
        share = pl.when(size > position).then((position + 1) / (size - position)).otherwise(0.0)
        later = (on * total).cum_sum(reverse=True).shift(-1, fill_value=0.0)
        total = weights[position] - weights[position - 1] + share * later
    return weights[0].first() + (on * total / size).sum()


def _at_place(term: nw.Expr, number: int, position: int) -> pl.Expr:
    """Return what a place of a block adds if a user stops there for certain."""
    columns = {stop_column(number): pl.lit(1.0), POSITION: field(START) + position - 1}

    def column(name: str) -> pl.Expr:
        return columns.get(name, pl.lit(0.0) if name != examined_column(number) else field(name))

    return pl.when(field(SIZE) >= position).then(on_columns(term, column)).otherwise(0.0)
