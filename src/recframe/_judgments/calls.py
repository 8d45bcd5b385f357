"""From the arguments of a call to bounds and estimates."""

from __future__ import annotations

from typing import Any

from recframe._evaluate import plan_of_lists
from recframe._lists.calls import warned
from recframe._statistics import check_installed
from recframe.errors import OptionError


def estimate(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return means from human and model judgments, as a frame of the kind given."""
    check_installed()
    from recframe._judgments.estimate import check_frames, estimate

    check_frames({**bound, **given}.get("truth"), options["judge"])
    human, judge = (
        plan_of_lists(frame, bound, metrics, k, {**given, **truth}, "estimate", None)
        for truth in ({}, {"truth": options["judge"]})
    )
    # Most lists have no human judgments: what the model judged tells whether ids match.
    return warned(judge, estimate(human, judge, options["confidence"]), ("judge_mean",))


def bounds(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], grade: Any) -> Any:
    """Return the least and the greatest value over all judgments of unjudged items, as a frame of the kind given."""
    check_installed()
    from recframe._judgments.bounds import bounds

    if {**bound, **given}.get("truth") is None:
        msg = "bounds needs truth=, the judgments: what it lacks was not judged"
        raise OptionError(msg, "bounds('ndcg', 10, truth=judged)")
    plan = plan_of_lists(frame, bound, metrics, k, given, "bounds", None, items=True)
    return warned(plan, bounds(plan, grade), ("mean",))
