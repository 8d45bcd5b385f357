"""From the arguments of a comparison to its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._base.values import column_names
from recframe._call.evaluate import call_of_rows, plan_of_lists
from recframe._engines.registry import adapter_of
from recframe._inference.lists.calls import call_on_lists, names_file, warned
from recframe._inference.statistics import check_installed
from recframe.errors import OptionError, check_packages
from recframe.metrics import MRR, Recall

if TYPE_CHECKING:
    from recframe._plan.request import Request
    from recframe.metrics import Metric


def compare(request: Request, metrics: Any, k: Any, options: Any) -> Any:
    """Return which models differ, as a frame of the user's kind."""
    check_installed()
    from recframe._inference.comparison.columns import MEANS
    from recframe._inference.comparison.compare import answer_of, compare
    from recframe._inference.comparison.options import Options
    from recframe._inference.lists.baseline import Stored

    frame = request.frame
    roles = request.named
    labels = request.labels
    role = "rank" if roles.get("score") is None else "score"
    checked = Options.of(labels, **options)
    stored = None
    if checked.runs is not None:
        from recframe._inference.comparison.runs import compare_runs
        from recframe._inference.lists.runs import RunsCall

        return compare_runs(RunsCall("compare", request, metrics, k, checked.runs), checked)
    if checked.baseline is not None and names_file(checked.baseline, column_names(role, roles.get(role), labels)):
        adapter = adapter_of(frame)
        if not (adapter.eager or adapter.answers_with_rows):
            what = f"`baseline={str(checked.baseline)!r}` is a file"
            msg = f"{what}, which is compared with polars and pandas frames only"
            raise OptionError(msg, adapter.remedy)
        stored = Stored.read(checked.baseline)
    elif checked.changed is not None:
        msg = f"`changed={checked.changed!r}` is about the file of a baseline, but `baseline=` names no file"
        raise OptionError(msg, "`baseline='prod.parquet'`, which evaluate with `save='prod.parquet'` wrote")
    items = None if stored is None else stored.metadata["items"]
    plan = plan_of_lists(request, metrics, k, "compare", checked.cluster, items=items, strata=checked.strata)
    return answer_of(warned(plan, compare(plan, checked, stored), MEANS), checked)


def describe(request: Request, metrics: Any, k: Any, options: Any) -> Any:
    """Return how values spread, as a frame of the user's kind."""
    if options["runs"] is None:
        module = "recframe._inference.comparison.describe"
        return call_on_lists(module, request, metrics, k, options, ("mean",))
    check_installed()
    from recframe._inference.comparison.describe import Options
    from recframe._inference.comparison.runs import describe_runs
    from recframe._inference.lists.runs import RunsCall

    checked = Options.of(request.labels, **options)
    return describe_runs(RunsCall("describe", request, metrics, k, options["runs"]), checked)


def changes(request: Request, metric: Any, k: Any, options: Any) -> Any:
    """Return the lists that lost and gained most between two models, as a frame of the user's kind."""
    check_packages("changes", "stats", "numpy")
    from recframe._inference.comparison.changes import Options, changes
    from recframe._plan.contributions import Contributions
    from recframe._plan.sources import omitted_rows

    checked = Options.of(**options)
    call = call_of_rows(request, metric, k, "changes")
    # A metric of the whole list keeps the rows after the cutoff too, if the frame has all of them.
    metric_without_cutoff: Metric = Recall() if call.query.sampled is None else MRR()
    keeps_more_rows = not omitted_rows(call.query) and call.metric != metric_without_cutoff
    further = [metric_without_cutoff] if keeps_more_rows else []
    rows = Contributions(call.frames, call.query, call.metric, item=True, further=further)
    result = changes(rows, getattr(call.metric, "k", None), checked)
    from recframe._checks.data_warnings import warn_of_data

    # Few lists are shown, so that their values do not say whether ids match.
    warn_of_data(call.frames, call.query, rows.context, 0.0)
    return result
