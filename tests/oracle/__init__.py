"""Every metric computed the slow and obvious way, to compare with.

Nothing here is shared with ``src``: rows are dicts, a list is ranked by sorting it, and tied items are put into
every possible order. `ORACLES` has one function for each metric of ``recframe.metrics.METRICS``; `evaluate` accepts the
roles of a call too, for the metrics of accuracy.
"""

from __future__ import annotations

# The modules enter their functions in ORACLES.
from oracle import auc, beyond_accuracy, cascade, correlation, counts, expected_exposure, judgments, money, subtopics  # noqa: F401
from oracle.calls import evaluate, value_of_list
from oracle.case import ORACLES, Case, mean_over_lists
from oracle.metric import Metric, parse
from oracle.rows import grouped, is_missing, mean, names, number, plain

__all__ = [
    "ACCURACY", "ORACLES", "Case", "Metric", "evaluate", "grouped", "is_missing", "mean", "names", "number", "parse", "plain",
]  # fmt: skip

ACCURACY = ("precision", "recall", "f1", "fbeta", "r_precision", "hit_rate", "mrr", "map", "dcg", "ndcg", "rbp")

ORACLES.update(dict.fromkeys(ACCURACY, mean_over_lists(value_of_list)))
