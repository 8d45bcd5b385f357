"""From the arguments of a call to ranks and numbers of lists."""

from __future__ import annotations

from typing import Any

from recframe._engines.registry import labels_of
from recframe._evaluate import check_frame, plan_of_lists
from recframe._lists.calls import warned
from recframe._statistics import check_installed


def rank_models(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return the ranks of models, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._ranks.rank_models import Options, rank_models

    checked = Options.of(labels_of(frame, {**bound, **given}.get("truth")), **options)
    plan = plan_of_lists(frame, bound, metrics, k, given, "rank_models", checked.cluster)
    return warned(plan, rank_models(plan, checked), ("mean",))


def sample_size(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return how many lists find a difference, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._ranks.sample_size import Options, sample_size

    checked = Options.of(labels_of(frame, {**bound, **given}.get("truth")), **options)
    return sample_size(plan_of_lists(frame, bound, metrics, k, given, "sample_size", checked.cluster), checked)
