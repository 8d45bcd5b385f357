"""Where users stop who read from the top, as exact expected values over all orders of tied rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import (
    MARKED,
    OWN_GRADE,
    POSITION,
    RELEVANCE,
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
from recframe._plan.sum_columns import constant
from recframe._plan.tied_stops import survivals
from recframe.metrics._row import STOPS
from recframe.metrics._sums import quotient

if TYPE_CHECKING:
    from recframe._columns import Frame
    from recframe._plan.opened import Opened
    from recframe._plan.requirements import Cascade


def stop_places(context: Opened, kept: Frame, *, tied: bool) -> Frame:
    """Return the positions at which users may stop, with the probability to get to the block and to stop there then."""
    count = len(context.requirements.numbers.stops)
    stops, examined = numbered(count, stop_column), numbered(count, examined_column)
    columns = [*context.keys.group, START, POSITION, *stops, *examined]
    grades = _grades(context, kept, tied=tied)
    alone = grades.filter(nw.col(SIZE) == 1) if tied else grades
    alone = alone.with_columns(_place(1).alias(POSITION)).select(*columns)
    if not tied:
        return alone
    grades = grades.filter(nw.col(SIZE) > 1)
    parts = [_tied_stop_places(context, grades, cascade) for cascade in context.requirements.cascades]
    return context.engine.stack([alone, *(part.select(*columns) for part in parts)])


def _tied_stop_places(context: Opened, grades: Frame, cascade: Cascade) -> Frame:
    """Return the places of tied blocks with the probabilities to stop there that a cascade has, 0 for all others."""
    block, stops = [*context.keys.group, START], [stop_column(number) for number in cascade.stops]
    examined = [examined_column(number) for number in cascade.stops]
    if cascade.cutoff is not None and len(context.requirements.cascades) > 1:
        grades = grades.filter(nw.col(START) <= cascade.cutoff)
    places = survivals(context.engine, grades, block, examined, cascade)
    survived = [survival_column(number) for number in cascade.stops]
    passed = [nw.col(name).shift(1).over(*block, order_by=POSITION).fill_null(1.0) for name in survived]
    stopped = {stop: sooner - nw.col(name) for stop, sooner, name in zip(stops, passed, survived, strict=True)}
    count = len(context.requirements.numbers.stops)
    others = {*numbered(count, stop_column), *numbered(count, examined_column)} - {*stops, *examined}
    places = places.with_columns(**stopped).with_columns(_place(nw.col(POSITION)).alias(POSITION))
    return places.with_columns(*(constant(name, 0.0) for name in sorted(others))) if others else places


def row_stop_places(context: Opened, kept: Frame, *, tied: bool) -> Frame:
    """Return the positions that a row may have, by its relevance, with the probability to get to it and stop there.

    There is one probability to stop. The other rows of the block are a block of their own, with one row less.
    """
    stop, survival, engine, examined = stop_column(0), survival_column(0), context.engine, examined_column(0)
    columns = [*context.keys.group, START, RELEVANCE, POSITION, stop, examined]
    grades = _grades(context, kept, tied=tied)
    # At the first position of its block a row has nobody of it in front.
    first = grades.with_columns(_place(1).alias(POSITION), quotient(nw.col(stop), nw.col(SIZE)).alias(stop)).select(
        *columns
    )
    if not tied:
        return first
    grades = engine.collect_once(grades.filter(nw.col(SIZE) > 1))
    block, row = [*context.keys.group, START], [*context.keys.group, START, OWN_GRADE]
    grades = grades.rename({RELEVANCE: OWN_GRADE})
    rest = engine.join(grades.rename({OWN_GRADE: RELEVANCE}), grades.select(*row), block)
    itself = (nw.col(RELEVANCE) == nw.col(OWN_GRADE)).cast(nw.Float64())
    rest = rest.with_columns((nw.col(MARKED) - itself).alias(MARKED), (nw.col(SIZE).cast(nw.Int64()) - 1).alias(SIZE))
    (cascade,) = context.requirements.cascades
    places = engine.join(survivals(engine, rest, row, [], cascade), grades.select(*row, SIZE, stop, examined), row)
    stopped = quotient(nw.col(stop) * nw.col(survival), nw.col(SIZE)).alias(stop)
    places = places.with_columns(stopped, _place(nw.col(POSITION) + 1).alias(POSITION)).rename({OWN_GRADE: RELEVANCE})
    return engine.stack([first, places.select(*columns)])


def _place(inside: nw.Expr | int) -> nw.Expr:
    """Return the position of a place in a tied block, as a float."""
    return nw.col(START).cast(nw.Float64()) + inside - 1


def _grades(context: Opened, kept: Frame, *, tied: bool) -> Frame:
    """Return how many rows of each tied block have which probabilities to stop, and that to get to the block."""
    engine, count = context.engine, len(context.requirements.numbers.stops)
    cutoff = context.requirements.place_cutoffs[STOPS]
    stops = numbered(count, stop_column)
    rows, greatest = context.with_greatest(kept if cutoff is None else kept.filter(nw.col(START) <= cutoff))
    terms = [stop(nw.col(RELEVANCE), greatest).cast(nw.Float64()) for stop in context.requirements.numbers.stops]
    rows = rows.with_columns(**dict(zip(stops, terms, strict=True)))
    rows = rows.filter(nw.any_horizontal(*(nw.col(stop) > 0 for stop in stops), ignore_nulls=True))
    grades = rows.select(*context.keys.group, START, SIZE, RELEVANCE, *stops)
    if tied:
        grade = [*context.keys.group, START, SIZE, RELEVANCE]
        grades = grades.group_by(*grade).agg(nw.len().alias(MARKED), nw.col(*stops).min())
        grades = grades.with_columns(nw.col(MARKED).cast(nw.Float64()))
    grades = engine.collect_once(grades)
    certain = engine.may_hold(grades, nw.any_horizontal(*(nw.col(stop) >= 1 for stop in stops), ignore_nulls=True))
    # The product of the probabilities to go on is a sum of logarithms, apart from those that are 0.
    logs = [_go_on(nw.col(stop)) for stop in stops]
    on = numbered(count, go_on_column)
    added = dict(zip(on, [nw.col(MARKED) * log if tied else log for log in logs], strict=True))
    end = numbered(count, end_column) if certain else []
    added |= {name: _is_end(nw.col(stop)) for name, stop in zip(end, stops, strict=False)}
    past = {past_column(name): name for name in added}
    # Half of the first probability to stop puts the grades of a block into one order.
    added[POSITION] = nw.col(START) + nw.col(stops[0]) / 2
    grades = engine.sums_before(grades.with_columns(**added), past, context.keys.group, POSITION).drop(POSITION)
    if tied:
        # The first of them has the sums over what is ahead of the block.
        block = [*context.keys.group, START]
        ahead = [nw.col(*map(past_column, on)).max().over(*block)]
        grades = grades.with_columns(*ahead, *([nw.col(*map(past_column, end)).min().over(*block)] if end else []))
    past_ends = [nw.col(past_column(name)) for name in end] if certain else [None] * len(on)
    examined = [_reached(nw.col(past_column(name)), ends) for name, ends in zip(on, past_ends, strict=True)]
    return engine.collect_once(
        grades.with_columns(**dict(zip(numbered(count, examined_column), examined, strict=True)))
    )


def _go_on(stop: nw.Expr) -> nw.Expr:
    """Return the logarithm of the probability to go on, 0 at a certain stop."""
    return nw.when(stop < 1).then(1 - stop).otherwise(1.0).log()


def _is_end(stop: nw.Expr) -> nw.Expr:
    """Return 1.0 at a certain stop, else 0.0."""
    return (stop >= 1).cast(nw.Float64())


def _reached(logs: nw.Expr, ends: nw.Expr | None) -> nw.Expr:
    """Return the probability to get to a row, from the sums of both over what is ahead; None: no stop is certain."""
    return logs.exp() if ends is None else logs.exp() * (ends < 1).cast(nw.Float64())
