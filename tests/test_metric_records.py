"""The metric records: complete, parsed and printed canonically, and everything written from them up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from recframe import metrics
from recframe.metrics import METRICS, parse

ROOT = Path(__file__).parent.parent

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
def test_every_record_is_complete(name):
    kind = METRICS[name]
    assert kind.name == name
    assert kind.summary and kind.formula and kind.reference
    assert kind.range[0] < kind.range[1]
    assert {"Notes", "References", "Examples"} <= {line.strip() for line in kind.__doc__.splitlines()}
    assert ">>>" in kind.__doc__


def test_metrics_are_immutable():
    with pytest.raises(AttributeError):
        metrics.NDCG(5).k = 6


@pytest.mark.parametrize("tool", ["stubs.py", "metric_table.py", "profile_table.py", "plan_frames.py"])
def test_what_is_written_from_the_records_is_current(tool):
    path = ROOT / "tools" / tool
    if not path.exists():
        pytest.skip("the tools are not part of a source distribution")
    done = subprocess.run([sys.executable, str(path), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
