"""Tests that hold at all looks, in comparisons of frames, of states and on the command line."""

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import stats

import recframe
from recframe._inference.lists import paired_sums
from recframe._inference.statistics.student import Sums
from sessions import MODELS, pair_of, rows_of

TESTS = ["anytime", "anytime-bounded"]


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


def e_value(differences, error, degrees, lists, planned, confidence=0.95):
    """Return E of Wang and Ramdas, with ρ² of Waudby-Smith and others."""
    spent = -2 * np.log(1 - confidence)
    growth = lists * (spent + np.log(1 + spent)) / planned
    share = (np.mean(differences) / error) ** 2 / degrees
    return (1 + growth) ** -0.5 * ((1 + share) / (1 + share / (1 + growth))) ** ((degrees + 1) / 2)


@pytest.mark.parametrize("planned", [30, 10_000])
@pytest.mark.parametrize("correction", ["none", "holm"])
def test_the_p_value_is_one_over_the_e_value(engine, planned, correction):
    frame = engine.frame(rows_of(41, lists=60))
    given = {"by": "session", "score": MODELS, "test": "anytime", "planned": planned, "correction": correction}
    result = engine.ask(frame, "compare", ["mrr", "ndcg@3"], confidence=0.9, **given)
    assert len(result) == 6
    for row in result:
        _, ours, theirs = pair_of(engine, frame, row["metric"], row["model"], row["baseline"])
        d = ours - theirs
        e = e_value(d, d.std(ddof=1) / np.sqrt(len(d)), len(d) - 1, len(d), planned, 0.9)
        assert row["p"] == pytest.approx(min(1 / e, 1), rel=1e-9)
        if row["low"] > -1 and row["high"] < 1:
            ends = [stats.ttest_1samp(d - end, 0) for end in (row["low"], row["high"])]
            for end in ends:
                error = d.std(ddof=1) / np.sqrt(len(d))
                moved = e_value([end.statistic * error], error, len(d) - 1, len(d), planned, 0.9)
                assert moved == pytest.approx(10, rel=1e-6)
        if correction == "none":
            assert row["verdict"] == ("open" if row["p"] >= 0.1 else "better" if d.mean() > 0 else "worse")
            assert (row["p"] < 0.1) == (row["low"] > 0 or row["high"] < 0)


def plain(result):
    """Return a result as rows of plain values."""
    import narwhals as nw

    frame = nw.from_native(result)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return [{name: None if value != value else value for name, value in row.items()} for row in frame.rows(named=True)]  # noqa: PLR0124


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("more", [{}, {"cluster": "user", "weight": "weight"}], ids=["lists", "clusters"])
def test_merged_states_are_the_whole_night_after_night(engine, test, more):
    more = more if test == "anytime" else {}
    rows, states = rows_of(42, lists=60), []
    given = {"by": "session", "score": ["a", "b"], **more}
    for night in range(3):
        tonight = engine.frame([row for row in rows if row["session"] // 20 == night])
        with engine.running():
            states.append(recframe.rec(tonight).state(["mrr", "ndcg@3"], **given))
        seen = engine.frame([row for row in rows if row["session"] // 20 <= night])
        asked = {"test": test, "planned": 100, "margin": 0.2}
        expected = engine.ask(seen, "compare", ["mrr", "ndcg@3"], **asked, **given)
        result = plain(recframe.merge_states(states).compare(**asked, details=True))
        for row, whole in zip(result, expected, strict=True):
            for name in ("p", "low", "high", "p_adjusted", "detectable"):
                assert row[name] == (whole[name] if whole[name] is None else pytest.approx(whole[name], rel=1e-9))
            assert row["verdict"] == whole["verdict"]


def test_clusters_and_weights_are_in_the_error(engine):
    rows = rows_of(43, lists=60)
    frame = engine.frame(rows)
    given = {"by": "session", "score": ["a", "b"]}
    both, ours, theirs = pair_of(engine, frame, "mrr", "b", "a")
    of_list = {row["session"]: (row["weight"], row["user"]) for row in rows}
    weights, users = zip(*(of_list[key] for key in both), strict=True)
    sums = Sums.of(ours - theirs, np.array(weights), np.array(users))
    e = e_value(sums.mean, sums.standard_error, sums.degrees, len(both), 50)
    (row,) = engine.ask(frame, "compare", "mrr", test="anytime", planned=50, cluster="user", weight="weight", **given)
    assert row["p"] == pytest.approx(min(1 / e.item(), 1), rel=1e-9)


@pytest.mark.parametrize("size", [0.02, 0.15, 0.4])
@pytest.mark.parametrize("test", TESTS)
def test_a_margin_lies_outside_of_the_interval_where_it_is_ruled_out(engine, test, size):
    frame = engine.frame(rows_of(12, lists=60))
    given = {"by": "session", "score": MODELS, "test": test, "planned": 60, "confidence": 0.5, "correction": "none"}
    for row in engine.ask(frame, "compare", ["ndcg@3", "mrr"], margin=size, **given):
        better, worse = row["low"] > 0, row["high"] < 0
        not_worse, within = row["low"] > -size, -size < row["low"] and row["high"] < size
        words = zip((better, within, worse, not_worse), ("better", "equivalent", "worse", "not worse"), strict=True)
        assert row["verdict"] == next((word for holds, word in words if holds), "open")


def test_a_share_of_the_baseline_is_a_margin_of_the_asymptotic_test(library):
    rows = rows_of(13, lists=60)
    same, other = library.DataFrame([{**row, "b": row["a"]} for row in rows]), library.DataFrame(rows)
    given = {"by": "session", "score": ["a", "b"], "planned": 60, "test": "anytime"}
    for margin, words in (
        ("1%", ["open", "open"]),
        ("10%", ["equivalent", "open"]),
        ("20%", ["equivalent", "not worse"]),
    ):
        result = [frame.rec.compare("mrr", margin=margin, **given)["verdict"].to_list() for frame in (same, other)]
        assert result == [[word] for word in words]


def test_other_users_are_compared_at_all_looks(library):
    rows = [{**row, "a": row["a"] + (row["session"] < 150) * row["relevant"] / 3} for row in rows_of(44, lists=400)]
    old, new = ([row for row in rows if (row["session"] < 150) == side] for side in (True, False))
    before, after = (
        recframe.merge_states(library.DataFrame(each).rec.state("mrr", by="session", score="a")) for each in (old, new)
    )
    (usual,), (row,) = (
        plain(after.compare(baseline=before, **how, details=True)) for how in ({}, {"test": "anytime", "planned": 80})
    )
    values = [
        [
            one["mrr"]
            for one in plain(library.DataFrame(each).rec.evaluate("mrr", by="session", score="a", per="session"))
        ]
        for each in (new, old)
    ]
    values = [np.array([one for one in each if one is not None]) for each in values]
    result = stats.ttest_ind(*values, equal_var=False)
    lists = 4 / (1 / len(values[0]) + 1 / len(values[1]))
    error = usual["difference"] / result.statistic
    assert row["p"] == pytest.approx(
        min(1.0, 1 / e_value([usual["difference"]], error, result.df, lists, 80)), rel=1e-9
    )
    assert row["low"] < usual["low"] < usual["high"] < row["high"]
    with pytest.raises(recframe.OptionError, match="test='anytime-bounded' pairs lists"):
        after.compare(baseline=before, test="anytime-bounded", details=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"test": "anytime", "correction": "maxt"}, "correction='maxt' holds at one look, but test='anytime' at all"),
        ({"test": "anytime-bounded", "correction": "dunnett"}, "correction='dunnett' holds at one look"),
        ({"test": "anytime-bounded", "cluster": "user"}, "accepts neither cluster= nor weight="),
        ({"test": "anytime-bounded", "weight": "weight"}, "accepts neither cluster= nor weight="),
        ({"test": "anytime-bounded", "margin": "1%"}, "accepts no margin in percent"),
        ({"test": "anytime-bounded", "metrics": ["mrr", "dcg@3"]}, r"one of the metrics is dcg@3, which has no greatest"),
        ({"test": "anytime-bounded", "metrics": "gauc"}, "one of the metrics is gauc, which weighs lists"),
        ({"test": "anytime", "planned": 0}, "planned=0"),
    ],
)  # fmt: skip
def test_what_holds_at_one_look_only_is_refused(library, given, message):
    given = {"metrics": "mrr", **given}
    with pytest.raises(recframe.RecError, match=message):
        library.DataFrame(rows_of()).rec.compare(
            given.pop("metrics"), by="session", score=["a", "b"], **given, details=True
        )


def test_states_of_weighted_lists_have_no_bounded_test(library):
    frame = library.DataFrame(rows_of())
    for more in ({"weight": "weight"}, {"cluster": "user"}):
        merged = recframe.merge_states(frame.rec.state("mrr", by="session", score=["a", "b"], **more))
        with pytest.raises(recframe.OptionError, match="one of the metrics is mrr, which weighs lists"):
            merged.compare(test="anytime-bounded", details=True)


def test_one_negative_value_opens_the_range_of_differences():
    """Values of nDCG are from 0 to 1, and below where a relevance is negative."""
    pairs = [paired_sums.Pair(0, 1, 0)]
    for negative, least in (((0.0, 0.0), -1.0), ((1.0, 0.0), -np.inf), ((0.0, 1.0), -np.inf)):
        result = dict(zip(paired_sums.NEGATIVE, np.array(negative)[:, None, None], strict=True))
        low, high = paired_sums.bounds(result, pairs, lambda _: (-np.inf, 1.0))
        assert [low.item(), high.item()] == [least, -least]
