"""bpref, judged and interpolated precision: under each order of ties, with a truth, and against what TREC's files mean."""

from __future__ import annotations

import pytest

import recframe
from compare import assert_oracle
from strategies import shop

LABELS = ["bpref", "inf_ap", "iprec", "iprec(recall=0.3)", "partial_auc", "partial_auc(max_fpr=0.5)"]


def unjudged(case):
    """Return a case in which every third row was not judged, and every ninth is in the pool only."""
    marks = {1: None, 4: None, 7: -1.0}
    return case.of([{**row, "relevant": marks.get(i % 9, row["relevant"])} for i, row in enumerate(case.rows)])


@pytest.mark.parametrize("ties", ["average", "best", "worst"])
def test_every_list(polars_engine, ties):
    of_average = [
        "judged@2",
        "judged(denominator=list)@9",
        "rbp_residual@2",
        "rbp_residual(p=0.5)",
        "partial_auc(max_fpr=0.5,points=thresholds)",
    ]
    labels = [*LABELS, *(of_average if ties == "average" else [])]
    assert_oracle(polars_engine, unjudged(shop(f"judged {ties}", 120)), labels, ties)


def test_rows_that_nobody_judged(engine):
    assert_oracle(
        engine, unjudged(shop("judged", 15)), ["bpref", "inf_ap", "judged@2", "iprec(recall=0.3)", "rbp_residual@3"]
    )


@pytest.mark.parametrize("truth", [False, True])
def test_nobody_judged_a_relevance_below_0(engine, truth):
    rows = {"user": [1, 1, 1], "item": [1, 2, 3], "relevant": [1, -1, -1]}
    scores = {"user": [1, 1, 1], "item": [1, 2, 3], "score": [1.0, 3.0, 2.0]}
    frame, judgments = engine.frames({**rows, **scores}, rows)
    frame, given = (engine.frame(scores), {"truth": judgments}) if truth else (frame, {})
    labels = ["judged@3", "bpref", "mrr"]
    (result,) = engine.ask(frame, "evaluate", labels, **given)
    assert [result[name] for name in labels] == pytest.approx([1 / 3, 1.0, 1 / 3])
    (alone,) = engine.ask(frame, "evaluate", [*labels, "num_ret"], condensed=True, **given)
    assert [*alone.values()] == pytest.approx([1 / 3, 1.0, 1.0, 1.0])
    # Where -1 is relevant, it is judged.
    (low,) = engine.ask(frame, "evaluate", labels, min_relevance=-1, **given)
    assert [low[name] for name in labels] == [1.0, 1.0, 1.0]


def test_a_row_is_judged_if_the_truth_has_it(engine):
    frame, truth = engine.frames(
        {"user": [1, 1, 1, 1, 1, 2], "item": [1, 2, 3, 3, 9, 1], "score": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]},
        {"user": [1, 1, 1, 1, 1], "item": [2, 3, 7, 8, 9], "relevant": [0, 1, 0, 1, -1]},
    )
    rows = engine.ask(frame, "evaluate", ["bpref", "judged", "judged@2"], truth=truth, per="user")
    result = {row["user"]: (row["bpref"], row["judged"], row["judged@2"]) for row in rows}
    # Of two relevant items one is ranked, behind one of the two judged irrelevant ones; item 3 is judged once, item 9 never.
    assert result == {1: (pytest.approx(1 / 4), pytest.approx(2 / 5), 1 / 2), 2: (None, 0.0, 0.0)}


@pytest.mark.parametrize("named", [{}, {"relevant": "relevant"}])
def test_nobody_judged_an_item_that_the_truth_holds_without_a_relevance(engine, named):
    scores = {"user": [1] * 5, "item": [1, 2, 3, 4, 5], "score": [5.0, 4.0, 3.0, 2.0, 1.0]}
    marks = {"user": [1] * 6, "item": [1, 2, 3, 3, 5, 8], "relevant": [None, 0.0, None, 1.0, None, 1.0]}
    known = {name: [values[i] for i in (1, 3, 5)] for name, values in marks.items()}
    labels = ["judged", "bpref", "rbp_residual@2", "ndcg@5"]
    for condensed in (False, True):
        both = []
        for judgments in (marks, known):
            frame, truth = engine.frames(scores, judgments)
            (result,) = engine.ask(frame, "evaluate", labels, truth=truth, condensed=condensed, **named)
            both.append([*result.values()])
        assert both[0] == pytest.approx(both[1])
    assert both[0][0] == 1.0


def test_expected_values_by_hand(polars_engine):
    # One hit and two judged irrelevant rows tie, R = 1: the hit is first with the chance 1/3, else bpref is 0.
    data = {"user": [1] * 4, "relevant": [1, 0, 0, None], "score": [1.0, 1.0, 1.0, 1.0]}
    frame = polars_engine.frame(data)
    assert polars_engine.ask(frame, "bpref") == pytest.approx(1 / 3)
    assert polars_engine.ask(frame, "judged", 2) == pytest.approx(3 / 4)
    assert polars_engine.ask(frame, "iprec") == pytest.approx(1 / 4)


def test_inferred_average_precision_by_hand(polars_engine):
    # Ahead of the second hit, at position 5: 3 of the pool, of which one is relevant and one not; the other has no judgment.
    data = {"user": [1] * 5, "relevant": [1, None, -1, 0, 2], "score": [5.0, 4.0, 3.0, 2.0, 1.0]}
    second = 1 / 5 + 3 / 5 * (1 + 1e-5) / (2 + 2e-5)
    assert polars_engine.ask(polars_engine.frame(data), "inf_ap") == pytest.approx((1 + second) / 2, abs=1e-12)
    # The hit ties with one judged irrelevant row: half the time that is ahead, and the share is ε of 1 + 2ε.
    data = {"user": [1] * 3, "relevant": [1, 0, None], "score": [2.0, 2.0, 1.0]}
    behind = 1 / 2 + 1 / 2 * 1e-5 / (1 + 2e-5)
    assert polars_engine.ask(polars_engine.frame(data), "inf_ap") == pytest.approx((1 + behind) / 2, abs=1e-12)


@pytest.mark.parametrize(("p", "value", "residual"), [(0.5, 0.5 + 0.5**4, 0.5**6 + 0.5**3), (0.8, 0.2 + 0.2 * 0.8**3, 0.8**6 + 0.2 * 0.8**2)])  # fmt: skip
def test_the_residual_is_that_of_moffat_and_zobel(engine, p, value, residual):
    """What is after the depth d weighs p^d, and an unjudged item at the rank r weighs (1 - p) p^(r - 1)."""
    marks = [1, 0, None, 1, 0, 0]
    frame = engine.frame({"user": [1] * 6, "relevant": marks, "score": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]})
    labels = [f"rbp(p={p})", f"rbp_residual(p={p})"]
    (result,) = engine.ask(frame, "evaluate", [*labels, "mrr"])
    assert [*result.values()][:2] == pytest.approx([value, residual])


def test_the_residual_is_the_width_of_the_bounds_and_what_follows_the_cutoff(engine):
    pytest.importorskip("scipy")
    rows = [{**row, "score": -float(i)} for i, row in enumerate(shop("residual", 20).rows)]
    keys = [{"user": row["user"], "item": row["item"]} for row in rows]
    judged = [
        key | {"relevant": max(row["relevant"] or 0, 0)}
        for i, (key, row) in enumerate(zip(keys, rows, strict=True))
        if i % 3
    ]
    frame, truth = engine.frames([key | {"score": row["score"]} for key, row in zip(keys, rows, strict=True)], judged)
    given = {"truth": truth, "item": "item"}
    if engine.name == "spark":
        pytest.skip("bounds reads rows")
    (both,) = engine.ask(frame, "bounds", "rbp", k=2, **given)
    per = engine.ask(frame, "evaluate", ["rbp_residual@2", "num_ret", "rbp@2"], per="user", **given)
    lists = [row for row in per if row["rbp@2"] is not None]
    open_after = [0.8 ** min(2, row["num_ret"]) for row in lists]
    expected = sum(row["rbp_residual@2"] - after for row, after in zip(lists, open_after, strict=True)) / len(lists)
    assert both["greatest"] - both["least"] == pytest.approx(expected)


@pytest.mark.parametrize("score", [[2, 2, 1], [3, 2, 1]])
def test_what_is_relevant_is_in_the_pool(polars_engine, score):
    # From 0 on, a missing relevance is relevant: it counts alike ahead of a tied block and in it.
    frame = polars_engine.frame({"user": [1, 1, 1], "relevant": [None, None, None], "score": score})
    assert polars_engine.ask(frame, "inf_ap", min_relevance=0) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("metric", ["rbp(residual=True)@3", "rbp"])
def test_the_residual_is_found_where_it_is_looked_for(polars_engine, metric):
    frame = polars_engine.frame({"user": [1], "relevant": [1], "score": [1.0]})
    given = {} if "(" in metric else {"residual": True}
    with pytest.raises(recframe.OptionTypeError, match="'rbp_residual'"):
        polars_engine.ask(frame, *(("rbp",) if given else ("evaluate", metric)), **given)


@pytest.mark.parametrize(
    ("label", "line"),
    [
        ("partial_auc(negatives=2)", "A / (n · R), A: the area up to n rows that are not relevant, in rows"),
        ("partial_auc(negatives=2,positives=first)", "A / (n · min(R, n))"),
        ("partial_auc(points=thresholds)", "the curve is a straight line over a tied block"),
    ],
)
def test_explain_prints_the_formula_of_the_options(label, line):
    assert f"  {line}\n" in recframe.explain(label)
