"""The metric records: complete, parsed and printed canonically."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import pytest

import recframe
from recframe import metrics
from recframe.metrics import METRICS, parse
from recframe.metrics._options import bounds, options_of

SPELLINGS = {
    "ndcg": metrics.NDCG(),
    "ndcg@10": metrics.NDCG(10),
    "ndcg(gain=exp2)@10": metrics.NDCG(k=10, gain="exp2"),
    "ndcg(gain=exp2,discount=jarvelin,ideal=ranked)@3": metrics.NDCG(
        3, gain="exp2", discount="jarvelin", ideal="ranked"
    ),
    "map(norm=relevant)@5": metrics.MAP(5, norm="relevant"),
    "recall(capped=True)@5": metrics.Recall(5, capped=True),
    "rbp(p=0.5)": metrics.RBP(p=0.5),
    "precision(denominator=list)@5": metrics.Precision(5, denominator="list"),
    "r_precision": metrics.RPrecision(),
    "pfound(probability={0:0,1:0.1,2:0.12345678901234})@5": metrics.PFound(
        5, probability={0: 0.0, 1: 0.1, 2: 0.12345678901234}
    ),
    "pfound(p_break=0.5,probability={1:0.4})": metrics.PFound(p_break=0.5, probability={1: 0.4}),
}


@pytest.mark.parametrize("text", list(SPELLINGS))
def test_strings_and_objects_are_the_same(text):
    assert parse(text) == SPELLINGS[text]
    assert str(SPELLINGS[text]) == text
    assert hash(parse(text)) == hash(SPELLINGS[text])


def test_spelling_is_lenient_and_the_name_canonical():
    assert str(parse(" ndcg ( ideal=ranked , gain=exp2 ) @ 10 ")) == "ndcg(gain=exp2,ideal=ranked)@10"
    assert str(parse("recall(capped=true)@5")) == "recall(capped=True)@5"
    assert str(parse("ndcg(gain=linear)@10")) == "ndcg@10"


@pytest.mark.parametrize("name", list(METRICS))
def test_a_record_holds_its_options_alone(name):
    # What depends on them (`reads`, `best_of`, ...) is a property, so that a subclass may state another.
    options = {option.name for option in options_of(METRICS[name])}
    assert {*vars(METRICS[name]())} <= options
    assert not options & {"reads", "best_of", "requires_average_ties", "is_additive", "needs_relevant"}


@pytest.mark.parametrize("name", list(METRICS))
def test_every_record_is_complete(name):
    kind = METRICS[name]
    assert kind.name == name
    assert kind.summary and kind.formula and kind.reference
    assert kind.range[0] < kind.range[1]
    assert {"Notes", "References", "Examples"} <= {line.strip() for line in kind.__doc__.splitlines()}
    assert ">>>" in kind.__doc__
    # In a terminal, nobody reads LaTeX.
    shown = inspect.getdoc(getattr(recframe.EagerRec, kind.name))
    assert {"Returns", "See Also"} <= {*shown.splitlines()}
    assert f"\n``{kind.formula}``\n" in shown
    assert "math:" not in shown and "\\" not in shown


def test_lower_values_are_better_of_distances_gaps_and_concentration():
    lower = {"arp", "awrf", "calibration", "eed", "eel", "first_rank", "gini", "last_rank", "rbp_residual"}
    assert {name for name, kind in METRICS.items() if not kind.higher_is_better} == lower


def test_metrics_are_immutable():
    with pytest.raises(AttributeError):
        metrics.NDCG(5).k = 6


@pytest.mark.parametrize("name", list(METRICS))
def test_every_option_is_checked_by_its_type(name):
    for option in options_of(METRICS[name]):
        assert option.words or option.kinds - {type(None)}, f"the type of {option.name} cannot be read"
        for value in ("no such value", object(), -1.5):
            with pytest.raises(recframe.OptionError, match=f"{option.name}="):
                METRICS[name](**{option.name: value})


def test_options_of_custom_metrics_are_checked_listed_and_spelled():
    @dataclass(frozen=True)
    class Mine(recframe.CutMetric):
        name: ClassVar[str] = "mine"
        side: Literal["left", "right"] = "left"
        share: float = field(default=0.5, metadata=bounds(least=0, most=1))
        deep: bool = False
        more: NotKnownAtRunTime | None = None  # noqa: F821

    # A type that cannot be read leaves the options of its class unchecked, not unusable.
    assert str(Mine(3, side="right", more=1)) == "mine(side=right,more=1)@3"
    assert [option.name for option in options_of(Mine)] == ["k", "side", "share", "deep", "more"]
    assert [option.values for option in options_of(Checked)] == [
        ["None", "whole number at least 1"], ["left", "right"], ["0.5", "number at least 0 and at most 1"], ["1", "2"],
    ]  # fmt: skip
    assert Checked(2, share=1).share == 1
    for wrong in ({"side": "up"}, {"share": 1.5}, {"share": "1"}, {"level": 3}, {"k": 0}):
        with pytest.raises(recframe.OptionError, match=f"{next(iter(wrong))}="):
            Checked(**wrong)


@dataclass(frozen=True)
class Checked(recframe.CutMetric):
    name: ClassVar[str] = "checked"
    side: Literal["left", "right"] = "left"
    share: float = field(default=0.5, metadata=bounds(least=0, most=1))
    level: Literal[1, 2] = 1
