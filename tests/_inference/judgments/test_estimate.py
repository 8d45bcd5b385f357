"""Means from human and model judgments: ppi_py's estimates, plain means, coverage, and what is refused."""

import numpy as np
import pytest

pytest.importorskip("scipy")

import recframe
from recframe._inference.statistics.prediction_powered import Values, prediction_powered
from sessions import MODELS, only_row, rows_of


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


def plain(values):
    return Values(values, np.ones(len(values)))


def judgments(seed=0, lists=60, humans=3):
    """Return recommendations, human judgments of every third list and a model's judgments of all."""
    rows = rows_of(seed, lists=lists)
    random = np.random.default_rng(seed)
    keys = [{"session": row["session"], "item": row["item"]} for row in rows]
    human = [key | {"relevant": row["relevant"]} for key, row in zip(keys, rows, strict=True)]
    model = [row | {"relevant": int(random.choice([row["relevant"] > 0, random.random() < 0.4]))} for row in human]
    shown = [key | {name: row[name] for name in MODELS} for key, row in zip(keys, rows, strict=True)]
    return shown, [row for row in human if row["session"] % humans == 0], model


@pytest.mark.parametrize(
    ("share", "mean", "low", "high"),
    [(0.3, 0.49599481, 0.38851932, 0.6034703), (0.8, 0.49571183, 0.40485441, 0.58656926)],
)
def test_estimates_are_those_of_ppi_py(share, mean, low, high):
    """ppi-python 0.2.3: `ppi_mean_pointestimate`, and `ppi_mean_ci`, of normal quantiles where ours are Student's."""
    i, j = np.arange(40), np.arange(300)
    true = np.sin(i) ** 2
    predicted = share * true + np.cos(2.3 * i) ** 2
    others = share * np.sin(0.9 * j) ** 2 + np.cos(3.1 * j) ** 2
    result = prediction_powered(plain(true), plain(predicted), plain(others), 0.95)
    assert result.mean == pytest.approx(mean, rel=1e-7)
    assert result.high - result.mean == pytest.approx((high - low) / 2, rel=0.06)
    assert result.high - result.mean > (high - low) / 2


@pytest.mark.slow
def test_a_useless_judge_changes_nothing(engine):
    shown, human, _ = judgments(1)
    others = [row for row in judgments(2)[2] if row["session"] % 3]
    # Every list of the human judgments has one judgment, of an item that nobody recommends.
    blind = [{"session": row["session"], "item": 99, "relevant": 1} for row in human] + others
    frame, truth, judge = engine.frames(shown, human, blind)
    given = {"by": "session", "score": MODELS, "undefined": 0}
    result = engine.ask(frame, "estimate_with_judge", "mrr", truth=truth, judge=judge, **given)
    told = engine.ask(frame, "describe", "mrr", truth=truth, lists="truth", **given)
    for row in result:
        alone = only_row(told, model=row["model"])
        assert row["judge_weight"] == 0
        assert (row["mean"], row["low"], row["high"]) == (row["human_mean"], row["human_low"], row["human_high"])
        assert [row[f"human_{name}"] for name in ("mean", "low", "high")] == pytest.approx(
            [alone[name] for name in ("mean", "low", "high")]
        )


@pytest.mark.parametrize("more", [{}, {"undefined": 0}])
def test_the_estimate_is_that_of_its_formula(engine, more):
    shown, human, model = judgments(3)
    frame, truth, judge = engine.frames(shown, human, model)
    given = {"by": "session", "per": "session", "score": "a", "undefined": 0}
    true = {row["session"]: row["mrr"] for row in engine.ask(frame, "evaluate", "mrr", truth=truth, **given)}
    model_values = {row["session"]: row["mrr"] for row in engine.ask(frame, "evaluate", "mrr", truth=judge, **given)}
    few = sorted({row["session"] for row in human})
    rest = sorted({row["session"] for row in model} - {*few})
    (row,) = engine.ask(frame, "estimate_with_judge", "mrr", truth=truth, judge=judge, by="session", score="a", **more)
    if more:
        y, f, u = (np.array([each[key] for key in keys]) for each, keys in ((true, few), (model_values, few), (model_values, rest)))  # fmt: skip
        weight = ((y - y.mean()) * (f - f.mean())).mean() / (1 + len(y) / len(u)) / np.append(f, u).var(ddof=1)
        assert 0 < weight < 1
        assert row["judge_weight"] == pytest.approx(weight)
        assert row["mean"] == pytest.approx((y - weight * f).mean() + weight * u.mean())
        assert row["judge_mean"] == pytest.approx(np.append(f, u).mean())
    (alone,) = engine.ask(frame, "evaluate", "mrr", truth=truth, by="session", score=["a"], lists="truth", **more)
    assert row["human_mean"] == pytest.approx(alone["mrr"])
    assert (row["human_lists"], row["judge_lists"]) == (len(few), len(few) + len(rest))
    assert row["low"] < row["mean"] < row["high"]


@pytest.mark.parametrize("left_out", ["human", "others", "all"])
def test_lists_of_weight_0_change_no_estimate(engine, left_out):
    shown, human, model = judgments(4)
    light = {row["session"] for row in model if row["session"] % 5 == 0}
    human, model = ([row | {"worth": float(row["session"] not in light)} for row in rows] for rows in (human, model))
    few = {row["session"] for row in human}
    gone = {"human": light & few, "others": light - few, "all": light}[left_out]
    result = []
    for out in (set(), gone):
        frames = ([row for row in rows if row["session"] not in out] for rows in (shown, human, model))
        frame, truth, judge = engine.frames(*frames)
        roles = {"by": "session", "score": MODELS, "weight": "worth"}
        result.append(engine.ask(frame, "estimate_with_judge", "mrr", truth=truth, judge=judge, **roles))
    for row, other in zip(*result, strict=True):
        # `kappa` is over items and ignores weights (O7 of the contract).
        counted = ("model", "metric", "human_lists", "judge_lists", "kappa", "kappa_low", "kappa_high")
        names = [name for name in row if name not in counted]
        assert [row[name] for name in names] == pytest.approx([other[name] for name in names], rel=1e-9)
        assert 0 < row["judge_weight"] < 1


def test_the_interval_of_ndcg_is_cut_at_0_where_no_value_is_negative(library):
    random = np.random.default_rng(1)
    keys = [{"user": user, "item": item} for user in range(30) for item in range(8)]
    scores, relevant = random.random(240), (random.random(240) < 0.12).astype(int)
    shown = library.DataFrame([key | {"score": score} for key, score in zip(keys, scores, strict=True)])
    lows = []
    for other in (0, -9):
        model = [key | {"relevant": int(some) or other} for key, some in zip(keys, relevant, strict=True)]
        human = [row for row in model if row["user"] < 6]
        result = shown.rec.estimate_with_judge("ndcg@1", truth=library.DataFrame(human), judge=library.DataFrame(model))
        lows += result["low"].to_list()
    assert lows[0] == 0
    assert lows[1] < 0


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["normal", "0 and 1", "some without a value"])
def test_intervals_hold_the_mean_and_are_shorter_than_those_of_human_judgments(distribution):
    random, held, draws, shorter = np.random.default_rng(5), 0, 1_000, []
    for _ in range(draws):
        if distribution == "normal":
            true = random.normal(0.5, 0.2, 1_100)
            predicted, mean = true + random.normal(0.1, 0.15, 1_100), 0.5
        else:
            true, mean = (random.random(1_100) < 0.3).astype(float), 0.3
            predicted = np.where(random.random(1_100) < 0.1, 1 - true, true)
        if distribution == "some without a value":
            true = np.where(random.random(1_100) < 0.3 + 0.4 * true, true, np.nan)
            predicted = np.where(np.isnan(true) & (random.random(1_100) < 0.9), np.nan, predicted)
            mean = 0.3 * 0.7 / (0.3 * 0.7 + 0.7 * 0.3)
        parts = [plain(part) for part in (true[:100], predicted[:100], predicted[100:])]
        result = prediction_powered(*parts, 0.95)
        held += result.low <= mean <= result.high
        shorter.append(
            (result.high - result.low) / (3.97 * np.nanstd(true[:100]) / np.sqrt((~np.isnan(true[:100])).sum()))
        )
    assert 0.93 < held / draws < 0.97
    assert np.mean(shorter) < 0.9


def test_models_in_rows_are_estimated_as_those_in_columns(library):
    shown, human, model = judgments(4)
    rows = [
        {"session": row["session"], "item": row["item"], "model": name, "score": row[name]}
        for row in shown
        for name in MODELS
    ]
    truth, judge = library.DataFrame(human), library.DataFrame(model)
    given = {"k": 3, "by": "session", "truth": truth, "judge": judge}
    wide = recframe.rec(library.DataFrame(shown)).estimate_with_judge(["ndcg", "mrr"], score=MODELS, **given)
    long = recframe.rec(library.DataFrame(rows)).estimate_with_judge(["ndcg", "mrr"], model="model", **given)
    for name in wide.columns:
        assert long[name].to_list() == pytest.approx(wide[name].to_list()) if name not in ("model", "metric") else (
            long[name].to_list() == wide[name].to_list()
        )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judge": lambda rows: [row for row in rows if row["session"]]}, "judge= has no judgments of 1 list of truth="),
        ({"judge": lambda rows: [row for row in rows if row["session"] % 3 == 0]}, "only the 20 lists of truth="),
        ({"judge": lambda _: "llm"}, "it is the frame of a model's judgments"),
        ({"truth": lambda _: None}, "estimate_with_judge needs truth="),
        ({"confidence": lambda _: 2}, "confidence=2"),
    ],
)  # fmt: skip
def test_lists_that_are_no_sample_are_refused(library, change, message):
    shown, human, model = judgments()
    given = {"truth": human, "judge": model, "confidence": 0.95}
    given |= {name: make(given[name]) for name, make in change.items()}
    given = {name: library.DataFrame(each) if isinstance(each, list) else each for name, each in given.items()}
    with pytest.raises(recframe.RecError, match=message):
        recframe.rec(library.DataFrame(shown)).estimate_with_judge("mrr", by="session", score="a", **given)


@pytest.mark.parametrize("per", ["market", "session"])
def test_segments_have_estimates_of_their_own(engine, per):
    shown, human, model = judgments(5)
    markets = {row["session"]: [None, "at", "be"][row["session"] // 3 % 3] for row in shown}
    frame, truth, judge = engine.frames([row | {"market": markets[row["session"]]} for row in shown], human, model)
    given = {"by": "session", "score": MODELS[:2], "undefined": 0}
    result = engine.ask(frame, "estimate_with_judge", "mrr", truth=truth, judge=judge, per=per, **given)
    names = [name for name in result[0] if name not in (per, "model", "metric")]
    if per == "session":
        assert len(result) == 60 * 2
        assert all((row["mean"] is None) == (row["session"] % 3 > 0) for row in result)
        return
    assert len(result) == 3 * 2
    for market in (None, "at", "be"):
        own = [[row for row in rows if markets[row["session"]] == market] for rows in (shown, human, model)]
        part, truth, judge = engine.frames(*own)
        for row in engine.ask(part, "estimate_with_judge", "mrr", truth=truth, judge=judge, **given):
            same = only_row([each for each in result if each["market"] == market], model=row["model"])
            assert [same[name] for name in names] == pytest.approx([row[name] for name in names])


def test_evaluate_says_who_reads_two_kinds_of_judgments(library):
    shown, human, model = (library.DataFrame(each) for each in judgments())
    with pytest.raises(recframe.OptionTypeError, match=r"estimate_with_judge with truth=human and judge=model"):
        recframe.rec(shown).evaluate("mrr", by="session", score="a", truth=human, judge=model)


@pytest.mark.parametrize("given", [{}, {"judge": None}])
def test_a_missing_judge_names_describe(library, given):
    shown, human, _ = (library.DataFrame(each) for each in judgments())
    with pytest.raises(recframe.OptionTypeError, match="(?s)judge.*Hint: .*describe gives the interval of each mean$"):
        recframe.rec(shown).estimate_with_judge("mrr", by="session", score="a", truth=human, **given)


def test_the_order_of_rows_changes_no_bit(library):
    shown, human, model = judgments(3)
    first, again = (
        library.DataFrame(shown).rec.estimate_with_judge(
            ["mrr", "ndcg@3"], truth=library.DataFrame(own), judge=library.DataFrame(many), by="session", score=MODELS
        )
        for own, many in ((human, model), (human[::-1], model[::-1]))
    )
    assert first.equals(again)
