"""Means from human judgments of some lists and model judgments of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._comparison.describe import interval_of_values
from recframe._engines.registry import a_type, is_frame
from recframe._guesses import REQUIRED
from recframe._lists.keys import floats_of, segments_of, texts_of
from recframe._lists.results import result_frame, stacked
from recframe._lists.values import ListValues, check_values_per_list
from recframe._statistics.prediction_powered import Estimate, Values, prediction_powered
from recframe._statistics.student import Sums, check_confidence, least_value
from recframe.errors import InputError, OptionError, OptionTypeError, quoted

if TYPE_CHECKING:
    import narwhals as nw

    from recframe._plan.plan import Plan

COLUMNS = (
    "metric", "model", "mean", "low", "high", "human_mean", "human_low", "human_high", "judge_mean", "human_lists",
    "judge_lists", "judge_weight",
)  # fmt: skip
"""The columns of a result; without `model` if there is one model."""


def check_frames(truth: Any, judge: Any) -> None:
    """Raise where a frame of judgments is missing.

    Raises
    ------
    OptionError
        There are no human judgments.
    OptionTypeError
        The judgments of the model are no frame.
    """
    if truth is None:
        msg = "estimate_with_judge needs `truth=`, the human judgments of some lists"
        raise OptionError(msg, "`truth=human` and `judge=model`, two frames of judgments")
    if not is_frame(judge):
        msg = f"`judge=` is {a_type(judge)}, but it is the frame of a model's judgments"
        raise OptionTypeError(msg, REQUIRED["judge"])


@dataclass(frozen=True)
class Judged:
    """The values of all models over the lists that a truth holds."""

    plan: Plan
    values: ListValues
    columns: dict[str, Any]
    """The values and weights of the lists of the truth, then NaN for those of them that the frame does not tell of."""
    places: dict[str | None, int]
    """The row of each list, by its key."""
    reported: nw.DataFrame[Any]
    """The values of `per`."""
    segments: Any
    """The number of each list's value; -1 where the frame does not tell of it."""

    @classmethod
    def of(cls, plan: Plan) -> Judged:
        """Return the values of a plan."""
        values, context = ListValues(plan).without_unknown(), plan.context
        table = values.engine.collected(values.frame)
        keys = list(context.keys.key)
        truth: Any = context.truth_lists
        judged = values.engine.collected(truth.select(*keys).unique())
        rows = {text: row for row, text in enumerate(texts_of(context, table, keys))}
        # In one order, whichever the rows have: it decides the last bits.
        numbers = {text: number for number, text in enumerate(sorted(texts_of(context, judged, keys), key=str))}
        chosen = np.array([rows.get(text, len(table)) for text in numbers], dtype=np.intp)
        columns = {name: np.append(floats_of(table[name]), np.nan)[chosen] for name in values.columns}
        reported, segments = segments_of(table, context.keys.per)
        return cls(plan, values, columns, numbers, reported, np.append(segments, -1)[chosen])

    def values_of(self, model: int, metric: int, chosen: Any) -> Values:
        """Return the values of a metric under a model over chosen lists."""
        return Values(*(each[chosen] for each in self.values.in_segment(self.columns, model, metric)))


def estimate_with_judge(human: Plan, judge: Plan, confidence: Any) -> Any:
    """Return one row per value of `per`, metric and model, as a frame of the kind given."""
    confidence = check_confidence(confidence)
    check_values_per_list(human.metrics, "estimate_with_judge")
    columns = [name for name in COLUMNS if human.context.query.several or name != "model"]

    def rows() -> nw.DataFrame[Any]:
        by_human, by_judge = Judged.of(human), Judged.of(judge)
        human_rows, judge_rows, further_rows = _lists(by_human, by_judge)
        statistics = []
        for number, metric in enumerate(human.metrics):
            # Models in rows are those of the frame in both plans.
            for model, name in enumerate(by_human.values.models):
                bounds, parts = by_human.values.range_of(number), []
                for segment in range(len(by_judge.reported) if human.context.keys.per else 1):
                    in_both, further = (by_judge.segments[lists] == segment for lists in (judge_rows, further_rows))
                    true = by_human.values_of(model, number, human_rows[in_both])
                    judged, rest = (
                        by_judge.values_of(model, number, lists)
                        for lists in (judge_rows[in_both], further_rows[further])
                    )
                    parts.append(_numbers(true, judged, rest, confidence, bounds))
                label = human.context.query.averaging(metric.label).name
                names = (*COLUMNS[2:], "lists")
                numbers = {each: np.array([part[each] for part in parts], dtype=np.float64) for each in names}
                statistics.append({"model": name, "metric": label, **numbers})
        return stacked(by_judge.reported, statistics, columns)

    return result_frame(judge, rows, columns)


def _lists(by_human: Judged, by_judge: Judged) -> tuple[Any, Any, Any]:
    """Return the rows of the lists with human judgments, in both, and of the others that the model judged.

    Raises
    ------
    InputError
        The lists with human judgments are no sample of those that the model judged.
    """
    outside = [text for text in by_human.places if text not in by_judge.places]
    if outside:
        count = "1 list" if len(outside) == 1 else f"{len(outside)} of the {len(by_human.places)} lists"
        msg = f"`judge=` has no judgments of {count} of `truth=`, such as {quoted(outside[0])}"
        raise InputError(msg, "let the model judge all lists, those with human judgments too")
    others = [text for text in by_judge.places if text not in by_human.places]
    if not others:
        msg = f"`judge=` judges only the {len(by_human.places)} lists of `truth=`, so it adds nothing"
        raise InputError(msg, "let the model judge lists that no human judged, or use describe with `truth=`")
    human_rows = np.array(list(by_human.places.values()), dtype=np.intp)
    judge_rows = np.array([by_judge.places[text] for text in by_human.places], dtype=np.intp)
    return human_rows, judge_rows, np.array([by_judge.places[text] for text in others], dtype=np.intp)


def _numbers(
    true: Values, predicted: Values, others: Values, confidence: float, bounds: tuple[float, float]
) -> dict[str, Any]:
    """Return the estimate of a mean, and those of the human and of the model judgments alone."""
    has_value = ~np.isnan(true.values)
    values, weights = true.values[has_value], true.weights[has_value]
    low, high = interval_of_values(values[weights > 0], Sums.of(values, weights), confidence, bounds)
    alone = Estimate(true.mean, low.item(), high.item(), 0.0)
    combined = prediction_powered(true, predicted, others, confidence) or alone
    every = Values(np.append(predicted.values, others.values), np.append(predicted.weights, others.weights))
    seen = np.append(values[weights > 0], every.values[every.weights > 0])
    least = float(least_value(bounds[0], (seen < 0).any(), bounds[1]))
    return {
        "mean": combined.mean, "low": max(combined.low, min(least, combined.mean)),
        "high": min(combined.high, max(bounds[1], combined.mean)), "human_mean": alone.mean, "human_low": alone.low,
        "human_high": alone.high, "judge_mean": every.mean, "human_lists": len(true.values),
        "judge_lists": len(every.values), "judge_weight": combined.weight, "lists": len(true.values),
    }  # fmt: skip
