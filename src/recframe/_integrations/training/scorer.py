"""The call `scorer`: a metric as a scorer for scikit-learn."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recframe._base.signatures import checked_call
from recframe._data.common import check_name
from recframe._integrations.training.array_metric import ArrayMetric
from recframe.errors import InputError, quoted

if TYPE_CHECKING:
    from recframe.metrics import Metric

RESPONSES = ("decision_function", "predict_proba", "predict")
"""The methods that predict scores. The first one that an estimator has is used."""


@checked_call
def scorer(metric: str | Metric, *, by: str | None = "groups", **policies: Any) -> Scorer:
    """Return a metric as a scorer, for `cross_validate`, `GridSearchCV` and all that accept ``scoring=``.

    Parameters
    ----------
    metric : str or Metric
        Such as ``"ndcg@10"``.
    by : str, optional
        The metadata with the list of each row: ``"groups"``, or ``"qid"`` for XGBoost's ranker. The scorer requests it
        by metadata routing, ``sklearn.set_config(enable_metadata_routing=True)`` and ``params={"groups": queries}``.
        Without routing, it reads a column of this name in X. None: all rows are one list.
    **policies
        ``like``, ``ties``, ``min_relevance``, ``undefined`` and the other policies of every metric.

    Returns
    -------
    Scorer
        Called as ``scorer(estimator, X, y, groups=queries)``. The scores come from the first of these that the
        estimator has: ``decision_function``, the probability of the second class, ``predict``. If lower values of the
        metric are better, the result is negative, like the results of scikit-learn's own scorers.

    Raises
    ------
    InputError
        There is no metadata or column with the list of each row.

    Examples
    --------
    >>> import numpy as np
    >>> import recframe
    >>> class Model:
    ...     def predict(self, X):
    ...         return X[:, 0]
    >>> features, clicked = np.array([[0.9], [0.8], [0.3], [0.7]]), np.array([0, 1, 1, 0])
    >>> recframe.scorer("mrr")(Model(), features, clicked, groups=[1, 1, 2, 2])
    0.5
    """
    by = None if by is None else check_name("by", by)
    return Scorer(ArrayMetric.of(metric, policies, also=("by",)), by)


class Scorer:
    """A metric that scikit-learn calls with an estimator, its data and the metadata it asks for."""

    def __init__(self, metric: ArrayMetric, by: str | None) -> None:
        self._metric = metric
        self._by = by

    def __repr__(self) -> str:
        return f"scorer({self._metric.name!r}, by={self._by!r})"

    def __call__(self, estimator: Any, X: Any, y: Any = None, **metadata: Any) -> float:  # noqa: N803 - sklearn's name
        """Return the metric's value for the estimator's predictions, negated if lower is better."""
        result = self._metric(y, _predicted(estimator, X), self._lists(X, metadata))
        return result if self._metric.higher_is_better else -result

    def get_metadata_routing(self) -> Any:
        """Return the metadata that scikit-learn should pass to the call."""
        # Imported by name, so that type checkers do not need scikit-learn.
        request = import_module("sklearn.utils.metadata_routing").MetadataRequest(owner=self)
        if self._by is not None:
            request.score.add_request(param=self._by, alias=True)
        return request

    def _lists(self, X: Any, metadata: dict[str, Any]) -> Any:  # noqa: N803
        """Return the list of each row, from the metadata or from X."""
        if self._by is None:
            return None
        if metadata.get(self._by) is not None:
            return metadata[self._by]
        if self._by in getattr(X, "columns", ()):
            return X[self._by]
        msg = f"nothing says which list each row is in: there is no {self._by}="
        routing = f"sklearn.set_config(enable_metadata_routing=True) and params={{{self._by!r}: queries}}"
        hint = f"{routing}, a column {self._by!r} of X, or scorer(..., by=None)"
        raise InputError(msg, hint)


def _predicted(estimator: Any, X: Any) -> Any:  # noqa: N803
    """Return one score for each row."""
    name = next((name for name in RESPONSES if hasattr(estimator, name)), None)
    if name is None:
        msg = f"{quoted(estimator)} predicts nothing"
        raise InputError(msg, f"give an estimator with {', '.join(RESPONSES)}")
    predictions = getattr(estimator, name)(X)
    return predictions[:, 1] if name == "predict_proba" and predictions.shape[1] == 2 else predictions  # noqa: PLR2004
