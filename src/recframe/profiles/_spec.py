"""The metrics of a call as the user wrote them: names, objects, levels of relevance and cutoffs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_args

from recframe._base.roles import ROLES
from recframe._base.values import number
from recframe.errors import OptionError, OptionTypeError, one_of, quoted
from recframe.metrics import make, read, refuse_unknown
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from recframe.metrics._record import (
    CutMetric,
    Metric,
    Reads,
    check_k,
    spelled,
    spelled_number,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


LEVEL_OPTION = "rel"
"""The option in a metric's name that sets `min_relevance`, as in ir_measures."""
POLICY_OPTIONS = ("undefined", "lists")
"""The policies of a call that a metric's name may hold for this metric alone."""


@dataclass(frozen=True)
class Spec:
    """One metric of a call, and which of its options the user gave."""

    metric: Metric
    named: Mapping[str, Any]
    """The options that the user gave, with their values."""
    min_relevance: float | None = None
    """The least relevance that the name holds, as ir_measures writes it: ``AP(rel=2)``."""
    policies: Mapping[str, Any] = field(default_factory=dict)
    """The policies that the name holds for this metric alone: ``precision(undefined=0)``."""

    def __post_init__(self) -> None:
        if self.policies:
            # The label tells the metric from the same metric under other policies.
            metric = replace(self.metric)
            options = {**metric.options, **self._spelled_policies}
            vars(metric)["label"] = spelled(metric.name, options, getattr(metric, "k", None))
            object.__setattr__(self, "metric", metric)

    @property
    def _spelled_policies(self) -> dict[str, Any]:
        """The policies of the name, with numbers as a name spells them."""
        return {
            name: spelled_number(value) if isinstance(value, float) else value for name, value in self.policies.items()
        }

    @property
    def name(self) -> str:
        """What the user wrote, in canonical spelling, without a least relevance."""
        options = {**self.named, **self._spelled_policies}
        return spelled(self.metric.name, options, getattr(self.metric, "k", None))

    @property
    def as_named(self) -> str | Metric:
        """The metric as another call accepts it, with the same options and policies."""
        level = {} if self.min_relevance is None else {LEVEL_OPTION: spelled_number(self.min_relevance)}
        options = {**self.named, **self._spelled_policies, **level}
        name = spelled(self.metric.name, options, getattr(self.metric, "k", None))
        return name if self.metric.is_builtin else self.metric

    def at(self, k: int | None) -> Spec:
        """Return the metric at another cutoff."""
        options: dict[str, Any] = {"k": k}
        return replace(self, metric=replace(self.metric, **options))


def specs_of(metrics: Any, k: Any, uncut: Collection[str]) -> list[Spec]:
    """Return the metrics of a call. A metric that names no cutoff is returned once for each cutoff of the call.

    `uncut` names the metrics that the profile's library computes without a cutoff only. They are returned once.
    """
    if isinstance(k, str) and not k.isdigit():
        msg = f"`k={quoted(k)}` is no cutoff"
        raise OptionTypeError(
            msg, "`k=[5, 10]`; several metrics are one list: `metrics=['ndcg', 'map']`, models `score=['old', 'new']`"
        )
    several = isinstance(k, Sequence) and not isinstance(k, str | bytes)
    cutoffs = [check_k(cutoff) for cutoff in k] if several else [check_k(k)]
    if not cutoffs:
        msg = f"`k={quoted(k)}` is empty"
        raise OptionError(msg, "`k=[5, 10]`, or leave it out for the whole list")
    if isinstance(as_written(metrics), str | bytes | Metric | type):
        metrics = [metrics]
    if not isinstance(metrics, Sequence):
        msg = f"`metrics={quoted(metrics)}` is no list of metrics"
        raise OptionTypeError(msg, "evaluate(['ndcg', 'map'], k=10)")
    metrics = [as_written(metric) for metric in metrics]
    try:
        specs = [spec_of(metric) for metric in metrics]
    except OptionError:
        refuse_unknown([metric for metric in metrics if isinstance(metric, str)])
        raise
    cut_specs: list[Spec] = []
    for metric, spec in zip(metrics, specs, strict=True):
        cut = isinstance(spec.metric, CutMetric) and spec.metric.name not in uncut
        if cut and getattr(spec.metric, "k", None) is None:
            cut_specs += [spec_of(metric, cutoff) for cutoff in cutoffs]
        else:
            cut_specs.append(spec)
    return cut_specs


def as_written(metric: Any) -> Any:
    """Return a metric, or the name of a measure of ir_measures. The package ir_measures need not be installed."""
    kinds = (kind.__module__.partition(".")[0] for kind in type(metric).__mro__)
    return str(metric) if "ir_measures" in kinds else metric


def spec_of(written: str | Metric, k: int | None = None) -> Spec:
    """Return a metric with the options that the user gave, and with the cutoff k if it is given."""
    written = as_written(written)
    if isinstance(written, str):
        return _named(written, k)
    metric = _check_metric(written)
    spec = Spec(metric, metric.options)
    return spec if k is None else spec.at(k)


@lru_cache(1024)
def _named(text: str, k: int | None) -> Spec:
    """Return the metric of a name, cached because a name always means the same metric."""
    if k is not None:
        return _named(text, None).at(k)
    name, options = read(text)
    level = number(LEVEL_OPTION, options.pop(LEVEL_OPTION)) if LEVEL_OPTION in options else None
    policies = {role: ROLES[role].check(role, options.pop(role), None) for role in POLICY_OPTIONS if role in options}
    metric = make(name, options)
    if "lists" in policies and isinstance(metric, BeyondAccuracyMetric | ExposureMetric):
        msg = f"{text!r}: `lists=` says which lists the accuracy metrics average, but {name} reads all lists"
        raise OptionError(msg, f"{metric.label!r}; filter the frame to look at some lists only")
    if level is not None and not metric.reads_relevance:
        msg = f"{text!r}: {name} reads no relevance, so {LEVEL_OPTION}={level:g} means nothing"
        raise OptionError(msg, f"{metric.label!r}" + (", or 'num_rel_ret'" if name == "num_ret" else ""))
    return Spec(metric, {option: value for option, value in options.items() if option != "k"}, level, policies)


def _check_metric(metric: object) -> Metric:
    """Return a metric object, or raise if it is not one or its class lacks something."""
    if isinstance(metric, type) and issubclass(metric, Metric):
        msg = f"{metric.__name__} is a kind of metric, not a metric"
        raise OptionTypeError(msg, f"{metric.__name__}()")
    if not isinstance(metric, Metric):
        msg = f"{quoted(metric)} is neither the name of a metric nor a metric"
        raise OptionTypeError(msg, "'ndcg@10' or metrics.NDCG(k=10)")
    named = isinstance(getattr(metric, "name", None), str)
    if not named or (type(metric).value is Metric.value and type(metric).share is Metric.share):
        lacks = "method value" if named else "name"
        msg = f"the metric {type(metric).__name__} has no {lacks}"
        hint = "name = 'my_metric' in its class" if lacks == "name" else "def value(self, sums): return sums['hits']"
        raise OptionTypeError(msg, hint)
    if not metric.name.isprintable() or not metric.name.strip():
        msg = f"name={metric.name!r} of {type(metric).__name__} is not the name of a metric"
        raise OptionTypeError(msg, "give a word on one line, such as name = 'top_heavy'")
    if metric.reads not in get_args(Reads):
        what = f"reads of {metric.name}"
        raise one_of(what, metric.reads, get_args(Reads))
    return metric
