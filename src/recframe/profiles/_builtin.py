"""The libraries that ``like=`` knows: one record each.

What is set here is tested against the library itself in ``tests/peers``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recframe.profiles._record import Definition, Profile

if TYPE_CHECKING:
    from collections.abc import Mapping

RELEVANT = {"norm": "relevant"}

TREC_EVAL = Profile(
    name="trec_eval",
    title="trec_eval",
    ties="item_desc",
    ties_note="the larger item name first",
    undefined=0.0,
    lists="both",
    min_relevance=1.0,
    metrics={
        "precision": Definition("P, set_P"),
        "recall": Definition("recall, set_recall"),
        "f1": Definition("set_F", cut="none"),
        "r_precision": Definition("Rprec"),
        "hit_rate": Definition("success", cut="needed"),
        "mrr": Definition("recip_rank", cut="none"),
        "map": Definition("map_cut, map", options=RELEVANT),
        "ndcg": Definition("ndcg_cut, ndcg"),
    },
    refused={
        "rbp": "trec_eval 10 scales the grades of each list to [0, 1]; where they are 0 and 1, that is rbp(p=0.9)",
    },
    departs=("The Python package pytrec_eval keeps scores as float32, so scores that differ by less tie.",),
)

SKLEARN = Profile(
    name="sklearn",
    title="scikit-learn",
    ties="average",
    ties_note="exact expected value in ndcg_score and dcg_score, tied pairs one half in roc_auc_score; "
    "average_precision_score takes tied rows as one threshold",
    undefined=0.0,
    lists="ranked",
    metrics={
        "dcg": Definition("dcg_score"),
        "ndcg": Definition(
            "ndcg_score",
            options={"ideal": "ranked"},
            departs="ndcg_score raises for negative relevance and for a list of one row, which has a value here.",
        ),
        "roc_auc": Definition("roc_auc_score of each list", options={"over": "ranked"}, cut="none", undefined="skip"),
        "pr_auc": Definition(
            "average_precision_score of each list", options={"points": "thresholds", "over": "ranked"}
        ),
    },
    refused={
        "map": "average_precision_score takes tied rows as one threshold and knows no cutoff: that is pr_auc",
        "precision": "precision_score judges labels, not a ranking",
        "recall": "recall_score judges labels, not a ranking",
        "f1": "f1_score judges labels, not a ranking",
    },
)

RANX = Profile(
    name="ranx",
    title="ranx",
    ties="first",
    ties_note="the order of the rows; in lists of more than 15 its sort may leave another",
    undefined=0.0,
    lists="truth",
    min_relevance=1.0,
    metrics={
        "precision": Definition("precision"),
        "recall": Definition("recall"),
        "f1": Definition("f1"),
        "r_precision": Definition("r-precision"),
        "hit_rate": Definition("hit_rate"),
        "mrr": Definition("mrr"),
        "map": Definition("map", options=RELEVANT),
        "dcg": Definition("dcg", "gain='exp2' gives dcg_burges"),
        "ndcg": Definition("ndcg", "gain='exp2' gives ndcg_burges"),
        "rbp": Definition(
            "rbp",
            options={"gain": "linear"},
            cut="none",
            departs="The docstring of its rbp says that a hit counts 1; it counts its grade, as its changelog says. "
            "gain='binary' gives the docstring's.",
        ),
    },
    departs=("Without make_comparable=True it refuses runs whose lists are not exactly those of the truth.",),
)

RECTOOLS = Profile(
    name="rectools",
    title="RecTools",
    ties=None,
    ties_note="it takes positions, not scores",
    undefined="skip",
    lists="all",
    metrics={
        "precision": Definition("Precision", cut="needed"),
        "recall": Definition("Recall", cut="needed"),
        "f1": Definition("F1Beta(beta=1)", cut="needed"),
        "hit_rate": Definition("HitRate", cut="needed"),
        "mrr": Definition("MRR", cut="needed"),
        "map": Definition("MAP", options=RELEVANT, cut="needed"),
        "ndcg": Definition(
            "NDCG",
            "ideal='all' gives divide_by_achievable=True",
            options={"gain": "binary", "ideal": "ones"},
            cut="needed",
        ),
    },
    refused={
        "r_precision": "its Precision(r_precision=True) divides hits at k by min(k, R): that is recall(capped=True)",
        "serendipity": "its Serendipity weighs hits by their unpopularity in another way",
        "roc_auc": "its PartialAUC and PAP stop at a number of rows that are not relevant, not at a position",
    },
    departs=("Rows that are repeated count each time, so that values above 1 are possible; here they count once.",),
)

RECOMMENDERS = Profile(
    name="recommenders",
    title="Recommenders",
    ties="first",
    ties_note="the order of the rows",
    undefined="skip",
    lists="both",
    metrics={
        "precision": Definition("precision_at_k", cut="needed"),
        "recall": Definition("recall_at_k", cut="needed"),
        "r_precision": Definition(
            "r_precision_at_k, k at least R",
            departs="r_precision_at_k leaves lists without a hit among the first R out of its mean.",
        ),
        "map": Definition("map_at_k", "norm='relevant' gives map", cut="needed"),
        "ndcg": Definition(
            "ndcg_at_k",
            "gain='linear' gives score_type='raw', gain='exp2' score_type='exp'",
            options={"gain": "binary"},
            cut="needed",
            lists="all",
        ),
    },
    refused={
        "roc_auc": "its auc pools the rows of all users and is no mean over lists",
        "serendipity": "its user_serendipity compares with a similarity of items",
    },
    departs=("Rows that are repeated count each time, so that values above 1 are possible; here they count once.",),
)

SPARK = Profile(
    name="spark",
    title="Spark's RankingMetrics",
    ties=None,
    ties_note="it takes lists in order, not scores",
    undefined=0.0,
    lists="all",
    metrics={
        "precision": Definition("precisionAt", cut="needed"),
        "recall": Definition("recallAt", cut="needed"),
        "map": Definition("meanAveragePrecisionAt, meanAveragePrecision"),
        "ndcg": Definition(
            "ndcgAt",
            "gain='exp2' gives that with relevance values, which its Python interface ignores",
            options={"gain": "binary"},
            cut="needed",
            departs="With relevance values, ndcgAt takes the ideal in the order of the labels: sort them by relevance.",
        ),
    },
    refused={"roc_auc": "its BinaryClassificationMetrics pools all rows and is no mean over lists"},
)

TORCHMETRICS = Profile(
    name="torchmetrics",
    title="TorchMetrics",
    ties=None,
    ties_note="exact expected value in RetrievalNormalizedDCG; the others leave their order to torch, which is any: "
    "here their expected value",
    undefined=0.0,
    lists="ranked",
    metrics={
        "precision": Definition("RetrievalPrecision", "denominator='list' gives adaptive_k=True"),
        "recall": Definition("RetrievalRecall", options={"over": "ranked"}),
        "r_precision": Definition("RetrievalRPrecision", options={"over": "ranked"}),
        "hit_rate": Definition("RetrievalHitRate"),
        "mrr": Definition("RetrievalMRR"),
        "map": Definition("RetrievalMAP", options={"norm": "hits"}),
        "ndcg": Definition("RetrievalNormalizedDCG", options={"ideal": "ranked"}),
        "roc_auc": Definition("RetrievalAUROC", options={"over": "ranked"}),
    },
    departs=(
        "Its precision, recall, MRR and MAP call a row that has a score of 0 or less not relevant: give positive ones.",
        "It computes in float32.",
    ),
)

RECOMETRICS = Profile(
    name="recometrics",
    title="recometrics",
    ties=None,
    ties_note="broken by random noise or left to the sort: here the expected value",
    undefined="skip",
    lists="all",
    metrics={
        "precision": Definition("P@K", cut="needed"),
        "recall": Definition("R@K", "capped=True gives TP@K", cut="needed"),
        "hit_rate": Definition("Hit@K", cut="needed"),
        "mrr": Definition("RR@K", cut="needed"),
        "map": Definition("AP@K", "norm='capped' gives TAP@K", options=RELEVANT, cut="needed"),
        "ndcg": Definition("NDCG@K", cut="needed"),
        "roc_auc": Definition("ROC-AUC", cut="none"),
        "pr_auc": Definition("PR-AUC"),
    },
    departs=(
        "It gives NaN where all scores of a list are equal, and where every row is relevant (NDCG@K apart).",
        "It gives NaN where a list has fewer than k rows; P@K, TP@K, R@K and Hit@K also where it has just k.",
        "Any entry of the test matrix counts as relevant, negative ones too, except for NDCG@K.",
    ),
)

PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (TREC_EVAL, SKLEARN, RANX, RECTOOLS, RECOMMENDERS, SPARK, TORCHMETRICS, RECOMETRICS)
}
"""Every profile by the name that ``like=`` takes."""
