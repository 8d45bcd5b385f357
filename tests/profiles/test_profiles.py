"""Profiles: what wins, what is refused, and what results are called."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import recframe
from recframe import metrics, profiles
from recframe._base.roles import Like
from recframe.metrics import METRICS
from recframe.profiles import PROFILES, Profile

# One list of five, as in the README: c and d are relevant, but were not recommended.
FIVE_ITEMS = {
    "user": [1] * 7,
    "item": ["a", "x", "b", "y", "z", "c", "d"],
    "relevant": [3, 0, 1, 0, 0, 2, 1],
    "score": [10.0, 9.0, 8.0, 7.0, 6.0, None, None],
}
NDCG = {
    "trec_eval": 0.6740, "ranx": 0.6740, "recometrics": 0.6740, "rectools": 0.3301, "recommenders": 0.5856,
    "spark": 0.5856, "sklearn": 0.9639, "torchmetrics": 0.9639,
    "lightgbm": 0.9828, "xgboost": 0.9828, "catboost": 0.9639, "ir_measures": 0.6740, "recbole": 0.5856,
    "replay": 0.5856, "tensorflow_ranking": 0.9828, "lenskit": 0.5209,
    "mlflow": 0.5856, "llama_index": 0.5856, "sentence_transformers": 0.5856,
    "evidently": 0.9639,
}  # fmt: skip
# u1 is served and judged, u2 served only, u3 judged only, u4 both without anything relevant.
FRAME = {"user": ["u1", "u1", "u2", "u4"], "item": [1, 2, 1, 1], "score": [2.0, 1.0, 1.0, 1.0]}
TRUTH = {"user": ["u1", "u3", "u4"], "item": [2, 1, 1], "relevant": [1, 1, 0]}


def tied(engine, like):
    """Return the policy to give with a profile where a frame has no row order."""
    return {"ties": "average"} if like and engine.lazy and PROFILES[like].ties == "first" else {}


def test_every_profile_has_its_name():
    modules = [import_module(f"recframe.profiles.{path.stem}") for path in Path(profiles.__file__).parent.glob("_*.py")]
    records = {name.lower() for module in modules for name, each in vars(module).items() if isinstance(each, Profile)}
    assert list(PROFILES) == list(get_args(Like))
    assert records == {*PROFILES}
    for name, profile in PROFILES.items():
        assert profile.name == name
        assert {*profile.metrics} <= {*METRICS} and {*profile.refused} <= {*METRICS}
        assert not {*profile.metrics} & {*profile.refused}


@pytest.mark.parametrize("like", NDCG)
def test_one_list_as_every_library_sees_it(engine, like):
    result = engine.ask(engine.frame(FIVE_ITEMS), "ndcg", 10, like=like, **tied(engine, like))
    assert result == pytest.approx(NDCG[like], abs=5e-5)


def test_columns_have_the_requested_names(engine):
    requested = ["ndcg@10", "ndcg(ideal=all)@10", "ndcg(gain=linear)@3", metrics.MAP(5)]
    result = engine.ask(engine.frame(FIVE_ITEMS), "evaluate", requested, like="rectools", per="user")
    assert list(result[0]) == ["user", "ndcg@10", "ndcg(ideal=all)@10", "ndcg(gain=linear)@3", "map@5"]
    assert result[0]["ndcg@10"] == pytest.approx(0.3301, abs=5e-5)
    assert result[0]["ndcg(ideal=all)@10"] == pytest.approx(0.5856, abs=5e-5)


def test_an_option_given_by_name_wins(engine):
    frame = engine.frame(FIVE_ITEMS)
    plain = engine.ask(frame, "ndcg", 10, gain="binary")
    assert engine.ask(frame, "ndcg", 10, like="rectools", ideal="all") == pytest.approx(plain)
    assert engine.value(frame, "ndcg(ideal=all)@10", like="rectools") == pytest.approx(plain)
    # The default value counts when it is spelled, but a metric object cannot tell it from silence.
    ones = engine.ask(frame, "ndcg", 10, gain="binary", ideal="ones")
    assert engine.value(frame, metrics.NDCG(10, ideal="all"), like="rectools") == pytest.approx(ones)
    assert engine.value(frame, metrics.NDCG(10, ideal="ranked"), like="rectools") == pytest.approx(
        engine.ask(frame, "ndcg", 10, gain="binary", ideal="ranked")
    )


def test_a_policy_given_or_bound_wins(engine):
    frame, truth = engine.frame(FRAME), engine.frame(TRUTH)
    assert engine.ask(frame, "mrr", truth=truth, like="trec_eval") == 0.25
    assert engine.ask(frame, "mrr", truth=truth, like="trec_eval", undefined="skip") == 0.5
    assert engine.ask(frame, "mrr", truth=truth, like="trec_eval", lists="all") == 0.125
    assert engine.ask(frame, "mrr", truth=truth, like="trec_eval", min_relevance=0) == pytest.approx(0.75)


@pytest.mark.parametrize("like", ["trec_eval", "ir_measures"])
def test_ids_of_text_tie_in_the_order_of_text(engine, like):
    # To them 9 is larger than 10; integers are compared as numbers here, which the profiles say.
    for ids, result in ((("9", "10"), 0.5), ((9, 10), 1.0)):
        rows = [{"user": 1, "item": item, "relevant": int(item == ids[1]), "score": 1.0} for item in ids]
        assert engine.ask(engine.frame(rows), "mrr", like=like) == result
    assert "9 is larger than 10" in " ".join(str(recframe.explain("mrr", like=like)).split())


def test_bound_roles_count_as_given():
    polars = pytest.importorskip("polars")
    frame, truth = polars.DataFrame(FRAME), polars.DataFrame(TRUTH)
    assert frame.rec(truth=truth, like="trec_eval").mrr() == 0.25
    assert frame.rec(truth=truth, undefined="skip").mrr(like="trec_eval") == 0.5


@pytest.mark.parametrize(
    ("lists", "undefined", "values"),
    [
        ("all", "skip", [0.5, 0.0]),
        ("all", 0.25, [0.5, 0.25, 0.0, 0.25]),
        ("truth", 0.25, [0.5, 0.0, 0.25]),
        ("ranked", 0.25, [0.5, 0.25, 0.25]),
        ("both", 0.25, [0.5, 0.25]),
        ("both", "skip", [0.5]),
    ],
)
def test_which_lists_are_averaged(engine, lists, undefined, values):
    frame, truth = engine.frame(FRAME), engine.frame(TRUTH)
    given = {"truth": truth, "lists": lists, "undefined": undefined}
    assert engine.ask(frame, "mrr", **given) == pytest.approx(sum(values) / len(values))
    assert engine.ask(frame, "mrr", 3, **given) == pytest.approx(sum(values) / len(values))
    each = [row["mrr"] for row in engine.ask(frame, "mrr", per="user", **given)]
    assert sorted(value for value in each if value is not None) == sorted(values)


def test_lists_of_several_models(engine):
    rows = [
        {"model": m, "user": u, "item": i, "score": s} for m in "ab" for u, i, s in zip(*FRAME.values(), strict=True)
    ]
    rows = [row for row in rows if not (row["model"] == "b" and row["user"] == "u4")]
    result = engine.ask(
        engine.frame(rows), "evaluate", "mrr", model="model", truth=engine.frame(TRUTH), like="trec_eval"
    )
    assert {row["model"]: row["mrr"] for row in result} == {"a": 0.25, "b": 0.5}


def test_a_metric_without_a_cutoff_there_is_computed_once(engine):
    result = engine.ask(
        engine.frame(FIVE_ITEMS), "evaluate", ["mrr", "ndcg", "r_precision"], k=[1, 3], like="trec_eval"
    )
    assert list(result[0]) == ["mrr", "ndcg@1", "ndcg@3", "r_precision"]


@pytest.mark.parametrize(
    ("requested", "given", "message"),
    [
        ("err@5", {"like": "trec_eval"}, r"(?s)like='trec_eval' refuses err: .*leave out like="),
        ("roc_auc", {"like": "rectools"}, "refuses roc_auc: its PartialAUC"),
        ("r_precision", {"like": "rectools"}, r"recall\(capped=True\)"),
        (
            "partial_auc",
            {"like": "rectools"},
            "refuses partial_auc: its PartialAUC stops at a number of irrelevant rows",
        ),
        (
            "bpref",
            {"like": "ranx"},
            "negative grades as judged, is nan for lists with a hit and nothing judged irrelevant",
        ),
        ("map", {"like": "sklearn"}, "use pr_auc"),
        (
            "rbp",
            {"like": "trec_eval"},
            r"two variables it never sets \(m_rbp\.c\).*it computes rbp\(p=0\.9,gain=linear\)",
        ),
        *(
            (name, {"like": "ir_measures"}, "ties by the smaller item name")
            for name in ("judged@5", "alpha_ndcg@5", "err_ia")
        ),
        ("gauc", {"like": "ir_measures"}, "the profile holds no definition of ir_measures for it"),
        ("mrr@5", {"like": "ir_measures"}, "accepts no cutoff for mrr: RR"),
        ("coverage@5", {"like": "replay"}, "use coverage with catalog="),
        ("opa", {"like": "tensorflow_ranking"}, "gives tied pairs 0"),
        ("map@5", {"like": "lenskit"}, r"divides by min\(R, N\) if N < k rows are ranked"),
        ("f1@5", {"like": "evidently"}, "combines the mean precision and the mean recall"),
        ("roc_auc", {"like": "xgboost"}, "counts pairs of equal labels"),
        ("roc_auc", {"like": "catboost"}, "QueryAUC counts a tied pair one half"),
        ("ndcg", {"like": "lightgbm"}, "needs a cutoff for ndcg"),
        ("coverage@5", {"like": "rectools"}, "metrics that read the relevance"),
        ("mrr@10", {"like": "trec_eval"}, "accepts no cutoff for mrr: recip_rank"),
        ("ndcg", {"like": "rectools"}, r"(?s)needs a cutoff for ndcg.*'ndcg@10'"),
        ("ndcg@5", {"like": "trec-eval"}, r"(?s)like='trec-eval' is not one of .*did you mean 'trec_eval'"),
        ("ndcg@5", {"like": 3}, "like=3 is not one of"),
        ("ndcg@5", {"lists": "some"}, "lists='some' is not one of"),
    ],
)
def test_what_is_refused_is_named(requested, given, message):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(FIVE_ITEMS)
    with pytest.raises(recframe.OptionError, match=message):
        frame.rec.evaluate(requested, **given)
    with pytest.raises(recframe.OptionError, match=message):
        frame.rec.evaluate([requested], **given)


def test_auc_of_a_list_without_a_pair_is_that_of_torchmetrics_by_default_only():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"user": [1, 1, 2, 2], "score": [0.9, 0.8, 0.7, 0.6], "relevant": [1, 1, 1, 0]})
    # RetrievalAUROC 1.9.0 gives 0.5 under each empty_target_action; peers/test_torchmetrics.py tests it again.
    assert frame.rec.roc_auc(like="torchmetrics") == 0.5
    assert frame.rec.roc_auc(like="torchmetrics", undefined="skip") == 1.0
    words = " ".join(str(recframe.explain("roc_auc", like="torchmetrics")).split())
    assert "With empty_target_action 'skip' or 'pos', a list with relevant rows but no pair counts 0.0" in words


def test_the_same_metric_twice_is_named():
    polars = pytest.importorskip("polars")
    with pytest.raises(recframe.OptionError, match="are the same under like='rectools'"):
        polars.DataFrame(FIVE_ITEMS).rec.evaluate(["ndcg@5", "ndcg(ideal=ones)@5"], like="rectools")


def test_the_rows_of_a_lazy_polars_frame_have_an_order():
    polars = pytest.importorskip("polars")
    assert polars.LazyFrame(FIVE_ITEMS).rec.ndcg(5, like="ranx").collect().item() == polars.DataFrame(
        FIVE_ITEMS
    ).rec.ndcg(5, like="ranx")


def test_row_order_of_a_relation_must_be_named():
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    relation = duckdb.from_arrow(polars.DataFrame(FIVE_ITEMS).to_arrow())
    with pytest.raises(recframe.OptionError, match=r"(?s)like='ranx' breaks ties by row order.*ties='average'"):
        recframe.rec(relation).ndcg(5, like="ranx")


def test_a_metric_of_ones_own_is_in_no_library():
    polars = pytest.importorskip("polars")

    class Mine(recframe.Metric):
        name = "mine"

        def value(self, sums):
            return sums.relevant

    with pytest.raises(recframe.OptionError, match="refuses mine"):
        polars.DataFrame(FIVE_ITEMS).rec.evaluate(Mine(), like="ranx")


# --- grades, levels, repeated items -----------------------------------------------------------------------

ONE_LIST = {"user": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0]}


def judged(*grades):
    return {"user": ["q"] * len(grades), "item": ["a", "b", "c"][: len(grades)], "relevant": list(grades)}


@pytest.mark.parametrize(
    ("like", "requested", "grades", "given", "value"),
    [
        # A negative grade has no gain, and in TorchMetrics it is in the ideal too.
        ("trec_eval", "ndcg", (-1, 1), {}, 1 / math.log2(3)),
        ("trec_eval", "ndcg(gain=exp2)", (-1, 1), {}, 1 / math.log2(3)),
        ("ranx", "ndcg", (-1, 1), {}, 1 / math.log2(3)),
        ("ranx", "ndcg(gain=exp2)", (-1, 1), {}, 1 / math.log2(3)),
        ("ranx", "dcg", (-1, 1), {}, 1 / math.log2(3)),
        ("ranx", "dcg(gain=exp2)", (-1, 1), {}, 1 / math.log2(3)),
        ("torchmetrics", "ndcg", (-1, 1), {}, -1.0),
        ("torchmetrics", "ndcg", (-1, -1), {}, 0.0),
        ("recometrics", "ndcg@2", (-1, 1), {}, -1 + 1 / math.log2(3)),
        ("sklearn", "dcg", (-1, 1), {}, -1 + 1 / math.log2(3)),
        ("recommenders", "ndcg(gain=linear)@2", (-1, 1), {}, -1.0),
        # Boosters see no item without a score, and count a list without a relevant row in their own ways.
        ("catboost", "ndcg", (0, 0), {}, 1.0),
        ("catboost", "map", (0, 0), {}, 0.0),
        ("catboost", "recall", (0, 0), {}, 1.0),
        ("catboost", "recall@1", (1, 2, 1), {}, 0.5),
        ("lightgbm", "map@2", (0, 0, 1), {}, 1.0),
        ("lightgbm", "map@2", (0, 1, 1), {}, 0.5),
        ("lightgbm", "ndcg(gain=linear)@2", (1, 2), {}, (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))),
        ("xgboost", "ndcg@2", (0, 0), {}, 1.0),
        ("xgboost", "ndcg@2", (0, 0), {"undefined": 0.0}, 0.0),
        ("xgboost", "precision@5", (1, 0), {}, 0.5),
        ("xgboost", "precision@5", (0, 0), {}, 0.0),
        ("catboost", "map", (1, 2), {"min_relevance": 2}, 0.5),
        ("ir_measures", "map", (0, 0), {}, 0.0),
        ("replay", "recall@1", (0, 5), {}, 0.5),
        ("replay", "map@1", (1, 1, 1), {}, 1.0),
        ("tensorflow_ranking", "map", (0, 1, 1), {}, 0.5),
        ("tensorflow_ranking", "recall@2", (0, 1, 1), {}, 1.0),
        # What their dcg adds up is named: DCGMetric 0.5335899 of TensorFlow Ranking 0.5.5, dcg_score of scikit-learn 1.9.1.
        ("tensorflow_ranking", "dcg", (0.5, 0.25), {}, 0.0),
        (None, "dcg(gain=exp2)", (0.5, 0.25), {"undefined": 0.0, "lists": "ranked"}, 0.5335899608157283),
        ("sklearn", "dcg", (-1, -2), {}, 0.0),
        (None, "dcg", (-1, -2), {"min_relevance": -2, "undefined": 0.0, "lists": "ranked"}, -2.2618595071429146),
        # LensKit's first two positions count alike, and with gain='rating' negative ones have no gain.
        ("lenskit", "ndcg@2", (0, 5), {}, 1.0),
        ("lenskit", "recall@1", (1, 1, 1), {}, 1.0),
        ("lenskit", "precision@5", (1, 0), {"min_relevance": 1}, 0.5),
        ("lenskit", "rbp", (1, 0), {"min_relevance": 1}, 0.15),
        ("lenskit", "ndcg(gain=linear)", (-1, 2, 1), {}, 2 / 3),
        ("lenskit", "dcg(gain=linear)", (-1, 2), {}, 2.0),
        # MLflow divides by what there is, and counts every list. LlamaIndex does not cut the ideal.
        ("mlflow", "precision@5", (1, 0), {"min_relevance": 1}, 0.5),
        ("mlflow", "ndcg@1", (0, 5, 1), {}, 1.0),
        ("llama_index", "ndcg@1", (0, 5), {}, 1 / (1 + 1 / math.log2(3))),
        ("llama_index", "map@1", (1, 1), {}, 0.5),
        ("sentence_transformers", "map@1", (1, 1), {}, 1.0),
        # Evidently sees the rows that it scores, and grades only where no level is given.
        ("evidently", "recall@1", (0, 1, 1), {}, 0.0),
        ("evidently", "map@5", (0, 1, 1), {}, 0.5),
        ("evidently", "ndcg@2", (1, 2), {}, (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))),
        ("evidently", "ndcg@2", (1, 2), {"min_relevance": 2}, 1 / math.log2(3)),
        # trec_eval's ndcg knows no level.
        ("trec_eval", "ndcg", (1, 2), {"min_relevance": 3}, 0.8597186998521972),
        ("trec_eval", "map", (1, 2), {"min_relevance": 3}, 0.0),
        # To ranx, grades below the level are 0.
        ("ranx", "ndcg", (1, 2), {"min_relevance": 2}, 1 / math.log2(3)),
        ("ranx", "dcg", (1, 2), {"min_relevance": 2}, 2 / math.log2(3)),
        # Every row of the truth counts, whatever its value.
        *((like, "recall@1", (0, 5), {}, 0.5) for like in ("recommenders", "spark", "rectools", "recometrics")),
        *((like, "recall@1", (-1, 5), {}, 0.5) for like in ("recommenders", "spark", "rectools", "recometrics")),
        *((like, "recall@1", (0, 5), {"min_relevance": 1}, 0.0) for like in ("recommenders", "spark", "rectools")),
        ("recometrics", "ndcg@2", (1, 2), {"min_relevance": 2}, 1 / math.log2(3)),
        ("recommenders", "ndcg(gain=linear)@2", (1, 2), {"min_relevance": 2}, 1 / math.log2(3)),
    ],
)
def test_grades_and_levels(engine, like, requested, grades, given, value):
    frame, truth = engine.frame(ONE_LIST), engine.frame(judged(*grades))
    result = engine.value(frame, requested, truth=truth, like=like, **given, **tied(engine, like))
    assert result == pytest.approx(value, abs=1e-12)


def test_without_a_truth_no_row_says_that_it_is_one_of_it(engine):
    frame = engine.frame({**ONE_LIST, "relevant": [0, 5]})
    for like in ("spark", "rectools", "recometrics"):
        assert engine.ask(frame, "recall", 1, like=like) == 0.0
    assert "every row of truth=" in recframe.explain("recall@1", like="spark")


@pytest.mark.parametrize(
    ("like", "requested", "given", "message"),
    [
        ("sklearn", "ndcg", {}, "holds -1, but under like='sklearn' ndcg accepts no relevance below 0"),
        ("sklearn", "ndcg", {"min_relevance": 2}, "refuses min_relevance=2 for ndcg_score, which knows no level"),
        ("sklearn", "dcg", {"min_relevance": 2}, "refuses min_relevance=2 for dcg_score"),
        ("lightgbm", "ndcg@2", {}, "under like='lightgbm' ndcg@2 accepts no relevance below 0"),
        ("tensorflow_ranking", "mrr", {}, "accepts no relevance below 0"),
        ("xgboost", "ndcg@2", {"min_relevance": 2}, "refuses min_relevance=2 for ndcg@k, which knows no level"),
        ("catboost", "dcg", {}, "under like='catboost' dcg accepts no relevance below 0"),
        ("catboost", "err", {}, "holds -1"),
        ("torchmetrics", "ndcg", {"min_relevance": 2}, "refuses min_relevance=2 for RetrievalNormalizedDCG"),
        ("spark", "ndcg(gain=exp2)@2", {"min_relevance": -1}, "refuses min_relevance=-1 for ndcgAt"),
    ],
)
def test_grades_and_levels_that_a_library_refuses(like, requested, given, message):
    polars = pytest.importorskip("polars")
    with pytest.raises(recframe.RecError, match=message):
        polars.DataFrame(ONE_LIST).rec.evaluate(requested, truth=polars.DataFrame(judged(-1, 1)), like=like, **given)


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
@pytest.mark.parametrize("like", PROFILES)
@pytest.mark.parametrize("side", ["frame", "truth"])
@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_repeated_items_are_refused(like, side, kind):
    frame = pytest.importorskip(kind).DataFrame
    rows, truth = dict(ONE_LIST), judged(1, 1)
    twice = rows if side == "frame" else truth
    twice["item"] = ["a", "a"]
    metric = next(iter(PROFILES[like].metrics))
    with pytest.raises(
        recframe.InputError, match=f"(?s)repeats 1 items of their lists, which like='{like}' refuses.*unique"
    ):
        frame(rows).rec.evaluate(metric, k=2, truth=frame(truth), like=like)
    assert frame(rows).rec.evaluate(metric, k=2, truth=frame(truth)).shape[0] == 1
