"""Fusion: one score out of the scores of several models, list by list."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import narwhals as nw

from recframe._arguments import FusionNorm
from recframe._columns import score_column
from recframe._data.common import check_new_column, check_several, query_of_frames
from recframe._engines.column_spec import Source
from recframe._engines.registry import open_rows
from recframe._fusion.fusion_methods import BY_POSITION, METHODS, Values, number_of
from recframe._fusion.long_format import in_columns
from recframe._fusion.majorities import CANDIDATES, RETRIEVED, place_column, with_wins
from recframe._fusion.medians import in_order
from recframe._plan.sources import item_spec, key_specs, score_specs, with_list_key
from recframe._values import LARGEST_NUMBER, choice, number
from recframe.errors import InputError, OptionError, OptionTypeError, quoted
from recframe.metrics._sums import quotient

if TYPE_CHECKING:
    from recframe._columns import Frame
    from recframe._engines.base import Engine
    from recframe._query import Query


BY_PLACE = ("rrf", "isr", "borda", "rbc", "place", "rank", "borda norm")
"""The values that read the order of a model's scores only."""
GAPS = ("rrf", "isr", "rbc")
"""Those that read ranks as they are given."""
ABSENT = "make the scores of items that the model did not retrieve missing"
"""The remedy for infinite scores."""
FUSED, COUNT, WEIGHT = "fused", "count", "weight"
length_column = "length{}".format
COARSE, FINE = 1.5 * 2**26, 1.5 * 2**-4
"""Numbers whose last digits are 2^-26 and 2^-56: added and taken off again, they round a smaller number to these."""
least_column, most_column, coarse_column = "least{}".format, "most{}".format, "coarse{}".format
part_column, spread_column = "part{}".format, "spread{}".format
value_column = "value{}".format


@dataclass(frozen=True)
class Options:
    """How models are fused, checked."""

    method: str
    normalize: FusionNorm | None
    weights: tuple[float, ...]
    number: float
    """The method's own number."""

    @classmethod
    def of(cls, query: Query, options: Mapping[str, Any]) -> Options:
        """Check options, and how they go together with the models."""
        method, normalize = options["method"], options["normalize"]
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
        """What a model gives an item: the name of a position's value, or of a normalisation."""
        normalized = "borda norm" if self.normalize == "borda" else self.normalize or "score"
        return METHODS[self.method].place or normalized

    @property
    def factors(self) -> tuple[float, ...]:
        """What the values of each model are multiplied by."""
        return self.weights if METHODS[self.method].weighs == "values" else (1.0,) * len(self.weights)


def _weights(weights: Any, method: str, models: Sequence[str]) -> tuple[float, ...]:
    """Return the weight of each model."""
    example = f"weights={[1.0] * len(models)}"
    if weights is None:
        if METHODS[method].weights == "needed":
            msg = f"method={method!r} needs weights=, which are not given"
            raise OptionError(msg, example)
        return (1.0,) * len(models)
    if METHODS[method].weights == "refused":
        msg = f"method={method!r} accepts no weights, as it does not add"
        raise OptionError(msg, "method='weighted'")
    if isinstance(weights, Mapping):
        if set(weights) != set(models):
            msg = f"weights={quoted(weights)} does not give each of {list(models)!r} its weight"
            raise OptionError(msg, f"weights={dict.fromkeys(models, 1.0)}")
        weights = [weights[model] for model in models]
    if not isinstance(weights, Sequence) or isinstance(weights, str | bytes):
        msg = f"weights={quoted(weights)} is neither a list of numbers nor a dict of them by model"
        raise OptionTypeError(msg, example)
    if len(weights) != len(models):
        msg = f"weights={quoted(weights)} has {len(weights)} numbers for {len(models)} models"
        raise OptionError(msg, example)
    numbers = tuple(number("weights", weight, example) for weight in weights)
    if not all(map(math.isfinite, numbers)):
        msg = f"weights={quoted(weights)} are not all finite"
        raise OptionError(msg, example)
    return numbers


def fuse(frame: Any, bound: Mapping[str, Any], name: Any, options: Mapping[str, Any], named: Mapping[str, Any]) -> Any:
    """Return a frame with the fused score of its models; see `Rec.fuse`."""
    query = query_of_frames("fuse", frame, bound, named)
    name = check_new_column(name, query, bound)
    if query.model is not None:
        frame, roles = in_columns(frame, query, name)
        return fuse(frame, {}, name, options, roles)
    check_several(query, "fuse joins")
    checked = Options.of(query, options)
    unread = [*item_spec(query).values()] if "item" in named else []
    rows = open_rows({"frame": Source(frame, {**key_specs(query), **score_specs(query)}, unread)})
    whole, keys = with_list_key(rows.frames["frame"], key_specs(query))
    models = len(query.orders)
    if checked.value not in BY_PLACE:
        # Narrow integers overflow, and decimals lose digits, where they are subtracted and divided.
        columns = [score_column(i) for i in range(models)]
        whole = whole.with_columns(nw.col(*columns).cast(nw.Float64()))
    some_large = _check_scores(rows.engine, whole, query.orders, checked)
    whole = _values(rows.engine, whole, keys, models, checked, by_rank=query.by_rank)
    if checked.method == "condorcet":
        whole = with_wins(rows.engine, whole, keys, checked.weights)
    whole = _fused(whole, models, checked)
    if some_large:
        _check_fused(rows.engine, whole, query.orders, checked.method)
    return rows.pick(whole, {FUSED: name})


def _values(
    engine: Engine, frame: Frame, keys: Sequence[str], models: int, options: Options, *, by_rank: bool
) -> Frame:
    """Add what each model gives each item, missing where it gives none."""
    value = options.value
    if value == "score":
        values = [nw.col(score_column(i)) for i in range(models)]
    elif value in BY_PLACE:
        frame = _places(engine, frame, keys, models, by_rank=by_rank, gaps=value in GAPS)
        values = [_points(i, value, options.number) for i in range(models)]
    else:
        frame = _parts(frame, keys, models, value)
        values = [_normalized(i, value) for i in range(models)]
    pairs = enumerate(zip(values, options.factors, strict=True))
    return frame.with_columns(*((value * weight).alias(value_column(i)) for i, (value, weight) in pairs))


def _places(engine: Engine, frame: Frame, keys: Sequence[str], models: int, *, by_rank: bool, gaps: bool) -> Frame:
    """Add each item's place by each model, tied ones sharing the mean of theirs, and how many each and any retrieved.

    Gaps: whether ranks are places as they are given, or only order the rows that are there.
    """
    scores = [nw.col(score_column(i)) for i in range(models)]
    retrieved = nw.any_horizontal(*(~score.is_null() for score in scores), ignore_nulls=True)
    columns = {RETRIEVED: retrieved.cast(nw.Float64())}
    for i, score in enumerate(scores):
        columns[length_column(i)] = score.count().over(*keys).cast(nw.Float64())
        if by_rank and gaps:
            columns[place_column(i)] = score + (nw.len().over(*keys, score_column(i)).cast(nw.Float64()) - 1) / 2
        elif by_rank:
            columns[place_column(i)] = score.rank("average").over(*keys).cast(nw.Float64())
    if not by_rank:
        frame = engine.with_places(frame, {place_column(i): (keys, score_column(i)) for i in range(models)})
    frame = frame.with_columns(**columns)
    return frame.with_columns(nw.col(RETRIEVED).sum().over(*keys).alias(CANDIDATES))


def _points(model: int, value: str, number: float) -> nw.Expr:
    """Return the value of a place."""
    place, length, candidates = nw.col(place_column(model)), nw.col(length_column(model)), nw.col(CANDIDATES)
    if value == "rrf":
        return 1 / (place + number)
    if value == "isr":
        return 1 / (place * place)
    if value == "rbc":
        return (1 - number) * ((place - 1) * math.log(number)).exp()
    if value == "place":
        return place
    if value == "rank":
        return 1 - (place - 1) / length
    # Items that only others retrieved share the points of the positions after the last one.
    absent = nw.when(nw.col(RETRIEVED) > 0).then((candidates - length + 1) / 2)
    points = nw.when(place.is_null()).then(absent).otherwise(candidates - place + 1)
    return quotient(points, candidates) if value == "borda norm" else points


def _check_scores(engine: Engine, frame: Frame, models: Sequence[str], options: Options) -> bool:
    """Raise for scores that are too large for what is computed with them.

    Return whether some are so large that they may add up to no number.
    """
    by_order = options.value in BY_PLACE or (options.method in ("min", "max") and options.value == "score")
    if by_order:
        return False
    some_large = False
    for i, (model, weight) in enumerate(zip(models, options.weights, strict=True)):
        for extreme in engine.extremes(frame, score_column(i)):
            holds, is_large = f"score={model!r} holds {extreme:g}", abs(extreme) > LARGEST_NUMBER
            some_large |= is_large
            if options.value != "score" and is_large:
                msg = f"{holds}, but normalize={options.normalize!r} accepts numbers within ±{LARGEST_NUMBER:g}"
                raise InputError(msg, f"{ABSENT}, or normalize='rank', which reads the order only")
            if math.isinf(extreme) and not weight:
                msg = f"{holds}, but its weight is 0: their product is no number"
                raise InputError(msg, f"leave the model out, or {ABSENT}")
    return some_large


def _check_fused(engine: Engine, frame: Frame, models: Sequence[str], method: str) -> None:
    """Raise for an item whose scores make no number, as ∞ and -∞ do not in a sum."""
    columns, fused = [score_column(i) for i in range(len(models))], nw.col(FUSED)
    no_number = ~nw.col(COUNT).is_null() & (fused.is_nan() | fused.is_null())
    for row in engine.collected(frame.filter(no_number).select(*columns).head(1)).rows():
        pairs = zip(models, row, strict=True)
        scores = {model: score for model, score in pairs if score is not None and not math.isnan(score)}
        holds = " and ".join(f"score={model!r} holds {score:g}" for model, score in scores.items())
        msg = f"{holds}, but method={method!r} makes no number of them"
        raise InputError(msg, f"{ABSENT}, or method='rrf', which reads the order only")


def _parts(frame: Frame, keys: Sequence[str], models: int, value: str) -> Frame:
    """Add what normalisations need: the least and the largest score of a list by each model, and how far scores spread.

    Sums and deviations are those of parts, the places of scores between the least and the largest one, from 0 to 1: so
    squares neither overflow nor vanish.
    """
    scores = {i: nw.col(score_column(i)) for i in range(models)}
    extremes = {least_column(i): score.min().over(*keys) for i, score in scores.items()}
    extremes |= {most_column(i): score.max().over(*keys) for i, score in scores.items()}
    frame = frame.with_columns(**extremes)
    if value == "max":
        return frame
    frame = frame.with_columns(**{part_column(i): _part(i) for i in scores})
    return frame if value == "min-max" else _spreads(frame, keys, models, value)


def _spreads(frame: Frame, keys: Sequence[str], models: int, value: str) -> Frame:
    """Add the sum of a list's parts by each model; or their variance, and put each part's distance from their mean."""
    parts = {i: nw.col(part_column(i)) for i in range(models)}
    if value == "sum":
        return _over_lists(frame, keys, parts, nw.Expr.sum)
    frame = _over_lists(frame, keys, parts, nw.Expr.mean)
    frame = frame.with_columns(**{part_column(i): part - nw.col(spread_column(i)) for i, part in parts.items()})
    return _over_lists(frame, keys, {i: part * part for i, part in parts.items()}, nw.Expr.mean)


def _over_lists(
    frame: Frame, keys: Sequence[str], numbers: Mapping[int, nw.Expr], total: Callable[[nw.Expr], nw.Expr]
) -> Frame:
    """Add the sum, or the mean, of a list's numbers from 0 to 1, to the last bit the same in any order of rows.

    A number is a multiple of 2^-26 and, but for its last bits, one of 2^-56, which add up without rounding.
    """
    # Columns of their own, as windows of expressions are slow or refused on pandas.
    coarse, fine = ({i: of(i) for i in numbers} for of in (coarse_column, spread_column))
    frame = frame.with_columns(**{coarse[i]: each + COARSE - COARSE for i, each in numbers.items()})
    frame = frame.with_columns(**{fine[i]: each - nw.col(coarse[i]) + FINE - FINE for i, each in numbers.items()})
    sums = {i: [total(nw.col(name)).over(*keys) for name in (coarse[i], fine[i])] for i in numbers}
    return frame.with_columns(**{fine[i]: high + low for i, (high, low) in sums.items()})


def _part(model: int) -> nw.Expr:
    """Return where a score is between the least and the largest of its list, from 0 to 1; 0 if all are equal."""
    score, least, most = nw.col(score_column(model)), nw.col(least_column(model)), nw.col(most_column(model))
    part = nw.when(most > least).then(quotient(score - least, most - least))
    return part.otherwise(nw.when(~score.is_null()).then(nw.lit(0.0)))


def _normalized(model: int, value: str) -> nw.Expr:
    """Return a normalised score; 0 for each item of a list whose scores are all equal, except by the largest one."""
    score, most = nw.col(score_column(model)), nw.col(most_column(model))
    if value == "max":
        # A largest score below 0 keeps its sign, so that the order stays.
        return nw.when(most != 0).then(quotient(score, most.abs())).otherwise(score)
    part, spread = nw.col(part_column(model)), nw.col(spread_column(model))
    if value == "min-max":
        return part
    scaled = quotient(part, spread) if value == "sum" else quotient(part, spread.sqrt())
    return nw.when(spread > 0).then(scaled).otherwise(part)


def _fused(frame: Frame, models: int, options: Options) -> Frame:
    """Add the fused score, missing where no model gives a value."""
    values = [nw.col(value_column(i)) for i in range(models)]
    has_value = [(~value.is_null()).cast(nw.Float64()) for value in values]
    weight = nw.sum_horizontal(*(each * weight for each, weight in zip(has_value, options.weights, strict=True)))
    count = nw.sum_horizontal(*has_value)
    # Missing where it is 0, as pandas warns of logarithms of 0.
    frame = frame.with_columns(nw.when(count > 0).then(count).alias(COUNT), weight.alias(WEIGHT))
    frame = in_order(frame, [value_column(i) for i in range(models)])
    item = Values(values, nw.col(COUNT), nw.col(WEIGHT), options.number)
    # Polars skips NaN when it takes the least of several values.
    is_nan = nw.any_horizontal(*(~value.is_null() & value.is_nan() for value in values), ignore_nulls=True)
    fused = nw.when(~is_nan).then(METHODS[options.method].fused(item)).otherwise(math.nan)
    return frame.with_columns(nw.when(~item.count.is_null()).then(fused).alias(FUSED))
