"""From the arguments of a comparison to its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._engines.registry import labels_of
from recframe._evaluate import check_frame, plan_of_lists
from recframe._statistics import check_installed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._plan.plan import Plan


def compare(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return which models differ, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._comparison.compare import Options, compare

    checked = Options.of(labels_of(frame, {**bound, **given}.get("truth")), **options)
    plan = plan_of_lists(frame, bound, metrics, k, given, "compare", checked.cluster)
    return _warned(plan, compare(plan, checked), ("mean", "baseline_mean"))


def describe(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return how the values of lists spread, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._comparison.describe import Options, describe

    checked = Options.of(labels_of(frame, {**bound, **given}.get("truth")), **options)
    plan = plan_of_lists(frame, bound, metrics, k, given, "describe", checked.cluster)
    return _warned(plan, describe(plan, checked), ("mean",))


def state(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return the sums over the lists, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._comparison.state import Options, state

    checked = Options.of(labels_of(frame, {**bound, **given}.get("truth")), **options)
    return state(plan_of_lists(frame, bound, metrics, k, given, "state", checked.cluster), checked)


def _warned(plan: Plan, result: Any, means: Sequence[str]) -> Any:
    """Return a result, after a warning where its numbers may mean nothing."""
    from recframe._checks.data_warnings import warn_of_data

    warn_of_data(plan.given, plan.context.query, plan.context, result, means)
    return result
