"""The namespace's methods that compare models over lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from recframe._base.methods import Methods
from recframe._inference.comparison import calls as comparisons
from recframe._plan.request import Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._data.methods import Frame
    from recframe.metrics import Metric


class ComparisonMethods(Methods):
    """Is B better than A: what `Rec` offers to compare models."""

    __slots__ = ()

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
        strata: str | None = None,
        strata_weights: Mapping[Any, float] | None = None,
        runs: str | None = None,
        resamples: int = 10_000,
        seed: int = 0,
        interval: Literal["percentile", "bca"] = "percentile",
        margin: float | str | Mapping[str, float | str] | None = None,
        planned: int = 10_000,
        relative: bool = False,
        changed: Literal["leave_out", "refuse"] | None = None,
        details: bool = False,
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
            The model that the others are compared with, or the file of a model that `evaluate` saved. Without it: all
            pairs. ``"chance"``: each model's own rows in a random order.
        test : {"t", "randomization", "bootstrap", "wilcoxon", "anytime", "anytime-bounded"}
            The test of no difference. ``"t"`` is the paired t-test, ``"randomization"`` flips signs. Only ``"anytime"``
            and ``"anytime-bounded"`` allow repeated looks at growing data: ``"anytime"`` with many lists,
            ``"anytime-bounded"`` with any number of lists, for metrics within known bounds.
        confidence : float, default 0.95
            The confidence of the interval, between 0.5 and 1.
        correction : {"holm", "bonferroni", "bh", "none", "maxt", "romano-wolf", "dunnett"}
            How p-values are adjusted for the number of tests, over all rows of the result. ``"maxt"``,
            ``"romano-wolf"`` and ``"dunnett"`` adjust the intervals too; ``"dunnett"`` is for t-tests of one baseline.
        cluster : str, optional
            A column that groups dependent lists, such as the user of sessions.
        strata : str, optional
            A column with one value per list, such as the task of a benchmark. Each of its values then counts the same.
        strata_weights : mapping, optional
            How much each value of `strata` counts, such as ``{"head": 0.1, "tail": 0.9}``.
        runs : str, optional
            A column with the training run of a row, such as its seed, for models in rows.
        resamples : int, default 10000
            How many resamples randomization and the bootstrap draw, from 100 to 1,000,000.
        seed : int, default 0
            The seed of the draws, at least 0.
        interval : {"percentile", "bca"}
            The bootstrap's interval.
        margin : float, str or mapping, optional
            How much worse still counts as not worse: a number, a share of the baseline's mean such as ``"1%"``, or a
            mapping such as ``{"ndcg@10": 0.01, "recall@10": "2%"}``.
        planned : int, default 10000
            For anytime tests: about how many lists the decision will need, the same at each look.
        relative : bool, default False
            Whether to add the relative difference with its interval, ``relative_low`` to ``relative_high``.
        changed : {"leave_out", "refuse"}, default None
            What to do with lists whose relevant rows differ from those in the file of `baseline`, or that only one side
            has. By default, they are left out with a warning if there is a truth, and an error otherwise.
        details : bool, default False
            Whether to add the columns behind the verdict: means, numbers of lists, unadjusted p-values.

        Returns
        -------
        frame
            A frame of the same kind: the columns of `per`, ``metric``, ``model``, ``difference``, ``baseline``,
            ``p_adjusted`` (the p-value after the correction), the interval ``low`` to ``high``, and ``verdict``.
            The verdict is ``"better"``, ``"worse"``, with a margin ``"not worse"`` or ``"equivalent"``, otherwise
            ``"open"``. `relative` and `details` add ``relative``, the difference over the baseline's mean. `details`
            adds ``mean``, ``baseline_mean``, ``lists`` (where both have a value), ``effective`` (how many equal lists
            or clusters they stand for), ``wins``, ``ties``, ``losses``, ``effect`` (the difference over its standard
            deviation), ``detectable`` (the smallest difference that so many lists detect with power 0.8), ``p`` (before
            the correction), ``p_margin`` (of a loss as large as the margin, after the correction), and for a baseline
            in a file ``changed``: ``"nothing"``, or which lists are left out. `runs` adds ``runs``, ``baseline_runs``
            and ``run_share``, the share of the squared standard error that comes from runs.

        Raises
        ------
        OptionError
            There is one model only, the baseline is not among them, or a metric has no value per list and the test or
            the correction needs one.
        MissingExtraError
            SciPy is not installed.

        References
        ----------
        Tests: Urbano, Lima, Hanjalic, SIGIR 2019; Waudby-Smith et al., Ann. Statist. 52, 2024; Howard et al., Ann.
        Statist. 49, 2021. Corrections: Holm, Scand. J. Statist. 6, 1979; Westfall, Young, *Resampling-based multiple
        testing*, 1993; Romano, Wolf, JASA 100, 2005; Dunnett, JASA 50, 1955. Margins: Schuirmann, J. Pharmacokinet.
        Biopharm. 15, 1987. Relative differences: Fieller, JRSS B 16, 1954. All-list metrics: Efron, Stein, Ann.
        Statist. 9, 1981.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 2, 2, 3, 3], "relevant": [0, 1, 1, 0, 0, 1],
        ...     "old": [3, 1, 1, 2, 2, 1], "new": [1, 2, 2, 1, 2, 1],
        ... })
        >>> result = df.rec.compare("mrr", score=["old", "new"])
        >>> result.select("model", "baseline", "difference", "verdict").row(0)
        ('new', 'old', 0.3333333333333333, 'open')
        """
        options = {
            "baseline": baseline, "test": test, "confidence": confidence, "correction": correction,
            "cluster": cluster, "strata": strata, "strata_weights": strata_weights, "runs": runs,
            "resamples": resamples, "seed": seed, "interval": interval, "margin": margin,
            "planned": planned, "relative": relative, "changed": changed, "details": details,
        }  # fmt: skip
        return comparisons.compare(Request(self._frame, self._bound, roles), metrics, k, options)

    def describe(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        strata: str | None = None,
        strata_weights: Mapping[Any, float] | None = None,
        runs: str | None = None,
        details: bool = False,
        **roles: Any,
    ) -> Frame:
        """Return the mean with its interval, and how the values of lists spread: one row per metric and model.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `evaluate`.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        confidence : float, default 0.95
            The confidence of the interval of the mean, between 0.5 and 1: Student's, or Wilson's for values of 0 and 1.
        cluster : str, optional
            A column that groups dependent lists, such as the user of sessions.
        strata : str, optional
            A column with one value per list, such as the task of a benchmark. Each of its values then counts the same,
            however many lists it has.
        strata_weights : mapping, optional
            How much each value of `strata` counts, such as ``{"head": 0.1, "tail": 0.9}``.
        runs : str, optional
            A column with the training run of a row, such as its seed. Values are then means over runs, and lists and
            runs are both samples.
        details : bool, default False
            Whether to add the effective number of lists, quantiles, and how many lists have the value 0 or no value.

        Returns
        -------
        frame
            A frame of the same kind: the columns of `per`, ``metric``, ``model`` if there are several, ``lists`` (with
            a value), ``mean`` with its interval ``low`` to ``high``, and ``std``. `details` adds ``effective`` (how
            many equal lists, or with `cluster` clusters, they stand for), ``min``, ``p10``, ``p25``, ``p50``, ``p75``,
            ``p90``, ``max``, ``zeros`` (the share of lists with the value 0) and ``undefined`` (lists without a value).
            With `runs`, ``runs`` and ``run_std`` (the standard deviation of their means) replace ``std``, which
            `details` adds.

        Raises
        ------
        MissingExtraError
            SciPy is not installed.

        References
        ----------
        Brown, Cai, DasGupta, *Interval estimation for a binomial proportion*, Statistical Science 16, 2001.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 2, 2], "relevant": [0, 1, 0, 0], "score": [0.9, 0.1, 0.2, 0.3]})
        >>> df.rec.describe("mrr").select("lists", "mean").row(0)
        (1, 0.5)
        >>> df.rec.describe("mrr", details=True).select("lists", "undefined", "max").row(0)
        (1, 1, 0.5)
        """
        options = {
            "confidence": confidence, "cluster": cluster, "strata": strata, "strata_weights": strata_weights,
            "runs": runs, "details": details,
        }  # fmt: skip
        return comparisons.describe(Request(self._frame, self._bound, roles), metrics, k, options)

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
        """Return the lists that lost and gained most between two models, and the items that caused it.

        Parameters
        ----------
        metric : str or Metric
            Such as ``"ndcg"``, ``"map@10"`` or a metric of your own whose value is a sum over rows.
        k : int, optional
            The cutoff, if the metric names none.
        most : int, optional
            How many lists to return at most, for losses and gains each; None: all lists, unchanged ones too.
        items : bool, default True
            Return a row for each item that changed; False: one row for each list.
        baseline : str, optional
            The model before; without it: the first of the call or of the rows.
        **roles
            As for `contributions`, with two models.

        Returns
        -------
        frame
            A frame of the same kind, the greatest loss first: the key, the list's value ``before`` and ``after``, the
            ``difference``, and ``first_before`` and ``first_after``, the expected position of the first relevant item.
            With `items`, a row for each item whose chance to be in the top k or contribution changed: ``change``
            (``"entered"``, ``"left"``, ``"stayed"``), the item, its relevance, expected position, chance to be in the
            top k (``top_before``, ``top_after``), and ``part`` of the difference.

        Raises
        ------
        OptionError
            There are not two models, or the metric is not a sum over rows.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 1, 2, 2], "item": ["a", "b", "c", "a", "b"], "relevant": [0, 1, 0, 1, 0],
        ...     "old": [1, 3, 2, 2, 1], "new": [3, 1, 2, 2, 1],
        ... })
        >>> result = df.rec.changes("mrr", k=2, score=["old", "new"])
        >>> columns = ["user", "difference", "first_before", "first_after", "change", "item", "part"]
        >>> for row in result.select(columns).rows():
        ...     print(*row)
        1 -1.0 1.0 3.0 left b -1.0
        1 -1.0 1.0 3.0 entered a 0.0
        >>> df.rec.changes("mrr", most=None, items=False, score=["old", "new"])["difference"].to_list()
        [-0.6666666666666667, 0.0]
        """
        options = {"most": most, "items": items, "baseline": baseline}
        return comparisons.changes(Request(self._frame, self._bound, roles), metric, k, options)
