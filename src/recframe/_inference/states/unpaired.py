"""The difference of two means over different lists, from their sums: Welch's test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._inference.comparison.decided import decide
from recframe._inference.comparison.margins import HAS_MARGIN, MARGIN_ENDS, Margin, Margins, p_on_inner_side
from recframe._inference.comparison.option_checks import ASYMPTOTIC
from recframe._inference.lists import paired_sums as paired
from recframe._inference.states.checks import check_apart
from recframe._inference.statistics import student
from recframe._inference.statistics.anytime import Bounded
from recframe.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._inference.comparison.options import Options
    from recframe._inference.states.merging import Rows
    from recframe._inference.statistics.anytime import Asymptotic, Student


def unpaired(rows: Rows, other: Rows, options: Options) -> list[dict[str, Any]]:
    """Return the statistics and verdicts of each metric and model, as arrays with an entry per segment.

    Notes
    -----
    With the standard errors e and the degrees of freedom f of both means, the standard error of the difference is
    √(e₁² + e₂²), and its degrees of freedom are Satterthwaite's, (e₁² + e₂²)² / (e₁⁴ / f₁ + e₂⁴ / f₂). They come from
    clusters, if there are any.

    References
    ----------
    Welch, *The generalization of Student's problem when several different population variances are involved*,
    Biometrika 34, 1947.
    """
    check_apart(rows.hashed, other.hashed)
    compared = []
    for number, metric in enumerate(rows.metrics):
        _check_same_definition(rows, other, metric)
        for model in rows.models:
            baseline = _baseline(other, model)
            current, before = _mean(rows, metric, model, rows.segments), _mean(other, metric, baseline, rows.segments)
            compared.append({"metric": metric, "model": model, "baseline": baseline})
            least, greatest = rows.range_of(number)
            least = student.least_value(least, current["negative"] + before["negative"])
            compared[-1] |= _statistics(current, before, (least, greatest), options, metric)
    upwards = [1.0 if rows.definitions[row["metric"]]["higher_is_better"] else -1.0 for row in compared]
    decide(compared, upwards, options)
    return compared


def _check_same_definition(rows: Rows, other: Rows, metric: str) -> None:
    """Raise if the baseline lacks the metric, or defines it in another way."""
    if metric not in other.metrics:
        msg = f"the baseline has no rows of {metric}; it has {', '.join(other.metrics)}"
        raise OptionError(msg, "make both states by the same call")
    current, before = rows.definitions[metric], other.definitions[metric]
    field = next(
        (name for name in current if name not in ("several", "by") and current[name] != before.get(name)), None
    )
    if field is not None:
        msg = f"the baseline differs in {field} of {metric}: {before.get(field)!r}, but here {current[field]!r}"
        raise InputError(msg, "make both states by the same call")


def _baseline(other: Rows, model: Any) -> Any:
    """Return the baseline's model to compare a model with: the only one, or the one with the same name."""
    if len(other.models) == 1:
        return other.models[0]
    if model in other.models:
        return model
    names = ", ".join(map(repr, other.models))
    msg = f"the baseline has no model {model!r}; it has {names}"
    raise OptionError(msg, "give a baseline with one model, or with the models of the same names")


def _mean(rows: Rows, metric: str, model: Any, segments: Sequence[Any]) -> dict[str, Any]:
    """Return the mean of a model with its error and numbers of lists, as arrays with an entry per segment.

    For a segment that `rows` lacks, the numbers of lists are 0 and the others NaN.
    """
    sums = rows.arrays("metric", metric, model)
    # Equal values get a standard error of 0, because rounding would leave a small one.
    values = student.without_spread(paired.statistics(sums, rounding=0), sums["least"] == sums["greatest"])
    row_of = {segment: row for row, segment in enumerate(rows.segments)}
    rows_of_segments = np.array([row_of.get(segment, -1) for segment in segments], dtype=np.intp)
    arrays = {"mean": np.where(values.weight > 0, values.mean, np.nan), "error": values.standard_error}
    arrays |= {"degrees": values.degrees, "lists": sums["lists"], "negative": sums["negative"]}
    arrays["effective"] = values.effective_lists
    taken = {name: np.append(array, np.nan)[rows_of_segments] for name, array in arrays.items()}
    return {**taken, **{name: np.nan_to_num(taken[name]) for name in ("lists", "negative", "effective")}}


def _statistics(
    current: dict[str, Any],
    before: dict[str, Any],
    limits: tuple[Any, float],
    options: Options,
    metric: str,
) -> dict[str, Any]:
    """Return Welch's statistics of two means."""
    margin = options.margin
    error, degrees = _error(current, before, 1.0)
    if isinstance(margin, Margins):
        margin = margin.of_pairs([metric])
        margin = Margin(margin.size.item(), margin.relative.item())
    difference = current["mean"] - before["mean"]
    with np.errstate(invalid="ignore", divide="ignore"):
        # This many lists, half of them on each side, would hold as much information.
        lists = 4 / (1 / current["effective"] + 1 / before["effective"])
        half = np.where(error > 0, _mean_test(options).limit(degrees, lists, 1 - options.confidence) * error, np.nan)
    width = limits[1] - limits[0]
    low, high = student.clip_interval(difference - half, difference + half, difference, (-width, width))
    numbers = {
        "difference": difference,
        "relative": student.share_of(difference, before["mean"]),
        "mean": current["mean"],
        "baseline_mean": before["mean"],
        "lists": current["lists"],
        "baseline_lists": before["lists"],
        "low": low,
        "high": high,
        "p": _p_value(difference, error, degrees, lists, options),
        "direction": np.sign(difference),
    }
    if margin is None:
        return numbers
    numbers[HAS_MARGIN] = np.full_like(difference, margin.size > 0, dtype=bool)
    for name, by in zip(MARGIN_ENDS, margin.shifts, strict=True):
        share = by if margin.relative else 0.0
        moved = difference + by * (before["mean"] if margin.relative else 1.0)
        p = _p_value(moved, *_error(current, before, 1 - share), lists, options)
        numbers[name] = p_on_inner_side(p, moved, name, margin, before["mean"])
    return numbers


def _error(current: dict[str, Any], before: dict[str, Any], factor: float) -> tuple[Any, Any]:
    """Return the standard error and the degrees of freedom of `current` minus `factor` times `before`."""
    squares = [student.square(current["error"]), student.square(factor * before["error"])]
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [square**2 / mean["degrees"] for square, mean in zip(squares, (current, before), strict=True)]
        return np.sqrt(sum(squares)), sum(squares) ** 2 / sum(parts)


def _p_value(difference: Any, error: Any, degrees: Any, lists: Any, options: Options) -> Any:
    """Return the two-sided p-value of a difference of 0, NaN without an error."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(error > 0, _mean_test(options).p_of(np.abs(difference) / error, degrees, lists), np.nan)


def _mean_test(options: Options) -> Student | Asymptotic:
    """Return the method that turns a statistic into a p-value and an interval, or raise if it needs pairs of lists."""
    mean_test = options.mean_test
    if isinstance(mean_test, Bounded):
        msg = f"test={options.test!r} pairs lists, but other states hold other lists"
        raise OptionError(msg, ASYMPTOTIC)
    return mean_test
