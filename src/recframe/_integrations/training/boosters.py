"""A metric as the evaluation function of a booster."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from recframe._base.signatures import checked_call
from recframe._base.values import choice
from recframe._integrations.training.array_metric import ArrayMetric
from recframe.errors import InputError, OptionError, OptionTypeError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recframe.metrics import Metric

Booster = Literal["lightgbm", "lightgbm.sklearn", "xgboost"]
"""What calls an evaluation function."""
ArrayMetrics = ArrayMetric | tuple[ArrayMetric, ...]
"""One metric, or several."""
TRAINERS = "lightgbm.train(..., feval=) and xgboost.train(..., custom_metric=)"


@checked_call
def feval(
    metric: str | Metric | Sequence[str | Metric], library: Booster | None = None, **policies: Any
) -> Callable[..., Any]:
    """Return a metric as the evaluation function of a booster, which calls it after each round.

    Parameters
    ----------
    metric : str, Metric, or sequence of them
        Such as ``"ndcg@10"``. With several metrics, early stopping reads the first one in LightGBM with
        ``first_metric_only=True``, and the last one in XGBoost.
    library : {"lightgbm", "lightgbm.sklearn", "xgboost"}, default None
        The library that calls the function. None: the function recognizes ``lightgbm.train(..., feval=)``,
        ``xgboost.train(..., custom_metric=)`` and ``LGBMRanker.fit(..., eval_metric=)`` by the arguments they pass.
    **policies
        ``like``, ``ties``, ``min_relevance``, ``undefined`` and the other policies of every metric.

    Returns
    -------
    callable
        It returns the name of the metric, its value and, for LightGBM, whether higher is better, so that early stopping
        knows the direction. With several metrics, it returns a list of these. XGBoost's early stopping does not learn
        the direction from the function, so pass ``maximize=True`` if higher is better.

    Raises
    ------
    InputError
        The data has no groups.
    OptionTypeError
        The data is neither LightGBM's Dataset nor XGBoost's DMatrix.

    Notes
    -----
    The values are the same as from ``df.rec`` on the same rows. CatBoost is not supported, because it calls custom
    metrics without the groups of rows.

    Examples
    --------
    >>> import recframe
    >>> call = recframe.feval("mrr", "lightgbm.sklearn")
    >>> call([0, 1, 1], [0.9, 0.8, 0.7], None, [2, 1])
    ('mrr', 0.75, True)
    >>> recframe.feval(["mrr", "recall@1"], "lightgbm.sklearn")([0, 1, 1], [0.9, 0.8, 0.7], None, [2, 1])
    [('mrr', 0.75, True), ('recall@1', 0.5, True)]
    """
    if library is not None:
        choice("library", library, get_args(Booster))
    metrics: ArrayMetrics
    if isinstance(metric, list | tuple):
        metrics = tuple(ArrayMetric.of(each, policies) for each in metric)
        if not metrics:
            msg = f"metric={quoted(metric)} names no metric"
            raise OptionError(msg, "feval(['ndcg@10', 'map@10'])")
    else:
        metrics = ArrayMetric.of(cast("str | Metric", metric), policies)
    # A function within this one could not be pickled, as a process that trains would need it.
    calls: dict[str | None, Callable[..., Any]] = {None: _any_booster, "lightgbm.sklearn": _from_labels}
    return partial(calls.get(library, _from_data), metrics)


def _results(metrics: ArrayMetrics, call: Callable[[ArrayMetric], Any]) -> Any:
    """Return the result of one metric, or a list with a result for each of several metrics."""
    return call(metrics) if isinstance(metrics, ArrayMetric) else [call(metric) for metric in metrics]


# LightGBM counts the parameters after the metrics to see what to pass.
def _any_booster(metrics: ArrayMetrics, first: Any, second: Any, weight: Any = None, group: Any = None) -> Any:
    """Return the result for a trainer, which passes its data, or for LightGBM's scikit-learn, which passes labels."""
    if hasattr(second, "get_label") or group is None:
        return _from_data(metrics, first, second)
    return _from_labels(metrics, first, second, weight, group)


def _from_data(metrics: ArrayMetrics, predictions: Any, data: Any) -> Any:
    """Return the result for a trainer, from its data set."""
    return _results(metrics, lambda metric: _trainer_result(metric, predictions, data))


def _from_labels(metrics: ArrayMetrics, y_true: Any, y_pred: Any, weight: Any, group: Any) -> Any:  # noqa: ARG001
    """Return the result for LightGBM's scikit-learn interface, from labels and the sizes of groups."""

    def call(metric: ArrayMetric) -> tuple[str, float, bool]:
        result = _value_of_lists(metric, y_true, y_pred, group, "fit(..., eval_group=[sizes])")
        return metric.name, result, metric.higher_is_better

    return _results(metrics, call)


def _trainer_result(metric: ArrayMetric, predictions: Any, data: Any) -> tuple[str, float] | tuple[str, float, bool]:
    """Return the result in the form that the trainer of this data expects."""
    if hasattr(data, "get_uint_info"):
        ends = data.get_uint_info("group_ptr")
        sizes = ends[1:] - ends[:-1]
        return metric.name, _value_of_lists(metric, data.get_label(), predictions, sizes, "DMatrix(..., qid=ids)")
    if not hasattr(data, "get_group"):
        msg = f"data={quoted(data)} is neither a Dataset of LightGBM nor a DMatrix of XGBoost"
        wrapper = "LGBMRanker.fit(..., eval_metric=, eval_group=[sizes])"
        raise OptionTypeError(msg, f"{TRAINERS} call the function with their data, and {wrapper} with groups")
    result = _value_of_lists(metric, data.get_label(), predictions, data.get_group(), "Dataset(..., group=sizes)")
    return metric.name, result, metric.higher_is_better


def _value_of_lists(metric: ArrayMetric, labels: Any, predictions: Any, sizes: Any, remedy: str) -> float:
    """Return the value of a metric over lists of these sizes, or raise if there are no sizes."""
    if sizes is None or not len(sizes):
        msg = "the data has no groups, so nothing says which list each row is in"
        raise InputError(msg, remedy)
    # As many sizes as rows would be read as ids of lists. An empty list makes them one more.
    return metric(labels, predictions, [*sizes, 0] if len(sizes) == len(labels) else sizes)
