"""From the arguments of a call that ranks models to its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._inference.lists.calls import call_on_lists, plan_of_data
from recframe._inference.statistics import check_installed

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def power_curve(request: Request, metric: Any, k: Any, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the power of the test of each pair of models at numbers of lists."""
    check_installed()
    from recframe._inference.ranks.sample_size import Options, power_curve

    checked = Options.of(request.labels, **options)
    return power_curve(plan_of_data(request, metric, k, checked.cluster), checked)
