"""Intervals and tests of metrics of all lists together, against leaving lists out of the frame itself."""

import json
import random
from hashlib import blake2b

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import stats

import recframe
from recframe._inference.comparison import all_lists

METRICS = ["coverage@2", "gini@2", "gini(denominator=n-1)@3", "entropy@2", "personalization@3"]
MODELS = ["a", "b"]
CATALOG = 40
NAMED = [f"i{number}" for number in range(36)]


def rows_of(seed, lists=24):
    """Return lists of unequal length with ties, in clusters of users; some items are not in the named catalogue."""
    draw = random.Random(seed)
    return [
        {"session": number, "user": number % 7, "country": "at" if number % 3 else "be", "item": f"i{item}",
         "relevant": draw.choice([0, 0, 1]), "a": draw.choice([None, 1.0, 2.0, 3.0]), "b": -item + 30 * draw.random()}
        for number in range(lists)
        for item in draw.sample(range(40), draw.randint(1, 6))
    ]  # fmt: skip


def left_out(engine, rows, column, metrics=METRICS, catalog=CATALOG, **given):
    """Return the values of each model of all rows, and without one value of a column after the other."""
    names = sorted({row[column] for row in rows})
    parts = [rows, *([row for row in rows if row[column] != name] for name in names)]
    given |= {"score": MODELS, "catalog": catalog}
    asked = [engine.ask(engine.frame(part), "evaluate", metrics, **given) for part in parts]
    result = [sorted(rows, key=lambda row: row["model"]) for rows in asked]
    values = np.array([[[row[metric] for metric in metrics] for row in each] for each in result], dtype=float)
    return values[0], values[1:]


def jackknife(whole, without, confidence):
    """Return the ends of the jackknife's interval of a value, and the p-value of 0."""
    count = len(without)
    error = np.sqrt((count - 1) / count * np.square(without - without.mean()).sum())
    half = stats.t.ppf(0.5 + confidence / 2, count - 1) * error
    return whole - half, whole + half, 2 * stats.t.sf(abs(whole) / error, count - 1)


@pytest.mark.parametrize("cluster", [None, "user"])
def test_the_interval_is_that_of_leaving_out_one_list_or_cluster_after_the_other(engine, cluster):
    rows = rows_of(1)
    given = {"by": "session", "score": MODELS, "catalog": CATALOG, "cluster": cluster, "confidence": 0.9}
    whole, without = left_out(engine, rows, cluster or "session", by="session")
    frame = engine.frame(rows)
    described = engine.ask(frame, "describe", METRICS, **given)
    assert [(row["metric"], row["model"]) for row in described] == [
        (metric, one) for metric in METRICS for one in MODELS
    ]
    for row in described:
        place = MODELS.index(row["model"]), METRICS.index(row["metric"])
        low, high, _ = jackknife(whole[place], without[:, *place], 0.9)
        most = np.inf if row["metric"] == "entropy@2" else 1
        expected = [24, whole[place], max(low, 0), min(high, most)]
        assert [row[name] for name in ("lists", "mean", "low", "high")] == pytest.approx(expected, rel=1e-9)
        assert (row["std"], row["p50"], row["zeros"], row["undefined"]) == (None,) * 4
    compared = engine.ask(frame, "compare", METRICS, **given)
    for place, row in enumerate(compared):
        difference, moved = whole[1, place] - whole[0, place], without[:, 1, place] - without[:, 0, place]
        low, high, p = jackknife(difference, moved, 0.9)
        assert [row["difference"], row["p"]] == pytest.approx([difference, p], rel=1e-7)
        assert [row["mean"], row["baseline_mean"]] == pytest.approx([whole[1, place], whole[0, place]])
        assert [row["low"], row["high"]] == pytest.approx([low, high], rel=1e-7)
        assert (row["metric"], row["lists"], row["wins"], row["effect"]) == (METRICS[place], 24, None, None)


@pytest.mark.parametrize("lists", [7, 23, 59])
def test_a_described_value_is_not_the_mean_of_what_leaving_lists_out_gives(engine, lists):
    rows = [{"user": n, "item": (n + i) % lists, "score": -i, "relevant": 1} for n in range(lists) for i in (0, 1)]
    coverage, gini = engine.ask(engine.frame(rows), "describe", ["coverage@1", "gini@1"])
    assert coverage["mean"] == 1.0
    assert gini["mean"] == pytest.approx(0, abs=1e-17)


def test_metrics_of_both_kinds_are_compared_in_one_call_in_its_order(engine):
    frame = engine.frame(rows_of(2))
    given = {"by": "session", "score": MODELS, "per": "country"}
    metrics = ["coverage@2", "mrr", "gini@2"]
    result = engine.ask(frame, "compare", metrics, margin=0.1, relative=True, **given)
    assert [row["metric"] for row in result if row["country"] == "at"] == metrics
    alone = {row["country"]: row for row in engine.ask(frame, "compare", "mrr", margin=0.1, relative=True, **given)}
    for row in (row for row in result if row["metric"] == "mrr"):
        other = alone[row["country"]]
        assert [row[name] for name in ("p", "low", "lists")] == pytest.approx(
            [other[name] for name in ("p", "low", "lists")], rel=1e-12
        )
    values = engine.ask(frame, "evaluate", metrics, **given)
    for row in result:
        (own,) = [each for each in values if (each["country"], each["model"]) == (row["country"], row["model"])]
        assert row["mean"] == pytest.approx(own[row["metric"]])
    described = engine.ask(frame, "describe", metrics, **given)
    assert [row["metric"] for row in described if row["country"] == "at" and row["model"] == "b"] == metrics


def test_models_in_rows_are_those_in_columns(engine):
    rows = rows_of(3)
    long = [{**row, "model": name, "score": row[name]} for name in MODELS for row in rows]
    given = {"by": "session", "catalog": CATALOG}
    wide = engine.ask(engine.frame(rows), "compare", METRICS, score=MODELS, **given)
    result = engine.ask(engine.frame(long), "compare", METRICS, model="model", **given)
    for row, other in zip(result, wide, strict=True):
        assert (row["model"], row["metric"]) == (other["model"], other["metric"])
        for name in ("difference", "p", "low", "high"):
            assert row[name] == pytest.approx(other[name], rel=1e-9)


@pytest.mark.slow
def test_items_that_a_catalogue_does_not_name_do_not_count(engine):
    metrics, rows = METRICS[:4], rows_of(6)
    whole, without = left_out(engine, rows, "session", metrics, by="session", catalog=NAMED)
    result = engine.ask(engine.frame(rows), "compare", metrics, by="session", score=MODELS, catalog=NAMED)
    for place, row in enumerate(result):
        moved = without[:, 1, place] - without[:, 0, place]
        low, high, _ = jackknife(whole[1, place] - whole[0, place], moved, 0.95)
        assert [row["low"], row["high"]] == pytest.approx([low, high], rel=1e-7)


@pytest.mark.slow
def test_many_lists_are_left_out_in_groups(library, monkeypatch):
    frame = library.DataFrame(rows_of(4, 60))
    given = {"by": "session", "score": MODELS, "catalog": CATALOG}
    every = frame.rec.describe(METRICS, **given)
    monkeypatch.setattr(all_lists, "MOST_GROUPS", 20)
    monkeypatch.setattr(all_lists, "CELLS", 40)
    grouped = frame.rec.describe(METRICS, **given)
    assert grouped["mean"].to_list() == pytest.approx(every["mean"].to_list())
    widths = [np.array(one["high"]) - np.array(one["low"]) for one in (every, grouped)]
    assert ((0.5 * widths[0] < widths[1]) & (widths[1] < 2 * widths[0])).all()
    other = library.DataFrame(rows_of(4, 60)[::-1]).rec.describe(METRICS, **given)
    assert other["low"].to_list() == pytest.approx(grouped["low"].to_list(), rel=1e-12)


@pytest.mark.parametrize("by", ["session", ["user", "session"]])
def test_groups_of_lists_are_those_that_the_page_gives(library, by):
    rng, most, count = np.random.default_rng(6), 200, 250
    shown = {(number % 9, f"s{number}"): {*rng.choice(300, 2, replace=False).tolist()} for number in range(count)}
    rows = [{"user": user, "session": session, "item": item, "relevant": 0, "score": item}
            for (user, session), items in shown.items() for item in items]  # fmt: skip
    texts = {key: key[1] if by == "session" else json.dumps([str(part) for part in key]) for key in shown}
    hashes = {
        key: int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") for key, text in texts.items()
    }
    group = {key: place % most for place, key in enumerate(sorted(shown, key=hashes.__getitem__))}
    without = [len(set().union(*(shown[key] for key in shown if group[key] != out))) / 300 for out in range(most)]
    low, high, _ = jackknife(len(set().union(*shown.values())) / 300, np.array(without), 0.95)
    result = library.DataFrame(rows).rec.describe("coverage@2", by=by, catalog=300)
    assert [*result["low"].to_list(), *result["high"].to_list()] == pytest.approx([low, high])


def test_what_leaving_out_does_not_change_has_no_interval(library):
    rows = [{"user": user, "item": item, "relevant": 1, "a": 1 + (item == 0), "b": 1 + (item == user % 2)}
            for user in range(8) for item in range(2)]  # fmt: skip
    result = library.DataFrame(rows).rec.compare("coverage@1", score=MODELS, details=True)
    assert result["difference"].to_list() == pytest.approx([0.5])
    for name in ("p", "low", "high"):
        (value,) = result[name].to_list()
        assert value is None or value != value  # noqa: PLR0124 - NaN
    assert result["verdict"].to_list() == ["open"]
    one = library.DataFrame(rows[:2]).rec.describe(["coverage@1", "personalization@1"], score="a")
    assert one["mean"].to_list()[0] == 0.5
    assert one["lists"].to_list()[0] == 1
    missing = [*one["low"].to_list(), one["mean"].to_list()[1]]
    assert all(value is None or value != value for value in missing)  # noqa: PLR0124 - NaN


def test_a_value_that_is_undefined_has_no_lists_or_the_number_that_is_given(engine):
    rows = [{"user": user, "item": (user + item) % 5, "relevant": 1, "a": None if user < 4 else 1.0 * item, "b": -item,
             "half": user // 4} for user in range(8) for item in range(3)]  # fmt: skip
    frame, metrics = engine.frame(rows, {"a": "float64"}), ["entropy@2", "gini@2"]
    roles = {"score": MODELS, "catalog": 5, "per": "half"}
    skipped = engine.ask(frame, "describe", metrics, **roles)
    assert [row["lists"] for row in skipped] == [0 if (row["half"], row["model"]) == (0, "a") else 4 for row in skipped]
    roles["undefined"] = -1.0
    values = engine.ask(frame, "evaluate", metrics, **roles)
    of_segment = {(row["half"], row["model"]): row for row in values}
    result = engine.ask(frame, "describe", metrics, **roles)
    assert [row["mean"] for row in result] == pytest.approx(
        [of_segment[row["half"], row["model"]][row["metric"]] for row in result]
    )
    assert {row["lists"] for row in result} == {4}
    for row in engine.ask(frame, "compare", metrics, **roles):
        before, after = (of_segment[row["half"], name][row["metric"]] for name in MODELS)
        assert (row["difference"], row["lists"]) == (pytest.approx(after - before), 4)
    # Of three users one alone has recommendations of the model: without that one nothing is left.
    whole, without = left_out(engine, rows[6:15], "user", metrics, undefined=-1.0)
    described = engine.ask(engine.frame(rows[6:15]), "describe", metrics, score="a", catalog=CATALOG, undefined=-1.0)
    for place, row in enumerate(described):
        low, high, _ = jackknife(whole[0, place], without[:, 0, place], 0.95)
        most = np.inf if place == 0 else 1
        assert [row["low"], row["high"]] == pytest.approx([max(low, -1), min(high, most)], rel=1e-9)


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"test": "bootstrap"}, "test='bootstrap'"),
        ({"test": "anytime"}, "test='anytime'"),
        ({"correction": "maxt"}, "correction='maxt'"),
        ({"baseline": "chance"}, "baseline='chance'"),
    ],
)
def test_what_reads_values_of_lists_is_refused(library, given, what):
    message = f"{what} needs a value per list, but coverage@2 is one value of all lists together"
    with pytest.raises(recframe.RecError, match=message):
        library.DataFrame(rows_of(5)).rec.compare(["mrr", "coverage@2"], by="session", score=MODELS, **given)


@pytest.mark.slow
def test_the_interval_holds_the_mean_of_other_lists():
    """Of 60 lists of 5 of 200 items by Zipf's law, where the percentiles of the bootstrap hold none."""
    pl = pytest.importorskip("polars")
    random, lists, draws = np.random.default_rng(6), 60, 40
    keys = np.log(1 / np.arange(1, 201)) + random.gumbel(size=(draws * lists, 200))
    top = np.argsort(-keys, axis=1)[:, :5]
    users = np.arange(draws * lists)
    frame = pl.DataFrame({
        "draw": np.repeat(users // lists, 5), "user": np.repeat(users, 5), "item": top.ravel(), "relevant": 1,
        "score": np.tile(np.arange(5), draws * lists),
    })  # fmt: skip
    metrics = ["coverage", "gini", "entropy", "personalization"]
    result = frame.rec.describe(metrics, per="draw", catalog=200)
    result = result.with_columns(true=pl.col("mean").mean().over("metric"))
    held = result.group_by("metric").agg(
        ((pl.col("low") <= pl.col("true")) & (pl.col("true") <= pl.col("high"))).mean()
    )
    assert held["low"].min() > 0.85
