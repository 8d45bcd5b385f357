"""Toolkits of evaluation and recommendation, and the metrics of one for neural rankers."""

from __future__ import annotations

from recframe.profiles._record import EVERY_ROW, Definition, Profile
from recframe.profiles._shared import (
    BINARY,
    DENOMINATOR_LIST,
    FROM_LEVEL,
    LISTS_IN_ORDER,
    NORM_RELEVANT,
    OVER_RANKED,
    POSITIVE,
    SCORED_ROWS,
)

GAINS_OF_LENSKIT = BINARY | {"discount": "jarvelin"} | POSITIVE
PADDED = "counts the padding as an item: use {} with the padding in `catalog=`"
IDS_OF_TEXT = "It orders ids as text, so 9 is larger than 10: cast integer ids to text."
OF_PYNDEVAL = "(pyndeval) breaks ties by the smaller item name"
OF_TRUTH = "`undefined=0.0`, `lists='truth'`"

IR_MEASURES = Profile(
    title="ir_measures",
    ties="item_desc",
    ties_note="the larger item name first",
    undefined=0.0,
    lists="truth",
    min_relevance=1.0,
    metrics={
        "precision": Definition("P, SetP"),
        "recall": Definition("R, SetR"),
        "f1": Definition("SetF", cut="none"),
        "fbeta": Definition("SetF(beta=x), where x is β²", cut="none"),
        "r_precision": Definition("Rprec"),
        "hit_rate": Definition("Success", cut="needed"),
        "mrr": Definition("RR", cut="none", departs="RR@k of another provider breaks ties by the smaller item name."),
        "map": Definition("AP", options=NORM_RELEVANT),
        "bpref": Definition("Bpref"),
        "inf_ap": Definition("infAP"),
        "iprec": Definition("IPrec", "recall=0.1 gives IPrec@0.1; without it, the mean of its eleven values"),
        "ndcg": Definition("nDCG", options=POSITIVE),
    },
    refused={
        "judged": "its Judged breaks ties by the smaller item name and counts grades below 0: use "
        "judged(denominator=list) with the lowest grade as `min_relevance=`, `ties='item'`, " + OF_TRUTH,
        "err": "its ERR (gdeval) rounds to five digits: use err(max_relevance=4) with `ties='item_desc'`, " + OF_TRUTH,
        "rbp": "its RBP (cwl_eval) keeps ties in order: use rbp with `ties='first'`, " + OF_TRUTH,
        "alpha_ndcg": f"its alpha_nDCG {OF_PYNDEVAL}: use alpha_ndcg with `ties='item'`, {OF_TRUTH}",
        "subtopic_recall": f"its StRecall {OF_PYNDEVAL}: use subtopic_recall with `ties='item'`, " + OF_TRUTH,
        "err_ia": f"its ERR_IA {OF_PYNDEVAL}: use err_ia(normalized=True) with `ties='item'`, " + OF_TRUTH,
        "num_rel": "its NumRel is a sum over all lists",
        "num_ret": "its NumRet is a sum over all lists",
        "num_rel_ret": "its NumRet(rel=1) is a sum over all lists",
    },
    departs=(
        IDS_OF_TEXT,
        "Each measure comes from the first provider that has it: here pytrec_eval, which keeps scores as float32.",
        "nDCG(dcg='exp-log2') comes from gdeval, which rounds to five digits.",
    ),
)

RECBOLE = Profile(
    title="RecBole",
    ties_note="left to torch.topk, and GAUC uses the average rank; here the expected value",
    lists="both",
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("Precision", cut="needed"),
        "recall": Definition("Recall", cut="needed"),
        "hit_rate": Definition("Hit", cut="needed"),
        "mrr": Definition("MRR", cut="needed"),
        "map": Definition("MAP", cut="needed"),
        "ndcg": Definition("NDCG", options=BINARY, cut="needed"),
        "gauc": Definition("GAUC", options={"weigh_by": "relevant"}),
    },
    refused={
        "roc_auc": "its AUC pools the rows of all users: use roc_auc with `by=None`",
        "coverage": "its ItemCoverage " + PADDED.format("coverage"),
        "gini": "its GiniIndex " + PADDED.format("gini"),
        "entropy": "its ShannonEntropy uses the natural logarithm and divides by the number of recommended items",
        "arp": "its AveragePopularity counts interactions, not a share",
        "long_tail": "its TailPercentage divides by k and has another tail",
    },
    departs=("It rounds to four digits; metric_decimal_place changes that.",),
)

REPLAY = Profile(
    title="RePlay",
    ties="item_desc",
    ties_note="the larger item first; with dictionaries, the order of the rows",
    lists="truth",
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("Precision", cut="needed"),
        "recall": Definition("Recall", cut="needed"),
        "hit_rate": Definition("HitRate", cut="needed"),
        "mrr": Definition("MRR", cut="needed"),
        "map": Definition("MAP", cut="needed"),
        "ndcg": Definition("NDCG", options=BINARY, cut="needed"),
    },
    refused={
        "roc_auc": "its RocAuc is 1 if the whole top k is relevant and 0 if nothing is; roc_auc@k has no value there",
        "coverage": "use coverage with `catalog=`, which gives its Coverage",
        "novelty": "its Novelty is the share of items that are new to the user; its Surprisal divides novelty by the "
        "logarithm of the number of users",
    },
)

TENSORFLOW_RANKING = Profile(
    title="TensorFlow Ranking",
    ties_note="shuffled at random; here the expected value",
    undefined=0.0,
    lists="ranked",
    min_relevance=1.0,
    metrics={
        "precision": Definition("PrecisionMetric", options=DENOMINATOR_LIST, least=0.0),
        "recall": Definition("RecallMetric", options=OVER_RANKED, least=0.0),
        "hit_rate": Definition("HitsMetric", least=0.0),
        "mrr": Definition("MRRMetric", least=0.0),
        "map": Definition("MeanAveragePrecisionMetric", options=NORM_RELEVANT | OVER_RANKED, least=0.0),
        "dcg": Definition("DCGMetric", options={"gain": "exp2"}, reads_level=False, least=0.0),
        "ndcg": Definition(
            "NDCGMetric",
            "gain='linear' gives gain_fn=identity",
            options={"gain": "exp2", "grades": "positive", "ideal": "ranked"},
            reads_level=False,
            least=0.0,
        ),
    },
    refused={
        "opa": "its OPAMetric gives tied pairs 0 and weights a list by its number of pairs",
        "bpref": "its BPrefMetric counts the scored rows with label 0 as judged, and no others",
        "arp": "its ARPMetric is the mean position of relevant items",
    },
    departs=(
        "It treats rows with a negative label as padding; here negative relevance is an error.",
        "DCGMetric sums labels that are all below 1; here they count 0.0, except in dcg(gain=exp2) without like=.",
        SCORED_ROWS,
        "It computes in float32.",
    ),
)

LENSKIT = Profile(
    title="LensKit",
    ties_note=LISTS_IN_ORDER,
    lists="ranked",
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("Precision", options=DENOMINATOR_LIST, undefined=0.0),
        "recall": Definition("Recall", options={"capped": True}),
        "hit_rate": Definition("Hit"),
        "mrr": Definition("RecipRank"),
        "dcg": Definition(
            "DCG", "gain='linear' gives gain='rating'", options=GAINS_OF_LENSKIT, level_options=FROM_LEVEL
        ),
        "ndcg": Definition(
            "NDCG",
            "gain='linear' gives gain='rating', discount='log2' gives LogRankWeight(offset=1)",
            options=GAINS_OF_LENSKIT,
            level_options=FROM_LEVEL,
            departs="With gain='rating', a list without a rating above 0 counts 0; here it is left out of the mean.",
        ),
        "rbp": Definition("RBP", "p=0.5 gives patience=0.5", options={"p": 0.85}),
    },
    refused={
        "map": "its AveragePrecision divides by min(R, N) if N < k rows are ranked, and fails on a list without test "
        "items; if all lists have k rows, use map@k with `min_relevance=0`, `undefined=0.0`",
        "gini": "use gini with `catalog=`, which gives its ListGini",
        "arp": "its MeanPopRank averages quantiles of popularity, not shares of users",
        "entropy": "its entropy reads the categories within a list",
    },
)
