"""Names that other libraries use for methods, arguments and words, for the hints in errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recframe.errors import closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RENAMED = {"merge": "merge_states", "tune": "tune_fusion", "estimate": "estimate_with_judge"}
"""The old name of each function, method and command that has a new one."""


def new_name(name: str, names: Iterable[str]) -> str:
    """Return the hint for an old name that has a new name among `names`, otherwise ""."""
    new = RENAMED.get(name, "")
    also = "; describe gives the interval of each mean" if name == "estimate" else ""
    return f"{name!r} is now {new!r}{also}" if new in names else ""


OTHER_METHOD_NAMES = {
    "eval": "evaluate", "validate": "check", "summary": "describe", "significance": "compare", "ttest": "compare",
    "compare_models": "compare", "fusion": "fuse", "ensemble": "fuse", "rrf": "fuse", "rbo": "agreement",
    "optimize_fusion": "tune_fusion", "optimize": "tune_fusion", "grid_search": "tune_fusion",
    "overlap": "agreement", "jaccard": "agreement", "train_test_split": "split", "rank": "top", "sort": "top",
    "leaderboard": "evaluate", "bootstrap": "compare", "ci": "describe", "confidence_interval": "describe",
    "from_lists": "recframe.from_lists", "merge": "recframe.merge_states", "ab_test": "compare",
    "explain": "recframe.explain", "candidates": "recframe.candidates",
    "metrics": "recframe.metrics", "from_list": "recframe.from_lists", "ranks": "rank_models",
    "require": "recframe.require", "table": "recframe.table", "forest": "recframe.forest",
    "write_run": "recframe.write_run", "to_dict": "recframe.to_dict", "from_dict": "recframe.from_dict",
    "qrels": "recframe.from_dict", "run": "recframe.from_dict", "load_run": "recframe.read_run",
    "load_qrels": "recframe.read_qrels", "relevanceevaluator": "evaluate", "evaluator": "evaluate",
}  # fmt: skip
"""The method of this package for the name that another library uses."""
METHOD_HINTS = {
    **dict.fromkeys(
        ("per_user", "per_list", "per_query"), "`per='user'` gives a row for each list, as in ndcg(10, per='user')"
    ),
    **dict.fromkeys(
        ("groupby", "group_by", "per_group"),
        "`by='user'` names the lists, and `per='country'` gives a row for each country, as in ndcg(10, per='country')",
    ),
    **dict.fromkeys(
        ("read_csv", "read_parquet", "from_pandas", "from_polars", "dataframe", "dataset"),
        "metrics are methods of frames of polars and pandas, as in polars.read_parquet('recs.parquet').rec.ndcg(10)",
    ),
    "measure": "call the metric's method, as in df.rec.ndcg(10); evaluate also accepts metrics of your own",
    "pool": "df.rec(model='model').top(10) keeps the 10 best rows of each model. Then drop repeated pairs and "
    "judged ones: in polars by .unique(['user', 'item']).join(judged, how='anti', on=['user', 'item']), in pandas 3 by "
    ".drop_duplicates(['user', 'item']).merge(judged, how='left_anti', on=['user', 'item'])",
    **dict.fromkeys(
        ("filter_seen", "exclude_seen", "remove_seen", "drop_seen", "filter_already_liked_items"),
        "label(truth, seen=train) leaves out what users have in train, and check(train=train) counts it",
    ),
    **dict.fromkeys(
        ("kappa", "cohen_kappa", "cohens_kappa"),
        "estimate_with_judge('ndcg@10', truth=human, judge=llm) has the column kappa, from the items that both judged",
    ),
    "leave_one_out": "split(last=1, time='timestamp') holds out the last item of each user",
    "power": "sample_size(..., difference=0.01) says how many lists find a difference, plot.power draws it",
}
"""What to use instead of a method that does not exist."""
OTHER_ARGUMENT_NAMES = {
    "by": ("user", "users", "user_id", "user_col", "col_user", "group_by", "group", "groups", "query", "query_id",
           "qid", "key", "keys", "on"),
    "group": ("seller", "provider", "protected", "group_col"),
    "item": ("items", "item_id", "item_col", "col_item", "doc", "document", "docno", "product"),
    "relevant": ("label", "labels", "label_col", "relevance", "rating_col", "col_rating", "rating", "ratings", "target",
                 "y_true"),
    "score": ("scores", "prediction", "predictions", "pred", "y_score", "y_pred", "score_col", "col_prediction"),
    "rank": ("position", "positions", "order", "ranking", "ranks"),
    "value": ("price", "prices", "worth", "revenue"),
    "truth": ("ground_truth", "actual", "qrels", "test", "y"),
    "per": ("segment", "segments", "slice", "groupby"),
    "per_item": ("genre", "genres", "category"),
    "min_relevance": ("rel", "threshold", "relevance_level", "min_rating", "min_grade"),
    "condensed": ("judged_only",),
    "undefined": ("empty", "zero_division", "nan", "empty_target_action", "on_empty"),
    "train": ("past", "history", "interactions"),
    "like": ("profile", "library", "as_in"),
    "k": ("cutoff", "cutoffs", "at", "top_k", "topk", "ks", "n"),
    "weight": ("weights", "sample_weight", "sample_weights"),
    "propensity": ("propensities", "propensity_score", "ips", "pscore"),
    "subtopic": ("subtopics", "intent", "intents", "topic", "aspect"),
    "mean": ("average", "agg", "aggregate", "aggregation", "reduction"),
    "ties": ("ignore_ties", "tie", "tie_break", "tie_breaking", "tie_breaker"),
    "discount": ("log_base", "base", "log"),
    "gain": ("gains", "gain_function", "gain_scheme", "exponential"),
    "seed": ("random_state", "rng", "random_seed"),
    "resamples": ("n_boot", "n_bootstrap", "n_resamples", "bootstrap_samples", "permutations", "n_iter", "iterations"),
    "difference": ("effect", "effect_size", "delta", "mde"),
    "metrics": ("metric", "measures"),
    "metric": ("metrics", "measure"),
    "grid": ("params", "param_grid", "search_space"),
    "folds": ("cv", "n_splits", "splits", "n_folds"),
    "digits": ("decimals", "round", "ndigits", "precision"),
    "library": ("engine", "backend", "lib"),
    "seen": ("exclude", "filter", "train"),
    "actual": ("truth", "ground_truth", "y_true", "test", "relevant"),
    "recommended": ("y_pred", "predicted", "predictions", "recommendations", "recs"),
    "confidence": ("ci", "level", "confidence_level", "conf_level"),
    "baseline": ("control", "reference", "base", "benchmark"),
    "normalize": ("norm", "normalization"),
    "norm": ("normalize", "normalization"),
    "p": ("persistence", "phi", "patience"),
    "max_relevance": ("max_grade", "max_rel", "max_gain", "max_label"),
    "fraction": ("test_size", "frac", "ratio", "share"),
}  # fmt: skip
"""What other libraries call an argument, for hints."""
OTHER_WORDS = {
    "arithmetic": ("mean", "avg", "average", "macro"), "geometric": ("gmean", "geo", "gm"), "harmonic": ("hmean", "hm"),
    "average": ("avg", "mean", "expected", "random"),
    "t": ("ttest", "t-test", "t_test", "student", "paired"), "randomization": ("permutation", "randomisation"),
    "exp2": ("exp", "exponential", "burges", "2^rel-1", "2**rel-1"),
    "trec_eval": ("trec", "pytrec_eval"), "torchmetrics": ("torch", "pytorch"), "lightgbm": ("lgbm", "lgb"),
    "recommenders": ("microsoft", "ms"), "spark": ("pyspark", "mllib"), "tensorflow_ranking": ("tfr", "tensorflow"),
    "none": ("none", "no"), "bh": ("fdr", "fdr_bh", "benjamini-hochberg"), "holm": ("holm-bonferroni",),
    "sum": ("combsum", "comb_sum"), "mnz": ("combmnz", "comb_mnz"), "anz": ("combanz", "comb_anz"),
    "gmnz": ("combgmnz", "comb_gmnz"), "median": ("combmed", "comb_med", "med"),
    "weighted": ("wsum", "linear", "weighted_sum", "convex"), "borda": ("bordafuse", "borda_fuse"),
}  # fmt: skip
"""Other names that people use for the words of options, for hints."""


def role_meant(name: str, allowed: Iterable[str]) -> str:
    """Return the argument that other libraries call by a name, otherwise ""."""
    return next(
        (role for role, others in OTHER_ARGUMENT_NAMES.items() if name.lower() in others and role in allowed), ""
    )


REQUIRED = {
    "judge": "estimate_with_judge('ndcg', 10, truth=human, judge=model); without a judge, describe gives the interval "
    "of each mean"
}
"""The hint for a required argument that is missing."""
ONE_SIDED: dict[str, str] = dict.fromkeys(
    ("alternative", "one_sided", "onesided", "one_tailed", "two_sided", "sided", "tail", "tails"),
    "the tests of compare are two-sided: `margin=0.01` asks whether a model is not worse, and `confidence=0.9` gives a"
    " one-sided test at 5 % in the direction of interest",
)
"""What to do instead of the arguments by which other libraries choose a one-sided test."""
STRATA: dict[str, str] = dict.fromkeys(
    ("strata", "strata_weights", "stratify"),
    "evaluate, describe and compare of frames and merged states accept `strata='task'`; other calls `per='task'`",
)
"""The hint for a call without strata."""
KEEPS_ALL_ITEMS = (
    "a metric leaves no item out. Leave out the rows that train has"
    "`, as in df.rec.label(truth, seen=train).rec.ndcg(10)`, or make the frame with candidates and `seen=train`. "
    "The call check counts such rows with `train=train`"
)
"""The hint for items that users already have."""
ARGUMENT_HINTS = {
    **dict.fromkeys(
        (
            "train",
            "exclude",
            "seen",
            "history",
            "exclude_seen",
            "filter_seen",
            "remove_seen",
            "filter_already_liked_items",
        ),
        KEEPS_ALL_ITEMS,
    ),
    **dict.fromkeys(("per_user", "return_mean"), "`per='user'` gives a row for each list"),
    "per_list": "`per=` with the columns of `by=` gives a row for each list",
    **dict.fromkeys(
        ("ascending", "descending", "reverse", "sort", "lower_is_better", "higher_is_better", "greater_is_better"),
        "the largest score comes first; `rank='rank'` reads positions, and position 1 comes first",
    ),
    "model": "evaluate and compare accept `model=`",
    "models": "`score=['old', 'new']`, a column for each model, or `model='model'` for models in rows",
    "tidy": "a result has a column for each metric; unpivot it (polars) or melt it (pandas) for a row each",
    "long": "a result has a column for each metric; unpivot it (polars) or melt it (pandas) for a row each",
    "counts": "evaluate accepts `counts=True`; describe counts the lists of each metric",
    "chance": "evaluate accepts `chance=True`",
    "skill": "evaluate accepts `chance=True`, which adds the skill",
    "save": "evaluate accepts `save=`, a file that compare reads as its baseline",
    "confidence": "describe and compare give intervals, and accept `confidence=`",
    "ci": "describe and compare give intervals, and accept `confidence=`",
    "alpha": "describe and compare accept `confidence=0.95`, which is 1 - alpha",
    "judge": "estimate_with_judge with `truth=human` and `judge=model` gives means from both kinds of judgments",
    "k": "a metric that is named holds its own cutoff, as 'ndcg@10' does",
    **dict.fromkeys(("gain", "discount", "grades"), "an option is part of the metric, as in 'ndcg(gain=exp2)'"),
    "residual": "the residual is a metric of its own: 'rbp_residual'",
    **ONE_SIDED,
    **dict.fromkeys(
        ("baseline", "correction", "resamples", "bootstrap", "n_bootstrap"), "compare tests whether models differ"
    ),
    **STRATA,
    "runs": "compare, describe, rank_models, report and state accept `runs='seed'`",
}
"""The hint for an argument that the call does not have."""


def argument_hint(name: str, allowed: Sequence[str], also: Sequence[str] = ()) -> str:
    """Return the hint for an argument that a call does not accept, otherwise "".

    `allowed` names the roles that the call accepts, and `also` its other arguments.
    """
    # Calls of metrics have a cutoff, which is no role.
    cut = ("k",) if "min_relevance" in allowed else ()
    role = role_meant(name, [*allowed, *cut, *also])
    if role:
        return f"did you mean {role!r}?"
    return ARGUMENT_HINTS.get(name.lower(), "") or closest(name, [*also, *allowed])
