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
        "rbp": "trec_eval 10 reads two variables it never sets (m_rbp.c), which decide whether it scales the grades; "
        "without scaling, it computes rbp(p=0.9,gain=linear)",
    },
    departs=(
        IDS_OF_TEXT,
        "trec_eval 9 and the Python package pytrec_eval keep scores as float32, so scores that differ by less tie.",
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
            "dcg_score", reads_level=False, departs="dcg_score adds up a list of negative grades; here it counts 0.0."
        ),
        "ndcg": Definition(
            "ndcg_score",
            options={"ideal": "ranked"},
            reads_level=False,
            least=0.0,
            departs="ndcg_score raises for a list of one row, which has a value here.",
        ),
        "roc_auc": Definition("roc_auc_score of each list", options=OVER_RANKED, cut="none", undefined="skip"),
        "partial_auc": Definition("roc_auc_score(max_fpr=) of each list", options=BY_THRESHOLD, undefined="skip"),
        "pr_auc": Definition("average_precision_score of each list", options=BY_THRESHOLD | OVER_RANKED),
    },
    refused={
        "map": "average_precision_score counts tied rows as one threshold and knows no cutoff: that is pr_auc",
        "precision": "precision_score judges labels, not a ranking",
        "recall": "recall_score judges labels, not a ranking",
        "f1": "f1_score judges labels, not a ranking",
        "fbeta": "fbeta_score judges labels, not a ranking",
    },
)

RANX = Profile(
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
            departs="The docstring of its rbp says that a hit counts 1; it counts its grade, as its changelog says. "
            "gain='binary' gives the docstring's.",
        ),
    },
    refused={
        "bpref": "its bpref counts a negative grade as a judgment, is nan where nothing is judged irrelevant and "
        "something relevant is recommended, and is 0 in lists that follow one without a relevant item; where none of "
        "this is so, that is bpref with `min_relevance=1` and `undefined=0`",
    },
    departs=("Without make_comparable=True it refuses runs whose lists differ from the lists of the truth.",),
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
        "r_precision": "its Precision(r_precision=True) divides hits at k by min(k, R): that is recall(capped=True)",
        "serendipity": "its Serendipity is serendipity(unexpected='ranks', denominator='list') without `like=`, and 0 "
        "for users without a relevant item: `undefined=0`, `lists='ranked'`",
        "roc_auc": "its PartialAUC and PAP stop at a number of rows that are not relevant, not at a position: "
        "partial_auc(negatives=10) without `like=`, positives='first' gives PAP",
        "partial_auc": "its PartialAUC stops at a number of rows that are not relevant, not at a share of them: "
        "partial_auc(negatives=10) without `like=`",
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
            departs="r_precision_at_k leaves lists without a hit among the first R out of its mean.",
        ),
        "map": Definition("map_at_k", "norm='relevant' gives map", cut="needed"),
        "ndcg": Definition(
            "ndcg_at_k",
            "gain='linear' gives score_type='raw', gain='exp2' score_type='exp'",
            options={"gain": "binary", "grades": "signed"},
            cut="needed",
            lists="all",
            level_options=FROM_LEVEL,
            departs="With score_type='raw' and 'exp', a list whose ideal is 0 and DCG is not makes the mean "
            "infinite; here it is undefined.",
        ),
    },
    refused={
        "roc_auc": "its auc pools the rows of all users: roc_auc without `like=`, `by=None`, of the recommended rows "
        "that the truth holds, joined with their relevance",
        "serendipity": "its user_serendipity is serendipity(unexpected='history', denominator='list') without `like=`, "
        "and 0 for users without a relevant item: `undefined=0`, `lists='ranked'`; it leaves out users without a "
        "history",
    },
    departs=("It gives 0.0 where nothing recommended is in the truth; here that is nan if no list has a value.",),
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
            "gain='exp2' gives that with relevance values, which its Python interface ignores",
            options={"gain": "binary", "grades": "signed"},
            cut="needed",
            level_options=FROM_LEVEL,
            departs="With relevance values, ndcgAt reads the ideal in the order of the labels: sort them by relevance.",
        ),
    },
    refused={"roc_auc": "its BinaryClassificationMetrics pools all rows and is no mean over lists"},
)

TORCHMETRICS = Profile(
    title="TorchMetrics",
    ties_note="exact expected value in RetrievalNormalizedDCG; the others leave their order to torch, which is any: "
    "here their expected value",
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
            departs="It treats a list whose grades sum to 0 as one without a positive grade, and gives a value to a "
            "list of only negative ones.",
        ),
        "roc_auc": Definition(
            "RetrievalAUROC",
            options=OVER_RANKED,
            departs="Under empty_target_action 'skip' and 'pos', a list with relevant rows but no pair counts 0.0; "
            "here undefined= speaks of it too.",
        ),
        "partial_auc": Definition("RetrievalAUROC(max_fpr=)", options=BY_THRESHOLD),
    },
    departs=(
        "Its precision, recall, MRR and MAP call a row that has a score of 0 or less not relevant: give positive ones.",
        "Its empty_target_action counts scored rows: a list whose relevant items all lack a score is empty to it.",
        "It computes in float32.",
    ),
)

RECOMETRICS = Profile(
    title="recometrics",
    ties_note="broken by random noise or left to the sort: here the expected value",
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
        "It gives NaN where all scores of a list are equal, and where every row is relevant (but NDCG@K from K=2).",
        "It gives NaN where a list has fewer than k rows; P@K, TP@K, R@K and Hit@K also where it has just k.",
    ),
)

PROFILES: Mapping[str, Profile] = {name: replace(globals()[name.upper()], name=name) for name in get_args(Like)}
"""Every profile by the name that ``like=`` accepts."""
