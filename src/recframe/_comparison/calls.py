"""From the arguments of a comparison to its result."""

from __future__ import annotations

from typing import Any

from recframe._engines.registry import labels_of
from recframe._evaluate import check_frame, plan_of_lists
from recframe._statistics import check_installed


def compare(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return which models differ, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._comparison.compare import Options, compare

    checked = Options.of(labels_of(frame, {**bound, **given}.get("truth")), **options)
    return compare(plan_of_lists(frame, bound, metrics, k, given, "compare", checked.cluster), checked)


def describe(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return how the values of lists spread, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._comparison.describe import Options, describe

    checked = Options.of(labels_of(frame, {**bound, **given}.get("truth")), **options)
    return describe(plan_of_lists(frame, bound, metrics, k, given, "describe", checked.cluster), checked)
