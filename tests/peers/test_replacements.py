"""What a profile's refusals name instead, against what the library computes: recorded of the versions that theirs.py has."""

from __future__ import annotations

import pytest

import recframe
from cases import case
from recframe.profiles import PROFILES

pl = pytest.importorskip("polars")

TIED = case(9, tied=True, unserved=False)
PLAIN = case(9, least=5, unserved=False)
ITEMS = [f"i{item:02}" for item in range(40)]


@pytest.mark.parametrize(
    ("like", "named", "given", "theirs"),
    [
        ("ir_measures", "judged(denominator=list)@5", {"ties": "item"}, 0.36499999999999994),
        ("ir_measures", "err(max_relevance=4)@5", {"ties": "item_desc"}, pytest.approx(0.1146485, abs=5e-6)),
        ("ir_measures", "rbp", {"ties": "first"}, 0.20212521443327996),  # with cwl-eval 1.0.12
        ("ir_measures", "alpha_ndcg@5", {"ties": "item"}, 0.4123869838805424),  # with pyndeval 0.0.8
        ("ir_measures", "err_ia(normalized=True)@5", {"ties": "item"}, 0.40272314674735255),
        ("recbole", "coverage@5", {"catalog": ["padding", *ITEMS]}, 0.975609756098),
        ("recbole", "gini@5", {"catalog": ["padding", *ITEMS]}, 0.238536585366),
        ("replay", "coverage@5", {"catalog": ITEMS}, 1.0),
        ("lenskit", "gini@5", {"catalog": ITEMS}, 0.2195),
        ("lenskit", "map@5", {"min_relevance": 0}, 0.2368333333333333),
        ("sentence_transformers", "pr_auc(points=thresholds,over=ranked)", {}, 0.3954916913055043),
    ],
)
def test_what_is_named_instead_is_what_the_library_computes(like, named, given, theirs):
    metric = recframe.metrics.parse(named)
    assert metric.name in PROFILES[like].refused
    side = {name: pl.DataFrame({"item": items}) for name, items in given.items() if name == "catalog"}
    case = TIED if like == "ir_measures" else PLAIN
    frame, truth = pl.DataFrame(case["rows"]), pl.DataFrame(case["truth"])
    requested = {} if side else {"truth": truth, "undefined": 0.0}
    result = frame.rec.evaluate(metric, **requested, **(given | side)).item()
    assert result == (pytest.approx(theirs, abs=1e-12) if isinstance(theirs, float) else theirs)
