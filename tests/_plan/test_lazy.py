"""Lazy frames stay lazy: one plan, nothing collected, no schema resolved, the same value in tiny morsels."""

from __future__ import annotations

import io
import math
import random

import pytest

import recframe

pl = pytest.importorskip("polars")

from recframe._engines import polars_compat  # noqa: E402 - needs polars

FRAME = {
    "user": [1, 1, 1, 2, 2, 2],
    "item": ["a", "b", "c", "a", "b", "c"],
    "country": ["de", "de", "de", None, None, None],
    "relevant": [1, 0, 2, 0, 1, 0],
    "score": [0.9, 0.9, 0.1, None, 0.5, 0.5],
    "other": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    "place": [1, 1, 3, 2, None, 5],
}
TRUTH = {"user": [1, 3], "item": ["a", "b"]}
CALLS = {
    "one metric": lambda r, _: r.ndcg(5),
    "whole list": lambda r, _: r.ndcg(),
    "per list": lambda r, _: r.mrr(2, per="user"),
    "per segment": lambda r, _: r.map(per="country"),
    "filled": lambda r, _: r.recall(2, undefined=0.0),
    "ties": lambda r, _: r.hit_rate(1, ties="worst"),
    "ties by item": lambda r, _: r.hit_rate(1, ties="item"),
    "rank": lambda r, _: r.precision(1, rank="place"),
    "truth": lambda r, truth: r.ndcg(5, truth=truth),
    "many": lambda r, truth: r.evaluate(
        ["ndcg", "map", "mrr", "r_precision"], k=[1, None], score=["score", "other"], truth=truth
    ),
    "long": lambda r, _: r.evaluate(["ndcg", "ndcg(ideal=ranked)"], k=2, model="item"),
    "a table of gains": lambda r, _: r.ndcg(2, gain={1: 3, 2: 4}),
    "pool and one subtopic": lambda r, _: r.evaluate(["inf_ap", "alpha_ndcg@2", "err_ia"], undefined=0.0),
    "another mean": lambda r, truth: r.evaluate(["map", "mrr@2"], truth=truth, mean="geometric", undefined=0.5),
    "judged rows alone": lambda r, truth: r.evaluate(["ndcg", "map"], truth=truth, condensed=True),
    "contributions": lambda r, _: r.contributions("ndcg", 2),
    "contributions of models": lambda r, _: r.contributions("roc_auc", score=["score", "other"]),
    "contributions with truth": lambda r, truth: r.contributions("mrr", 5, truth=truth),
    "check": lambda r, _: r.check(1),
    "check ranks and truth": lambda r, truth: r.check(1, rank="place", truth=truth),
    "check models": lambda r, _: r.check(1, score=["score", "other"]),
    "check a long frame": lambda r, _: r.check(model="country"),
}


@pytest.mark.parametrize("case", list(CALLS))
def test_nothing_is_collected_and_no_schema_resolved(case, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError

    frame, truth = pl.LazyFrame(FRAME), pl.LazyFrame(TRUTH)
    with monkeypatch.context() as patch:
        for name in ("collect", "collect_schema", "fetch", "collect_async", "profile"):
            # Whether a truth has a column that nobody named is read from its schema.
            of_truth = case == "check ranks and truth" and name == "collect_schema"
            if hasattr(pl.LazyFrame, name) and not of_truth:
                patch.setattr(pl.LazyFrame, name, refuse)
        patch.setattr(pl, "collect_all", refuse)
        result = CALLS[case](recframe.rec(frame), truth)
    assert isinstance(result, pl.LazyFrame)
    lazy = result.collect()
    eager = CALLS[case](recframe.rec(frame.collect()), truth.collect())
    if isinstance(eager, float):
        assert lazy.shape == (1, 1)
        assert lazy.item() == pytest.approx(eager, abs=1e-12)
        return
    assert lazy.columns == eager.columns
    keys = [name for name in eager.columns if name in FRAME or name in ("model", "finding", "position")]
    lazy = lazy.sort(keys, nulls_last=True) if keys else lazy
    eager = eager.sort(keys, nulls_last=True) if keys else eager
    for name in eager.columns:
        assert lazy[name].to_list() == (
            pytest.approx(eager[name].to_list(), abs=1e-12, nan_ok=True)
            if eager[name].dtype.is_numeric()
            else eager[name].to_list()
        ), name


def test_scanned_files_are_one_plan(tmp_path):
    path = tmp_path / "frame.parquet"
    pl.DataFrame(FRAME).write_parquet(path)
    result = pl.scan_parquet(path).rec.evaluate(["ndcg", "mrr"], k=[1, 2])
    assert isinstance(result, pl.LazyFrame)
    assert "PARQUET" in result.explain().upper()
    expected = pl.DataFrame(FRAME).rec.evaluate(["ndcg", "mrr"], k=[1, 2])
    assert result.collect().row(0) == pytest.approx(expected.row(0), abs=1e-12)


@pytest.mark.skipif(not polars_compat.MARKS_COMMON_PARTS, reason="polars reads common parts again")
@pytest.mark.skipif(
    tuple(map(int, pl.__version__.split(".")[:2])) < (1, 30), reason="a source of one's own came later in polars"
)
def test_a_source_is_read_for_the_ranking_and_for_the_ideal_alone():
    from polars.io import plugins

    frame = pl.DataFrame(FRAME)
    reads = []

    def source(columns, predicate, rows, size):
        reads.append(columns)
        found = frame if predicate is None else frame.filter(predicate)
        yield found if columns is None else found.select(columns)

    scanned = plugins.register_io_source(source, schema=frame.schema)
    metrics = ["precision", "recall", "r_precision", "hit_rate", "mrr", "map", "ndcg", "roc_auc"]
    answer = scanned.rec.evaluate(metrics, k=[1, 2]).collect()
    assert len(reads) == 2
    assert answer.row(0) == pytest.approx(frame.rec.evaluate(metrics, k=[1, 2]).row(0), abs=1e-12, nan_ok=True)


def test_what_a_lazy_frame_cannot_do_is_said_at_once():
    frame = pl.LazyFrame(FRAME)
    with pytest.raises(ValueError, match="(?s)ties='first' means row order.*lazy.*collect"):
        frame.rec.ndcg(ties="first")
    with pytest.raises(ValueError, match="(?s)undefined='raise' needs the data.*collect"):
        frame.rec.ndcg(undefined="raise")


# What eager frames refuse before any work, each with the start of the message.
WRONG = {
    "a key": (lambda r, _: r.ndcg(5, by="usr"), "by='usr': the frame has no such column"),
    "a score": (lambda r, _: r.evaluate(["ndcg"], k=5, score=["score", "othr"]), "score='othr': the frame has no such"),
    "a relevance": (lambda r, _: r.ndcg(5, relevant="rel"), "relevant='rel': the frame has no such column"),
    "a relevance of the truth": (
        lambda r, truth: r.ndcg(5, truth=truth, relevant="rel"),
        "relevant='rel': truth has no",
    ),
    "a weight": (lambda r, _: r.ndcg(5, weight="w"), "weight='w': the frame has no such column"),
    "a column of train": (lambda r, truth: r.novelty(5, train=truth.rename({"user": "u"})), "by='user': train has no"),
    "a column of seen": (lambda r, truth: r.label(truth, seen=truth.rename({"user": "u"})), "by='user': seen has no"),
    "a check": (lambda r, _: r.check(1, rank="plac"), "rank='plac': the frame has no such column"),
    "contributions": (lambda r, _: r.contributions("ndcg", 5, by="usr"), "by='usr': the frame has no such column"),
    "rows": (lambda r, _: r.top(1, by="usr"), "by='usr': the frame has no such column"),
    "a score of bool": (lambda r, _: r.ndcg(5, score="flag"), "score='flag' has the type Boolean, but a score must"),
    "digits in text": (lambda r, _: r.ndcg(5, relevant="digits"), "relevant='digits' has the type String, but rel"),
    "keys that never match": (
        lambda r, truth: r.ndcg(5, truth=truth.with_columns(pl.col("user").cast(pl.String))),
        "by='user' has the type Int64 in the frame, but String in truth",
    ),
    "items that never match": (
        lambda r, truth: r.label(truth.with_columns(item=pl.int_range(pl.len()))),
        "item='item' has the type String in the frame, but Int64 in truth",
    ),
}
later = pytest.mark.skipif(
    not hasattr(pl.LazyFrame, "pipe_with_schema"), reason="older polars calls nothing when it resolves a plan"
)


def wrong_frames():
    frame = pl.DataFrame(FRAME).with_columns(flag=pl.col("score") > 0, digits=pl.col("relevant").cast(pl.String))
    return frame.lazy(), pl.LazyFrame(TRUTH)


@pytest.mark.parametrize("case", list(WRONG))
def test_validate_raises_at_the_call_what_eager_frames_raise(case):
    def refuse(_):
        raise AssertionError

    ask, message = WRONG[case]
    frame, truth = wrong_frames()
    with pytest.raises(recframe.RecError) as eager:
        ask(recframe.rec(frame.collect()), truth.collect())
    assert str(eager.value).startswith(message)
    with pytest.raises(type(eager.value)) as found:
        ask(recframe.rec(frame.map_batches(refuse), validate=True), truth.map_batches(refuse))
    assert str(found.value) == str(eager.value)
    ask(recframe.rec(frame), truth)


@later
@pytest.mark.parametrize("case", list(WRONG))
def test_what_eager_frames_refuse_names_the_role_at_collect(case):
    ask, message = WRONG[case]
    result = ask(recframe.rec(frame := wrong_frames()[0]), truth := wrong_frames()[1])
    with pytest.raises(recframe.RecError) as eager:
        ask(recframe.rec(frame.collect()), truth.collect())
    for resolve in (result.collect, result.collect, result.collect_schema):
        with pytest.raises(type(eager.value)) as found:
            resolve()
        assert str(found.value).startswith(message)
        assert "Hint: did you mean 'user'?" in str(found.value) or "usr" not in message


@later
@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.evaluate("ndcg", 5, score="scor", partitions=2),
        lambda r: r.compare("ndcg", 5, score=["scor", "relevant"]),
        lambda r: r.describe("ndcg", 5, score="scor"),
    ],
    ids=["partitions", "compare", "describe"],
)
def test_results_that_are_computed_late_name_the_role_too(call):
    if "compare" in call.__code__.co_names or "describe" in call.__code__.co_names:
        pytest.importorskip("scipy")
    result = call(recframe.rec(pl.LazyFrame(FRAME)))
    for resolve in (result.collect, result.collect_schema):
        with pytest.raises(recframe.MissingColumnError, match="score='scor'"):
            resolve()


@pytest.mark.parametrize("case", list(CALLS))
def test_validate_changes_no_answer(case):
    frame, truth = pl.LazyFrame(FRAME), pl.LazyFrame(TRUTH)
    found, plain = (CALLS[case](recframe.rec(frame, validate=validate), truth).collect() for validate in (True, False))
    assert sorted(map(repr, found.rows())) == sorted(map(repr, plain.rows()))


def test_validate_holds_for_bound_roles_and_for_eager_frames():
    frame = pl.LazyFrame(FRAME)
    with pytest.raises(recframe.MissingColumnError, match="by='usr'"):
        recframe.rec(frame, validate=True)(by="usr").ndcg(5)
    assert isinstance(recframe.rec(frame, validate=True), recframe.accessor.LazyRec)
    assert recframe.rec(frame.collect(), validate=True).mrr(1) == recframe.rec(frame.collect()).mrr(1)
    with pytest.raises(recframe.OptionTypeError, match="validate='yes' is neither True nor False"):
        recframe.rec(frame, validate="yes")


@later
@pytest.mark.parametrize(
    ("column", "here", "there"),
    [
        ("user", pl.Int32, pl.Int64),
        ("user", pl.UInt64, pl.Int16),
        ("user", pl.Float32, pl.Float64),
        ("item", pl.String, pl.Categorical),
        ("item", pl.Categorical, pl.String),
        ("item", pl.Enum(["a", "b", "c"]), pl.String),
    ],
)
@pytest.mark.parametrize("method", ["ndcg", "label", "contributions", "check"])
def test_keys_match_by_value_as_those_of_eager_frames_do(column, here, there, method):
    frame = pl.LazyFrame(FRAME).with_columns(pl.col(column).cast(here))
    truth = pl.LazyFrame(TRUTH).with_columns(pl.col(column).cast(there))
    ask = {
        "ndcg": lambda r, truth: r.evaluate(["ndcg", "mrr"], k=2, truth=truth, per="user"),
        "label": lambda r, truth: r.label(truth),
        "contributions": lambda r, truth: r.contributions("ndcg", 2, truth=truth),
        "check": lambda r, truth: r.check(2, truth=truth),
    }[method]
    lazy, eager = ask(frame.rec, truth).collect(), ask(frame.collect().rec, truth.collect())
    assert sorted(map(repr, lazy.rows())) == sorted(map(repr, eager.rows()))


def test_a_polars_that_loses_columns_of_plans_is_refused(monkeypatch):
    monkeypatch.setattr("recframe._engines.polars_compat.LAZY_FAILS", True)
    with pytest.raises(ValueError, match="(?s)lazy frames need another polars.*upgrade polars, or collect"):
        pl.LazyFrame(FRAME).rec.ndcg(5)


def test_a_plan_that_is_stored_and_read_again_has_the_same_answer():
    pytest.importorskip("cloudpickle")
    frame, truth = pl.LazyFrame(FRAME), pl.LazyFrame(TRUTH)
    result = frame.rec.ndcg(5, truth=truth)
    stored = io.BytesIO(result.serialize())
    assert pl.LazyFrame.deserialize(stored).collect().item() == result.collect().item()


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
@pytest.mark.skipif(not hasattr(pl, "QueryOptFlags"), reason="options of single optimizations came later in polars")
@pytest.mark.parametrize("collected", ["in-memory", "streaming"])
@pytest.mark.parametrize(
    "metrics",
    [
        ["personalization", "gini", "entropy", "coverage"],
        ["ndcg", "map", "mrr", "hit_rate", "r_precision", "roc_auc", "gauc", "err", "rbp"],
        ["spearman", "kendall", "novelty", "arp", "serendipity"],
    ],
    ids=lambda metrics: metrics[0],
)
@pytest.mark.parametrize("second", [False, True], ids=["one frame", "with truth"])
def test_parts_of_a_plan_that_run_twice_may_come_in_another_order(metrics, second, collected):
    # Without this optimization polars runs common parts as often as they occur, each time with its rows in any order.
    draw = random.Random(1)
    pairs = draw.sample([(user, item) for user in range(8) for item in range(12)], 60)
    rows = [(*pair, float(draw.randrange(9)), draw.randrange(3)) for pair in pairs]
    frame = pl.DataFrame(rows, schema=["user", "item", "score", "relevant"], orient="row")
    side = {"train": frame.select("user", "item").head(30), "catalog": 15}
    if second:
        side["truth"] = frame.select(user=pl.col("user").reverse(), item="item")
        metrics = [metric for metric in metrics if metric not in ("spearman", "kendall")]
    expected = frame.rec.evaluate(metrics, k=[1, 2, 4, 10], **side).row(0)
    lazy = {name: given.lazy() if isinstance(given, pl.DataFrame) else given for name, given in side.items()}
    plan = frame.lazy().rec.evaluate(metrics, k=[1, 2, 4, 10], **lazy)
    for _ in range(5):
        found = plan.collect(engine=collected, optimizations=pl.QueryOptFlags(comm_subplan_elim=False))
        assert found.row(0) == pytest.approx(expected, abs=1e-9)


def test_several_weights_of_a_list_are_an_error_or_no_number():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1, 1, 2], "relevant": [1, 0, 1], "score": [2, 1, 1], "weight": [1.0, 2.0, 1.0]})
    with pytest.raises(recframe.InputError, match="weight='weight' has several values within a list"):
        frame.rec.mrr(weight="weight")
    assert math.isnan(frame.lazy().rec.mrr(weight="weight").collect().item())
