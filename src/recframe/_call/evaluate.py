"""From the arguments of a call to its answer. The first call that needs the plan imports it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from inspect import Parameter
from typing import TYPE_CHECKING, Any, NamedTuple

from recframe._base.defaults import current
from recframe._base.roles import ALL_ROLES, CALL_ROLES, FRAMES, SIDE_INFORMATION, Roles, roles_of
from recframe._base.signatures import role_parameters, signature_of
from recframe._base.strata import Strata
from recframe._base.values import as_tuple, check_names, flag, unnamed_role
from recframe._call.cached_calls import Arguments, profiles
from recframe._call.metric_docs import documentation
from recframe._engines.postponed import RERUN, Rerun, is_dry
from recframe._engines.registry import adapter_of, is_lazy, sides_as_supported_frames
from recframe._plan.query import check_cluster
from recframe._plan.request import Request
from recframe.errors import OptionError, OptionTypeError, UndefinedWarning, quoted, warn
from recframe.metrics import Metric
from recframe.metrics import make as make_metric
from recframe.metrics._beyond_accuracy import ExposureMetric
from recframe.metrics._record import CutMetric, check_k, spelled
from recframe.profiles._spec import Spec, as_written, spec_of, specs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from recframe._call.cached_calls import Call
    from recframe._checks.data_warnings import InspectedData
    from recframe._engines.base import Adapter
    from recframe._plan.call_frames import CallFrames
    from recframe._plan.contributions import Contributions
    from recframe._plan.plan import Plan
    from recframe._plan.query import Query
    from recframe.metrics.awrf import AWRF


def bind(request: Request, unnamed: Sequence[object] = ()) -> dict[str, Any]:
    """Return the bound roles and the roles of the call, or raise for a value without the name of its role."""
    roles = request.roles
    if unnamed:
        raise unnamed_role(unnamed[0], "df.rec")
    check_names(list(roles), ALL_ROLES)
    if not FRAMES.isdisjoint(roles):
        roles = sides_as_supported_frames(request.frame, roles, FRAMES)
    return {**request.bound, **roles}


def value_of_metric(frame: Any, metric: str | Metric, roles: dict[str, Any]) -> float:
    """Return the value of one metric of one ranking in an eager frame."""
    arguments = Arguments(Request(frame, {}, roles))
    call = arguments.cached(("value_of_metric", metric), lambda: _single_metric_call(arguments, spec_of(metric)))
    return float(_value(arguments, call))


def _single_metric_call(arguments: Arguments, spec: Spec) -> Call:
    """Return the call of one metric of one ranking."""
    call = arguments.call([spec], arguments.roles(ALL_ROLES))
    if call.query.several:
        what = f"`model={call.roles.model!r}`" if call.roles.model is not None else f"`score={call.query.orders!r}`"
        msg = f"{what} names several models, but a metric's method accepts one"
        raise OptionError(msg, f"evaluate([{spec.name!r}], ...)")
    return call


def _value(arguments: Arguments, call: Call) -> Any:
    """Return one metric of one ranking: a number, or a frame of it if the user's frame is lazy."""
    if call.roles.partitions is not None:
        return _in_parts(arguments, call)
    plan = _plan(arguments, call)
    if call.query.per or not plan.context.engine.eager:
        return _answer(plan)
    inspected = _inspect(plan)
    mean = plan.context.engine.collect_once(plan.run())
    value = plan.number(mean)
    _warn(plan, value, inspected)
    if math.isnan(value) and not is_dry():
        msg = f"no list has a value of {call.specs[0].name}, {call.specs[0].metric.undefined_reason()}"
        warn(msg, UndefinedWarning)
    return value if RERUN.get() is None else plan.finish(mean)


def evaluate(
    request: Request,
    metrics: str | Metric | Sequence[str | Metric],
    k: int | Sequence[int | None] | None,
    *,
    counts: bool,
    chance: bool,
    strata: Any = None,
    strata_weights: Any = None,
) -> Any:
    """Return many metrics, cutoffs and models as a frame of the user's kind."""
    ties = request.named.get("ties")
    in_range = isinstance(ties, str) and ties == "range"
    if in_range:
        request = replace(request, roles={**request.roles, "ties": "average"})
    arguments = Arguments(request)
    checked_strata = strata_of_call(request, strata, strata_weights)
    if checked_strata is not None and (chance or in_range):
        other = "`ties='range'`" if in_range else "`chance=True`"
        msg = f"`strata={checked_strata.column!r}` does not go with {other}"
        raise OptionError(msg, "leave one of them out; `per=` reports each stratum")

    def make() -> Call:
        roles = arguments.roles(ALL_ROLES)
        flag("chance", chance)
        changes: dict[str, Any] = {"counts": True, "every_list": True} if flag("counts", counts) else {}
        if checked_strata is not None:
            changes |= {"strata": checked_strata, "every_list": True}
        call = arguments.call(expand(metrics, k, roles.like), roles, **changes)
        if counts:
            _check_counts(call)
        return call

    call = arguments.cached(("evaluate", metrics, k, counts, chance, strata, strata_weights), make)
    if in_range:
        return _with_range(arguments, call, chance=chance)
    if chance:
        return _with_chance(arguments, call)
    return _answer(_plan(arguments, call)) if call.roles.partitions is None else _in_parts(arguments, call)


def _with_chance(arguments: Arguments, call: Call) -> Any:
    """Return the result of a call with its chance levels, after a warning where its numbers may mean nothing."""
    if call.roles.partitions is not None:
        msg = f"`chance=True` does not go with `partitions={quoted(call.roles.partitions)}`"
        raise OptionError(msg, "leave `partitions=` out, or make one call without `chance=`")
    from recframe._plan.chance import with_chance

    plan, result = with_chance(arguments.opened(call), call.query, call.metrics)
    _warn(plan, result)
    return result


def _with_range(arguments: Arguments, call: Call, *, chance: bool) -> Any:
    """Return the result of a call with the least and the greatest value over the orders of tied rows."""
    if chance or call.roles.partitions is not None:
        other = "`chance=True`" if chance else f"`partitions={quoted(call.roles.partitions)}`"
        msg = f"`ties='range'` does not go with {other}"
        raise OptionError(msg, "make a call for each of them")
    from recframe._plan.tie_range import with_range

    plan, result = with_range(arguments.opened(call), call.query, call.metrics)
    _warn(plan, result)
    return result


def _check_counts(call: Call) -> None:
    """Raise where lists with a value cannot be counted."""
    if all(isinstance(metric, ExposureMetric) for metric in call.metrics):
        msg = f"`counts=True` counts lists with a value, but {call.metrics[0].label} is one value of all lists together"
        raise OptionError(msg, "add a metric that has a value per list, such as 'ndcg'")


def _plan(arguments: Arguments, call: Call, *, reads_rows: bool = False) -> Plan:
    """Return the plan of a call for its frames.

    If the call `reads_rows` of the plan, they have their items, and a missing relevance stays missing.
    """
    from recframe._plan.plan import Plan

    return Plan(arguments.opened(call), call.query, call.metrics, item=reads_rows, made_by_sql=not reads_rows)


def _answer(plan: Plan | Contributions) -> Any:
    """Return the result of a plan as a frame, after a warning where its numbers may mean nothing."""
    inspected = _inspect(plan)
    result = plan.frame()
    _warn(plan, result, inspected)
    return result


def _inspect(plan: Plan | Contributions) -> InspectedData | None:
    """Return the doubts about the rows of a plan. A postponed call may free its own rows as soon as they are ranked."""
    from recframe._checks.data_warnings import inspect_data

    rerun = RERUN.get()
    plan.context.releases = rerun is not None and any(frame is plan.frames.frame for frame in rerun.owned)
    return inspect_data(plan.frames, plan.context.query, plan.context)


def _warn(plan: Plan | Contributions, result: Any, inspected: InspectedData | None = None) -> None:
    """Warn where the numbers of a result may mean nothing."""
    from recframe._checks.data_warnings import warn_of_data

    warn_of_data(plan.frames, plan.context.query, plan.context, result, inspected=inspected)


def plan_of_lists(
    request: Request,
    metrics: Any,
    k: Any,
    call: str,
    cluster: str | None,
    *,
    items: bool | None = None,
    strata: Strata | None = None,
) -> Plan:
    """Return the plan of a call that reads one value per list, such as `compare`.

    `items` is None unless the call reads the lists behind the values, such as for the fingerprints of a baseline. Then
    the plan keeps lists without a relevant item too, and True says that it also reads the items in the rows.
    """
    mean = {**current(), **request.bound}.get("mean", "arithmetic")
    if not (isinstance(mean, str) and mean == "arithmetic"):
        msg = f"`mean={quoted(mean)}` is bound, but {call} looks at arithmetic means"
        raise OptionError(msg, "bind `mean='arithmetic'`, or use evaluate, which accepts other means")
    allowed = [*CALL_ROLES[call], "model"]
    arguments = Arguments(request.with_bound_roles(allowed))

    def make() -> Call:
        roles = arguments.roles(allowed)
        if roles.model is not None and "model" not in CALL_ROLES[call]:
            msg = f"`model={roles.model!r}` names models in rows, but {call} reads models in columns"
            raise OptionError(msg, _hint_to_pivot(request.frame, arguments.adapter, roles))
        if call != "state":  # merged states may add up segments
            check_cluster(cluster, as_tuple(roles.per))
        every_list = call in ("describe", "estimate_with_judge", "state") or items is not None or strata is not None
        specs = expand(metrics, k, roles.like)
        _check_policies(specs, call)
        return arguments.call(specs, roles, cluster=cluster, every_list=every_list, strata=strata)

    strata_key = None if strata is None else (strata.column, strata.weights)
    checked = arguments.cached((call, metrics, k, cluster, items, strata_key), make)
    return _plan(arguments, checked, reads_rows=bool(items))


def strata_of_call(request: Request, strata: Any, weights: Any) -> Strata | None:
    """Return the strata that a call names, checked; None without."""
    if strata is None and weights is None:
        return None
    return Strata.of(strata, weights, request.labels)


def _hint_to_pivot(frame: Any, adapter: Adapter, roles: Roles) -> str:
    """Return the hint to pivot the frame to a column for each model, with the names of the models if they are known."""
    if not adapter.pivot_example:
        return "filter the rows of one model, and bind `model=None`"
    role = "score" if roles.rank is None else "rank"
    index = [*as_tuple(roles.by), roles.item]
    values = getattr(roles, role) or "score"
    pivot = adapter.pivot_example.format(model=roles.model, index=index, values=values)
    names = ["a", "b"]
    if adapter.eager and roles.model in adapter.names(frame):
        from recframe._checks.definitions import values_of

        names = values_of(adapter.as_narwhals(frame), roles.model).unique(maintain_order=True).to_list()
    unbound = ", `model=None`" if current().get("model") is not None else ""
    return f"make a column of each model, wide = {pivot}, and call wide.rec(`{role}={quoted(names)}`{unbound}, ...)"


def contributions(request: Request, metric: str | Metric, k: int | None) -> Any:
    """Return what each ranked row adds to its list's value, as a frame of the user's kind."""
    from recframe._plan.contributions import Contributions

    call = call_of_rows(request, metric, k, "contributions")
    return _answer(Contributions(call.frames, call.query, call.metric, item=call.shows_item))


def exposure(request: Request, metric: AWRF) -> Any:
    """Return the exposure of groups of items, as a frame of the user's kind."""
    from recframe._plan.exposure import GroupExposure

    allowed = CALL_ROLES["exposure"]
    arguments = Arguments(request.with_bound_roles(allowed))
    roles = arguments.roles(allowed)
    # With a truth, a second record with another target makes the plan read the relevance in the truth.
    also = [] if roles.truth is None else [replace(metric, target="relevant")]
    call = arguments.call([Spec(each, {}) for each in dict.fromkeys([metric, *also])], roles)
    return GroupExposure(arguments.opened(call), call.query, call.metrics, metric.target).frame()


class RowsCall(NamedTuple):
    """A call about rows, such as `contributions`."""

    frames: CallFrames
    query: Query
    metric: Metric
    shows_item: bool
    """Whether the result has a column of items."""


def call_of_rows(request: Request, metric: str | Metric, k: int | None, call: str) -> RowsCall:
    """Return a checked call about rows."""
    if not isinstance(as_written(metric), str | Metric):
        msg = f"`metric={quoted(metric)}` is not one metric"
        raise OptionTypeError(msg, f"{call}('ndcg', `k=5`)")
    request = request.with_bound_roles(CALL_ROLES[call])
    frame = request.frame
    named = request.named
    item = current().get("item", Roles.item)
    shows_item = "item" in named or is_lazy(frame) or item in adapter_of(frame).names(frame)
    if call == "contributions" and "item" in named and named["item"] is None:
        shows_item = False
        request = request.without("item")
    arguments = Arguments(request)

    def make() -> Call:
        roles = arguments.roles(CALL_ROLES[call])
        specs = expand(metric, check_k(k), roles.like)
        _check_policies(specs, call)
        return arguments.call(specs, roles)

    checked = arguments.cached((call, metric, k), make)
    (record,) = checked.metrics
    return RowsCall(arguments.opened(checked), checked.query, record, shows_item)


def _check_policies(specs: Sequence[Spec], call: str) -> None:
    """Raise for a metric whose name says how lists are averaged, in a call that averages none."""
    for spec in specs:
        for name in spec.policies:
            if name not in CALL_ROLES[call]:
                msg = f"{spec.name!r}: {call} averages no lists, so `{name}=` means nothing"
                raise OptionError(msg, repr(replace(spec, policies={}, metric=replace(spec.metric)).name))


def refuse_options(unknown: Mapping[str, Any], metrics: Any) -> None:
    """Raise for an option of a metric among the arguments that a call does not accept."""
    if metrics is None:
        return
    several = isinstance(metrics, Sequence) and not isinstance(metrics, str)
    for spec in map(spec_of, metrics if several else [metrics]):
        for name in unknown:
            if name != "k" and any(field.name == name for field in fields(spec.metric)):
                named = {**spec.named, name: unknown[name] if isinstance(unknown[name], str) else quoted(unknown[name])}
                msg = (
                    f"`{name}={quoted(unknown[name])}` is an option of {spec.metric.name}, not an argument of the call"
                )
                text = repr(spelled(spec.metric.name, named, getattr(spec.metric, "k", None)))
                no_text = f"metrics.{type(spec.metric).__name__}({name}=...)"
                raise OptionTypeError(msg, no_text if callable(unknown[name]) else text)


def method(kind: type[Metric]) -> Callable[..., Any]:
    """Return the accessor's method for a metric, with its signature and documentation."""
    options = [field.name for field in fields(kind)]
    roles = roles_of(kind)

    def call(self: Any, *args: Any, **keywords: Any) -> Any:
        named_options = {name: keywords.pop(name) for name in options if name in keywords}
        arguments = Arguments(Request(self._frame, self._bound, keywords))

        def make() -> Call:
            if args and (len(args) > 1 or "k" in named_options or not issubclass(kind, CutMetric)):
                accepts = "only k may be given by position" if issubclass(kind, CutMetric) else "it accepts no k"
                msg = f"{kind.name}({', '.join(map(quoted, args))}): {accepts}"
                raise OptionTypeError(msg, f"name the other arguments, as in {kind.name}(by='user')")
            # Only k is positional; what is no role must be an option, or the metric says what it accepts.
            unknown = {name: value for name, value in keywords.items() if name not in (*roles, "model")}
            named = {**named_options, **unknown, **({"k": args[0]} if args else {})}
            # Options that the metric does not have are refused by name.
            metric = make_metric(kind.name, named, also=roles) if unknown else kind(**named)
            return _single_metric_call(
                arguments, Spec(metric, {name: value for name, value in named.items() if name != "k"})
            )

        return _value(arguments, arguments.cached((kind.name, args, named_options), make))

    call.__name__ = kind.name
    call.__qualname__ = f"Rec.{kind.name}"
    side_information = [name for name in roles if name in SIDE_INFORMATION]
    call.__doc__ = documentation(kind, roles, side_information)
    shown = signature_of([*_parameters(kind), *role_parameters(side_information)], roles)
    setattr(call, "__signature__", shown)  # noqa: B010 - functions declare no such attribute
    return call


def _parameters(kind: type[Metric]) -> Iterator[Parameter]:
    """Yield the parameters of a metric's method that are no roles."""
    yield Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    for field in sorted(fields(kind), key=lambda field: field.name != "k"):
        how = Parameter.POSITIONAL_OR_KEYWORD if field.name == "k" else Parameter.KEYWORD_ONLY
        yield Parameter(field.name, how, default=field.default)


def expand(metrics: Any, k: Any, like: str | None) -> list[Spec]:
    """Return the metrics of a call, those without a cutoff of their own at each of the call's cutoffs."""
    definitions = {} if like is None else profiles()[like].metrics
    return specs_of(metrics, k, [name for name, definition in definitions.items() if definition.cut == "none"])


def _in_parts(arguments: Arguments, call: Call) -> Any:
    """Return the answer of a call whose lists are read in parts."""
    frames = arguments.opened(call)
    parts = call.roles.partitions or 1
    adapter = arguments.adapter
    from recframe._plan.partitions import in_parts

    rerun = RERUN.get()
    if rerun is None and not adapter.reads_parts:
        msg = f"`partitions={parts}` is for lazy polars frames, but this is a {type(frames.frame).__name__}"
        raise OptionError(msg, f"leave `partitions=` out: {adapter.instead_of_parts}")
    return in_parts(frames, call.query, call.metrics, parts, rerun or Rerun())
