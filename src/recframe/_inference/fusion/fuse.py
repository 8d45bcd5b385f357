"""The call `fuse`: one score for each item, from the scores of several models, list by list."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import narwhals as nw

from recframe._base.columns import score_column
from recframe._base.roles import FusionNorm
from recframe._base.values import LARGEST_NUMBER, choice, number
from recframe._data.common import check_new_column, check_several, query_of_frames
from recframe._engines.column_spec import Source
from recframe._engines.registry import open_rows
from recframe._inference.fusion.fusion_methods import BY_POSITION, METHODS, WINS, Values, number_of
from recframe._inference.fusion.long_format import in_columns
from recframe._inference.fusion.majorities import CANDIDATES, RETRIEVED, position_column, with_wins
from recframe._inference.fusion.medians import in_order
from recframe._plan.request import Request
from recframe._plan.sources import item_spec, key_specs, score_specs, with_list_key
from recframe.errors import InputError, OptionError, OptionTypeError, quoted
from recframe.metrics._sums import quotient, sum_of

if TYPE_CHECKING:
    from recframe._base.columns import Frame
    from recframe._engines.base import Engine
    from recframe._plan.query import Query


POSITION_VALUES = ("rrf", "isr", "borda", "rbc", "position", "rank", "borda norm")
"""The kinds of values that depend on positions, so only on the order of a model's scores."""
GAPS = ("rrf", "isr", "rbc")
"""The kinds of values that read the user's ranks with their gaps."""
ABSENT = "make the scores of items that the model did not retrieve missing"
"""The remedy for infinite scores."""
fused_column = "fused{}".format
number_column = "number{}".format
COUNT = "count"
NOT_A_NUMBER = "not a number"
length_column = "length{}".format
COARSE = 1.5 * 2**26
"""Adding and subtracting this number rounds a smaller number to a multiple of 2^-26."""
FINE = 1.5 * 2**-4
"""Adding and subtracting this number rounds a smaller number to a multiple of 2^-56."""
least_column = "least{}".format
most_column = "most{}".format
coarse_column = "coarse{}".format
part_column = "part{}".format
spread_column = "spread{}".format
value_column = "value{}".format


@dataclass(frozen=True)
class Options:
    """The checked options of `fuse`."""

    method: str
    normalize: FusionNorm | None
    weights: tuple[float, ...]
    number: float
    """The number of the method, such as k."""

    @classmethod
    def of(cls, query: Query, options: Mapping[str, Any]) -> Options:
        """Return the options, or raise if they are invalid or do not fit the models."""
        method = options["method"]
        normalize = options["normalize"]
        choice("method", method, METHODS)
        if normalize is not None:
            choice("normalize", normalize, get_args(FusionNorm))
        constant = number_of(method, options)
        if normalize is not None and method in BY_POSITION:
            msg = f"method={method!r} reads positions only, so normalize={normalize!r} changes nothing"
            raise OptionError(msg, "leave normalize= out, or method='sum'")
        if query.by_rank and method not in BY_POSITION and normalize not in ("rank", "borda"):
            msg = f"method={method!r} reads scores, but rank={list(query.orders)!r} are positions"
            raise OptionError(msg, "method='rrf', or normalize='rank'")
        return cls(method, normalize, _weights(options["weights"], method, query.orders), constant)

    @property
    def value(self) -> str:
        """The kind of value that a model gives to an item: of a position, or a normalised score."""
        normalized = "borda norm" if self.normalize == "borda" else self.normalize or "score"
        return METHODS[self.method].points or normalized

    @property
    def list_columns(self) -> str:
        """Which columns are computed from whole lists before the values: fusions with the same answer share them."""
        if self.value not in POSITION_VALUES:
            return self.value
        return "ranks with gaps" if self.value in GAPS else "positions"

    @property
    def factors(self) -> tuple[float, ...]:
        """The factors of the models' values: the weights, or 1 if the method uses weights to count models."""
        return self.weights if METHODS[self.method].weighs == "values" else (1.0,) * len(self.weights)


def _weights(weights: Any, method: str, models: Sequence[str]) -> tuple[float, ...]:
    """Return the weight of each model."""
    example = f"weights={[1.0] * len(models)}"
    if weights is None:
        if METHODS[method].weights == "needed":
            msg = f"method={method!r} needs weights="
            raise OptionError(msg, example)
        return (1.0,) * len(models)
    if METHODS[method].weights == "refused":
        msg = f"method={method!r} accepts no weights, because it adds no values"
        raise OptionError(msg, "method='weighted'")
    if isinstance(weights, Mapping):
        if set(weights) != set(models):
            msg = f"weights={quoted(weights)} does not have exactly one weight for each of {list(models)!r}"
            raise OptionError(msg, f"weights={dict.fromkeys(models, 1.0)}")
        weights = [weights[model] for model in models]
    if not isinstance(weights, Sequence) or isinstance(weights, str | bytes):
        msg = f"weights={quoted(weights)} is neither a list of numbers nor a dict of numbers by model"
        raise OptionTypeError(msg, example)
    if len(weights) != len(models):
        msg = f"weights={quoted(weights)} has {len(weights)} numbers for {len(models)} models"
        raise OptionError(msg, example)
    numbers = tuple(number("weights", weight, example) for weight in weights)
    if not all(map(math.isfinite, numbers)):
        msg = f"weights={quoted(weights)} are not all finite"
        raise OptionError(msg, example)
    return numbers


def fuse(request: Request, fusions: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return a frame with one fused score of its models for each name, with its options; see `Rec.fuse`."""
    query = query_of_frames("fuse", request)
    for name in fusions:
        check_new_column(name, query, request.bound)
    if query.model is not None:
        frame, roles = in_columns(request.frame, query, *fusions)
        return fuse(Request(frame, {}, roles), fusions)
    check_several(query, "fuse joins")
    checked = {name: Options.of(query, options) for name, options in fusions.items()}
    unread = [*item_spec(query).values()] if "item" in request.roles else []
    rows = open_rows({"frame": Source(request.frame, {**key_specs(query), **score_specs(query)}, unread)})
    items, keys = with_list_key(rows.frames["frame"], key_specs(query))
    models = len(query.orders)
    if any(options.value not in POSITION_VALUES for options in checked.values()):
        # Floats, because differences and quotients of narrow integers overflow, and those with decimals lose digits.
        numbers = {number_column(i): nw.col(score_column(i)).cast(nw.Float64()) for i in range(models)}
        items = items.with_columns(**numbers)
    columns: dict[str, str] = {}
    last_list_columns = None
    last_value = None
    for name, options in checked.items():
        some_large = _check_scores(rows.engine, items, query.orders, options)
        # Fusions that differ in their numbers only share their positions, or their extremes and spreads.
        if options.list_columns != last_list_columns:
            items = _with_list_columns(rows.engine, items, keys, models, options, by_rank=query.by_rank)
            last_list_columns = options.list_columns
        items = _with_values(items, models, options)
        if options.value != last_value:
            items = _with_counts(items, models)
            last_value = options.value
        if options.method == "condorcet":
            items = with_wins(rows.engine, items, keys, options.weights)
        column = fused_column(len(columns))
        columns[column] = name
        items = _with_fused_score(items, models, options, column)
        items = items.drop(WINS) if options.method == "condorcet" else items
        if some_large:
            _check_fused(rows.engine, items, query.orders, options.method, column)
    return rows.pick(items, columns)


def _with_list_columns(
    engine: Engine, frame: Frame, keys: Sequence[str], models: int, options: Options, *, by_rank: bool
) -> Frame:
    """Add the columns of whole lists from which each model's values of an item are computed."""
    kind = options.value
    if kind in POSITION_VALUES:
        return _with_positions(engine, frame, keys, models, by_rank=by_rank, gaps=kind in GAPS)
    return frame if kind == "score" else _with_parts(frame, keys, models, kind)


def _with_values(frame: Frame, models: int, options: Options) -> Frame:
    """Add the value that each model gives to each item, missing if the model did not retrieve the item."""
    kind = options.value
    if kind == "score":
        values = [nw.col(number_column(i)) for i in range(models)]
    elif kind in POSITION_VALUES:
        values = [_points(i, kind, options.number) for i in range(models)]
    else:
        values = [_normalized(i, kind) for i in range(models)]
    pairs = enumerate(zip(values, options.factors, strict=True))
    return frame.with_columns(*((value * weight).alias(value_column(i)) for i, (value, weight) in pairs))


def _with_positions(
    engine: Engine, frame: Frame, keys: Sequence[str], models: int, *, by_rank: bool, gaps: bool
) -> Frame:
    """Add each item's position under each model, and how many items of the list each model, and any model, retrieved.

    Tied items share the mean of their positions. With `gaps`, the user's ranks are the positions. Otherwise gaps
    between ranks are closed.
    """
    scores = [nw.col(score_column(i)) for i in range(models)]
    retrieved = nw.any_horizontal(*(~score.is_null() for score in scores), ignore_nulls=True)
    columns = {RETRIEVED: retrieved.cast(nw.Float64())}
    for i, score in enumerate(scores):
        columns[length_column(i)] = score.count().over(*keys).cast(nw.Float64())
        if by_rank and gaps:
            columns[position_column(i)] = score + (nw.len().over(*keys, score_column(i)).cast(nw.Float64()) - 1) / 2
        elif by_rank:
            columns[position_column(i)] = score.rank("average").over(*keys).cast(nw.Float64())
    if not by_rank:
        frame = engine.with_positions(frame, {position_column(i): (keys, score_column(i)) for i in range(models)})
    frame = frame.with_columns(**columns)
    return frame.with_columns(nw.col(RETRIEVED).sum().over(*keys).alias(CANDIDATES))


def _points(model: int, kind: str, number: float) -> nw.Expr:
    """Return the value of an item's position under a model."""
    rank = nw.col(position_column(model))
    length = nw.col(length_column(model))
    candidates = nw.col(CANDIDATES)
    if kind == "rrf":
        return 1 / (rank + number)
    if kind == "isr":
        return 1 / (rank * rank)
    if kind == "rbc":
        return (1 - number) * ((rank - 1) * math.log(number)).exp()
    if kind == "position":
        return rank
    if kind == "rank":
        return 1 - (rank - 1) / length
    # Items that only other models retrieved share the points of the positions after the model's last item.
    absent = nw.when(nw.col(RETRIEVED) > 0).then((candidates - length + 1) / 2)
    points = nw.when(rank.is_null()).then(absent).otherwise(candidates - rank + 1)
    return quotient(points, candidates) if kind == "borda norm" else points


def _check_scores(engine: Engine, frame: Frame, models: Sequence[str], options: Options) -> bool:
    """Return whether some scores are so large that their sum may be no number, or raise if a step cannot use them."""
    by_order = options.value in POSITION_VALUES or (options.method in ("min", "max") and options.value == "score")
    if by_order:
        return False
    some_large = False
    for i, (model, weight) in enumerate(zip(models, options.weights, strict=True)):
        for extreme in engine.extremes(frame, number_column(i)):
            cause = f"score={model!r} holds {extreme:g}"
            is_large = abs(extreme) > LARGEST_NUMBER
            some_large |= is_large
            if options.value != "score" and is_large:
                msg = f"{cause}, but normalize={options.normalize!r} accepts numbers within ±{LARGEST_NUMBER:g}"
                raise InputError(msg, f"{ABSENT}, or normalize='rank', which only reads the order")
            if math.isinf(extreme) and not weight:
                msg = f"{cause}, but its weight is 0, and their product is not a number"
                raise InputError(msg, f"leave the model out, or {ABSENT}")
    return some_large


def _check_fused(engine: Engine, frame: Frame, models: Sequence[str], method: str, column: str) -> None:
    """Raise for an item whose fused score is not a number, such as the sum of ∞ and -∞."""
    columns = [number_column(i) for i in range(len(models))]
    fused = nw.col(column)
    has_no_number = ~nw.col(COUNT).is_null() & (fused.is_nan() | fused.is_null())
    for row in engine.collected(frame.filter(has_no_number).select(*columns).head(1)).rows():
        pairs = zip(models, row, strict=True)
        scores = {model: score for model, score in pairs if score is not None and not math.isnan(score)}
        cause = " and ".join(f"score={model!r} holds {score:g}" for model, score in scores.items())
        msg = f"{cause}, but method={method!r} of them is not a number"
        raise InputError(msg, f"{ABSENT}, or method='rrf', which only reads the order")


def _with_parts(frame: Frame, keys: Sequence[str], models: int, value: str) -> Frame:
    """Add the columns that normalisations read: each model's least and largest score in a list, parts and spreads.

    A part is the score scaled to 0 for the least and 1 for the largest score. Sums and deviations are computed from
    parts, because squares of scores may overflow or vanish.
    """
    scores = {i: nw.col(number_column(i)) for i in range(models)}
    extremes = {least_column(i): score.min().over(*keys) for i, score in scores.items()}
    extremes |= {most_column(i): score.max().over(*keys) for i, score in scores.items()}
    frame = frame.with_columns(**extremes)
    if value == "max":
        return frame
    frame = frame.with_columns(**{part_column(i): _part(i) for i in scores})
    return frame if value == "min-max" else _with_spreads(frame, keys, models, value)


def _with_spreads(frame: Frame, keys: Sequence[str], models: int, value: str) -> Frame:
    """Add each list's spread under each model: the sum of its parts, or with "zscore" their variance.

    With "zscore", the parts become their distances from the mean.
    """
    parts = {i: nw.col(part_column(i)) for i in range(models)}
    if value == "sum":
        return _over_lists(frame, keys, parts, nw.Expr.sum)
    frame = _over_lists(frame, keys, parts, nw.Expr.mean)
    frame = frame.with_columns(**{part_column(i): part - nw.col(spread_column(i)) for i, part in parts.items()})
    return _over_lists(frame, keys, {i: part * part for i, part in parts.items()}, nw.Expr.mean)


def _over_lists(
    frame: Frame, keys: Sequence[str], numbers: Mapping[int, nw.Expr], total: Callable[[nw.Expr], nw.Expr]
) -> Frame:
    """Add the sum or the mean of each list's numbers from 0 to 1. The order of the rows changes no bit.

    Each number is split into a multiple of 2^-26 and a multiple of 2^-56, dropping its last bits. Both kinds add up
    without rounding.
    """
    # The two parts are columns, because windows over expressions are slow or refused on pandas.
    coarse = {i: coarse_column(i) for i in numbers}
    fine = {i: spread_column(i) for i in numbers}
    frame = frame.with_columns(**{coarse[i]: number + COARSE - COARSE for i, number in numbers.items()})
    frame = frame.with_columns(**{fine[i]: number - nw.col(coarse[i]) + FINE - FINE for i, number in numbers.items()})
    sums = {i: [total(nw.col(name)).over(*keys) for name in (coarse[i], fine[i])] for i in numbers}
    return frame.with_columns(**{fine[i]: high + low for i, (high, low) in sums.items()})


def _part(model: int) -> nw.Expr:
    """Return a score scaled to 0 for the list's least and 1 for its largest score; 0 if all are equal."""
    score = nw.col(number_column(model))
    least = nw.col(least_column(model))
    most = nw.col(most_column(model))
    part = nw.when(most > least).then(quotient(score - least, most - least))
    return part.otherwise(nw.when(~score.is_null()).then(nw.lit(0.0)))


def _normalized(model: int, value: str) -> nw.Expr:
    """Return a normalised score. If all scores of a list are equal, it is 0, except with "max"."""
    score = nw.col(number_column(model))
    most = nw.col(most_column(model))
    if value == "max":
        # A negative largest score is divided by its absolute value, so that the order stays the same.
        return nw.when(most != 0).then(quotient(score, most.abs())).otherwise(score)
    part = nw.col(part_column(model))
    spread = nw.col(spread_column(model))
    if value == "min-max":
        return part
    scaled = quotient(part, spread) if value == "sum" else quotient(part, spread.sqrt())
    return nw.when(spread > 0).then(scaled).otherwise(part)


def _with_counts(frame: Frame, models: int) -> Frame:
    """Add how many models give a value to each item, missing if none does, and whether a value is NaN."""
    values = [nw.col(value_column(i)) for i in range(models)]
    count = sum_of((~value.is_null()).cast(nw.Float64()) for value in values)
    is_nan = nw.any_horizontal(*(~value.is_null() & value.is_nan() for value in values), ignore_nulls=True)
    # A count of 0 becomes missing, because pandas warns about the logarithm of 0.
    return frame.with_columns(nw.when(count > 0).then(count).alias(COUNT), is_nan.alias(NOT_A_NUMBER))


def _with_fused_score(frame: Frame, models: int, options: Options, column: str) -> Frame:
    """Add the fused score, missing if no model gives a value."""
    values = [nw.col(value_column(i)) for i in range(models)]
    has_value = ((~value.is_null()).cast(nw.Float64()) for value in values)
    weight = sum_of(flag * weight for flag, weight in zip(has_value, options.weights, strict=True))
    frame = in_order(frame, [value_column(i) for i in range(models)])
    item = Values(values, nw.col(COUNT), weight, options.number)
    # NaN is handled apart, because polars skips it in the minimum of several values.
    fused = nw.when(nw.col(NOT_A_NUMBER)).then(math.nan).otherwise(METHODS[options.method].fused(item))
    return frame.with_columns(nw.when(~item.count.is_null()).then(fused).alias(column))
