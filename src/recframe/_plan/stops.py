"""Where users stop who read from the top, as exact expected values over all orders of tied rows.

The probability to pass the first j rows of a tied block, S(j), is the mean over its subsets of j rows of the product of
their probabilities q to go on. The polynomial Π (1 - u + u·q·x) over the rows of a block has the coefficients
C(t, j)·u^j·(1-u)^(t-j)·S(j). They are read off its values on the circle |x| = 1, whose logarithms are sums over rows.
Divided by those of a block where nobody stops, S(j) is left. With u near j/t few points of the circle matter,
about twenty for each j, and the j near to each other share them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import (
    ANGLE,
    ARGUMENT,
    BAND,
    BASE_ARGUMENT,
    BASE_LOG,
    BASE_PART,
    COSINE,
    LOG_RADIUS,
    MARKED,
    NODE,
    PART,
    PERIOD,
    PLACE_COUNT,
    POSITION,
    RADIUS,
    REAL,
    RELEVANCE,
    SINE,
    SIZE,
    START,
    SURVIVAL,
    TILT,
    end_column,
    examined_column,
    go_on_column,
    past_column,
    stop_column,
)
from recframe._plan.places import places_of
from recframe._plan.sum_columns import constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._plan.context import CallContext

TAIL = 8.7
"""How many standard deviations of a binomial distribution hold all but 1e-17 of it."""
FEW = 40.0
"""The expected number of rows up to which all points of the circle matter."""
SINE_TERMS, ARCTAN_TERMS = 11, 12
"""Of the series of the sine up to a right angle, and of the arctangent up to a sixteenth of a half turn."""


def stop_places(context: CallContext, kept: Frame, upto: int | None, *, tied: bool) -> Frame:
    """Return the positions at which users may stop, with the probability to get to the block and to stop there then."""
    engine, block, stops = context.engine, [*context.group, START], range(len(context.requirements.stops))
    rows = stopping_rows(context, kept)
    blocks = engine.settle(examined_blocks(context, rows, tied=tied))
    start = nw.col(START).cast(nw.Float64()).alias(POSITION)
    examined = [examined_column(number) for number in stops]
    columns = [*block, POSITION, *map(stop_column, stops), *examined]
    if not tied:
        return blocks.with_columns(start).select(*columns)
    found = [blocks.filter(nw.col(SIZE) == 1).with_columns(start).select(*columns)]
    for number in stops:
        stop = stop_column(number)
        grades = engine.settle(tied_grades(rows, block, stop))
        places = survivals(context, grades, block, stop, upto)
        passed = nw.col(SURVIVAL).shift(1).over(*block, order_by=POSITION).fill_null(1.0)
        others = (constant(stop_column(other), 0.0) for other in stops if other != number)
        places = places.with_columns((passed - nw.col(SURVIVAL)).alias(stop), *others)
        places = places.with_columns((nw.col(START).cast(nw.Float64()) + nw.col(POSITION) - 1).alias(POSITION))
        found.append(engine.join(places, blocks.select(*block, *examined), block).select(*columns))
    return engine.stack(found)


def stopping_rows(context: CallContext, kept: Frame) -> Frame:
    """Return the rows at which somebody stops, with the probabilities."""
    cutoff = context.requirements.cascade_cutoff
    kept = kept if cutoff is None else kept.filter(nw.col(START) <= cutoff)
    kept, greatest = context.with_greatest(kept)
    stops = {
        stop_column(number): stop(nw.col(RELEVANCE), greatest).cast(nw.Float64())
        for number, stop in enumerate(context.requirements.stops)
    }
    kept = kept.with_columns(**stops)
    anybody = nw.any_horizontal(*(nw.col(stop) > 0 for stop in stops), ignore_nulls=True)
    return context.engine.settle(kept.filter(anybody).select(*context.group, START, SIZE, *stops))


def examined_blocks(context: CallContext, rows: Frame, *, tied: bool) -> Frame:
    """Return the tied blocks of such rows, with the examination probability of the first position of each."""
    engine, stops = context.engine, range(len(context.requirements.stops))
    chances = [nw.col(stop_column(number)) for number in stops]
    # The product of the probabilities to go on is a sum of logarithms, apart from those that are 0.
    on = {
        go_on_column(number): nw.when(chance < 1).then(1 - chance).otherwise(1.0).log()
        for number, chance in enumerate(chances)
    }
    certain = engine.may_hold(rows, nw.any_horizontal(*(chance >= 1 for chance in chances), ignore_nulls=True))
    end = {end_column(number): (chances[number] >= 1).cast(nw.Float64()) for number in stops} if certain else {}
    blocks = rows.with_columns(**on, **end)
    if tied:
        sums = nw.col(*map(stop_column, stops), *on, *end).sum()
        blocks = blocks.group_by(*context.group, START, SIZE).agg(sums)
    blocks = engine.sums_before(blocks, {past_column(column): column for column in (*on, *end)}, context.group, START)
    examined = {examined_column(number): nw.col(past_column(go_on_column(number))).exp() for number in stops}
    if certain:
        examined = {
            name: chance * (nw.col(past_column(end_column(number))) < 1).cast(nw.Float64())
            for number, (name, chance) in enumerate(examined.items())
        }
    return blocks.with_columns(**examined)


def tied_grades(rows: Frame, block: Sequence[str], stop: str) -> Frame:
    """Return how many rows of each tied block have each probability to stop above 0."""
    rows = rows.filter((nw.col(SIZE) > 1) & (nw.col(stop) > 0))
    grades = rows.group_by(*block, SIZE, stop).agg(nw.len().alias(MARKED))
    return grades.with_columns(nw.col(MARKED, SIZE).cast(nw.Float64()))


def survivals(context: CallContext, grades: Frame, block: Sequence[str], stop: str, upto: int | None) -> Frame:
    """Return the positions of tied blocks, counted in each from 1, with the probability to pass them.

    Parameters
    ----------
    context : CallContext
        The frames of the call.
    grades : Frame
        What `tied_grades` returns.
    block : sequence of str
        The key of a block.
    stop : str
        The column of the probability to stop.
    upto : int or None
        The last position of a list that matters.
    """
    engine, node = context.engine, [*block, BAND, NODE]
    places = places_of(context, grades.select(*block, SIZE).unique(), upto)
    places = engine.settle(places.select(*block, SIZE, POSITION, _band().alias(BAND)))
    nodes = engine.settle(_nodes(context, places.select(*block, SIZE, BAND).unique()))
    rows = _on_circle(engine.join(nodes, grades.drop(SIZE), block), 1 - nw.col(stop))
    rows = rows.select(
        *node,
        (nw.col(MARKED) * (nw.col(LOG_RADIUS) - nw.col(BASE_LOG))).alias(LOG_RADIUS),
        (nw.col(MARKED) * (nw.col(ARGUMENT) - nw.col(BASE_ARGUMENT))).alias(ARGUMENT),
    )
    nodes = engine.join(nodes, engine.sum_by(rows, node, [LOG_RADIUS, ARGUMENT]), node)
    parts = engine.join(places, nodes.drop(SIZE), [*block, BAND])
    size, turned = nw.col(SIZE), (nw.col(SIZE) * nw.col(TILT) - nw.col(POSITION)) * nw.col(ANGLE)
    base_log, base_argument = size * nw.col(BASE_LOG), size * nw.col(BASE_ARGUMENT) + turned
    # The cosine of an angle is that of its absolute value, and 2·sin² - 1 of half of what is left of whole turns.
    columns = {
        LOG_RADIUS: base_log + nw.col(LOG_RADIUS),
        ARGUMENT: _folded(base_argument + nw.col(ARGUMENT)),
        BASE_LOG: base_log,
        BASE_ARGUMENT: _folded(base_argument),
    }
    parts = parts.select(*block, POSITION, *(value.alias(name) for name, value in columns.items()))
    parts = parts.select(
        *block,
        POSITION,
        (nw.col(LOG_RADIUS).exp() * _cosine(ARGUMENT)).alias(PART),
        (nw.col(BASE_LOG).exp() * _cosine(BASE_ARGUMENT)).alias(BASE_PART),
    )
    sums = engine.sum_by(parts, [*block, POSITION], [PART, BASE_PART])
    return sums.select(*block, POSITION, (nw.col(PART) / nw.col(BASE_PART)).alias(SURVIVAL))


def _band() -> nw.Expr:
    """Return the middle of the positions that share points: from s² to s² + 2s, counted from the nearer end."""
    position, size = nw.col(POSITION).cast(nw.Float64()), nw.col(SIZE)
    low = 2 * position <= size
    root = nw.when(low).then(position).otherwise(size - position).sqrt()
    whole = root - root % 1
    middle = whole * (whole + 1)
    return nw.when(low).then(middle).otherwise(size - middle).cast(nw.Int64())


def _nodes(context: CallContext, bands: Frame) -> Frame:
    """Return the points of the circle that matter for each band, with the values there of a row where nobody stops."""
    size, tilt, period = nw.col(SIZE), nw.col(TILT), nw.col(PERIOD)
    bands = bands.with_columns(((nw.col(BAND) + 0.5) / (size + 1)).alias(TILT))
    bands = bands.with_columns((size * tilt * (1 - tilt)).sqrt().alias(RADIUS))
    # Coefficients add up that are as many places apart as the circle has points, of which half are computed.
    apart = 10 * nw.col(RADIUS) + 20
    bands = bands.with_columns((nw.when(apart < size).then(apart).otherwise(size) / 2).alias(PERIOD))
    bands = bands.with_columns((period - period % 1 + 1).alias(PERIOD))
    seen = TAIL / math.pi * period / nw.col(RADIUS) + 2
    count = nw.when((size * tilt > FEW) & (seen < period)).then(seen - seen % 1).otherwise(period)
    nodes = context.engine.repeat(bands.with_columns(count.cast(nw.Int64()).alias(PLACE_COUNT)), PLACE_COUNT)
    angle = (nw.col(POSITION).cast(nw.Float64()) - 0.5) * math.pi / period
    nodes = nodes.with_columns(nw.col(POSITION).alias(NODE), angle.alias(ANGLE))
    nodes = nodes.with_columns((nw.col(ANGLE) / 2).alias(SINE), (math.pi / 2 - nw.col(ANGLE) / 2).alias(COSINE))
    nodes = nodes.with_columns(_sine(SINE).alias(SINE), _sine(COSINE).alias(COSINE))
    nodes = _on_circle(nodes, nw.lit(1.0))
    return nodes.drop(POSITION, PLACE_COUNT, PERIOD, RADIUS).rename({LOG_RADIUS: BASE_LOG, ARGUMENT: BASE_ARGUMENT})


def _on_circle(nodes: Frame, on: nw.Expr) -> Frame:
    """Add the logarithm of the size of 1 - u + u·q·x, and its angle less u times that of x, for a probability q."""
    tilt, sine, argument = nw.col(TILT), nw.col(SINE), nw.col(ARGUMENT)
    real = 1 - tilt + tilt * on * (1 - 2 * sine * sine)
    square = (1 - tilt * (1 - on)) * (1 - tilt * (1 - on)) - 4 * tilt * on * (1 - tilt) * sine * sine
    nodes = nodes.with_columns(real.alias(REAL), square.sqrt().alias(RADIUS))
    # The tangent of half the angle, of a quarter and of an eighth.
    tangent = 2 * tilt * on * sine * nw.col(COSINE) / (nw.col(RADIUS) + nw.col(REAL).abs())
    nodes = nodes.with_columns(tangent.alias(ARGUMENT), nw.col(RADIUS).log().alias(LOG_RADIUS))
    halved = (argument / (1 + (1 + argument * argument).sqrt())).alias(ARGUMENT)
    angle = 8 * _arctan(argument)
    angle = nw.when(nw.col(REAL) < 0).then(math.pi - angle).otherwise(angle)
    nodes = nodes.with_columns(halved).with_columns(halved)
    return nodes.with_columns((angle - tilt * nw.col(ANGLE)).alias(ARGUMENT)).drop(REAL)


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
    """Return the angle for `_cosine`."""
    return (angle.abs() % (2 * math.pi) - math.pi) / 2


def _cosine(column: str) -> nw.Expr:
    """Return the cosine of a column of folded angles."""
    return 2 * _sine(column) * _sine(column) - 1
