"""The namespace's methods that compare rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._base.methods import Methods
from recframe._plan.request import Request
from recframe.errors import check_packages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._data.methods import Frame


class AgreementMethods(Methods):
    """The methods of `Rec` that compare the rankings of several models."""

    __slots__ = ()

    def agreement(
        self,
        k: int = 10,
        *,
        measures: str | Sequence[str] | None = None,
        p: float = 0.9,
        confidence: float | None = None,
        cluster: str | None = None,
        **roles: Any,
    ) -> Frame:
        """Return how similar the rankings of models are: one row per pair of models.

        Values are means over the lists in which both models rank an item. Under ties, the overlap is its expected
        value.

        Parameters
        ----------
        k : int, default 10
            The cutoff of ``"overlap"``, ``"jaccard"`` and ``"rbo"``.
        measures : str or sequence of str, optional
            Without it: ``"overlap"``, ``"jaccard"``, ``"rbo"``, ``"kendall"`` and ``"spearman"``; ``"kendall"`` and
            ``"spearman"`` take most of the time. Only if named: ``"rbo_min"``, ``"rbo_max"``, ``"rbo_residual"``,
            ``"tau_ap"`` and ``"weighted_tau"``.
        p : float, default 0.9
            The persistence of the rank-biased overlap, between 0 and 1. A larger value gives lower positions more
            weight.
        confidence : float, optional
            The confidence of the intervals, between 0.5 and 1; None: no intervals.
        cluster : str, optional
            A column that groups dependent lists, such as the user of sessions; for intervals.
        **roles
            `by`, `item`, `per`, `model` and `score` or `rank`, as for `evaluate`, with several models.

        Returns
        -------
        frame
            A frame of the same kind, with the columns of `per`, ``model`` and ``other``. It counts ``lists`` that both
            models rank, ``model_only`` and ``other_only``, the share ``in_both``, and ``correlated``, lists with a rank
            correlation. Then the means over ``lists``:

            - ``overlap@k``: the shared items, divided by the length of the longer top k.
            - ``jaccard@k``: the shared items, divided by the number of different items in both top k.
            - ``rbo@k``: the extrapolated rank-biased overlap. Its bounds over all continuations of both top k are
              ``rbo_min@k`` and ``rbo_max@k``, and ``rbo_residual@k`` is their difference.
            - ``kendall`` (tau-b) and ``spearman``: correlations of the scores of all items that both models rank,
              missing if a model ties them all.
            - ``tau_ap`` and ``weighted_tau``: correlations in which the first positions count most.

            With `confidence`, each measure is followed by the ends of its interval, such as ``overlap@k_low`` and
            ``overlap@k_high``.

        Raises
        ------
        OptionError
            There is only one model.
        InputError
            An item is repeated in a list of an eager frame.
        MissingExtraError
            Intervals are requested, and SciPy is not installed.

        References
        ----------
        RBO: Webber, Moffat, Zobel, TOIS 28, 2010, with the ties of Corsi, Urbano, SIGIR 2024; ``tau_ap``: Yilmaz,
        Aslam, Robertson, SIGIR 2008, with the ties of Urbano, Marrero, ICTIR 2017; ``weighted_tau``: Vigna, WWW 2015.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "old": [3, 2, 1], "new": [3, 1, 2]})
        >>> df.rec.agreement(2, score=["old", "new"]).select("model", "other", "overlap@2", "spearman").row(0)
        ('old', 'new', 0.5, 0.5)
        """
        check_packages("agreement", "stats", "numpy")
        from recframe._inference.agreement import agreement

        intervals = {"confidence": confidence, "cluster": cluster}
        return agreement.agreement(Request(self._frame, self._bound, roles), k, measures, p, intervals)
