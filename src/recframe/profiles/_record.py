"""Define a profile, and apply it to the metrics and policies of a call."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from recframe._base.roles import Roles
from recframe._plan.query import Averaging, Query
from recframe.errors import OptionError
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from recframe.metrics._record import CutMetric, Metric, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.roles import Lists, Ties, Undefined
    from recframe.profiles._spec import Spec

EVERY_ROW = -math.inf
"""As `min_relevance` of a profile: every row of the truth is relevant, whatever its relevance."""
Cut = Literal["any", "needed", "none"]
"""Whether the library computes a metric with and without a cutoff, only with one, or only without."""


@dataclass(frozen=True)
class Definition:
    """What a library computes under the name of one of our metrics.

    Attributes
    ----------
    calls : str
        What the library calls it.
    variants : str
        Which options give its variants of it.
    options : mapping of str to value
        The metric's options that give it.
    cut : {"any", "needed", "none"}
        Whether the library accepts a cutoff.
    undefined, lists
        The policies, if they differ from the profile's.
    reads_level : bool
        Whether `min_relevance` may be given: not if the library reads grades and has no threshold.
    level_options : mapping of str to value
        The options that differ if `min_relevance` is given.
    least : float, optional
        The least relevance that the library accepts; None: any.
    departs : str
        Where the library departs from its own documented definition, which is followed here.
    """

    calls: str
    variants: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    cut: Cut = "any"
    undefined: Undefined | None = None
    lists: Lists | None = None
    reads_level: bool = True
    level_options: Mapping[str, Any] = field(default_factory=dict)
    least: float | None = None
    departs: str = ""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The options and policies under which a library computes its numbers.

    Attributes
    ----------
    name, title : str
        What ``like=`` accepts, which `PROFILES` says, and what the library calls itself.
    ties, min_relevance, undefined, lists
        The policies, if they are not the defaults. None for `ties` and `min_relevance`: the library sets no
        policy. A `min_relevance` of `EVERY_ROW` is about ``truth=``: without it, a relevance above 0 is relevant.
    ties_note : str
        What the library does with items of equal score.
    metrics : mapping of str to Definition
        By our name, what it computes.
    refused : mapping of str to str
        By our name, what it computes in a way that no option expresses.
    departs : tuple of str
        Where it departs from its own documented definitions, whatever the metric.
    floor : float
        What it puts instead of lower values of lists in a geometric mean.
    """

    name: str = ""
    title: str
    ties: Ties | None = None
    ties_note: str
    undefined: Undefined = Roles.undefined
    lists: Lists = Roles.lists
    metrics: Mapping[str, Definition]
    refused: Mapping[str, str] = field(default_factory=dict)
    min_relevance: float | None = None
    departs: tuple[str, ...] = ()
    floor: float = 0.0

    def definition(self, metric: Metric) -> Definition:
        """Return what the library computes under the name of a metric.

        Calls with ``like=`` use it to set options and policies, and `recframe.explain` shows it in words.

        Parameters
        ----------
        metric : Metric
            The metric with its cutoff, such as ``recframe.metrics.parse("ndcg@10")``.

        Returns
        -------
        Definition
            The options and policies that give the library's number.

        Raises
        ------
        OptionError
            The library does not compute the metric, computes it in a way that no option expresses, or refuses or needs
            a cutoff. The message says what the library does instead.
        """
        definition = self.metrics.get(metric.name)
        if definition is None:
            does = f"the profile holds no definition of {self.title} for it"
            if isinstance(metric, BeyondAccuracyMetric | ExposureMetric):
                does = "profiles are about metrics that read the relevance"
            does = self.refused.get(metric.name, does)
            msg = f"`like={self.name!r}` refuses {metric.name}: {does}"
            raise OptionError(msg, f"leave out `like=`, or use one of {', '.join(self.metrics)}")
        k = getattr(metric, "k", None)
        if definition.cut == "none" and k is not None:
            msg = f"`like={self.name!r}` accepts no cutoff for {metric.name}: {definition.calls} reads the whole list"
            raise OptionError(msg, f"leave out the cutoff: {spelled(metric.name, metric.options, None)!r}")
        if definition.cut == "needed" and isinstance(metric, CutMetric) and k is None:
            msg = f"`like={self.name!r}` needs a cutoff for {metric.name}: {definition.calls} is computed at a k"
            raise OptionError(msg, f"write '{metric.name}@10'")
        return definition


def metrics_and_query(
    specs: Sequence[Spec], roles: Roles, names: Sequence[str], profiles: Mapping[str, Profile]
) -> tuple[list[Metric], Query]:
    """Return the metrics and the query of a call, under a profile if it names one.

    `names` are the roles that the user gave: they win, and so do the options that a metric spells.
    """
    roles, names = with_level(specs, roles, names)
    if roles.like is None:
        query = Query.of(roles, names)
        averagings = {spec.metric.label: _averaging(query, spec) for spec in specs if spec.policies}
        return [spec.metric for spec in specs], replace(query, averagings=averagings) if averagings else query
    profile = profiles[roles.like]
    query = Query.of(_with_policies(profile, roles, names), names)
    level = query.min_relevance if "min_relevance" in names else None
    metrics: list[Metric] = []
    averagings = {}
    for spec in specs:
        definition = profile.definition(spec.metric)
        metric = _as_defined(profile, definition, spec, level)
        if metric.label in averagings:
            msg = f"{averagings[metric.label].name!r} and {spec.name!r} are the same under `like={profile.name!r}`"
            raise OptionError(msg, "name one of them")
        undefined = profile.undefined if definition.undefined is None else definition.undefined
        policies = {
            "undefined": query.undefined if "undefined" in names else undefined,
            "lists": query.lists if "lists" in names else definition.lists or profile.lists,
        }
        averagings[metric.label] = Averaging(**{**policies, **spec.policies}, name=spec.name, least=definition.least)
        metrics.append(metric)
    return metrics, replace(query, averagings=averagings, floor=profile.floor)


def _averaging(query: Query, spec: Spec) -> Averaging:
    """Return how a metric is averaged whose name holds policies."""
    policies = {"undefined": query.undefined, "lists": query.lists, **spec.policies}
    return Averaging(**policies, name=spec.metric.label)


def with_level(specs: Sequence[Spec], roles: Roles, names: Sequence[str]) -> tuple[Roles, Sequence[str]]:
    """Return the roles with the least relevance that metrics name; raise for several in one call."""
    named = next((spec for spec in specs if spec.min_relevance is not None), None)
    if named is None:
        return roles, names
    for spec in specs:
        level = roles.min_relevance if spec.min_relevance is None else spec.min_relevance
        if spec.metric.reads_relevance and level != named.min_relevance:
            msg = f"{named.as_named} and {spec.as_named} have two levels of relevance, but a call has one"
            remedy = f"two levels are two calls, one of them with `min_relevance={named.min_relevance:g}`"
            raise OptionError(msg, remedy)
    return replace(roles, min_relevance=named.min_relevance), [*names, "min_relevance"]


def _with_policies(profile: Profile, roles: Roles, names: Sequence[str]) -> Roles:
    """Return the roles with the profile's policies for what the user did not give."""
    policies = {name: getattr(profile, name) for name in ("ties", "min_relevance") if name not in names}
    if policies.get("min_relevance") == EVERY_ROW and roles.truth is None:
        del policies["min_relevance"]
    return replace(roles, **{name: value for name, value in policies.items() if value is not None})


def _as_defined(profile: Profile, definition: Definition, spec: Spec, level: float | None) -> Metric:
    """Return a metric with the options of its definition, except for options that the user gave."""
    options = dict(definition.options)
    if level is not None:
        _check_level(profile, definition, level)
        options |= definition.level_options
    options = {name: value for name, value in options.items() if name not in spec.named}
    return replace(spec, metric=replace(spec.metric, **options)).metric


def _check_level(profile: Profile, definition: Definition, level: float) -> None:
    """Raise if a library does not accept `min_relevance`."""
    calls = definition.calls
    if not definition.reads_level:
        msg = f"`like={profile.name!r}` refuses `min_relevance={level:g}` for {calls}, which knows no level"
        raise OptionError(msg, "leave out `min_relevance=`, or `like=`")
    if level < 0 and definition.level_options:
        msg = f"`like={profile.name!r}` refuses `min_relevance={level:g}` for {calls}, which counts negative grades"
        raise OptionError(msg, "a min_relevance from 0, or none: then every row of the truth is relevant")
