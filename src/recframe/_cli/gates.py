"""Gates make a command fail: for values beyond a bound, models that may be worse, or findings of a check."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from recframe._checks.findings import FINDINGS, SEVERITIES
from recframe._cli.texts import number_of
from recframe.errors import OptionError, closest
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

FINDING_NAMES = tuple(finding.name for finding in FINDINGS)


def bounds_of(option: str, texts: Sequence[str]) -> dict[str, float]:
    """Return the bounds of ``--fail-under METRIC=X`` or ``--fail-over METRIC=X`` by their metrics."""
    bounds: dict[str, float] = {}
    for text in texts:
        name, _, bound = text.rpartition("=")
        limit = number_of(bound)
        if not name or limit is None or math.isnan(limit):
            msg = f"{option} {text} does not say METRIC=NUMBER"
            raise OptionError(msg, f"such as {option} ndcg@10=0.30")
        metric = spec_of(name).metric.label
        if metric in bounds:
            msg = f"{option} {text}: {metric} has the bound {bounds[metric]:g} already"
            raise OptionError(msg, "give each metric one bound")
        bounds[metric] = limit
    return bounds


def check_limits(texts: Sequence[str]) -> tuple[tuple[str, ...], dict[str, float]]:
    """Return the severities that must have no finding, and the largest allowed share for each named finding.

    They come from ``--fail-on-check SEVERITY`` and ``--fail-on-check FINDING=SHARE``.
    """
    limits: dict[str, float] = {}
    most = 0
    for text in texts:
        if text in SEVERITIES:
            most = max(most, SEVERITIES.index(text))
            continue
        name, _, limit = text.partition("=")
        if name not in FINDING_NAMES:
            msg = f"--fail-on-check {text}: {name or text!r} is no finding of check"
            raise OptionError(msg, closest(name or text, (*FINDING_NAMES, *SEVERITIES)))
        share = number_of(limit)
        if share is None or not 0 <= share <= 1:
            msg = f"--fail-on-check {text} does not say FINDING=SHARE, a share from 0 to 1"
            raise OptionError(msg, "such as --fail-on-check truth_of_unknown_lists=0.1")
        limits[name] = share
    return SEVERITIES[: most + 1], limits


def failed_findings(result: pl.DataFrame, severities: Sequence[str], limits: Mapping[str, float]) -> list[str]:
    """Return a phrase that names the findings above their limits; empty if there are none."""
    absent = sorted(limits.keys() - {*result["finding"]})
    if absent:
        msg = f"--fail-on-check {absent[0]}={limits[absent[0]]:g}: this check does not look for it"
        raise OptionError(msg, "some findings need an option, such as --truth, --per or -k")
    phrases = []
    for row in result.filter(result["count"] > 0).iter_rows(named=True):
        name = row["finding"]
        limit = limits.get(row["finding"])
        model = f" of model {row['model']!r}" if "model" in row else ""
        if limit is not None and row["share"] > limit:
            phrases.append(f"{name}{model} ({row['count']:,}, a share of {row['share']:.4g} above {limit:g})")
        elif limit is None and row["severity"] in severities:
            phrases.append(f"{name}{model} ({row['count']:,})")
    return [f"the check found {', '.join(phrases)}"] if phrases else []


def is_check_limit(text: str) -> bool:
    """Return whether an argument is a value of ``--fail-on-check`` rather than a file."""
    name, equals, limit = text.partition("=")
    return text in SEVERITIES or name in FINDING_NAMES or (bool(equals) and number_of(limit) is not None)
