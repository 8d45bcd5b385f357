"""Libraries that evaluate retrievers of documents, and a monitor of recommendations."""

from __future__ import annotations

from recframe.profiles._record import EVERY_ROW, Definition, Profile
from recframe.profiles._shared import BINARY, DENOMINATOR_LIST, LISTS_IN_ORDER, NORM_RELEVANT, OVER_RANKED, SCORED_ROWS

MLFLOW = Profile(
    title="MLflow",
    ties_note=LISTS_IN_ORDER,
    undefined=0.0,
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("precision_at_k", options=DENOMINATOR_LIST, cut="needed"),
        "recall": Definition("recall_at_k", cut="needed"),
        "ndcg": Definition(
            "ndcg_at_k",
            options=BINARY,
            cut="needed",
            departs="For a list of fewer than k rows, ndcg_at_k cuts the ideal at the list's length (mlflow#24541), so "
            "one row that is a hit scores 1.",
        ),
    },
    departs=(
        "recall_at_k and ndcg_at_k are 1 for a row without retrieved and true documents; here it counts 0.",
        "precision_at_k and ndcg_at_k count a document that is retrieved twice as two; here it is an error.",
    ),
)

LLAMA_INDEX = Profile(
    title="LlamaIndex",
    ties_note=LISTS_IN_ORDER,
    lists="both",
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("precision", options=DENOMINATOR_LIST),
        "recall": Definition("recall, hit_rate with use_granular_hit_rate=True"),
        "hit_rate": Definition("hit_rate"),
        "mrr": Definition("mrr", "no option gives use_granular_mrr=True, the mean of 1/r over all hits of a list"),
        "map": Definition("ap", options=NORM_RELEVANT),
        "ndcg": Definition("ndcg", options=BINARY | {"ideal": "uncut"}),
    },
    departs=(
        "Its k is the number of documents that the retriever returns.",
        "It raises for a list without retrieved or expected documents; here such lists are left out.",
    ),
)

SENTENCE_TRANSFORMERS = Profile(
    title="Sentence Transformers",
    ties="item",
    ties_note="the smaller id first",
    lists="truth",
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("precision@k", cut="needed"),
        "recall": Definition("recall@k", cut="needed"),
        "hit_rate": Definition("accuracy@k", cut="needed"),
        "mrr": Definition("mrr@k", cut="needed"),
        "map": Definition("map@k", cut="needed"),
        "ndcg": Definition("ndcg@k", options=BINARY, cut="needed"),
    },
    refused={
        "pr_auc": "map of its reranking evaluators counts tied rows as one threshold: use "
        "pr_auc(points=thresholds,over=ranked) with `undefined=0.0`",
    },
    departs=(
        "Names come from InformationRetrievalEvaluator; `strata=` gives NanoBEIREvaluator's mean over data sets.",
        "Its reranking evaluators compute ndcg@k with sklearn on the scored rows: use like='sklearn'.",
        "Their mrr@k leaves ties to a sort, and RerankingEvaluator leaves out lists without a negative.",
    ),
)

WITH_ALL = "undefined=0.0 gives no_feedback_users=True"

EVIDENTLY = Profile(
    title="Evidently",
    ties_note="tied rows share the integer part of their average rank, so a tied pair at the top has two first rows; "
    "here the expected value",
    lists="ranked",
    metrics={
        "precision": Definition("PrecisionTopK", WITH_ALL, options=DENOMINATOR_LIST, cut="needed"),
        "recall": Definition("RecallTopK", WITH_ALL, options=OVER_RANKED, cut="needed"),
        "hit_rate": Definition("HitRate", WITH_ALL, cut="needed"),
        "mrr": Definition("MRR", WITH_ALL, cut="needed"),
        "map": Definition(
            "MAP",
            WITH_ALL,
            options=NORM_RELEVANT | OVER_RANKED,
            cut="needed",
            departs="It takes the last row up to k in data order as the row at k: sort the data by rank. A list of "
            "n < k rows that ends with a hit adds its precision again at each position from n + 1 to k, so MAP may "
            "exceed 1; here nothing follows the list's end.",
        ),
        "ndcg": Definition(
            "NDCG",
            options={"grades": "signed", "ideal": "ranked"},
            cut="needed",
            level_options=BINARY,
            departs="A list whose negative grades make its ideal 0 counts 0; here it is undefined.",
        ),
    },
    refused={
        "f1": "its FBetaTopK combines the mean precision and the mean recall",
        "fbeta": "its FBetaTopK combines the mean precision and the mean recall",
        "diversity": "its Diversity divides by the number of items, not of pairs",
        "novelty": "its Novelty leaves out items that the training data lacks",
        "serendipity": "its Serendipity measures the distance between hits and the user's training items",
        "personalization": "its Personalization treats every list as k rows long",
        "arp": "its PopularityBias counts an item's users, not their share",
        "gini": "its PopularityBias reads recommended items only",
        "coverage": "its PopularityBias reads items of the training data only",
    },
    departs=(
        SCORED_ROWS,
        "It leaves out lists whose relevant items all lack a score; here they count 0 in precision, hit_rate and mrr.",
        "Its tables of NDCG and MRR show the value at k in the row of rank k + 1; a k above the longest list raises.",
    ),
)
