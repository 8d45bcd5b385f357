"""Differences of hits: `compare` uses the score test for them on every engine, alone and in states."""

import narwhals as nw
import numpy as np
import pytest

pytest.importorskip("scipy")

import recframe
from recframe._inference.statistics.paired_hits import PairedHits

LISTS, GAINED, LOST = 60, 2, 5


def rows_of_hits(**more):
    """Return lists of two rows, of which the new model alone hits two, and the old model alone five."""
    rows = []
    for user in range(LISTS):
        old = user < 20 or user >= LISTS - LOST
        new = user < 20 or 20 <= user < 20 + GAINED
        for item in range(2):
            score = {"old": float(old == (item == 0)), "new": float(new == (item == 0))}
            rows.append({"user": user, "item": item, "relevant": int(item == 0), **score, **more})
    return rows


HITS = PairedHits(np.array([float(LISTS)]), np.array([GAINED / LISTS]), np.array([LOST / LISTS]))
RATE = np.array([(20 + LOST) / LISTS])
MODELS = {"score": ["old", "new"], "baseline": "old"}


def test_differences_of_hits_have_the_score_test(engine):
    (row,) = engine.ask(engine.frame(rows_of_hits()), "compare", "hit_rate@1", **MODELS)
    low, high = HITS.interval(0.95)
    assert row["p"] == pytest.approx(HITS.p_value(np.array([0.0])).item())
    assert [row["low"], row["high"]] == pytest.approx([low.item(), high.item()])
    assert (row["wins"], row["losses"]) == (GAINED, LOST)


def test_lists_without_a_value_are_no_fractions(engine):
    rows = [{**row, "day": "d"} for row in rows_of_hits()]
    rows += [{"user": 900 + user, "item": 0, "relevant": 0, "old": 1.0, "new": 2.0, "day": "d"} for user in range(3)]
    (row,) = engine.ask(engine.frame(rows), "compare", "recall@1", per="day", **MODELS)
    assert row["lists"] == LISTS
    assert row["p"] == pytest.approx(HITS.p_value(np.array([0.0])).item())


@pytest.mark.parametrize(("confidence", "margin"), [(0.95, 0.17), (0.95, 0.12), (0.5, 0.1), (0.8, "40%"), (0.8, "5%")])
def test_margins_of_hits_are_ruled_out_where_the_interval_does_not_reach_them(engine, confidence, margin):
    given = {**MODELS, "confidence": confidence, "margin": margin, "relative": True}
    (row,) = engine.ask(engine.frame(rows_of_hits()), "compare", "hit_rate@1", **given)
    shares = isinstance(margin, str)
    size = float(margin.strip("%")) / 100 if shares else margin
    low, high = (row["relative_low"], row["relative_high"]) if shares else (row["low"], row["high"])
    decided = row["p"] < 1 - confidence
    expected = (
        "equivalent" if -size < low and high < size else "worse" if decided else "not worse" if -size < low else "open"
    )
    assert row["verdict"] == expected


def test_the_interval_of_a_ratio_is_that_of_the_score_test(engine):
    (row,) = engine.ask(engine.frame(rows_of_hits()), "compare", "hit_rate@1", relative=True, **MODELS)
    low, high = HITS.interval_of_ratio(RATE, 0.95)
    assert [row["relative_low"], row["relative_high"]] == pytest.approx([low.item() - 1, high.item() - 1])


def test_a_list_with_a_fraction_has_students_t(engine):
    rows = rows_of_hits()
    for row in rows[:2]:
        row["new"] = 1.0  # tied, so that the list hits by half
    (row,) = engine.ask(engine.frame(rows), "compare", "hit_rate@1", **MODELS)
    low, _ = HITS.interval(0.95)
    assert row["low"] != pytest.approx(low.item(), abs=1e-3)


def test_merged_states_have_the_score_test(engine):
    states = [
        recframe.rec(engine.frame([row for row in rows_of_hits() if row["user"] % 3 == part])).state(
            "hit_rate@1", **MODELS
        )
        for part in range(3)
    ]
    result = nw.from_native(recframe.merge_states(*states).compare(margin=0.17))
    low, high = HITS.interval(0.95)
    assert result["low"].to_list() == pytest.approx(low)
    assert result["high"].to_list() == pytest.approx(high)
    assert result["verdict"].to_list() == ["equivalent"]


def test_weights_of_one_and_single_clusters_change_nothing(engine):
    (alone,) = engine.ask(engine.frame(rows_of_hits()), "compare", "hit_rate@1", **MODELS)
    (weighted,) = engine.ask(engine.frame(rows_of_hits(w=3.0)), "compare", "hit_rate@1", weight="w", **MODELS)
    (clustered,) = engine.ask(engine.frame(rows_of_hits()), "compare", "hit_rate@1", cluster="user", **MODELS)
    for name in ("p", "low", "high"):
        assert weighted[name] == pytest.approx(alone[name])
        assert clustered[name] == pytest.approx(alone[name])


@pytest.mark.parametrize("given", [{"correction": "maxt"}, {"test": "randomization"}, {"test": "anytime"}])
def test_other_tests_are_unchanged(polars_engine, given):
    frame = polars_engine.frame(rows_of_hits())
    (row,) = polars_engine.ask(frame, "compare", "hit_rate@1", **given, **MODELS)
    assert row["low"] != pytest.approx(HITS.interval(0.95)[0].item(), abs=1e-6)
