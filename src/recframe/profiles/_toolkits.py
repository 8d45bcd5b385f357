"""Toolkits of evaluation and recommendation, and the metrics of one for neural rankers."""

from __future__ import annotations

from recframe.profiles._record import EVERY_ROW, Definition, Profile
from recframe.profiles._shared import (
    BINARY,
    FROM_LEVEL,
    LISTS_IN_ORDER,
    NORM_RELEVANT,
    OF_LISTS,
    OVER_RANKED,
    POSITIVE,
    SCORED_ROWS,
)

GAINS_OF_LENSKIT = BINARY | {"discount": "jarvelin"} | POSITIVE
OF_ALL_LISTS = "of all lists together, no mean over lists: call {} without `like=`, with a catalog"
PADDED = " that has the padding as one item more"
IDS_OF_TEXT = "Its ids are text, so 9 is larger than 10: cast integer ids to text, or they tie in the order of numbers."
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
        "mrr": Definition("RR", cut="none", departs="RR@k, of another provider, breaks ties by the smaller item name."),
        "map": Definition("AP", options=NORM_RELEVANT),
        "bpref": Definition("Bpref"),
        "inf_ap": Definition("infAP"),
        "iprec": Definition("IPrec", "recall=0.1 gives IPrec@0.1; without it, the mean of its eleven values"),
        "ndcg": Definition("nDCG", options=POSITIVE),
    },
    refused={
        "judged": "its Judged breaks ties by the smaller item name, unlike its other measures, and counts grades "
        "below 0: judged(denominator=list) without `like=`, `ties='item'`, `min_relevance=` of the lowest grade, "
        + OF_TRUTH,
        "err": "its ERR comes from gdeval, which rounds to five digits: err(max_relevance=4) without `like=`, "
        "`ties='item_desc'`, " + OF_TRUTH,
        "rbp": "its RBP comes from cwl_eval, which keeps ties in order: rbp without `like=`, `ties='first'`, "
        + OF_TRUTH,
        "alpha_ndcg": "its alpha_nDCG comes from pyndeval, which breaks ties by the smaller item name, unlike the "
        "others: alpha_ndcg without `like=`, `ties='item'`, " + OF_TRUTH,
        "subtopic_recall": "its StRecall comes from pyndeval, which breaks ties by the smaller item name, unlike the "
        "others: subtopic_recall without `like=`, `ties='item'`, " + OF_TRUTH,
        "err_ia": "its ERR_IA comes from pyndeval, which breaks ties by the smaller item name, unlike the "
        "others: err_ia(normalized=True) without `like=`, `ties='item'`, " + OF_TRUTH,
        "num_rel": "its NumRel is the sum over all lists",
        "num_ret": "its NumRet is the sum over all lists",
        "num_rel_ret": "its NumRet(rel=1) is the sum over all lists",
    },
    departs=(
        IDS_OF_TEXT,
        "It gets a measure from the first provider that has it: here pytrec_eval, which keeps scores as float32.",
        "nDCG(dcg='exp-log2') comes from gdeval, which rounds to five digits.",
    ),
)

RECBOLE = Profile(
    title="RecBole",
    ties_note="left to torch.topk, which is any; GAUC uses the average rank: here the expected value",
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
        "roc_auc": "its AUC pools the rows of all users: roc_auc without `like=`, `by=None`",
        "coverage": "its ItemCoverage is " + OF_ALL_LISTS.format("coverage") + PADDED,
        "gini": "its GiniIndex is " + OF_ALL_LISTS.format("gini") + PADDED,
        "entropy": "its ShannonEntropy has the natural logarithm and divides by the number of recommended items",
        "arp": "its AveragePopularity counts interactions, and no share of them",
        "long_tail": "its TailPercentage divides by k, and its tail is made of other items",
    },
    departs=("It rounds to four digits, which metric_decimal_place changes.",),
)

REPLAY = Profile(
    title="RePlay",
    ties="item_desc",
    ties_note="the larger item first; of dictionaries, the order of the rows",
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
        "roc_auc": "its RocAuc counts 1 where the whole top k is relevant and 0 where nothing of it is; roc_auc@k has "
        "no value there",
        "coverage": "its Coverage is " + OF_ALL_LISTS.format("coverage"),
        "novelty": "its Novelty is the share of recommended items that the user does not have; its Surprisal divides "
        "novelty by the logarithm of the number of users",
    },
)

TENSORFLOW_RANKING = Profile(
    title="TensorFlow Ranking",
    ties_note="shuffled at random: here the expected value",
    undefined=0.0,
    lists="ranked",
    min_relevance=1.0,
    metrics={
        "precision": Definition("PrecisionMetric", options=OF_LISTS, least=0.0),
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
        "opa": "its OPAMetric gives a tied pair nothing, and weighs a list by its number of pairs",
        "bpref": "its BPrefMetric counts every scored row of label 0 as judged, and no other",
        "arp": "its ARPMetric is the mean position of what is relevant, not a popularity",
    },
    departs=(
        "A row of a negative label is padding to it: negative relevance is refused.",
        "DCGMetric adds up labels that are all below 1; here they count 0.0, but not in dcg(gain=exp2) without like=.",
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
        "precision": Definition("Precision", options=OF_LISTS, undefined=0.0),
        "recall": Definition("Recall", options={"capped": True}),
        "hit_rate": Definition("Hit"),
        "mrr": Definition("RecipRank"),
        "dcg": Definition(
            "DCG", "gain='linear' gives gain='rating'", options=GAINS_OF_LENSKIT, level_options=FROM_LEVEL
        ),
        "ndcg": Definition(
            "NDCG",
            "gain='linear' gives gain='rating', discount='log2' weight=LogRankWeight(offset=1)",
            options=GAINS_OF_LENSKIT,
            level_options=FROM_LEVEL,
            departs="With gain='rating', a list of test items without a rating above 0 counts 0 there; here its ideal "
            "of 0 leaves it out of the mean.",
        ),
        "rbp": Definition("RBP", "p=0.5 gives patience=0.5", options={"p": 0.85}),
    },
    refused={
        "map": "its AveragePrecision divides by min(R, N) where N < k rows are ranked, and fails on a list without "
        "test items; where all lists have k rows, that is map@k without `like=`, `min_relevance=0`, `undefined=0.0`",
        "gini": "its ListGini is " + OF_ALL_LISTS.format("gini"),
        "arp": "its MeanPopRank is the mean quantile of the items' popularity, and no share of the users",
        "entropy": "its entropy is about the categories within a list, not about how often items are shown",
    },
)
