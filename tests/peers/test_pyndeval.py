"""Alpha-nDCG, ERR-IA and subtopic recall against TREC's ndeval, where the package pyndeval is installed."""

from __future__ import annotations

from random import Random

import polars as pl
import pytest

import recframe  # noqa: F401 - gives frames their namespace

pyndeval = pytest.importorskip("pyndeval")
pytestmark = pytest.mark.slow
OURS = {
    "alpha-nDCG@5": "alpha_ndcg@5",
    "alpha-nDCG@10": "alpha_ndcg@10",
    "strec@5": "subtopic_recall@5",
    "strec@10": "subtopic_recall@10",
    "ERR-IA@5": "err_ia(normalized=True)@5",
    "ERR-IA@10": "err_ia(normalized=True)@10",
}


@pytest.mark.parametrize("alpha", [0.5, 0.3])
def test_every_topic(alpha: float) -> None:
    random = Random(3)
    run, qrels = [], []
    for user in range(60):
        items = random.sample([f"d{number:03}" for number in range(300)], 40)
        run += [(f"q{user}", item, -float(place)) for place, item in enumerate(items[:25])]
        for item in random.sample(items, 20):
            qrels += [
                (f"q{user}", s, item, random.choice([0, 1, 1])) for s in random.sample("123456", random.randrange(1, 5))
            ]
    theirs = pyndeval.ndeval(qrels, run, measures=[*OURS], alpha=alpha)
    frame = pl.DataFrame(run, schema=["user", "item", "score"], orient="row")
    truth = pl.DataFrame(qrels, schema=["user", "intent", "item", "relevant"], orient="row")
    names = {
        name: ours.replace("normalized", f"alpha={alpha},normalized")
        if "(" in ours
        else ours.replace("alpha_ndcg@", f"alpha_ndcg(alpha={alpha})@")
        for name, ours in OURS.items()
    }
    table = frame.rec.evaluate([*names.values()], truth=truth, subtopic="intent", per="user")
    for row in table.rows():
        expected = tuple(theirs[row[0]][name] for name in OURS)
        assert row[1:] == pytest.approx(expected, abs=1e-12), row[0]
