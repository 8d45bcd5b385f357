"""A call without its data: metrics, roles and policies, checked once and cached for equal calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar

from recframe._base.defaults import current
from recframe._base.guesses import KEEPS_ALL_ITEMS
from recframe._base.roles import ALL_ROLES, CALL_ROLES, COLUMN_ROLES, FRAMES
from recframe._engines.base import ExpressionCall
from recframe._engines.registry import adapter_of, is_frame, sides_as_supported_frames
from recframe._plan.call_frames import frames_of_call, inputs_of
from recframe._plan.query import GUESSED
from recframe._plan.request import Request
from recframe.errors import OptionError
from recframe.metrics._beyond_accuracy import ExposureMetric
from recframe.metrics._record import Metric
from recframe.profiles._record import metrics_and_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from recframe._base.roles import Roles
    from recframe._engines.base import WithExpressions
    from recframe._plan.call_frames import CallFrames
    from recframe._plan.query import Query
    from recframe.profiles._record import Profile
    from recframe.profiles._spec import Spec

Made = TypeVar("Made")
PLAIN = frozenset({str, int, float, bool, NoneType})
"""The types whose values have distinct texts."""
MAX_CACHED_CALLS = 256
_cached: dict[Any, Any] = {}
"""Checked calls by everything that they depend on: values with their types and labels of columns, never data."""


@dataclass(frozen=True)
class Call:
    """What a call computes and how, without its data."""

    specs: Sequence[Spec]
    metrics: Sequence[Metric]
    query: Query
    roles: Roles
    """The roles that the user named. A role that is a frame only says whether there is one."""
    inputs: frozenset[str]
    """The side information that the metrics read."""


@cache
def _expression_call(name: str) -> ExpressionCall:
    """Return what an engine must know about a call to compute expressions among its arguments."""
    return ExpressionCall(name, COLUMN_ROLES, CALL_ROLES.get(name, ALL_ROLES))


def with_expressions(
    frame: Any, arguments: Mapping[str, Any], bound: Mapping[str, Any], call: str = ""
) -> WithExpressions:
    """Return the frame of a call with a column for each expression among the arguments.

    `call` is the name of a call of the namespace, empty for metrics and accessors.
    """
    return adapter_of(frame).with_expressions(frame, arguments, bound, _expression_call(call))


class Arguments:
    """A request in which columns have replaced expressions, with its other frames kept apart.

    Attributes
    ----------
    adapter : Adapter
        The adapter of the user's frame.
    """

    def __init__(self, request: Request) -> None:
        self.adapter = adapter_of(request.frame)
        self._frame, roles, _ = with_expressions(request.frame, request.roles, request.bound)
        self._frames: dict[str, Any] = {}
        # Its roles say only whether there is a frame, because the cache must hold no data.
        self._request = Request(self._frame, self._without_frames(request.bound), self._without_frames(roles))

    def _without_frames(self, roles: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return roles with True in place of each frame, and keep the frames aside."""
        if FRAMES.isdisjoint(roles):
            return roles
        roles = sides_as_supported_frames(self._frame, roles, FRAMES)
        frames = {name: frame for name, frame in roles.items() if name in FRAMES}
        self._frames |= frames
        return {**roles, **{name: None if frame is None else True for name, frame in frames.items()}}

    def roles(self, allowed: Sequence[str]) -> Roles:
        """Return the roles of the call. A role that is a frame only says whether there is one."""
        return self._request.resolved(allowed, self._frames.get("truth"))

    def call(self, specs: Sequence[Spec], roles: Roles, **changes: Any) -> Call:
        """Return the checked call for some metrics, with the policies of its profile. The checks need no data."""
        arguments = self._request.roles
        named = self._request.policies_named()
        metrics, query = metrics_and_query(specs, roles, named, profiles())
        if roles.like is not None and query.ties == "first" and "ties" not in named and not self.adapter.knows_order:
            msg = f"`like={roles.like!r}` breaks ties by row order, which a lazy frame does not have"
            raise OptionError(msg, "give another policy too, such as `ties='average'`")
        # The plan is imported by the first call that needs it.
        from recframe._plan.checks import check_call
        from recframe._plan.strata import check_strata

        inputs = inputs_of(roles, metrics)
        if arguments.get("group") is not None and not any(metric.reads_groups for metric in metrics):
            msg = f"`group={arguments['group']!r}` is about groups of items, which {metrics[0].label} does not read"
            raise OptionError(
                msg, "awrf reads them; `by=` names the key of lists, `per_item=` reports by what items are"
            )
        if arguments.get("train") is not None and "train" not in inputs:
            # With accuracy metrics alone, the user expects that recframe leaves out the items that users already have.
            for metric in metrics:
                if metric.reads_relevance:
                    msg = f"`train=` is not read by {metric.label}"
                    raise OptionError(msg, KEEPS_ALL_ITEMS)
        # With a truth, a named relevance is always read, and either frame may have the values.
        always_read = () if roles.truth is None else ("relevant", "value")
        roles_in_call = frozenset(
            role for role, value in arguments.items() if value is not None and role not in always_read
        )
        if "weight" not in roles_in_call and all(isinstance(metric, ExposureMetric) for metric in metrics):
            changes["weight"] = None  # A value of all lists together is no mean that weights could change.
        query = replace(query, in_call=roles_in_call, **changes)
        check_call(query, metrics)
        check_strata(query, metrics, self._frame)
        return Call(specs, metrics, query, roles, inputs)

    def opened(self, call: Call) -> CallFrames:
        """Return the user's frames that a call reads."""
        roles = replace(call.roles, **self._frames) if self._frames else call.roles
        return frames_of_call(self._frame, roles, call.inputs, self.adapter, call.metrics)

    def cached(self, named: tuple[Any, ...], make: Callable[[], Made]) -> Made:
        """Return what `make` returns for these arguments and `named`, or the cached result of an equal call."""
        key = self._key((*named, self._request.bound, self._request.roles, current()))
        made: Made | None = None if key is None else _cached.get(key)
        if made is None:
            made = make()
            if key is not None:
                if len(_cached) >= MAX_CACHED_CALLS:
                    _cached.clear()
                _cached[key] = made
        return made

    def _key(self, values: tuple[Any, ...]) -> Any:
        """Return everything that a call depends on except its data; None if that cannot be compared."""
        adapter = self.adapter
        labels = []
        # The columns of a lazy frame are only read if a rank is named, because no other call depends on them.
        ranked = any(roles.get("rank") is not None for roles in (self._request.roles, self._request.bound, current()))
        names = adapter.names(self._frame) if adapter.eager or (ranked and not adapter.postpones) else ()
        if adapter.any_label:
            # Text is always the name of a column. Whether another value is one depends on the frames.
            truth = self._frames.get("truth")
            others = adapter_of(truth).names(truth) if is_frame(truth) else ()
            labels = [label for label in (*names, *others) if not isinstance(label, str)]
        text = text_of((*values, labels))
        return None if text is None else (type(self._frame), GUESSED.intersection(names), text)


def text_of(values: tuple[Any, ...]) -> str | None:
    """Return a text that only equal arguments have; None for arguments that cannot be compared."""
    try:
        # The texts of 1, 1.0 and True differ.
        return repr(values) if _is_plain(values) else None
    except (ValueError, RecursionError):
        return None  # a number too long to be written, a list that holds itself


def _is_plain(values: Iterable[Any]) -> bool:
    """Return whether values are words, numbers, metrics of the library with such options, or collections of these."""
    for value in values:
        kind = type(value)
        inner = None
        if kind in PLAIN:
            continue
        if kind is list or kind is tuple:
            inner = value
        elif kind is dict:
            inner = (*value, *value.values())
        elif isinstance(value, Metric) and value.is_builtin:
            inner = vars(value).values()
        if inner is None or not _is_plain(inner):
            return False
    return True


def profiles() -> Mapping[str, Profile]:
    """Return the profiles by their names."""
    # As late as the plan: it imports every library's definitions.
    from recframe.profiles._builtin import PROFILES

    return PROFILES
