"""Lazy frames stay lazy: nothing is collected, no schema resolved, and the eager answer comes at collect, bit for bit."""

from __future__ import annotations

import io

import pytest

import recframe

pl = pytest.importorskip("polars")
testing = pytest.importorskip("polars.testing")
plugins = pytest.importorskip("polars.io.plugins")

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
        for name in ("collect", "collect_schema", "collect_async"):
            patch.setattr(pl.LazyFrame, name, refuse)
        patch.setattr(pl, "collect_all", refuse)
        result = CALLS[case](recframe.rec(frame), truth)
    assert isinstance(result, pl.LazyFrame)
    eager = CALLS[case](recframe.rec(frame.collect()), truth.collect())
    for engine in ("streaming", "in-memory"):
        lazy = result.collect(engine=engine)
        assert lazy.schema == result.collect_schema()
        if isinstance(eager, float):
            assert lazy.shape == (1, 1)
            assert lazy.item() == eager
        else:
            testing.assert_frame_equal(lazy, eager, check_exact=True)


def test_a_scanned_file_is_read_for_the_columns_of_the_call_alone(tmp_path):
    path = tmp_path / "frame.parquet"
    pl.DataFrame(FRAME).write_parquet(path)
    reads = []

    def source(columns, predicate, rows, size):
        reads.append(columns)
        yield pl.read_parquet(path, columns=columns)

    scanned = plugins.register_io_source(source, schema=pl.read_parquet_schema(path))
    result = scanned.rec.evaluate(["ndcg", "mrr"], k=[1, 2])
    expected = pl.DataFrame(FRAME).rec.evaluate(["ndcg", "mrr"], k=[1, 2])
    testing.assert_frame_equal(result.collect(), expected, check_exact=True)
    assert [sorted(columns) for columns in reads] == [["relevant", "score", "user"]]


def test_calls_that_answer_with_rows_read_the_columns_that_are_wanted():
    reads = []

    def source(columns, predicate, rows, size):
        reads.append(columns)
        yield pl.DataFrame(FRAME).select(columns or pl.all())

    scanned = plugins.register_io_source(source, schema=pl.DataFrame(FRAME).schema)
    result = scanned.rec.top(1).select("user", "country").collect()
    assert result.equals(pl.DataFrame(FRAME).rec.top(1).select("user", "country"))
    assert [sorted(columns) for columns in reads] == [["country", "item", "score", "user"]]


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
    with pytest.raises(type(eager.value)) as result:
        ask(recframe.rec(frame.map_batches(refuse), validate=True), truth.map_batches(refuse))
    assert str(result.value) == str(eager.value)
    ask(recframe.rec(frame), truth)


@later
@pytest.mark.parametrize("case", list(WRONG))
def test_what_eager_frames_refuse_names_the_role_at_collect(case):
    ask, message = WRONG[case]
    result = ask(recframe.rec(frame := wrong_frames()[0]), truth := wrong_frames()[1])
    with pytest.raises(recframe.RecError) as eager:
        ask(recframe.rec(frame.collect()), truth.collect())
    for resolve in (result.collect, result.collect, result.collect_schema):
        with pytest.raises(type(eager.value)) as actual:
            resolve()
        assert str(actual.value).startswith(message)
        assert "Hint: did you mean 'user'?" in str(actual.value) or "usr" not in message


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
    result, plain = (CALLS[case](recframe.rec(frame, validate=validate), truth).collect() for validate in (True, False))
    assert sorted(map(repr, result.rows())) == sorted(map(repr, plain.rows()))


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


def test_a_plan_that_is_stored_and_read_again_has_the_same_answer():
    pytest.importorskip("cloudpickle")
    frame, truth = pl.LazyFrame(FRAME), pl.LazyFrame(TRUTH)
    result = frame.rec.ndcg(5, truth=truth)
    stored = io.BytesIO(result.serialize())
    assert pl.LazyFrame.deserialize(stored).collect().item() == result.collect().item()
