"""Roles that are labels of pandas frames, and what is given instead of a column's name."""

from __future__ import annotations

import re
import warnings
from datetime import date
from functools import cache

import pytest

import recframe

TEXT = {
    "user": [1, 1, 2, 2],
    "item": [1, 2, 1, 3],
    "relevant": [1, 0, 0, 1],
    "score": [0.9, 0.8, 0.4, 0.1],
    "price": [1.0, 2.0, 3.0, 4.0],
    "part": ["x", "x", "y", "y"],
}
LABELS = {
    "numbers": {name: number for number, name in enumerate(TEXT)},
    "tuples": {name: (name, "of", number) for number, name in enumerate(TEXT)},
    "short tuples": {name: (name,) for name in TEXT},
    "mixed": {name: number if number % 2 else (name, number) for number, name in enumerate(TEXT)},
    "levels": {name: ("left" if number % 2 else "right", name) for number, name in enumerate(TEXT)},
}


@pytest.fixture(params=LABELS)
def labels(request):
    return LABELS[request.param]


def index_of(labels):
    """Return labels as the columns of a frame, in levels if they all are pairs."""
    pd = pytest.importorskip("pandas")
    if all(isinstance(label, tuple) and len(label) == 2 for label in labels):
        return pd.MultiIndex.from_tuples(labels)
    return pd.Index(labels, dtype=object, tupleize_cols=False)


def named(labels):
    """Return a frame with these labels, and the roles that name them."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(TEXT)
    frame.columns = index_of(list(labels.values()))
    roles = {"by": "user", "item": "item", "relevant": "relevant", "score": "score"}
    return frame, {role: labels[name] for role, name in roles.items()}


def answers(frame, labels, roles):
    """Return what the metrics and `check` answer."""
    rec = recframe.rec(frame)
    models = {**roles, "score": [labels["score"], labels["price"]]}
    return [
        rec.ndcg(2, **roles),
        rec(**roles).map(),
        rec.ndcg(ties="item", **roles),
        rec.money_recall(1, value=labels["price"], **roles),
        rec.evaluate(["ndcg", "mrr@1"], **models)["ndcg"].tolist(),
        rec.evaluate("ndcg", per=labels["part"], **roles)["ndcg"].tolist(),
        rec.evaluate("ndcg", truth=frame, **roles)["ndcg"].tolist(),
        len(rec.check(**roles)),
    ]


@cache
def answers_of_text(engine):
    """Return what an engine answers where columns are named by text, as roles are by default."""
    pd = pytest.importorskip("pandas")
    text = {name: name for name in TEXT}
    return answers(pd.DataFrame(TEXT), text, {})


def test_any_label_is_a_role_of_the_metrics(pandas_engine, labels):
    frame, roles = named(labels)
    with pandas_engine.running():
        assert answers(frame, labels, roles) == answers_of_text(pandas_engine.name)
        rec = recframe.rec(frame)
        assert list(rec.evaluate("ndcg", **roles).columns) == ["ndcg"]
        assert labels["part"] in list(rec.evaluate("ndcg", per=labels["part"], **roles).columns)


def test_any_label_is_a_role_of_the_data_methods(labels):
    pd = pytest.importorskip("pandas")
    frame, roles = named(labels)
    pair = {role: roles[role] for role in ("by", "item")}
    rec, text = recframe.rec(frame), recframe.rec(pd.DataFrame(TEXT))
    assert rec.split(count=1, **pair)[1].to_numpy().tolist() == text.split(count=1)[1].to_numpy().tolist()
    with warnings.catch_warnings(action="error"):  # a column of one level among those of two
        assert rec.add_random(**pair)["random"].tolist() == text.add_random()["random"].tolist()
        assert rec.top(1, score=roles["score"], **pair)["rank"].tolist() == [1, 1]


def test_any_label_is_a_role_of_tune(labels):
    pytest.importorskip("scipy")
    frame, roles = named(labels)
    expected = recframe.rec(type(frame)(TEXT)).tune_fusion("mrr", score=["score", "price"], folds=2)
    result = recframe.rec(frame).tune_fusion("mrr", folds=2, **{**roles, "score": [labels["score"], labels["price"]]})
    assert result.equals(expected)


def test_any_label_is_a_segment_of_merged_states(labels):
    pytest.importorskip("scipy")
    pd = pytest.importorskip("pandas")
    frame, roles = named(labels)
    models, per = {**roles, "score": [labels["score"], labels["price"]]}, labels["part"]
    merged = recframe.merge_states(recframe.rec(frame).state("mrr", per=per, **models))
    text = recframe.merge_states(recframe.rec(pd.DataFrame(TEXT)).state("mrr", per="part", score=["score", "price"]))
    for call in ("evaluate", "compare", "describe"):
        result, expected = getattr(merged, call)(), getattr(text, call)()
        assert result[per].tolist() == expected["part"].tolist()
        numbers = [column for column in expected if column not in ("part", "model", "baseline")]
        assert str(result[numbers].to_numpy().tolist()) == str(expected[numbers].to_numpy().tolist())


def test_any_label_is_a_column_of_lists_of_features(labels):
    pd = pytest.importorskip("pandas")
    frame, roles = named(labels)
    vectors = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    features = pd.DataFrame({"item": [1, 2, 3], "vector": vectors})
    expected = recframe.rec(pd.DataFrame(TEXT)).diversity(features=features)
    features.columns = index_of([roles["item"], ("vector", "")])
    assert recframe.rec(frame).diversity(features=features, **roles) == expected


@pytest.mark.parametrize("kind", ["numbers", "tuples", "short tuples", "mixed"])
def test_any_label_is_a_role_of_files_and_dicts(tmp_path, kind):
    pd = pytest.importorskip("pandas")
    frame, roles = named(LABELS[kind])
    roles.pop("relevant")
    assert recframe.to_dict(frame, **roles) == recframe.to_dict(pd.DataFrame(TEXT))
    recframe.write_run(frame, tmp_path / "labels.run", **roles)
    recframe.write_run(pd.DataFrame(TEXT), tmp_path / "text.run")
    assert (tmp_path / "labels.run").read_text() == (tmp_path / "text.run").read_text()


def test_a_tuple_that_is_no_label_names_several_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(TEXT)
    assert recframe.rec(frame).evaluate("ndcg", score=("score", "price"))["model"].tolist() == ["score", "price"]
    frame[("score", "price")] = frame["score"]
    assert list(recframe.rec(frame).evaluate("ndcg", score=("score", "price")).columns) == ["ndcg"]


def test_a_label_that_the_frame_lacks_is_named():
    pd = pytest.importorskip("pandas")
    with pytest.raises(recframe.MissingColumnError, match="by=7: the frame has no such column"):
        recframe.rec(pd.DataFrame(TEXT)).ndcg(by=7)


def test_expressions_and_columns_are_refused_with_the_remedy():
    pl = pytest.importorskip("polars")
    for frame in (pl.DataFrame(TEXT), pl.LazyFrame(TEXT)):
        rec = recframe.rec(frame)
        for given, message in (
            ({"by": pl.Int64}, "by=Int64 is not the name of a column\n\nHint: by='name'"),
            ({"by": pl.when(pl.col("user") > 1)}, "> is an expression, not the name of a column"),
            (
                {"by": pl.Series("user", [1])},
                "by=<polars Series> is the column itself, not the name of a column\n\nHint: by='user'",
            ),
        ):
            with pytest.raises(recframe.OptionTypeError, match=re.escape(message)):
                rec.evaluate("ndcg", **given)
        with pytest.raises(recframe.OptionError, match="the expression of by= has the name 'item', which another role"):
            rec.evaluate("ndcg", by=["user", pl.col("item")])


def test_columns_of_pandas_are_refused_with_the_remedy():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(TEXT)
    for given, message in (
        ({"by": frame["user"]}, "by=<pandas Series> is the column itself, not the name of a column\n\nHint: by='user'"),
        ({"relevant": frame["relevant"] > 0}, "df.assign(name=...), then relevant='name', or give min_relevance="),
    ):
        with pytest.raises(recframe.OptionTypeError, match=re.escape(message)):
            recframe.rec(frame).ndcg(**given)


@pytest.mark.parametrize(
    "names",
    [
        (4, 7),
        (1, "old"),
        (1, 2.5, "old"),
        (date(2024, 1, 1), date(2024, 1, 2)),
        (("new", 1), ("new", 2)),
        (1, ("new", 2)),
    ],
)
def test_models_are_named_by_the_text_of_their_labels(pandas_engine, names):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    scores = [[3, 2, 1], [1, 2, 3], [2, 3, 1]]
    columns = {"user": [1, 1, 1], "item": [1, 2, 3], "relevant": [1, 0, 0], **dict(zip(names, scores, strict=False))}
    frame = pd.DataFrame(dict(enumerate(columns.values())))
    frame.columns = pd.Index([*columns], dtype=object, tupleize_cols=False)
    texts, models = [*map(str, names)], {"score": [*names]}
    with pandas_engine.running():
        for call in (frame.rec.evaluate, frame.rec.describe, frame.rec.rank_models):
            assert [*call("mrr", **models)["model"]] == texts
        results = [frame.rec.compare("mrr", **models, baseline=each, details=True) for each in (names[0], texts[0])]
        changed = [frame.rec.changes("mrr", score=[*names[:2]], baseline=each) for each in (names[1], texts[1])]
    for result in results:
        assert [*result["baseline"]] == texts[:1] * (len(names) - 1)
        assert [*result["model"]] == texts[1:]
    pd.testing.assert_frame_equal(*changed)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_baseline_of_rows_may_be_a_number_of_numpy_or_text(library):
    np, _ = pytest.importorskip("numpy"), pytest.importorskip("scipy")
    columns = {"user": [1, 1, 2, 2], "item": 1, "relevant": 1, "score": 0.5, "model": [4, 7, 4, 7]}
    columns = {name: value if isinstance(value, list) else [value] * 4 for name, value in columns.items()}
    frame = pytest.importorskip(library).DataFrame(columns)
    for baseline in (7, "7", np.int64(7)):
        result = frame.rec.compare("mrr", model="model", baseline=baseline)
        assert (list(result["model"]), list(result["baseline"])) == ([4], [7])
    with pytest.raises(recframe.OptionError, match="is not one of the models"):
        frame.rec.compare("mrr", model="model", baseline=10**5000)


def test_a_column_whose_label_is_missing_is_of_no_role(pandas_engine):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "relevant": [0, 1], "score": [0.9, 0.1], "other": [1, 2]})
    for missing in (pd.NA, None, float("nan")):
        frame.columns = pd.Index([*frame.columns[:4], missing], dtype=object)
        with pandas_engine.running():
            assert frame.rec.mrr() == frame.rec.mrr(truth=frame) == 0.5
            assert frame.rec.label(frame).shape == (2, 5)
            assert frame.rec.top(1).shape == (1, 6)
            assert frame.rec.check()["count"].max() == 1
            assert frame.drop(columns="user").rec.check(by=None)["count"].max() == 1
            assert frame.rec.diversity(2, features=frame[["item", "score"]].join(frame.iloc[:, 4:])) > 0
            with pytest.raises(recframe.MissingColumnError, match="no such column; it has 'user'"):
                frame.rec.mrr(score="none")
