"""From the arguments of a call to a state."""

from __future__ import annotations

from typing import Any

from recframe._engines.registry import labels_of
from recframe._evaluate import check_frame, plan_of_lists
from recframe._statistics import check_installed


def state(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return the sums over the lists, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._states.state import Options, state

    checked = Options.of(labels_of(frame, {**bound, **given}.get("truth")), **options)
    return state(plan_of_lists(frame, bound, metrics, k, given, "state", checked.cluster), checked)
