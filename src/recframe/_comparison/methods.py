"""The namespace's methods that compare models over lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from recframe._comparison import calls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._arguments import FusionMethod, FusionNorm
    from recframe._data.methods import Frame
    from recframe.metrics import Metric


class ComparisonMethods:
    """Is B better than A: what `Rec` offers for several models."""

    __slots__ = ()

    _frame: Any
    _bound: dict[str, Any]

    def compare(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        baseline: Any = None,
        test: Literal["t", "randomization", "bootstrap", "wilcoxon", "anytime", "anytime-bounded"] = "t",
        confidence: float = 0.95,
        correction: Literal["holm", "bonferroni", "bh", "none", "maxt", "romano-wolf", "dunnett"] = "holm",
        cluster: str | None = None,
        resamples: int = 10_000,
        seed: int = 0,
        interval: Literal["percentile", "bca"] = "percentile",
        margin: float | str | None = None,
        planned: int = 10_000,
        relative: bool = False,
        changed: Literal["leave_out", "refuse"] | None = None,
        **roles: Any,
    ) -> Frame:
        """Return which models differ, by how much and how surely: one row per metric and pair of models.

        Models are compared list by list, over the lists where both have a value.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `evaluate`.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        baseline : str or path, optional
            The model that the others are compared with, or the file of one that `evaluate` saved; without it: all
            pairs, the earlier model of the call or of the rows being the baseline. ``"chance"``: each model's own
            rows in a random order.
        test : {"t", "randomization", "bootstrap", "wilcoxon", "anytime", "anytime-bounded"}
            The test of no difference: the paired t-test, which Urbano, Lima and Hanjalic (SIGIR 2019) find the most
            reliable one; random flips of signs; means of lists drawn anew; or Wilcoxon's signed ranks. The last two
            hold however often one looks at growing data: the first with many lists, the second with any number of them
            for metrics within known bounds.
        confidence : float
            The confidence of the interval, between 0 and 1. It holds 0 if and only if p is at least 1 - `confidence`.
        correction : {"holm", "bonferroni", "bh", "none", "maxt", "romano-wolf", "dunnett"}
            How p-values are adjusted for the number of tests, over all rows of the result. The last three adjust the
            intervals too, and know how tests depend on each other: by the largest of all statistics under flips of
            signs, the same stepped down, or as t-tests with one baseline.
        cluster : str, optional
            A column whose values group lists that are not independent, such as the user of sessions. Then clusters
            are the units that vary.
        resamples : int
            How many resamples randomization and the bootstrap draw, from 100 to 1,000,000.
        seed : int
            The seed of the draws, at least 0.
        interval : {"percentile", "bca"}
            The bootstrap's interval. Other tests have one of their own, or none (Wilcoxon's), and refuse ``"bca"``.
        margin : float or str, optional
            How much worse still counts as not worse: a number, or a percentage such as ``"1%"`` of the baseline's mean.
        planned : int
            About how many lists the decision will need, for the tests that hold at all looks, whose intervals are the
            shortest there. It and `confidence` are the same at each look.
        relative : bool
            Whether to add the interval of the relative difference, ``relative_low`` and ``relative_high``.
        changed : {"leave_out", "refuse"}, optional
            Lists whose relevant rows are not those of the file that `baseline` names, or that only one side has: left
            out, or an error. Without it: left out if there is a truth, else an error.

        Returns
        -------
        frame
            Of the kind given: the columns of `per`, ``metric``, ``model``, ``baseline``, ``difference``, ``relative``
            (to the baseline's mean), ``mean``, ``baseline_mean``, ``lists`` (where both have a value), ``wins``,
            ``ties``, ``losses`` (of the model, in lists), ``effect`` (the difference over its standard deviation),
            ``detectable`` (the smallest difference that so many lists detect with power 0.8, after the correction),
            ``p`` (of no difference), ``low`` and ``high`` (the interval of the difference),
            ``p_adjusted`` and ``verdict``, what the adjusted test decided in the direction of the metric: ``"better"``,
            ``"worse"``, with a margin ``"not worse"`` or ``"equivalent"``, else ``"open"``.
            Of a baseline in a file also ``changed``: ``"nothing"``, or which lists are left out.

        Raises
        ------
        OptionError
            There is one model only, the baseline is none of them, or a metric has no value per list and the test or
            the correction needs one.
        MissingExtraError
            SciPy is not installed.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 2, 2, 3, 3], "relevant": [0, 1, 1, 0, 0, 1],
        ...     "old": [3, 1, 1, 2, 2, 1], "new": [1, 2, 2, 1, 2, 1],
        ... })
        >>> found = df.rec.compare("mrr", score=["old", "new"])
        >>> found.select("model", "baseline", "lists", "difference", "wins", "ties", "losses").row(0)
        ('new', 'old', 3, 0.3333333333333333, 2, 1, 0)
        """
        options = {
            "baseline": baseline, "test": test, "confidence": confidence, "correction": correction,
            "cluster": cluster, "resamples": resamples, "seed": seed, "interval": interval, "margin": margin,
            "planned": planned, "relative": relative, "changed": changed,
        }  # fmt: skip
        return calls.compare(self._frame, self._bound, metrics, k, roles, options)

    def rank_models(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        resamples: int = 10_000,
        seed: int = 0,
        **roles: Any,
    ) -> Frame:
        """Return the rank of each model with the ranks that it may have, and which models are tied with the best.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `compare`.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        confidence : float
            The probability that all models of a metric and segment have a true rank within their interval, between 0
            and 1.
        cluster : str, optional
            A column whose values group lists that are not independent, such as the user of sessions.
        resamples : int
            How many draws tell how large the largest statistic is by chance, from 100 to 1,000,000.
        seed : int
            The seed of the draws, at least 0.

        Returns
        -------
        frame
            Of the kind given, a row for each value of `per`, metric and model: ``metric``, ``model``, ``mean``,
            ``lists`` (where every model has a value: the mean is over these), ``rank`` (1 is the best mean),
            ``rank_low`` and ``rank_high``, the best and the worst rank that it may have, and ``tied_with_best``,
            whether it may be the best.

        Raises
        ------
        OptionError
            There is one model only, or a metric has no value per list.
        MissingExtraError
            SciPy is not installed.

        References
        ----------
        Mogstad, Romano, Shaikh, Wilhelm, *Inference for ranks with applications to mobility across neighbourhoods and
        academic achievement across countries*, Review of Economic Studies 91, 2024.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 2, 2, 3, 3], "relevant": [0, 1, 1, 0, 0, 1],
        ...     "old": [3, 1, 1, 2, 2, 1], "new": [1, 2, 2, 1, 2, 1],
        ... })
        >>> found = df.rec.rank_models("mrr", score=["old", "new"])
        >>> found.select("model", "rank", "rank_low", "rank_high", "tied_with_best").rows()
        [('old', 2, 1, 2, True), ('new', 1, 1, 2, True)]
        """
        options = {"confidence": confidence, "cluster": cluster, "resamples": resamples, "seed": seed}
        return calls.rank_models(self._frame, self._bound, metrics, k, roles, options)

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
        """Return how many lists it takes to find a difference between models, from the variance of those seen.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `compare`.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        difference : float or str
            The true difference to find: a number, or a percentage such as ``"2%"`` of the baseline's mean.
        power : float
            The probability to find it, below 1.
        tests : int, optional
            How many tests the decision will have, which Bonferroni's correction counts; without it: the rows of this
            call.
        confidence : float
            The confidence of the comparison, between 0 and 1.
        baseline : str, optional
            The model that the others are compared with; without it: all pairs.
        cluster : str, optional
            A column whose values group lists that are not independent, such as the user of sessions. The result then
            says how many of its values are needed too.

        Returns
        -------
        frame
            Of the kind given: the columns of `per`, ``metric``, ``model``, ``baseline``, ``difference``, ``power``,
            ``tests``, ``std`` (the deviation of the differences over lists), ``seen`` (the lists that tell it),
            ``lists``, the lists needed, with weights and in clusters such as those seen, and with `cluster` the
            ``clusters`` needed. It is that of the t-test by noncentral t, as ``detectable`` of `compare` is.

        Raises
        ------
        OptionError
            There is one model only, or a metric has no value per list.
        MissingExtraError
            SciPy is not installed.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 2, 2, 3, 3], "relevant": [0, 1, 1, 0, 0, 1],
        ...     "old": [3, 1, 1, 2, 2, 1], "new": [1, 2, 2, 1, 2, 1],
        ... })
        >>> df.rec.sample_size("mrr", score=["old", "new"], difference=0.1).select("seen", "lists").row(0)
        (3, 68)
        """
        options = {
            "difference": difference, "power": power, "tests": tests, "confidence": confidence, "baseline": baseline,
            "cluster": cluster,
        }  # fmt: skip
        return calls.sample_size(self._frame, self._bound, metrics, k, roles, options)

    def describe(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        **roles: Any,
    ) -> Frame:
        """Return how the values of lists spread: one row per model and metric.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `evaluate`.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        confidence : float
            The confidence of the interval of the mean, between 0 and 1: Student's, or Wilson's for values of 0 and 1.
        cluster : str, optional
            A column whose values group lists that are not independent, such as the user of sessions.

        Returns
        -------
        frame
            Of the kind given: the columns of `per`, ``model`` if there are several, ``metric``, ``lists`` (with a
            value), ``mean``, ``std``, ``min``, ``p10``, ``p25``, ``p50``, ``p75``, ``p90``, ``max``, ``zeros`` (the
            share of lists with the value 0), ``undefined`` (lists without a value), ``low`` and ``high`` (the interval
            of the mean).

        Raises
        ------
        MissingExtraError
            SciPy is not installed.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 2, 2], "relevant": [0, 1, 0, 0], "score": [0.9, 0.1, 0.2, 0.3]})
        >>> df.rec.describe("mrr").select("lists", "undefined", "mean", "max").row(0)
        (1, 1, 0.5, 0.5)
        """
        options = {"confidence": confidence, "cluster": cluster}
        return calls.describe(self._frame, self._bound, metrics, k, roles, options)

    def estimate(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        judge: Any,
        confidence: float = 0.95,
        **roles: Any,
    ) -> Frame:
        """Return means from human judgments of some lists (`truth`) and a model's judgments of these and many others.

        It is the mean that human judgments of all lists would give, by prediction-powered inference. The lists with
        human judgments must be a random sample of those that the model judged.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `evaluate`; only those that have a value per list.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        judge : frame
            The judgments of a model, such as an LLM, with the columns of `truth`: of all of its lists and of more.
        confidence : float
            The confidence of the intervals, between 0 and 1.

        Returns
        -------
        frame
            Of the kind given: the columns of `per`, ``model`` if there are several, ``metric``, ``mean`` with ``low``
            and ``high``, the estimate from both, ``human_mean`` with ``human_low`` and ``human_high``, that of the
            human judgments alone, ``judge_mean``, the mean under the model's judgments, ``human_lists`` and
            ``judge_lists``, how many lists each judged, and ``judge_weight``, between 0 and 1: how much the model's
            judgments count. 0: they say nothing of the human ones, and the estimate is that of these alone.

        Raises
        ------
        OptionError
            A metric has no value per list, or there is no truth.
        InputError
            The model lacks judgments of a list with human ones, or judged no other list.
        MissingExtraError
            SciPy is not installed.

        References
        ----------
        Angelopoulos, Duchi, Zrnic, *PPI++: efficient prediction-powered inference*, arXiv 2311.01453.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": range(60), "item": [1, 2, 3] * 20, "score": [1.0] * 60})
        >>> llm = df.select("user", "item", relevant=pl.col("user") % 2)
        >>> human = df.select("user", "item", relevant=pl.col("user") % 4 % 3 > 0)[:12]
        >>> found = df.rec.estimate("precision", 1, truth=human, judge=llm, undefined=0)
        >>> found.select("mean", "human_mean", "judge_mean").row(0)
        (0.5, 0.5, 0.5)
        """
        options = {"judge": judge, "confidence": confidence}
        return calls.estimate(self._frame, self._bound, metrics, k, roles, options)

    def bounds(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        grade: float | None = None,
        **roles: Any,
    ) -> Frame:
        """Return the least and the greatest value over all judgments of the items that nobody judged.

        What `truth` lacks was not judged. The bounds are exact for each list, and so are their means.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `evaluate`: `precision`, `recall`, `f1`, `fbeta`, `hit_rate`, `mrr`, `map`,
            `rbp`, `dcg` and `ndcg`.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        grade : float, optional
            The largest relevance that an unjudged item may have; without it: the largest of the truth.

        Returns
        -------
        frame
            Of the kind given: the columns of `per`, ``model`` if there are several, ``metric``, ``mean`` (what nobody
            judged is not relevant), ``least`` and ``greatest``, ``judged`` (the share of the top k that somebody
            judged), and ``lists``, those with a value as judged, over which all of these are means.

        Raises
        ------
        OptionError
            There is no truth, or the bounds of a metric are not known exactly.
        InputError
            The truth holds a relevance below 0.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [0.9, 0.8, 0.1]})
        >>> judged = pl.DataFrame({"user": [1, 1], "item": ["b", "d"], "relevant": [1, 1]})
        >>> df.rec.bounds(["precision", "recall"], k=2, truth=judged).rows()
        [('precision@2', 0.5, 0.5, 1.0, 0.5, 1), ('recall@2', 0.5, 0.3333333333333333, 0.6666666666666666, 0.5, 1)]
        """
        return calls.bounds(self._frame, self._bound, metrics, k, roles, grade)

    def changes(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        most: int | None = 20,
        items: bool = True,
        baseline: Any = None,
        **roles: Any,
    ) -> Frame:
        """Return the lists that lost and gained most between two models, and the items that did it.

        Parameters
        ----------
        metric : str or Metric
            Such as ``"ndcg"``, ``"map@10"`` or a metric of your own whose value is a sum over rows.
        k : int, optional
            The cutoff, if the metric names none.
        most : int, optional
            How many lists that lost to return at most, and how many that gained; None: all lists, unchanged ones too.
        items : bool
            Return a row for each item that changed; False: one row for each list.
        baseline : str, optional
            The model before; without it: the first of the call or of the rows.
        **roles
            As for `contributions`, with two models.

        Returns
        -------
        frame
            Of the kind given, the greatest loss first: the key, the list's value ``before`` and ``after``, the
            ``difference``, and the expected position of the first relevant item, ``first_before`` and ``first_after``.
            With `items`, a row for each item whose chance to be in the top k changed, or what it adds: ``change``
            (``"entered"``, ``"left"``, ``"stayed"``), the item, the relevance, its expected position, its chance to be
            in the top k (``top_before``, ``top_after``: 0 or 1 without ties), and its ``part`` of the difference.

        Raises
        ------
        OptionError
            There are not two models, or the metric is no sum over rows.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 1, 2, 2], "item": ["a", "b", "c", "a", "b"], "relevant": [0, 1, 0, 1, 0],
        ...     "old": [1, 3, 2, 2, 1], "new": [3, 1, 2, 2, 1],
        ... })
        >>> found = df.rec.changes("mrr", k=2, score=["old", "new"])
        >>> columns = ["user", "difference", "first_before", "first_after", "change", "item", "part"]
        >>> for row in found.select(columns).rows():
        ...     print(*row)
        1 -1.0 1.0 3.0 left b -1.0
        1 -1.0 1.0 3.0 entered a 0.0
        >>> df.rec.changes("mrr", most=None, items=False, score=["old", "new"])["difference"].to_list()
        [-0.6666666666666667, 0.0]
        """
        options = {"most": most, "items": items, "baseline": baseline}
        return calls.changes(self._frame, self._bound, metric, k, roles, options)

    def state(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        baseline: Any = None,
        cluster: str | None = None,
        items: bool = False,
        **roles: Any,
    ) -> Frame:
        """Return what the lists add up to, as a small frame to store; `recframe.merge` adds up several.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `evaluate`.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        baseline : str, optional
            The model that the others will be compared with; None: all pairs.
        cluster : str, optional
            A column whose values group lists that are not independent, such as the user of sessions. Then there is
            a row for each of its values, so that users who come back count once.
        items : bool
            Whether to keep how often each item is recommended, which metrics of all lists together need, such as
            ``"coverage"``. The state then has a row for each item, model and such metric in each segment.

        Returns
        -------
        frame
            Numbers and text, of the kind given: the columns of `per`, and a row for each metric and model
            (``kind="metric"``), each pair of models (``"pair"``), and each model with hashes of its lists' keys
            (``"lists"``). The mean of a metric is the sum of ``total`` over that of ``weight``. With `items`, also a
            row for each recommended item (``"item"``), whose ``total`` says how often.

        Raises
        ------
        OptionError
            The baseline is no model, or a metric has no value per list and `items` are not kept.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> monday = pl.DataFrame({"user": [1, 1, 2], "day": 1, "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
        >>> tuesday = pl.DataFrame({"user": [1, 1], "day": 2, "relevant": [0, 1], "score": [0.9, 0.8]})
        >>> states = [day.rec.state("mrr", by=["user", "day"]) for day in (monday, tuesday)]
        >>> pl.concat(states).filter(kind="metric").select("metric", "lists", "weight", "total").rows()
        [('mrr', 2, 2.0, 2.0), ('mrr', 1, 1.0, 0.5)]
        >>> recframe.merge(states).evaluate().item()
        0.8333333333333334
        """
        options = {"baseline": baseline, "cluster": cluster, "items": items}
        return calls.state(self._frame, self._bound, metrics, k, roles, options)

    def fuse(
        self,
        *,
        method: FusionMethod = "rrf",
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
        from recframe._comparison import fuse

        return fuse.fuse(self._frame, self._bound, name, options, roles)

    def tune(
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
            ``"condorcet"``; the last three are tried without weights too.
        folds : int
            The number of folds, from 2.
        confidence : float
            The confidence of the interval, between 0 and 1.
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
            Of the kind given, a row for each candidate, the choice first, then the best ones: ``method``,
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

        Examples
        --------
        >>> import json
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 2, 2, 3, 3, 4, 4], "relevant": [1, 0] * 4,
        ...     "words": [2, 1, 1, 2, 2, 1, 1, 2], "vectors": [0.5, 0.1, 0.3, 0.2, 0.5, 0.4, 0.9, 0.1],
        ... })
        >>> tuned = df.rec.tune("mrr", score=["words", "vectors"], methods="weighted", folds=4)
        >>> tuned.select("options", "in_sample", "folds", "out_of_fold").row(0)
        ('{"method": "weighted", "normalize": "min-max", "weights": [0.0, 1.0]}', 1.0, 4, 1.0)
        >>> fused = df.rec.fuse(score=["words", "vectors"], **json.loads(tuned["options"][0]))
        """
        given = {
            "methods": methods, "normalize": normalize, "grid": grid, "folds": folds, "confidence": confidence,
            "cluster": cluster, "seed": seed, "progress": progress,
        }  # fmt: skip
        from recframe._comparison import tune

        return tune.tune(self._frame, self._bound, metric, k, given, roles)

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
        """Return how alike the rankings of models are: one row per pair of models.

        Values are means over the lists in which both models rank an item. Where items tie, what both top k share is
        the expected value over all orders of the tied items.

        Parameters
        ----------
        k : int
            The cutoff of the first three measures.
        measures : str or sequence of str, optional
            Which of ``"overlap"``, ``"jaccard"``, ``"rbo"``, ``"kendall"`` and ``"spearman"``; None: all of these. The
            last two take most of the time. Others must be named: ``"rbo_min"``, ``"rbo_max"`` and ``"rbo_residual"``,
            ``"tau_ap"`` and ``"weighted_tau"``.
        p : float
            The persistence of the rank-biased overlap, between 0 and 1: the larger, the more lower positions count.
        confidence : float, optional
            The confidence of the intervals, between 0 and 1; None: no intervals.
        cluster : str, optional
            A column whose values group lists that are not independent, such as the user of sessions; for intervals.
        **roles
            `by`, `item`, `per`, `model` and `score` or `rank`, as for `evaluate`, with several models.

        Returns
        -------
        frame
            Of the kind given: the columns of `per`, ``model``, ``other``; ``lists`` that both rank, ``model_only`` and
            ``other_only`` that one of them ranks, ``in_both``, the share of the first, and ``correlated``, the lists
            with a rank correlation; the means over ``lists`` of ``overlap@k``, the shared items
            over the length of the longer top k; ``jaccard@k``, the shared items over those of either top k; ``rbo@k``,
            the extrapolated rank-biased overlap; ``kendall`` (tau-b) and ``spearman`` of the scores of all items that
            both models rank, missing where a model ties them all. ``rbo_min@k`` and ``rbo_max@k`` are its bounds over
            all that may follow both top k, ``rbo_residual@k`` their difference; ``tau_ap`` and ``weighted_tau`` are
            correlations in which the first positions count most. With `confidence`, each of these is followed by the
            ends of its interval, such as ``overlap@k_low`` and ``overlap@k_high``.

        Raises
        ------
        OptionError
            There is one model only.
        InputError
            An item is repeated in a list of an eager frame.
        MissingExtraError
            Intervals are requested, and SciPy is not installed.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "old": [3, 2, 1], "new": [3, 1, 2]})
        >>> df.rec.agreement(2, score=["old", "new"]).select("model", "other", "overlap@2", "spearman").row(0)
        ('old', 'new', 0.5, 0.5)
        """
        from recframe._comparison import agreement

        intervals = {"confidence": confidence, "cluster": cluster}
        return agreement.agreement(self._frame, self._bound, k, measures, p, intervals, roles)
