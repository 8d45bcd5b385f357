"""Chance levels are means over all orders of the rows, and skill is the way from there to the best order."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import recframe
from compare import ask_case, same
from oracle import ORACLES, Case, mean, parse
from oracle.rows import orders
from recframe.errors import OptionError
from spellings import spellings_of
from strategies import shop
from tests._plan.test_ties import ACCURACY

FEW = ["ndcg@2", "recall@2", "mrr", "map@3", "roc_auc", "hit_rate@1", "precision@2", "err"]


def all_orders(label: str, of: Case) -> list[float | None]:
    """Return what the oracle says of a list in each order of its ranked rows, none of which has ties."""
    metric = parse(label)
    tied = [row if row["score"] is None else {**row, "score": 0.0} for row in of.rows]
    unranked = [row for row in tied if row["score"] is None]
    strict = ([{**row, "score": -float(place)} for place, row in enumerate(order)] for order in orders(tied))
    return [ORACLES[metric.name](metric, of.of([*order, *unranked])) for order in strict]


def skill_of(
    metric: recframe.Metric, value: float | None, values: list[float | None], chance: float | None
) -> float | None:
    """Return the skill of a value by the best of all orders."""
    pick = max if metric.higher_is_better else min
    best = pick((each for each in values if each is not None), default=None)
    if value is None or chance is None or best is None or abs(best - chance) <= 1e-12:
        return None
    return (value - chance) / (best - chance)


def short_lists(seed: int) -> Case:
    case = shop("chance", seed)
    rows = [{**row, "price": row["price"] or 10.0} for row in case.rows]
    rows = [row for of in case.of(rows).lists for row in of.rows[:4]]
    return replace(case, rows=rows, catalog=sorted({row["item"] for row in rows}))


@pytest.mark.parametrize("name", [name for name in ACCURACY if name != "serendipity"])
def test_chance_is_the_mean_over_all_orders_and_best_the_largest_of_them(engine, name):
    case = short_lists(12)
    labels = [label for label in spellings_of(name, (1, 3, None)) if not recframe.metrics.parse(label).inexact]
    if not labels:
        pytest.skip("no option has an exact mean")
    result = {row["user"]: row for row in ask_case(engine, case, labels, per="user", value="price", chance=True)}
    skilled = 0
    for label in labels:
        for of in case.lists:
            row, values = result[of.rows[0]["user"]], all_orders(label, of)
            chance = mean(values)
            assert same(row[f"{label} chance"], chance), f"{label} {of.rows}: not {chance}"
            metric = recframe.metrics.parse(label)
            if metric.best_by_relevance:
                skill = skill_of(metric, row[label], values, chance)
                assert (skill is None) == (row[f"{label} skill"] is None), f"{label} {of.rows} {skill}"
                assert skill is None or row[f"{label} skill"] == pytest.approx(skill, abs=1e-9), f"{label} {of.rows}"
                skilled += skill is not None
            else:
                assert row[f"{label} skill"] is None
    assert skilled or name in (
        "num_rel",
        "num_ret",
        "money_recall",
        "money_precision",
        "judged",
        "rbp_residual",
        "pfound",
    )


def mean_of_lists(label: str, lists: list[Case], pick) -> float | None:
    """Return the mean over lists of what a function picks of the values of all orders."""
    values = [[value for value in all_orders(label, of) if value is not None] for of in lists]
    return mean(pick(each) if each else None for each in values)


def assert_levels(row, expected: dict[str, tuple[float | None, float | None]]) -> None:
    """Compare chance levels and skills with the chance and the best value of each metric."""
    for label, (chance, best) in expected.items():
        assert same(row[f"{label} chance"], chance), f"{label}: {row} {chance}"
        skill = None if best is None or abs(best - chance) <= 1e-12 else (row[label] - chance) / (best - chance)
        result = row[f"{label} skill"]
        assert result == (None if skill is None else pytest.approx(skill, abs=1e-9)), f"{label}: {row} {skill}"


@pytest.mark.parametrize("format_", ["wide", "long"])
def test_each_model_has_the_chance_of_its_own_rows(engine, format_):
    # A missing score: the model does not rank the row.
    rows = [{**row, "other": None if row["item"] < "i04" else float(len(row["item"]))} for row in short_lists(14).rows]
    stacked = [{**row, "score": row[name], "model": name} for name in ("score", "other") for row in rows]
    roles = {"score": ["score", "other"]} if format_ == "wide" else {"model": "model"}
    frame, some = engine.frame(rows if format_ == "wide" else stacked), engine.some(FEW)
    result = {row["model"]: row for row in engine.ask(frame, "evaluate", some, chance=True, counts=True, **roles)}
    plain = {row["model"]: row for row in engine.ask(frame, "evaluate", some, counts=True, **roles)}
    for model, row in result.items():
        assert {name: row[name] for name in plain[model]} == pytest.approx(plain[model], abs=1e-12)
        case = Case([{**row, "score": row[model]} for row in rows], max_relevance=3)
        expected = {
            label: (mean_of_lists(label, case.lists, mean), mean_of_lists(label, case.lists, max)) for label in some
        }
        assert_levels(row, expected)


def test_relevant_items_that_are_not_ranked_bound_the_best(engine):
    rows = [{"user": 1, "item": item, "score": float(item)} for item in range(4)]
    truth = [{"user": 1, "item": item} for item in (0, 8, 9)] + [{"user": 2, "item": 1}]
    frame, there = engine.frames(rows, truth)
    row = {
        row["user"]: row
        for row in engine.ask(frame, "evaluate", ["recall@2", "mrr"], truth=there, per="user", chance=True)
    }
    first = {"user": 1, "recall@2": 0.0, "recall@2 chance": 1 / 6, "recall@2 skill": -1.0, "mrr": 0.25}
    first |= {"mrr chance": (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4}
    first |= {"mrr skill": (0.25 - first["mrr chance"]) / (1 - first["mrr chance"])}
    assert row[1] == {name: pytest.approx(value, abs=1e-12) for name, value in first.items()}
    # Nothing is ranked: every order is the best one.
    assert (row[2]["recall@2 chance"], row[2]["recall@2 skill"]) == (0, None)


def test_gaps_between_ranks_are_closed(engine):
    rows = [{"user": 1, "item": i, "relevant": i % 2, "rank": rank} for i, rank in enumerate([2, 5, 9, 30])]
    scored = [{**row, "score": -float(row["rank"])} for row in rows]
    result = engine.ask(engine.frame(rows), "evaluate", ["ndcg@3", "roc_auc"], rank="rank", chance=True)
    reference = engine.ask(engine.frame(scored), "evaluate", ["ndcg@3", "roc_auc"], chance=True)
    for label in ("ndcg@3", "roc_auc"):
        assert result[0][f"{label} chance"] == pytest.approx(reference[0][f"{label} chance"], abs=1e-12)


def test_rows_that_a_frame_omits_are_in_the_random_order(engine):
    scores = [9.0, 8.0, 8.0, 5.0, 4.0, 4.0, 1.0]
    rows = [{"user": 1, "item": i, "relevant": int(i in (2, 5)), "score": score} for i, score in enumerate(scores)]
    counts = {"recframe_tied": 2, "recframe_candidates": 7}
    compact = [
        {"user": 1, "item": 2, "relevant": 1, "rank": 2, **counts},
        {"user": 1, "item": 5, "relevant": 1, "rank": 5, **counts},
    ]
    labels = ["recall@3", "ndcg@3", "mrr", "precision@1"]
    (whole,) = engine.ask(engine.frame(rows), "evaluate", labels, chance=True)
    (result,) = engine.ask(engine.frame(compact), "evaluate", labels, chance=True, rank="rank")
    assert result == {name: pytest.approx(value, abs=1e-12) for name, value in whole.items()}
    top = [{name: value for name, value in row.items() if name != "recframe_candidates"} for row in compact]
    with pytest.raises(OptionError, match="positions='top'"):
        engine.ask(engine.frame(top), "evaluate", "recall@3", chance=True, rank="rank")


def test_negative_relevance_is_last_in_the_best_order_behind_rows_that_are_not_in_the_frame(engine):
    rows = [
        {"user": 1, "item": i, "relevant": relevance, "rank": i}
        for i, relevance in enumerate([1, -1, 0, 0, 2, 0], start=1)
    ]
    counts = {"recframe_tied": 1, "recframe_candidates": 6}
    compact = engine.frame([row | counts for row in rows if row["relevant"]])
    (whole,) = engine.ask(engine.frame(rows), "evaluate", ["dcg", "ndcg@3"], rank="rank", chance=True)
    (result,) = engine.ask(compact, "evaluate", ["dcg", "ndcg@3"], chance=True, rank="rank")
    assert result == pytest.approx(whole)


def test_the_policy_of_ties_changes_the_value_and_not_the_chance(engine):
    frame = engine.frame(
        {"user": [1] * 4, "item": [1, 2, 3, 4], "relevant": [0, 1, 0, 1], "score": [2.0, 2.0, 1.0, 1.0]}
    )
    result = [
        engine.ask(frame, "evaluate", "mrr", ties=ties, chance=True)[0] for ties in ("average", "best", "worst", "item")
    ]
    assert len({row["mrr"] for row in result}) == 3
    assert {round(row["mrr chance"], 12) for row in result} == {round((6 * 1 + 4 / 2 + 2 / 3) / 12, 12)}


def test_models_are_compared_with_the_chance_of_each_list(engine):
    pytest.importorskip("scipy")
    rows = short_lists(14).rows
    rows = [{**row, "other": row["item"] < "i07" and row["score"]} for row in rows]
    rows = [{**row, "other": None if row["other"] is None else float(row["other"])} for row in rows]
    frame, some = engine.frame(rows), engine.some(FEW, 1)
    lists = engine.ask(frame, "evaluate", some, score=["score", "other"], per="user", chance=True)
    result = engine.ask(frame, "compare", some, score=["score", "other"], baseline="chance")
    assert [(row["metric"], row["model"], row["baseline"]) for row in result] == [
        (label, model, "chance") for label in some for model in ("score", "other")
    ]
    for row in result:
        label = row["metric"]
        of = [each for each in lists if each["model"] == row["model"] and each[label] is not None]
        differences = [each[label] - each[f"{label} chance"] for each in of]
        assert row["lists"] == len(of)
        assert row["difference"] == pytest.approx(mean(differences), abs=1e-12)
        assert row["baseline_mean"] == pytest.approx(mean(each[f"{label} chance"] for each in of), abs=1e-12)
        assert row["wins"] == sum(difference > 1e-12 for difference in differences)


def test_one_model_and_models_in_long_format_are_compared_with_chance(engine):
    pytest.importorskip("scipy")
    rows = [{**row, "model": name} for name in ("b", "a") for row in short_lists(9).rows]
    (alone,) = engine.ask(
        engine.frame([row for row in rows if row["model"] == "a"]), "compare", "mrr", baseline="chance"
    )
    result = engine.ask(engine.frame(rows), "compare", "mrr", model="model", baseline="chance")
    assert sorted(row["model"] for row in result) == ["a", "b"]
    assert {row["baseline"] for row in result} == {"chance"}
    assert alone["model"] == "score"
    assert all(row["difference"] == pytest.approx(alone["difference"], abs=1e-12) for row in result)
    named = [{**row, "model": "chance" if row["model"] == "b" else "a"} for row in rows]
    (row,) = engine.ask(engine.frame(named), "compare", "spearman", model="model", baseline="chance")
    assert (row["model"], row["baseline"], row["difference"]) == ("a", "chance", 0)


REFUSED = {
    "coverage@2": "leave coverage@2 out: for tied rows it is not exact: it reads one order",
    "spearman": "leave spearman out: for tied rows it is not the mean over orders, by definition",
    "map(norm=hits)@3": "map(norm=hits)@3 has no exact mean over tied rows",
}


@pytest.mark.parametrize("label", REFUSED)
def test_what_has_no_exact_chance_is_refused(engine, label):
    frame = engine.frame({"user": [1, 1], "item": [1, 2], "relevant": [0, 3], "score": [2.0, 1.0]})
    with pytest.raises(OptionError, match=re.escape(REFUSED[label])):
        engine.ask(frame, "evaluate", ["ndcg@3", label], chance=True)


def test_a_metric_whose_best_order_is_another_one_has_no_skill(polars_engine):
    frame = polars_engine.frame({"user": [1] * 3, "item": [1, 2, 3], "relevant": [0, 1, 2], "score": [3.0, 2.0, 1.0]})
    labels = ["ndcg(gain={1:9,2:1})@2", "judged@2", "num_ret"]
    (row,) = polars_engine.ask(frame, "evaluate", labels, chance=True)
    for label in labels:
        assert row[f"{label} chance"] is not None
        assert row[f"{label} skill"] is None


def test_parts_are_refused():
    pl = pytest.importorskip("polars")
    frame = pl.LazyFrame({"user": [1, 1], "relevant": [0, 1], "score": [2.0, 1.0]})
    with pytest.raises(OptionError, match="chance=True does not go with partitions=2"):
        recframe.rec(frame).evaluate("ndcg", partitions=2, chance=True)
