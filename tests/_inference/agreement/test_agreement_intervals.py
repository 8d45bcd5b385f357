"""Intervals of `agreement`: SciPy's, list by list, and how often they hold the truth."""

import itertools
import math

import numpy as np
import pytest

import recframe

stats = pytest.importorskip("scipy.stats")

MEASURES = ["overlap", "kendall"]
ENDS = ("{}_low", "{}_high")


def rankings(seed, lists=24, items=5, alike=0.6):
    """Return lists of three models, every four of one user; the models of a user agree more or less."""
    random = np.random.default_rng(seed)
    rows = []
    for session in range(lists):
        user = session // 4
        common = random.normal(size=items) * alike * (user + 1)
        for item in range(items):
            scores = {model: float(common[item] + random.normal()) for model in "abc"}
            if session % 7 == 0:
                scores["c"] = None
            rows.append({"session": session, "user": f"u{user}", "market": "at" if user < 4 else "be", "item": item} | scores)  # fmt: skip
    return rows


def pairs_of(rows, *columns):
    return {tuple(row[name] for name in columns): row for row in rows}


def per_list(engine, rows, measures, **given):
    """Return the values of each pair of models, list by list."""
    result = engine.ask(engine.frame(rows), "agreement", 2, measures=measures, per="session", by="session", **given)
    result = sorted(result, key=lambda row: row["session"])
    return {
        pair: [row for row in result if (row["model"], row["other"]) == pair]
        for pair in itertools.combinations("abc", 2)
    }


def within(name, ends):
    """Return the ends within the range of a measure."""
    return [max(ends[0], 0 if "@" in name else -1), min(ends[1], 1)]


def names_of(row):
    return [name for name in row if f"{name}_low" in row]


def test_intervals_are_those_of_the_values_of_lists(engine):
    rows, given = rankings(1), {"score": ["a", "b", "c"]}
    frame = engine.frame(rows)
    result = engine.ask(frame, "agreement", 2, measures=MEASURES, by="session", confidence=0.8, **given)
    plain = pairs_of(engine.ask(frame, "agreement", 2, measures=MEASURES, by="session", **given), "model", "other")
    lists = per_list(engine, rows, MEASURES, **given)
    for row in result:
        own = lists[row["model"], row["other"]]
        assert {name: value for name, value in row.items() if not name.endswith(("_low", "_high"))} == pytest.approx(
            plain[row["model"], row["other"]]
        )
        assert names_of(row) == ["overlap@2", "kendall"]
        for name in names_of(row):
            values = [one[name] for one in own if one[name] is not None and not math.isnan(one[name])]
            assert len(values) == row["lists"]
            expected = stats.ttest_1samp(values, 0).confidence_interval(0.8)
            assert [row[end.format(name)] for end in ENDS] == pytest.approx(within(name, expected))


def test_clusters_are_the_units(engine):
    """Clusters of equal size vary as their means do."""
    rows = rankings(2)
    given = {"score": ["a", "b"], "by": "session", "measures": MEASURES, "confidence": 0.9}
    lists = per_list(engine, rows, MEASURES, score=["a", "b"])["a", "b"]
    for per in (None, "market"):
        result = engine.ask(engine.frame(rows), "agreement", 2, cluster="user", per=per, **given)
        for row in result:
            own = [one for one in lists if per is None or (one["session"] < 16) == (row["market"] == "at")]
            for name in names_of(row):
                means = np.reshape([one[name] for one in own], (-1, 4)).mean(axis=1)
                expected = stats.ttest_1samp(means, 0).confidence_interval(0.9)
                assert [row[end.format(name)] for end in ENDS] == pytest.approx(within(name, expected))


def test_a_list_of_its_own_as_each_cluster_changes_nothing(engine):
    rows = [row | {"own": row["session"] * 2} for row in rankings(3)]
    given = {"score": ["a", "b"], "by": "session", "measures": MEASURES, "confidence": 0.95}
    frame = engine.frame(rows)
    (plain,) = engine.ask(frame, "agreement", 2, **given)
    for cluster in ("own", "session"):
        (row,) = engine.ask(frame, "agreement", 2, cluster=cluster, **given)
        assert [*row] == [*plain]
        assert [*row.values()][2:] == pytest.approx([*plain.values()][2:])


def test_one_cluster_has_no_interval(polars_engine):
    frame = polars_engine.frame([row | {"everyone": 1} for row in rankings(3)])
    given = {"score": ["a", "b"], "by": "session", "measures": MEASURES, "confidence": 0.95}
    with pytest.raises(recframe.OptionError, match="cluster='everyone' has only one value"):
        recframe.rec(frame).agreement(2, cluster="everyone", **given)


def test_shares_have_the_interval_of_wilson(engine):
    rows = rankings(4, lists=40)
    (row,) = engine.ask(
        engine.frame(rows), "agreement", 1, measures="overlap", by="session", score=["a", "b"], confidence=0.95
    )
    hits = round(row["overlap@1"] * 40)
    assert 3 < hits < 37
    expected = stats.binomtest(hits, 40).proportion_ci(0.95, "wilson")
    # The interval is a little wider, as the normal quantile takes the deviation as known.
    assert [row[end.format("overlap@1")] for end in ENDS] == pytest.approx([expected.low, expected.high], abs=0.01)


def test_models_that_agree_in_every_list_may_differ_in_others(engine):
    rows = [row | {"b": row["a"]} for row in rankings(5, lists=8)]
    (row,) = engine.ask(
        engine.frame(rows), "agreement", 2, measures=["overlap", "kendall"], by="session", score=["a", "b"], confidence=0.95
    )  # fmt: skip
    assert row["overlap@2_low"] < 0.8
    assert row["overlap@2_high"] == 1
    assert row["kendall_low"] < row["kendall_high"] == 1


def test_models_in_rows_and_pairs_without_lists(engine):
    rows = rankings(6)
    stacked = [
        {"session": row["session"], "item": row["item"], "model": model, "score": row[model]}
        for model in "abc"
        for row in rows
        if row[model] is not None
    ]
    stacked.append({"session": 99, "item": 1, "model": "d", "score": 1.0})
    given = {"measures": ["rbo", "spearman"], "by": "session", "confidence": 0.95}
    wide = pairs_of(engine.ask(engine.frame(rows), "agreement", 3, score=["a", "b", "c"], **given), "model", "other")
    long = pairs_of(engine.ask(engine.frame(stacked), "agreement", 3, model="model", **given), "model", "other")
    assert len(long) == 6
    for pair, row in long.items():
        ends = [row[end.format(name)] for name in ("rbo@3", "spearman") for end in ENDS]
        if "d" in pair:
            assert ends == [None] * 4
        else:
            assert ends == pytest.approx([wide[pair][end.format(name)] for name in ("rbo@3", "spearman") for end in ENDS])  # fmt: skip


def test_a_negative_correlation_has_an_interval_around_it():
    pl = pytest.importorskip("polars")
    rows = pl.DataFrame(rankings(8)).with_columns(b=pl.col("b") / 2 - pl.col("a"))
    given = {"measures": ["kendall", "spearman"], "by": "session", "score": ["a", "b"]}
    (row,) = rows.rec.agreement(confidence=0.9, **given).to_dicts()
    values = rows.rec.agreement(per="session", **given)
    for name in ("kendall", "spearman"):
        assert -1 < row[f"{name}_low"] < row[name] < row[f"{name}_high"] < 0
        expected = stats.ttest_1samp(values[name].to_numpy(), 0).confidence_interval(0.9)
        assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx([*expected])


def test_a_lazy_result_knows_its_columns():
    pl = pytest.importorskip("polars")
    lazy = pl.LazyFrame(rankings(7)).rec.agreement(2, by="session", per="market", score=["a", "b"], confidence=0.95)
    assert lazy.collect_schema() == lazy.collect().schema
    assert lazy.collect().columns[-6:] == [f"{name}{end}" for name in ("kendall", "spearman") for end in ("", "_low", "_high")]  # fmt: skip


def test_intervals_hold_the_truth():
    pl = pytest.importorskip("polars")
    random, draws, lists, items = np.random.default_rng(8), 500, 30, 5
    # How alike both models are varies from list to list.
    common = random.uniform(0, 2, (draws, lists, 1)) * random.normal(size=(draws, lists, items))
    frame = pl.DataFrame({
        "draw": np.repeat(np.arange(draws), lists * items), "list": np.repeat(np.arange(draws * lists), items),
        "item": np.tile(np.arange(items), draws * lists),
        **{name: (common + random.normal(size=common.shape)).ravel() for name in ("old", "new")},
    })  # fmt: skip
    given = {"by": ["draw", "list"], "score": ["old", "new"], "measures": ["overlap", "kendall"]}
    whole = frame.rec.agreement(2, **given)
    result = frame.rec.agreement(2, per="draw", confidence=0.95, **given)
    for name in ("overlap@2", "kendall"):
        true = whole[name].item()
        held = ((result[f"{name}_low"] <= true) & (true <= result[f"{name}_high"])).mean()
        assert 0.925 < held < 0.975, name


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"cluster": "user", "confidence": None}, "cluster='user' is about intervals, but no confidence="),
        ({"confidence": 1}, "confidence=1 is not a number between 0 and 1"),
        ({"confidence": "high"}, "confidence='high'"), ({"cluster": 3}, "cluster=3"),
        ({"cluster": "item"}, "cluster='item' has several values within a list"),
        ({"cluster": "shop"}, "shop"), ({"per": ["overlap@10_low"]}, "several columns of the name 'overlap@10_low'"),
    ],
)  # fmt: skip
def test_bad_calls(given, match):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame([row | {"overlap@10_low": 1} for row in rankings(9)])
    with pytest.raises(recframe.RecError, match=match):
        frame.rec.agreement(**{"by": "session", "score": ["a", "b"], "confidence": 0.95, **given})
