"""From the arguments of a call that ranks models to its result."""

from __future__ import annotations

from typing import Any

from recframe._engines.registry import labels_of
from recframe._inference.lists.calls import call_on_lists
from recframe._inference.statistics import check_installed


def rank_models(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, named: dict[str, Any], options: Any) -> Any:
    """Return the ranks of models, as a frame of the user's kind."""
    if options["runs"] is None:
        module = "recframe._inference.ranks.rank_models"
        return call_on_lists(module, frame, bound, metrics, k, named, options, ("mean",))
    check_installed()
    from recframe._inference.lists.runs import RunsCall
    from recframe._inference.ranks.rank_models import Options
    from recframe._inference.ranks.runs import rank_models_of_runs

    checked = Options.of(labels_of(frame, {**bound, **named}.get("truth")), **options)
    return rank_models_of_runs(RunsCall("rank_models", frame, bound, metrics, k, named, options["runs"]), checked)
