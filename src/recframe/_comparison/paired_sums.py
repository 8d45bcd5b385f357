"""Sums over lists of paired differences: all that Student's t needs, in one plan on every engine."""

from __future__ import annotations

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

ROUNDING = 1e-12
"""Values of a list that differ by less are equal: the same sum in another order."""
SPREAD = 1e-13
"""Squares below this share of the squared mean are rounding, not spread."""
PARTS = ("lists", "weight", "weight_squares", "model", "baseline", "squares", "wins", "ties", "losses")
UNIT_PARTS = ("unit_weight", "unit_difference")
UNIT_SUMS = ("unit_squares", "unit_products", "unit_weights", "units")


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
    for number, pair in enumerate(pairs):
        difference, weights = differences(pair, values)
        there = ~difference.is_null()
        value, baseline = (
            nw.col(value_column(pair.model, pair.metric)),
            nw.col(value_column(pair.baseline, pair.metric)),
        )
        of_row = {
            "lists": there.cast(nw.Float64()),
            "weight": weights,
            "weight_squares": weights * weights,
            "model": weights * value,
            "baseline": weights * baseline,
            "squares": weights * difference * difference,
            "wins": (difference > ROUNDING).cast(nw.Float64()),
            "ties": ((difference <= ROUNDING) & (difference >= -ROUNDING)).cast(nw.Float64()),
            "losses": (difference < -ROUNDING).cast(nw.Float64()),
            "unit_weight": weights,
            "unit_difference": weights * difference,
        }
        rows += [term.cast(nw.Float64()).fill_null(0.0).alias(f"{name} {number}") for name, term in of_row.items()]
    clustered = [] if cluster is None else [cluster]
    frame = values.frame.select(*dict.fromkeys([*by, *clustered]), *rows)
    numbers = range(len(pairs))
    names = [f"{name} {number}" for number in numbers for name in (*PARTS, *UNIT_PARTS)]
    if cluster is not None:
        frame = _summed(frame, list(dict.fromkeys([*by, cluster])), names)
    of_units = []
    for number in numbers:
        weights, total = nw.col(f"unit_weight {number}"), nw.col(f"unit_difference {number}")
        terms = (total * total, total * weights, weights * weights, (weights > 0).cast(nw.Float64()))
        of_units += [term.alias(f"{name} {number}") for name, term in zip(UNIT_SUMS, terms, strict=True)]
    kept = [f"{name} {number}" for number in numbers for name in PARTS]
    frame = frame.select(*by, *kept, *of_units)
    sums = [f"{name} {number}" for number in numbers for name in (*PARTS, *UNIT_SUMS)]
    return values.engine.collected(_summed(frame, list(by), sums))


def _summed(frame: Frame, by: list[str], names: Sequence[str]) -> Frame:
    sums = [nw.col(name).sum() for name in names]
    return frame.group_by(*by).agg(*sums) if by else frame.select(*sums)


def statistics(sums: nw.DataFrame[Any], number: int, *, clustered: bool) -> tuple[Sums, dict[str, Any]]:
    """Return what the t-test of one pair needs, and its counts and sums."""
    found = {name: _array(sums, f"{name} {number}") for name in (*PARTS, *UNIT_SUMS)}
    weight, total = found["weight"], found["model"] - found["baseline"]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(weight > 0, total / weight, 0.0)
    least = SPREAD * found["squares"]
    squares = found["squares"] - mean**2 * weight
    residual = found["unit_squares"] - 2 * mean * found["unit_products"] + mean**2 * found["unit_weights"]
    result = Sums(
        lists=found["lists"],
        weight=weight,
        weight_squares=found["weight_squares"],
        total=total,
        squares=np.where(squares > least, squares, 0.0),
        residual_squares=np.where(residual > SPREAD * found["unit_squares"], residual, 0.0),
        clusters=found["units"] if clustered else None,
    )
    return result, found


def _array(frame: nw.DataFrame[Any], name: str) -> Any:
    return np.asarray(frame[name].to_numpy(), dtype=np.float64)
