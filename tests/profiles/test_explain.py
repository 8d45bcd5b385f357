"""`explain`: what it says of metrics, options and policies in force, with a profile and without."""

from __future__ import annotations

import subprocess
import sys

import narwhals as nw
import pytest

import recframe
from recframe import metrics
from recframe.metrics import METRICS
from recframe.metrics._options import options_of
from recframe.profiles import PROFILES
from recframe.profiles._spec import spec_of

# One list of five, as in the README: c and d are relevant, but were not recommended.
ONE_LIST = {
    "user": [1] * 7,
    "item": ["a", "x", "b", "y", "z", "c", "d"],
    "relevant": [3, 0, 1, 0, 0, 2, 1],
    "score": [10.0, 9.0, 8.0, 7.0, 6.0, None, None],
}


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_explained(name):
    for requested in {name, f"{name}@7"} if issubclass(METRICS[name], metrics.CutMetric) else {name}:
        text = recframe.explain(requested)
        assert text.splitlines()[0].startswith(f"{requested}: ")
        assert repr(text) == str(text)
        assert max(map(len, text.splitlines())) <= 96
        assert {"ties", "undefined", "lists", "full name", "reference"} <= {
            line[:11].strip() for line in text.splitlines()
        }
        assert "@7" in text or "@" not in requested


def spellings(name):
    """Return a metric with each word of its options, and with a cutoff."""
    words = [f"{o.name}={word}" for o in options_of(METRICS[name]) for word in (*o.words, *[True] * (bool in o.kinds))]
    needed = {"positives=first": "negatives=2,"}
    written = [name, *(f"{name}({needed.get(word, '')}{word})" for word in words)]
    return written + [f"{one}@2" for one in written if issubclass(METRICS[name], metrics.CutMetric)]


@pytest.mark.parametrize("name", METRICS)
def test_what_a_list_scores_that_was_recommended_nothing(name):
    kind = METRICS[name]
    columns = {"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "relevant": [0, 1, 1, 0], "score": [2.0, 1.0, None, None]}
    frame = nw.from_dict(columns | {"seller": [*"abab"], "price": [1, 2, 3, 4]}, backend="pandas").to_native()
    given = ({"group": "seller"} if kind.reads_groups else {}) | ({"value": "price"} if "money" in name else {})
    if kind.required_inputs or name in ("alpha_ndcg", "err_ia") or "; one that was" not in recframe.explain(name):
        pytest.skip("it reads more, or leaves such lists out")
    for spelled in spellings(name):
        value = frame.rec.evaluate([spelled], per="user", **given).iloc[1, 1]
        text = spec_of(spelled).metric.unranked
        if value != value:  # noqa: PLR0124 - NaN
            assert text == "has no value"
        elif value in (0, 0.5) and text != "counts as the others":
            assert text == f"scores {value:g}"
        else:
            assert text in ("scores 1", "counts as the others", "scores the most: Σ over items of ε*²")
        assert f"nothing {text}" in " ".join(recframe.explain(spelled).split())


@pytest.mark.parametrize("like", PROFILES)
def test_every_metric_of_a_profile_is_explained(like):
    for name, definition in PROFILES[like].metrics.items():
        k = "@7" if definition.cut == "needed" and issubclass(METRICS[name], metrics.CutMetric) else ""
        text = " ".join(recframe.explain(name + k, like=like).split())
        assert f"{name}{k} like {PROFILES[like].title}, which calls it {definition.calls}" in text
        assert definition.departs in text
        assert all(departs in text for departs in PROFILES[like].departs)
        for option, value in definition.options.items():
            assert f"{option}={value}" in text


def test_what_is_spelled_gives_the_same_without_the_profile(engine):
    text = recframe.explain("ndcg@10", like="sklearn")
    spelled = next(line for line in text.splitlines() if line.startswith("full name")).split(None, 2)[2]
    assert spelled == "ndcg(ideal=ranked)@10, ties='average', undefined=0.0, lists='ranked'"
    result = engine.value(
        engine.frame(ONE_LIST), "ndcg(ideal=ranked)@10", ties="average", undefined=0.0, lists="ranked"
    )
    assert result == pytest.approx(engine.ask(engine.frame(ONE_LIST), "ndcg", 10, like="sklearn"))


@pytest.mark.parametrize(
    ("requested", "given", "words"),
    [
        ("precision(denominator=list)@5", {}, "h(5) / min(5, N)"),
        ("recall(capped=True)@5", {}, "h(5) / min(R, 5)"),
        ("recall(capped=True)", {}, "h(N) / R"),
        ("map(norm=hits)@5", {}, "divided by h(5)"),
        ("map(norm=hits)@5", {}, "ratio of the expected sums where a tied block straddles k"),
        ("dcg(gain=exp2,discount=reciprocal)@5", {}, "gain(r) = 2^relevance − 1"),
        ("rbp(p=0.5,gain=linear)", {}, "relevance·p^(r−1) p = 0.5"),
        ("ndcg@5", {"ties": "worst"}, "of rows of equal score the less relevant first"),
        ("judged@5", {"ties": "best"}, "of rows of equal score the more relevant first"),
        ("recall(over=ranked)@5", {}, "undefined a list without relevant rows, or without a ranked one: left out"),
        ("roc_auc(over=ranked)", {}, "whose ranked rows are all relevant or all irrelevant: left out of the mean"),
        ("roc_auc@5", {}, "whose rows in the top 5 are all relevant or all irrelevant: left out of the mean"),
        ("novelty@5", {}, "an item that the training data lacks counts as seen once"),
        ("novelty(unseen=zero,unit=interactions)@5", {}, "an item that the training data lacks adds nothing"),
        ("ndcg@5", {"undefined": 0.5}, "counts as 0.5"),
        ("judged@10", {}, "undefined a list without a ranked row: left out of the mean"),
        ("recall@10", {"propensity": "p", "estimator": "pooled"}, "shares divide sums over all lists"),
        ("recall@10", {"propensity": "p", "estimator": "pooled"}, "propensity='p', estimator='pooled'"),
        ("judged@10", {"undefined": 0}, "undefined a list without a ranked row: counts as 0.0"),
        ("num_ret@10", {}, "undefined no list: each has a value"),
        ("num_rel_ret@10", {}, "even one without relevant rows, which precision and recall leave out"),
        ("user_coverage@10", {}, "undefined no list: each has a value"),
        ("novelty@10", {}, "undefined a list without a usable item: left out of the mean"),
        ("coverage@10", {}, "undefined one value of all lists, not a mean; without a catalogued item: missing"),
        ("ndcg(grades=positive)@10", {}, "undefined a list whose ideal is 0: left out of the mean"),
        ("ndcg@10", {}, "undefined a list without relevant rows, or whose ideal is 0: left out of the mean"),
        ("ndcg@5", {"min_relevance": 3}, "a relevance of at least 3"),
        ("ndcg@5", {"lists": "both"}, "that the truth knows and that were recommended something"),
        ("gauc", {}, "a list weighs as many rows as it has"),
        ("err(max_relevance=4)", {}, "max = 4"),
        (metrics.PFound(5, probability={1: 0.2}), {}, "0.2 for relevance 1, else 0"),
        (metrics.DCG(5, discount=nw.Expr.sqrt), {}, "discount(r) = sqrt(r)"),
        ("mrr", {"like": "trec_eval", "ties": "item"}, "the smaller item first"),
        ("recall@5", {"propensity": "p"}, "estimate each relevant item counts as 1 / p items"),
        ("mrr", {"sampled": (99, 1000)}, "of lists of 1000 items, from 99 sampled ones and a relevant one"),
        ("mrr", {"sampled": (99, 1000), "estimator": "rank"}, "sampled=(99, 1000), estimator='rank'"),
        ("mrr", {"sampled": (99, 1000), "estimator": "cls"}, "the least squared bias of values that do not grow"),
        ("ndcg(gain={1:3,2:7})", {}, "gain(r) = 3 for relevance 1, 7 for relevance 2, else 0, of the row"),
        ("ndcg(gain=binary)", {}, "gain(r) = 1 for what is relevant, else 0, of the row"),
        ("ndcg(grades=positive)", {}, "gain(r) = relevance, 0 where that is negative, of the row"),
        ("dcg(gain=exp2,grades=relevant)", {}, "gain(r) = 2^relevance − 1, 0 where that is negative or not relevant"),
        (metrics.DCG(5, gain=nw.Expr.sqrt), {}, "gain(r) = sqrt(relevance), 0 where that is not above 0"),
        ("novelty(unit=interactions)@2", {}, "of −log2(interactions of the item / interactions) / 2"),
        ("arp(unit=interactions)@2", {}, "Σ r≤2 of interactions of the item, divided by min(2, N)"),
        ("mrr", {"condensed": True}, "judged unjudged rows are left out before the rest is ranked"),
        ("mrr", {"mean": "geometric", "weight": "w"}, "mean geometric, of lists with the weight w"),
        ("roc_auc", {"sampled": (99, 1000)}, "the expected value is the value of full lists"),
    ],
)
def test_explanations_name_options_and_policies(requested, given, words):
    assert words in " ".join(recframe.explain(requested, **given).split())


@pytest.mark.parametrize("label", ["recall@5", "r_precision", "map"])
def test_explanations_name_the_relevant_rows_that_count(label):
    name, at, k = label.partition("@")
    text = "R: the relevant rows of the list that are ranked; others do not exist"
    assert text in str(recframe.explain(f"{name}(over=ranked){at}{k}"))
    assert text not in str(recframe.explain(label))


def test_explain_refuses_what_calls_refuse():
    for metric, given, message in (
        ("mrr", {"propensity": "p"}, "no sum over them"),
        ("dcg", {"sampled": (99, 1000)}, "dcg is not such a metric"),
        ("coverage", {"mean": "median"}, "one value of all lists together"),
        ("gauc", {"mean": "median"}, "mean='median' has no weights, but gauc weights its lists"),
        ("pr_auc(points=thresholds)", {"ties": "best"}, "orders tied rows, but pr_auc"),
    ):
        with pytest.raises(recframe.OptionError, match=message):
            recframe.explain(metric, **given)


@pytest.mark.parametrize(("name", "hint"), [("tie", "did you mean 'ties'"), ("gain", "options are part of the metric")])
def test_explain_says_what_an_unknown_argument_could_be(name, hint):
    with pytest.raises(recframe.OptionError, match=rf"(?s)explain has no argument '{name}'.*\nHint: {hint}"):
        recframe.explain("ndcg", **{name: "best"})


def test_explain_names_a_metric_that_it_does_not_know():
    with pytest.raises(recframe.OptionError, match="metric 'ndgc' is unknown"):
        recframe.explain("ndgc")


@pytest.mark.slow
def test_explain_on_the_command_line():
    pytest.importorskip("click")
    command = [sys.executable, "-X", "utf8", "-m", "recframe", "explain", "ndcg@10"]
    done = subprocess.run(
        [*command, "--like", "rectools", "--undefined", "0", "--min-relevance", "2"],
        capture_output=True, text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    assert done.stdout.rstrip("\n") == recframe.explain("ndcg@10", like="rectools", undefined=0.0, min_relevance=2)
    done = subprocess.run(
        [*command, "--sampled", "99,1000", "--estimator", "rank"],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout.rstrip("\n") == recframe.explain("ndcg@10", sampled=(99, 1000), estimator="rank")
    done = subprocess.run([*command, "--like", "nobody"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "'--like': 'nobody' is not one of 'trec_eval'" in done.stderr


READS_MORE = ("alpha_ndcg", "err_ia", "money_precision", "money_recall", "personalization")


@pytest.mark.parametrize(
    "name", [name for name, kind in METRICS.items() if not kind.required_inputs and name not in READS_MORE]
)
def test_lower_grades_that_count_are_explained(polars_engine, name):
    metric = METRICS[name]()
    # Both lists have the same relevant row, and the same row of the largest relevance.
    grades = {"user": [1] * 5, "item": [*range(5)], "score": [5.0, 4.0, 3.0, 2.0, 1.0]}
    with_lower, without = (
        polars_engine.value(
            polars_engine.frame(grades | {"relevant": [lower, 0.0, 1.0, lower, 0.8]}),
            name,
            min_relevance=0.8,
        )
        for lower in (0.6, 0.0)
    )
    assert (with_lower != without) == bool(metric.lower_grades)
    text = " ".join(recframe.explain(name, min_relevance=4).split())
    assert (f"a relevance of at least 4; lower grades {metric.lower_grades}" in text) == bool(metric.lower_grades)
    assert "lower grades" not in recframe.explain(name)


def test_the_option_that_ends_the_gain_of_lower_grades(polars_engine):
    frame = polars_engine.frame({"user": [1] * 3, "relevant": [3, 3, 4], "score": [3.0, 2.0, 1.0]})
    assert polars_engine.ask(frame, "ndcg", 2, min_relevance=4) > 0.8
    assert polars_engine.value(frame, "ndcg(grades=relevant)@2", min_relevance=4) == 0
    assert "unless grades='relevant'" in recframe.explain("ndcg@2", min_relevance=4)
    for other in ("ndcg(grades=relevant)@2", "ndcg(gain=binary)@2", "map"):
        assert "lower grades" not in recframe.explain(other, min_relevance=4)


def test_the_area_of_a_cutoff_compares_rows_of_the_top():
    whole, top = str(recframe.explain("roc_auc")), str(recframe.explain("roc_auc@5"))
    assert "both in the top 5" in top and "share the last place" not in top
    assert "in the top" not in whole and "share the last place" in whole


def test_ties_that_no_mean_is_taken_over_say_so():
    lines = {
        name: next(line for line in str(recframe.explain(name)).splitlines() if line.startswith("ties"))
        for name in ("spearman", "ndcg", "coverage")
    }
    assert lines["spearman"].split(maxsplit=1)[1].startswith("not the mean over orders")
    assert not lines["ndcg"].endswith(";")
    assert "smaller item first; not exact" in lines["coverage"]


def test_lists_without_recommendations_are_explained_for_metrics_that_are_known():
    class Own(metrics.NDCG):
        """A metric of the user's own."""

        name = "own"

    assert "recommended nothing scores 0" in recframe.explain("ndcg")
    assert "recommended nothing" not in recframe.explain(Own())
