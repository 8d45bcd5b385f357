"""Libraries that evaluate retrievers of documents, and a monitor of recommendations."""

from __future__ import annotations

from recframe.profiles._record import EVERY_ROW, Definition, Profile
from recframe.profiles._shared import BINARY, LISTS_IN_ORDER, NORM_RELEVANT, OF_LISTS, OVER_RANKED, SCORED_ROWS

MLFLOW = Profile(
    title="MLflow",
    ties_note=LISTS_IN_ORDER,
    undefined=0.0,
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("precision_at_k", options=OF_LISTS, cut="needed"),
        "recall": Definition("recall_at_k", cut="needed"),
        "ndcg": Definition(
            "ndcg_at_k",
            options=BINARY,
            cut="needed",
            departs="Of a list of fewer than k rows, ndcg_at_k cuts the ideal at their number (k=len(retrieved[:k]) in "
            "mlflow/metrics/metric_definitions.py, mlflow#24541), so that one row that is a hit has 1.",
        ),
    },
    departs=(
        "A row without documents, retrieved or true, has 1 in recall_at_k and ndcg_at_k: here 0, if a frame has it.",
        "precision_at_k and ndcg_at_k count a document twice that is retrieved twice: here it is refused.",
    ),
)

LLAMA_INDEX = Profile(
    title="LlamaIndex",
    ties_note=LISTS_IN_ORDER,
    lists="both",
    min_relevance=EVERY_ROW,
    metrics={
        "precision": Definition("precision", options=OF_LISTS),
        "recall": Definition("recall, hit_rate with use_granular_hit_rate=True"),
        "hit_rate": Definition("hit_rate"),
        "mrr": Definition("mrr", "no option gives use_granular_mrr=True, the mean of 1/r over all hits of a list"),
        "map": Definition("ap", options=NORM_RELEVANT),
        "ndcg": Definition("ndcg", options=BINARY | {"ideal": "uncut"}),
    },
    departs=(
        "Its k is the number of documents that the retriever returns.",
        "It raises for a list without retrieved or without expected documents: such lists are left out here.",
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
        "pr_auc": "map of its reranking evaluators counts tied rows as one threshold, unlike its other metrics: "
        "pr_auc(points=thresholds,over=ranked) without `like=`, `undefined=0.0`",
    },
    departs=(
        "These are the names of InformationRetrievalEvaluator. NanoBEIREvaluator's mean over data sets is `strata=`.",
        "ndcg@k of its reranking evaluators is sklearn's ndcg_score of the rows they score: like='sklearn'.",
        "mrr@k of its reranking evaluators leaves ties to a sort, and RerankingEvaluator lists without a negative out.",
    ),
)

WITH_ALL = "undefined=0.0 gives no_feedback_users=True"

EVIDENTLY = Profile(
    title="Evidently",
    ties_note="tied rows are all at the integer part of their average rank, so that a tied pair at the top has two "
    "first rows: here the expected value",
    lists="ranked",
    metrics={
        "precision": Definition("PrecisionTopK", WITH_ALL, options=OF_LISTS, cut="needed"),
        "recall": Definition("RecallTopK", WITH_ALL, options=OVER_RANKED, cut="needed"),
        "hit_rate": Definition("HitRate", WITH_ALL, cut="needed"),
        "mrr": Definition("MRR", WITH_ALL, cut="needed"),
        "map": Definition(
            "MAP",
            WITH_ALL,
            options=NORM_RELEVANT | OVER_RANKED,
            cut="needed",
            departs="MAP takes the last row up to k in the order of the data for the row at k (agg 'last' in "
            "precision_recall_k.py): sort the data by rank. A list of n < k rows that ends with a hit gets its own "
            "precision again at each position from n + 1 to k, so its MAP may exceed 1; here nothing follows its end.",
        ),
        "ndcg": Definition(
            "NDCG",
            options={"grades": "signed", "ideal": "ranked"},
            cut="needed",
            level_options=BINARY,
            departs="A list whose negative grades make its ideal 0 counts 0 there; here it is undefined.",
        ),
    },
    refused={
        "f1": "its FBetaTopK is made of the means of precision and recall, not of each list's",
        "fbeta": "its FBetaTopK is made of the means of precision and recall, not of each list's",
        "diversity": "its Diversity divides the sum over pairs of items by the number of items, not of pairs",
        "novelty": "its Novelty leaves out items that the training data lacks",
        "serendipity": "its Serendipity is about the distance of hits from the user's training items",
        "personalization": "its Personalization counts every list as one of k rows",
        "arp": "the arp of its PopularityBias counts the users of an item, and no share of them",
        "gini": "the gini of its PopularityBias is of recommended items only, and of all lists together",
        "coverage": "the coverage of its PopularityBias is of items of the training data, and of all lists together",
    },
    departs=(
        SCORED_ROWS,
        "It leaves out a list whose relevant items all lack a score, which is 0 here in precision, hit_rate and mrr.",
        "Its tables of NDCG and MRR have the value at k in the row of rank k + 1; a k above the longest list raises.",
    ),
)
