"""The probabilities to pass the places of tied blocks, as exact expected values over all orders of the tied rows.

Other modules only call `survivals`: `stops` and `seen` pass it the rows of tied blocks.

A row with probability q to go on multiplies the probability to pass by q. The probability to pass the first j rows of
a tied block is S(j): take the product of q over j rows, and average it over all subsets of j rows. There are too many
subsets to add up, so S(j) is computed from a polynomial:

1. The polynomial Π (1 - u + u·q·x) over the t rows has the coefficients C(t, j)·u^j·(1-u)^(t-j)·S(j).
2. Its values on the circle |x| = 1 give the coefficients, by a Fourier sum. A value's logarithm is a sum over rows.
3. The same steps for a block where nobody stops give the coefficients with S(j) = 1. The quotient is S(j).

With u near j/t, about twenty points of the circle matter for each j. Neighbouring values of j form a band that shares
the points.

Keys of groups and joins are never computed floats, because the last bit of a float may depend on its batch of rows.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw

from recframe._base.columns import (
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
from recframe._plan.sum_columns import EXPRESSION_CACHE_SIZE
from recframe.errors import OptionError
from recframe.metrics._sums import quotient

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine
    from recframe._plan.requirements import Cascade

TAIL = 8.7
"""Outside so many standard deviations, a binomial distribution has less than 1e-17 of its probability."""
FEW_ROWS_AHEAD = 40.0
"""Up to this expected number of rows ahead, all points of the circle matter."""
SINE_TERMS = 11
"""How many terms the series of the sine needs, for angles up to π/2."""
ARCTAN_TERMS = 12
"""How many terms the series of the arctangent needs, for tangents up to 0.2."""


def survivals(engine: Engine, grades: Frame, block: Sequence[str], carried: Sequence[str], cascade: Cascade) -> Frame:
    """Return the places of tied blocks, numbered from 1 in each block, with the probabilities to pass them.

    Parameters
    ----------
    engine : Engine
        The engine of the frame.
    grades : Frame
        One row per tied block and set of probabilities to stop, with the number of rows that have them.
    block : sequence of str
        The key of a block.
    carried : sequence of str
        Columns to keep. Each has the same bits in all rows of a block.
    cascade : Cascade
        Which probabilities to stop are read, and up to which position.
    """
    if engine.eager and find_spec("numpy"):
        from recframe._plan import tied_stop_arrays

        return tied_stop_arrays.survivals(engine, grades, block, carried, cascade)
    if not engine.holds_long_queries(grades):
        msg = "a query of this database cannot compute at which of the tied rows users stop"
        raise OptionError(msg, "read the rows first: recframe.rec(table.to_polars())")
    logs = [log_column(number) for number in cascade.stops]
    arguments = [argument_column(number) for number in cascade.stops]
    steps = _coefficients(cascade.stops)
    # For each row, the logarithm and the angle of its factor at each point of the circle; then their sums per block.
    rows = _in_steps(_with_nodes(engine, _with_bands(engine, grades, cascade.cutoff)), _angles())
    for number, log, argument in zip(cascade.stops, logs, arguments, strict=True):
        rows = _in_steps(rows, _on_circle(stop_column(number), log, argument))
    node = [*block, SIZE, BAND_FIRST, BAND_COUNT, NODE]
    rows = rows.select(*node, *carried, MARKED, *steps.weighted)
    nodes = engine.sum_disordered(rows, node, [MARKED, *logs, *arguments], carried)
    # The base is a block of the same size in which nobody stops.
    nodes = _in_steps(nodes, (*_periods(), *_angles(), *_on_circle(None, BASE_LOG, BASE_ARGUMENT)))
    nodes = nodes.select(*node, *carried, TILT, ANGLE, *steps.sums)
    # For each place in the band, the sum over the points is a coefficient.
    parts = _in_steps(engine.repeat(nodes, BAND_COUNT), steps.turned)
    block_and_position = [*block, POSITION]
    parts = parts.select(*block_and_position, *carried, *steps.parts)
    parts = engine.sum_disordered(parts, block_and_position, [*arguments, BASE_ARGUMENT], carried)
    return parts.select(*block_and_position, *carried, *steps.shares)


def _with_bands(engine: Engine, grades: Frame, upto: int | None) -> Frame:
    """Return each row of a tied block once per band. Band s has the places s² to s² + 2s from the nearer end."""
    many, *bands = _bands()
    rows = engine.repeat(_in_steps(grades, ((_last_read(upto),), many)), PLACE_COUNT)
    return _in_steps(rows, bands).drop(POSITION, PLACE_COUNT, REACHED, BAND)


def _with_nodes(engine: Engine, bands: Frame) -> Frame:
    """Return each row of a band once per point that matters on the circle's upper half, which mirrors the lower."""
    bands = _in_steps(bands, _periods()).with_columns(_points())
    return engine.repeat(bands, PLACE_COUNT).rename({POSITION: NODE}).drop(PLACE_COUNT)


def _in_steps(frame: Frame, steps: Iterable[Sequence[nw.Expr]]) -> Frame:
    """Add columns in steps, since each step reads the columns of the steps before it."""
    for step in steps:
        frame = frame.with_columns(*step)
    return frame


# --- expressions: they are long, so they are cached, and equal calls need not build and convert them again ----------


_Steps = tuple[tuple[nw.Expr, ...], ...]
"""Columns to add in steps: each step reads the columns of the steps before it."""


class _Coefficients(NamedTuple):
    """The expressions of each step from the points of the circle to the probabilities to pass."""

    weighted: list[nw.Expr]
    """Logarithms and angles, times the number of rows with the same probabilities."""
    sums: list[nw.Expr]
    """Logarithms and angles of the block, including rows where nobody stops, and of the base."""
    turned: _Steps
    """The place, and then the angles turned by its number."""
    parts: list[nw.Expr]
    """What a point of the circle adds to the coefficients."""
    shares: list[nw.Expr]
    """The probabilities to pass: coefficients divided by those coefficients where nobody stops."""


@lru_cache(EXPRESSION_CACHE_SIZE)
def _coefficients(stops: tuple[int, ...]) -> _Coefficients:
    """Return the expressions that compute the probabilities to pass, for some probabilities to stop."""
    logs = [log_column(number) for number in stops]
    arguments = [argument_column(number) for number in stops]
    survived = [survival_column(number) for number in stops]
    size = nw.col(SIZE).cast(nw.Float64())
    # `grades` only has the rows where users may stop. The rest of the block adds what a row of the base adds.
    rest = size - nw.col(MARKED)
    base_log = nw.col(BASE_LOG)
    base_argument = nw.col(BASE_ARGUMENT)
    sums = {log: nw.col(log) + rest * base_log for log in logs}
    sums |= {argument: nw.col(argument) + rest * base_argument for argument in arguments}
    sums |= {BASE_LOG: size * base_log, BASE_ARGUMENT: size * base_argument}
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


@lru_cache(EXPRESSION_CACHE_SIZE)
def _last_read(upto: int | None) -> nw.Expr:
    """Return the last place of a tied block that is read."""
    size = nw.col(SIZE).cast(nw.Float64())
    left = size if upto is None else upto - nw.col(START).cast(nw.Float64()) + 1
    return nw.when(left < size).then(left).otherwise(size).alias(REACHED)


@cache
def _bands() -> _Steps:
    """Return how many bands a block has, and the number, first place and length of each band.

    Bands 1, 2, … of the lower half count places from the start of the block. Bands of the upper half count from its
    end, from the band nearest to the middle to the band of the last place that is read.
    """
    size = nw.col(SIZE).cast(nw.Float64())
    last = nw.col(REACHED)
    band = nw.col(POSITION)
    half = (size - size % 2) / 2
    lower_last = nw.when(last < half).then(last).otherwise(half)
    upper_last = size - half - 1
    # How many places at the end of the block are not read.
    unread = nw.when(last < size).then(size - last).otherwise(0.0)
    lower_count = _root(lower_last)
    upper_count = _root(upper_last)
    count = lower_count + nw.when(last > half).then(upper_count - _root(unread) + 1).otherwise(0.0)
    is_lower = band <= lower_count
    number = nw.when(is_lower).then(band).otherwise(upper_count + lower_count + 1 - band)
    # The nearest and the furthest place of band s, from the end of the block that it counts from.
    s = nw.col(BAND)
    nearest = s * s
    nearest = nw.when(is_lower | (nearest > unread)).then(nearest).otherwise(unread)
    furthest = s * s + 2 * s
    most = nw.when(is_lower).then(lower_last).otherwise(upper_last)
    furthest = nw.when(furthest < most).then(furthest).otherwise(most)
    first = nw.when(is_lower).then(nearest).otherwise(size - furthest)
    return (
        (count.cast(nw.Int64()).alias(PLACE_COUNT),),
        (number.cast(nw.Float64()).alias(BAND),),
        (first.alias(BAND_FIRST), (furthest - nearest + 1).cast(nw.Int64()).alias(BAND_COUNT)),
    )


@cache
def _points() -> nw.Expr:
    """Return how many points of the upper half of the circle matter."""
    size = nw.col(SIZE).cast(nw.Float64())
    period = nw.col(PERIOD)
    points = quotient(TAIL / math.pi * period, nw.col(DEVIATION)) + 2
    has_many_rows_ahead = size * nw.col(TILT) > FEW_ROWS_AHEAD
    count = nw.when(has_many_rows_ahead & (points < period)).then(points - points % 1).otherwise(period)
    return count.cast(nw.Int64()).alias(PLACE_COUNT)


@cache
def _periods() -> _Steps:
    """Return u for the middle of a band, the deviation of the places around it, and the points of half the circle."""
    size = nw.col(SIZE).cast(nw.Float64())
    tilt = nw.col(TILT)
    middle = nw.col(BAND_FIRST) + (nw.col(BAND_COUNT).cast(nw.Float64()) - 1) / 2
    # With n points on the circle, the coefficients of places that are n apart add up. So n must exceed the places
    # with coefficients that matter.
    points = 9 * nw.col(DEVIATION) + 14
    return (
        (quotient(middle + 0.5, size + 1).alias(TILT),),
        ((size * tilt * (1 - tilt)).sqrt().alias(DEVIATION),),
        ((nw.when(points < size).then(points).otherwise(size) / 2).alias(PERIOD),),
        ((nw.col(PERIOD) - nw.col(PERIOD) % 1 + 1).alias(PERIOD),),
    )


@cache
def _angles() -> _Steps:
    """Return the angle of a point, and then the sine and the cosine of half the angle."""
    angle = quotient((nw.col(NODE).cast(nw.Float64()) - 0.5) * math.pi, nw.col(PERIOD))
    return (
        (angle.alias(ANGLE),),
        ((nw.col(ANGLE) / 2).alias(SINE), ((math.pi - nw.col(ANGLE)) / 2).alias(COSINE)),
        (_sine(SINE).alias(SINE), _sine(COSINE).alias(COSINE)),
    )


@lru_cache(EXPRESSION_CACHE_SIZE)
def _on_circle(stop: str | None, log: str, argument: str) -> _Steps:
    """Return the logarithm of the absolute value of z = 1 - u + u·q·x, and the angle of z minus u times the angle of x.

    The probability to go on, q, is 1 minus the column `stop`, or 1 if `stop` is None.
    """
    go_on = nw.lit(1.0) if stop is None else 1 - nw.col(stop)
    tilt = nw.col(TILT)
    sine = nw.col(SINE)
    tangent = nw.col(argument)
    real = 1 - tilt + tilt * go_on * (1 - 2 * sine * sine)
    square = (1 - tilt * (1 - go_on)) * (1 - tilt * (1 - go_on)) - 4 * tilt * go_on * (1 - tilt) * sine * sine
    # The series of the arctangent needs a small tangent. Start with half the angle and halve it twice.
    half_tangent = quotient(2 * tilt * go_on * sine * nw.col(COSINE), nw.col(SQUARE).sqrt() + nw.col(REAL).abs())
    halved = quotient(tangent, 1 + (1 + tangent * tangent).sqrt()).alias(argument)
    angle = 8 * _arctan(tangent)
    angle = nw.when(nw.col(REAL) < 0).then(math.pi - angle).otherwise(angle)
    return (
        (real.alias(REAL), square.alias(SQUARE)),
        (half_tangent.alias(argument), (nw.col(SQUARE).log() / 2).alias(log)),
        (halved,),
        (halved,),
        ((angle - tilt * nw.col(ANGLE)).alias(argument),),
    )


def _root(number: nw.Expr) -> nw.Expr:
    """Return the square root, rounded down."""
    root = number.sqrt()
    return root - root % 1


def _arctan(tangent: nw.Expr) -> nw.Expr:
    """Return the angle of a tangent up to 0.2."""
    series = nw.lit(0.0)
    for n in reversed(range(ARCTAN_TERMS)):
        series = 1 / (2 * n + 1) - tangent * tangent * series
    return tangent * series


def _sine(column: str) -> nw.Expr:
    """Return the sine of a column of angles up to π/2, by its series. Older versions of Narwhals have no `sin`."""
    angle = nw.col(column)
    series = nw.lit(0.0)
    for n in reversed(range(SINE_TERMS)):
        series = 1 / math.factorial(2 * n + 1) - angle * angle * series
    return angle * series


def _folded(angle: nw.Expr) -> nw.Expr:
    """Return the angle, folded to half of it between -π/2 and π/2, as `_cosine` expects."""
    return (angle.abs() % (2 * math.pi) - math.pi) / 2


def _cosine(column: str) -> nw.Expr:
    """Return the cosine of an angle from the column of its folded half."""
    sine = _sine(column)
    return 2 * sine * sine - 1
