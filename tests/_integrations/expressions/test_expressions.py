"""Metrics as expressions of polars equal the values per list of frames."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import recframe
from recframe import metrics
from recframe.metrics import METRICS
from spellings import spellings_of
from strategies import GRADED, MISSING, SCORES, crowd, examples

pl = pytest.importorskip("polars")

from recframe._integrations.expressions import values  # noqa: E402
from recframe._integrations.expressions.calls import EXPRESSION_METRICS  # noqa: E402
from recframe._plan.plan import Plan  # noqa: E402

ALONE = {"err": "err(max_relevance=3)"}
"""What a metric cannot do without in one group."""
WITHIN = 1e-12


def variants_of(name, cutoffs=(1, 2, 3, 30, None)):
    """Return a metric with each value of each option, at each cutoff."""
    result = spellings_of(name, cutoffs)
    if name == "err":
        result = [label for label in result if "=" in label and "None" not in label]
    return result


def tried(ties):
    """Return the metrics that a policy allows."""
    labels = [label for name in EXPRESSION_METRICS for label in variants_of(name)]
    return [label for label in labels if ties == "average" or "thresholds" not in label]


def frame_of(rows):
    schema = {"query": pl.Int64, "score": pl.Float64, "relevant": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def expected(df, labels, **policies):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        return df.rec.evaluate(labels, by="query", per="query", **policies)


def assert_same(found, known):
    """Compare two frames of the same keys, list by list."""
    known = found.select("query").join(known, on="query", how="left", nulls_equal=True, maintain_order="left")
    assert found.columns == known.columns
    for label in found.columns[1:]:
        one, two = found[label], known[label]
        assert one.is_null().equals(two.is_null()), label
        assert ((one - two).abs().max() or 0.0) <= WITHIN, label


ROWS = st.lists(
    st.tuples(st.integers(0, 7), st.sampled_from([*SCORES, *MISSING]), st.sampled_from([*GRADED, *MISSING])),
    min_size=1,
    max_size=60,
)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["average", "best", "worst"])
@pytest.mark.parametrize("level", [None, 2])
def test_every_option_and_cutoff_gives_the_values_of_lists(ties, level):
    df, labels = frame_of([(row["user"], row["score"], row["relevant"]) for row in crowd(5, 60)]), tried(ties)
    policies = {"ties": ties, "min_relevance": level}
    result = df.group_by("query").agg(pl.col("score").rec.evaluate(labels, **policies)).unnest("metrics")
    assert_same(result, expected(df, labels, **policies))


SHARED = [
    *("precision@2", "recall(over=ranked)@3", "f1", "hit_rate@2", "mrr", "mrr@3", "map", "map(norm=hits)@2", "dcg@2"),
    *("ndcg", "ndcg@2", "ndcg(grades=signed)@3", "rbp@3", "r_precision", "roc_auc", "roc_auc@3", "gauc", "pr_auc"),
    *("err(max_relevance=3)@1", "err(max_relevance=3)@3", "pfound(p_break=0.5,probability={0:0.1,1:0.5,3:1})@4"),
]


@examples(50)
@given(rows=ROWS, level=st.sampled_from([None, 1.0, -1.0]), undefined=st.sampled_from(["skip", 0.0]))
@example(rows=[(0, 0.0, 1), (0, -0.0, 0), (0, -0.0, 1), (0, 0.0, -0.0)], level=None, undefined="skip")
@example(rows=[(0, None, 1), (1, 0.5, 0)], level=None, undefined="skip")
@pytest.mark.parametrize("ties", ["average", "best", "worst"])
def test_values_are_those_of_lists(ties, rows, level, undefined):
    df, labels = frame_of(rows), SHARED
    policies = {"ties": ties, "min_relevance": level, "undefined": undefined}
    both, known = pl.col("score").rec.evaluate(labels, **policies), expected(df, labels, **policies)
    other = pl.col("query") + 8  # each list in two orders
    rows = pl.concat([df, df.reverse().with_columns(other)])
    assert_same(rows.group_by("query").agg(both).unnest("metrics"), pl.concat([known, known.with_columns(other)]))


def some():
    return frame_of(
        [(q, s, r) for q in (3, 1, 2) for s, r in ((0.5, q % 2), (0.5, 1), (0.9, 0), (None, 2), (float("nan"), 0))]
    )


@pytest.mark.parametrize("name", EXPRESSION_METRICS)
def test_each_place_of_an_expression_gives_the_same(name):
    given = {"k": 2} if "@" in spellings_of(name, (2,))[0] else {}
    given |= {"err": {"max_relevance": 3}, "pfound": {"probability": {1: 0.5}}}.get(name, {})
    df, e = some(), getattr(pl.col("score").rec, name)(**given)
    known = expected(df, [e.meta.output_name()])
    assert_same(df.group_by("query").agg(e), known)
    assert_same(df.lazy().group_by("query").agg(e).collect(), known)
    assert_same(df.lazy().group_by("query").agg(e).collect(engine="streaming"), known)
    assert_same(df.with_columns(e.over("query")).select("query", e.meta.output_name()), known)
    assert_same(df.lazy().select("query", e.over("query")).collect(engine="streaming"), known)
    one = df.filter(query=1)
    assert_same(one.select("query").head(1).with_columns(one.select(e).to_series()), known)
    days = df.with_columns(day=pl.lit(date(2026, 1, 1)) + pl.col("query") * timedelta(days=1)).sort("day")
    daily = days.group_by_dynamic("day", every="1d").agg(e, pl.col("query").first())
    assert_same(daily.select("query", e.meta.output_name()), known)


def test_a_struct_of_several_has_a_field_for_each():
    df = some()
    both = pl.col("score").rec.evaluate(["ndcg", "AP", metrics.MRR(1), "gauc"], "relevant", k=[1, 5])
    result = df.group_by("query").agg(both).unnest("metrics")
    assert result.columns == ["query", "ndcg@1", "ndcg@5", "map@1", "map@5", "mrr@1", "gauc"]
    assert_same(result, expected(df, result.columns[1:]))
    over = df.select("query", both.over("query")).unnest("metrics")
    assert_same(over, expected(df, result.columns[1:]))


def test_names_functions_and_expressions_mean_the_same():
    df = some().with_columns(negative=-pl.col("score"))
    known = expected(df, ["ndcg(gain=exp2)@2"])
    for e in (
        recframe.expr.ndcg(score="score", relevant="relevant", k=2, gain="exp2"),
        recframe.expr.ndcg(k=2, gain="exp2"),
        recframe.expr.ndcg(score=-pl.col("negative"), relevant=pl.col("relevant") + 0, k=2, gain="exp2"),
    ):
        assert_same(df.group_by("query").agg(e), known)
    for e in (recframe.expr.evaluate(metrics="ndcg_burges@2"), pl.col("score").rec.evaluate("ndcg_burges@2")):
        assert_same(df.group_by("query").agg(e).unnest("metrics"), known)
    level = df.group_by("query").agg(pl.col("score").rec.evaluate("AP(rel=2)@3")).unnest("metrics")
    assert level.columns == ["query", "map@3"]
    assert (
        level.to_series(1).to_list()
        == df.group_by("query").agg(pl.col("score").rec.map(k=3, min_relevance=2)).to_series(1).to_list()
    )


def test_config_names_columns_and_policies():
    df = some().rename({"relevant": "clicked", "score": "new"})
    with recframe.Config(score="new", relevant="clicked", min_relevance=2, undefined=0):
        result = df.group_by("query").agg(pl.col("new").rec.recall(k=1), recframe.expr.recall(k=2))
    assert result.sort("query").drop("query").rows() == [(0.0, 0.0)] * 3


@pytest.mark.parametrize("name", [*EXPRESSION_METRICS, "evaluate"])
def test_functions_accept_names_only(name):
    call = getattr(recframe.expr, name)
    kinds = {parameter.kind.name for parameter in inspect.signature(call).parameters.values()}
    assert kinds <= {"KEYWORD_ONLY", "VAR_KEYWORD"}
    with pytest.raises(recframe.OptionTypeError, match="by name only, but 'score' has none") as raised:
        call("score", "clicked")
    shown = str(raised.value).partition("Hint: ")[2]
    assert shown.startswith(f"recframe.expr.{name}(")
    if name not in ("err", "pfound", "partial_auc"):  # they need an option
        assert isinstance(eval(shown), pl.Expr)  # noqa: S307 - the text of the hint


def test_the_module_shows_its_functions_only():
    assert dir(recframe.expr) == sorted([*EXPRESSION_METRICS, "evaluate"])


def test_a_metric_of_the_users_own_is_an_expression_too():
    class TopHeavy(recframe.Metric):
        name = "top_heavy"

        def terms(self, row):
            return {"hits": row.hit * row.weight(lambda position: position**-2.0, 10)}

        def value(self, sums):
            return sums["hits"]

    df = some()
    result = df.group_by("query").agg(pl.col("score").rec.evaluate(TopHeavy(), "relevant")).unnest("metrics")
    with pytest.warns(recframe.DataWarning, match="is NaN in 3 of 15 rows"):
        expected_values = df.rec.evaluate([TopHeavy()], by="query", per="query")
    assert_same(result, expected_values)


@pytest.mark.parametrize("dtype", ["Int8", "UInt64", "Float32"])
def test_scores_are_compared_as_they_are(dtype):
    df = some().with_columns(score=pl.Series([5, 5, 9, None, 1] * 3, dtype=getattr(pl, dtype)))
    assert_same(df.group_by("query").agg(pl.col("score").rec.map()), expected(df, ["map"]))
    large = pl.DataFrame({"query": [1, 1], "score": [2**60, 2**60 + 1], "relevant": [False, True]})
    assert large.select(pl.col("score").rec.mrr()).item() == 1.0


def test_decimals_are_scores_as_in_frames():
    df = some().with_columns(pl.Series("score", [Decimal(n) for n in (5, 5, 9, 3, 1)] * 3, dtype=pl.Decimal(10, 2)))
    assert_same(df.group_by("query").agg(pl.col("score").rec.ndcg()), expected(df, ["ndcg"]))


@pytest.mark.parametrize("role", ["score", "relevant"])
def test_text_is_an_error_that_names_the_column(role):
    df = some().rename({role: "text"}).with_columns(pl.col("text").cast(pl.String))
    columns = {"score": pl.col("score"), "relevant": "relevant", role: pl.col("text")}
    e = columns["score"].rec.ndcg(columns["relevant"])
    for plan in (df.lazy().group_by("query").agg(e), df.lazy().select(e.over("query")), df.lazy().select(e)):
        for engine in ("in-memory", "streaming"):
            with pytest.raises(recframe.ColumnTypeError, match=f"{role}='text' has the type String"):
                plan.collect(engine=engine)


def test_a_relevance_that_a_metric_cannot_use_is_an_error():
    df = some().rename({"relevant": "clicked"})
    with pytest.raises(recframe.InputError, match="relevant='clicked' holds 2, but err"):
        df.group_by("query").agg(pl.col("score").rec.err("clicked", max_relevance=1))


def long_block(rows, hits, ahead=0):
    """Return a list with rows ahead of a tied block, and a short list."""
    rows = [(1, 1.0 + n, 0) for n in range(ahead)] + [(1, 0.0, int(n < hits)) for n in range(rows)]
    return pl.concat([frame_of(rows), frame_of([(2, 1.0, 1), (2, 1.0, 0)])])


@pytest.mark.parametrize(("rows", "hits", "ahead"), [(50, 50, 3), (51, 1, 0), (2000, 40, 10)])
@pytest.mark.parametrize("k", ["", "@60"])
def test_users_stop_in_tied_blocks_of_any_length(rows, hits, ahead, k):
    df = long_block(rows, hits, ahead)
    labels = [f"err(max_relevance=2){k}", f"pfound(p_break=0.01,probability={{1:0.02}}){k}"]
    assert_same(df.group_by("query").agg(pl.col("score").rec.evaluate(labels)).unnest("metrics"), expected(df, labels))


def test_all_groups_are_one_call_of_the_plan(monkeypatch):
    made = []
    monkeypatch.setattr(values, "Plan", lambda *args: made.append(args) or Plan(*args))
    df, several = some(), pl.col("score").rec.evaluate(["ndcg", "map", "mrr"], k=[1, 2])
    df.group_by("query").agg(several)
    df.select(several.over("query"))
    df.lazy().group_by("query").agg(several).collect(engine="streaming")
    assert len(made) == 3


def test_a_group_without_rows_has_no_value():
    df, rec = some(), pl.col("score").rec
    expressions = [rec.ndcg(), rec.mrr(undefined=0), rec.num_ret()]
    assert df.head(0).select(expressions).rows() == [(None, 0.0, 0.0)]
    assert df.head(0).group_by("query").agg(expressions).rows() == []
    assert df.head(0).select(rec.ndcg().over("query")).rows() == []
    first = pl.col("query") == 1
    filtered = pl.col("score").filter(first).rec.evaluate(["ndcg", "num_ret"], pl.col("relevant").filter(first))
    result = df.group_by("query", maintain_order=True).agg(filtered).unnest("metrics")
    assert result["num_ret"].to_list() == [0.0, 3.0, 0.0]
    assert [value is None for value in result["ndcg"]] == [True, False, True]


def test_filters_and_slices_of_a_plan_come_after_the_values():
    df, e = some(), pl.col("score").rec.map()
    for values_of in (e.over("query"), e):
        plan, known = df.lazy().with_columns(value=values_of), df.with_columns(value=values_of)
        for engine in ("in-memory", "streaming"):
            some_rows = plan.filter(pl.col("relevant") > 0).collect(engine=engine)
            assert some_rows.equals(known.filter(pl.col("relevant") > 0))
            assert plan.slice(1, 2).collect(engine=engine).equals(known.slice(1, 2))


def test_windows_that_overlap_have_a_value_each():
    df = some().sort("query").with_row_index("row")
    rolled = df.rolling("row", period="4i").agg(pl.col("score").rec.map())
    windows = [df.slice(max(0, row - 3), min(row + 1, 4)).select(pl.col("score").rec.map()).item() for row in df["row"]]
    assert rolled["map"].to_list() == windows


def test_score_and_relevance_may_be_one_column():
    df = some().drop_nulls().with_columns(score=pl.col("relevant"))
    expected_values = df.group_by("query").agg(pl.col("score").rec.map("relevant"))
    assert_same(df.group_by("query").agg(pl.col("relevant").rec.map("relevant")), expected_values)


LARGE_GROUPS = """
import faulthandler
import polars as pl
import recframe
faulthandler.dump_traceback_later(100, exit=True)
row = pl.int_range(200_000, eager=True)
df = pl.DataFrame({"query": row // 50, "score": row * 7 % 11 + 0.5, "relevant": row % 3 == 0})
several = [pl.col("score").rec.ndcg("relevant", k=k) for k in range(1, 9)]
for found in (
    df.group_by("query").agg(several),
    df.lazy().group_by("query").agg(several).collect(engine="streaming"),
    df.select("query", *(e.over("query") for e in several)).unique(),
):
    assert found.height == 4000
"""


@pytest.mark.slow
def test_several_expressions_of_large_frames_end():
    environment = {**os.environ, "POLARS_MAX_THREADS": "2"}
    run = subprocess.run([sys.executable, "-c", LARGE_GROUPS], env=environment, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr


def test_every_metric_that_reads_one_list_is_there():
    def builds(name):
        given = {"pfound": "pfound(probability={1:0.5})"} | ALONE
        try:
            pl.col("score").rec.evaluate(given.get(name, name))
        except recframe.OptionError:
            return False
        return True

    assert {name for name in METRICS if builds(name)} == set(EXPRESSION_METRICS)
    public = {name for name in dir(type(pl.col("score").rec)) if not name.startswith("_")}
    assert public == {*EXPRESSION_METRICS, "evaluate"}
    assert all(callable(getattr(recframe.expr, name)) for name in public)


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (lambda s: s.ndcg(ties="item"), "ties='item' orders tied rows by more", "ties='average', 'best' or 'worst'"),
        (lambda s: s.ndcg(undefined="raise"), "would name the groups without a value", "undefined='skip'"),
        (lambda s: s.err(k=5, ties="best"), "err@5 divides by the largest relevance of the frame", "max_relevance=4"),
        (lambda s: s.evaluate("coverage@5"), "coverage@5 reads more than the scores", "df.rec.evaluate(['coverage@5']"),
        (lambda s: s.evaluate("novelty"), "novelty reads more than the scores", "per='query'"),
        (lambda s: s.evaluate("money_precision@1"), "money_precision@1 reads more than the scores", "per='query'"),
        (lambda s: s.evaluate("awrf"), "awrf reads more than the scores", "per='query'"),
        (lambda s: s.evaluate("alpha_ndcg"), "alpha_ndcg reads more than the scores", "per='query'"),
        (lambda s: s.ndcg(truth=some()), "truth= is a second frame", "how='full', coalesce=True"),
        (lambda s: s.ndcg(by="query"), "by='query': an expression computes the group", "group_by('query').agg"),
        (lambda s: s.ndcg(weight="w"), "weight='w' is an argument of frames", "ties, min_relevance, undefined"),
        (lambda s: s.ndcg(gain="exp"), "gain='exp' is not one of", ""),
        (lambda s: s.ndcg(gian="exp2"), "ndcg has no option 'gian'", "gain"),
        (lambda s: s.ndcg("clicked", 5, 6), "but there are 3 arguments", "name the others"),
        (
            lambda s: s.ndcg(5),
            "relevant=5 is neither the name of a column nor an expression",
            "pl.col('relevant'); the cutoff is named: k=5",
        ),
        (lambda _: recframe.expr.ndcg(score="\ud800"), "is neither the name of a column nor an expression", ""),
        (lambda s: s.ndcg("clicked", k=0), "k=0", ""),
        (lambda s: s.evaluate(["ndcg", "ndcg"]), "several columns of the name 'ndcg'", ""),
        (lambda s: s.pr_auc(points="thresholds", ties="best"), "counts them together", "ties='average'"),
        (lambda s: s.coverage(5), "an expression has no .rec.coverage", "df.rec.coverage"),
        (lambda s: s.recip_rank("clicked"), "an expression has no .rec.recip_rank", "'mrr'"),
        (lambda s: s.evaluate([]), "the list of metrics is empty", "evaluate(['ndcg', 'map']"),
        (lambda s: s(relevant="clicked"), ".rec(relevant=...) is about frames", "pl.col('score').rec.ndcg('clicked'"),
        (lambda s: pl.col("old", "new").rec.mrr("clicked"), "is several columns", "one expression for each"),
        (lambda s: s.ndcg(score="s"), "got 'score' twice", "the expression in front of .rec"),
        (lambda s: s.evaluate(), "evaluate needs metrics=", "metrics=['ndcg', 'map']"),
        (lambda s: recframe.expr.ndcg(scores="s"), "ndcg has no option 'scores'", ""),
    ],
)
def test_errors_say_what_to_do(call, message, hint):
    with pytest.raises(recframe.RecError) as raised:
        call(pl.col("score").rec)
    text, _, remedy = str(raised.value).partition("\n\nHint: ")
    assert message in text
    assert hint in remedy


def test_importing_polars_and_recframe_imports_nothing_of_expressions():
    code = "import sys, polars, recframe; print([name for name in sys.modules if name.startswith('recframe._exp')])"
    environment = {**os.environ, "PYTHONPATH": str(Path(recframe.__file__).parent.parent)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
