"""Every metric computed the slow and obvious way, to compare with.

Nothing here is shared with ``src``: rows are dicts, a list is ranked by sorting it, and tied items are put into
every possible order. `ORACLES` has one function for each metric of ``recframe.metrics.METRICS``; `evaluate` accepts the
roles of a call too, for the metrics of accuracy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle import auc, beyond_accuracy, cascade, correlation, counts, judgments, money, subtopics
from oracle.calls import evaluate, value_of_list
from oracle.case import Case, OfCall, mean_over_lists
from oracle.metric import Metric, parse
from oracle.rows import grouped, is_missing, mean, names, number, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ACCURACY", "ORACLES", "Case", "Metric", "evaluate", "grouped", "is_missing", "mean", "names", "number", "parse", "plain",
]  # fmt: skip

ACCURACY = ("precision", "recall", "f1", "fbeta", "r_precision", "hit_rate", "mrr", "map", "dcg", "ndcg", "rbp")

ORACLES: Mapping[str, OfCall] = {
    **dict.fromkeys(ACCURACY, mean_over_lists(value_of_list)),
    "err": mean_over_lists(cascade.err),
    "alpha_ndcg": mean_over_lists(subtopics.of_one_subtopic),
    "err_ia": mean_over_lists(subtopics.of_one_subtopic),
    "pfound": mean_over_lists(cascade.pfound),
    "roc_auc": mean_over_lists(auc.roc_auc),
    "partial_auc": mean_over_lists(auc.partial_auc),
    "gauc": auc.gauc,
    "pr_auc": mean_over_lists(auc.pr_auc),
    "money_precision": mean_over_lists(money.money_precision),
    "money_recall": mean_over_lists(money.money_recall),
    "spearman": mean_over_lists(correlation.spearman),
    "kendall": mean_over_lists(correlation.kendall),
    "opa": mean_over_lists(correlation.opa),
    "bpref": mean_over_lists(judgments.bpref),
    "inf_ap": mean_over_lists(judgments.inf_ap),
    "judged": mean_over_lists(judgments.judged),
    "iprec": mean_over_lists(judgments.iprec),
    "num_rel": mean_over_lists(counts.num_rel),
    "num_ret": mean_over_lists(counts.num_ret),
    "num_rel_ret": mean_over_lists(counts.num_rel_ret),
    "coverage": beyond_accuracy.coverage,
    "novelty": mean_over_lists(beyond_accuracy.novelty),
    "arp": mean_over_lists(beyond_accuracy.arp),
    "long_tail": mean_over_lists(beyond_accuracy.long_tail),
    "user_coverage": mean_over_lists(beyond_accuracy.user_coverage),
    "diversity": mean_over_lists(beyond_accuracy.diversity),
    "personalization": beyond_accuracy.personalization,
    "gini": beyond_accuracy.gini,
    "entropy": beyond_accuracy.entropy,
    "serendipity": mean_over_lists(beyond_accuracy.serendipity),
    "calibration": mean_over_lists(beyond_accuracy.calibration),
}
"""By a metric's name, the function from a metric and a case to the value of the whole call; None: it has none."""
