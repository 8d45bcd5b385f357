"""The names of metrics in strings: aliases, other libraries' spellings, what is refused, and what hints name."""

from __future__ import annotations

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

import recframe
from compare import item
from recframe import errors, metrics
from recframe.metrics import METRICS, NAMES, parse
from recframe.metrics._spelling import plain, split

SOURCE = Path(recframe.__file__).parent
SPELLINGS = {
    # trec_eval
    "P_5": "precision@5",
    "recall_10": "recall@10",
    "map": "map",
    "map_cut_10": "map(norm=relevant)@10",
    "ndcg_cut_10": "ndcg@10",
    "ndcg_cut.10": "ndcg@10",
    "recip_rank": "mrr",
    "Rprec": "r_precision",
    "success_1": "hit_rate@1",
    "set_F": "f1",
    "set_P": "precision",
    "set_recall": "recall",
    "bpref": "bpref",
    "iprec_at_recall_0.10": "iprec(recall=0.1)",
    "iprec_at_recall_0.00": "iprec(recall=0.0)",
    "11pt_avg": "iprec",
    "num_rel_ret": "num_rel_ret",
    # ir_measures
    "P@5": "precision@5",
    "R@10": "recall@10",
    "AP": "map",
    "RR": "mrr",
    "RR@10": "mrr@10",
    "nDCG@10": "ndcg@10",
    "Success@5": "hit_rate@5",
    "ERR@20": "err@20",
    "RBP(p=0.5)": "rbp(p=0.5)",
    "IPrec@0.1": "iprec(recall=0.1)",
    "SetP": "precision",
    "SetR": "recall",
    "Bpref": "bpref",
    "Judged@10": "judged@10",
    "NumRel": "num_rel",
    "NumRet": "num_ret",
    "NumRelRet": "num_rel_ret",
    "F(beta=2)@10": "fbeta@10",
    "F(beta=0.5)": "fbeta(beta=0.5)",
    # ranx
    "hit_rate@5": "hit_rate@5",
    "mrr@10": "mrr@10",
    "ndcg_burges@10": "ndcg(gain=exp2)@10",
    "dcg_burges": "dcg(gain=exp2)",
    # RecBole, LightGBM, XGBoost, CatBoost
    "NDCG@10": "ndcg@10",
    "HR@10": "hit_rate@10",
    "Hit@10": "hit_rate@10",
    "ndcg@5": "ndcg@5",
    "map@5": "map@5",
    "auc": "roc_auc",
    "AUC": "roc_auc",
    "pre@5": "precision@5",
    "GAUC": "gauc",
    "PFound": "pfound",
    # scikit-learn, recommenders, RecTools
    "ndcg_score": "ndcg",
    "roc_auc_score": "roc_auc",
    "average_precision_score": "pr_auc(points=thresholds)",
    "precision_at_k": "precision",
    "map_at_10": "map@10",
    "HitRate@5": "hit_rate@5",
    "RPrecision": "r_precision",
    "F1Beta@5": "fbeta(beta=1)@5",
    "IntraListDiversity@5": "diversity@5",
    "CatalogCoverage@5": "coverage@5",
    # by letter
    "p": "precision",
    "r": "recall",
    "ap": "map",
    "rr": "mrr",
    "hr": "hit_rate",
    "hit": "hit_rate",
    "success": "hit_rate",
    # the decimals of an option, as ranx reads them
    "rbp.90": "rbp(p=0.9)",
    "RBP.5": "rbp(p=0.5)",
}


@pytest.mark.parametrize(("text", "meant"), SPELLINGS.items())
def test_spellings_of_other_libraries(text, meant):
    assert str(parse(text)) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [("r-precision", "r_precision"), ("PR-AUC", "pr_auc"), ("hit-rate@5", "hit_rate@5"), ("rec@10", "recall@10"),
     ("avg_precision", "map"), ("normalized_dcg@5", "ndcg@5"), ("tau", "kendall"), ("rho", "spearman")],
)  # fmt: skip
def test_names_that_a_hint_got_wrong(text, meant):
    assert str(parse(text)) == meant


def test_each_name_and_alias_names_one_metric():
    names = [plain(split(alias)[0]) for kind in METRICS.values() for alias in (kind.name, *kind.aliases)]
    assert sorted(names) == sorted(set(names)) == sorted(NAMES)
    for kind in METRICS.values():
        for alias in kind.aliases:
            assert type(parse(alias)) is kind
            assert parse(alias).options == split(alias)[1]


def frame():
    library = pytest.importorskip("polars" if find_spec("polars") else "pandas")
    return library.DataFrame({"user": [1, 1], "item": [1, 2], "relevant": [0, 1], "score": [0.9, 0.1]})


def test_columns_carry_the_canonical_name():
    result = recframe.rec(frame()).evaluate(["P_1", "recip_rank", "nDCG@2"])
    assert list(result.columns) == ["precision@1", "mrr", "ndcg@2"]


REFUSED = {
    "ndcg@5-": "'ndcg@5', and undefined=0.0",
    "ndcg-": "'ndcg', and undefined=0.0",
    "ndcg-l2@5": "'ndcg@5', and min_relevance=2",
    "AP(rel=2)@100": "give the call min_relevance=2",
    "P_5@10": "names two cutoffs",
    "ndgc@10": "is unknown\n\nHint: did you mean 'ndcg'? There are precision, recall, ",
    "recipe_rank": "did you mean 'mrr'",
    "hitrat": "did you mean 'hit_rate'",
    "ndcg(k=5)@10": "names two cutoffs",
    "P_5(k=5)": "names two cutoffs",
    "ndcg(gain)": "option 'gain' has no value",
    "ndcg(gain=exp2,gain=linear)": "gives the option 'gain' twice",
    "IPrec(recall=0.5)@0.1": "names two recalls",
    "ndcg@5, map@5": "['ndcg@5', 'map@5']",
    "ndcg(gain=exp2),map": "['ndcg(gain=exp2)', 'map']",
    "auc(max_fpr=0.1)": "partial_auc(max_fpr=0.1)",
    "hits@10": "'hit_rate' is 1 for a list with a relevant item in its top k, 'num_rel_ret' counts these items",
    "gm_map": "'map', and mean='geometric' for the call",
    "gm_bpref": "'bpref', and mean='geometric' for the call",
    "recall@5,10": "['recall@5', 'recall@10'], or 'recall' and k=[5, 10]",
    "ndcg@5,map": "['ndcg@5', 'map']",
    "AP(judged_only=True)": "give the call condensed=True",
    "rbp.90(p=0.5)": "gives the option 'p' twice",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_refusal_says_what_to_write(text):
    with pytest.raises(recframe.OptionError, match=re.escape(REFUSED[text])):
        parse(text)


def graded_frame():
    library = pytest.importorskip("polars" if find_spec("polars") else "pandas")
    return library.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "relevant": [1, 2, 0], "score": [0.9, 0.5, 0.1]})


def test_a_name_may_hold_the_least_relevance_of_the_call():
    graded = graded_frame()
    rec = recframe.rec(graded)
    assert item(rec.evaluate("AP(rel=2)@100")) == rec.map(100, min_relevance=2) == 0.5
    result = rec.evaluate(["AP(rel=2)@100", "P(rel=2)@2"])
    assert list(result.columns) == ["map@100", "precision@2"]
    assert [result[name][0] for name in result.columns] == [0.5, 0.5]
    assert item(rec.evaluate("AP(rel=2)", min_relevance=2)) == 0.5
    assert item(rec.evaluate("AP(rel=2)", like="trec_eval")) == 0.5
    assert "min_relevance=2" in str(recframe.explain("AP(rel=2)"))
    for names, given, text in (
        (["AP(rel=high)"], {}, "rel='high' is not a number"),
        (
            ["NumRet(rel=1)"],
            {},
            "num_ret reads no relevance, so rel=1 means nothing\n\nHint: 'num_ret', or 'num_rel_ret'",
        ),
        (["coverage(rel=1)"], {}, "coverage reads no relevance"),
    ):
        with pytest.raises(recframe.RecError, match=re.escape(text)):
            rec.evaluate(names, **given)


def test_a_level_wins_over_that_of_the_call():
    rec = recframe.rec(graded_frame())
    result = rec.evaluate(["AP(rel=2)", "P(rel=2)@2"], min_relevance=1)
    assert list(result.columns) == ["map", "precision@2"]
    assert [result[name][0] for name in result.columns] == [0.5, 0.5]
    liked = rec.evaluate(["AP(rel=2)@3", "RR(rel=2)"], like="ir_measures")
    assert list(liked.columns) == ["map@3", "mrr"]
    assert liked["mrr"][0] == 0.5


class Measure:
    """A stand-in for a measure of ir_measures, which is told by the module of its class."""

    __module__ = "ir_measures.measures.ap"

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


def test_measures_of_ir_measures_are_metrics():
    rec = recframe.rec(graded_frame())
    result = rec.evaluate([Measure("AP(rel=2)@100"), Measure("nDCG@2"), "P@1"], min_relevance=2)
    assert list(result.columns) == ["map@100", "ndcg@2", "precision@1"]
    assert item(rec.evaluate(Measure("RR"))) == rec.mrr()
    assert list(rec.evaluate(Measure("P"), k=2).columns) == ["precision@2"]
    assert len(rec.contributions(Measure("P@2"))) == 2
    ir = pytest.importorskip("ir_measures")
    result = rec.evaluate([ir.AP(rel=2) @ 100, ir.nDCG @ 2, ir.P @ 1, ir.RBP(p=0.9)], min_relevance=2)
    assert list(result.columns) == ["map@100", "ndcg@2", "precision@1", "rbp(p=0.9)"]


def test_all_unknown_names_of_a_call_are_in_one_error():
    with pytest.raises(recframe.OptionError) as caught:
        recframe.rec(frame()).evaluate(["foo@3", "mrr", "gm_map", "hits@10", "ndgc"], 5)
    told = str(caught.value)
    assert told.startswith("the metrics 'foo', 'gm_map', 'hits', 'ndgc' are unknown")
    hints = told.partition("Hint: ")[2]
    for hint in (
        "'gm_map': 'map', and mean='geometric'",
        "'hits': 'hit_rate' is 1",
        "'num_rel_ret' counts",
        "did you mean 'ndcg'",
    ):
        assert hint in hints
    assert "foo" not in hints


def test_a_profile_that_reads_the_whole_list_says_how_to_write_it():
    rec = recframe.rec(graded_frame())
    assert list(rec.evaluate(["rbp.90", "rbp.5"], like="ranx").columns) == ["rbp(p=0.9)", "rbp(p=0.5)"]
    with pytest.raises(recframe.OptionError, match=re.escape("Hint: leave out the cutoff: 'rbp'")):
        rec.evaluate("rbp_90", like="ranx")


def test_names_in_one_text_are_split_if_all_are_names():
    for text, hint in (("ndcg, map", "metrics=['ndcg', 'map']"), ("ndcg, m@@p", None), ("ndcg@@5", None)):
        with pytest.raises(recframe.OptionError, match=re.escape(hint or "write 'ndcg@10'")) as caught:
            parse(text)
        assert hint is not None or "metrics=" not in str(caught.value)


@pytest.mark.parametrize("given", [[1, 2], (5,), {3}, range(2), "5", 2.5, {"k": 5}])
def test_several_cutoffs_are_for_evaluate(given):
    with pytest.raises(recframe.OptionTypeError, match=r"k=.* is of type|k=2\.5") as caught:
        METRICS["ndcg"](given)
    assert ("for several cutoffs use evaluate" in str(caught.value)) == isinstance(given, list | tuple | set | range)


@pytest.mark.parametrize("library", ["polars", "pandas", "numpy"])
def test_an_array_of_cutoffs_is_no_cutoff(library):
    library = pytest.importorskip(library)
    ks = library.array([1, 2]) if hasattr(library, "ndarray") else library.Series([1, 2])
    with pytest.raises(recframe.OptionTypeError, match=r"for several cutoffs use evaluate\(..., k=\[...\]\)"):
        recframe.rec(graded_frame()).evaluate("ndcg", ks)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("hit rate", "did you mean 'hit_rate'?"),
        ("Hit Rate@5", "did you mean 'hit_rate@5'?"),
        ("precision at 5", "did you mean 'precision_at_5'?"),
        ("two words", "write 'ndcg@10' or"),
        ("ils@3", "'diversity' is 1 minus"),
        ("popularity", "'arp' is the mean"),
        ("surprisal", "'novelty' is the mean"),
        ("unexpectedness", "'serendipity' is the share"),
        ("Accuracy", "accuracy judges labels"),
        ("log_loss", "errors of predicted numbers"),
    ],
)
def test_words_of_other_libraries_have_a_hint(text, hint):
    with pytest.raises(recframe.OptionError, match=re.escape(f"Hint: {hint}")):
        parse(text)


def test_a_text_is_too_long_for_a_name_from_1001_characters_on():
    with pytest.raises(recframe.OptionError, match="is not the name of a metric"):
        parse("-" * 1000)
    with pytest.raises(recframe.OptionError, match="has 1001 characters, but the name of a metric up to 1000"):
        parse("-" * 1001)


def test_nothing_unrelated_is_suggested():
    with pytest.raises(recframe.OptionError) as caught:
        parse("clicks@10")
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["ndcg(gain=" + "-" * 100_000 + "1)", "ndcg" * 1000, "ndcg@" + "9" * 5000, "rbp(p=" + "[" * 900 + ")"]
)
def test_long_and_deep_strings_are_refused(text):
    with pytest.raises(recframe.OptionError) as caught:
        parse(text)
    assert len(str(caught.value)) < 3000


def test_an_option_given_to_the_call_is_named_in_the_metric():
    rec = recframe.rec(frame())
    for call in (
        lambda: rec.evaluate("ndcg@10", gain="exp2"),
        lambda: rec.evaluate(["map", "ndcg@10"], gain="exp2"),
        lambda: rec.contributions("ndcg@10", gain="exp2"),
    ):
        with pytest.raises(recframe.OptionTypeError, match=re.escape("Hint: 'ndcg(gain=exp2)@10'")):
            call()


def test_a_wrong_method_names_the_right_one():
    rec = recframe.rec(frame())
    for wrong, right in (
        ("ndgc", "ndcg"), ("auc", "roc_auc"), ("recip_rank", "mrr"), ("evalute", "evaluate"), ("validate", "check"),
        ("ttest", "compare"), ("rrf", "fuse"), ("from_lists", "recframe.from_lists"),
    ):  # fmt: skip
        assert not hasattr(rec, wrong)
        with pytest.raises(AttributeError, match=f"did you mean '{right}'") as caught:
            getattr(rec, wrong)
        assert isinstance(caught.value, recframe.RecError)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("user", "by"),
        ("y_true", "relevant"),
        ("pred", "score"),
        ("qrels", "truth"),
        ("usr", None),
        ("sample_weight", "weight"),
        ("ips", "propensity"),
        ("intent", "subtopic"),
        ("average", "mean"),
        ("genre", "per_item"),
    ],
)
def test_an_argument_of_other_libraries_is_known_by_meaning(given, meant):
    for call in (recframe.rec(frame()).ndcg, lambda **given: recframe.rec(frame()).evaluate("ndcg", **given)):
        with pytest.raises(recframe.OptionTypeError) as caught:
            call(**{given: "x"})
        assert (f"did you mean {meant!r}" in str(caught.value)) is bool(meant)


@pytest.mark.parametrize(
    ("method", "hint"),
    [
        ("ndcg_at_k", "did you mean 'ndcg'?"), ("map_at_10", "did you mean 'map'?"), ("hits", "'num_rel_ret' counts"),
        ("metrics", "did you mean 'recframe.metrics'?"), ("leaderboard", "did you mean 'evaluate'?"),
        ("per_user", "per='user' gives a row for each list"), ("ci", "did you mean 'describe'?"),
        ("bootstrap", "did you mean 'compare'?"), ("power", "sample_size"),
        ("sort", "did you mean 'top'?"),
    ],
)  # fmt: skip
def test_a_guessed_method_has_a_hint(method, hint):
    with pytest.raises(recframe.UnknownMethodError) as caught:
        getattr(recframe.rec(frame()), method)
    assert hint in str(caught.value).partition("Hint: ")[2]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"per_user": True}, "per='user' gives a row for each list"), ({"models": ["a"]}, "score=['old', 'new']"),
        ({"ks": [5, 10]}, "did you mean 'k'?"), ({"user_col": "u"}, "did you mean 'by'?"),
        ({"confidence": 0.9}, "describe and compare give intervals"), ({"tidy": True}, "unpivot it (polars) or melt it"),
        ({"bootstrap": 100}, "compare tests whether models differ"),
    ],
)  # fmt: skip
def test_a_guessed_argument_has_a_hint(given, hint):
    rec = recframe.rec(frame())
    for call in (lambda: rec.ndcg(**given), lambda: rec.evaluate("ndcg@10", **given)):
        with pytest.raises(recframe.OptionTypeError) as caught:
            call()
        assert hint in str(caught.value).partition("Hint: ")[2]
    for other in ("counts", "chance", "save"):
        with pytest.raises(recframe.OptionTypeError, match=rf"Hint: evaluate accepts {other}="):
            rec.ndcg(**{other: "prod.parquet"})


def test_a_call_without_its_arguments_says_what_it_accepts():
    rec = recframe.rec(frame())
    for call, text in (
        (rec.describe, "describe: missing a required argument: 'metrics'\n\nHint: describe(metrics, k, confidence=..."),
        (rec.report, "report: missing a required argument: 'path'\n\nHint: report(path, metrics, k"),
        (lambda: rec.fuse("sum", "both"), "fuse: too many positional arguments\n\nHint: fuse(method, name=..."),
        (lambda: rec.split(0.2), "split: too many positional arguments\n\nHint: split(fraction=..."),
        (rec.evaluate, "evaluate: missing a required argument: 'metrics'"),
        (lambda: rec.evaluate(metric="ndcg"), "argument: 'metrics'\n\nHint: did you mean 'metrics'?"),
        (lambda: rec.tune_fusion(metrics="ndcg"), "argument: 'metric'\n\nHint: did you mean 'metric'?"),
    ):
        with pytest.raises(recframe.OptionTypeError, match=re.escape(text)):
            call()
    with pytest.raises(recframe.OptionError, match=r"(?s)fuse joins several models.*score=\['old', 'new'\]"):
        rec.fuse(["a", "b"])
    pytest.importorskip("altair")
    for call, text in (
        (rec.plot, "plot holds the charts curve"),
        (rec.plot.curve, "curve: missing a required argument"),
    ):
        with pytest.raises(recframe.OptionTypeError, match=text):
            call()


def test_what_the_package_lacks_is_named_where_it_is():
    for name, hint in (
        ("ndcg", "df.rec.ndcg(...), or recframe.rec(df).ndcg(...)"), ("evaluate", "df.rec.evaluate(...)"),
        ("from_list", "did you mean 'from_lists'?"), ("read_runs", "did you mean 'read_run'?"),
    ):  # fmt: skip
        assert not hasattr(recframe, name)
        with pytest.raises(AttributeError, match=re.escape(hint)):
            getattr(recframe, name)


def test_a_frame_without_a_key_may_be_one_list():
    keyless = frame()[["item", "relevant", "score"]]
    with pytest.raises(recframe.MissingColumnError, match="Hint: by=None, if the frame is one list"):
        recframe.rec(keyless).ndcg()


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_columns_say_where_the_namespace_is(library):
    module = pytest.importorskip(library)
    column = module.DataFrame({"score": [0.5]})["score"]
    with pytest.raises(
        recframe.UnknownMethodError, match=r"Hint: call it on the frame.*df\.rec\.ndcg\(by='user', score="
    ):
        column.rec.ndcg(10)


@pytest.mark.parametrize(
    ("option", "given", "meant"),
    [("mean", "mean", "arithmetic"), ("mean", "gmean", "geometric"), ("mean", "hmean", "harmonic"),
     ("ties", "avg", "average"), ("ties", "random", "average"), ("lists", "every", None)],
)  # fmt: skip
def test_a_word_of_other_libraries_is_known_by_meaning(option, given, meant):
    with pytest.raises(recframe.OptionError) as caught:
        recframe.rec(frame()).mrr(**{option: given})
    assert str(caught.value).endswith(f"did you mean {meant!r}?" if meant else "'both'")


def test_columns_in_one_text_are_named_in_a_list():
    with pytest.raises(recframe.MissingColumnError, match=re.escape("score=['score', 'item']")):
        recframe.rec(frame()).evaluate("mrr", score="score, item")


def test_a_frame_of_ranks_is_read_by_its_ranks():
    ranked = recframe.rec(frame()).top()
    ranked = ranked.drop("score") if hasattr(ranked, "lazy") else ranked.drop(columns="score")
    assert recframe.rec(ranked).ndcg() == recframe.rec(frame()).ndcg()
    other = recframe.rec(ranked).top(name="position")
    other = other.drop("rank") if hasattr(other, "lazy") else other.drop(columns="rank")
    with pytest.raises(recframe.MissingColumnError, match="no such column; it has .*'position'"):
        recframe.rec(other).ndcg()


def test_custom_metrics_without_name_or_value_are_named():
    class Nameless(recframe.Metric):
        def value(self, sums):
            return sums["hits"]

    class Worthless(recframe.Metric):
        name = "worthless"

    for metric, lacks in ((Nameless(), "Nameless has no name"), (Worthless(), "Worthless has no method value")):
        with pytest.raises(recframe.OptionTypeError, match=lacks):
            recframe.rec(frame()).evaluate(metric)


def test_the_packages_of_extras_are_those_of_the_project():
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    extras = declared["project"]["optional-dependencies"]

    def packages_of(extra):
        inner = re.compile(r"recframe\[(\w+)\]")
        for each in extras[extra]:
            own = inner.fullmatch(each)
            yield from packages_of(own[1]) if own else [re.split(r"[<>=\[]", each)[0]]

    for extra, packages in errors.PACKAGES.items():
        assert tuple(packages_of(extra)) == packages
    used = set(re.findall(r'MissingExtraError\.of\([^)]*"(\w+)"\)', "".join(map(Path.read_text, SOURCE.rglob("*.py")))))
    assert used <= set(errors.PACKAGES)
    assert "pip install numpy" in str(errors.MissingExtraError.of("from_factors", "factors"))


def test_pages_of_metrics_name_every_alias():
    pages = Path(__file__).parents[2] / "docs" / "metrics"
    for name, kind in metrics.METRICS.items():
        page = (pages / f"{name}.md").read_text(encoding="utf-8")
        assert all(f'`"{alias}"`' in page for alias in kind.aliases), name
