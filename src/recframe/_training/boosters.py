"""A metric as the evaluation function of a booster."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from recframe._signatures import checked_call
from recframe._training.value import Value
from recframe._values import choice
from recframe.errors import InputError, OptionTypeError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from recframe.metrics import Metric

Booster = Literal["lightgbm", "lightgbm.sklearn", "xgboost"]
"""What calls an evaluation function."""
TRAINERS = "lightgbm.train(..., feval=) and xgboost.train(..., custom_metric=)"


@checked_call
def feval(metric: str | Metric, library: Booster | None = None, **policies: Any) -> Callable[..., Any]:
    """Return a metric as the evaluation function of a booster, which calls it after each round.

    Parameters
    ----------
    metric : str or Metric
        Such as ``"ndcg@10"``.
    library : {"lightgbm", "lightgbm.sklearn", "xgboost"}, optional
        Who calls it. ``lightgbm.train(..., feval=)`` and ``xgboost.train(..., custom_metric=)`` are recognized by the
        data that they pass, so only ``LGBMRanker.fit(..., eval_metric=)`` needs ``"lightgbm.sklearn"``.
    **policies
        ``like``, ``ties``, ``min_relevance``, ``undefined`` and the other policies of every metric.

    Returns
    -------
    callable
        It answers with the name, the value and, to LightGBM, whether higher is better, so that early stopping knows the
        direction. To XGBoost's early stopping, say it: ``maximize=True``.

    Raises
    ------
    InputError
        The data has no groups.
    OptionTypeError
        The data is neither LightGBM's Dataset nor XGBoost's DMatrix.

    Notes
    -----
    Equal to ``df.rec`` on the same rows. CatBoost calls custom metrics without the groups of rows, so it has none here.

    Examples
    --------
    >>> import recframe
    >>> call = recframe.feval("mrr", "lightgbm.sklearn")
    >>> call([0, 1, 1], [0.9, 0.8, 0.7], None, [2, 1])
    ('mrr', 0.75, True)
    """
    if library is not None:
        choice("library", library, get_args(Booster))
    # A function within this one could not be pickled, as a process that trains would need it.
    return partial(_lightgbm_sklearn if library == "lightgbm.sklearn" else _trainer, Value.of(metric, policies))


def _trainer(value: Value, predictions: Any, data: Any) -> tuple[str, float] | tuple[str, float, bool]:
    """Return the result in the form that the trainer of this data expects."""
    if hasattr(data, "get_uint_info"):
        ends = data.get_uint_info("group_ptr")
        sizes = ends[1:] - ends[:-1]
        return value.name, _of_lists(value, data.get_label(), predictions, sizes, "DMatrix(..., qid=ids)")
    if not hasattr(data, "get_group"):
        msg = f"data={quoted(data)} is neither a Dataset of LightGBM nor a DMatrix of XGBoost"
        wrapper = f"LGBMRanker.fit(..., eval_metric=recframe.feval({value.name!r}, library='lightgbm.sklearn'))"
        raise OptionTypeError(msg, f"{TRAINERS} call the function with their data; LightGBM's scikit-learn: {wrapper}")
    result = _of_lists(value, data.get_label(), predictions, data.get_group(), "Dataset(..., group=sizes)")
    return value.name, result, value.higher_is_better


# LightGBM counts the parameters after the value to see what to pass.
def _lightgbm_sklearn(value: Value, y_true: Any, y_pred: Any, weight: Any, group: Any) -> tuple[str, float, bool]:  # noqa: ARG001
    result = _of_lists(value, y_true, y_pred, group, "fit(..., eval_group=[sizes])")
    return value.name, result, value.higher_is_better


def _of_lists(value: Value, labels: Any, predictions: Any, sizes: Any, remedy: str) -> float:
    """Return the value of lists of these sizes, or raise where there are none."""
    if sizes is None or not len(sizes):
        msg = "the data has no groups, so nothing says which list each row is in"
        raise InputError(msg, remedy)
    # As many sizes as rows would be read as ids: with an empty list they are one more.
    return value(labels, predictions, [*sizes, 0] if len(sizes) == len(labels) else sizes)
