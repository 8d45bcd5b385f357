"""From the arguments of a comparison to its result."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recframe._arguments import CALL_ROLES, Roles
from recframe._defaults import current
from recframe._engines.registry import adapter_of, is_lazy, labels_of
from recframe._evaluate import call_of_rows, check_frame, plan_of_lists
from recframe._files.paths import PARQUET
from recframe._statistics import check_installed
from recframe._values import as_tuple
from recframe.errors import OptionError, quoted
from recframe.metrics import MRR, Recall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._plan.plan import Plan
    from recframe.metrics import Metric


def compare(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return which models differ, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._comparison.baseline import Stored
    from recframe._comparison.compare import compare
    from recframe._comparison.options import Options

    roles = {**bound, **given}
    checked = Options.of(labels_of(frame, roles.get("truth")), **options)
    if not names_file(checked.baseline, roles.get("score") or roles.get("rank")):
        if checked.changed is not None:
            msg = f"changed={checked.changed!r} is about the file of a baseline, but none is given"
            raise OptionError(msg, "baseline='prod.parquet', which evaluate with save='prod.parquet' wrote")
        plan = plan_of_lists(frame, bound, metrics, k, given, "compare", checked.cluster)
        return _warned(plan, compare(plan, checked), ("mean", "baseline_mean"))
    adapter = adapter_of(frame)
    if not (adapter.eager or adapter.answers_with_rows):
        msg = f"baseline={str(checked.baseline)!r} is a file, whose lists meet those of polars or pandas frames only"
        raise OptionError(msg, adapter.remedy)
    stored = Stored.read(checked.baseline)
    plan = plan_of_lists(frame, bound, metrics, k, given, "compare", checked.cluster, items=stored.about["items"])
    return _warned(plan, compare(plan, checked, stored), ("mean", "baseline_mean"))


def sample_size(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return how many lists find a difference, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._comparison.sample_size import Options, sample_size

    checked = Options.of(labels_of(frame, {**bound, **given}.get("truth")), **options)
    return sample_size(plan_of_lists(frame, bound, metrics, k, given, "sample_size", checked.cluster), checked)


def rank_models(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return the ranks of models, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._comparison.rank_models import Options, rank_models

    checked = Options.of(labels_of(frame, {**bound, **given}.get("truth")), **options)
    plan = plan_of_lists(frame, bound, metrics, k, given, "rank_models", checked.cluster)
    return _warned(plan, rank_models(plan, checked), ("mean",))


def estimate(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return means from human and model judgments, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._comparison.estimate import check_frames, estimate

    check_frames({**bound, **given}.get("truth"), options["judge"])
    human, judge = (
        plan_of_lists(frame, bound, metrics, k, {**given, **truth}, "estimate", None)
        for truth in ({}, {"truth": options["judge"]})
    )
    # Most lists have no human judgments: what the model judged tells whether ids match.
    return _warned(judge, estimate(human, judge, options["confidence"]), ("judge_mean",))


def bounds(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], grade: Any) -> Any:
    """Return the least and the greatest value over all judgments of unjudged items, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._comparison.bounds import bounds

    if {**bound, **given}.get("truth") is None:
        msg = "bounds needs truth=, the judgments: what it lacks was not judged"
        raise OptionError(msg, "bounds('ndcg', 10, truth=judged)")
    plan = plan_of_lists(frame, bound, metrics, k, given, "bounds", None, items=True)
    return _warned(plan, bounds(plan, grade), ("mean",))


def names_file(baseline: Any, models: Any) -> bool:
    """Return whether a baseline is a file, and not one of the columns of models."""
    if isinstance(baseline, os.PathLike):
        return True
    if not isinstance(baseline, str) or baseline in as_tuple(models):
        return False
    ending = Path(baseline).suffix.lower()
    return ending in PARQUET or (bool(ending) and "\0" not in baseline and Path(baseline).is_file())


def save(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], path: Path) -> None:
    """Write the values of lists as a baseline."""
    from recframe._comparison.baseline import save

    if is_lazy(frame):
        msg = f"save={str(path)!r} writes values, but a lazy frame has none yet"
        raise OptionError(msg, adapter_of(frame).remedy)
    for roles in (current(), bound, given):
        if roles.get("mean", "arithmetic") != "arithmetic":
            msg = f"mean={quoted(roles['mean'])} does not go with save=: comparisons are of arithmetic means"
            raise OptionError(msg, "leave one of them out")
    given = {name: value for name, value in given.items() if name in CALL_ROLES["compare"]}
    items = {**current(), **bound, **given}.get("item", Roles.item) in adapter_of(frame).names(frame)
    save(plan_of_lists(frame, bound, metrics, k, given, "compare", None, items=items), path)


def check_save(path: Any) -> Path:
    """Return the file of a baseline to write, or raise before any work."""
    check_installed()
    from recframe._comparison.baseline import check_save

    return check_save(path)


def describe(frame: Any, bound: dict[str, Any], metrics: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return how the values of lists spread, as a frame of the kind given."""
    check_frame(frame)
    check_installed()
    from recframe._comparison.describe import Options, describe

    checked = Options.of(labels_of(frame, {**bound, **given}.get("truth")), **options)
    plan = plan_of_lists(frame, bound, metrics, k, given, "describe", checked.cluster)
    return _warned(plan, describe(plan, checked), ("mean",))


def changes(frame: Any, bound: dict[str, Any], metric: Any, k: Any, given: dict[str, Any], options: Any) -> Any:
    """Return the lists that lost and gained most between two models, as a frame of the kind given."""
    from recframe._comparison.changes import Options, changes
    from recframe._plan.contributions import Contributions
    from recframe._plan.sources import omitted_rows

    checked = Options.of(**options)
    opened, query, record, _ = call_of_rows(frame, bound, metric, k, given, "changes")
    # A metric of the whole list keeps the rows after the cutoff too, if the frame has all of them.
    whole: Metric = Recall() if query.sampled is None else MRR()
    further = [] if omitted_rows(query) or record == whole else [whole]
    rows = Contributions(opened, query, record, item=True, further=further)
    result = changes(rows, getattr(record, "k", None), checked)
    from recframe._checks.data_warnings import warn_of_data

    # Few lists are shown, so that their values do not say whether ids match.
    warn_of_data(opened, query, rows.context, 0.0)
    return result


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
