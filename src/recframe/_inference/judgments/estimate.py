"""The call `estimate_with_judge`: means from human judgments of some lists and a model's judgments of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recframe._base.guesses import REQUIRED
from recframe._engines.registry import a_type, is_frame
from recframe._inference.comparison.describe import interval_of_values
from recframe._inference.judgments.judge_agreement import SharedJudgments, same_orders
from recframe._inference.lists.keys import floats_of, segments_of, texts_of
from recframe._inference.lists.results import result_frame, stacked
from recframe._inference.lists.values import ListValues, check_values_per_list
from recframe._inference.statistics.prediction_powered import Estimate, Values, prediction_powered
from recframe._inference.statistics.student import Sums, check_confidence, least_value
from recframe.errors import InputError, OptionError, OptionTypeError, quoted

if TYPE_CHECKING:
    import narwhals as nw

    from recframe._plan.plan import Plan

COLUMNS = (
    "metric", "model", "mean", "low", "high", "human_mean", "human_low", "human_high", "judge_mean", "human_lists",
    "judge_lists", "judge_weight", "kappa", "kappa_low", "kappa_high", "same_order",
)  # fmt: skip
"""The columns of a result; without `model` and `same_order` if there is one model."""
COLUMNS_OF_SEVERAL_MODELS = ("model", "same_order")
SHARED_MEANS = ("human_mean", "shared_judge_mean")
"""The means over the lists that humans judged, by humans and by the judge."""
ESTIMATED = (
    "mean", "low", "high", "human_mean", "human_low", "human_high", "judge_mean", "human_lists", "judge_lists",
    "judge_weight", "lists", "shared_judge_mean",
)  # fmt: skip
"""The numbers of one model."""


def check_frames(truth: Any, judge: Any) -> None:
    """Raise if a frame of judgments is missing.

    Raises
    ------
    OptionError
        There are no human judgments.
    OptionTypeError
        The judgments of the model are not a frame.
    """
    if truth is None:
        msg = "estimate_with_judge needs `truth=`, the human judgments of some lists"
        raise OptionError(msg, "`truth=human` and `judge=model`, two frames of judgments")
    if not is_frame(judge):
        msg = f"`judge=` is {a_type(judge)}, but it is the frame of a model's judgments"
        raise OptionTypeError(msg, REQUIRED["judge"])


@dataclass(frozen=True)
class Judged:
    """The values of all models over the lists of a truth."""

    plan: Plan
    values: ListValues
    columns: dict[str, Any]
    """The values and weights of the lists, NaN for a list without a value."""
    rows: dict[str | None, int]
    """The row of each list in the columns, by the key of the list as text."""
    reported: nw.DataFrame[Any]
    """The segments."""
    segments: Any
    """The segment number of each list, -1 for a list without a value."""

    @classmethod
    def of(cls, plan: Plan) -> Judged:
        """Return the values of a plan."""
        values = ListValues(plan).without_unknown()
        context = plan.context
        table = values.engine.collected(values.frame)
        keys = list(context.keys.key)
        truth: Any = context.truth_lists
        judged = values.engine.collected(truth.select(*keys).unique())
        table_rows = {text: row for row, text in enumerate(texts_of(context, table, keys))}
        # Sort first: the order of a sum changes its last bits.
        rows = {text: row for row, text in enumerate(sorted(texts_of(context, judged, keys), key=str))}
        chosen = np.array([table_rows.get(text, len(table)) for text in rows], dtype=np.intp)
        columns = {name: np.append(floats_of(table[name]), np.nan)[chosen] for name in values.columns}
        reported, segments = segments_of(table, context.keys.per)
        return cls(plan, values, columns, rows, reported, np.append(segments, -1)[chosen])

    def values_of(self, model: int, metric: int, rows: Any) -> Values:
        """Return the values and weights of some lists, for a metric and a model."""
        values, weights = self.values.in_segment(self.columns, model, metric)
        return Values(values[rows], weights[rows])


def estimate_with_judge(human: Plan, judge: Plan, confidence: Any) -> Any:
    """Return one row per segment, metric and model, as a frame of the user's kind."""
    confidence = check_confidence(confidence)
    check_values_per_list(human.metrics, "estimate_with_judge")
    columns = [name for name in COLUMNS if human.context.query.several or name not in COLUMNS_OF_SEVERAL_MODELS]

    def rows() -> nw.DataFrame[Any]:
        by_human = Judged.of(human)
        by_judge = Judged.of(judge)
        lists = _match_lists(by_human, by_judge)
        segments = range(len(by_judge.reported) if human.context.keys.per else 1)
        shared = SharedJudgments.of(human, judge, by_human.rows)
        kappas = shared.kappas([by_judge.segments[lists.judge] == segment for segment in segments], confidence)
        statistics: list[dict[str, Any]] = []
        for number, metric in enumerate(human.metrics):
            of_models = []
            # Both plans have the same models in the same order, because they share the frame.
            for model in range(len(by_human.values.models)):
                estimates = [
                    _segment_estimate(by_human, by_judge, lists, segment, model, number, confidence)
                    for segment in segments
                ]
                of_models.append(
                    {name: np.array([each[name] for each in estimates], dtype=np.float64) for name in ESTIMATED}
                )
            label = human.context.query.averaging(metric.label).name
            has_same_order = same_orders(*(np.array([each[name] for each in of_models]) for name in SHARED_MEANS))
            for model, (name, estimate) in enumerate(zip(by_human.values.models, of_models, strict=True)):
                head = {"metric": label, "model": name, "same_order": has_same_order[model]}
                statistics.append({**head, **estimate, **kappas})
        return stacked(by_judge.reported, statistics, columns)

    return result_frame(judge, rows, columns)


class _MatchedLists(NamedTuple):
    """The rows of lists in the values by humans and by the judge."""

    human: Any
    """The lists that humans judged, in the human values."""
    judge: Any
    """The same lists in the judge's values."""
    others: Any
    """The lists that only the judge judged, in the judge's values."""


def _match_lists(by_human: Judged, by_judge: Judged) -> _MatchedLists:
    """Return the rows of the lists with human judgments and of the other lists.

    Raises
    ------
    InputError
        The judge lacks a list with human judgments, or has no other list.
    """
    outside = [text for text in by_human.rows if text not in by_judge.rows]
    if outside:
        count = "1 list" if len(outside) == 1 else f"{len(outside)} of the {len(by_human.rows)} lists"
        msg = f"`judge=` has no judgments of {count} of `truth=`, such as {quoted(outside[0])}"
        raise InputError(msg, "let the model judge all lists, also the ones with human judgments")
    others = [text for text in by_judge.rows if text not in by_human.rows]
    if not others:
        msg = f"`judge=` judges only the {len(by_human.rows)} lists of `truth=`, so it adds nothing"
        raise InputError(msg, "let the model judge lists that no human judged, or use describe with `truth=`")
    return _MatchedLists(
        human=np.array(list(by_human.rows.values()), dtype=np.intp),
        judge=np.array([by_judge.rows[text] for text in by_human.rows], dtype=np.intp),
        others=np.array([by_judge.rows[text] for text in others], dtype=np.intp),
    )


def _segment_estimate(
    by_human: Judged,
    by_judge: Judged,
    lists: _MatchedLists,
    segment: int,
    model: int,
    metric: int,
    confidence: float,
) -> dict[str, Any]:
    """Return the estimates of one segment, model and metric."""
    in_segment = by_judge.segments[lists.judge] == segment
    others_in_segment = by_judge.segments[lists.others] == segment
    return _estimates(
        by_human.values_of(model, metric, lists.human[in_segment]),
        by_judge.values_of(model, metric, lists.judge[in_segment]),
        by_judge.values_of(model, metric, lists.others[others_in_segment]),
        confidence,
        by_human.values.range_of(metric),
    )


def _estimates(
    true: Values, predicted: Values, others: Values, confidence: float, bounds: tuple[float, float]
) -> dict[str, Any]:
    """Return three estimates of a mean: from both kinds of judgments, from humans alone, and from the judge alone.

    `true` and `predicted` are the values of the same lists under human and model judgments. `others` are the values of
    the lists that only the model judged.
    """
    has_value = ~np.isnan(true.values)
    values = true.values[has_value]
    weights = true.weights[has_value]
    low, high = interval_of_values(values[weights > 0], Sums.of(values, weights), confidence, bounds)
    human = Estimate(true.mean, low.item(), high.item(), 0.0)
    combined = prediction_powered(true, predicted, others, confidence) or human
    judge = Values(np.append(predicted.values, others.values), np.append(predicted.weights, others.weights))
    all_values = np.append(values[weights > 0], judge.values[judge.weights > 0])
    least = float(least_value(bounds[0], (all_values < 0).any(), bounds[1]))
    return {
        "mean": combined.mean,
        "low": max(combined.low, min(least, combined.mean)),
        "high": min(combined.high, max(bounds[1], combined.mean)),
        "human_mean": human.mean,
        "human_low": human.low,
        "human_high": human.high,
        "judge_mean": judge.mean,
        "human_lists": len(true.values),
        "judge_lists": len(judge.values),
        "judge_weight": combined.weight,
        "lists": len(true.values),
        "shared_judge_mean": predicted.mean,
    }
