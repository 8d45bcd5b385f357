"""Where users stop who read from the top, as exact expected values over all orders of tied rows."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw

from recframe._base.columns import (
    GREATEST,
    MARKED,
    POSITION,
    RELEVANCE,
    ROW_GRADE,
    SIZE,
    START,
    end_column,
    examined_column,
    go_on_column,
    numbered,
    past_column,
    stop_column,
    survival_column,
)
from recframe._plan.sum_columns import EXPRESSION_CACHE_SIZE, constant, up_to
from recframe._plan.tied_stops import survivals
from recframe.metrics._row import STOPS
from recframe.metrics._sums import quotient

if TYPE_CHECKING:
    from recframe._base.columns import Frame
    from recframe._plan.opened import Opened
    from recframe._plan.requirements import Cascade
    from recframe.metrics._row import Stop


def stop_places(context: Opened, kept: Frame, *, tied: bool) -> Frame:
    """Return the positions where users may stop, with the probabilities to reach the tied block and to stop there."""
    count = len(context.requirements.numbers.stops)
    stops = numbered(count, stop_column)
    examined = numbered(count, examined_column)
    columns = [*context.keys.group, START, POSITION, *stops, *examined]
    grades = _grades(context, kept, tied=tied)
    alone = grades.filter(nw.col(SIZE) == 1) if tied else grades
    alone = alone.with_columns(_FIRST_POSITION).select(*columns)
    if not tied:
        return alone
    grades = grades.filter(nw.col(SIZE) > 1)
    parts = [_tied_stop_places(context, grades, cascade) for cascade in context.requirements.cascades]
    return context.engine.stack([alone, *(part.select(*columns) for part in parts)])


def _tied_stop_places(context: Opened, grades: Frame, cascade: Cascade) -> Frame:
    """Return the positions in tied blocks with the cascade's probabilities to stop there.

    Columns of the other cascades are 0.
    """
    block = [*context.keys.group, START]
    stops = [stop_column(number) for number in cascade.stops]
    examined = [examined_column(number) for number in cascade.stops]
    if cascade.cutoff is not None and len(context.requirements.cascades) > 1:
        grades = grades.filter(nw.col(START) <= cascade.cutoff)
    places = survivals(context.engine, grades, block, examined, cascade)
    stopped = {}
    for number, stop in zip(cascade.stops, stops, strict=True):
        survived = nw.col(survival_column(number))
        survived_before = survived.shift(1).over(*block, order_by=POSITION).fill_null(1.0)
        stopped[stop] = survived_before - survived
    places = places.with_columns(**stopped).with_columns(_position(nw.col(POSITION)).alias(POSITION))
    count = len(context.requirements.numbers.stops)
    others = {*numbered(count, stop_column), *numbered(count, examined_column)} - {*stops, *examined}
    if not others:
        return places
    return places.with_columns(*(constant(name, 0.0) for name in sorted(others)))


def row_stop_places(context: Opened, kept: Frame, *, tied: bool) -> Frame:
    """Return the positions that a row may have, by its relevance, with the probability to reach it and stop there.

    There is one probability to stop. The other rows of the tied block form a block with one row less.
    """
    stop = stop_column(0)
    survival = survival_column(0)
    examined = examined_column(0)
    engine = context.engine
    columns = [*context.keys.group, START, RELEVANCE, POSITION, stop, examined]
    grades = _grades(context, kept, tied=tied)
    # At the first position of its block, no other row of the block is ahead of the row.
    stopped_first = quotient(nw.col(stop), nw.col(SIZE)).alias(stop)
    first = grades.with_columns(_FIRST_POSITION, stopped_first).select(*columns)
    if not tied:
        return first
    grades = engine.collect_once(grades.filter(nw.col(SIZE) > 1))
    block = [*context.keys.group, START]
    row = [*block, ROW_GRADE]
    grades = grades.rename({RELEVANCE: ROW_GRADE})
    rest = engine.join(grades.rename({ROW_GRADE: RELEVANCE}), grades.select(*row), block)
    itself = (nw.col(RELEVANCE) == nw.col(ROW_GRADE)).cast(nw.Float64())
    rest = rest.with_columns((nw.col(MARKED) - itself).alias(MARKED), (nw.col(SIZE).cast(nw.Int64()) - 1).alias(SIZE))
    (cascade,) = context.requirements.cascades
    places = engine.join(survivals(engine, rest, row, [], cascade), grades.select(*row, SIZE, stop, examined), row)
    stopped = quotient(nw.col(stop) * nw.col(survival), nw.col(SIZE)).alias(stop)
    position = _position(nw.col(POSITION) + 1).alias(POSITION)
    places = places.with_columns(stopped, position).rename({ROW_GRADE: RELEVANCE})
    return engine.stack([first, places.select(*columns)])


def _position(inside: nw.Expr | int) -> nw.Expr:
    """Return a position in the list, as a float, from its number inside the tied block."""
    return nw.col(START).cast(nw.Float64()) + inside - 1


_FIRST_POSITION = _position(1).alias(POSITION)


def _grades(context: Opened, kept: Frame, *, tied: bool) -> Frame:
    """Return one row per tied block and relevance: how many rows it counts, and the probabilities to stop at them.

    The frame also holds the probability to reach the block.
    """
    count = len(context.requirements.numbers.stops)
    stops = numbered(count, stop_column)
    grades = context.engine.collect_once(_stop_probabilities(context, kept, stops, tied=tied))
    ends = numbered(count, end_column) if context.engine.may_hold(grades, _is_certain(*stops)) else []
    names = _PassedColumns(stops, numbered(count, go_on_column), ends)
    grades = _sum_over_rows_ahead(context, grades, names, tied=tied)
    examined = {}
    for number, log in enumerate(names.logs):
        examined[examined_column(number)] = _reached(past_column(log), past_column(ends[number]) if ends else None)
    return context.engine.collect_once(grades.with_columns(**examined))


class _PassedColumns(NamedTuple):
    """The columns from which the probability to pass rows is computed, one of each kind per probability to stop."""

    stops: list[str]
    logs: list[str]
    """Logarithms of the probability to go on."""
    ends: list[str]
    """1.0 at a certain stop; empty if no stop is certain."""


def _stop_probabilities(context: Opened, kept: Frame, stops: list[str], *, tied: bool) -> Frame:
    """Return the rows where users may stop, with each probability to stop; tied rows of equal relevance are counted."""
    cutoff = context.requirements.place_cutoffs[STOPS]
    rows = context.with_greatest(kept if cutoff is None else kept.filter(up_to(START, cutoff)))
    terms = map(_probability, context.requirements.numbers.stops)
    rows = rows.with_columns(**dict(zip(stops, terms, strict=True))).filter(_is_possible(*stops))
    rows = rows.select(*context.keys.group, START, SIZE, RELEVANCE, *stops)
    if not tied:
        return rows
    grades = rows.group_by(*context.keys.group, START, SIZE, RELEVANCE).agg(
        nw.len().alias(MARKED), nw.col(*stops).min()
    )
    return grades.with_columns(nw.col(MARKED).cast(nw.Float64()))


def _sum_over_rows_ahead(context: Opened, grades: Frame, names: _PassedColumns, *, tied: bool) -> Frame:
    """Add the sums of logarithms and of certain stops over the rows ahead of each tied block."""
    # The product of the probabilities to go on is a sum of logarithms, except for probabilities of 0.
    summands = {
        log: (_counted_go_on if tied else _go_on)(stop) for stop, log in zip(names.stops, names.logs, strict=True)
    }
    summands |= {end: _is_end(stop) for end, stop in zip(names.ends, names.stops, strict=False)}
    past = {past_column(name): name for name in summands}
    grades = grades.with_columns(_order_of_grades(names.stops[0]), **summands)
    grades = context.engine.sums_before(grades, past, context.keys.group, POSITION).drop(POSITION)
    if not tied:
        return grades
    # The first grade of a block has the sums over the rows ahead of the block: logarithms are at most 0, ends at least.
    block = [*context.keys.group, START]
    ahead = [nw.col(*map(past_column, names.logs)).max().over(*block)]
    if names.ends:
        ahead.append(nw.col(*map(past_column, names.ends)).min().over(*block))
    return grades.with_columns(*ahead)


# --- expressions: they are cached, because on few rows it takes longer to build and convert them than to compute -----


@lru_cache(EXPRESSION_CACHE_SIZE)
def _probability(stop: Stop) -> nw.Expr:
    """Return the probability to stop at a row, from its relevance and the largest relevance."""
    return stop(nw.col(RELEVANCE), nw.col(GREATEST)).cast(nw.Float64())


@lru_cache(EXPRESSION_CACHE_SIZE)
def _is_possible(*stops: str) -> nw.Expr:
    """Return whether a user may stop at a row."""
    return nw.any_horizontal(*(nw.col(stop) > 0 for stop in stops), ignore_nulls=True)


@lru_cache(EXPRESSION_CACHE_SIZE)
def _is_certain(*stops: str) -> nw.Expr:
    """Return whether all users of a kind stop at a row."""
    return nw.any_horizontal(*(nw.col(stop) >= 1 for stop in stops), ignore_nulls=True)


@lru_cache(EXPRESSION_CACHE_SIZE)
def _order_of_grades(stop: str) -> nw.Expr:
    """Return a number that sorts the grades of a block into one fixed order: half of a probability decides it."""
    return (nw.col(START) + nw.col(stop) / 2).alias(POSITION)


@lru_cache(EXPRESSION_CACHE_SIZE)
def _go_on(stop: str) -> nw.Expr:
    """Return the logarithm of the probability to go on, 0 at a certain stop."""
    return nw.when(nw.col(stop) < 1).then(1 - nw.col(stop)).otherwise(1.0).log()


@lru_cache(EXPRESSION_CACHE_SIZE)
def _counted_go_on(stop: str) -> nw.Expr:
    """Return the logarithm of the probability to pass all rows of a grade, 0 at a certain stop."""
    return nw.col(MARKED) * _go_on(stop)


@lru_cache(EXPRESSION_CACHE_SIZE)
def _is_end(stop: str) -> nw.Expr:
    """Return 1.0 at a certain stop, and 0.0 at any other row."""
    return (nw.col(stop) >= 1).cast(nw.Float64())


@lru_cache(EXPRESSION_CACHE_SIZE)
def _reached(logs: str, ends: str | None) -> nw.Expr:
    """Return the probability to reach a row from the sums over the rows ahead; no stop is certain if `ends` is None."""
    reached = nw.col(logs).exp()
    return reached if ends is None else reached * (nw.col(ends) < 1).cast(nw.Float64())
