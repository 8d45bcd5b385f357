"""The libraries that ``like=`` knows: one record each.

What is set here is tested against the library itself in ``tests/peers``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from recframe._base.roles import Like
from recframe.profiles._boosters import *  # noqa: F403 - all of its profiles
from recframe.profiles._record import EVERY_ROW, Definition, Profile
from recframe.profiles._retrieval import *  # noqa: F403 - all of its profiles
from recframe.profiles._shared import BY_THRESHOLD, FROM_LEVEL, LISTS_IN_ORDER, NORM_RELEVANT, OVER_RANKED, POSITIVE
from recframe.profiles._toolkits import *  # noqa: F403 - all of its profiles
from recframe.profiles._toolkits import IDS_OF_TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping

TREC_EVAL = Profile(
    title="trec_eval",
    ties="item_desc",
    ties_note="the larger item name first",
    undefined=0.0,
    lists="both",
    min_relevance=1.0,
    floor=0.00001,
    metrics={
        "precision": Definition("P, set_P"),
        "recall": Definition("recall, set_recall", "capped=True gives relative_P"),
        "f1": Definition("set_F", cut="none"),
        "fbeta": Definition("set_F.x, where x is β²", cut="none"),
        "num_rel": Definition("num_rel"),
        "num_ret": Definition("num_ret", cut="none"),
        "num_rel_ret": Definition("num_rel_ret", cut="none"),
        "r_precision": Definition("Rprec"),
        "hit_rate": Definition("success", cut="needed"),
        "mrr": Definition("recip_rank", cut="none"),
        "map": Definition("map_cut, map", options=NORM_RELEVANT),
        "bpref": Definition("bpref"),
        "inf_ap": Definition("infAP"),
        "iprec": Definition(
            "11pt_avg",
            "recall=0.1 gives iprec_at_recall_0.10; recalls are rounded as trec_eval 9 does, 10 does otherwise",
        ),
        "ndcg": Definition("ndcg_cut, ndcg", options=POSITIVE),
    },
    refused={
        "rbp": "trec_eval 10 reads two variables it never sets (m_rbp.c), so it may scale the grades or not; "
        "unscaled, it computes rbp(p=0.9,gain=linear)",
    },
    departs=(
        IDS_OF_TEXT,
        "trec_eval 9 and pytrec_eval keep scores as float32, so nearly equal scores tie.",
    ),
)

SKLEARN = Profile(
    title="scikit-learn",
    ties="average",
    ties_note="exact expected value in ndcg_score and dcg_score, tied pairs one half in roc_auc_score; "
    "average_precision_score counts tied rows as one threshold",
    undefined=0.0,
    lists="ranked",
    metrics={
        "dcg": Definition(
            "dcg_score", reads_level=False, departs="dcg_score sums a list of negative grades; here it counts 0.0."
        ),
        "ndcg": Definition(
            "ndcg_score",
            options={"ideal": "ranked"},
            reads_level=False,
            least=0.0,
            departs="ndcg_score raises for a list of one row; here it has a value.",
        ),
        "roc_auc": Definition("roc_auc_score of each list", options=OVER_RANKED, cut="none", undefined="skip"),
        "partial_auc": Definition("roc_auc_score(max_fpr=) of each list", options=BY_THRESHOLD, undefined="skip"),
        "pr_auc": Definition("average_precision_score of each list", options=BY_THRESHOLD | OVER_RANKED),
    },
    refused={
        "map": "average_precision_score counts tied rows as one threshold and has no cutoff: use pr_auc",
        "precision": "precision_score reads labels, not a ranking",
        "recall": "recall_score reads labels, not a ranking",
        "f1": "f1_score reads labels, not a ranking",
        "fbeta": "fbeta_score reads labels, not a ranking",
    },
)

RANX = Profile(
    title="ranx",
    ties="first",
    ties_note="the order of the rows, but its sort may change it in lists of more than 15",
    undefined=0.0,
    lists="truth",
    min_relevance=1.0,
    metrics={
        "precision": Definition("precision"),
        "recall": Definition("recall"),
        "f1": Definition("f1"),
        "r_precision": Definition("r-precision"),
        "num_rel_ret": Definition("hits"),
        "hit_rate": Definition("hit_rate"),
        "mrr": Definition("mrr"),
        "map": Definition("map", options=NORM_RELEVANT),
        "iprec": Definition("interpolated_precision_at_recall", "recall=0.1 gives the second of its eleven values"),
        "dcg": Definition("dcg", "gain='exp2' gives dcg_burges", options=FROM_LEVEL, level_options=FROM_LEVEL),
        "ndcg": Definition("ndcg", "gain='exp2' gives ndcg_burges", options=FROM_LEVEL, level_options=FROM_LEVEL),
        "rbp": Definition(
            "rbp",
            options={"gain": "linear"},
            cut="none",
            departs="Its docstring says that a hit counts 1, but it counts the grade, as its changelog says; "
            "gain='binary' counts 1.",
        ),
    },
    refused={
        "bpref": "its bpref counts negative grades as judged, is nan for lists with a hit and nothing judged "
        "irrelevant, and 0 for lists after one without relevant items; otherwise, it is bpref with "
        "`min_relevance=1`, `undefined=0`",
    },
    departs=("It raises if run and truth have different lists, except with make_comparable=True.",),
)

RECTOOLS = Profile(
    title="RecTools",
    ties_note="it reads positions, not scores",
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("Precision", cut="needed"),
        "recall": Definition("Recall", cut="needed"),
        "f1": Definition("F1Beta(beta=1)", cut="needed"),
        "fbeta": Definition("F1Beta", cut="needed"),
        "hit_rate": Definition("HitRate", cut="needed"),
        "mrr": Definition("MRR", cut="needed"),
        "map": Definition("MAP", "norm='k' gives divide_by_k=True", options=NORM_RELEVANT, cut="needed"),
        "ndcg": Definition(
            "NDCG",
            "ideal='all' gives divide_by_achievable=True",
            options={"gain": "binary", "ideal": "ones"},
            cut="needed",
        ),
    },
    refused={
        "r_precision": "its Precision(r_precision=True) divides hits by min(k, R): use recall(capped=True)",
        "serendipity": "use serendipity(unexpected='ranks', denominator='list') with `undefined=0`, `lists='ranked'`",
        "roc_auc": "its PartialAUC and PAP stop at a number of irrelevant rows: use partial_auc(negatives=10), for "
        "PAP with positives='first'",
        "partial_auc": "its PartialAUC stops at a number of irrelevant rows, not a share: use "
        "partial_auc(negatives=10)",
    },
)

RECOMMENDERS = Profile(
    title="Recommenders",
    ties="first",
    ties_note="the order of the rows",
    lists="both",
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("precision_at_k", cut="needed"),
        "recall": Definition("recall_at_k", cut="needed"),
        "r_precision": Definition(
            "r_precision_at_k, k at least R",
            departs="Its mean leaves out lists without a hit among the first R.",
        ),
        "map": Definition("map_at_k", "norm='relevant' gives map", cut="needed"),
        "ndcg": Definition(
            "ndcg_at_k",
            "gain='linear' gives score_type='raw', gain='exp2' score_type='exp'",
            options={"gain": "binary", "grades": "signed"},
            cut="needed",
            lists="all",
            level_options=FROM_LEVEL,
            departs="With score_type='raw' or 'exp', a list with an ideal of 0 and another DCG makes the mean "
            "infinite; here that list is undefined.",
        ),
    },
    refused={
        "roc_auc": "its auc pools the rows of all users: use roc_auc with `by=None` on the recommended rows joined "
        "with the truth",
        "serendipity": "its user_serendipity leaves out users without a history; otherwise, use "
        "serendipity(unexpected='history', denominator='list') with `undefined=0`, `lists='ranked'`",
    },
    departs=("If no list has a value, it gives 0.0; here that is nan.",),
)

SPARK = Profile(
    title="Spark's RankingMetrics",
    ties_note=LISTS_IN_ORDER,
    undefined=0.0,
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("precisionAt", cut="needed"),
        "recall": Definition("recallAt", cut="needed"),
        "map": Definition("meanAveragePrecisionAt, meanAveragePrecision"),
        "ndcg": Definition(
            "ndcgAt",
            "gain='exp2' reads relevance values, which its Python interface ignores",
            options={"gain": "binary", "grades": "signed"},
            cut="needed",
            level_options=FROM_LEVEL,
            departs="With relevance values, ndcgAt takes the order of the labels as ideal: sort them by relevance.",
        ),
    },
    refused={"roc_auc": "its BinaryClassificationMetrics pools the rows of all lists"},
)

TORCHMETRICS = Profile(
    title="TorchMetrics",
    ties_note="the expected value in RetrievalNormalizedDCG; the others leave ties to the sort, and have the expected "
    "value here",
    undefined=0.0,
    lists="ranked",
    metrics={
        "precision": Definition("RetrievalPrecision", "denominator='list' gives adaptive_k=True"),
        "recall": Definition("RetrievalRecall", options=OVER_RANKED),
        "r_precision": Definition("RetrievalRPrecision", options=OVER_RANKED),
        "hit_rate": Definition("RetrievalHitRate"),
        "mrr": Definition("RetrievalMRR"),
        "map": Definition("RetrievalMAP", options={"norm": "hits"}),
        "ndcg": Definition(
            "RetrievalNormalizedDCG",
            options={"grades": "signed", "ideal": "ranked"},
            reads_level=False,
            departs="It treats a list whose grades sum to 0 as one without positive grades, and gives a list of only "
            "negative grades a value.",
        ),
        "roc_auc": Definition(
            "RetrievalAUROC",
            options=OVER_RANKED,
            departs="With empty_target_action 'skip' or 'pos', a list with relevant rows but no pair counts 0.0; "
            "here undefined= decides.",
        ),
        "partial_auc": Definition("RetrievalAUROC(max_fpr=)", options=BY_THRESHOLD),
    },
    departs=(
        "Its precision, recall, MRR and MAP count rows with a score of 0 or less as irrelevant: use positive scores.",
        "Its empty_target_action reads scored rows: a list whose relevant items all lack a score is empty.",
        "It computes in float32.",
    ),
)

RECOMETRICS = Profile(
    title="recometrics",
    ties_note="broken by random noise or left to the sort; here the expected value",
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("P@K", cut="needed"),
        "recall": Definition("R@K", "capped=True gives TP@K", cut="needed"),
        "hit_rate": Definition("Hit@K", cut="needed"),
        "mrr": Definition("RR@K", cut="needed"),
        "map": Definition("AP@K", "norm='capped' gives TAP@K", options=NORM_RELEVANT, cut="needed"),
        "ndcg": Definition("NDCG@K", cut="needed", level_options=FROM_LEVEL),
        "roc_auc": Definition("ROC-AUC", cut="none"),
        "pr_auc": Definition("PR-AUC"),
    },
    departs=(
        "It gives NaN if all scores of a list are equal, or all rows are relevant (except NDCG@K from K=2).",
        "It gives NaN for lists of fewer than k rows; P@K, TP@K, R@K and Hit@K also for lists of exactly k.",
    ),
)

PROFILES: Mapping[str, Profile] = {name: replace(globals()[name.upper()], name=name) for name in get_args(Like)}
"""Every profile by the name that ``like=`` accepts."""
