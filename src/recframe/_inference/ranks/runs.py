"""The ranks of models that were trained several times: lists and runs are both samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._engines.postponed import is_dry
from recframe._inference.lists.calls import warned
from recframe._inference.lists.paired_sums import model_pairs
from recframe._inference.lists.result_notes import remember
from recframe._inference.lists.results import result_frame, stacked
from recframe._inference.lists.runs import RunValues, warn_of_single_runs
from recframe._inference.ranks.rank_models import Means, named_rows, rank_models
from recframe._inference.statistics.crossed import Runs, with_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recframe._inference.lists.runs import RunsCall
    from recframe._inference.ranks.rank_models import Options

    Floats = NDArray[np.float64]


def rank_models_of_runs(call: RunsCall, options: Options) -> Any:
    """Return the ranks of models, as a frame of the user's kind."""
    call.check({}, options.cluster, options.strata)
    if is_dry() or not call.rows_of_runs.several:
        plan = call.plan()
        result = rank_models(plan, options)
        if not is_dry():
            warn_of_single_runs(call.runs)
    else:
        run_values = RunValues.of(call)
        plan = run_values.plan
        columns = options.columns
        result = result_frame(
            plan, lambda: stacked(run_values.reported(), _rows(run_values, options), columns), columns
        )
        run_values.warn(call.runs)
    return remember(warned(plan, result, ("mean",)), options.confidence)


def _rows(run_values: RunValues, options: Options) -> list[dict[str, Any]]:
    """Return the rows of the result."""
    model_pairs(run_values.models, None, "rank_models")
    rows = []
    for number, metric in enumerate(run_values.plan.list_metrics):
        means = means_of_runs([run_values.table(model, number) for model in range(len(run_values.models))])
        ranks = means.ranks(options, higher_is_better=metric.higher_is_better)
        rows += named_rows(run_values.plan.context.query.averaging(metric.label).name, run_values.models, [ranks])
    return rows


def means_of_runs(tables: Sequence[Floats]) -> Means:
    """Return the means of models from their tables of lists × runs, with variances over both lists and runs."""
    tables = with_values(tables)
    values = np.column_stack([table.mean(axis=1) for table in tables])
    return Means.of(values, np.ones(values.shape)).with_runs([Runs.of(table) for table in tables])
