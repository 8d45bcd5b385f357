"""The call that makes a state of rows of several training runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._engines.postponed import is_dry
from recframe._inference.lists.runs import RunValues
from recframe._inference.states.run_rows import RunTables
from recframe._inference.states.state import state

if TYPE_CHECKING:
    from recframe._inference.lists.runs import RunsCall
    from recframe._inference.states.state import Options


def state_of_runs(call: RunsCall, options: Options) -> Any:
    """Return the sums over the lists of models and runs, as a frame of the user's kind."""
    call.check({"`items=True`": options.items}, options.cluster, None)
    if is_dry():
        return state(call.plan(), options)
    run_values = RunValues.of(call)
    names = [str(call.rows_of_runs.names[code][1]) for code in run_values.values.models]
    return state(run_values.plan, options, RunTables(run_values.values, run_values.models, run_values.runs_of, names))
