"""What the ranked rows of a group add to the sums of metrics, tied blocks included."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import narwhals as nw
import polars as pl

from recframe._columns import (
    BLOCK_HITS,
    CHANCE,
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
from recframe._expressions.steps import Steps
from recframe._plan import ranks, stops
from recframe.metrics._row import FIRST_HIT, STOPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._arguments import Ties
    from recframe._plan.requirements import Requirements
    from recframe._plan.weight_tables import WeightSums

OF_LIST = (RELEVANT, RANKED_RELEVANT, LENGTH)
"""What a row may read of its whole list."""
_HITS = {BLOCK_HITS, HITS_BEFORE}
KNOWN = frozenset({*OF_LIST, *_HITS, ORDER})
"""What the terms of a row may read in addition to weights of positions and probabilities to stop."""
LONGEST_TABLE = 1000
"""The largest cutoff up to which sums of weights are looked up, which is faster than to add them up in each group."""
TIED = "is tied"
"""Whether a row is in a tied block of several."""
_PLACE = nw.col(POSITION) - nw.col(START) + 1
"""The place of a position in its tied block."""
_NEXT_FIRST_HIT = ranks.HOLDS_SEVERAL_FIRST_HITS & (nw.col(SIZE) - nw.col(BLOCK_HITS) + 1 >= _PLACE)
"""Whether the first of several hits of a tied block may be at a position."""


def ranked(rows: Steps, requirements: Requirements, ties: Ties) -> Steps:
    """Sort structs of a score, a relevance and whether it is a hit, and add what is counted up to each row."""
    keys, descending = _keys(ties)
    rows = rows.then(pl.element().sort_by(keys, descending=descending, nulls_last=True))
    # Not before: polars older than 2.0 sorts no lists of which some are empty.
    rows = rows.then(pl.element().filter(field(SCORE).is_not_null()))
    same = [pl.all_horizontal(*(key.eq_missing(key.shift(by)) for key in keys)) for by in (1, -1)]
    tied = field(SCORE).is_duplicated() if len(keys) == 1 else pl.any_horizontal(*same)
    position = pl.int_range(1, pl.len() + 1).cast(pl.Float64)
    rows = rows.add({POSITION: position, TIED: tied})
    rows = rows.add(_stops(requirements) | _weights(requirements))
    stopping = range(len(requirements.numbers.stops))
    passed = {go_on_column(n): on_fields(stops.go_on(nw.col(stop_column(n)))) for n in stopping}
    passed |= {end_column(n): on_fields(stops.is_end(nw.col(stop_column(n)))) for n in stopping}
    ahead = _counted_ahead(requirements)
    rows = rows.add(passed).add({past_column(name): field(name).cum_sum() for name in (*ahead, *passed)})
    return rows.add({examined_column(n): on_fields(_reached(n)) for n in stopping})


def alone_sums(rows: Steps, requirements: Requirements, ties: Ties) -> Steps:
    """Return the sums over ranked rows that tie with no other."""
    position, hit, before = field(POSITION), field(HIT), field(past_column(HIT)) - field(HIT)
    columns = {START: position, ORDER: position, SIZE: pl.lit(1.0), BLOCK_HITS: hit, HITS_BEFORE: before}
    # Only the weights of blocks read them.
    numbers = [each.number for each in requirements.weight_sums]
    columns |= {column(number): pl.lit(0.0) for number in numbers for column in (before_column, upto_column)}

    def column(name: str) -> pl.Expr:
        return columns[name] if name in columns else field(name)

    untied = requirements.ranked_terms[False]
    summands = {name: on_columns(term, column) for terms in untied for name, term in terms.summands.items()}
    summands = {name: pl.when(field(TIED)).then(0.0).otherwise(term) for name, term in summands.items()}
    for name, term in requirements.places[STOPS].summands.items():
        by_fields = on_fields(term)
        # Tied rows that a policy orders are equal: each may stand where it is.
        summands[name] += pl.when(field(TIED)).then(0.0).otherwise(by_fields) if ties == "average" else by_fields
    return rows.select({name: term.sum() for name, term in summands.items()})


def tied_sums(rows: Steps, requirements: Requirements, ties: Ties) -> Steps:
    """Return the sums over the rows of tied blocks."""
    block = tied_block(rows.names).add(_of_block(requirements))
    if requirements.places[FIRST_HIT].by_column:
        block = _with_chances(block)
    summands = dict(requirements.ranked.summands)
    for column, term in requirements.places[FIRST_HIT].summands.items():
        summands[column] += term
    return blocks(rows, ties, block.select({column: on_fields(term).sum() for column, term in summands.items()}))


def blocks(rows: Steps, ties: Ties, block: Steps) -> Steps:
    """Return the sums over tied blocks, from ranked rows and the steps from a block's rows to its own sums."""
    keys, _ = _keys(ties)
    rows = rows.then(pl.element().filter(field(TIED)))
    rows = rows.then(pl.element().implode().over(keys, mapping_strategy="explode"))
    rows = Steps(rows.reads, block.names, (*rows.steps, block.on(pl.element()).list.first()))
    return rows.select({name: field(name).sum() for name in block.names})


def tied_block(names: tuple[str, ...]) -> Steps:
    """Return the rows of a tied block, and where it starts and how many they are."""
    return Steps((), names).add({START: field(POSITION).first(), SIZE: pl.len().cast(pl.Float64)})


def _keys(ties: Ties) -> tuple[list[pl.Expr], list[bool]]:
    """Return what sorts rows under a policy, and whether descending."""
    order = {column: descending for column, descending in ranks.TIE_ORDER[ties] if column == RELEVANCE}
    return [field(name) for name in (SCORE, *order)], [True, *order.values()]


def _stops(requirements: Requirements) -> dict[str, pl.Expr]:
    """Return the probabilities to stop at a row."""
    relevance, greatest = nw.col(RELEVANCE), nw.col(GREATEST)
    chances = {stop_column(n): stop(relevance, greatest) for n, stop in enumerate(requirements.numbers.stops)}
    return {name: on_fields(chance.cast(nw.Float64())) for name, chance in chances.items()}


def _reached(number: int) -> nw.Expr:
    """Return the probability to get to a row, or of a tied block to its first one."""
    logs, ends = (nw.col(past_column(name)) - nw.col(name) for name in (go_on_column(number), end_column(number)))
    return stops.reached(logs, ends)


def _weights(requirements: Requirements) -> dict[str, pl.Expr]:
    """Return the weights of positions, where their sums are not looked up."""
    return {weight_column(each.number): on_fields(each.weight) for each in _added_up(requirements)}


def _added_up(requirements: Requirements) -> list[WeightSums]:
    """Return the weights that have no table of sums."""
    return [each for each in requirements.weight_sums if each.k is None or each.k > LONGEST_TABLE]


def _counted_ahead(requirements: Requirements) -> Mapping[str, tuple[str, str]]:
    """Return what is added up over rows, with the columns of its sum ahead of a tied block and up to its end."""
    ahead = {HIT: (HITS_BEFORE, UPTO)} if requirements.ranked.requested & _HITS else {}
    numbers = [each.number for each in _added_up(requirements)]
    return ahead | {weight_column(number): (before_column(number), upto_column(number)) for number in numbers}


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


def _of_block(requirements: Requirements) -> dict[str, pl.Expr]:
    """Return what is counted ahead of a tied block and in it."""
    columns = _tables(requirements) | {ORDER: field(START)}
    for name, (before, upto) in _counted_ahead(requirements).items():
        total = field(past_column(name))
        columns[before], columns[upto] = (total - field(name)).first(), total.last()
    if UPTO in columns:
        columns[BLOCK_HITS] = field(HIT).sum()
    return columns


def _with_chances(rows: Steps) -> Steps:
    """Add the chance of each position to be the first hit, in blocks with several of a list's first hits, else 0."""
    block = _PLACE, nw.col(SIZE), nw.col(BLOCK_HITS)
    missed = nw.when(_NEXT_FIRST_HIT).then(ranks.missed_before(*block)).otherwise(0.0)
    rows = rows.add({CHANCE: on_fields(missed)}).add({PASSED: field(CHANCE).cum_sum()})
    chance = nw.when(_NEXT_FIRST_HIT).then(ranks.first_chance(nw.col(PASSED), *block)).otherwise(0.0)
    return rows.add({CHANCE: on_fields(chance)})
