"""What makes a command fail: values below a bound, models that may be worse, findings of a check."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from recframe.errors import OptionError
from recframe.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl


def bounds_of(given: Sequence[str]) -> dict[str, float]:
    """Return the bounds of ``--fail-under METRIC=X`` by their metrics."""
    found: dict[str, float] = {}
    for text in given:
        name, _, bound = text.rpartition("=")
        try:
            least = float(bound)
        except ValueError:
            least = math.nan
        if not name or math.isnan(least):
            msg = f"--fail-under {text} does not say METRIC=NUMBER"
            raise OptionError(msg, "such as --fail-under ndcg@10=0.30")
        metric = str(parse(name))
        if metric in found:
            msg = f"--fail-under {text}: {metric} has the bound {found[metric]:g} already"
            raise OptionError(msg, "give each metric one bound")
        found[metric] = least
    return found


def worse(result: pl.DataFrame, margin: float) -> list[str]:
    """Return which models may be worse than the baseline by more than the margin, a phrase each.

    Parameters
    ----------
    result : DataFrame
        What `compare` returned.
    margin : float
        How much worse a model may be, at the bad end of the interval of its difference.
    """
    found = []
    for row in result.iter_rows(named=True):
        metric, model, baseline = row["metric"], row["model"], row["baseline"]
        low, high = row["low"], row["high"]
        what = f"{metric} of model {model!r}"
        if any(end is None or math.isnan(end) for end in (low, high)):
            found.append(f"{what} has no interval (nan) of its difference to {baseline!r}")
            continue
        loss = -low if parse(metric).higher_is_better else high
        if loss > margin:
            ends = f"the interval of the difference goes from {low:+.4g} to {high:+.4g}"
            found.append(f"{what} may be worse than {baseline!r} by {loss:.4g}, more than {margin:g}: {ends}")
    return found


def of_check(result: pl.DataFrame) -> list[str]:
    """Return what a check found of errors, as a phrase."""
    rows = result.filter(severity="error").iter_rows(named=True)
    errors = [f"{row['finding']} ({row['count']:,})" for row in rows if row["count"]]
    return [f"the check found {', '.join(errors)}"] if errors else []
