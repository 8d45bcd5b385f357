"""The namespace's methods that compare rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._base.methods import Methods
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

        Values are means over the lists in which both models rank an item. If items tie, the overlap is the expected
        value over all orders of the tied items.

        Parameters
        ----------
        k : int
            The cutoff of ``"overlap"``, ``"jaccard"`` and ``"rbo"``.
        measures : str or sequence of str, optional
            Which of ``"overlap"``, ``"jaccard"``, ``"rbo"``, ``"kendall"`` and ``"spearman"``; None: all of these.
            ``"kendall"`` and ``"spearman"`` take most of the time. More measures are computed only if you name them:
            ``"rbo_min"``, ``"rbo_max"``, ``"rbo_residual"``, ``"tau_ap"`` and ``"weighted_tau"``.
        p : float
            The persistence of the rank-biased overlap, between 0 and 1. A larger value gives lower positions more
            weight.
        confidence : float, optional
            The confidence of the intervals, between 0.5 and 1; None: no intervals.
        cluster : str, optional
            A column whose values group lists that are not independent, such as the user of sessions; for intervals.
        **roles
            `by`, `item`, `per`, `model` and `score` or `rank`, as for `evaluate`, with several models.

        Returns
        -------
        frame
            A frame of the same kind, with the columns of `per`, ``model`` and ``other``, and with counts of lists:
            ``lists`` that both models rank, ``model_only`` and ``other_only`` that one of them ranks, the share
            ``in_both``, and ``correlated``, the lists with a rank correlation. Then the means over ``lists``:

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
        Webber, Moffat, Zobel, *A similarity measure for indefinite rankings*, TOIS 28, 2010; Corsi, Urbano, *The
        treatment of ties in rank-biased overlap*, SIGIR 2024; Yilmaz, Aslam, Robertson, *A new rank correlation
        coefficient for information retrieval*, SIGIR 2008; Urbano, Marrero, *The treatment of ties in AP correlation*,
        ICTIR 2017; Vigna, *A weighted correlation index for rankings with ties*, WWW 2015.

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
        return agreement.agreement(self._frame, self._bound, k, measures, p, intervals, roles)
