"""States of parts of the lists add up to what one call on all lists says."""

import datetime as dt
import json
import math
import pickle
import random
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
from compare import same
from engines import ENGINES

METRICS = ["ndcg@2", "mrr", "recall@1", "gauc", "dcg@3"]
MODELS = ["old", "new"]


def sample(seed, lists=14):
    """Return the rows of lists whose scores tie, some without relevant rows, some not ranked."""
    rng = random.Random(seed)
    return [
        {
            "user": user or None,
            "day": f"d{user % 3}",
            "visitor": user % 5,
            "weight": float(user % 4),
            "item": f"i{item}",
            "relevant": rng.choice([0, 0, 1, 2]),
            "old": rng.choice([None, 1.0, 2.0, 3.0]),
            "new": rng.choice([1.0, 2.0, 3.0, 4.0]),
        }
        for user in range(lists)
        for item in range(rng.randint(1, 5))
    ]


def states_of(engine, rows, parts, *args, **roles):
    """Return the state of each part of the lists, a part being a set of users."""
    with engine.running(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frames = [engine.frame([row for row in rows if row["user"] in part], KINDS) for part in parts]
        return [recframe.rec(frame).state(*args, **roles) for frame in frames]


KINDS = {"user": "int64", "day": "str", "visitor": "int64", "weight": "float64", "item": "str", "relevant": "int64", "old": "float64", "new": "float64"}  # fmt: skip


def plain(result):
    """Return a result as rows of plain values."""
    import narwhals as nw

    frame = nw.from_native(result)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return [{name: None if value != value else value for name, value in row.items()} for row in frame.rows(named=True)]  # noqa: PLR0124


def assert_same(found, expected, columns=None):
    """Compare rows in order, to 1e-12."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        for name in columns or other:
            both = one[name], other[name]
            close = both[0] == both[1] or (all(isinstance(value, int | float) for value in both) and same(*both))
            assert close, f"{name}: {both[0]} instead of {both[1]}"


def split(seed, rows, parts):
    """Split users at random; a part may be empty."""
    rng = random.Random(seed)
    users = list(dict.fromkeys(row["user"] for row in rows))
    result = [[] for _ in range(parts)]
    for user in users:
        rng.choice(result).append(user)
    return [part for part in result if part]


def test_merged_states_count_lists_and_keep_the_order_of_models(engine):
    pytest.importorskip("scipy")
    rows = sample(1)
    merged = recframe.merge_states(states_of(engine, rows, split(1, rows, 3), METRICS, score=MODELS, per="day"))
    expected = engine.ask(engine.frame(rows, KINDS), "evaluate", METRICS, counts=True, score=MODELS, per="day")
    order = lambda row: (str(row["day"]), MODELS.index(row["model"]))  # noqa: E731
    assert_same(plain(merged.evaluate(counts=True)), expected if engine.sorts else sorted(expected, key=order))


def test_merged_states_say_how_many_there_are(polars_engine):
    rows = sample(3)
    users = sorted({row["user"] for row in rows if row["user"] is not None})
    (one,) = states_of(polars_engine, rows, [users[:1]], "mrr", score="new")
    (many,) = states_of(polars_engine, rows, [users[:4]], "mrr", score="new", per="day")
    assert repr(recframe.merge_states(one)) == "Merged(mrr; 1 list in 1 segment)"
    assert repr(recframe.merge_states(many)) == "Merged(mrr; 4 lists in 3 segments)"


def test_a_catalogue_that_is_too_small_for_all_states_is_refused(polars_engine):
    pytest.importorskip("scipy")
    parts = [[{"user": user, "item": f"{user} {item}", "score": item} for item in range(2)] for user in range(2)]
    states = [recframe.rec(polars_engine.frame(part)).state("coverage", items=True, catalog=3) for part in parts]
    assert recframe.merge_states(states[0]).evaluate().item() == 2 / 3
    with pytest.raises(recframe.InputError, match="catalog=3 is less than the 4 items"):
        recframe.merge_states(states).evaluate()


def test_undefined_values_of_all_lists_keep_their_policy(polars_engine):
    pytest.importorskip("scipy")
    frame = polars_engine.frame([{"user": 1, "item": "a", "score": 1.0}])
    for undefined, expected in (("skip", None), (0.5, 0.5)):
        state = recframe.rec(frame).state("personalization", items=True, undefined=undefined)
        assert recframe.merge_states(state).evaluate().item() == expected
    two = [polars_engine.frame([{"user": user, "item": "a", "score": 1.0}]) for user in (1, 2)]
    states = [recframe.rec(one).state("coverage", items=True, undefined="raise") for one in two]
    assert recframe.merge_states(states).evaluate().item() == 1


def test_a_state_is_a_frame_of_the_kind_given(engine):
    pytest.importorskip("scipy")
    frame = engine.frame(sample(3), KINDS)
    with engine.running():
        state = recframe.rec(frame).state("mrr", score=MODELS, per="day")
        assert type(state).__module__.split(".")[0] == type(frame).__module__.split(".")[0]
        assert same(*(plain(recframe.merge_states(each).evaluate())[0]["mrr"] for each in (state, [state])))


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_merging_is_associative_and_in_any_order(seed, count):
    pytest.importorskip("polars")
    pytest.importorskip("scipy")
    polars_engine, rows = ENGINES["polars"].engine, sample(seed)
    states = states_of(polars_engine, rows, split(seed, rows, count), METRICS[:2], score=MODELS, per="day")
    whole = recframe.merge_states(states)
    random.Random(seed).shuffle(states)
    again = recframe.merge_states(states[0])
    for state in states[1:]:
        again = recframe.merge_states(state, again.state())
    expected = {call: plain(getattr(whole, call)()) for call in ("evaluate", "describe", "compare")}
    for call, rows in expected.items():
        assert_same(plain(getattr(again, call)()), rows)
    shuffled = whole.state().sample(fraction=1.0, shuffle=True, seed=1)
    assert plain(recframe.merge_states(shuffled).compare()) == expected["compare"]


def test_models_whose_truth_is_given_may_come_in_states_of_their_own(polars_engine):
    rows = sample(3)
    frame = polars_engine.frame(rows)
    truth = polars_engine.frame([{"user": row["user"], "item": row["item"]} for row in rows if row["relevant"] > 1])
    one, both = (
        [recframe.rec(frame).state("mrr", score=score, truth=truth) for score in scores]
        for scores in ([["old"], ["new"]], [MODELS])
    )
    result, expected = (plain(recframe.merge_states(states).evaluate()) for states in (one, both))
    assert_same(sorted(result, key=str), sorted(expected, key=str))
    with pytest.raises(recframe.OptionError, match="no two models are compared by all states"):
        recframe.merge_states(one).compare()
    alone = [recframe.rec(frame).state("mrr", score=[model]) for model in MODELS]
    with pytest.raises(recframe.InputError, match="are in two states: without truth= all models of a list"):
        recframe.merge_states(alone)


def test_a_baseline_turns_pairs_around(polars_engine):
    pytest.importorskip("scipy")
    rows = sample(4)
    merged = recframe.merge_states(
        states_of(polars_engine, rows, split(1, rows, 2), METRICS, score=MODELS, cluster="visitor")
    )
    expected = polars_engine.ask(
        polars_engine.frame(rows), "compare", METRICS, score=MODELS, cluster="visitor", baseline="new"
    )
    assert_same(plain(merged.compare(baseline="new", details=True)), expected)


def test_models_in_another_order_keep_the_ends_of_differences(polars_engine):
    pytest.importorskip("scipy")
    rows = sample(4)
    first, second = split(1, rows, 2)
    merged = [
        recframe.merge_states(
            [
                *states_of(polars_engine, rows, [first], METRICS, score=MODELS),
                *states_of(polars_engine, rows, [second], METRICS, score=models),
            ]
        )
        for models in (MODELS, MODELS[::-1])
    ]
    same_order, other_order = (
        {
            row["metric"]: (row["model"], row["least"], row["greatest"])
            for row in plain(each.state())
            if row["kind"] == "pair"
        }
        for each in merged
    )
    for metric, (model, least, greatest) in same_order.items():
        other, *ends = other_order[metric]
        assert ends == ([least, greatest] if other == model else [-greatest, -least])


def test_segments_add_up(polars_engine):
    rows = sample(5)
    states = states_of(polars_engine, rows, split(1, rows, 2), METRICS, score="new", per="day")
    expected = polars_engine.ask(polars_engine.frame(rows), "evaluate", METRICS, score="new")
    assert_same(plain(recframe.merge_states(states, per=[]).evaluate()), expected)
    pl = pytest.importorskip("polars")
    added = [state.with_columns(job=pl.lit(number)) for number, state in enumerate(states)]
    assert {row["job"] for row in plain(recframe.merge_states(added, per="job").evaluate())} == {0, 1}


def test_a_segment_without_values_has_no_least_and_no_greatest(polars_engine):
    rows = [{"user": user, "day": f"d{user}", "relevant": user, "score": 1.0} for user in (0, 1)]
    frame = polars_engine.frame(rows, {"user": "int64", "day": "str", "relevant": "int64", "score": "float64"})
    state = recframe.rec(frame).state("mrr", by="user", per="day", undefined="skip")
    with_values, without = sorted(
        plain(recframe.merge_states(state).describe(details=True)), key=lambda row: -row["lists"]
    )
    assert (with_values["min"], with_values["max"], with_values["day"]) == (1.0, 1.0, "d1")
    assert (without["lists"], without["mean"], without["min"], without["max"]) == (0, None, None, None)


def test_rows_of_merged_results_are_numbered():
    pytest.importorskip("scipy")
    pd = pytest.importorskip("pandas")
    state = pd.DataFrame(sample(8)).rec.state(METRICS[:2], score=MODELS, per="day")
    merged = recframe.merge_states(state.assign(job=7), per="job")
    for result in (merged.evaluate(), merged.describe(), merged.compare(), merged.state(), state):
        assert result.index.tolist() == list(range(len(result)))


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_merged_states_can_be_pickled(library):
    pytest.importorskip("scipy")
    frame = pytest.importorskip(library).DataFrame({"user": [1, 2], "relevant": [1, 0], "score": [1.0, 1.0]})
    merged = recframe.merge_states(frame.rec.state("mrr"))
    assert plain(pickle.loads(pickle.dumps(merged)).describe()) == plain(merged.describe())


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_segments_keep_their_values_and_types(library):
    pytest.importorskip("scipy")
    module = pytest.importorskip(library)
    large = 2**60 + 1
    rows = {"user": [1, 2, 3], "shop": [large, large - 1, 5], "relevant": [1, 1, 0], "score": [1.0, 1.0, 1.0]}
    frame = module.DataFrame(rows)
    merged = recframe.merge_states(frame.rec.state("mrr", per="shop"))
    for result in (merged.evaluate(), merged.describe(), merged.state()):
        assert result["shop"].dtype == frame["shop"].dtype
        assert set(result["shop"].to_list() if library == "polars" else result["shop"].tolist()) == {*rows["shop"]}
    other = module.DataFrame({"user": [4], "shop": [None], "relevant": [1], "score": [1.0]})
    other = (
        other.with_columns(module.col("shop").cast(module.Int64))
        if library == "polars"
        else other.astype({"shop": float})
    )
    both = recframe.merge_states(
        module.DataFrame({**rows, "shop": [7, 6, 5]}).rec.state("mrr", per="shop"), other.rec.state("mrr", per="shop")
    )
    assert [row["shop"] for row in plain(both.evaluate())] == [5, 6, 7, None]
    several = recframe.merge_states(frame.rec.state("mrr", per="shop"), other.rec.state("mrr", per="shop"))
    assert [row["shop"] and int(row["shop"]) for row in plain(several.evaluate())] == [*sorted(rows["shop"]), None]


def test_the_mean_is_plain_sql(polars_engine):
    pl = pytest.importorskip("polars")
    rows = sample(6)
    table = pl.concat(states_of(polars_engine, rows, split(1, rows, 3), METRICS, score=MODELS))
    query = (
        "SELECT metric, model, sum(total) / sum(weight) AS mean FROM self WHERE kind = 'metric' GROUP BY metric, model"
    )
    means = {(row["metric"], row["model"]): row["mean"] for row in table.sql(query).rows(named=True)}
    for row in polars_engine.ask(polars_engine.frame(rows), "evaluate", METRICS, score=MODELS):
        for metric in METRICS:
            assert same(means[metric, row["model"]], row[metric])


def state_of(engine, rows, *args, **roles):
    return recframe.rec(engine.frame(rows)).state(*(args or ("mrr",)), score="new", **roles)


def both_of(engine, rows):
    return recframe.rec(engine.frame(rows)).state("mrr", score=MODELS)


def keys_of(engine, users, kind):
    """Return the hashes of a state's lists, as text."""
    rows = {"user": users, "item": [1] * len(users), "relevant": [1] * len(users), "new": [0.5] * len(users)}
    state = recframe.rec(engine.frame(rows, {"user": kind})).state("mrr", score="new")
    return {row["keys"] for row in plain(state)} - {None}


@pytest.mark.parametrize("user", [0, 5, -3, 10**18, 2**63 - 1, -(2**63)])
def test_an_integer_and_its_text_are_the_same_key(pandas_engine, user):
    by_kind = [keys_of(pandas_engine, [user], "int64"), keys_of(pandas_engine, [str(user)], "str")]
    by_kind += [keys_of(pandas_engine, [float(user)], "float64")] if abs(user) < 2**53 else []
    assert all(keys == by_kind[0] for keys in by_kind)


def test_texts_that_only_look_like_integers_are_other_keys(pandas_engine):
    texts = ["5", "05", "+5", " 5", "5\n", "-0", "5.0", "\u0665", str(2**63), "9" * 19]
    assert len(set.union(*(keys_of(pandas_engine, [text], "str") for text in texts))) == len(texts)
    assert len(set.union(*(keys_of(pandas_engine, [number], "uint64") for number in (5, 2**63, 2**63 - 5)))) == 3


REFUSED = {
    "are in two states": lambda engine, a, b: (state_of(engine, a), state_of(engine, a)),
    "1 list is in two states": lambda engine, a, b: (state_of(engine, a), state_of(engine, [*b, a[0]])),
    "states of mrr differ in metric": lambda engine, a, b: (state_of(engine, a), state_of(engine, b, ties="best")),
    "differ in by: .'user'. and .'user', 'day'.": lambda engine, a, b: (state_of(engine, a), state_of(engine, b, by=["user", "day"])),
    "lacks rows of ndcg": lambda engine, a, b: (state_of(engine, a, ["mrr", "ndcg"]), state_of(engine, b)),
    "lacks rows of mrr": lambda engine, a, b: (state_of(engine, a, per="day").filter(~(pl().col("kind").eq("metric") & pl().col("day").eq("d1"))),),
    "has version 0, but this recframe reads version 1": lambda engine, a, b: (state_of(engine, a).with_columns(version=0),),
    "is no state: it has no column 'kind'": lambda engine, a, b: (engine.frame(a),),
    "per='week' is no column of a state": lambda engine, a, b: "week",
    r"per='day' is no column of a state\n\nHint: all states need it; per=\[\]": lambda engine, a, b: (state_of(engine, a), state_of(engine, b, per="day")),
    r"per='day' is no column of a state\n\nHint: all states need it": lambda engine, a, b: (state_of(engine, a, per="day"), state_of(engine, b)),
    "merge_states needs a state": lambda engine, a, b: (),
    "'x' is no state\n\nHint: merge_states.monday, tuesday, per='week'.": lambda engine, a, b: ("x",),
    "rows of the state [0-9a-f]{16} are there twice": lambda engine, a, b: (both_of(engine, a), both_of(engine, a).filter(kind="pair")),
    "have no rows of the kind 'lists'": lambda engine, a, b: (state_of(engine, a).filter(kind="metric"),),
    "definition of a state holds 'x'": lambda engine, a, b: (state_of(engine, a).with_columns(definition=pl().lit("x")),),
    "definition of a state of mrr lacks 'range'": lambda engine, a, b: (state_of(engine, a).with_columns(pl().col("definition").str.replace("range", "rang")),),
    "definition of a state of mrr holds range=": lambda engine, a, b: (state_of(engine, a).with_columns(pl().col("definition").str.replace("1.0]", f"{10**400}]", literal=True)),),
    "definition of a state holds truth=0": lambda engine, a, b: (state_of(engine, a).with_columns(pl().col("definition").str.replace("false", "0")),),
    "have no rows of the kind 'metric'": lambda engine, a, b: (state_of(engine, a).filter(kind="lists"),),
    "total of a state holds a missing value": lambda engine, a, b: (state_of(engine, a).with_columns(total=pl().lit(None, pl().Float64)),),
    "place of a state holds 'x'": lambda engine, a, b: (state_of(engine, a).with_columns(place=pl().lit("x")),),
    "keys='x' are no keys of a state": lambda engine, a, b: (state_of(engine, a).with_columns(keys=pl().lit("x")),),
    r"metric of a state holds \['x'\], which is neither text nor a number": lambda engine, a, b: (state_of(engine, a).with_columns(metric=pl().concat_list(pl().lit("x"))),),
    r"state of a state holds \{'x': 1\}, which is neither": lambda engine, a, b: (state_of(engine, a).with_columns(state=pl().struct(x=1)),),
    r"day of a state holds \['x'\], which is neither": lambda engine, a, b: (state_of(engine, a).with_columns(day=pl().concat_list(pl().lit("x"))),),
    "wins of a state holds inf": lambda engine, a, b: (both_of(engine, a).with_columns(wins=pl().lit(float("inf"))),),
    "total of a state holds 'x', but it is a column of numbers": lambda engine, a, b: (state_of(engine, a).with_columns(total=pl().lit("x")),),
    "lacks rows of coverage": lambda engine, a, b: (state_of(engine, a, ["mrr", "coverage"], items=True), state_of(engine, b)),
    "states of coverage differ in catalog: 9 and 8": lambda engine, a, b: tuple(state_of(engine, part, "coverage", items=True, catalog=size) for part, size in ((a, 9), (b, 8))),
    "states of coverage differ in items": lambda engine, a, b: tuple(state_of(engine, part, "coverage", items=True, catalog=some) for part, some in ((a, ["i1"]), (b, ["i2"]))),
    "the states have no rows": lambda engine, a, b: (state_of(engine, a).head(0),),
}  # fmt: skip


def pl():
    return pytest.importorskip("polars")


def welch(one, other, confidence=0.95):
    """Return the difference of two means with SciPy's Welch test."""
    stats = pytest.importorskip("scipy.stats")
    result = stats.ttest_ind(one, other, equal_var=False)
    low, high = result.confidence_interval(confidence)
    return {"difference": sum(one) / len(one) - sum(other) / len(other), "p": result.pvalue, "low": low, "high": high}


@pytest.mark.parametrize("seed", [3, 4])
def test_states_of_other_lists_are_a_baseline(engine, seed):
    pytest.importorskip("scipy")
    rows = [row for row in sample(seed, 20) if row["user"] is not None]
    old, new = ([row for row in rows if (row["user"] > 9) == late] for late in (False, True))
    values = [
        [row["mrr"] for row in engine.ask(engine.frame(part, KINDS), "evaluate", "mrr", score="new", per="user") if row["mrr"] is not None]
        for part in (new, old)
    ]  # fmt: skip
    before, after = (states_of(engine, part, [range(1, 20)], "mrr", score="new")[0] for part in (old, new))
    for baseline in (before, recframe.merge_states(before)):
        (row,) = plain(recframe.merge_states(after).compare(baseline=baseline, details=True))
        expected = welch(*values)
        assert_same([row], [expected | {"low": max(expected["low"], -1), "high": min(expected["high"], 1)}], expected)
        assert (row["lists"], row["baseline_lists"]) == tuple(map(len, values))
        assert row["p"] == row["p_adjusted"]


def test_a_baseline_of_other_lists_has_models_and_segments_of_its_own(polars_engine):
    pytest.importorskip("scipy")
    rows = [row for row in sample(6, 24) if row["user"] is not None]
    old, new = ([row for row in rows if (row["user"] > 11) == late] for late in (False, True))
    both, one = {"score": MODELS, "per": "day"}, {"score": "old", "per": "day"}
    after = recframe.merge_states(recframe.rec(polars_engine.frame(new)).state(["mrr", "ndcg@2"], **both))
    result = plain(
        after.compare(baseline=recframe.rec(polars_engine.frame(old)).state(["mrr", "ndcg@2"], **both), details=True)
    )
    assert [(row["model"], row["baseline"]) for row in result[:4]] == [("old", "old"), ("new", "new")] * 2
    assert {row["day"] for row in result} == {"d0", "d1", "d2"}
    cut = [row for row in old if row["day"] != "d1"]
    result = plain(
        after.compare(baseline=recframe.rec(polars_engine.frame(cut)).state(["mrr", "ndcg@2"], **one), details=True)
    )
    assert {row["p"] is None for row in result if row["day"] == "d1"} == {True}
    assert {row["baseline_lists"] for row in result if row["day"] == "d1"} == {0}
    named = {"score": ["old", "other"], "per": "day"}
    three = [{**row, "other": row["old"]} for row in old]
    with pytest.raises(recframe.OptionError, match="the baseline has no model 'new'; it has 'old', 'other'"):
        after.compare(baseline=recframe.rec(polars_engine.frame(three)).state(["mrr", "ndcg@2"], **named), details=True)
    with pytest.raises(recframe.OptionError, match="the baseline has no rows of ndcg@2; it has mrr"):
        after.compare(baseline=recframe.rec(polars_engine.frame(old)).state("mrr", **one), details=True)
    with pytest.raises(recframe.InputError, match="differs in metric of mrr"):
        after.compare(
            baseline=recframe.rec(polars_engine.frame(old)).state(["mrr", "ndcg@2"], ties="best", **one), details=True
        )
    with pytest.raises(recframe.InputError, match="12 lists are also in the baseline"):
        after.compare(baseline=recframe.rec(polars_engine.frame(new)).state(["mrr", "ndcg@2"], **both), details=True)
    with pytest.raises(recframe.MissingColumnError, match="per='day' is no column of a state"):
        after.compare(
            baseline=recframe.merge_states(recframe.rec(polars_engine.frame(old)).state("mrr", **one), per=[]),
            details=True,
        )
    with pytest.raises(recframe.OptionTypeError, match="a state: recframe.merge_states"):
        recframe.rec(polars_engine.frame(new)).compare(
            "mrr", score="new", baseline=polars_engine.frame(old), details=True
        )


def test_welchs_test_keeps_its_level():
    np, stats = pytest.importorskip("numpy"), pytest.importorskip("scipy.stats")
    from recframe._inference.comparison.options import Options
    from recframe._inference.states.unpaired import _statistics

    options = Options(0.95, None, 100, 0, None, "t", "holm", "percentile")
    random, draws = np.random.default_rng(0), 20_000
    values = [random.exponential(1, (draws, 40)), 1 + 3 * (random.random((draws, 25)) - 0.5)]
    one, other = (
        {"mean": v.mean(axis=1), "error": v.std(axis=1, ddof=1) / np.sqrt(v.shape[1]), "degrees": np.full(draws, v.shape[1] - 1.0), "lists": np.full(draws, 40.0), "effective": np.full(draws, 40.0)}
        for v in values
    )  # fmt: skip
    result = _statistics(one, other, (-np.inf, np.inf), options, "mrr")
    assert np.allclose(result["p"], stats.ttest_ind(*values, axis=1, equal_var=False).pvalue, rtol=1e-9)
    assert 0.04 < np.mean(result["p"] < 0.05) < 0.065
    assert ((result["p"] < 0.05) == ((result["low"] > 0) | (result["high"] < 0))).all()


def test_clusters_of_other_lists_are_the_units(engine):
    np, stats = pytest.importorskip("numpy"), pytest.importorskip("scipy.stats")
    from recframe._inference.statistics.student import Sums

    rows = [{**row, "visitor": row["user"] // 3} for row in sample(9, 60) if row["user"] is not None]
    old, new = ([row for row in rows if (row["user"] > 23) == late] for late in (False, True))
    means = []
    for part in (new, old):
        result = engine.ask(engine.frame(part, KINDS), "evaluate", "mrr", score="new", per="user")
        values = {row["user"]: row["mrr"] for row in result if row["mrr"] is not None}
        visitors = np.array([user // 3 for user in values])
        means.append(Sums.of(np.array(list(values.values())), np.ones(len(values)), visitors))
    squares = [one.standard_error**2 for one in means]
    degrees = sum(squares) ** 2 / sum(square**2 / one.degrees for square, one in zip(squares, means, strict=True))
    statistic = (means[0].mean - means[1].mean) / np.sqrt(sum(squares))
    given = {"score": "new", "cluster": "visitor"}
    before, after = (states_of(engine, part, [range(60)], "mrr", **given)[0] for part in (old, new))
    (row,) = plain(recframe.merge_states(after).compare(baseline=before, details=True))
    assert row["p"] == pytest.approx(2 * stats.t.sf(abs(statistic), degrees).item(), rel=1e-9)
    (usual,) = plain(
        recframe.merge_states(states_of(engine, new, [range(60)], "mrr", score="new")).compare(
            baseline=states_of(engine, old, [range(60)], "mrr", score="new")[0], details=True
        )
    )
    assert usual["p"] != row["p"]


@pytest.mark.parametrize("message", REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_what_does_not_add_up_is_refused(polars_engine, message):
    rows = sample(7)
    one, other = ([row for row in rows if (row["user"] or 0) % 2 == half] for half in (0, 1))
    given = REFUSED[message](polars_engine, one, other)
    with pytest.raises(recframe.RecError, match=message):
        recframe.merge_states(state_of(polars_engine, one), per=given) if isinstance(
            given, str
        ) else recframe.merge_states(*given)


DAMAGES = {
    "weight inf": ("metric", "weight", math.inf, "weight of a state holds inf, but it is finite"),
    "weight below 0": ("metric", "weight", -1.0, "weight of a state holds -1, but it is 0 or more"),
    "small weight": (
        "metric",
        "weight",
        0.5,
        "total of a state holds .*, but no lists with its weight and values of mrr",
    ),
    "total below 0": ("metric", "total", -1.0, "total of a state holds -1, but no lists"),
    "large total": ("metric", "total", 99.0, "total of a state holds 99, but no lists"),
    "total inf": ("metric", "total", math.inf, "total of a state holds inf, but no lists"),
    "greatest": ("metric", "greatest", 1.5, "greatest of a state holds 1.5, but a list's mrr is from 0 to 1"),
    "least": ("metric", "least", -0.5, "least of a state holds -0.5, but a list's mrr is from 0 to 1"),
    "squares": ("metric", "squares", 99.0, "squares of a state holds 99, but no lists"),
    "squares of weighted lists": (
        "metric",
        "weighted_squares",
        -1.0,
        "weighted_squares of a state holds -1, but it is 0",
    ),
    "zeros": ("metric", "zeros", 99, "zeros of a state holds 99, but it counts some of the lists"),
    "wins below 0": ("pair", "wins", -1, "wins of a state holds -1, but it is 0 or more"),
    "wins": ("pair", "wins", 99, "wins of a state holds 99, but it counts some of the lists"),
    "half a win": ("pair", "wins", 0.5, "wins of a state holds 0.5, but it is a whole number"),
    "difference": ("pair", "total", 99.0, "total of a state holds 99, but no lists"),
    "greatest difference": ("pair", "greatest", 1.5, "greatest of a state holds 1.5, but a list's mrr is from 0 to 1"),
    "total of the baseline": ("pair", "baseline_total", -1.0, "baseline_total of a state holds -1, but no lists"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_numbers_that_no_lists_add_up_to_are_refused(polars_engine, damage):
    kind, name, value, message = DAMAGES[damage]
    col = pl().col
    with polars_engine.running():
        state = both_of(polars_engine, sample(7))
        wrong = pl().when(col("kind") == kind).then(value).otherwise(col(name)).alias(name)
        assert recframe.merge_states(state).evaluate() is not None
        with pytest.raises(recframe.InputError, match=message):
            recframe.merge_states(state.with_columns(wrong))


@pytest.mark.parametrize(
    "keys",
    [
        [dt.timedelta(days=1, hours=2), dt.timedelta(seconds=-5), dt.timedelta(microseconds=1)],
        [dt.date(2020, 1, 2), dt.date(2021, 1, 1), None],
        [dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5, 6), None],  # noqa: DTZ001
    ],
    ids=["durations", "dates", "points in time"],
)
def test_lists_of_two_libraries_are_known_by_their_keys(keys):
    pytest.importorskip("scipy")
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    columns = {"user": keys, "item": [1, 2, 3], "relevant": [1, 1, 1], "score": [1.0, 2.0, 3.0]}
    states = [recframe.rec(frame).state("mrr") for frame in (pl.DataFrame(columns), pd.DataFrame(columns))]
    with pytest.raises(recframe.InputError, match="3 lists are in two states"):
        recframe.merge_states(states)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_segments_without_an_order_are_refused(library):
    library = pytest.importorskip(library)
    pytest.importorskip("scipy")
    rows = library.DataFrame({"user": [1, 1, 2], "day": [1, 1, 2], "relevant": [1, 0, 1], "score": [2.0, 1.0, 2.0]})
    others = library.DataFrame({"user": [3, 3], "day": ["1", "1"], "relevant": [1, 0], "score": [2.0, 1.0]})
    states = [recframe.rec(frame).state("mrr", per="day") for frame in (rows, others)]
    with pytest.raises(recframe.ColumnTypeError, match=r"per=\['day'\] of the states holds values that have no order"):
        recframe.merge_states(states)


@pytest.mark.parametrize(
    "segments", [[2**53 + 1, 2**53], [1, 2], [dt.date(2026, 1, 1), dt.date(2026, 1, 2)], ["a", "b"]]
)
def test_segments_of_dictionaries_of_arrow_keep_their_values(segments):
    pa = pytest.importorskip("pyarrow")
    values = [*segments, None]
    table = pa.table(
        {"user": [1, 2, 3], "relevant": [1] * 3, "score": [1.0] * 3, "per": pa.array(values).dictionary_encode()}
    )
    merged = recframe.merge_states(recframe.rec(table).state("num_rel", per="per"))
    assert merged.evaluate()["per"].to_pylist() == [*sorted(segments), None]


def test_segments_are_periods():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    frame = pd.DataFrame({"user": [1, 1, 2], "relevant": [1, 0, 1], "score": [2.0, 1.0, 2.0]})
    frame["day"] = pd.PeriodIndex(["2026-01", "2026-01", "2026-02"], freq="M")
    result = recframe.merge_states(recframe.rec(frame).state("mrr", per="day")).evaluate()
    assert result["day"].tolist() == sorted({*frame["day"]})


def test_models_of_one_text_are_refused():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    frame = pd.DataFrame({"user": [1, 2], "item": [1, 2], "relevant": [1, 0], 1: [0.5, 0.1], "1": [0.2, 0.3]})
    with pytest.raises(recframe.OptionError, match="the models .* and '1' are one text"):
        recframe.rec(frame).state("mrr", score=[1, "1"])
    long = pd.DataFrame({"user": [1, 1], "item": [1, 1], "relevant": 1, "score": [0.5, 0.1], "who": [1, "1"]})
    with pytest.raises(recframe.OptionError, match="the models .* and '1' are one text"):
        recframe.rec(long).state("mrr", model="who")
    assert len(recframe.rec(long.assign(who=[1, None])).state("mrr", model="who")) == 5


def test_what_sums_do_not_tell_is_refused(polars_engine):
    pytest.importorskip("scipy")
    merged = recframe.merge_states(recframe.rec(polars_engine.frame(sample(8))).state("mrr", score=MODELS))
    with pytest.raises(recframe.OptionError, match="test='bootstrap' reads the values of lists"):
        merged.compare(test="bootstrap", details=True)
    with pytest.raises(recframe.OptionError, match="baseline='other' is not one of the models"):
        merged.compare(baseline="other", details=True)
    with pytest.raises(
        recframe.OptionError, match="coverage@2 is one value of all lists together[^~]*items=True keeps"
    ):
        recframe.rec(polars_engine.frame(sample(8))).state("coverage", 2, score="new")
    together = recframe.merge_states(
        recframe.rec(polars_engine.frame(sample(8))).state("coverage", 2, score="new", items=True)
    )
    with pytest.raises(recframe.OptionError, match="describe needs a value per list, but coverage@2"):
        together.describe()
    assert "quantile" not in json.dumps(sorted(plain(merged.describe())[0]))
    for counts in (1, pytest.importorskip("polars").col("user")):
        with pytest.raises(recframe.OptionTypeError, match="counts=.* is neither True nor False"):
            merged.evaluate(counts=counts)


@pytest.mark.parametrize(
    ("name", "call"), [("std", "describe"), ("low", "compare"), ("rank", "rank_models"), ("mrr", "evaluate")]
)
def test_a_segment_is_not_called_like_a_column_of_the_result(polars_engine, name, call):
    pytest.importorskip("scipy")
    state = recframe.rec(polars_engine.frame(sample(8))).state("mrr", score=MODELS, per="day")
    merged = recframe.merge_states(state.rename({"day": name}))
    with pytest.raises(recframe.OptionError, match=f"several columns of the name '{name}'"):
        getattr(merged, call)()


@pytest.mark.parametrize("test", ["t", "anytime-bounded"])
@pytest.mark.parametrize(("metric", "options"), [("kendall", {}), ("mrr", {"undefined": -1.0})])
def test_differences_range_as_far_where_no_value_is_negative(polars_engine, metric, options, test):
    pytest.importorskip("scipy")
    # Each list has a value of at least 0, of metrics whose least value is -1.
    orders = [(1, 3, 2), (1, 2, 3)]
    rows = [
        {"user": user, "item": item, "relevant": item, "old": orders[0][item], "new": orders[user % 2][item]}
        for user in range(3 if test == "t" else 60)
        for item in range(3)
    ]
    tested = {"test": test, **({} if test == "t" else {"planned": 100})}
    frame = recframe.rec(polars_engine.frame(rows))
    expected = frame.compare(metric, score=MODELS, **options, **tested)
    assert_same(
        plain(recframe.merge_states(frame.state(metric, score=MODELS, **options)).compare(**tested)), plain(expected)
    )


def test_states_with_and_without_a_segment_add_up_in_any_order(polars_engine):
    parts = [[row for row in sample(10) if (row["visitor"] > 2) == late] for late in (False, True)]
    states = [state_of(polars_engine, parts[0], per="day"), state_of(polars_engine, parts[1])]
    result = [plain(recframe.merge_states(*some, per=[]).evaluate()) for some in (states, states[::-1])]
    assert result[0] == result[1]


def test_weights_whose_sum_is_the_number_of_lists_are_weights(polars_engine):
    pytest.importorskip("scipy")
    rows = [
        {"user": user, "item": item, "relevant": item, "old": item, "new": (item + user) % 2, "weight": user % 2 + 0.5}
        for user in range(4)
        for item in range(2)
    ]
    merged = recframe.merge_states(recframe.rec(polars_engine.frame(rows)).state("mrr", score=MODELS, weight="weight"))
    with pytest.raises(recframe.OptionError, match="anytime-bounded"):
        merged.compare(test="anytime-bounded", planned=100)


@pytest.mark.filterwarnings("ignore")
def test_a_frame_without_rows_has_a_state(polars_engine):
    state = state_of(polars_engine, sample(9)[:1]).head(0)
    empty = recframe.rec(polars_engine.frame(sample(9)).head(0)).state("mrr", score="new")
    assert state.schema == empty.schema
    (row,) = plain(recframe.merge_states(empty).evaluate(counts=True))
    assert row == {"mrr": None, "lists": 0, "undefined": 0}
    both = recframe.merge_states(empty, state_of(polars_engine, sample(9)))
    assert plain(both.evaluate()) == plain(recframe.merge_states(state_of(polars_engine, sample(9))).evaluate())


@pytest.mark.filterwarnings("ignore")
def test_pairs_that_not_all_states_hold_are_refused(polars_engine):
    pytest.importorskip("scipy")
    rows = sample(10)
    third = [{**row, "third": row["new"] / 2} for row in rows]
    parts = [polars_engine.frame([row for row in third if (row["user"] or 0) % 2 == half]) for half in (0, 1)]
    models = [*MODELS, "third"]
    every = [recframe.rec(part).state("mrr", score=models) for part in parts]
    some = recframe.rec(parts[1]).state("mrr", score=models, baseline="old")
    result = recframe.merge_states(every[0], some).compare()
    assert [(row["model"], row["baseline"]) for row in plain(result)] == [("new", "old"), ("third", "old")]
    with pytest.raises(recframe.OptionError, match="not all states compare 'third' with 'new'"):
        recframe.merge_states(every[0], some).compare(baseline="new")
    pairs = pl().col("kind") == "pair"
    cut = every[1].filter(~(pairs & (pl().col("model") == "new")))
    with pytest.raises(recframe.OptionError, match="not all states compare 'new' with 'old'"):
        recframe.merge_states(every[0], cut).compare(baseline="old")


def test_the_state_of_a_lazy_frame_is_lazy():
    pytest.importorskip("scipy")
    frame = pl().DataFrame(sample(11))
    eager = recframe.rec(frame).state("mrr", score=MODELS, per="day")
    lazy = recframe.rec(frame.lazy()).state("mrr", score=MODELS, per="day")
    assert isinstance(lazy, pl().LazyFrame)
    assert lazy.collect_schema() == lazy.collect().schema == eager.schema
    assert list(lazy.collect_schema()) == eager.columns
    assert plain(recframe.merge_states(lazy).compare()) == plain(recframe.merge_states(eager).compare())


def test_a_state_of_very_large_values_adds_up(polars_engine):
    rows = [{**row, "relevant": row["relevant"] * 1e200} for row in sample(12)]
    with polars_engine.running():
        frame = pl().DataFrame(rows)
        merged = recframe.merge_states(frame.rec.state("dcg", score="new"))
        assert_same(plain(merged.evaluate()), plain(frame.rec.evaluate("dcg", score="new")))
        assert merged.describe()["std"].to_list() == [None]


def test_a_state_of_very_small_values_has_their_means(polars_engine):
    gains, names = [3e-14, 1e-14, 2e-14, 5e-14], ("mean", "low", "high")
    rows = [{"user": user, "item": 0, "relevant": gain, "score": 1} for user, gain in enumerate(gains * 2)]
    frames = [polars_engine.frame(part) for part in (rows[:4], rows[4:])]
    merged = recframe.merge_states(recframe.rec(frames[0]).state("dcg@1"))
    (result,), (expected,) = plain(merged.describe()), polars_engine.ask(frames[0], "describe", "dcg@1")
    assert [result[name] for name in names] == pytest.approx([expected[name] for name in names], rel=1e-9, abs=0)
    (row,) = plain(merged.compare(baseline=recframe.rec(frames[1]).state("dcg@1"), details=True))
    assert (row["mean"], row["p"]) == (pytest.approx(2.75e-14, rel=1e-9, abs=0), 1)


@pytest.mark.filterwarnings("ignore")
def test_calls_of_merged_states_say_what_they_accept(polars_engine):
    merged = recframe.merge_states(state_of(polars_engine, sample(7)))
    with pytest.raises(
        recframe.OptionTypeError, match=r"(?s)evaluate: too many positional.*evaluate\(counts=\.\.\., strata="
    ):
        merged.evaluate("ndcg")
    with pytest.raises(recframe.OptionTypeError, match=r"(?s)'n_boot'.*did you mean 'resamples'"):
        merged.rank_models(n_boot=9)
    with pytest.raises(recframe.UnknownMethodError, match="no method 'ndcg'; they have evaluate, describe, compare"):
        merged.ndcg(10)
    assert not hasattr(merged, "_repr_html_")


def test_names_of_states_may_be_numbers(polars_engine):
    state = state_of(polars_engine, sample(7))
    numbered = state.with_columns(state=pl().lit(7))
    assert recframe.merge_states(numbered).state()["state"].n_unique() == 1
    assert plain(recframe.merge_states(numbered).evaluate()) == plain(recframe.merge_states(state).evaluate())


def test_states_survive_files_of_text(polars_engine, tmp_path):
    pytest.importorskip("scipy")
    rows = sample(12)
    states = states_of(polars_engine, rows, split(1, rows, 2), METRICS, score=MODELS, per="day", cluster="visitor")
    path = tmp_path / "states.csv"
    pl().concat(states).write_csv(path)
    for call in ("evaluate", "describe", "compare"):
        result = getattr(recframe.merge_states(pl().read_csv(path, infer_schema_length=None)), call)()
        assert_same(plain(result), plain(getattr(recframe.merge_states(states), call)()))


def test_merged_values_of_items_have_the_same_bits_in_any_order_of_rows():
    frame = pl().DataFrame([{"user": i // 8, "item": f"i{i * 7919 % 301}", "score": i % 8} for i in range(3_200)])
    state = recframe.rec(frame).state(["entropy@5", "gini@5"], by="user", items=True)
    merged = [recframe.merge_states(rows) for rows in (state, state[::-1])]
    result = {tuple(one.evaluate()[name].to_list()[0].hex() for name in ("entropy@5", "gini@5")) for one in merged}
    assert len(result) == 1


@pytest.mark.parametrize(
    ("metric", "reads", "roles"),
    [
        ("err@2", "the largest relevance of all lists", {}),
        ("serendipity(unexpected=ranks)@2", "the number of all items", {"train": True}),
    ],
)
def test_metrics_that_read_other_lists_are_refused(polars_engine, metric, reads, roles):
    """A part of the lists has another largest relevance, and fewer items: its values are not those of one call."""
    pytest.importorskip("scipy")
    frame = polars_engine.frame(sample(3), KINDS)
    roles = {"score": "new", **({"train": polars_engine.frame([{"user": 1, "item": "i1"}])} if roles else {})}
    with pytest.raises(recframe.OptionError, match=f"reads {reads}, which a state of some lists does not hold"):
        recframe.rec(frame).state(metric, **roles)


def test_metrics_whose_call_names_what_they_read_of_other_lists_add_up(polars_engine):
    pytest.importorskip("scipy")
    rows = sample(3)
    metrics = ["err(max_relevance=2)@2", "err(probability={1:0.2,2:0.5})", "serendipity(unexpected=ranks)@2"]
    for catalog in (9, [f"i{item}" for item in range(5)]):
        past = polars_engine.frame([{"user": 1, "item": "i1"}])
        roles = {"score": "new", "catalog": catalog, "train": past}
        states = states_of(polars_engine, rows, split(3, rows, 3), metrics, **roles)
        expected = polars_engine.ask(polars_engine.frame(rows, KINDS), "evaluate", metrics, **roles)
        assert_same(plain(recframe.merge_states(states).evaluate()), expected)


def test_segments_of_two_types_are_refused(polars_engine):
    """A state that was kept as JSON has text instead of dates."""
    pytest.importorskip("scipy")
    days = [dt.date(2026, 1, 1), "2026-01-02"]
    frames = [polars_engine.frame({"user": [day], "day": [day], "relevant": [1], "score": [1.0]}) for day in days]
    states = [recframe.rec(frame).state("mrr", per="day") for frame in frames]
    with pytest.raises(recframe.ColumnTypeError, match="of the states holds values that have no order"):
        recframe.merge_states(states)


@pytest.mark.parametrize(
    ("values", "kinds"),
    [([True, None], "bool bool"), ([False, None], "bool bool"), ([1, 1.5], "int8 float64"), ([1, 3000], "int8 int64")],
)
def test_segments_keep_their_values_whichever_types_states_have(engine, values, kinds):
    """A missing one of true and false became false on pandas, and fractions whole numbers on Arrow."""
    pytest.importorskip("scipy")
    states = [
        recframe.rec(
            engine.frame({"user": [1.0 * at], "seg": [seg], "relevant": [1], "score": [1.0]}, {"seg": kind})
        ).state("mrr", by="user", per="seg")
        for at, (seg, kind) in enumerate(zip(values, kinds.split(), strict=True))
    ]
    again = recframe.merge_states(states).state()
    for merged in (recframe.merge_states(states), recframe.merge_states(again), recframe.merge_states(states[::-1])):
        assert [row["seg"] for row in plain(merged.evaluate())] == values


def test_states_on_duckdb_are_no_table_of_the_user():
    """DuckDB looks for a table of a name first: of one called ``rows``, its rows came back instead of the state's."""
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("scipy")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE rows AS SELECT 42 AS user")
    connection.execute("CREATE TABLE one AS SELECT 43 AS user")
    shown = connection.sql("SELECT 1 AS user, 1 AS relevant, 0.5 AS score")
    state = recframe.rec(shown).state("mrr")
    assert recframe.merge_states(state).evaluate().item() == 1.0
    assert connection.sql("FROM one").fetchall() == [(43,)]
    connection.execute("SET python_enable_replacements = false")
    with pytest.raises(recframe.InputError, match="SET python_enable_replacements = true"):
        recframe.rec(shown).state("mrr")
