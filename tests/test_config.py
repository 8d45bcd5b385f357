"""What `recframe.Config` names holds where a call and a bound accessor name nothing."""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Barrier

import pytest

import recframe
from recframe import Config
from recframe._base.roles import ALL_ROLES, CONFIG_ROLES, Roles

pl = pytest.importorskip("polars")


ROWS = {
    "user": [1, 1, 1, 2, 2, 2],
    "who": [1, 1, 2, 2, 3, 3],
    "item": ["a", "b", "c", "a", "b", "c"],
    "thing": ["c", "b", "a", "c", "b", "a"],
    "relevant": [0, 1, 2, 0, 0, 1],
    "clicked": [1, 0, 0, 0, 1, 0],
    "score": [3.0, 2.0, 2.0, 1.0, 2.0, 2.0],
    "guess": [1.0, 2.0, 3.0, 3.0, 2.0, 1.0],
    "place": [3, 1, 2, 1, 2, 3],
    "price": [1.0, 2.0, 3.0, 1.0, 1.0, 1.0],
    "worth": [5.0, 0.5, 0.5, 2.0, 1.0, 3.0],
    "many": [9, 9, 9, 7, 7, 7],
    "block": [2, 2, 3, 1, 2, 2],
    "heavy": [5.0, 5.0, 5.0, 1.0, 1.0, 1.0],
    "seen": [0.5, 1.0, 1.0, 1.0, 0.25, 1.0],
    "name": ["x", "y", "x", "y", "x", "y"],
    "kind": ["s", "t", "t", "s", "t", "t"],
}
TOPICS = pl.DataFrame(
    {
        "user": [1, 1, 1, 2, 2],
        "item": ["b", "b", "c", "a", "c"],
        "relevant": [1, 1, 1, 0, 1],
        "topic": ["s", "t", "s", "s", "s"],
    }
)
OTHERS = {
    "by": ("who", "mrr", {}),
    "item": ("thing", "mrr", {"ties": "item"}),
    "relevant": ("clicked", "mrr", {}),
    "score": ("guess", "mrr", {}),
    "rank": ("place", "mrr", {}),
    "value": ("worth", "money_precision@2", {}),
    "per": ("user", "mrr", {}),
    "per_item": ("kind", "mrr", {}),
    "ties": ("worst", "mrr", {}),
    "min_relevance": (2.0, "mrr", {}),
    "undefined": (0.25, "mrr", {"by": "who", "relevant": "clicked", "min_relevance": 9}),
    "lists": ("ranked", "mrr", {}),
    "like": ("sklearn", "ndcg", {"by": "who", "relevant": "clicked"}),
    "partitions": (2, "mrr", {}),
    "weight": ("heavy", "mrr", {}),
    "model": ("name", "mrr", {}),
    "subtopic": ("topic", "alpha_ndcg@2", {"truth": TOPICS}),
    "group": ("kind", "awrf", {}),
    "condensed": (True, "mrr", {"truth": TOPICS}),
    "mean": ("harmonic", "mrr", {}),
    "sampled": ((1, 30), "recall@2", {"by": "who", "relevant": "clicked"}),
    "estimator": ("rank", "recall@2", {"by": "who", "relevant": "clicked", "sampled": (1, 30)}),
    "propensity": ("seen", "precision@1", {"relevant": "clicked"}),
}
"""A value of each role that is not its default, and a call whose answer depends on it."""


@pytest.fixture(autouse=True)
def defaults():
    yield
    Config.restore_defaults()


def frame(role=""):
    rows = pl.DataFrame(ROWS)
    if role == "lists":
        rows = pl.concat([rows, rows.with_columns(pl.col("user") + 2, score=None)], how="vertical_relaxed")
    return rows.lazy() if role == "partitions" else rows


def of_library(library, rows):
    return pytest.importorskip(library).DataFrame(rows)


def answer(rec, role, **given):
    _, metric, others = OTHERS[role]
    result = rec.evaluate(metric, **{**others, **given})
    return result.collect().rows() if hasattr(result, "collect") else result.rows()


def test_every_role_but_the_frames_is_named_once():
    assert set(OTHERS) == set(CONFIG_ROLES)
    assert set(ALL_ROLES) - set(CONFIG_ROLES) == {"truth", "train", "catalog", "features"}


@pytest.mark.parametrize("role", CONFIG_ROLES)
def test_a_role_of_config_is_that_role_of_the_call(role):
    value = OTHERS[role][0]
    expected = answer(frame(role).rec, role, **{role: value})
    plain = answer(frame(role).rec, role)
    assert role == "partitions" or expected != plain
    with Config(**{role: value}):
        assert answer(frame(role).rec, role) == expected
    Config.set(**{role: value})
    assert Config.state() == {role: value}
    assert answer(frame(role).rec, role) == expected
    Config.restore_defaults()
    assert answer(frame(role).rec, role) == plain


@pytest.mark.parametrize("role", CONFIG_ROLES)
def test_the_call_wins_then_the_accessor_then_config_then_the_default(role):
    value = OTHERS[role][0]
    default = getattr(Roles(), role)
    default = "score" if role == "score" else default
    other = {"score": default} if role == "rank" else {role: default}
    expected, plain = answer(frame(role).rec, role, **{role: value}), answer(frame(role).rec, role)
    with Config(**{role: value}):
        assert answer(frame(role).rec, role, **other) == plain
        assert answer(frame(role).rec(**other), role) == plain
    with Config(**other):
        assert answer(frame(role).rec, role) == plain
        assert answer(frame(role).rec(**{role: value}), role) == expected
        assert answer(frame(role).rec(**other), role, **{role: value}) == expected


def test_blocks_nest_and_restore_the_settings_before_them():
    Config.set(item="sku")
    with Config(by="a") as outer:
        assert outer.state() == {"item": "sku", "by": "a"}
        with Config(by="b", relevant="r"):
            Config.set(relevant="s")
            assert Config.state() == {"item": "sku", "by": "b", "relevant": "s"}
            Config.restore_defaults()
            assert Config.state() == {}
        assert Config.state() == {"item": "sku", "by": "a"}
        Config.set(by="c")
        assert Config.state() == {"item": "sku", "by": "c"}
    assert Config.state() == {"item": "sku"}


def test_a_block_ends_after_an_error():
    with pytest.raises(ZeroDivisionError), Config(by="a"):
        1 / 0  # noqa: B018 - it raises
    assert Config.state() == {}


def test_a_config_is_entered_again_and_within_itself():
    config = Config(by="a")
    assert Config.state() == {}
    for _ in range(2):
        with config:
            with config:
                assert Config.state() == {"by": "a"}
            assert Config.state() == {"by": "a"}
        assert Config.state() == {}


def test_a_config_names_nothing_before_it_is_entered():
    assert repr(Config(by="who")) == "Config(by='who')"
    assert Config.state() == {}


def test_what_is_set_is_added_to_what_is_named():
    Config.set(by="who")
    Config.set(item="thing")
    assert Config.state() == {"by": "who", "item": "thing"}


def test_a_state_is_a_copy():
    names = ["user", "who"]
    assert Config.set(by=names, item="thing") is Config
    names.append("item")
    Config.state()["by"].append("x")
    Config.state()["per"] = "x"
    assert Config.state() == {"by": ["user", "who"], "item": "thing"}


def test_threads_do_not_see_each_other():
    barrier = Barrier(4)

    def work(number):
        if number % 2:
            Config.set(by=f"own{number}")
            barrier.wait()
            return Config.state()
        with Config(by=f"own{number}"):
            barrier.wait()
            return Config.state()

    Config.set(item="thing")
    with Config(per="p"), ThreadPoolExecutor(4) as pool:
        result = list(pool.map(work, range(4)))
        assert Config.state() == {"item": "thing", "per": "p"}
    # The program's names hold in new threads, those of a block do not.
    assert result == [{"item": "thing", "by": f"own{number}"} for number in range(4)]
    assert Config.state() == {"item": "thing"}


def test_blocks_of_tasks_do_not_see_each_other():
    async def work(number):
        with Config(by=f"own{number}"):
            await asyncio.sleep(0)
            return Config.state()

    async def main():
        with Config(per="p"):
            result = await asyncio.gather(*map(work, range(4)))
            return result, Config.state()

    result, state = asyncio.run(main())
    assert result == [{"per": "p", "by": f"own{number}"} for number in range(4)]
    assert state == {"per": "p"}
    assert Config.state() == {}


def test_config_is_no_decorator_and_restores_no_defaults_in_a_block():
    with pytest.raises(TypeError, match="not callable"):
        Config(by="who")(frame)
    with pytest.raises(recframe.OptionTypeError, match="no argument 'restore_defaults'"):
        Config(restore_defaults=True)


def test_what_cannot_be_named_once_is_refused():
    for name in ("truth", "train", "catalog", "features"):
        with pytest.raises(recframe.OptionTypeError, match=f"df.rec\\({name}="):
            Config(**{name: pl.DataFrame()})
    with pytest.raises(recframe.OptionTypeError, match="did you mean 'by'"):
        Config(user="user_id")
    wrong = {
        "by": pl.col("x"), "item": pl.Series([1]), "ties": "x", "like": "x", "undefined": "x",
        "min_relevance": "x", "lists": "x", "partitions": 0, "per": len, "score": {},
    }  # fmt: skip
    for call in (Config, Config.set):
        with pytest.raises(recframe.OptionTypeError, match=r"5 lacks the name of its role(?s:.*)Config\(by='user'\)"):
            call(5)
    for name, value in [*wrong.items(), *product(("by", "score", "per"), (True, [True], [1, True], (1, True)))]:
        with pytest.raises(recframe.OptionError, match=name):
            Config.set(**{name: value})
        with pytest.raises(recframe.OptionError, match=name):
            Config(**{name: value})
    with pytest.raises(recframe.RecError, match=r"by=\('y', True\)"):
        Config(by=[("y", True)])
    assert Config.state() == {}


def test_labels_of_pandas_name_columns():
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame({0: [1, 1], ("y", 1): [0, 1], "score": [0.9, 0.1]})
    with Config(by=0, relevant=("y", 1)):
        assert rows.rec.mrr() == 0.5
    with Config(by=7), pytest.raises(recframe.MissingColumnError, match=r"recframe\.Config names by=7"):
        rows.rec.mrr()
    with Config(by=0), pytest.raises(recframe.OptionTypeError, match=r"recframe\.Config names by=0"):
        frame().rec.mrr()


def test_a_missing_column_of_config_is_a_default_that_the_hint_names():
    with Config(by="users"):
        with pytest.raises(recframe.MissingColumnError) as caught:
            frame().rec.mrr()
        assert "did you mean 'user'?; recframe.Config names by='users'" in str(caught.value)
        with pytest.raises(recframe.MissingColumnError) as caught:
            frame().rec.mrr(by="usr")
        assert "Config" not in str(caught.value)
    truth = pl.DataFrame({"user": [1], "item": ["b"]})
    # Nobody named the relevance in the call, so a truth without it holds relevant items.
    with Config(relevant="liked"):
        assert frame().select("user", "item", "score").rec.recall(3, truth=truth) == 1
        assert "liked" in frame().rec.label(truth).columns


def test_nearer_scores_replace_the_rank_and_the_model_of_config():
    expected = frame().rec.evaluate("mrr", score=["score", "guess"])
    with Config(rank="place", model="name"):
        assert frame().rec.evaluate("mrr", score=["score", "guess"]).equals(expected)
        assert frame().rec(score=["score", "guess"]).evaluate("mrr").equals(expected)
    with Config(score="guess"):
        assert frame().rec.mrr(rank="place") == frame().drop("guess").rec.mrr(rank="place")


def test_a_profile_wins_over_farther_policies_only():
    plain = frame().rec.ndcg(2, like="sklearn")
    worst = frame().rec.ndcg(2, like="sklearn", ties="worst")
    assert plain != worst
    with Config(ties="worst"):
        assert frame().rec.ndcg(2, like="sklearn") == plain
    with Config(min_relevance=2):
        assert frame().rec.mrr(like="trec_eval") == frame().rec.mrr(like="trec_eval", min_relevance=2)
        assert frame().rec.mrr(like="trec_eval", min_relevance=1) == 0.75
    with Config(ties="worst", like="sklearn"):
        assert frame().rec.ndcg(2) == worst
        assert frame().rec.ndcg(2, ties="average") == frame().rec.ndcg(2, like="sklearn", ties="average")
        assert "less relevant first" in recframe.explain("ndcg@2")
        assert "scikit-learn" in recframe.explain("ndcg@2")


def test_lazy_frames_use_the_config_at_the_call():
    with Config(by="who"):
        requested = frame().lazy().rec.mrr()
    assert requested.collect().item() == frame().rec.mrr(by="who")


def test_partitions_hold_for_frames_that_have_them():
    with Config(partitions=2):
        assert frame().rec.mrr() == frame().lazy().rec.mrr().collect().item()


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_one_chain_from_interactions_to_a_comparison(library):
    rows = {
        "userId": [1, 1, 1, 2, 2, 2, 3, 3, 3],
        "movieId": [10, 20, 30, 10, 30, 20, 30, 40, 10],
        "timestamp": [1, 2, 9, 1, 3, 8, 2, 4, 9],
    }

    def chain(config):
        user, item = config.get("by", "user"), config.get("item", "item")
        relevant = config.get("relevant", "relevant")
        names = {"userId": user, "movieId": item}
        likes = of_library(library, {names.get(name, name): values for name, values in rows.items()})
        with Config(**config):
            train, test = recframe.rec(likes).split(last=1, time="timestamp")
            scored = recframe.candidates(test, train, seen=train)
            scored = recframe.rec(scored).add_popular(train)
            scored = recframe.rec(recframe.rec(scored).add_random()).label(test)
            top = recframe.rec(recframe.rec(scored).top(2, score="popular")).to_lists(score="popular")
            lists = recframe.from_lists({1: [10]}, {1: [10, 20]}, library=library)
            assert list(top.columns) == [user, item]
            assert list(lists.columns) == [user, item, relevant, "rank"]
            assert list(scored.columns) == [user, item, "popular", "random", relevant]
            result = recframe.rec(scored).evaluate(["mrr", "ndcg"], k=2, score=["popular", "random"])
        return result.rows() if library == "polars" else result.to_numpy().tolist()

    own = chain({"by": "userId", "item": "movieId", "relevant": "liked"})
    # Random scores depend on the values alone, not on what their columns are called.
    assert own == chain({})


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_comparisons_read_what_config_names(library):
    pytest.importorskip("scipy")
    rows = of_library(library, ROWS)
    expected = recframe.rec(rows).compare("mrr", by="who", relevant="clicked", score=["score", "guess"])
    described = recframe.rec(rows).describe("mrr", by="who", relevant="clicked")
    with Config(by="who", relevant="clicked"):
        assert recframe.rec(rows).compare("mrr", score=["score", "guess"]).equals(expected)
        assert recframe.rec(rows).describe("mrr").equals(described)
    with Config(by="who", relevant="clicked", score=["score", "guess"], partitions=2):
        assert recframe.rec(rows).compare("mrr").equals(expected)


def test_frames_of_lists_and_factors_are_called_as_config_says():
    pytest.importorskip("numpy")
    with Config(by="u", item="i", relevant="r", rank="p", score=["a", "b"], model="m", value="v"):
        lists = recframe.from_lists({1: ["x", "y"]}, {1: ["y"]}, prices={"x": 1.0, "y": 2.0})
        assert lists.columns == ["u", "i", "r", "p", "v"]
        assert recframe.from_lists({1: ["x"]}, by="user", scores={1: [0.5]}).columns == ["user", "i", "score"]
        assert recframe.candidates([1], ["x"], item="item").columns == ["u", "item"]
        test = pl.DataFrame({"u": [1], "i": ["x"]})
        factors = recframe.from_factors([[1.0]], [[1.0], [2.0]], users=[1], items=["x", "y"], test=test, k=1)
        assert factors.columns == ["u", "i", "r", "rank", "recframe_tied", "recframe_candidates"]
    with Config(by="u", item="i", relevant="r"):
        assert factors.rec.mrr() == 0.5


def test_check_and_contributions_read_what_config_names():
    rows = frame().select("who", "thing", "clicked", "score")
    with Config(by="who", item="thing", relevant="clicked"):
        result = rows.rec.check()
        assert rows.rec.contributions("mrr").columns[:3] == ["who", "thing", "clicked"]
    assert result.rows() == rows.rec.check(by="who", relevant="clicked", item="thing").rows()


def test_signatures_show_every_role():
    assert {"by", "relevant", "per", "roles"} <= set(inspect.signature(Config.set).parameters)
    assert all(f"{role} : " in inspect.getdoc(Config.set) for role in CONFIG_ROLES)
    assert inspect.signature(recframe.candidates).parameters["by"].default == "user"
    assert repr(inspect.signature(recframe.from_lists).parameters["rank"].default) == "'rank'"


# --- ranks instead of scores ---------------------------------------------------------------------------------


def ranks():
    return pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "relevant": [0, 1, 1], "rank": [1, 2, None]})


def test_ranks_are_read_where_there_are_no_scores_and_nobody_names_either():
    named = ranks().rec(rank="rank")
    assert ranks().rec.ndcg(2) == named.ndcg(2)
    assert ranks().rec.evaluate(["map", "mrr"]).equals(named.evaluate(["map", "mrr"]))
    assert ranks().rec.check().equals(named.check())
    assert ranks().rec.contributions("mrr").equals(named.contributions("mrr"))
    assert ranks().rec.top(1).equals(named.top(1))
    assert ranks().rec.to_lists().equals(named.to_lists())
    scored = ranks().with_columns(score=pl.Series([1.0, 2.0, 3.0]))
    assert scored.rec.mrr() == 1
    for error, rec in (
        ("score='knn'", lambda: ranks().rec.mrr(score="knn")),
        ("score='knn'", lambda: ranks().rec(score="knn").mrr()),
    ):
        with pytest.raises(recframe.MissingColumnError, match=error):
            rec()
    with Config(score="knn"), pytest.raises(recframe.MissingColumnError, match="recframe.Config names score='knn'"):
        ranks().rec.mrr()


def test_ranks_of_factors_bring_what_belongs_to_them():
    pytest.importorskip("numpy")
    test = pl.DataFrame({"user": [1, 1, 2], "item": ["x", "z", "y"]})
    factors = recframe.from_factors(
        [[1.0], [2.0]], [[1.0], [2.0], [2.0], [0.5]], users=[1, 2], items=["x", "y", "z", "w"], test=test, k=1
    )
    alone = factors.drop("recframe_tied", "recframe_candidates")
    for metric in ("mrr", "roc_auc", "ndcg@1"):
        assert factors.rec.evaluate(metric).item() == factors.rec.evaluate(metric, rank="rank").item()
    assert factors.rec.roc_auc() != alone.rec.roc_auc()


def test_lazy_frames_are_ranked_by_their_ranks_too():
    for given in ({}, {"rank": "rank"}):
        assert ranks().lazy().rec.mrr(**given).collect().item() == ranks().rec.mrr()


def test_lists_and_ranks_chain_without_naming_a_role():
    lists = recframe.from_lists({"ann": ["tea", "jam"], "bob": ["rye"]}, {"ann": ["jam", "oat"], "bob": ["rye"]})
    assert lists.rec.recall(2) == 0.75
    assert lists.rec.top(1).rec.precision(1, undefined=0.0) == 0.5


def test_files_and_dicts_have_the_columns_that_config_names(tmp_path):
    run, qrels = tmp_path / "bm25.run", tmp_path / "test.qrels"
    run.write_text("q1 Q0 d7 1 12.5 x\n")
    qrels.write_text("q1 0 d7 1\n")
    with recframe.Config(by="qid", item="doc", score="sim", relevant="grade", model="system"):
        read = recframe.read_run(run, library="polars")
        assert read.columns == ["qid", "doc", "sim"]
        assert recframe.read_run({"BM25": run}, library="polars").columns == ["system", "qid", "doc", "sim"]
        judged = recframe.read_qrels(qrels, library="polars")
        assert judged.columns == ["qid", "doc", "grade"]
        assert recframe.from_dict({"q1": {"d7": 12.5}}, library="polars").equals(read)
        assert recframe.from_dict({"q1": {"d7": 1}}, relevant="grade", library="polars").equals(judged)
        assert recframe.to_dict(read) == {"q1": {"d7": 12.5}}
        assert recframe.read_run(run, by="user", library="polars").columns == ["user", "doc", "sim"]
        recframe.write_run(read, tmp_path / "mine.run")
    assert recframe.read_run(tmp_path / "mine.run", library="polars").columns == ["user", "item", "score"]


def test_a_block_that_is_closed_late_leaves_those_of_others():
    def rows():
        with Config(by="inner"):
            yield

    suspended = rows()
    next(suspended)
    with Config(item="outer"):
        suspended.close()
        assert Config.state()["item"] == "outer"
    assert "item" not in Config.state()
    assert Config.state() == {}


def test_one_config_may_be_entered_twice():
    config = Config(by="a")
    with config, config:
        assert Config.state() == {"by": "a"}
    assert Config.state() == {}


@pytest.mark.parametrize(("role", "column"), [("by", []), ("score", []), ("rank", [])])
def test_config_refuses_no_column_when_it_is_set(role, column):
    for name in (lambda: Config(**{role: column}), lambda: Config.set(**{role: column})):
        with pytest.raises(recframe.errors.OptionError, match=rf"{role}=\[\] names no column"):
            name()
    assert Config.state() == {}


def test_the_library_of_frames_that_are_made_of_something_else(tmp_path):
    pd = pytest.importorskip("pandas")
    np = pytest.importorskip("numpy")
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 3.5 bm25\n")
    with Config(library="pandas"):
        made = [
            recframe.from_arrays([0, 1], [0.1, 0.2]),
            recframe.from_lists([["tea"]]),
            recframe.from_dict({"q": {"d": 1.0}}),
            recframe.from_factors(np.ones((2, 2)), np.ones((3, 2)), k=1),
            recframe.candidates([1, 2], ["a"]),
            recframe.read_run(path),
            recframe.datasets.visits(),
        ]
        assert isinstance(recframe.from_arrays([0, 1], [0.1, 0.2], library="polars"), pl.DataFrame)
        # What is given says more than what is named for all calls.
        assert isinstance(recframe.candidates(pl.DataFrame({"user": [1]}), ["a"]), pl.DataFrame)
        assert Config.state() == {"library": "pandas"}
        assert pl.DataFrame(ROWS).rec.mrr() == pytest.approx(0.5, abs=0.5)
    assert all(isinstance(frame, pd.DataFrame) for frame in made)
    assert isinstance(recframe.from_arrays([0, 1], [0.1, 0.2]), pl.DataFrame)
    with pytest.raises(recframe.OptionError, match="library='spark' is not one of"):
        Config(library="spark")
