"""The namespace's methods that fuse models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._base.methods import Methods
from recframe._plan.request import Request
from recframe.errors import check_packages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.roles import FusionMethod, FusionNorm
    from recframe._data.methods import Frame
    from recframe.metrics import Metric


class FusionMethods(Methods):
    """The methods of `Rec` that fuse several models into one ranking."""

    __slots__ = ()

    def fuse(
        self,
        method: FusionMethod = "rrf",
        *,
        name: str = "fused",
        weights: Sequence[float] | Mapping[str, float] | None = None,
        normalize: FusionNorm | None = None,
        k: float = 60,
        gamma: float = 0.5,
        sigma: float = 0.01,
        p: float = 0.8,
        **roles: Any,
    ) -> Frame:
        """Return the frame with a new score that combines the scores of several models.

        A missing score means that the model did not retrieve the item. Tied items share their mean position.

        Parameters
        ----------
        method : str, default ``"rrf"``
            How the models are combined. n is the number of models that retrieved the item. Methods that read positions:

            - ``"rrf"``, reciprocal rank fusion: the sum of 1 / (`k` + position).
            - ``"borda"``: the sum of Borda points.
            - ``"isr"``: n times the sum of 1 / position². ``"log_isr"`` has log(n) in place of n, and ``"logn_isr"``
              has log(n + `sigma`).
            - ``"rbc"``: the sum of the weights of rank-biased precision.
            - ``"condorcet"``: how many other items the item beats in a majority of models.

            Methods that read scores:

            - ``"sum"``, ``"min"``, ``"max"``, ``"median"`` of the scores, and ``"anz"``, the sum divided by n.
            - ``"mnz"``: n times the sum. ``"gmnz"`` has n to the power of `gamma`, ``"mixed"`` the root of n, and
              ``"wmnz"`` the sum of the models' weights in place of n.
            - ``"weighted"``: the sum with `weights`.
        name : str, default ``"fused"``
            The new column, which may replace one, except for the key, the item and the relevance.
        weights : sequence or dict of float, optional
            One number for each model, in their order or by name. ``"weighted"`` and ``"wmnz"`` need weights, and
            ``"min"``, ``"max"``, ``"median"`` and ``"anz"`` accept none.
        normalize : {"min-max", "max", "sum", "zscore", "rank", "borda"}, default None
            How to make scores comparable, per list and model, for methods that read scores; None: not at all.
        k : float, default 60
            The constant of ``"rrf"``, 0 or more. A larger number gives the first positions less weight.
        gamma : float, default 0.5
            The power of ``"gmnz"``: 0 is the sum, 1 is ``"mnz"``.
        sigma : float, default 0.01
            The addend of ``"logn_isr"``, 0 or more. With 0, items that only one model retrieved score 0.
        p : float, default 0.8
            The persistence of ``"rbc"``, between 0 and 1. A smaller number gives the first positions more weight.
        **roles
            `by` and `score` or `rank`, as for `evaluate`, with at least two columns of models; or one column and
            `model`, for an eager frame.

        Returns
        -------
        frame
            A frame of the same kind, with all columns and the new score, which is missing if no model retrieved the
            item. With `model`, a frame in wide format: the key, the item, one column per model, and the new score.

        Raises
        ------
        OptionError
            There is only one model, or the options do not fit the method.
        InputError
            A model in long format has several rows for an item of a list; or a sum is no number: ∞ − ∞, infinity times
            a weight of 0, or weights that sum to 0 under ``"wmnz"``.

        References
        ----------
        RRF: Cormack, Clarke, Büttcher, SIGIR 2009; scores: Fox, Shaw, TREC-2, 1994; Borda: Aslam, Montague, SIGIR 2001;
        Condorcet: Montague, Aslam, CIKM 2002; RBC: Bailey, Moffat, Scholer, Thomas, SIGIR 2017.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 1], "item": ["a", "b", "c"], "words": [7.2, 3.1, None], "vectors": [0.2, 0.9, 0.4],
        ... })
        >>> fused = df.rec.fuse(score=["words", "vectors"])
        >>> fused.rec.top(score="fused")["item"].to_list()
        ['b', 'a', 'c']
        """
        options = {
            "method": method, "weights": weights, "normalize": normalize, "k": k, "gamma": gamma, "sigma": sigma, "p": p
        }  # fmt: skip
        check_packages("fuse", "stats", "numpy")
        from recframe._data.common import check_name
        from recframe._inference.fusion import fuse

        return fuse.fuse(Request(self._frame, self._bound, roles), {check_name("name", name): options})

    def tune_fusion(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        methods: FusionMethod | Sequence[FusionMethod] = ("rrf", "weighted"),
        normalize: FusionNorm | Sequence[FusionNorm | None] | None = "min-max",
        grid: Mapping[str, Sequence[Any]] | None = None,
        folds: int = 5,
        confidence: float = 0.95,
        cluster: str | None = None,
        seed: int = 0,
        progress: bool | None = None,
        **roles: Any,
    ) -> Frame:
        """Return the best fusions of models, with an estimate of the best one's value on new lists.

        The best of many candidates looks better than it is. So each fold of the lists evaluates the candidate that is
        best on the other folds.

        Parameters
        ----------
        metric : str or Metric
            A metric with one value per list, such as ``"ndcg@10"`` or a metric of your own.
        k : int, optional
            The cutoff, if the metric names none.
        methods : str or sequence of str, default ``("rrf", "weighted")``
            The methods of `fuse` to try.
        normalize : str or sequence of str, default ``"min-max"``
            The normalisations of `fuse` to try with methods that read scores; None: scores as they are.
        grid : dict, optional
            The values to try for ``"weights"``, ``"k"``, ``"gamma"``, ``"sigma"`` and ``"p"``. By default, as in ranx:
            weights are multiples of 0.1 that sum to 1, `k` is 10, 20 … 100, the others are hundredths up to 1.
            ``"mixed"``, ``"borda"`` and ``"condorcet"`` are tried with and without weights.
        folds : int, default 5
            The number of folds, from 2.
        confidence : float, default 0.95
            The confidence of the interval, between 0.5 and 1.
        cluster : str, optional
            A column that groups dependent lists, such as the user of sessions, and keeps them in one fold.
        seed : int, default 0
            The seed of the folds, at least 0.
        progress : bool, optional
            Whether to show a progress bar with tqdm; None: only in a terminal, for longer calls.
        **roles
            As for `evaluate`, with several models and without `per`.

        Returns
        -------
        frame
            A frame of the same kind, a row for each of the ten best candidates, the chosen one first: ``method``,
            ``normalize``, ``options`` (the arguments of `fuse` as JSON), ``in_sample`` (the mean over all ``lists``),
            ``folds`` (how many folds chose it), and ``chosen``. The chosen one has ``out_of_fold`` with the interval
            ``low`` to ``high``: the mean over all lists, each evaluated by the candidate that was chosen without its
            fold.

        Raises
        ------
        OptionError
            There is only one model, options do not fit a method, or the metric has no value per list.
        InputError
            There are fewer lists with a value than folds.
        MissingExtraError
            SciPy is not installed.

        References
        ----------
        Bassani, Romelli, *ranx.fuse*, CIKM 2022; Stone, JRSS B 36, 1974.

        Examples
        --------
        >>> import json
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 2, 2, 3, 3, 4, 4], "relevant": [1, 0] * 4,
        ...     "words": [2, 1, 1, 2, 2, 1, 1, 2], "vectors": [0.5, 0.1, 0.3, 0.2, 0.5, 0.4, 0.9, 0.1],
        ... })
        >>> tuned = df.rec.tune_fusion("mrr", score=["words", "vectors"], methods="weighted", folds=4)
        >>> tuned.select("options", "in_sample", "folds", "out_of_fold").row(0)
        ('{"method": "weighted", "normalize": "min-max", "weights": [0.0, 1.0]}', 1.0, 4, 1.0)
        >>> fused = df.rec.fuse(score=["words", "vectors"], **json.loads(tuned["options"][0]))
        """
        fusions = {"methods": methods, "normalize": normalize, "grid": grid}
        options = {"folds": folds, "confidence": confidence, "cluster": cluster, "seed": seed, "progress": progress}
        check_packages("tune_fusion", "stats", "numpy")
        from recframe._inference.fusion import tune

        return tune.tune_fusion(Request(self._frame, self._bound, roles), metric, k, fusions, options)
