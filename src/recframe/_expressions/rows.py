"""What the ranked rows of a group add to the sums of metrics, tied blocks included."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import narwhals as nw
import polars as pl

from recframe._columns import (
    BLOCK_HITS,
    CHANCE,
    FIRST_HIT,
    GREATEST,
    HIT,
    HITS_BEFORE,
    LENGTH,
    ORDER,
    PASSED,
    POSITION,
    RANKED_RELEVANT,
    RELEVANCE,
    RELEVANT,
    SCORE,
    SIZE,
    START,
    UPTO,
    before_column,
    end_column,
    examined_column,
    go_on_column,
    past_column,
    stop_column,
    upto_column,
    weight_column,
)
from recframe._expressions.fields import field, on_columns, on_fields
from recframe._plan import ranks, stops

if TYPE_CHECKING:
    from recframe._arguments import Ties
    from recframe._expressions.steps import Steps
    from recframe._plan.requirements import Requirements
    from recframe._plan.weight_tables import WeightSums

OF_LIST = (RELEVANT, RANKED_RELEVANT, LENGTH)
"""What a row may read of its whole list."""
_HITS = {BLOCK_HITS, FIRST_HIT, HITS_BEFORE}
KNOWN = frozenset({*OF_LIST, *_HITS, ORDER})
"""What the terms of a row may read in addition to weights of positions and probabilities to stop."""
LONGEST_TABLE = 1000
"""The largest cutoff up to which sums of weights are looked up, which is faster than to add them up in each group."""
_IS_FIRST, _IS_LAST = "is first", "is last"
"""Whether a row is the first or the last of its tied block, in some order of the block."""
_PLACE = nw.col(POSITION) - nw.col(START) + 1
"""The place of a position in its tied block."""
_NEXT_FIRST_HIT = ranks.HOLDS_SEVERAL_FIRST_HITS & (nw.col(SIZE) - nw.col(BLOCK_HITS) + 1 >= _PLACE)
"""Whether the first of several hits of a tied block may be at a position."""


def terms(rows: Steps, requirements: Requirements, ties: Ties) -> Steps:
    """Return what rows add, by the columns of sums, from structs of a score, a relevance and whether it is a hit."""
    rows = _numbered(rows, ties)
    rows = rows.add(_stops(requirements) | _weights(requirements))
    rows = _with_blocks(rows, requirements)
    if requirements.first_hit.by_column:
        rows = _with_chances(rows)
    summands = dict(requirements.ranked.summands)
    for others in (requirements.first_hit.summands, requirements.cascade.summands):
        summands |= {column: summands[column] + term for column, term in others.items()}
    return rows.select({column: on_fields(term) for column, term in summands.items()})


def _numbered(rows: Steps, ties: Ties) -> Steps:
    """Add positions, and where the tied blocks of the policy start and end."""
    order = {column: descending for column, descending in ranks.TIE_ORDER[ties] if column == RELEVANCE}
    keys = [field(name) for name in (SCORE, *order)]
    rows = rows.then(pl.element().sort_by(keys, descending=[True, *order.values()], nulls_last=True))
    # Not before: polars older than 2.0 sorts no lists of which some are empty.
    rows = rows.then(pl.element().filter(field(SCORE).is_not_null()))
    first, last = field(SCORE).is_first_distinct(), field(SCORE).is_last_distinct()
    if order:
        first, last = (~pl.all_horizontal(*(key.eq_missing(key.shift(by)) for key in keys)) for by in (1, -1))
    position = pl.int_range(1, pl.len() + 1).cast(pl.Float64)
    rows = rows.add({POSITION: position, _IS_FIRST: first, _IS_LAST: last})
    start = pl.when(field(_IS_FIRST)).then(field(POSITION)).forward_fill()
    end = pl.when(field(_IS_LAST)).then(field(POSITION)).backward_fill()
    return rows.add({START: start, SIZE: end}).add({SIZE: field(SIZE) - field(START) + 1})


def _stops(requirements: Requirements) -> dict[str, pl.Expr]:
    """Return the probabilities to stop at a row."""
    relevance, greatest = nw.col(RELEVANCE), nw.col(GREATEST)
    chances = {stop_column(n): stop(relevance, greatest) for n, stop in enumerate(requirements.stops)}
    return {name: on_fields(chance.cast(nw.Float64())) for name, chance in chances.items()}


def _weights(requirements: Requirements) -> dict[str, pl.Expr]:
    """Return the weights of positions, where their sums are not looked up."""
    return {weight_column(each.number): on_fields(each.weight) for each in _added_up(requirements)}


def _added_up(requirements: Requirements) -> list[WeightSums]:
    """Return the weights that have no table of sums."""
    return [each for each in requirements.weight_sums if each.k is None or each.k > LONGEST_TABLE]


def _tables(requirements: Requirements) -> dict[str, pl.Expr]:
    """Return the sums of weights before tied blocks and up to their ends, looked up."""
    tables = {}
    last = {before_column: field(START) - 1, upto_column: field(START) + field(SIZE) - 1}
    for each in requirements.weight_sums:
        if each.k is not None and each.k <= LONGEST_TABLE:
            positions = pl.select(pl.int_range(1, each.k + 1).alias(POSITION))
            sums = [0.0, *accumulate(positions.select(on_columns(each.weight, pl.col)).to_series())]
            for column, end in last.items():
                at = end.cast(pl.Int64)
                tables[column(each.number)] = at.replace_strict([*range(each.k + 1)], sums, default=sums[-1])
    return tables


def _with_blocks(rows: Steps, requirements: Requirements) -> Steps:
    """Add what is counted ahead of a row's tied block and in it, and the probabilities to get to a row."""
    ahead = {HIT: (HITS_BEFORE, UPTO)} if requirements.ranked.requested & _HITS else {}
    numbers = [each.number for each in _added_up(requirements)]
    ahead |= {weight_column(number): (before_column(number), upto_column(number)) for number in numbers}
    stopping = range(len(requirements.stops))
    passed = {go_on_column(n): on_fields(stops.go_on(nw.col(stop_column(n)))) for n in stopping}
    passed |= {end_column(n): on_fields(stops.is_end(nw.col(stop_column(n)))) for n in stopping}
    rows = rows.add(passed).add({past_column(name): field(name).cum_sum() for name in (*ahead, *passed)})
    columns = _tables(requirements)
    for name, (before, upto) in ahead.items():
        total = field(past_column(name))
        columns[before] = pl.when(field(_IS_FIRST)).then(total - field(name)).forward_fill()
        columns[upto] = pl.when(field(_IS_LAST)).then(total).backward_fill()
    for n in stopping:
        logs, ends = (nw.col(past_column(name)) - nw.col(name) for name in (go_on_column(n), end_column(n)))
        columns[examined_column(n)] = on_fields(stops.reached(logs, ends))
    rows = rows.add(columns).add({ORDER: field(START)})
    if HIT not in ahead:
        return rows
    inside = field(UPTO) - field(HITS_BEFORE)
    first = pl.when((field(HITS_BEFORE) == 0) & (inside > 0)).then(field(START)).otherwise(0.0)
    return rows.add({BLOCK_HITS: inside, FIRST_HIT: first})


def _with_chances(rows: Steps) -> Steps:
    """Add the chance of each position to be the first hit, in blocks with several of a list's first hits, else 0."""
    block = _PLACE, nw.col(SIZE), nw.col(BLOCK_HITS)
    missed = nw.when(_NEXT_FIRST_HIT).then(ranks.missed_before(*block)).otherwise(0.0)
    # All places of the list before the block add 0.
    rows = rows.add({CHANCE: on_fields(missed)}).add({PASSED: field(CHANCE).cum_sum()})
    chance = nw.when(_NEXT_FIRST_HIT).then(ranks.first_chance(nw.col(PASSED), *block)).otherwise(0.0)
    return rows.add({CHANCE: on_fields(chance)})
