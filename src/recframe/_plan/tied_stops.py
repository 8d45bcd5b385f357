"""The probabilities to pass the places of tied blocks, as exact expected values over all orders of the tied rows.

Other modules call only `survivals`: `stops` and `seen` pass it the rows of tied blocks.

The probability to pass the first j rows of a tied block, S(j), is the mean over its subsets of j rows of the product of
their probabilities q to go on. The polynomial Π (1 - u + u·q·x) over the t rows of the block has the coefficients
C(t, j)·u^j·(1-u)^(t-j)·S(j). They are read off its values on the circle |x| = 1, whose logarithms are sums over rows.
Dividing by the coefficients of a block where nobody stops leaves S(j). With u near j/t only about twenty points of the
circle matter for each j, and neighbouring values of j form a band that shares them.

Keys of groups and joins are never computed floats, because the last bit of a float may depend on its batch of rows.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw

from recframe._columns import (
    ANGLE,
    BAND,
    BAND_COUNT,
    BAND_FIRST,
    BASE_ARGUMENT,
    BASE_LOG,
    COSINE,
    DEVIATION,
    MARKED,
    NODE,
    PERIOD,
    PLACE_COUNT,
    POSITION,
    REACHED,
    REAL,
    SINE,
    SIZE,
    SQUARE,
    START,
    TILT,
    argument_column,
    log_column,
    stop_column,
    survival_column,
)
from recframe._plan.sum_columns import KEPT
from recframe.errors import OptionError
from recframe.metrics._sums import quotient

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine
    from recframe._plan.requirements import Cascade

TAIL = 8.7
"""How many standard deviations of a binomial distribution hold all but 1e-17 of it."""
FEW_ROWS_AHEAD = 40.0
"""The expected number of rows up to which all points of the circle matter."""
SINE_TERMS, ARCTAN_TERMS = 11, 12
"""How many terms the series of the sine (up to a right angle) and of the arctangent (up to 0.2) need."""


def survivals(engine: Engine, grades: Frame, block: Sequence[str], carried: Sequence[str], cascade: Cascade) -> Frame:
    """Return the positions of tied blocks, counted in each from 1, with the probabilities to pass them.

    Parameters
    ----------
    engine : Engine
        What computes.
    grades : Frame
        How many rows of a tied block have which probabilities to stop.
    block : sequence of str
        The key of a block.
    carried : sequence of str
        The other columns that have the same bits in all rows of a block.
    cascade : Cascade
        Which probabilities to stop are read, and up to which position.
    """
    if not engine.holds_long_queries(grades):
        msg = "a query of this database cannot compute at which of the tied rows users stop"
        raise OptionError(msg, "ties='first' or 'item'; or read the rows first: recframe.rec(table.to_polars())")
    stops, logs, arguments = (
        [column(number) for number in cascade.stops] for column in (stop_column, log_column, argument_column)
    )
    node, made = [*block, SIZE, BAND_FIRST, BAND_COUNT, NODE], _coefficients(cascade.stops)
    rows = _in_steps(_with_nodes(engine, _with_bands(engine, grades, cascade.cutoff)), _angles())
    for log, argument, stop in zip(logs, arguments, stops, strict=True):
        rows = _in_steps(rows, _on_circle(stop, log, argument))
    rows = rows.select(*node, *carried, MARKED, *made.weighted)
    nodes = engine.sum_disordered(rows, node, [MARKED, *logs, *arguments], carried)
    # The base is a block of the same size in which nobody stops.
    nodes = _in_steps(nodes, (*_periods(), *_angles(), *_on_circle(None, BASE_LOG, BASE_ARGUMENT)))
    nodes = nodes.select(*node, *carried, TILT, ANGLE, *made.sums)
    parts = _in_steps(engine.repeat(nodes, BAND_COUNT), made.turned)
    place = [*block, POSITION]
    parts = parts.select(*place, *carried, *made.parts)
    parts = engine.sum_disordered(parts, place, [*arguments, BASE_ARGUMENT], carried)
    return parts.select(*place, *carried, *made.shares)


def _with_bands(engine: Engine, grades: Frame, upto: int | None) -> Frame:
    """Repeat rows of tied blocks for each band of their positions: from s² to s² + 2s, counted from the nearer end."""
    many, *bands = _bands()
    rows = engine.repeat(_in_steps(grades, ((_last_read(upto),), many)), PLACE_COUNT)
    return _in_steps(rows, bands).drop(POSITION, PLACE_COUNT, REACHED, BAND)


def _with_nodes(engine: Engine, bands: Frame) -> Frame:
    """Repeat rows of bands for each point of the circle that matters, on the upper half: the other half mirrors it."""
    bands = _in_steps(bands, _periods()).with_columns(_points())
    return engine.repeat(bands, PLACE_COUNT).rename({POSITION: NODE}).drop(PLACE_COUNT)


def _in_steps(frame: Frame, steps: Iterable[Sequence[nw.Expr]]) -> Frame:
    """Add columns in steps: each step reads the columns of the steps before it."""
    for step in steps:
        frame = frame.with_columns(*step)
    return frame


# --- expressions: long ones, kept so that an equal call does not build and convert them again ---------------------


_Steps = tuple[tuple[nw.Expr, ...], ...]
"""Columns to add in steps: each step reads the columns of the steps before it."""


class _Coefficients(NamedTuple):
    """Expressions that compute coefficients from the points of the circle, for each probability to stop."""

    weighted: list[nw.Expr]
    """Logarithms and angles of all rows with the same probabilities."""
    sums: list[nw.Expr]
    """Logarithms and angles of a whole block, and of a block where nobody stops."""
    turned: _Steps
    """The position, and then the angles of its coefficients."""
    parts: list[nw.Expr]
    """What a point adds to the coefficients."""
    shares: list[nw.Expr]
    """The probabilities to pass."""


@lru_cache(KEPT)
def _coefficients(stops: tuple[int, ...]) -> _Coefficients:
    logs, arguments = [log_column(number) for number in stops], [argument_column(number) for number in stops]
    survived = [survival_column(number) for number in stops]
    size, base = nw.col(SIZE).cast(nw.Float64()), (nw.col(BASE_LOG), nw.col(BASE_ARGUMENT))
    rest = size - nw.col(MARKED)
    sums = {log: nw.col(log) + rest * base[0] for log in logs}
    sums |= {argument: nw.col(argument) + rest * base[1] for argument in arguments}
    sums |= {BASE_LOG: size * base[0], BASE_ARGUMENT: size * base[1]}
    turned = (size * nw.col(TILT) - nw.col(POSITION)) * nw.col(ANGLE)
    angles = [*arguments, BASE_ARGUMENT]
    values = {name: nw.col(log).exp() * _cosine(name) for log, name in zip((*logs, BASE_LOG), angles, strict=True)}
    shares = [quotient(nw.col(name), nw.col(BASE_ARGUMENT)) for name in arguments]
    return _Coefficients(
        weighted=[(nw.col(MARKED) * nw.col(name)).alias(name) for name in (*logs, *arguments)],
        sums=[total.alias(name) for name, total in sums.items()],
        turned=(
            ((nw.col(BAND_FIRST) + nw.col(POSITION) - 1).cast(nw.Int64()).alias(POSITION),),
            tuple(_folded(nw.col(name) + turned).alias(name) for name in angles),
        ),
        parts=[part.alias(name) for name, part in values.items()],
        shares=[part.alias(name) for part, name in zip(shares, survived, strict=True)],
    )


@lru_cache(KEPT)
def _last_read(upto: int | None) -> nw.Expr:
    """Return the last position of a tied block that matters."""
    size = nw.col(SIZE).cast(nw.Float64())
    left = size if upto is None else upto - nw.col(START).cast(nw.Float64()) + 1
    return nw.when(left < size).then(left).otherwise(size).alias(REACHED)


@cache
def _bands() -> _Steps:
    """Return how many bands a block has, and the number, first position and length of each band."""
    size, last, band = nw.col(SIZE).cast(nw.Float64()), nw.col(REACHED), nw.col(POSITION)
    half = (size - size % 2) / 2
    low = nw.when(last < half).then(last).otherwise(half)
    lower, upper, outer = _root(low), _root(size - half - 1), nw.when(last < size).then(size - last).otherwise(0.0)
    count = lower + nw.when(last > half).then(upper - _root(outer) + 1).otherwise(0.0)
    is_low = band <= lower
    number = nw.when(is_low).then(band).otherwise(upper + lower + 1 - band)
    root = nw.col(BAND)
    nearest, furthest = root * root, root * root + 2 * root
    nearest = nw.when(is_low | (nearest > outer)).then(nearest).otherwise(outer)
    most = nw.when(is_low).then(low).otherwise(size - half - 1)
    furthest = nw.when(furthest < most).then(furthest).otherwise(most)
    first = nw.when(is_low).then(nearest).otherwise(size - furthest)
    return (
        (count.cast(nw.Int64()).alias(PLACE_COUNT),),
        (number.cast(nw.Float64()).alias(BAND),),
        (first.alias(BAND_FIRST), (furthest - nearest + 1).cast(nw.Int64()).alias(BAND_COUNT)),
    )


@cache
def _points() -> nw.Expr:
    """Return how many points of the upper half of the circle matter."""
    size, tilt, period = nw.col(SIZE).cast(nw.Float64()), nw.col(TILT), nw.col(PERIOD)
    seen = quotient(TAIL / math.pi * period, nw.col(DEVIATION)) + 2
    count = nw.when((size * tilt > FEW_ROWS_AHEAD) & (seen < period)).then(seen - seen % 1).otherwise(period)
    return count.cast(nw.Int64()).alias(PLACE_COUNT)


@cache
def _periods() -> _Steps:
    """Return what the points of bands follow from."""
    size, tilt, deviation = nw.col(SIZE).cast(nw.Float64()), nw.col(TILT), nw.col(DEVIATION)
    middle = nw.col(BAND_FIRST) + (nw.col(BAND_COUNT).cast(nw.Float64()) - 1) / 2
    # Coefficients add up that are as many places apart as the whole circle has points.
    apart = 9 * deviation + 14
    return (
        (quotient(middle + 0.5, size + 1).alias(TILT),),
        ((size * tilt * (1 - tilt)).sqrt().alias(DEVIATION),),
        ((nw.when(apart < size).then(apart).otherwise(size) / 2).alias(PERIOD),),
        ((nw.col(PERIOD) - nw.col(PERIOD) % 1 + 1).alias(PERIOD),),
    )


@cache
def _angles() -> _Steps:
    """Return the angle of a point, and then the sine and the cosine of half of it."""
    angle = quotient((nw.col(NODE).cast(nw.Float64()) - 0.5) * math.pi, nw.col(PERIOD))
    return (
        (angle.alias(ANGLE),),
        ((nw.col(ANGLE) / 2).alias(SINE), ((math.pi - nw.col(ANGLE)) / 2).alias(COSINE)),
        (_sine(SINE).alias(SINE), _sine(COSINE).alias(COSINE)),
    )


@lru_cache(KEPT)
def _on_circle(stop: str | None, log: str, argument: str) -> _Steps:
    """Return the logarithm of the size of 1 - u + u·q·x, and its angle less u times that of x.

    For the probability q to go on: that of a column to stop, or 1.
    """
    on = nw.lit(1.0) if stop is None else 1 - nw.col(stop)
    tilt, sine, angle = nw.col(TILT), nw.col(SINE), nw.col(argument)
    real = 1 - tilt + tilt * on * (1 - 2 * sine * sine)
    square = (1 - tilt * (1 - on)) * (1 - tilt * (1 - on)) - 4 * tilt * on * (1 - tilt) * sine * sine
    # The tangent of half the angle, of a quarter and of an eighth.
    tangent = quotient(2 * tilt * on * sine * nw.col(COSINE), nw.col(SQUARE).sqrt() + nw.col(REAL).abs())
    halved = quotient(angle, 1 + (1 + angle * angle).sqrt()).alias(argument)
    whole = 8 * _arctan(angle)
    whole = nw.when(nw.col(REAL) < 0).then(math.pi - whole).otherwise(whole)
    return (
        (real.alias(REAL), square.alias(SQUARE)),
        (tangent.alias(argument), (nw.col(SQUARE).log() / 2).alias(log)),
        (halved,),
        (halved,),
        ((whole - tilt * nw.col(ANGLE)).alias(argument),),
    )


def _root(number: nw.Expr) -> nw.Expr:
    """Return the whole part of a square root."""
    root = number.sqrt()
    return root - root % 1


def _arctan(tangent: nw.Expr) -> nw.Expr:
    """Return the angle of a tangent up to 0.2."""
    series = nw.lit(0.0)
    for n in reversed(range(ARCTAN_TERMS)):
        series = 1 / (2 * n + 1) - tangent * tangent * series
    return tangent * series


def _sine(column: str) -> nw.Expr:
    """Return the sine of a column of angles, up to a right one. Older versions of Narwhals have none."""
    angle, series = nw.col(column), nw.lit(0.0)
    for n in reversed(range(SINE_TERMS)):
        series = 1 / math.factorial(2 * n + 1) - angle * angle * series
    return angle * series


def _folded(angle: nw.Expr) -> nw.Expr:
    """Return the angle for `_cosine`: between two right ones."""
    return (angle.abs() % (2 * math.pi) - math.pi) / 2


def _cosine(column: str) -> nw.Expr:
    """Return the cosine of a column of folded angles."""
    sine = _sine(column)
    return 2 * sine * sine - 1
