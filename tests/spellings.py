"""The names of metrics under test, with their options and cutoffs, made from the metric records.

A new metric, or a new option of one, is tested without a change here.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import product
from typing import TYPE_CHECKING, Any

from oracle import ACCURACY
from recframe.metrics import METRICS
from recframe.metrics._options import options_of as metric_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recframe.metrics._options import Option

CUTOFFS = (1, 2, 3, 5, 30, None)  # 30: longer than every list

NUMBERS = (0.5, 0.4, 1)
"""Of each option that is a number, the first of these that its bounds hold, and that is not its default, is tested."""
FITTING = {
    "discount": ("jarvelin", "reciprocal", "{1:1,2:0.5,3:0.25}"),
    "max_relevance": (5,),
    "probability": ("{0:0.1,1:0.3,2:0.5,3:1}",),
}
"""Values to test of options that must fit the relevance of the rows."""
ELSEWHERE = ("pairs",)
"""Words of options that read a frame of another shape, with tests of their own."""

ALWAYS: dict[str, dict[str, str]] = {"pfound": {"probability": "{0:0,1:0.1,2:0.5,3:1}"}}
"""What a metric cannot do without on graded relevance."""


WITH: dict[tuple[str, str], dict[str, Any]] = {("partial_auc", "positives"): {"negatives": 2}}
"""Options that another one requires."""


def spelled(name: str, k: int | None = None, **options: object) -> str:
    """Return the canonical name of a metric; an option that is None has its default, which the name leaves out."""
    inside = ",".join(f"{option}={value}" for option, value in options.items() if value is not None)
    return name + (f"({inside})" if inside else "") + ("" if k is None else f"@{k}")


def options_of(name: str) -> dict[str, list[Any]]:
    """Return the options of a metric but k, each with the values to test; None is the default."""
    records = [
        each for each in metric_options(METRICS[name]) if each.name != "k" and each.name not in ALWAYS.get(name, ())
    ]
    return {each.name: [None, *(value for value in _values(each) if value != each.default)] for each in records}


def _values(option: Option) -> tuple[Any, ...]:
    """Return values of an option: those that fit the rows, the other flag, a number within its bounds, or its words."""
    if option.name in FITTING:
        return FITTING[option.name]
    if bool in option.kinds:
        return (True,)
    if option.kinds & {int, float}:
        kinds = (int, float) if float in option.kinds else int
        fitting = (one for one in NUMBERS if isinstance(one, kinds) and one in option.bounds and one != option.default)
        return (next(fitting),)
    return tuple(word for word in option.words if word not in ELSEWHERE)


def cutoffs_of(name: str, cutoffs: tuple[int | None, ...] = CUTOFFS) -> tuple[int | None, ...]:
    return cutoffs if any(field.name == "k" for field in fields(METRICS[name])) else (None,)


def spellings_of(name: str, cutoffs: tuple[int | None, ...] = CUTOFFS) -> list[str]:
    """Return a metric with each value of each option, one option at a time, at each cutoff."""
    options = options_of(name)
    single = [
        {option: value} | WITH.get((name, option), {})
        for option, values in options.items()
        for value in values
        if value is not None
    ]
    return [
        spelled(name, k, **{option: given.get(option) for option in options}, **ALWAYS.get(name, {}))
        for given in [{}, *single]
        for k in cutoffs_of(name, cutoffs)
        # It accepts k or expected.
        if not (name == "serendipity" and k is None and not {"expected", "unexpected"}.intersection(given))
    ]


def _combined(name: str) -> Iterator[str]:
    """Yield a metric with each combination of its options: at each cutoff, or where several options differ from their
    defaults at one cutoff, in turn."""
    options, cutoffs = options_of(name), cutoffs_of(name)
    for number, values in enumerate(product(*options.values())):
        at_all = sum(value is not None for value in values) <= 1
        for k in cutoffs if at_all else (cutoffs[number % len(cutoffs)],):
            yield spelled(name, k, **dict(zip(options, values, strict=True)))


SPELLED = [label for name in ACCURACY for label in _combined(name)]
"""Each metric of accuracy with each combination of its options."""

SOME = [
    "r_precision", "precision@2", "precision(denominator=list)@3", "recall(capped=True)@2", "f1", "f1@2", "hit_rate@1",
    "hit_rate", "mrr", "mrr@2", "map", "map@2", "map(norm=hits)@2", "dcg(gain=exp2)@2", "ndcg", "ndcg@2",
    "ndcg(ideal=ranked)@3", "ndcg(ideal=ones)", "ndcg(gain=exp2,discount=jarvelin)@3", "rbp(p=0.5)@4",
]  # fmt: skip
"""One or two of each kind, for tests of what all of them share."""

POLICIES = ("average", "best", "worst", "item", "item_desc", "first")
