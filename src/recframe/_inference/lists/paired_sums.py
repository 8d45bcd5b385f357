"""The sums that Student's t test needs, over the differences of lists between two models, for all pairs at once."""

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

from recframe._base.values import ROUNDING
from recframe._inference.lists.values import value_column, weight_column
from recframe._inference.statistics.student import Sums, least_value
from recframe.errors import OptionError, closest, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from recframe._inference.lists.values import ListValues
    from recframe._plan.plan import Plan
    from recframe.metrics import Metric

SPREAD = 1e-13
"""Sums of squares below this share of the squared mean count as rounding, so the spread is 0."""
NEGATIVE = ("negative model", "negative baseline")
"""The numbers of negative values. They are only counted for metrics whose range has no least value."""
PAIR_CACHE_SIZE = 16
"""For how many sets of pairs the expressions are cached."""
UNIT_PARTS = ("unit_squares", "unit_products", "unit_weight_squares", "unit_weight_cubes")
"""The sums over units. A unit is a cluster, or a weighted list if there are no clusters."""
PRODUCTS = ("products", "baseline_squares")
"""The sums over lists that involve the baseline's values and the differences together, if requested."""
UNIT_PRODUCTS = ("unit_cross", "unit_baseline_squares", "unit_baseline_products")
"""The same sums over units."""
FALLBACK_SUM = {
    **dict.fromkeys(("lists", "difference", "baseline", "squares", "wins", "losses", "fractions", "clusters"), ""),
    **dict.fromkeys(("cubes", *PRODUCTS), ""),
    **dict.fromkeys((*NEGATIVE, "weight", "weight_squares", "unit_weight_cubes"), "lists"),
    "unit_squares": "squares", "unit_products": "difference", "unit_weight_squares": "weight_squares",
    "unit_cross": "products", "unit_baseline_squares": "baseline_squares", "unit_baseline_products": "baseline",
}  # fmt: skip
"""All sums. A sum that was not computed equals the sum named here, because weights are 1 or lists are the units."""


@dataclass(frozen=True)
class Pair:
    """A comparison: a metric under a model and a baseline, by their numbers."""

    metric: int
    model: int
    baseline: int

    @cached_property
    def difference(self) -> str:
        """The column of the lists' differences, missing if either model has no value."""
        return f"{value_column(self.model, self.metric)} - {self.baseline}"

    @property
    def weight(self) -> str:
        """The column of the lists' weights, if the metric weights them; missing if the difference is missing."""
        return f"weight of {self.difference}"

    def names(self, plan: Plan, models: Sequence[Any], metric: Metric | None = None) -> dict[str, Any]:
        """Return the names of the metric and both models in results. `metric` replaces the pair's own metric."""
        name = plan.context.query.averaging((metric or plan.list_metrics[self.metric]).label).name
        return {"metric": name, "model": models[self.model], "baseline": models[self.baseline]}


def model_pairs(models: Sequence[Any], baseline: Any, call: str = "compare") -> list[tuple[int, int]]:
    """Return the pairs of a model and its baseline, by number; without a baseline, every pair of models."""
    if len(models) <= 1:
        msg = f"{call} needs two models" + (f", but there is only {models[0]!r}" if models else "")
        raise OptionError(msg, "`score=['old', 'new']`, or `model='model'` if this column names each row's model")
    if baseline is None:
        return [(second, first) for first, second in combinations(range(len(models)), 2)]
    number = model_number(models, baseline)
    return [(model, number) for model in range(len(models)) if model != number]


def model_number(models: Sequence[Any], baseline: Any) -> int:
    """Return the number of the model in `baseline=`, which is compared by value first and then as text."""
    value = baseline.item() if isinstance(baseline, np.generic) else baseline
    name = str(value) if isinstance(value, str | dt.date) else quoted(value)
    numbers = [number for number, model in enumerate(models) if type(model) is type(value) and model == value]
    numbers += [number for number, model in enumerate(models) if str(model) == name]
    if not numbers:
        msg = f"`baseline={quoted(baseline)}` is not one of the models {', '.join(map(repr, models))}"
        raise OptionError(msg, closest(baseline, map(str, models)) or "name one model, or leave `baseline=` out")
    return numbers[0]


def with_differences(values: ListValues, pairs: Sequence[Pair]) -> ListValues:
    """Return the values of lists with the difference of each pair and, for weighted metrics, the pair's weight."""
    differences, weights = _differences_and_weights(tuple(pairs), frozenset(values.weighted))
    frame = values.frame.with_columns(*differences)
    result = copy(values)
    result.frame = frame.with_columns(*weights) if weights else frame
    return result


@lru_cache(PAIR_CACHE_SIZE)
def _differences_and_weights(pairs: tuple[Pair, ...], weighted: frozenset[int]) -> tuple[list[nw.Expr], list[nw.Expr]]:
    """Return the difference of each pair, and the weight of each pair with a weighted metric."""
    differences = [
        (nw.col(*(value_column(pair.model, metric) for pair in group)) - _baseline(group[0])).name.suffix(
            f" - {baseline}"
        )
        for (metric, baseline), group in _by_baseline(pairs).items()
    ]
    weights = []
    for pair in pairs:
        if pair.metric in weighted:
            model_weight = nw.col(weight_column(pair.model, pair.metric))
            baseline_weight = nw.col(weight_column(pair.baseline, pair.metric))
            # Adding 0 · difference makes the weight missing if the difference is missing.
            weight = (model_weight + baseline_weight) / 2 + nw.col(pair.difference) * 0
            weights.append(weight.alias(pair.weight))
    return differences, weights


def paired_sums(
    values: ListValues,
    pairs: Sequence[Pair],
    by: Sequence[str],
    cluster: str | None,
    *,
    products: bool = False,
    cubes: bool = False,
) -> nw.DataFrame[Any]:
    """Return the sums over lists for each pair, one column per sum and pair, one row per value of `by`.

    With `products`, there are also sums that involve the baseline's values, and with `cubes` the sum of the cubed
    differences. With a `cluster`, there is also the number of clusters that have a list.
    """
    engine = values.engine
    lists = values.frame
    # Tuples and frozensets are the keys of caches.
    all_pairs = tuple(pairs)
    weighted = frozenset(values.weighted)
    metrics = {pair.metric for pair in pairs}
    without_least = frozenset(metric for metric in metrics if _lacks_least(values.range_of(metric)))
    terms = _terms_of_lists(
        all_pairs, weighted, without_least, clustered=cluster is not None, products=products, cubes=cubes
    )
    if cluster is None:
        return engine.collected(engine.sum_exactly(lists.select(*by, *terms.terms), by, terms.names))
    cluster_key = list(dict.fromkeys([*by, cluster]))
    sums = engine.sum_exactly(lists.select(*cluster_key, *terms.terms), cluster_key, terms.names)
    units = _terms_of_units(all_pairs, weighted, products=products)
    return engine.collected(engine.sum_exactly(sums.with_columns(*units.terms), by, [*terms.names, *units.names]))


def _lacks_least(bounds: tuple[float, float]) -> bool:
    """Return whether a range has a greatest value and no least value."""
    least, greatest = bounds
    return math.isinf(least) and math.isfinite(greatest)


@lru_cache(PAIR_CACHE_SIZE)
def _terms_of_lists(
    pairs: tuple[Pair, ...],
    weighted: frozenset[int],
    without_least: frozenset[int],
    *,
    clustered: bool,
    products: bool,
    cubes: bool,
) -> _Terms:
    """Return the terms that each list adds to the sums of pairs."""
    terms = _Terms()
    terms.add_differences(pairs, weighted, without_least)
    if cubes:
        terms.add_cubes(pairs, weighted)
    for pair in (pair for pair in pairs if pair.metric in weighted):
        terms.add_weights(pair, clustered=clustered, signed=pair.metric in without_least)
    for pair in pairs if products else ():
        terms.add_products(pair, weighted=pair.metric in weighted, clustered=clustered)
    return terms


@lru_cache(PAIR_CACHE_SIZE)
def _terms_of_units(pairs: tuple[Pair, ...], weighted: frozenset[int], *, products: bool) -> _Terms:
    """Return the terms that each cluster adds to the sums of pairs."""
    units = _Terms()
    for pair in pairs:
        weight = nw.col(f"{'weight' if pair.metric in weighted else 'lists'} {pair.difference}")
        total = nw.col(f"difference {pair.difference}")
        units.add(pair, of_unit(total, weight))
        units.add(pair, {"clusters": (nw.col(f"lists {pair.difference}") > 0).cast(nw.Float64())})
        if products:
            baseline = nw.col(f"baseline {pair.difference}")
            products_of_unit = (total * baseline, baseline * baseline, baseline * weight)
            units.add(pair, dict(zip(UNIT_PRODUCTS, products_of_unit, strict=True)))
    return units


def of_unit(total: nw.Expr, weight: nw.Expr) -> dict[str, nw.Expr]:
    """Return the terms that a unit with this total and weight adds to the sums over units."""
    terms = (total * total, total * weight, weight * weight, weight * weight * weight)
    return dict(zip(UNIT_PARTS, terms, strict=True))


def _by_baseline(pairs: Sequence[Pair]) -> dict[tuple[int, int], list[Pair]]:
    """Return the pairs, grouped by metric and baseline."""
    groups: dict[tuple[int, int], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.metric, pair.baseline), []).append(pair)
    return groups


def _baseline(pair: Pair) -> nw.Expr:
    """Return the baseline's values."""
    return nw.col(value_column(pair.baseline, pair.metric))


def _is_fraction(differences: nw.Expr) -> nw.Expr:
    """Return whether a difference is not −1, 0 or 1. The distance of its size from 1/2 is 1/2 for these three only.

    A missing difference is NaN on pandas, which is not greater than 0, but does not equal 0 either.
    """
    half = 0.5
    return ((differences.abs() - half).abs() - half).abs() > 0


def _differences(pairs: Sequence[Pair]) -> nw.Expr:
    """Return one expression of the differences of several pairs."""
    return nw.col(*(pair.difference for pair in pairs))


class _Terms:
    """The terms that lists add to the sums of pairs.

    There may be thousands of pairs, so one expression covers many columns if possible.
    """

    def __init__(self) -> None:
        self.terms: list[nw.Expr] = []
        self.names: list[str] = []

    def add_differences(self, pairs: Sequence[Pair], weighted: Collection[int], without_least: Collection[int]) -> None:
        """Add the terms of all pairs, and the terms of pairs whose metric weights no lists."""
        all_differences = _differences(pairs)
        is_win = all_differences > ROUNDING
        is_loss = all_differences < -ROUNDING
        self._add_all(pairs, {"lists": ~all_differences.is_null(), "wins": is_win, "losses": is_loss})
        unweighted = [pair for pair in pairs if pair.metric not in weighted]
        if unweighted:
            differences = _differences(unweighted)
            terms = {"difference": differences, "squares": differences**2, "fractions": _is_fraction(differences)}
            self._add_all(unweighted, terms)
        for (metric, _), group in _by_baseline(pairs).items():
            differences = _differences(group)
            baseline = _baseline(group[0])
            baselines = differences * 0 + baseline
            if metric not in weighted:
                self._add_all(group, {"baseline": baselines})
            if metric in without_least and metric not in weighted:
                below = (differences + baseline < 0, baselines < 0)
                self._add_all(group, dict(zip(NEGATIVE, below, strict=True)))

    def add_cubes(self, pairs: Sequence[Pair], weighted: Collection[int]) -> None:
        """Add what the skewness of differences needs."""
        plain = [pair for pair in pairs if pair.metric not in weighted]
        if plain:
            self._add_all(plain, {"cubes": _differences(plain) ** 3})
        for pair in pairs:
            if pair.metric in weighted:
                self.add(pair, {"cubes": nw.col(pair.weight) * nw.col(pair.difference) ** 3})

    def add_weights(self, pair: Pair, *, clustered: bool, signed: bool) -> None:
        """Add the terms of a pair whose metric weights lists."""
        difference = nw.col(pair.difference)
        weight = nw.col(pair.weight)
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
        """Add the terms of a pair that involve the baseline's values and the differences together."""
        difference = nw.col(pair.difference)
        weight = nw.col(pair.weight) if weighted else difference * 0 + 1
        baseline = weight * _baseline(pair)
        self.add(pair, dict(zip(PRODUCTS, (baseline * difference, baseline * _baseline(pair)), strict=True)))
        if weighted and not clustered:
            products_of_unit = (weight * difference * baseline, baseline * baseline, baseline * weight)
            self.add(pair, dict(zip(UNIT_PRODUCTS, products_of_unit, strict=True)))

    def add(self, pair: Pair, terms: Mapping[str, nw.Expr]) -> None:
        """Add the terms of one pair."""
        names = [f"{name} {pair.difference}" for name in terms]
        self.terms += [term.alias(name) for name, term in zip(names, terms.values(), strict=True)]
        self.names += names

    def _add_all(self, pairs: Sequence[Pair], terms: Mapping[str, nw.Expr]) -> None:
        """Add terms of several pairs. Each term is an expression of many columns, named by the pairs' differences."""
        for name, term in terms.items():
            self.terms.append(term.cast(nw.Float64()).name.prefix(f"{name} "))
            self.names += [f"{name} {pair.difference}" for pair in pairs]


def bounds(
    sums: Mapping[str, Any], pairs: Sequence[Pair], range_of: Callable[[int], tuple[float, float]]
) -> tuple[Any, Any]:
    """Return, for each pair, the least and the greatest difference that the range of its metric allows for a list."""
    ranges = {metric: range_of(metric) for metric in {pair.metric for pair in pairs}}
    least, greatest = np.array([ranges[pair.metric] for pair in pairs]).T[:, :, None]
    # States count negative values for every metric, also if the range has a least value.
    most = greatest - least_value(least, sums[NEGATIVE[0]] + sums[NEGATIVE[1]])
    return -most, most


def statistics(sums: Mapping[str, Any], rounding: float = ROUNDING) -> Sums:
    """Return the sums for t tests, in arrays with one row per pair, or one row per model if `rounding` is 0."""
    weight = sums["weight"]
    # Differences that are only rounding count as 0. Otherwise they would get a p-value.
    is_rounding = sums["squares"] <= rounding**2 * weight
    total = np.where(is_rounding, 0.0, sums["difference"])
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(weight > 0, total / weight, 0.0)
    least = SPREAD * sums["squares"]
    with np.errstate(invalid="ignore", over="ignore"):
        # Squares of values above 1e154 are infinite, so the spread is not known.
        squares = sums["squares"] - mean**2 * weight
        residual = sums["unit_squares"] - 2 * mean * sums["unit_products"] + mean**2 * sums["unit_weight_squares"]
    # The weights of lazy frames are not checked, so squares may be infinite. Then the residual is not known.
    residual = np.where(np.isfinite(residual), residual, np.nan)
    return Sums(
        lists=sums["lists"],
        weight=weight,
        weight_squares=sums["weight_squares"],
        total=total,
        squares=np.where((squares <= least) | is_rounding, 0.0, squares),
        residual_squares=np.where((residual <= SPREAD * sums["unit_squares"]) | is_rounding, 0.0, residual),
        unit_weight_squares=sums["unit_weight_squares"],
        unit_weight_cubes=sums["unit_weight_cubes"],
    )


def sums_of(sums: nw.DataFrame[Any], pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return all sums of pairs as arrays by name, with the sums that were not computed taken from FALLBACK_SUM."""
    paired: dict[str, Any] = {}
    computed = {*sums.columns}
    names = [name for pair in pairs for part in FALLBACK_SUM if (name := f"{part} {pair.difference}") in computed]
    table = dict(zip(names, sums.select(names).to_numpy().astype(np.float64).T, strict=True))
    for name, fallback_name in FALLBACK_SUM.items():
        sums_of_name: list[Any] = [table.get(f"{name} {pair.difference}") for pair in pairs]
        fallback: Any = paired.get(fallback_name)
        if (sums_of_name[0] is None and fallback is None) or (name in UNIT_PRODUCTS and PRODUCTS[0] not in paired):
            continue  # not requested
        array = np.array([fallback[number] if row is None else row for number, row in enumerate(sums_of_name)])
        # If no list has a value, some engines return a missing sum instead of 0.
        paired[name] = np.where(paired.get("lists", array) > 0, array, 0.0)
    paired["ties"] = paired["lists"] - paired["wins"] - paired["losses"]
    paired["model"] = paired["baseline"] + paired["difference"]
    return paired
