"""Sums over lists of paired differences: all that Student's t needs, in one plan on every engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._comparison.list_values import value_column, weight_column
from recframe._statistics.student import Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._comparison.list_values import ListValues
    from recframe._engines.base import Engine

ROUNDING = 1e-12
"""Values of a list that differ by less are equal: the same sum in another order."""
SPREAD = 1e-13
"""Squares below this share of the squared mean are rounding, not spread."""
PARTS = ("lists", "model", "baseline", "squares", "wins", "losses", "negative")
WEIGHT_PARTS = ("weight", "weight_squares")
"""What pairs add whose metric weighs lists; else all weights are 1."""
UNIT_PARTS = ("unit_squares", "unit_products", "unit_weight_squares", "unit_weight_cubes")
"""What units add: clusters, or without them weighted lists."""


@dataclass(frozen=True)
class Pair:
    """A comparison: a metric under a model and a baseline, by their numbers."""

    metric: int
    model: int
    baseline: int


def differences(pair: Pair, values: ListValues) -> tuple[nw.Expr, nw.Expr]:
    """Return the difference of a list, missing where either side is, and the weight of the list."""
    ours = nw.col(value_column(pair.model, pair.metric))
    difference = ours - nw.col(value_column(pair.baseline, pair.metric))
    weights = nw.lit(1.0)
    if pair.metric in values.weighted:
        sides = [nw.col(weight_column(side, pair.metric)) for side in (pair.model, pair.baseline)]
        weights = (sides[0] + sides[1]) / 2
    return difference, nw.when(~difference.is_null()).then(weights).otherwise(0.0)


def paired_sums(values: ListValues, pairs: Sequence[Pair], by: Sequence[str], cluster: str | None) -> nw.DataFrame[Any]:
    """Return the sums of each pair, a column each, one row per value of `by`."""
    rows: list[nw.Expr] = []
    names: list[str] = []
    for number, pair in enumerate(pairs):
        terms = _terms(pair, values, clustered=cluster is not None)
        rows += [term.cast(nw.Float64()).alias(f"{name} {number}") for name, term in terms.items()]
        names += [f"{name} {number}" for name in terms]
    engine, frame = values.engine, values.frame
    if cluster is None:
        return engine.collected(_summed(engine, frame.select(*by, *rows), by, names))
    of_cluster = list(dict.fromkeys([*by, cluster]))
    frame = _summed(engine, frame.select(*of_cluster, *rows), of_cluster, names)
    units: list[nw.Expr] = []
    for number, pair in enumerate(pairs):
        weight = nw.col(f"{'weight' if pair.metric in values.weighted else 'lists'} {number}")
        total = nw.col(f"model {number}") - nw.col(f"baseline {number}")
        of_unit = (total * total, total * weight, weight * weight, weight * weight * weight)
        units += [term.alias(f"{name} {number}") for name, term in zip(UNIT_PARTS, of_unit, strict=True)]
        names += [f"{name} {number}" for name in UNIT_PARTS]
    return engine.collected(_summed(engine, frame.with_columns(*units), by, names))


def _terms(pair: Pair, values: ListValues, *, clustered: bool) -> dict[str, nw.Expr]:
    """Return what a list adds to the sums of a pair: as little as they need, since there are many pairs."""
    difference, weight = differences(pair, values)
    there = ~difference.is_null()
    model, baseline = (nw.col(value_column(side, pair.metric)) for side in (pair.model, pair.baseline))
    counts = {"lists": there, "wins": difference > ROUNDING, "losses": difference < -ROUNDING}
    least, greatest = values.range_of(pair.metric)
    if math.isinf(least) and math.isfinite(greatest):
        counts["negative"] = there & ((model < 0) | (baseline < 0))
    if pair.metric not in values.weighted:
        sides = {"model": nw.when(there).then(model), "baseline": nw.when(there).then(baseline)}
        return {**counts, **sides, "squares": difference * difference}
    weighted = weight * difference
    sums = {
        "model": weight * model,
        "baseline": weight * baseline,
        "squares": weighted * difference,
        "weight": weight,
        "weight_squares": weight * weight,
    }
    of_units = {
        "unit_squares": weighted * weighted,
        "unit_products": weighted * weight,
        "unit_weight_cubes": weight * weight * weight,
    }
    return {**counts, **sums, **({} if clustered else of_units)}


def _summed(engine: Engine, frame: Frame, by: Sequence[str], names: Sequence[str]) -> Frame:
    return engine.sum_by(frame, by, names) if by else frame.select(nw.col(*names).sum())


def bounds(found: dict[str, Any], pair: Pair, values: ListValues) -> tuple[Any, Any]:
    """Return the least and the greatest difference of a list that the range of the metric allows.

    Values of a metric without a least value are at least 0 where none is negative: relevance is not.
    """
    least, greatest = values.range_of(pair.metric)
    most = greatest - np.where(found["negative"] > 0, least, 0.0) if "negative" in found else greatest - least
    return -most, most


def statistics(sums: nw.DataFrame[Any], number: int) -> tuple[Sums, dict[str, Any]]:
    """Return what the t-test of one pair needs, and its counts and sums."""
    found = _sums_of(sums, number)
    weight, total = found["weight"], found["model"] - found["baseline"]
    # Differences of rounding are none: they would have a p-value of their own.
    is_none = found["squares"] <= ROUNDING**2 * weight
    total = np.where(is_none, 0.0, total)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(weight > 0, total / weight, 0.0)
    least = SPREAD * found["squares"]
    squares = found["squares"] - mean**2 * weight
    with np.errstate(invalid="ignore", over="ignore"):
        residual = found["unit_squares"] - 2 * mean * found["unit_products"] + mean**2 * found["unit_weight_squares"]
    # Weights of lazy frames are not checked: squares of large ones are infinite, and tell nothing.
    residual = np.where(np.isfinite(residual), residual, np.nan)
    result = Sums(
        lists=found["lists"],
        weight=weight,
        weight_squares=found["weight_squares"],
        total=total,
        squares=np.where((squares > least) & ~is_none, squares, 0.0),
        residual_squares=np.where((residual <= SPREAD * found["unit_squares"]) | is_none, 0.0, residual),
        unit_weight_squares=found["unit_weight_squares"],
        unit_weight_cubes=found["unit_weight_cubes"],
    )
    return result, found


def _sums_of(sums: nw.DataFrame[Any], number: int) -> dict[str, Any]:
    """Return all sums of a pair; those that were left out, as weights are 1 and lists are the units, from others."""
    names = {name: f"{name} {number}" for name in (*PARTS, *WEIGHT_PARTS, *UNIT_PARTS)}
    found = {name: _array(sums, column) for name, column in names.items() if column in sums.columns}
    # Where no list has a value, some engines sum to nothing instead of 0.
    found = {name: np.where(found["lists"] > 0, array, 0.0) for name, array in found.items()}
    found["ties"] = found["lists"] - found["wins"] - found["losses"]
    for name, other in (
        ("weight", found["lists"]),
        ("weight_squares", found["lists"]),
        ("unit_squares", found["squares"]),
        ("unit_products", found["model"] - found["baseline"]),
        ("unit_weight_cubes", found["lists"]),
    ):
        found.setdefault(name, other)
    found.setdefault("unit_weight_squares", found["weight_squares"])
    return found


def _array(frame: nw.DataFrame[Any], name: str) -> Any:
    return np.asarray(frame[name].to_numpy(), dtype=np.float64)
