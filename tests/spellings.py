"""The names of metrics under test, with their options and cutoffs, made from the metric records.

A new metric of accuracy, or a new option of one, is tested without a change here if its values are a Literal.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from oracle import ACCURACY
from recframe.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

CUTOFFS = (1, 2, 3, 5, 30, None)  # 30: longer than every list

VALUES: dict[str, tuple[Any, ...]] = {
    "p": (0.5,), "p_break": (0.4,), "alpha": (0.2,), "max_relevance": (5,), "expected": (1,), "beta": (0.5,), "recall": (0.3,), "max_fpr": (0.5,), "head": (0.4,),
    "probability": ("{0:0.1,1:0.3,2:0.5,3:1}",),
}  # fmt: skip
"""A value other than the default of each option that is a number or a table."""

ALWAYS: dict[str, dict[str, str]] = {"pfound": {"probability": "{0:0,1:0.1,2:0.5,3:1}"}}
"""What a metric cannot do without on graded relevance."""


def spelled(name: str, k: int | None = None, **options: object) -> str:
    """Return the canonical name of a metric; an option that is None has its default, which the name leaves out."""
    inside = ",".join(f"{option}={value}" for option, value in options.items() if value is not None)
    return name + (f"({inside})" if inside else "") + ("" if k is None else f"@{k}")


def options_of(name: str) -> dict[str, list[Any]]:
    """Return the options of a metric but k, each with the values to test; None is the default."""
    kind = METRICS[name]
    hints = get_type_hints(kind)
    found: dict[str, list[Any]] = {}
    for field in fields(kind):
        if field.name == "k" or field.name in ALWAYS.get(name, ()):
            continue
        choices = [True] if hints[field.name] is bool else VALUES.get(field.name) or [*_literals(hints[field.name])]
        assert choices, f"{name} has an option {field.name!r}: enter a value to test in tests/spellings.py, VALUES"
        found[field.name] = [None, *(value for value in choices if value != field.default)]
    return found


def _literals(hint: Any) -> Iterator[Any]:
    if get_origin(hint) is Literal:
        yield from get_args(hint)
    else:
        for part in get_args(hint):
            yield from _literals(part)


def cutoffs_of(name: str, cutoffs: tuple[int | None, ...] = CUTOFFS) -> tuple[int | None, ...]:
    return cutoffs if any(field.name == "k" for field in fields(METRICS[name])) else (None,)


def spellings_of(name: str, cutoffs: tuple[int | None, ...] = CUTOFFS) -> list[str]:
    """Return a metric with each value of each option, one option at a time, at each cutoff."""
    options = options_of(name)
    single = [{option: value} for option, values in options.items() for value in values if value is not None]
    return [
        spelled(name, k, **{option: given.get(option) for option in options}, **ALWAYS.get(name, {}))
        for given in [{}, *single]
        for k in cutoffs_of(name, cutoffs)
        if not (name == "serendipity" and k is None and "expected" not in given)  # it accepts k or expected
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
