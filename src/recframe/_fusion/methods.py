"""The namespace's methods that fuse models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._methods import Methods
from recframe.errors import check_packages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._arguments import FusionMethod, FusionNorm
    from recframe._data.methods import Frame
    from recframe.metrics import Metric


class FusionMethods(Methods):
    """One ranking out of several: what `Rec` offers to fuse models."""

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
        """Return the frame with one score made of the scores of several models.

        A missing score means that the model did not retrieve the item. Items of equal score share the mean of their
        positions.

        Parameters
        ----------
        method : str
            How models are joined. By positions: the sum of 1 / (`k` + position) (``"rrf"``, reciprocal rank fusion),
            Borda's points (``"borda"``), the number of models that retrieved the item times the sum of 1 / position²
            (``"isr"``), its logarithm times that sum (``"log_isr"``, and ``"logn_isr"`` with `sigma` added to the
            number), the sum of the weights of rank-biased precision (``"rbc"``), or the items that win against most
            others in most models (``"condorcet"``). By scores: their sum (``"sum"``), the sum times the number of
            models that retrieved the item (``"mnz"``), times the number to the power of `gamma` (``"gmnz"``), times its
            root (``"mixed"``) or times the weights of these models (``"wmnz"``), the least, the largest, the median
            (``"min"``, ``"max"``, ``"median"``), the mean of those that retrieved it (``"anz"``), or the sum with
            `weights` (``"weighted"``).
        name : str
            The new column; one of that name is replaced, but never the key, the item or the relevance.
        weights : sequence or dict of float, optional
            One number for each model, in their order or by name. For all methods but ``"min"``, ``"max"``,
            ``"median"`` and ``"anz"``; ``"weighted"`` and ``"wmnz"`` need them.
        normalize : {"min-max", "max", "sum", "zscore", "rank", "borda"}, optional
            How the scores of each list and model are made comparable, for the methods by scores; None: as they are.
        k : float
            The constant of ``"rrf"``, 0 or more. The larger it is, the less the first positions stand out.
        gamma : float
            The power of ``"gmnz"``: 0 is the sum, 1 is ``"mnz"``.
        sigma : float
            The addend of ``"logn_isr"``, 0 or more: without it, items that one model retrieved have a score of 0.
        p : float
            The persistence of ``"rbc"``, between 0 and 1: the smaller, the more the first positions stand out.
        **roles
            `by` and `score` or `rank`, as for `evaluate`, with at least two columns of models; or one column and
            `model`, of an eager frame.

        Returns
        -------
        frame
            Of the kind given, with all its columns. The new score is missing where no model retrieved the item. With
            `model`, a row for each item of a list: the key, the item, a column for each model, and the new score.

        Raises
        ------
        OptionError
            There is one model only, or the options do not fit the method.
        InputError
            A model in long format has several rows for an item of a list.

        References
        ----------
        Cormack, Clarke, Büttcher, *Reciprocal rank fusion outperforms Condorcet and individual rank learning methods*,
        SIGIR 2009; Fox, Shaw, *Combination of multiple searches*, TREC-2, 1994; Aslam, Montague, *Models for
        metasearch*, SIGIR 2001; Montague, Aslam, *Condorcet fusion for improved retrieval*, CIKM 2002; Bailey, Moffat,
        Scholer, Thomas, *Retrieval consistency in the presence of query variations*, SIGIR 2017.

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
        from recframe._fusion import fuse

        return fuse.fuse(self._frame, self._bound, name, options, roles)

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
        """Return which fusion of models is best, and how good the choice is on lists that did not make it.

        The best of many candidates looks better than it is. So the lists are split into folds: in each, the candidate
        that is best on the other folds is evaluated.

        Parameters
        ----------
        metric : str or Metric
            Such as ``"ndcg@10"`` or a metric of your own; one that has a value per list.
        k : int, optional
            The cutoff, if the metric names none.
        methods : str or sequence of str
            The methods of `fuse` that are tried.
        normalize : str or sequence of str
            The normalisations of `fuse` that are tried with methods that read scores; None: scores as they are.
        grid : dict, optional
            The values that are tried, by name: of ``"weights"``, ``"k"``, ``"gamma"``, ``"sigma"`` and ``"p"``; those
            that it leaves out, and None, are as in ranx: weights are tenths that sum to 1, `k` is 10, 20 … 100, the
            others are hundredths up to 1. Weights are for ``"weighted"``, ``"wmnz"``, ``"mixed"``, ``"borda"`` and
            ``"condorcet"``; ``"mixed"``, ``"borda"`` and ``"condorcet"`` are tried without weights too.
        folds : int
            The number of folds, from 2.
        confidence : float
            The confidence of the interval, between 0.5 and 1.
        cluster : str, optional
            A column whose values group lists that are not independent, such as the user of sessions. Its lists are in
            one fold.
        seed : int
            The seed of the folds, at least 0.
        progress : bool, optional
            Whether to show a progress bar, which tqdm draws; None: in a terminal, for what takes longer.
        **roles
            As for `evaluate`, with several models and without `per`.

        Returns
        -------
        frame
            Of the kind given, a row for each of the ten best candidates, the chosen one first: ``method``,
            ``normalize``, ``options`` (JSON of what `fuse` accepts), ``in_sample``, its mean over all ``lists`` with a
            value, ``folds``, how many chose it, and ``chosen``. Of the choice, ``out_of_fold`` is the mean over all
            lists of the candidates that were chosen without them, ``low`` and ``high`` its interval.

        Raises
        ------
        OptionError
            There is one model only, options do not fit a method, or the metric has no value per list.
        InputError
            There are fewer lists with a value than folds.
        MissingExtraError
            SciPy is not installed.

        References
        ----------
        Bassani, Romelli, *ranx.fuse: a Python library for metasearch*, CIKM 2022; Stone, *Cross-validatory choice and
        assessment of statistical predictions*, JRSS B 36, 1974.

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
        from recframe._fusion import tune

        return tune.tune_fusion(self._frame, self._bound, metric, k, fusions, options, roles)
