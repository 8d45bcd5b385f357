"""The namespace's methods that rank many models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._base.methods import Methods
from recframe._inference.lists import calls
from recframe._inference.ranks import calls as ranks
from recframe._plan.request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._data.methods import Frame
    from recframe.metrics import Metric


class RankMethods(Methods):
    """Which model is best, and how many lists tell: what `Rec` offers for many models."""

    __slots__ = ()

    def rank_models(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        runs: str | None = None,
        resamples: int = 10_000,
        seed: int = 0,
        details: bool = False,
        **roles: Any,
    ) -> Frame:
        """Return the rank of each model with the ranks that it may have, and which models are tied with the best.

        The best of many means is high partly by luck, so the interval of this mean alone is too optimistic.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `compare`.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        confidence : float, default 0.95
            The probability, between 0 and 1, that all true ranks of a metric and segment are within their intervals.
        cluster : str, optional
            A column that groups dependent lists, such as the user of sessions.
        runs : str, optional
            A column that says which training run a row is from, such as its seed, as for `compare`.
        resamples : int, default 10000
            How many draws estimate the distribution of the largest statistic, from 100 to 1,000,000.
        seed : int, default 0
            The seed of the draws, at least 0.
        details : bool, default False
            Whether to add ``shrunk``, the mean to expect from the model on other lists.

        Returns
        -------
        frame
            A frame of the same kind, a row for each value of `per`, metric and model: ``metric``, ``model``, ``rank``
            (1 is the best mean), ``mean`` over ``lists`` (where every model has a value), ``rank_low`` and
            ``rank_high``, the best and the worst rank that it may have, and ``tied_with_best``. With `details`:
            ``shrunk``, the mean moved toward the average of all models, by James and Stein; with fewer than four
            models, the mean itself.

        Raises
        ------
        OptionError
            There is one model only, or a metric has no value per list.
        MissingExtraError
            SciPy is not installed.

        References
        ----------
        Mogstad, Romano, Shaikh, Wilhelm, *Inference for ranks*, Review of Economic Studies 91, 2024.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 2, 2, 3, 3], "relevant": [0, 1, 1, 0, 0, 1],
        ...     "old": [3, 1, 1, 2, 2, 1], "new": [1, 2, 2, 1, 2, 1],
        ... })
        >>> result = df.rec.rank_models("mrr", score=["old", "new"])
        >>> result.select("model", "rank", "rank_low", "rank_high", "tied_with_best").rows()
        [('old', 2, 1, 2, True), ('new', 1, 1, 2, True)]
        """
        options = {
            "confidence": confidence, "cluster": cluster, "runs": runs, "resamples": resamples, "seed": seed,
            "details": details,
        }  # fmt: skip
        return ranks.rank_models(Request(self._frame, self._bound, roles), metrics, k, options)

    def sample_size(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        difference: float | str,
        power: float = 0.8,
        tests: int | None = None,
        confidence: float = 0.95,
        baseline: str | None = None,
        cluster: str | None = None,
        **roles: Any,
    ) -> Frame:
        """Return how many lists it takes to find a difference between models, from the variance in these lists.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `compare`.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        difference : float or str
            The true difference to find: a number, or a percentage such as ``"2%"`` of the baseline's mean.
        power : float, default 0.8
            The probability of finding it, below 1.
        tests : int, optional
            How many tests the decision corrects for, by Bonferroni, up to 2³¹ − 1; without it: the rows of this call.
        confidence : float, default 0.95
            The confidence of the comparison, between 0.5 and 1.
        baseline : str, optional
            The model that the others are compared with; without it: all pairs.
        cluster : str, optional
            A column that groups dependent lists, such as the user of sessions. The result then says how many of its
            values are needed too.

        Returns
        -------
        frame
            A frame of the same kind: the columns of `per`, ``metric``, ``model``, ``baseline``, ``difference``,
            ``power``, ``tests``, ``std`` (of the differences), ``seen`` (the lists it is estimated from), ``lists``
            (the lists needed, with weights and clusters as seen), ``lists_careful`` (if other lists vary more than the
            lists seen), ``lists_equivalent`` (the lists that show that equal models are equivalent with `difference` as
            the margin), and with `cluster` the ``clusters`` needed. All are for the t-test, by the noncentral t
            distribution, like ``detectable`` of `compare`.

        Warns
        -----
        DataWarning
            There are fewer than 100 lists, or clusters, to estimate how much differences vary.

        Raises
        ------
        OptionError
            There is one model only, or a metric has no value per list.
        MissingExtraError
            SciPy is not installed.

        References
        ----------
        Cohen, *Statistical power analysis for the behavioral sciences*, 1988; Bell, McCaffrey, Survey Methodology 28,
        2002.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [user for user in range(120) for _ in range(2)], "relevant": [0, 1, 1, 0, 0, 1] * 40,
        ...     "old": [3, 1, 1, 2, 2, 1] * 40, "new": [1, 2, 2, 1, 2, 1] * 40,
        ... })
        >>> result = df.rec.sample_size("mrr", score=["old", "new"], difference=0.1)
        >>> result.select("seen", "lists", "lists_careful").row(0)
        (120, 46, 54)
        """
        options = {
            "difference": difference, "power": power, "tests": tests, "confidence": confidence, "baseline": baseline,
            "cluster": cluster,
        }  # fmt: skip
        request = Request(self._frame, self._bound, roles)
        module = "recframe._inference.ranks.sample_size"
        return calls.call_on_lists(module, request, metrics, k, options, ("std",))
