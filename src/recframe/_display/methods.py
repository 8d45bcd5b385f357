"""The namespace's methods that show results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from recframe._base.methods import Methods
from recframe.errors import each_warning_once

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._display.plot import Plot
    from recframe.metrics import Metric


class DisplayMethods(Methods):
    """What `Rec` offers for people rather than programs."""

    __slots__ = ()

    @property
    def plot(self) -> Plot:
        """The charts of the frame: `curve`, `distribution`, `differences`, `segments`, `trend` and others.

        Each is a method that returns a chart of Altair, such as ``df.rec.plot.curve("ndcg")``. Roles that are bound to
        the frame hold for its charts too. The extra ``plot`` installs what they need.

        Raises
        ------
        MissingExtraError
            Altair is not installed; the error is raised by the chart, not by this attribute.
        """
        from recframe._display.plot import Plot

        return Plot(type(self), self._frame, self._bound)

    def report(
        self,
        path: Any,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        title: str | None = None,
        baseline: Any = None,
        confidence: float = 0.95,
        correction: Literal["holm", "bonferroni", "bh", "none", "maxt", "romano-wolf", "dunnett"] = "holm",
        cluster: str | None = None,
        margin: float | str | Mapping[str, float | str] | None = None,
        runs: str | None = None,
        **roles: Any,
    ) -> None:
        """Write one HTML file that shows everything: verdicts, comparisons, means, charts, checks, definitions.

        Errors and warnings of `check` come first, then the verdicts; quantiles, all findings and definitions are
        folded. The file loads nothing else, and is light or dark as its reader prefers. It needs the extra ``plot``.

        Parameters
        ----------
        path : str or path
            The file to write, ending in ``.html``; an existing file is replaced.
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `evaluate`. Charts show the first that has a value per list.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        title : str, optional
            The title of the page.
        baseline : str, optional
            The model that others are compared with; without it: all pairs are compared.
        confidence : float, default 0.95
            The confidence of all intervals, between 0.5 and 1.
        correction : {"holm", "bonferroni", "bh", "none", "maxt", "romano-wolf", "dunnett"}
            How p-values are adjusted for the number of tests.
        cluster : str, optional
            A column that groups dependent lists, such as the user of sessions.
        margin : float, str or mapping, optional
            How much worse than the baseline still counts as not worse, as for `compare`.
        runs : str, optional
            A column that says which training run a row is from, such as its seed, as for `compare`. Values of lists are
            then means over runs.
        **roles
            As for `compare`. With `per` there is a chart of segments, and one over time where it holds dates.

        Raises
        ------
        MissingExtraError
            Altair, vl-convert or SciPy is not installed.
        OptionError
            The baseline is no model, there is no such option, or the file has the ending of another format.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "old": [2, 1, 2, 1], "new": [1, 2, 2, 1],
        ... })
        >>> df.rec.report("report.html", ["ndcg", "mrr"], score=["old", "new"])  # doctest: +SKIP
        """
        from recframe._display.frames import eager_result
        from recframe._display.report import write_report
        from recframe._engines.registry import adapter_of
        from recframe._plan.request import Request

        per = roles.pop("per", self._bound.get("per"))
        bound = {name: value for name, value in self._bound.items() if name not in ("per", "partitions")}
        options = {
            "baseline": baseline,
            "confidence": confidence,
            "correction": correction,
            "cluster": cluster,
            "margin": margin,
            "runs": runs,
        }
        kind: Any = type(self)
        frame = self._frame
        if runs is not None and adapter_of(frame).postpones:
            # Runs are counted in the rows, before the calls.
            frame = eager_result(frame, "frame").to_native()
        rec = kind(frame, bound)
        with each_warning_once():
            write_report(rec, Request(frame, bound, roles), path, metrics, k, title, per, **options)
