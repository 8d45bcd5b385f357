"""The metrics: one record each, one family a file."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from recframe.errors import OptionError, OptionTypeError, closest
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from recframe.metrics._record import CutMetric, Metric
from recframe.metrics.accuracy import F1, Precision, Recall, RPrecision
from recframe.metrics.auc import GAUC, ROCAUC
from recframe.metrics.average_precision import MAP, PRAUC
from recframe.metrics.calibration import Calibration
from recframe.metrics.cascade import ERR, PFound
from recframe.metrics.correlation import Kendall, Spearman
from recframe.metrics.dcg import DCG, NDCG
from recframe.metrics.diversity import Diversity
from recframe.metrics.exposure import Coverage, Entropy, Gini, Personalization
from recframe.metrics.first_hit import MRR, HitRate
from recframe.metrics.money import MoneyPrecision, MoneyRecall
from recframe.metrics.novelty import ARP, Novelty
from recframe.metrics.rbp import RBP
from recframe.metrics.serendipity import Serendipity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "ARP",
    "DCG",
    "ERR",
    "F1",
    "GAUC",
    "MAP",
    "METRICS",
    "MRR",
    "NDCG",
    "PRAUC",
    "RBP",
    "ROCAUC",
    "BeyondAccuracyMetric",
    "Calibration",
    "Coverage",
    "CutMetric",
    "Diversity",
    "Entropy",
    "ExposureMetric",
    "Gini",
    "HitRate",
    "Kendall",
    "Metric",
    "MoneyPrecision",
    "MoneyRecall",
    "Novelty",
    "PFound",
    "Personalization",
    "Precision",
    "RPrecision",
    "Recall",
    "Serendipity",
    "Spearman",
    "parse",
]

METRICS: Mapping[str, type[Metric]] = {
    metric.name: metric
    for metric in (
        Precision,
        Recall,
        F1,
        RPrecision,
        HitRate,
        MRR,
        MAP,
        DCG,
        NDCG,
        RBP,
        ERR,
        PFound,
        ROCAUC,
        GAUC,
        PRAUC,
        MoneyPrecision,
        MoneyRecall,
        Spearman,
        Kendall,
        Coverage,
        Novelty,
        ARP,
        Diversity,
        Personalization,
        Gini,
        Entropy,
        Serendipity,
        Calibration,
    )
}
"""Every metric of the library by its name."""

_SPELLING = re.compile(r"\s*(?P<name>\w+)\s*(?:\((?P<options>[^()]*)\))?\s*(?:@\s*(?P<k>[^@\s]+))?\s*")
_OPTION = re.compile(r"(?:{[^{}]*}|[^,])+")
"""One option; the commas of a mapping do not end it."""


def make(name: str, options: Mapping[str, Any], also: Sequence[str] = ()) -> Metric:
    """Return the metric of that name with those options; `also` names what else the caller takes.

    Raises
    ------
    OptionError
        The metric or an option does not exist, or an option has a value that it cannot take.
    """
    kind = METRICS.get(name)
    if kind is None:
        msg = f"metric {name!r} is unknown; there are {', '.join(METRICS)}"
        raise OptionError(msg, closest(name, METRICS))
    known = [field.name for field in fields(kind)]
    for option in options:
        if option not in known:
            takes = f"it takes {', '.join([*known, *also])}" if known or also else "it takes none"
            msg = f"{name} has no option {option!r}; {takes}"
            raise OptionTypeError(msg, closest(option, [*known, *also]))
    return kind(**options)


def parse(text: str) -> Metric:
    """Return the metric that a string names.

    Parameters
    ----------
    text : str
        A name, options in parentheses where they differ from their defaults, and a cutoff:
        ``"ndcg"``, ``"ndcg@10"``, ``"ndcg(gain=exp2)@10"``. The inverse of ``str(metric)``.

    Raises
    ------
    OptionError
        The string does not have this form, or names something that does not exist.

    Examples
    --------
    >>> parse("ndcg(gain=exp2)@10")
    NDCG(k=10, gain='exp2', discount='log2', ideal='all')
    >>> str(parse("ndcg( gain = exp2 ) @ 10"))
    'ndcg(gain=exp2)@10'
    """
    return make(*read(text))


def read(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name of the metric that a string names, and the options that it spells, k among them."""
    match = _SPELLING.fullmatch(text)
    if match is None:
        msg = f"{text!r} is not the name of a metric"
        raise OptionError(msg, "write 'ndcg@10' or 'ndcg(gain=exp2)@10'")
    options: dict[str, Any] = {}
    for part in filter(None, map(str.strip, _OPTION.findall(match["options"] or ""))):
        option, separator, value = (piece.strip() for piece in part.partition("="))
        if not separator or not value:
            msg = f"{text!r}: option {part!r} has no value"
            raise OptionError(msg, f"write '{match['name']}({option}=...)'")
        options[option] = _literal(value)
    if match["k"] is not None:
        options["k"] = _literal(match["k"])
    return match["name"], options


def _literal(text: str) -> object:
    """Return the number or truth value that a text spells, else the text."""
    try:
        return ast.literal_eval({"true": "True", "false": "False", "none": "None"}.get(text.lower(), text))
    except (ValueError, SyntaxError):
        return text
