"""The libraries of gradient boosting: each computes metrics of the rows that it scores only."""

from __future__ import annotations

from recframe.profiles._record import Definition, Profile
from recframe.profiles._shared import DENOMINATOR_LIST, OVER_RANKED, SCORED_ROWS

EXPONENTIAL = {"gain": "exp2", "ideal": "ranked"}
EXP_OR_POSITION = "gain='exp2' gives type=Exp, discount='reciprocal' denominator=Position"


def _ndcg(calls: str, variants: str, group: str) -> Definition:
    """Return the definition of NDCG in LightGBM and XGBoost."""
    departs = f"A {group} without a relevant row adds 1 whatever its weight; here weight= applies to it too."
    return Definition(calls, variants, options=EXPONENTIAL, cut="needed", reads_level=False, least=0.0, departs=departs)


LIGHTGBM = Profile(
    title="LightGBM",
    ties="first",
    ties_note="the order of the rows",
    undefined=1.0,
    lists="ranked",
    metrics={
        "map": Definition("map", options=OVER_RANKED, cut="needed"),
        "ndcg": _ndcg("ndcg", "gain='linear' gives label_gain=[0, 1, 2, ...]", "query"),
    },
    refused={
        "roc_auc": "its auc pools the rows of all queries: use roc_auc with `by=None`",
        "pr_auc": "its average_precision pools the rows of all queries: use pr_auc(points=thresholds) with `by=None`",
    },
    departs=(
        SCORED_ROWS,
        "Its map counts labels above 0.5 as relevant: give min_relevance= for fractions.",
    ),
)

XGBOOST = Profile(
    title="XGBoost",
    ties="first",
    ties_note="the order of the rows",
    undefined=1.0,
    lists="ranked",
    metrics={
        "precision": Definition("pre@k", options=DENOMINATOR_LIST, cut="needed", undefined=0.0),
        "map": Definition("map@k", "undefined=0.0 gives map@k-", options=OVER_RANKED, cut="needed"),
        "ndcg": _ndcg("ndcg@k", "gain='linear' gives ndcg_exp_gain=False, undefined=0.0 gives ndcg@k-", "group"),
    },
    refused={
        "roc_auc": "its auc also counts pairs of equal labels, and leaves out groups of fewer than three rows",
        "pr_auc": "its aucpr interpolates between the points of the curve",
    },
    departs=(
        SCORED_ROWS,
        "Without @k, its ndcg, map and pre read the first 32 rows of a group.",
        "It keeps scores as float32, so nearly equal scores tie.",
    ),
)

CATBOOST = Profile(
    title="CatBoost",
    ties="worst",
    ties_note="the row of the smaller target first",
    undefined=0.0,
    lists="ranked",
    metrics={
        "precision": Definition("PrecisionAt", options=DENOMINATOR_LIST),
        "recall": Definition("RecallAt", options=OVER_RANKED, undefined=1.0),
        "mrr": Definition("MRR"),
        "map": Definition("MAP", options=OVER_RANKED),
        "dcg": Definition("DCG", EXP_OR_POSITION, reads_level=False, least=0.0),
        "ndcg": Definition(
            "NDCG", EXP_OR_POSITION, options={"ideal": "ranked"}, undefined=1.0, reads_level=False, least=0.0
        ),
        "err": Definition("ERR", options={"probability": "relevance"}, reads_level=False),
        "pfound": Definition("PFound", "p_break=0.1 gives decay=0.9", reads_level=False),
    },
    refused={
        "roc_auc": "its QueryAUC counts a tied pair one half: use roc_auc(over=ranked) with `undefined=0.0`",
        "opa": "its QueryAUC:type=Ranking counts a tied pair one half: use opa with `undefined=0.0`",
    },
    departs=(
        SCORED_ROWS,
        "PrecisionAt, RecallAt, MRR and MAP count targets above 0.5 as relevant: give min_relevance= for fractions.",
        "It keeps targets as float32.",
    ),
)
