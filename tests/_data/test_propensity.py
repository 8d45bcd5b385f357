"""Propensities from popularity and from clicks: against plain Python, LensKit and what made the data."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict

import pytest

import recframe
from oracle import plain


def rows_of(engine, frame, method, *args, **given):
    with engine.running():
        return engine.rows(getattr(recframe.rec(frame), method)(*args, **given))


# --- popularity ---------------------------------------------------------------------------------------------

TRAIN = [(u, i) for i in range(12) for u in range(40 // (i + 1))]
TRAIN += [(u, i) for i in range(0, 12, 3) for u in range(0, 40 // (i + 1), 2)]
SHOWN = [(u, i) for i in range(12) for u in range(60 // (i + 1) ** 2 + 1)]
ITEMS = (0, 1, 3, 7, 11, 99)
LENSKIT = {
    ("users", 1.25, None): (1, 0.4204482076268573, 0.17677669529663687, 0.07432544468767006, 0.039248817727203955, 0.009940884109588132),
    ("users", 0.5, 0.25): (1, 0.7071067811865475, 0.5, 0.35355339059327373, 0.27386127875258304, 0.25),
    ("users", None, None): (1, 0.417483998060181, 0.17429288863631323, 0.07276449198134595, 0.03822470226488411, 0.009573538182726807),
    ("interactions", 1.25, None): (1, 0.25327856188386416, 0.17677669529663687, 0.044773747159314245, 0.023643540225079394, 0.005988401866051404),
    ("interactions", 0.5, 0.25): (1, 0.5773502691896258, 0.5, 0.2886751345948129, 0.25, 0.25),
    ("interactions", None, None): (1, 0.2613331502081229, 0.18389983670448837, 0.04805912364874333, 0.02575056270259353, 0.0067294756707005614),
}  # fmt: skip
"""What PopularityPropensity of LensKit gives, where power is (gamma + 1) / 2, estimated by estimate_power_law_gamma
where it is None, and the least propensity is 1 / max_weight."""


def pairs(engine, rows):
    return engine.frame([{"user": user, "item": item} for user, item in rows])


@pytest.mark.parametrize("case", LENSKIT, ids=str)
def test_propensities_are_those_of_lenskit(engine, case):
    unit, power, least = case
    given = {"power": power} if power is not None else {"shown": pairs(engine, SHOWN)}
    frame = pairs(engine, [(5, item) for item in ITEMS])
    result = rows_of(engine, frame, "add_propensity", pairs(engine, TRAIN), unit=unit, least=least, **given)
    values = {row["item"]: row["propensity"] for row in result}
    assert values == pytest.approx(dict(zip(ITEMS, LENSKIT[case], strict=True)), abs=1e-12)
    assert {name for row in result for name in row} - {"user", "item", "propensity"} == (
        {"propensity_clipped"} if least else set()
    )


def test_what_is_clipped_is_counted(engine):
    draw = random.Random(3)
    train = [(draw.choice([None, *range(9)]), draw.choice([None, *"aabbccdefg"])) for _ in range(80)]
    rows = [(user, item) for user in range(3) for item in (None, *"abcdefgh")]
    users = Counter(item for _, item in set(train))
    values = {item: (users.get(item, 1) / max(users.values())) ** 0.7 for _, item in rows}
    result = rows_of(engine, pairs(engine, rows), "add_propensity", pairs(engine, train), "p", power=0.7, least=0.6)
    assert len(result) == len(rows)
    assert 0 < sum(row["p_clipped"] for row in result) < len(result)
    for row in result:
        value = values[plain(row["item"])]
        assert row["p"] == pytest.approx(max(value, 0.6), abs=1e-12)
        assert bool(row["p_clipped"]) == (value < 0.6)


def test_the_power_is_a_half_where_none_is_given(engine):
    train = pairs(engine, [(1, "a"), (2, "a"), (3, "a"), (4, "a"), (1, "b")])
    result = rows_of(engine, pairs(engine, [(5, "a"), (5, "b"), (5, "c")]), "add_propensity", train)
    assert {row["item"]: row["propensity"] for row in result} == {"a": 1.0, "b": 0.5, "c": 0.5}
    result = rows_of(engine, pairs(engine, [(5, "a"), (5, "c")]), "add_propensity", train, power=0)
    assert [row["propensity"] for row in result] == [1.0, 1.0]


def test_without_training_propensities_are_missing(engine):
    types = {"user": "int64", "item": "str"}
    train, frame = engine.frame({"user": [], "item": []}, types), engine.frame({"user": [1], "item": ["a"]}, types)
    (row,) = rows_of(engine, frame, "add_propensity", train, least=0.1)
    assert row["propensity"] is None or math.isnan(row["propensity"])
    assert not row["propensity_clipped"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"power": -1}, "power=-1 is not 0 or more"),
        ({"power": "linear"}, "power='linear' is not a number"),
        ({"power": math.inf}, "power=inf is not 0 or more"),
        ({"least": 0}, "least=0 is not above 0 and at most 1"),
        ({"unit": "rows"}, "unit='rows' is not one of 'users', 'interactions'"),
        ({"shown": 3}, "shown is a int, not a frame"),
    ],
)
def test_bad_arguments(engine, given, message):
    frame = pairs(engine, [(1, 1)])
    with pytest.raises(recframe.OptionError, match=message):
        rows_of(engine, frame, "add_propensity", frame, **given)
    with pytest.raises(recframe.OptionError, match="(?s)power=1.0 and shown= are given.*leave one of them out"):
        rows_of(engine, frame, "add_propensity", frame, power=1.0, shown=frame)


@pytest.mark.parametrize("shown", [[(1, 0)], [(1, i) for i in range(12) for _ in range(i**4 + 1)]], ids=["one", "tail"])
def test_what_was_shown_must_tell_the_power(engine, shown):
    frame, train = pairs(engine, [(1, 1)]), pairs(engine, TRAIN)
    if engine.lazy:
        (row,) = rows_of(engine, frame, "add_propensity", train, shown=pairs(engine, shown))
        assert row["propensity"] is None or math.isnan(row["propensity"])
        return
    with pytest.raises(recframe.InputError, match="(?s)shown does not say how popularity decides.*power=0.5"):
        rows_of(engine, frame, "add_propensity", train, shown=pairs(engine, shown))


# --- clicks -------------------------------------------------------------------------------------------------

LOG = {"by": "query", "relevant": "clicked", "rank": "position"}


def bias_of(engine, rows, *args):
    pytest.importorskip("numpy")
    result = rows_of(engine, engine.frame(rows), "position_bias", *args, **LOG)
    missing = {None}
    return {
        row["position"]: (None if row["propensity"] in missing or math.isnan(row["propensity"]) else row["propensity"])
        for row in result
    }


def shows(query, item, position, clicks, times):
    row = {"query": query, "item": item, "position": position}
    return [{**row, "clicked": int(n < clicks)} for n in range(times)]


def test_two_positions_differ_as_the_clicks_of_what_both_showed(engine):
    rows = [*shows("x", "a", 1, 3, 4), *shows("x", "a", 2, 1, 4), *shows("y", "a", 1, 1, 2), *shows("y", "a", 2, 1, 4)]
    rows += [*shows("x", "b", 1, 5, 5), *shows("y", "b", 2, 5, 5)]  # at one position only: these tell nothing
    assert bias_of(engine, rows) == pytest.approx({1: 1.0, 2: (1 / 4 + 1 / 4) / (3 / 4 + 1 / 2)})


def test_a_missing_position_was_not_shown_and_a_missing_click_is_none(engine):
    rows = [*shows("x", "a", 1, 2, 2), *shows("x", "a", 2, 1, 1)]
    rows += [{"query": "x", "item": "a", "position": 2, "clicked": None}]
    rows += [{"query": "x", "item": "a", "position": None, "clicked": 1}]
    assert bias_of(engine, rows) == pytest.approx({1: 1.0, 2: 0.5})


def test_positions_that_no_clicks_link_have_no_propensity(engine):
    rows = [*shows("x", "a", 1, 2, 2), *shows("x", "a", 2, 1, 2), *shows("x", "b", 4, 1, 1), *shows("x", "b", 5, 1, 1)]
    rows += [*shows("x", "a", 3, 0, 2), *shows("x", "c", 6, 1, 1)]
    assert bias_of(engine, rows) == pytest.approx({1: 1.0, 2: 0.5, 3: None, 4: None, 5: None, 6: None})
    assert bias_of(engine, rows, 3) == pytest.approx({1: 1.0, 2: 0.5, 3: None})


def log_of(draw, bias, queries, times):
    """Return rows of a log in which positions vary, and whether an item is relevant with its probability."""
    rows = []
    for query in range(queries):
        relevance = [draw.random() for _ in range(7)]
        for _ in range(times):
            shown = sorted(range(7), key=lambda item: draw.random() * 3 - relevance[item])[: len(bias)]
            rows += [
                {
                    "query": query,
                    "item": item,
                    "position": place + 1,
                    "clicked": int(draw.random() < p * relevance[item]),
                }
                for place, (item, p) in enumerate(zip(shown, bias, strict=True))
            ]
    return rows


def test_all_pairs_have_the_largest_likelihood(engine):
    """The slopes of Bradley's and Terry's likelihood are 0, counted pair by pair in plain Python."""
    rows = log_of(random.Random(5), (1.0, 0.5, 0.3), 20, 12)
    result = bias_of(engine, rows)
    clicks = defaultdict(list)
    for row in rows:
        clicks[row["query"], row["item"], row["position"]].append(row["clicked"])
    rates = {key: sum(each) / len(each) for key, each in clicks.items()}
    assert max(result.values()) == 1
    for one in result:
        slope = 0.0
        for (query, item, place), rate in rates.items():
            for other in result:
                if place == one != other and (query, item, other) in rates:
                    both = rate + rates[query, item, other]
                    slope += rate - both * result[one] / (result[one] + result[other])
        assert slope == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_a_simulated_bias_is_recovered_and_undone():
    """Clicks of a known bias: its estimate, and the DCG by it, are near the truth; those without it are not."""
    np, pl = pytest.importorskip("numpy"), pytest.importorskip("polars")
    bias = (1.0, 0.6, 0.45, 0.3, 0.2)
    rows = log_of(random.Random(11), bias, 300, 60)
    log = pl.DataFrame(rows)
    result = recframe.rec(log).position_bias(**LOG)
    values = np.array(result["propensity"].to_list())
    assert np.abs(values / bias - 1).max() < 0.05  # 0.028
    shares = log.group_by("position").agg(pl.col("clicked").mean()).sort("position")["clicked"].to_numpy()
    assert np.abs(shares / shares[0] / bias - 1).max() > 0.2  # better items come first: 0.23
    # Another ranking of the same items, by their number: each list of the log is what one session saw.
    log = log.with_columns((pl.int_range(pl.len()) // len(bias)).alias("session"), score=-pl.col("item"))
    log = log.join(result, on="position")
    scored = recframe.rec(log)(by="session", relevant="clicked", score="score", undefined=0)
    by_query = defaultdict(list)
    for row in rows:
        by_query[row["query"], row["item"]].append(row["clicked"] / bias[row["position"] - 1])
    relevance = {key: sum(each) / len(each) for key, each in by_query.items()}
    true = log.with_columns(r=pl.Series(relevance[row["query"], row["item"]] for row in log.iter_rows(named=True)))
    expected = recframe.rec(true).dcg(3, by="session", relevant="r", score="score", undefined=0)
    assert scored.dcg(3, propensity="propensity") == pytest.approx(expected, rel=0.03)
    assert scored.dcg(3) < 0.7 * expected


def test_bad_logs(engine):
    pytest.importorskip("numpy")
    rows = shows("x", "a", 1, 1, 2)
    # Older versions of polars put an error of a plan into one of their own.
    with pytest.raises(
        Exception if engine.lazy else recframe.InputError,
        match="no item of a list is shown at two positions and clicked at both",
    ):
        rows_of(engine, engine.frame(rows), "position_bias", **LOG)
    with pytest.raises(recframe.OptionError, match="(?s)not score='position'.*rank='position'"):
        rows_of(engine, engine.frame(rows), "position_bias", by="query", relevant="clicked", score="position")
    with pytest.raises(recframe.OptionError, match="k=0 is less than 1"):
        rows_of(engine, engine.frame(rows), "position_bias", 0, **LOG)
    named = [{**row, "pairs": row["position"]} for row in rows]
    with pytest.raises(recframe.OptionError, match="several columns of the name 'pairs'"):
        rows_of(engine, engine.frame(named), "position_bias", **{**LOG, "rank": "pairs"})
