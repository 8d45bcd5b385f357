"""From the arguments of a call to its answer. The plan and its kin are imported by the first call that needs them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import fields, replace
from inspect import Parameter, Signature, cleandoc
from typing import TYPE_CHECKING, Any

from recframe._arguments import ALL_ROLES, CALL_ROLES, Roles, roles_of
from recframe._defaults import current
from recframe._engines.registry import adapter_of, is_lazy
from recframe._given_frames import given_frames
from recframe._query import policies_named, resolved
from recframe._signatures import role_parameters, roles_doc
from recframe._values import check_names, flag
from recframe.errors import OptionError, OptionTypeError, UndefinedWarning, quoted, stack_level
from recframe.metrics import Metric, make
from recframe.metrics._beyond_accuracy import ExposureMetric
from recframe.metrics._record import CutMetric, check_k, spelled
from recframe.profiles._record import by_level, query_of
from recframe.profiles._spec import Spec, as_written, spec_of, specs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recframe._given_frames import Given
    from recframe._plan.plan import Plan
    from recframe._query import Query
    from recframe.profiles._record import Profile


def bind(bound: Mapping[str, Any], roles: Mapping[str, Any], unnamed: Sequence[object] = ()) -> dict[str, Any]:
    """Return the bound roles with new ones added; raise for a value without the name of its role."""
    if unnamed:
        msg = f"{quoted(unnamed[0])} lacks the name of its role"
        raise OptionTypeError(msg, "name it: df.rec(by='user')")
    check_names(list(roles), ALL_ROLES)
    return {**bound, **roles}


def measure(frame: Any, bound: dict[str, Any], metric: str | Metric, given: dict[str, Any]) -> Any:
    """Return one metric of one ranking: a float, or a frame where `per` is given or the frame is lazy."""
    return _measure(frame, bound, spec_of(metric), given)


def _measure(frame: Any, bound: dict[str, Any], spec: Spec, given: dict[str, Any]) -> Any:
    check_frame(frame)
    _check_options(given, spec.metric)
    roles = _roles(frame, bound, given, ALL_ROLES)
    metrics, query = _query_of(frame, [spec], roles, policies_named(bound, given))
    if query.several:
        what = f"model={roles.model!r}" if roles.model is not None else f"score={query.orders!r}"
        msg = f"{what} names several models, but a metric's method accepts one"
        raise OptionError(msg, f"evaluate([{spec.name!r}], ...)")
    opened = given_frames(frame, roles, metrics)
    if roles.partitions is not None:
        return _in_parts(opened, roles, query, metrics)
    from recframe._plan.plan import Plan

    plan = Plan(opened, query, metrics)
    if query.per or is_lazy(frame):
        return _answer(plan, opened, query)
    value = plan.scalar()
    from recframe._checks.data_warnings import warn_of_data

    warn_of_data(opened, query, plan.context, value)
    if math.isnan(value):
        msg = f"no list has a value of {spec.name}, {spec.metric.undefined_reason()}"
        warnings.warn(msg, UndefinedWarning, stacklevel=stack_level())
    return value


def evaluate(
    frame: Any,
    bound: dict[str, Any],
    metrics: str | Metric | Sequence[str | Metric],
    k: int | Sequence[int | None] | None,
    given: dict[str, Any],
    *,
    counts: bool,
    chance: bool,
) -> Any:
    """Return many metrics, cutoffs and models as a frame of the kind given."""
    check_frame(frame)
    _check_options(given, metrics)
    roles = _roles(frame, bound, given, ALL_ROLES)
    specs = expand(metrics, k, roles.like)
    named = policies_named(bound, given)
    levels = by_level(specs, roles, named)
    chance = flag("chance", chance)
    if len(levels) > 1:
        _check_levels(roles, counts=counts, chance=chance)
        plans = [_plan(frame, some, roles, named) for some in levels]
        return _side_by_side(plans, specs)
    records, query = _query_of(frame, specs, roles, named)
    if flag("counts", counts):
        _check_counts(records, roles, frame)
        query = replace(query, counts=True, every_list=True)
    opened = given_frames(frame, roles, records)
    if chance:
        return _with_chance(opened, roles, query, records)
    if roles.partitions is not None:
        return _in_parts(opened, roles, query, records)
    from recframe._plan.plan import Plan

    return _answer(Plan(opened, query, records), opened, query)


def _with_chance(given: Given, roles: Roles, query: Query, metrics: Sequence[Metric]) -> Any:
    """Return the result of a call with its chance levels, after a warning where its numbers may mean nothing."""
    if roles.partitions is not None:
        msg = f"chance=True does not go with partitions={quoted(roles.partitions)}"
        raise OptionError(msg, "leave partitions= out, or make one call without chance=")
    from recframe._checks.data_warnings import warn_of_data
    from recframe._plan.chance import with_chance

    plan, result = with_chance(given, query, metrics)
    warn_of_data(given, query, plan.context, result)
    return result


def _check_counts(metrics: Sequence[Metric], roles: Roles, frame: Any) -> None:
    """Raise where lists with a value cannot be counted."""
    if metrics and all(isinstance(metric, ExposureMetric) for metric in metrics):
        msg = f"counts=True counts lists with a value, but {metrics[0].label} is one value of all lists together"
        raise OptionError(msg, "add a metric that has a value per list, such as 'ndcg'")
    if roles.partitions is not None and adapter_of(frame).partitions == "on workers":
        msg = f"counts=True does not go with partitions={quoted(roles.partitions)} on Spark's workers"
        raise OptionError(msg, "leave partitions= out")


def _check_levels(roles: Roles, *, counts: bool, chance: bool) -> None:
    """Raise for what a call with several levels of relevance does not give."""
    argument = "counts=True" if flag("counts", counts) else f"partitions={quoted(roles.partitions)}"
    argument = "chance=True" if chance else argument
    if counts or chance or roles.partitions is not None:
        msg = f"{argument} does not go with metrics of several levels of relevance"
        raise OptionError(msg, "make one call for each level")


def _plan(frame: Any, specs: Sequence[Spec], roles: Roles, named: Sequence[str]) -> Plan:
    """Return the plan of metrics."""
    records, query = _query_of(frame, specs, roles, named)
    from recframe._plan.plan import Plan

    return Plan(given_frames(frame, roles, records), query, records)


def _side_by_side(plans: Sequence[Plan], specs: Sequence[Spec]) -> Any:
    """Return the result of several levels of relevance, after a warning where its numbers may mean nothing."""
    from recframe._checks.data_warnings import warn_of_data
    from recframe._plan.levels import side_by_side

    liked = plans[0].context.query.like is not None
    result = side_by_side(plans, [spec.name if liked else spec.label for spec in specs])
    for plan in plans:
        warn_of_data(plan.given, plan.context.query, plan.context, result)
    return result


def _answer(plan: Plan, given: Given, query: Query) -> Any:
    """Return the result of a plan as a frame, after a warning where its numbers may mean nothing."""
    from recframe._checks.data_warnings import warn_of_data

    result = plan.frame()
    warn_of_data(given, query, plan.context, result)
    return result


def plan_of_lists(
    frame: Any,
    bound: dict[str, Any],
    metrics: Any,
    k: Any,
    given: dict[str, Any],
    call: str,
    cluster: str | None,
    *,
    items: bool | None = None,
) -> Plan:
    """Return the plan of a call that looks at the values of lists: of every list, if it says whether to read items."""
    mean = {**current(), **bound}.get("mean", "arithmetic")
    if mean != "arithmetic":
        msg = f"mean={quoted(mean)} is bound, but {call} looks at arithmetic means"
        raise OptionError(msg, "bind mean='arithmetic', or use evaluate, which accepts other means")
    bound = {name: value for name, value in bound.items() if name in CALL_ROLES[call]}
    roles = _roles(frame, bound, given, CALL_ROLES[call])
    records, query = _query_of(frame, expand(metrics, k, roles.like), roles, policies_named(bound, given))
    from recframe._plan.plan import Plan

    return Plan(
        given_frames(frame, roles, records),
        replace(query, cluster=cluster, every_list=call in ("describe", "state") or items is not None),
        records,
        item=bool(items),
    )


def check(frame: Any, bound: dict[str, Any], k: int | None, given: dict[str, Any], *, strict: bool) -> Any:
    """Return the findings in a frame, as a frame of the kind given."""
    check_frame(frame)
    from recframe._checks.check import check as checked

    return checked(frame, bound, k, given, strict=strict)


def contributions(frame: Any, bound: dict[str, Any], metric: str | Metric, k: int | None, given: dict[str, Any]) -> Any:
    """Return what each ranked row adds to its list's value, as a frame of the kind given."""
    from recframe._plan.contributions import Contributions

    opened, query, record, show = call_of_rows(frame, bound, metric, k, given, "contributions")
    rows = Contributions(opened, query, record, item=show)
    result = rows.frame()
    from recframe._checks.data_warnings import warn_of_data

    warn_of_data(opened, query, rows.context, result)
    return result


def call_of_rows(
    frame: Any, bound: dict[str, Any], metric: str | Metric, k: int | None, given: dict[str, Any], call: str
) -> tuple[Given, Query, Metric, bool]:
    """Return the frames, the query and the metric of a call about rows, and whether the item is there to be shown."""
    check_frame(frame)
    if not isinstance(as_written(metric), str | Metric):
        msg = f"metric={quoted(metric)} is not one metric"
        raise OptionTypeError(msg, f"{call}('ndcg', k=5)")
    _check_options(given, metric)
    named = {name: value for name, value in bound.items() if name in CALL_ROLES[call]} | given
    item = current().get("item", Roles.item)
    show = "item" in named or is_lazy(frame) or item in adapter_of(frame).names(frame)
    if call == "contributions" and "item" in named and named["item"] is None:
        show, named = False, {name: value for name, value in named.items() if name != "item"}
    given = {name: value for name, value in given.items() if name in named}
    bound = {name: value for name, value in bound.items() if name in named}
    roles = _roles(frame, bound, given, CALL_ROLES[call])
    (record,), query = _query_of(frame, expand(metric, check_k(k), roles.like), roles, policies_named({}, named))
    return given_frames(frame, roles, [record]), query, record, show


def _check_options(given: Mapping[str, Any], metrics: Any) -> None:
    """Raise for an option of a metric that is given to the call."""
    unknown = [name for name in given if name not in ALL_ROLES]
    several = isinstance(metrics, Sequence) and not isinstance(metrics, str)
    for spec in map(spec_of, (metrics if several else [metrics]) if unknown else ()):
        for name in unknown:
            if name != "k" and any(field.name == name for field in fields(spec.metric)):
                own = {**spec.given, name: given[name] if isinstance(given[name], str) else quoted(given[name])}
                msg = f"{name}={quoted(given[name])} is an option of {spec.metric.name}, not an argument of the call"
                raise OptionTypeError(msg, repr(spelled(spec.metric.name, own, getattr(spec.metric, "k", None))))


def _roles(frame: Any, bound: Mapping[str, Any], given: Mapping[str, Any], allowed: Sequence[str]) -> Roles:
    """Return the roles of a call, whose columns may have the labels of its frames."""
    return resolved([frame, {**bound, **given}.get("truth")], bound, given, allowed)


def _query_of(frame: Any, specs: Sequence[Spec], roles: Roles, given: Sequence[str]) -> tuple[list[Metric], Query]:
    """Return the metrics and the query, under the profile that the call names."""
    metrics, query = query_of(specs, roles, given, _profiles())
    if roles.like is not None and query.ties == "first" and "ties" not in given and is_lazy(frame):
        msg = f"like={roles.like!r} breaks ties by row order, which a lazy frame does not have"
        raise OptionError(msg, "give another policy too, such as ties='average'")
    return metrics, query


def _profiles() -> Mapping[str, Profile]:
    # As late as the plan: it imports every library's definitions.
    from recframe.profiles._builtin import PROFILES

    return PROFILES


def method(kind: type[Metric]) -> Callable[..., Any]:
    """Return the accessor's method for a metric, with its signature and documentation."""
    options, roles = [field.name for field in fields(kind)], roles_of(kind)

    def call(self: Any, *args: Any, **given: Any) -> Any:
        if args and (len(args) > 1 or "k" in given or not issubclass(kind, CutMetric)):
            accepts = "only k may be given by position" if issubclass(kind, CutMetric) else "it accepts no k"
            msg = f"{kind.name}{args!r}: {accepts}"
            raise OptionTypeError(msg, f"name the other arguments, as in {kind.name}(by='object')")
        own = {name: given.pop(name) for name in options if name in given}
        unknown = [name for name in given if name not in (*roles, "model")]
        # Only k is positional; what is no role must be an option, or the metric says what it accepts.
        own |= {name: given.pop(name) for name in unknown} | ({"k": args[0]} if args else {})
        # Options that the metric does not have are refused by name.
        metric = make(kind.name, own, also=roles) if unknown else kind(**own)
        spec = Spec(metric, {name: value for name, value in own.items() if name != "k"})
        return _measure(self._frame, self._bound, spec, given)

    call.__name__ = kind.name
    call.__qualname__ = f"Rec.{kind.name}"
    call.__doc__ = f"{cleandoc(kind.__doc__ or '')}\n{roles_doc(roles)}"
    setattr(call, "__signature__", _signature(kind))  # noqa: B010 - functions declare no such attribute
    return call


def _signature(kind: type[Metric]) -> Signature:
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for field in sorted(fields(kind), key=lambda field: field.name != "k"):
        how = Parameter.POSITIONAL_OR_KEYWORD if field.name == "k" else Parameter.KEYWORD_ONLY
        parameters.append(Parameter(field.name, how, default=field.default, annotation=field.type))
    return Signature([*parameters, *role_parameters(roles_of(kind))])


def expand(metrics: Any, k: Any, like: str | None) -> list[Spec]:
    """Return the metrics of a call, those without a cutoff of their own at each of the call's cutoffs."""
    known = {} if like is None else _profiles()[like].metrics
    return specs_of(metrics, k, [name for name, definition in known.items() if definition.cut == "none"])


def _in_parts(given: Given, roles: Roles, query: Query, metrics: Sequence[Metric]) -> Any:
    """Return the answer of a call whose lists are read in parts."""
    parts = check_k(roles.partitions, "partitions") or 1
    adapter = adapter_of(given.frame)
    if adapter.partitions == "on workers":
        from recframe._plan.partitions import on_workers

        return on_workers(given, query, metrics, parts)
    if adapter.partitions is None:
        msg = f"partitions={parts} is for lazy polars and Spark frames, but this is a {type(given.frame).__name__}"
        why = "its engine goes to disk by itself" if not adapter.eager else "the frame is in memory already"
        raise OptionError(msg, f"leave partitions= out: {why}")
    from recframe._plan.partitions import in_parts

    return in_parts(given, query, metrics, parts)


def check_frame(frame: object) -> None:
    """Raise for what is no supported frame."""
    adapter_of(frame)
