"""From the arguments of a call that ranks models to its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._inference.lists.calls import call_on_lists
from recframe._inference.statistics import check_installed

if TYPE_CHECKING:
    from recframe._plan.request import Request


def rank_models(request: Request, metrics: Any, k: Any, options: Any) -> Any:
    """Return the ranks of models, as a frame of the user's kind."""
    if options["runs"] is None:
        module = "recframe._inference.ranks.rank_models"
        return call_on_lists(module, request, metrics, k, options, ("mean",))
    check_installed()
    from recframe._inference.lists.runs import RunsCall
    from recframe._inference.ranks.rank_models import Options
    from recframe._inference.ranks.runs import rank_models_of_runs

    checked = Options.of(request.labels, **options)
    return rank_models_of_runs(RunsCall("rank_models", request, metrics, k, options["runs"]), checked)
