"""Entry points of calls that read the values of lists: run such a call, or save its values as a baseline."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recframe._base.defaults import current
from recframe._base.roles import CALL_ROLES, Roles
from recframe._base.values import as_tuple
from recframe._call.cached_calls import with_expressions
from recframe._call.evaluate import plan_of_lists
from recframe._data.files.paths import PARQUET
from recframe._engines.registry import adapter_of, is_lazy
from recframe._inference.statistics import check_installed
from recframe._plan.request import Request
from recframe.errors import OptionError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._plan.plan import Plan


def names_file(baseline: Any, models: Any) -> bool:
    """Return whether `baseline=` names a file instead of a model."""
    if isinstance(baseline, os.PathLike):
        return True
    if not isinstance(baseline, str) or baseline in as_tuple(models):
        return False
    ending = Path(baseline).suffix.lower()
    return ending in PARQUET or (bool(ending) and "\0" not in baseline and Path(baseline).is_file())


def save(request: Request, metrics: Any, k: Any, path: Path) -> None:
    """Write the values of a call's lists to a file of a baseline."""
    from recframe._inference.lists.baseline import save

    for roles in (current(), request.bound, request.roles):
        if roles.get("mean", "arithmetic") != "arithmetic":
            msg = f"`mean={quoted(roles['mean'])}` does not go with `save=`: only arithmetic means can be compared"
            raise OptionError(msg, "leave one of them out")
    roles_of_compare = {name: value for name, value in request.roles.items() if name in CALL_ROLES["compare"]}
    request = replace(request, roles=roles_of_compare)
    item = {**current(), **request.named}.get("item", Roles.item)
    items = item in adapter_of(request.frame).names(request.frame)
    save(plan_of_lists(request, metrics, k, "compare", None, items=items), path)


def check_eager(frame: Any, path: Any) -> None:
    """Raise for a lazy frame, which has no values to write."""
    if is_lazy(frame):
        msg = f"`save={str(path)!r}` writes values, but a lazy frame has none yet"
        raise OptionError(msg, adapter_of(frame).remedy)


def check_save(path: Any) -> Path:
    """Return the path in `save=`, or raise if no baseline can be written there."""
    check_installed()
    from recframe._inference.lists.baseline import check_save

    return check_save(path)


def call_on_lists(
    module: str, request: Request, metrics: Any, k: Any, options: dict[str, Any], means: Sequence[str]
) -> Any:
    """Return the result of a call that reads the values of lists, as a frame of the user's kind.

    Parameters
    ----------
    module : str
        The module of the call. It has a function with the module's name, and `Options`, which check the arguments.
    request, metrics, k
        As for `plan_of_lists`.
    options : dict
        The arguments of this call beside the roles.
    means : sequence of str
        The result's columns of means, or of other numbers that are 0 or missing if each mean is 0. The data warnings
        look at them: if one is 0, ids may never match.
    """
    check_installed()
    call = module.rpartition(".")[2]
    call_module = import_module(module)
    checked = call_module.Options.of(request.labels, **options)
    strata = getattr(checked, "strata", None)
    plan = plan_of_lists(request, metrics, k, call, checked.cluster, strata=strata)
    result = getattr(call_module, call)(plan, checked)
    return warned(plan, result, means)


def plan_of_data(request: Request, metrics: Any, k: Any, cluster: str | None) -> Plan:
    """Return the plan of a call that reads the data at once, so it checks lazy frames as it does eager ones."""
    check_installed()
    frame, roles, _ = with_expressions(request.frame, request.roles, request.bound)
    call = (frame, dict(request.bound), dict(roles), metrics, k, cluster)
    plan: Plan = adapter_of(request.frame).made_now(_plan_of_frames, *call)
    return plan


def _plan_of_frames(
    frame: Any, bound: Mapping[str, Any], roles: Mapping[str, Any], metrics: Any, k: Any, cluster: str | None
) -> Plan:
    """Return the plan of a call; its frames are arguments, so that lazy ones can be replaced by their rows."""
    return plan_of_lists(Request(frame, bound, roles), metrics, k, "describe", cluster)


def warned(plan: Plan, result: Any, means: Sequence[str], other_truth: Any = None) -> Any:
    """Return a result unchanged, after warnings if the data make its numbers meaningless."""
    from recframe._checks.data_warnings import warn_of_data

    warn_of_data(plan.frames, plan.context.query, plan.context, result, means, other_truth=other_truth)
    return result
