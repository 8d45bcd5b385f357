"""Sums over lists of paired differences: all that Student's t needs, in one plan on every engine."""

from __future__ import annotations

import datetime as dt
import math
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._lists.values import value_column, weight_column
from recframe._statistics import ROUNDING
from recframe._statistics.student import Sums, least_value
from recframe.errors import OptionError, closest, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from recframe._lists.values import ListValues
    from recframe._plan.plan import Plan
    from recframe.metrics import Metric

SPREAD = 1e-13
"""Squares below this share of the squared mean are rounding, not spread."""
NEGATIVE = ("negative model", "negative baseline")
"""How many values are below 0, where the range of the metric has no least value; else they are not counted."""
KEPT_PAIRS = 16
"""Of how many sets of pairs the expressions are kept."""
UNIT_PARTS = ("unit_squares", "unit_products", "unit_weight_squares", "unit_weight_cubes")
"""What units add: clusters, or without them weighted lists."""
PRODUCTS = ("products", "baseline_squares")
UNIT_PRODUCTS = ("unit_cross", "unit_baseline_squares", "unit_baseline_products")
"""What lists, and units, add to the sums of differences and the baseline's values together, if these are requested."""
INSTEAD = {
    **dict.fromkeys(
        ("lists", "difference", "baseline", "squares", "wins", "losses", "fractions", "clusters", *PRODUCTS), ""
    ),
    **dict.fromkeys((*NEGATIVE, "weight", "weight_squares", "unit_weight_cubes"), "lists"),
    "unit_squares": "squares", "unit_products": "difference", "unit_weight_squares": "weight_squares",
    "unit_cross": "products", "unit_baseline_squares": "baseline_squares", "unit_baseline_products": "baseline",
}  # fmt: skip
"""The sums, each with the one that it is equal to where it was left out."""


@dataclass(frozen=True)
class Pair:
    """A comparison: a metric under a model and a baseline, by their numbers."""

    metric: int
    model: int
    baseline: int

    @cached_property
    def difference(self) -> str:
        """The column of the differences of lists, missing where either side is."""
        return f"{value_column(self.model, self.metric)} - {self.baseline}"

    @property
    def weight(self) -> str:
        """The column of the weights of lists, where the metric weighs them; missing where the difference is."""
        return f"weight of {self.difference}"

    def names(self, plan: Plan, models: Sequence[Any], of: Metric | None = None) -> dict[str, Any]:
        """Return what results call the metric, which is that of its number if none is given, and both models."""
        metric = plan.context.query.averaging((of or plan.list_metrics[self.metric]).label).name
        return {"metric": metric, "model": models[self.model], "baseline": models[self.baseline]}


def model_pairs(models: Sequence[Any], baseline: Any, call: str = "compare") -> list[tuple[int, int]]:
    """Return which models are compared with which baseline, by their numbers."""
    if len(models) <= 1:
        msg = f"{call} needs two models" + (f", but there is only {models[0]!r}" if models else "")
        raise OptionError(msg, "`score=['old', 'new']`, or `model='model'` for models in long format")
    if baseline is None:
        return [(second, first) for first, second in combinations(range(len(models)), 2)]
    number = model_number(models, baseline)
    return [(model, number) for model in range(len(models)) if model != number]


def model_number(models: Sequence[Any], baseline: Any) -> int:
    """Return the number of the model that a baseline names: by its value, else by its text."""
    value = baseline.item() if isinstance(baseline, np.generic) else baseline
    name = str(value) if isinstance(value, str | dt.date) else quoted(value)
    numbers = [number for number, model in enumerate(models) if type(model) is type(value) and model == value]
    numbers += [number for number, model in enumerate(models) if str(model) == name]
    if not numbers:
        msg = f"`baseline={quoted(baseline)}` is not one of the models {', '.join(map(repr, models))}"
        raise OptionError(msg, closest(baseline, map(str, models)) or "name one model, or leave `baseline=` out")
    return numbers[0]


def with_differences(values: ListValues, pairs: Sequence[Pair]) -> ListValues:
    """Return the values of lists with the difference of each pair, and its weight where the metric weighs lists."""
    differences, weights = _of_pairs(tuple(pairs), frozenset(values.weighted))
    frame = values.frame.with_columns(*differences)
    differing = copy(values)
    differing.frame = frame.with_columns(*weights) if weights else frame
    return differing


@lru_cache(KEPT_PAIRS)
def _of_pairs(pairs: tuple[Pair, ...], weighted: frozenset[int]) -> tuple[list[nw.Expr], list[nw.Expr]]:
    """Return the difference of each pair, and its weight where the metric weighs lists."""
    differences = [
        (nw.col(*(value_column(pair.model, metric) for pair in group)) - _baseline(group[0])).name.suffix(
            f" - {baseline}"
        )
        for (metric, baseline), group in _by_baseline(pairs).items()
    ]
    weights = []
    for pair in pairs:
        if pair.metric in weighted:
            one, other = (nw.col(weight_column(side, pair.metric)) for side in (pair.model, pair.baseline))
            weights.append(((one + other) / 2 + nw.col(pair.difference) * 0).alias(pair.weight))
    return differences, weights


def paired_sums(
    values: ListValues,
    pairs: Sequence[Pair],
    by: Sequence[str],
    cluster: str | None,
    *,
    products: bool = False,
) -> nw.DataFrame[Any]:
    """Return the sums of each pair over lists with differences, a column each, one row per value of `by`.

    With `products`, also those of differences times the baseline's values, and of the squares of these; with a
    `cluster`, also the number of clusters that have a list.
    """
    engine, lists, weighted, kept = values.engine, values.frame, frozenset(values.weighted), tuple(pairs)
    without_least = frozenset(
        filter(lambda metric: _lacks_least(values.range_of(metric)), {pair.metric for pair in pairs})
    )
    terms = _terms_of_lists(kept, weighted, without_least, clustered=cluster is not None, products=products)
    if cluster is None:
        return engine.collected(engine.sum_exactly(lists.select(*by, *terms.terms), by, terms.names))
    of_cluster = list(dict.fromkeys([*by, cluster]))
    sums = engine.sum_exactly(lists.select(*of_cluster, *terms.terms), of_cluster, terms.names)
    units = _terms_of_units(kept, weighted, products=products)
    return engine.collected(engine.sum_exactly(sums.with_columns(*units.terms), by, [*terms.names, *units.names]))


def _lacks_least(bounds: tuple[float, float]) -> bool:
    """Return whether values have a greatest value only."""
    least, greatest = bounds
    return math.isinf(least) and math.isfinite(greatest)


@lru_cache(KEPT_PAIRS)
def _terms_of_lists(
    pairs: tuple[Pair, ...],
    weighted: frozenset[int],
    without_least: frozenset[int],
    *,
    clustered: bool,
    products: bool,
) -> _Terms:
    """Return what lists add to the sums of pairs."""
    terms = _Terms()
    terms.add_differences(pairs, weighted, without_least)
    for pair in (pair for pair in pairs if pair.metric in weighted):
        terms.add_weights(pair, clustered=clustered, signed=pair.metric in without_least)
    for pair in pairs if products else ():
        terms.add_products(pair, weighted=pair.metric in weighted, clustered=clustered)
    return terms


@lru_cache(KEPT_PAIRS)
def _terms_of_units(pairs: tuple[Pair, ...], weighted: frozenset[int], *, products: bool) -> _Terms:
    """Return what clusters add to the sums of pairs."""
    units = _Terms()
    for pair in pairs:
        weight = nw.col(f"{'weight' if pair.metric in weighted else 'lists'} {pair.difference}")
        total = nw.col(f"difference {pair.difference}")
        units.add(pair, of_unit(total, weight))
        units.add(pair, {"clusters": (nw.col(f"lists {pair.difference}") > 0).cast(nw.Float64())})
        if products:
            baseline = nw.col(f"baseline {pair.difference}")
            of_both = (total * baseline, baseline * baseline, baseline * weight)
            units.add(pair, dict(zip(UNIT_PRODUCTS, of_both, strict=True)))
    return units


def of_unit(total: nw.Expr, weight: nw.Expr) -> dict[str, nw.Expr]:
    """Return what a unit adds: a cluster of such a total and weight."""
    terms = (total * total, total * weight, weight * weight, weight * weight * weight)
    return dict(zip(UNIT_PARTS, terms, strict=True))


def _by_baseline(pairs: Sequence[Pair]) -> dict[tuple[int, int], list[Pair]]:
    groups: dict[tuple[int, int], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.metric, pair.baseline), []).append(pair)
    return groups


def _baseline(pair: Pair) -> nw.Expr:
    return nw.col(value_column(pair.baseline, pair.metric))


def _is_fraction(differences: nw.Expr) -> nw.Expr:
    """Return whether differences are other than −1, 0 and 1, which are half a unit from one half in size."""
    half = 0.5
    return (differences.abs() - half).abs() != half


def _differences(pairs: Sequence[Pair]) -> nw.Expr:
    return nw.col(*(pair.difference for pair in pairs))


class _Terms:
    """What lists add to the sums of pairs; one expression of many columns where possible, as pairs may be thousands."""

    def __init__(self) -> None:
        self.terms: list[nw.Expr] = []
        self.names: list[str] = []

    def add_differences(self, pairs: Sequence[Pair], weighted: Collection[int], without_least: Collection[int]) -> None:
        """Add what all pairs need, and what those need that weigh no lists."""
        every = _differences(pairs)
        self._add_all(pairs, {"lists": ~every.is_null(), "wins": every > ROUNDING, "losses": every < -ROUNDING})
        plain = [pair for pair in pairs if pair.metric not in weighted]
        if plain:
            of_plain = _differences(plain)
            self._add_all(plain, {"difference": of_plain, "squares": of_plain**2, "fractions": _is_fraction(of_plain)})
        for (metric, _), group in _by_baseline(pairs).items():
            differences, baseline = _differences(group), _baseline(group[0])
            baselines = differences * 0 + baseline
            if metric not in weighted:
                self._add_all(group, {"baseline": baselines})
            if metric in without_least and metric not in weighted:
                below = (differences + baseline < 0, baselines < 0)
                self._add_all(group, dict(zip(NEGATIVE, below, strict=True)))

    def add_weights(self, pair: Pair, *, clustered: bool, signed: bool) -> None:
        """Add what a pair needs that weighs lists."""
        difference, weight = nw.col(pair.difference), nw.col(pair.weight)
        weighted = weight * difference
        sums = {
            "difference": weighted,
            "baseline": weight * _baseline(pair),
            "squares": weighted * difference,
            "weight": weight,
            "weight_squares": weight * weight,
            "fractions": ((weight > 0) & _is_fraction(difference)).cast(nw.Float64()),
        }
        of_units = {
            "unit_squares": weighted * weighted,
            "unit_products": weighted * weight,
            "unit_weight_cubes": weight * weight * weight,
        }
        if signed:
            values = (difference * side + _baseline(pair) for side in (1, 0))
            below = (((weight > 0) & (value < 0)).cast(nw.Float64()) for value in values)
            sums |= dict(zip(NEGATIVE, below, strict=True))
        self.add(pair, {**sums, **({} if clustered else of_units)})

    def add_products(self, pair: Pair, *, weighted: bool, clustered: bool) -> None:
        """Add what a pair needs of differences and the baseline's values together."""
        difference = nw.col(pair.difference)
        weight = nw.col(pair.weight) if weighted else difference * 0 + 1
        baseline = weight * _baseline(pair)
        self.add(pair, dict(zip(PRODUCTS, (baseline * difference, baseline * _baseline(pair)), strict=True)))
        if weighted and not clustered:
            of_unit = (weight * difference * baseline, baseline * baseline, baseline * weight)
            self.add(pair, dict(zip(UNIT_PRODUCTS, of_unit, strict=True)))

    def add(self, pair: Pair, terms: Mapping[str, nw.Expr]) -> None:
        """Add the terms of one pair."""
        names = [f"{name} {pair.difference}" for name in terms]
        self.terms += [term.alias(name) for name, term in zip(names, terms.values(), strict=True)]
        self.names += names

    def _add_all(self, pairs: Sequence[Pair], terms: Mapping[str, nw.Expr]) -> None:
        """Add terms of several pairs, each of which begins with their differences."""
        for name, term in terms.items():
            self.terms.append(term.cast(nw.Float64()).name.prefix(f"{name} "))
            self.names += [f"{name} {pair.difference}" for pair in pairs]


def bounds(
    sums: Mapping[str, Any], pairs: Sequence[Pair], range_of: Callable[[int], tuple[float, float]]
) -> tuple[Any, Any]:
    """Return the least and the greatest difference of a list that the range of the metric allows, for each pair."""
    ranges = {metric: range_of(metric) for metric in {pair.metric for pair in pairs}}
    least, greatest = np.array([ranges[pair.metric] for pair in pairs]).T[:, :, None]
    # States count negative values of every metric.
    most = greatest - least_value(least, sums[NEGATIVE[0]] + sums[NEGATIVE[1]])
    return -most, most


def statistics(sums: Mapping[str, Any], rounding: float = ROUNDING) -> Sums:
    """Return what t-tests need of sums: a row of each array for a pair, or with a `rounding` of 0 for a model."""
    weight, total = sums["weight"], sums["difference"]
    # Differences of rounding are none: they would have a p-value of their own.
    is_none = sums["squares"] <= rounding**2 * weight
    total = np.where(is_none, 0.0, total)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(weight > 0, total / weight, 0.0)
    least = SPREAD * sums["squares"]
    with np.errstate(invalid="ignore", over="ignore"):
        # Squares of values above 1e154 are infinite, so their spread is not known.
        squares = sums["squares"] - mean**2 * weight
        residual = sums["unit_squares"] - 2 * mean * sums["unit_products"] + mean**2 * sums["unit_weight_squares"]
    # Weights of lazy frames are not checked: squares of large ones are infinite, and tell nothing.
    residual = np.where(np.isfinite(residual), residual, np.nan)
    return Sums(
        lists=sums["lists"],
        weight=weight,
        weight_squares=sums["weight_squares"],
        total=total,
        squares=np.where((squares <= least) | is_none, 0.0, squares),
        residual_squares=np.where((residual <= SPREAD * sums["unit_squares"]) | is_none, 0.0, residual),
        unit_weight_squares=sums["unit_weight_squares"],
        unit_weight_cubes=sums["unit_weight_cubes"],
    )


def sums_of(sums: nw.DataFrame[Any], pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return all sums of pairs; those that were left out, as weights are 1 and lists are the units, from others."""
    paired: dict[str, Any] = {}
    held = {*sums.columns}
    names = [name for pair in pairs for part in INSTEAD if (name := f"{part} {pair.difference}") in held]
    table = dict(zip(names, sums.select(names).to_numpy().astype(np.float64).T, strict=True))
    for name, other in INSTEAD.items():
        sums_of_name: list[Any] = [table.get(f"{name} {pair.difference}") for pair in pairs]
        others: Any = paired.get(other)
        if (sums_of_name[0] is None and others is None) or (name in UNIT_PRODUCTS and PRODUCTS[0] not in paired):
            continue  # not requested
        array = np.array([others[number] if one is None else one for number, one in enumerate(sums_of_name)])
        # Where no list has a value, some engines sum to nothing instead of 0.
        paired[name] = np.where(paired.get("lists", array) > 0, array, 0.0)
    paired["ties"] = paired["lists"] - paired["wins"] - paired["losses"]
    paired["model"] = paired["baseline"] + paired["difference"]
    return paired
