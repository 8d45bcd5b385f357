"""The beyond-accuracy metrics equal their oracle, with every kind of side information, on every engine."""

from __future__ import annotations

import math
import random
import re

import narwhals as nw
import pytest

import recframe
from oracle import ORACLES, Case, parse
from recframe.metrics import METRICS
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from spellings import spellings_of
from strategies import shop

NAMES = [
    label
    for name, kind in METRICS.items()
    if issubclass(kind, BeyondAccuracyMetric | ExposureMetric)
    for label in spellings_of(name, (None,))
]
"""Each metric of the items that are recommended, with each value of each option."""
ITEMS = [f"i{n:02d}" for n in range(14)]


def expected(name, k, rows, train, features, catalog, ties="average"):
    metric = parse(name if k is None else f"{name}@{k}")
    return ORACLES[metric.name](metric, Case(rows, train, features, catalog), ties)


# --- random data ------------------------------------------------------------------------------------------


def sample(seed, *, repeats=True):
    """Return rows, training rows and features: ties, missing scores, repeated items, unknown items and users."""
    rng = random.Random(seed)
    rows = []
    for user in rng.sample(["u1", "u2", "u3", "u4", None], rng.randint(1, 5)):
        recommended = rng.sample(ITEMS, rng.randint(1, 8))
        recommended += rng.choices(recommended, k=rng.randint(0, 2)) if repeats else []
        rows += [
            {"user": user, "item": item, "score": rng.choice([None, 0.1, 0.2, 0.3, 0.5, 0.9]), "relevant": 1}
            for item in recommended
        ]
    train = [
        {"user": rng.choice(["u1", "u2", "u3", "u7", "u8", None]), "item": rng.choice(ITEMS[:11])}
        for _ in range(rng.randint(1, 25))
    ]
    features = {
        item: [rng.choice([0.0, 0.0, 1.0, 0.5]) for _ in range(3)] for item in rng.sample(ITEMS, rng.randint(4, 13))
    }
    rng.shuffle(rows)
    return rows, train, features


def frames(engine, rows, train, features):
    """Return the three as frames in which one column has one type."""
    described = [{"item": item, "a": v[0], "b": v[1], "c": v[2]} for item, v in features.items()]
    return engine.frames(rows, train, described)


def close(found, reference):
    if reference is None:
        return found is None or math.isnan(found)
    return found is not None and found == pytest.approx(reference, abs=1e-12, rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_equal_their_definitions(engine, seed):
    rows, train, features = sample(seed)
    frame, past, described = frames(engine, rows, train, features)
    (result,) = engine.ask(frame, "evaluate", NAMES, k=[1, 3, None], train=past, features=described, catalog=ITEMS)
    for name in NAMES:
        for k in (1, 3, None):
            label = name if k is None else f"{name}@{k}"
            reference = expected(name, k, rows, train, features, ITEMS)
            assert close(result[label], reference), (label, result[label], reference)


@pytest.mark.parametrize("seed", range(8))
def test_per_list_and_with_accuracy(engine, seed):
    rows, train, features = sample(100 + seed)
    frame, past, described = frames(engine, rows, train, features)
    result = engine.ask(
        frame, "evaluate", ["ndcg", *NAMES, "mrr"], k=2, per="user", train=past, features=described, catalog=len(ITEMS)
    )
    assert {row["user"] for row in result} == {row["user"] for row in rows}
    assert len(result) == len({row["user"] for row in rows})
    accuracy = engine.ask(frame, "evaluate", ["ndcg", "mrr"], k=2, per="user")
    accuracy = {row["user"]: row for row in accuracy}
    for row in result:
        selected = [each for each in rows if each["user"] == row["user"]]
        assert list(row)[:2] == ["user", "ndcg@2"] and list(row)[-1] == "mrr@2"
        assert close(row["ndcg@2"], accuracy[row["user"]]["ndcg@2"])
        for name in NAMES:
            reference = expected(name, 2, selected, train, features, ITEMS)
            assert close(row[f"{name}@2"], reference), (row, name, reference)


def test_several_models_wide_and_long(engine):
    rows, train, features = sample(7, repeats=False)
    rng = random.Random(1)
    wide = [{**row, "one": row["score"], "two": rng.choice([None, 1, 2, 3])} for row in rows]
    long = [
        {"user": row["user"], "item": row["item"], "relevant": 1, "score": row[name], "model": name}
        for name in ("one", "two")
        for row in wide
    ]
    frame, stacked, past, described = engine.frames(
        wide, long, train, [{"item": item, "a": v[0], "b": v[1]} for item, v in features.items()]
    )
    given = {"k": 3, "train": past, "features": described, "catalog": ITEMS}
    by_name = {
        row["model"]: row for row in engine.ask(frame, "evaluate", ["map", *NAMES], score=["one", "two"], **given)
    }
    below = {row["model"]: row for row in engine.ask(stacked, "evaluate", ["map", *NAMES], model="model", **given)}
    pairs = {item: v[:2] for item, v in features.items()}
    for name in ("one", "two"):
        selected = [{**row, "score": row[name]} for row in wide]
        for metric in NAMES:
            reference = expected(metric, 3, selected, train, pairs, ITEMS)
            for result in (by_name[name], below[name]):
                assert close(result[f"{metric}@3"], reference), (name, metric)


def test_per_an_attribute_of_the_truth(engine):
    rows, train, features = sample(11)
    country = {"u1": "x", "u2": "x", "u3": "y", "u4": None, None: "y"}
    truth = [{"user": user, "item": "i00", "country": land} for user, land in country.items()]
    frame, past, described, known = engine.frames(
        [{name: row[name] for name in ("user", "item", "score")} for row in rows],
        train,
        [{"item": item, "a": v[0], "b": v[1], "c": v[2]} for item, v in features.items()],
        truth,
    )
    result = engine.ask(
        frame, "evaluate", ["recall", *NAMES], k=3, per="country", truth=known, train=past, features=described,
        catalog=ITEMS,
    )  # fmt: skip
    assert {row["country"] for row in result} == {"x", "y", None}
    for row in result:
        selected = [each for each in rows if country[each["user"]] == row["country"]]
        # Lists that the truth alone has are not covered, and the oracle has no row of them.
        for name in (each for each in NAMES if "user_coverage" not in each):
            reference = (
                expected(name, 3, selected, train, features, ITEMS)
                if selected
                else (0.0 if name == "coverage" else None)
            )
            assert close(row[f"{name}@3"], reference), (row["country"], name, row[f"{name}@3"], reference)


@pytest.mark.parametrize("ties", ["best", "worst", "item", "item_desc"])
def test_ties_show_one_list_that_the_relevance_does_not_order(engine, ties):
    rows, train, features = sample(3, repeats=False)
    rng = random.Random(5)
    rows = [{**row, "relevant": rng.choice([0, 1, 2])} for row in rows]
    frame, past, described = frames(engine, rows, train, features)
    (result,) = engine.ask(
        frame, "evaluate", ["ndcg", *NAMES], k=2, ties=ties, train=past, features=described, catalog=ITEMS
    )
    for name in NAMES:
        reference = expected(name, 2, rows, train, features, ITEMS, ties=ties)
        assert close(result[f"{name}@2"], reference), name


def test_the_default_catalogue_is_the_items_of_the_frame(engine):
    rows = [
        {"user": 1, "item": "a", "score": 2.0}, {"user": 1, "item": "b", "score": 1.0},
        {"user": 2, "item": "a", "score": 2.0}, {"user": 2, "item": "c", "score": None},
    ]  # fmt: skip
    frame = engine.frame(rows)
    assert engine.ask(frame, "coverage", 1) == pytest.approx(1 / 3)
    assert engine.ask(frame, "gini", 1) == pytest.approx(2 / 3)
    assert engine.ask(frame, "coverage", 2, catalog=engine.frame([{"item": "a"}, {"item": "z"}])) == 0.5
    for catalog in (["a", "z"], {"a", "z"}):
        assert engine.ask(frame, "entropy", 2, catalog=catalog) == 0.0


@pytest.mark.parametrize("name", ["novelty", "arp"])
def test_without_a_training_user_no_item_is_popular_or_new(polars_engine, name):
    frame = polars_engine.frame([{"user": 1, "item": "a", "score": 2.0}])
    nobody = polars_engine.frame([{"user": 1, "item": "a"}]).head(0)
    with pytest.warns(recframe.errors.UndefinedWarning, match="no list has a value"):
        assert math.isnan(getattr(recframe.rec(frame), name)(1, train=nobody))


def test_items_that_a_catalogue_does_not_name_count_where_no_catalogue_is_read(engine):
    shown = [(1, "a"), (1, "b"), (2, "a"), (2, "c"), (3, "d")]
    frame, catalog = engine.frames(
        [{"user": user, "item": item, "score": -ord(item)} for user, item in shown], [{"item": item} for item in "abz"]
    )
    of_catalog = ["coverage", "gini", "entropy"]
    (result,) = engine.ask(frame, "evaluate", ["personalization", *of_catalog], k=2, catalog=catalog)
    # Of three pairs of lists, one shares an item of two.
    assert result["personalization@2"] == pytest.approx(5 / 6)
    assert [result[f"{name}@2"] for name in of_catalog] == pytest.approx([2 / 3, 4 / 9, math.log2(3) - 2 / 3])
    if not engine.lazy:
        pytest.importorskip("scipy")
        state = recframe.rec(frame).state(["personalization", *of_catalog], k=2, items=True, catalog=catalog)
        (merged,) = nw.from_native(recframe.merge_states(state).evaluate(), eager_only=True).rows()
        assert list(merged) == pytest.approx([*result.values()])


@pytest.mark.slow
def test_each_metric_has_the_value_that_it_has_alone(polars_engine):
    case = shop("alone", 12, side=True)
    frame, past, described = frames(polars_engine, case.rows, case.train, case.features)
    given = {"train": past, "features": described, "catalog": ITEMS[::2]}
    labels = [label for name in METRICS for label in spellings_of(name, (2, None))]
    (together,) = polars_engine.ask(frame, "evaluate", labels, **given)
    for label in labels:
        (alone,) = polars_engine.rows(recframe.rec(frame, **given).evaluate([label]))
        assert close(together[label], alone[label]), label


@pytest.mark.parametrize("seed", range(6))
def test_serendipity_counts_unexpected_hits(engine, seed):
    rng = random.Random(seed)
    rows, train, _ = sample(seed, repeats=False)
    rows = [{**row, "score": place, "relevant": rng.choice([0, 1])} for place, row in enumerate(rows)]
    frame, past = engine.frames(rows, train)
    for name in ("serendipity", "serendipity(expected=1)"):
        reference = expected(name, 3, rows, train, {}, ())
        assert close(engine.value(frame, f"{name}@3", train=past), reference)


def test_features_as_one_column_of_lists(engine):
    if engine.lazy or engine.name == "pandas pyarrow":
        pytest.skip("a lazy frame does not tell how long lists are")
    rows, train, features = sample(4)
    frame, past, described = frames(engine, rows, train, features)
    if engine.library == "polars":
        import polars as pl

        lists = pl.DataFrame({"item": list(features), "vector": list(features.values())})
    elif engine.library == "pyarrow":
        lists = engine.frame({"item": list(features), "number": [0] * len(features)})
        lists = lists.set_column(1, "vector", [list(map(list, features.values()))])
    else:
        import pandas as pd

        lists = pd.DataFrame({"item": list(features), "vector": list(features.values())})
    for name in ("diversity@4", "calibration@4"):
        given = {"train": past} if "calibration" in name else {}
        assert close(
            engine.value(frame, name, features=lists, **given),
            engine.value(frame, name, features=described, **given),
        )


def test_an_item_whose_features_are_all_0_has_no_category(polars_engine):
    frame, past, described, others = polars_engine.frames(
        {"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [3.0, 2.0, 1.0], "relevant": [1, 0, 1]},
        {"user": [1, 1, 1], "item": ["a", "a", "c"]},
        {"item": ["a", "b", "c"], "x": [1.0, 1.0, 0.0], "y": [0.0, 3.0, 0.0]},
        {"item": ["a", "b"], "x": [1.0, 1.0], "y": [0.0, 3.0]},
    )
    for k in (2, 3):
        value = polars_engine.ask(frame, "calibration", k, train=past, features=described)
        assert value > 0
        assert close(value, polars_engine.ask(frame, "calibration", k, train=past, features=others))


# --- errors -----------------------------------------------------------------------------------------------

FRAME = [{"user": 1, "item": "a", "score": 1.0, "relevant": 1}, {"user": 1, "item": "b", "score": 0.5, "relevant": 0}]


def test_what_is_needed_is_named(engine):
    frame = engine.frame(FRAME)
    with pytest.raises(recframe.OptionError, match=r"novelty@2 needs train="):
        recframe.rec(frame).novelty(2)
    with pytest.raises(recframe.OptionError, match=r"diversity needs features="):
        recframe.rec(frame).evaluate(["diversity"])
    with pytest.raises(recframe.OptionError, match=r"serendipity\(unexpected=history\)@2 needs features="):
        recframe.rec(frame).serendipity(2, unexpected="history", train=frame)
    with pytest.raises(recframe.OptionError, match="expected=3 counts popular items"):
        recframe.rec(frame).serendipity(2, expected=3, unexpected="ranks", train=frame)
    with pytest.raises(recframe.OptionError, match=r"(?s)positives='first' counts as many.*negatives=10"):
        recframe.rec(frame).partial_auc(positives="first")
    with pytest.raises(TypeError, match="ndcg has no option 'train'"):
        recframe.rec(frame).ndcg(2, train=frame)
    with pytest.raises(recframe.OptionError, match="expected="):
        recframe.rec(frame).serendipity(train=frame)
    with pytest.raises(recframe.OptionError, match=r"catalog='items.txt' is neither"):
        recframe.rec(frame).coverage(2, catalog="items.txt")
    with pytest.raises(recframe.OptionError, match="catalog=0"):
        recframe.rec(frame).coverage(2, catalog=0)
    with pytest.raises(recframe.OptionError, match="alpha=1.5"):
        recframe.rec(frame).calibration(2, alpha=1.5, train=frame, features=frame)


def test_bad_features_are_named(engine):
    if engine.lazy:
        pytest.skip("the data of a lazy frame are not seen")
    frame, past, twice, negative = engine.frames(
        FRAME,
        [{"user": 1, "item": "a"}],
        [{"item": "a", "x": 1.0}, {"item": "a", "x": 2.0}],
        [{"item": "a", "x": -1.0}],
    )
    with pytest.raises(recframe.InputError, match="different rows for the same item, for 1 item"):
        engine.ask(frame, "diversity", 2, features=twice)
    with pytest.raises(recframe.InputError, match=r"features holds -1.0, but calibration@2"):
        engine.ask(frame, "calibration", 2, train=past, features=negative)
    with pytest.raises(recframe.ColumnTypeError, match="no column of numbers other than 'item'"):
        engine.ask(frame, "diversity", 2, features=engine.frame([{"item": "a", "x": "red"}]))


OF_FEATURES = [
    "diversity@2",
    "diversity(distance=hamming)@2",
    "category_entropy@2",
    "calibration@2",
    "serendipity(unexpected=history)@2",
]


@pytest.mark.parametrize("wrong", [1e200, math.inf, -1.0, "several"])
def test_features_that_mean_nothing_give_no_number(engine, wrong):
    rows = [{"item": "a", "x": 1.0, "y": 1.0}, {"item": "b", "x": 0.0, "y": 3.0}]
    several = wrong == "several"
    described = [*rows, {"item": "a", "x": 1.0 if several else wrong, "y": 2.0 if several else 1.0}][not several :]
    metrics = OF_FEATURES[2:4] if wrong == -1.0 else OF_FEATURES
    lists = [{"user": user, "item": item, "score": ord(item), "relevant": 1} for user in (1, 2) for item in "ab"]
    frame, past, features = engine.frames(lists, [{"user": 1, "item": "a"}, {"user": 2, "item": "a"}], described)
    if engine.lazy:
        (result,) = engine.ask(frame, "evaluate", metrics, train=past, features=features)
        assert result == dict.fromkeys(metrics)
    else:
        for metric in metrics:
            with pytest.raises(recframe.InputError, match="features h"):
                engine.ask(frame, "evaluate", metric, train=past, features=features)


@pytest.mark.parametrize("metric", ["coverage", "gini"])
def test_a_catalogue_is_no_smaller_than_what_is_recommended(engine, metric):
    frame = engine.frame(FRAME)
    if engine.lazy:
        assert math.isnan(engine.ask(frame, metric, 2, catalog=1))
    else:
        with (
            engine.running(),
            pytest.raises(recframe.InputError, match="catalog=1 is less than the 2 items that lists"),
        ):
            engine.ask(frame, metric, 2, catalog=1)
    assert engine.ask(frame, metric, 1, catalog=1) == (1.0 if metric == "coverage" else 0.0)
    (beside,) = engine.ask(frame, "evaluate", [f"{metric}@1", "personalization@2"], catalog=1)
    assert beside[f"{metric}@1"] == (1.0 if metric == "coverage" else 0.0)


def test_a_catalogue_is_counted_also_where_nothing_is_recommended(engine):
    rows = {"user": [1, 1], "item": [1, 2], "relevant": [1, 0], "score": [2.0, 1.0], "no": [math.nan] * 2}
    frame, past = engine.frames(rows, {"user": [9], "item": [9]})
    metrics = ["coverage@1", "serendipity(unexpected=ranks)@1"]
    (_, result) = engine.ask(frame, "evaluate", metrics, catalog=10, train=past, score=["score", "no"])
    assert [result[metric] for metric in metrics] == [0.0, 0.0]
    assert engine.ask(frame, "coverage", 1, catalog=10, score="no") == 0


@pytest.mark.parametrize("call", ["evaluate", "describe"])
def test_so_it_is_where_each_segment_recommends_fewer(engine, call):
    if call == "describe":
        pytest.importorskip("scipy")
    frame = engine.frame({"user": [1, 2], "item": ["a", "b"], "score": [1.0, 1.0]})
    if engine.lazy:
        value = "mean" if call == "describe" else "coverage@2"
        assert [row[value] for row in engine.ask(frame, call, ["coverage"], 2, catalog=1, per="user")] == [None, None]
    else:
        with engine.running(), pytest.raises(recframe.InputError, match="catalog=1 is less than the 2 items"):
            engine.ask(frame, call, ["coverage"], 2, catalog=1, per="user")


def test_a_catalogue_is_no_smaller_than_what_lists_rank(engine):
    rows = [row | {"relevant": 1 - row["relevant"]} for row in FRAME]
    frame, past = engine.frames(rows, [{"user": 9, "item": "z"}])
    given = {"unexpected": "ranks", "train": past}
    if engine.lazy:
        assert math.isnan(engine.ask(frame, "serendipity", 1, catalog=1, **given))
    else:
        with (
            engine.running(),
            pytest.raises(recframe.InputError, match="catalog=1 is less than the 2 items that lists"),
        ):
            engine.ask(frame, "serendipity", 1, catalog=1, **given)
    assert engine.ask(frame, "serendipity", 1, catalog=4, **given) == 0.0
    # Nobody had the item at the second position, so its rank by popularity is 5: (5 - 2) / 4 / 2.
    assert engine.ask(frame, "serendipity", 2, catalog=4, **given) == 0.375


@pytest.mark.parametrize("scores", [(5.0, 4.0, 3.0, 2.0, 1.0), (1.0,) * 5])
def test_ranks_beyond_a_catalogue_that_lacks_items_add_nothing(engine, scores):
    rows = {"user": [9] * 5, "item": [*"bcdef"], "relevant": [1] * 5, "score": scores}
    frame, past = engine.frames(rows, {"user": [1, 2], "item": ["a", "a"]})
    # Nobody had the items, so their rank by popularity is 2, and only position 1 is ahead of it: (2 - 1) / 1 / 5.
    result = engine.ask(frame, "serendipity", 5, unexpected="ranks", train=past, catalog=["a"])
    assert result == pytest.approx(0.2)


def test_a_size_of_numpy_is_a_size(polars_engine):
    numpy = pytest.importorskip("numpy")
    assert polars_engine.frame(FRAME).rec.coverage(2, catalog=numpy.int64(4)) == 0.5


@pytest.mark.parametrize("number", [math.inf, 1e200])
def test_features_whose_squares_are_infinite(engine, number):
    if engine.lazy:
        pytest.skip("the data of a lazy frame are not seen")
    frame, described = engine.frames(FRAME, [{"item": "a", "x": number, "y": 1.0}, {"item": "b", "x": 1.0, "y": 1.0}])
    with pytest.raises(recframe.InputError, match=re.escape(f"features holds {number:g}, but")):
        engine.ask(frame, "diversity", 2, features=described)


@pytest.mark.parametrize("count", range(2, 12))
def test_personalization_is_within_its_range(engine, count):
    frame = engine.frame([{"user": user, "item": item, "score": item} for user in range(5) for item in range(count)])
    assert 0 <= engine.ask(frame, "personalization", count) <= 1e-15


def test_a_list_whose_first_rank_is_past_the_cutoff_is_left_out_of_personalization(engine):
    # Beside a metric of more positions: its rows are read, though the list recommends nothing up to 2.
    lists = {"user": [1, 1, 2, 2, 3], "item": ["a", "b", "a", "c", "a"], "rank": [1, 2, 1, 2, 3]}
    (result,) = engine.ask(engine.frame(lists), "evaluate", ["personalization@2", "coverage@3"], rank="rank")
    assert result == pytest.approx({"personalization@2": 0.5, "coverage@3": 1.0})


def test_lists_of_text_are_no_features(polars_engine):
    frame, described = polars_engine.frames(
        FRAME, [{"item": "a", "genres": ["x", "y"]}, {"item": "b", "genres": ["z"]}]
    )
    with pytest.raises(recframe.ColumnTypeError, match=r"(?s)features\['genres'\] holds lists of text.*0 and 1"):
        frame.rec.diversity(2, features=described)


def test_undefined_can_be_a_number_or_an_error(engine):
    frame = engine.frame(FRAME)
    assert math.isnan(engine.ask(frame, "personalization", 2))
    assert engine.ask(frame, "personalization", 2, undefined=0.0) == 0.0
    if not engine.lazy:
        with pytest.raises(recframe.UndefinedError, match="no personalization@2 because .* no usable list"):
            engine.ask(frame, "personalization", 2, undefined="raise")


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
def test_a_data_frame_goes_with_a_lazy_one(polars_engine):
    rows, train, features = sample(2)
    frame, past, described = frames(polars_engine, rows, train, features)
    given = {"k": 3, "train": past, "features": described, "catalog": ITEMS}
    eager = frame.rec.evaluate(NAMES, **given).row(0)
    assert frame.lazy().rec.evaluate(NAMES, **given).collect().row(0) == pytest.approx(eager)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_features_that_are_empty_lists_are_refused(library):
    module = pytest.importorskip(library)
    frame = module.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [2, 1]})
    features = module.DataFrame({"item": ["a", "b"], "vector": [[], []]})
    with pytest.raises(recframe.RecError, match=r"features\['vector'\] holds lists of no numbers: \[0\]"):
        frame.rec.diversity(2, features=features)


@pytest.mark.parametrize("name", ["user_coverage@2", "coverage@2", "arp@2"])
def test_lists_is_refused_where_no_metric_averages_some_of_them(name):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [2, 1], "relevant": [1, 0]})
    given = {"truth": frame.select("user", "item"), **({"train": frame} if name == "arp@2" else {})}
    with pytest.raises(recframe.errors.OptionError, match=f"lists='truth' says .*, but {name} reads all lists"):
        frame.rec.evaluate(name, lists="truth", **given)
    assert frame.rec.evaluate([name, "mrr"], lists="truth", **given).width == 2


def test_explain_prints_the_formula_of_the_distance():
    assert "cos(fᵢ, fⱼ)" in recframe.explain("diversity")
    assert "features that are 0 in one of fᵢ, fⱼ" in recframe.explain("diversity(distance=hamming)")


@pytest.mark.slow
def test_equal_calls_have_the_same_bits():
    # polars adds the columns of `sum_horizontal` in an order that varies.
    pl = pytest.importorskip("polars")
    draw = random.Random(1)
    rows = [{"user": n % 20, "item": n, "score": draw.random()} for n in range(400)]
    features = pl.DataFrame([{"item": n} | {f"f{i}": draw.random() for i in range(12)} for n in range(400)])
    given = {"train": pl.DataFrame(rows[:100]), "features": features, "per": "user"}
    names = ["diversity@20", "category_entropy@20", "calibration@20"]
    result = [pl.DataFrame(rows).rec.evaluate(names, **given).sort("user") for _ in range(4)]
    assert all(each.equals(result[0]) for each in result)
