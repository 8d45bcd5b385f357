"""Any name of a column means that column: patterns, quotes, line breaks, and the names that the plan uses itself."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import settings

import recframe

# Patterns are eight apart: old versions of polars accept no two in one expression, and there are eight columns.
NAMES = ["*", "a\nb", " ", 'a"b', "a'b", "a.b", "a`b", "a\\b",
         "^a$", "{a}", "%s", "ünï", "x" * 300, "key0", "key1", "score0",
         "^.*$", "start", "place", "attribute0", "feature0", "carried user", "a,b", "-a"]  # fmt: skip
FRAME = {
    "user": [1, 1, 2, 2, 2],
    "item": ["a", "b", "a", "c", "d"],
    "score": [2.0, 1.0, 2.0, 1.0, None],
    "relevant": [1, 0, 0, 1, 1],
    "price": [1.0, 2.0, 1.0, 3.0, 4.0],
    "method": ["x", "x", "x", "x", "y"],
    "a": [9, 9, 9, 9, 9],  # what the pattern ^a$ would find
}
TRUTH = {"user": [1, 2], "item": ["a", "e"], "relevant": [1, 1], "price": [1.0, 2.0], "country": ["de", "fr"]}
TRAIN = {"user": [1, 2, 2], "item": ["a", "a", "b"], "a": [1, 1, 1]}
FEATURES = {"item": ["a", "b", "c"], "drama": [1, 0, 1]}
COLUMNS = ["user", "item", "score", "relevant", "price", "method", "country", "drama"]


def answers(engine, names):
    """Return what calls answer where columns have other names, with their own names in the answers' rows.

    `names` are the other names by the columns' own.
    """
    own = {name: column for column, name in names.items()}

    def frame(data):
        return engine.frame({names.get(column, column): values for column, values in data.items()})

    def roles(*expected):
        columns = {"by": "user", "item": "item", "score": "score", "relevant": "relevant", "value": "price"}
        return {role: names[columns[role]] for role in expected}

    def plain(rows):
        return sorted(
            (sorted((own.get(name, name), repr(value)) for name, value in row.items()) for row in rows),
            key=str,
        )

    def ask(method, *args, data=FRAME, **given):
        return engine.ask(frame(data), method, *args, **given)

    def data(call, *args, **given):
        with engine.running():
            result = getattr(recframe.rec(frame(FRAME)), call)(*args, **given)
            parts = result if isinstance(result, tuple) else (result,)
            return [plain(engine.rows(part)) for part in parts]

    every = roles("by", "item", "score", "relevant", "value")
    judged = roles("by", "item", "score", "relevant")
    metrics = ["ndcg", "mrr", "coverage", "money_recall", "diversity", "novelty"]
    yield plain(ask("evaluate", metrics, k=2, train=frame(TRAIN), features=frame(FEATURES), **every))
    yield plain(ask("evaluate", ["ndcg"], k=2, truth=frame(TRUTH), per=names["country"], **judged))
    yield plain(ask("evaluate", ["ndcg"], k=2, per=names["user"], model=names["method"], **judged))
    yield ask("ndcg", 2, ties="item", **judged)
    yield plain(ask("contributions", "ndcg", 2, **judged))
    yield plain(ask("check", 2, truth=frame(TRUTH), **judged))
    if not engine.answers_with_rows:
        return
    yield data("label", frame(TRUTH), **every)
    yield data("label", frame(TRUTH), model=names["method"], **every)
    yield data("top", 2, **roles("by", "item", "score"))
    yield data("to_lists", 2, scores=True, **roles("by", "item", "score"))
    yield data("split", count=1, **roles("by", "item"))
    yield data("split", last=1, time=names["price"], **roles("by", "item"))
    yield data("add_random", "chance", **roles("by", "item"))
    yield data("add_popular", frame(TRAIN), "popular", **roles("by", "item"))
    yield data("add_propensity", frame(TRAIN), "p", least=0.6, unit="interactions", **roles("by", "item"))
    for method in ("borda", "median"):
        yield data("fuse", method=method, score=[names["score"], names["price"]], **roles("by"))
    with engine.running():
        pairs = recframe.candidates(frame(FRAME), frame(FRAME), seen=frame(TRAIN), **roles("by", "item"))
        yield plain(engine.rows(pairs))


@cache
def unnamed(engine):
    """Return what calls answer where each column has its own name."""
    return list(answers(engine, {column: column for column in COLUMNS}))


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # the item of one model is not in the truth
@pytest.mark.parametrize("shift", range(0, len(NAMES), 1 if settings.default.max_examples >= 100 else 3))
def test_a_name_changes_no_value(engine, shift):
    # All columns have odd names at once; with --engines, each column has each of them.
    # DuckDB's expressions have no way to name a column *: test_duckdb_ibis.py reads the error.
    known = ["**" if name == "*" and engine.name == "duckdb" else name for name in NAMES]
    names = {column: known[(shift + place) % len(known)] for place, column in enumerate(COLUMNS)}
    assert list(answers(engine, names)) == unnamed(engine)


def test_other_columns_stay_whatever_they_are_called(engine):
    if not engine.answers_with_rows:
        pytest.skip("it answers with no rows")
    frame = engine.frame(FRAME | {name: list(range(5)) for name in NAMES})
    with engine.running():
        labelled = engine.rows(recframe.rec(frame).top(2))
    assert all(set(NAMES) <= set(row) for row in labelled)
    assert len({tuple(row[name] for name in NAMES) for row in labelled}) == len(labelled) == 4


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
@pytest.mark.parametrize("name", ["order", "number of list", "left model", "right model"])
def test_a_column_may_be_called_like_one_that_only_sorts_a_result(engine, name):
    models = {"score": ["score", "price"]}
    roles = [("user", "by", "changes"), ("item", "item", "changes"), ("relevant", "relevant", "changes")]
    for column, role, method in engine.some([*roles, ("user", "by", "agreement")]):
        args = ["mrr", 2] if method == "changes" else [2]
        per = {"per": name} if method == "agreement" else {}
        frame = engine.frame({name if own == column else own: values for own, values in FRAME.items()})
        result = engine.ask(frame, method, *args, **models, **{role: name}, **per)
        expected = engine.ask(engine.frame(FRAME), method, *args, **models, **dict.fromkeys(per, "user"))
        named = [{name if own == column else own: value for own, value in row.items()} for row in expected]
        assert sorted(map(str, result)) == sorted(map(str, named))


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_no_key_is_called_like_the_places_of_items(library, tmp_path):
    make = pytest.importorskip(library).DataFrame
    for name in ("place of an item", "place of a document"):
        frame = make({name: ["x", "x", "y"], "item": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]})
        assert [*recframe.rec(frame).to_lists(by=name)[name]] == ["x", "y"]
        recframe.write_run(frame, tmp_path / "run", by=name)
        assert {line.split()[0] for line in (tmp_path / "run").read_text().splitlines()} == {"x", "y"}
