"""The namespace's methods for incomplete judgments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recframe._base.methods import Methods
from recframe._call.evaluate import plan_of_lists
from recframe._inference.lists import calls
from recframe._inference.statistics import check_installed
from recframe._plan.request import Request
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._data.methods import Frame
    from recframe.metrics import Metric


class JudgmentMethods(Methods):
    """The methods of `Rec` for partly judged data."""

    __slots__ = ()

    def estimate_with_judge(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        judge: Any,
        confidence: float = 0.95,
        **roles: Any,
    ) -> Frame:
        """Return means from human judgments of some lists (`truth`) and a model's judgments of these and many others.

        The result estimates the mean that human judgments of all lists would give, by prediction-powered inference. The
        lists with human judgments must be a random sample of the lists that the model judged.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `evaluate`, that have a value per list.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        judge : frame
            A model's judgments, such as an LLM's, of all lists in `truth` and more lists, in the same columns.
        confidence : float, default 0.95
            The confidence of the intervals, between 0.5 and 1.

        Returns
        -------
        frame
            A frame of the same kind: the columns of `per`, ``model`` if there are several, and ``metric``. ``mean`` is
            the estimate from both kinds of judgments, with the interval ``low`` to ``high``; ``human_mean``, with
            ``human_low`` and ``human_high``, is from human judgments alone, and ``judge_mean`` from the judge alone.
            ``human_lists`` and ``judge_lists`` count the lists that each judged. ``judge_weight``, from 0 to 1, says
            how much the judge counts; with 0, the estimate uses the human judgments alone. ``kappa``, with
            ``kappa_low`` and ``kappa_high`` (a jackknife over lists), is Cohen's kappa with quadratic weights on the
            items that both judged, as in scikit-learn for grades 0, 1, 2, … With several models, ``same_order`` says
            whether the judge puts all other models on the same side of a model, better or worse, as humans do on the
            same lists.

        Raises
        ------
        OptionError
            A metric has no value per list, or there is no truth.
        InputError
            The model lacks judgments of a list that humans judged, or judged no other list.
        MissingExtraError
            SciPy is not installed.

        References
        ----------
        Angelopoulos, Duchi, Zrnic, *PPI++*, arXiv 2311.01453; Cohen, *Weighted kappa*, Psychological Bulletin 70, 1968.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": range(60), "item": [1, 2, 3] * 20, "score": [1.0] * 60})
        >>> llm = df.select("user", "item", relevant=pl.col("user") % 2)
        >>> human = df.select("user", "item", relevant=pl.col("user") % 4 % 3 > 0)[:12]
        >>> result = df.rec.estimate_with_judge("precision", 1, truth=human, judge=llm, undefined=0)
        >>> result.select("mean", "human_mean", "judge_mean").row(0)
        (0.5, 0.5, 0.5)
        >>> [round(result[name].item(), 4) for name in ("kappa", "kappa_low", "kappa_high")]
        [0.0, -0.6209, 0.6209]
        """
        check_installed()
        from recframe._inference.judgments.estimate import check_frames, estimate_with_judge

        with_truth = Request(self._frame, self._bound, roles)
        with_judge = replace(with_truth, roles={**roles, "truth": judge})
        check_frames(with_truth.named.get("truth"), judge)
        by_human, by_judge = (
            plan_of_lists(request, metrics, k, "estimate_with_judge", None, items=True)
            for request in (with_truth, with_judge)
        )
        # Most lists have no human judgments, so the warning about ids that do not match looks at the model's judgments.
        result = estimate_with_judge(by_human, by_judge, confidence)
        return calls.warned(by_judge, result, ("judge_mean",), other_truth=by_human.frames.truth)

    def bounds(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        grade: float | None = None,
        **roles: Any,
    ) -> Frame:
        """Return the least and the greatest value over all judgments of unjudged items.

        An item is unjudged if `truth` lacks it. The bounds are exact for each list, and so are their means.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `evaluate`: `precision`, `recall`, `f1`, `fbeta`, `hit_rate`, `mrr`, `map`,
            `rbp`, `dcg` and `ndcg`.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        grade : float, optional
            The largest relevance that an unjudged item may have; without it: the largest relevance in `truth`.

        Returns
        -------
        frame
            A frame of the same kind: the columns of `per`, ``model`` if there are several, and ``metric``. ``mean``
            counts unjudged items as irrelevant. ``least`` and ``greatest`` are its bounds. ``judged`` is the share of
            judged items in the top k. ``lists`` is the number of lists with a value, over which all of these are means.

        Raises
        ------
        OptionError
            There is no truth, or the bounds of a metric are not known exactly.
        InputError
            The truth holds a relevance below 0.

        References
        ----------
        Moffat, Zobel, TOIS 27, 2008, on residuals.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [0.9, 0.8, 0.1]})
        >>> judged = pl.DataFrame({"user": [1, 1], "item": ["b", "d"], "relevant": [1, 1]})
        >>> df.rec.bounds(["precision", "recall"], k=2, truth=judged).rows()
        [('precision@2', 0.5, 0.5, 1.0, 0.5, 1), ('recall@2', 0.5, 0.3333333333333333, 0.6666666666666666, 0.5, 1)]
        """
        check_installed()
        from recframe._inference.judgments.bounds import bounds

        request = Request(self._frame, self._bound, roles)
        if request.named.get("truth") is None:
            msg = "bounds needs `truth=`, the judgments: items that it lacks are unjudged"
            raise OptionError(msg, "`truth=judged`, the frame of judgments")
        plan = plan_of_lists(request, metrics, k, "bounds", None, items=True)
        return calls.warned(plan, bounds(plan, grade), ("mean",))
