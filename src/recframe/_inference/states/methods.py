"""The namespace's methods that make states, and the function that adds them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._base.methods import Methods
from recframe._base.signatures import checked_call
from recframe._inference.lists import calls
from recframe._inference.statistics import check_installed
from recframe._plan.request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._data.methods import Frame
    from recframe._inference.states.merged import Merged
    from recframe.metrics import Metric


class StateMethods(Methods):
    """Sums to store: what `Rec` offers for data in parts."""

    __slots__ = ()

    def state(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        baseline: Any = None,
        cluster: str | None = None,
        items: bool = False,
        runs: str | None = None,
        **roles: Any,
    ) -> Frame:
        """Return sums over the lists as a small frame to store, which `recframe.merge_states` adds to other states.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names and metric objects, as for `evaluate`.
        k : int or sequence of int, optional
            The cutoffs of metrics that name none; None: the whole list.
        baseline : str, optional
            The model that the others will be compared with; None: all pairs.
        cluster : str, optional
            A column that groups dependent lists, such as the user of sessions. Users who come back then count once.
        items : bool, default False
            Whether to keep how often each item is recommended, which all-list metrics such as ``"coverage"`` need. This
            adds a row for each item, model and such metric in each segment.
        runs : str, optional
            A column that says which training run a row is from, such as its seed, for models in rows. Merged states
            then count lists and runs as samples.

        Returns
        -------
        frame
            A frame of the same kind: the columns of `per`, and a row for each metric and model (``kind="metric"``),
            each pair of models (``"pair"``), each model with hashes of its lists' keys (``"lists"``), and with `items`
            each recommended item (``"item"``), with ``total`` how often, with `runs` each run (``"run"``). A metric's
            mean is the sum of ``total`` divided by the sum of ``weight``.

        Raises
        ------
        OptionError
            The baseline is not a model, or a metric has no value per list and `items` are not kept.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> monday = pl.DataFrame({"user": [1, 1, 2], "day": 1, "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
        >>> tuesday = pl.DataFrame({"user": [1, 1], "day": 2, "relevant": [0, 1], "score": [0.9, 0.8]})
        >>> states = [day.rec.state("mrr", by=["user", "day"]) for day in (monday, tuesday)]
        >>> pl.concat(states).filter(kind="metric").select("metric", "lists", "weight", "total").rows()
        [('mrr', 2, 2.0, 2.0), ('mrr', 1, 1.0, 0.5)]
        >>> recframe.merge_states(states).evaluate().item()
        0.8333333333333334
        """
        options = {"baseline": baseline, "cluster": cluster, "items": items, "runs": runs}
        request = Request(self._frame, self._bound, roles)
        if runs is None:
            module = "recframe._inference.states.state"
            return calls.call_on_lists(module, request, metrics, k, options, ("total",))
        check_installed()
        from recframe._inference.lists.runs import RunsCall
        from recframe._inference.states.runs import state_of_runs
        from recframe._inference.states.state import Options

        checked = Options.of(request.labels, **options)
        return state_of_runs(RunsCall("state", request, metrics, k, runs), checked)


@checked_call
def merge_states(*states: Any, per: str | Sequence[str] | None = None) -> Merged:
    """Add up states, so that results equal one call on all of their lists.

    Parameters
    ----------
    *states : frame or sequence of frames
        What `state` returned, on one or several frames; one frame may hold several states.
    per : str or sequence of str, optional
        The columns to report by: columns of the states' `per`, or columns that you added to the states. None: all of
        these; ``[]``: all lists together.

    Returns
    -------
    Merged
        It has the methods `evaluate`, `describe`, `compare`, `rank_models`, `sample_size` and `state`.

    Raises
    ------
    InputError
        States differ in their definition or version, share a list, or lack rows of a metric or model. Keys of different
        types are different lists: a date and a time, decimals of two scales, times in two zones.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> days = pl.DataFrame({
    ...     "user": [1, 1, 2, 2, 3, 3], "day": [1, 1, 1, 1, 2, 2], "relevant": [0, 1, 1, 0, 0, 1],
    ...     "old": [3, 1, 1, 2, 2, 1], "new": [1, 2, 2, 1, 2, 1],
    ... })
    >>> parts = [part.rec.state("mrr", score=["old", "new"]) for part in days.partition_by("day")]
    >>> recframe.merge_states(parts).evaluate().rows()
    [('old', 0.5), ('new', 0.8333333333333334)]
    >>> recframe.merge_states(parts).compare().select("difference", "verdict").row(0)
    (0.3333333333333333, 'open')
    """
    check_installed()
    # They import NumPy, which polars does not bring.
    from recframe._inference.states.merged import Merged
    from recframe._inference.states.merging import read_states

    return Merged(read_states(states, per))
