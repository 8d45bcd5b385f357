"""The table of metrics, from their records."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from recframe.metrics import METRICS, CutMetric
from recframe.metrics._options import options_of

if TYPE_CHECKING:
    from recframe.metrics import Metric

LINE_WIDTH = 88


def metrics_text() -> str:
    """Return a paragraph for each metric: its summary, its formula and its options."""
    left = 2 + max(len(_heading(metric)) for metric in METRICS.values())
    lines: list[str] = []
    for metric in METRICS.values():
        parts = [metric.summary, f"= {metric.formula}" if metric.formula else "", *_options(metric)]
        heading = _heading(metric)
        for part in filter(None, parts):
            lines += textwrap.wrap(
                part, LINE_WIDTH, initial_indent=heading.ljust(left), subsequent_indent=" " * (left + 2)
            )
            heading = ""
        lines.append("")
    legend = (
        "R: relevant items of the list, ranked or not. N: ranked rows. h(k): relevant items among the top k. "
        "r: position. Without k: the whole list. The first value of an option is its default. "
        "Write a metric as 'ndcg', 'ndcg@10' or 'ndcg(gain=exp2)@10'."
    )
    return "\n".join([*lines, *textwrap.wrap(legend, LINE_WIDTH)])


def _heading(metric: type[Metric]) -> str:
    return f"{metric.name}@k" if issubclass(metric, CutMetric) else metric.name


def _options(metric: type[Metric]) -> list[str]:
    """Return each option with its values, the default first."""
    return [f"{option.name}: {' | '.join(option.values)}" for option in options_of(metric) if option.name != "k"]
