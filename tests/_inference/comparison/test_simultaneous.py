"""Corrections for all rows at once: family errors, power, and intervals that never contradict p-values."""

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import stats

import recframe
from recframe._inference.statistics.correction import adjusted
from recframe._inference.statistics.simultaneous import LargestFlipped, MultivariateT
from sessions import MODELS, pair_of, rows_of

CORRECTIONS = ["maxt", "romano-wolf", "dunnett"]


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


def flips_of(values):
    """Return the statistics of each column under every choice of signs."""
    signs = np.array(np.meshgrid(*[[1, -1]] * len(values))).reshape(len(values), -1).T
    return np.abs(signs @ values) / np.sqrt((values**2).sum(axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_flips_are_all_of_them_up_to_their_monte_carlo_error(seed):
    values = np.random.default_rng(seed).normal(0.3, 1, (9, 4))
    observed, every = flips_of(values)[0], flips_of(values)
    distribution = LargestFlipped([values], 20_000, seed, [observed])
    expected = [(every.max(axis=1) >= one * (1 - 1e-12)).mean() for one in observed]
    assert distribution.p_values(observed) == pytest.approx(expected, abs=0.015)
    order, stepped = np.argsort(-observed), np.zeros(4)
    for place in range(4):
        stepped[order[place]] = (every[:, order[place:]].max(axis=1) >= observed[order[place]] * (1 - 1e-12)).mean()
    stepped[order] = np.maximum.accumulate(stepped[order])
    assert distribution.stepped_down == pytest.approx(stepped, abs=0.015)


@pytest.mark.parametrize(
    ("models", "degrees", "critical"),
    [(1, 20, 2.09), (2, 20, 2.38), (3, 20, 2.54), (5, 20, 2.73), (2, 10, 2.57), (4, 60, 2.51), (9, 60, 2.77)],
)
def test_critical_values_are_those_of_dunnetts_table(models, degrees, critical):
    """Two-sided, at 5 %: Dunnett, New tables for multiple comparisons with a control, Biometrics 20, 1964."""
    root = np.linalg.cholesky(0.5 + 0.5 * np.eye(models)).T
    distribution = MultivariateT([root], degrees, 10_000, 0)
    assert stats.t.isf(distribution.level(0.05) / 2, degrees) == pytest.approx(critical, abs=0.012)
    assert distribution.p_values(np.array([distribution.level(0.05)])) == pytest.approx(0.05, abs=1e-9)


def test_independent_columns_are_sidaks_with_many_degrees():
    distribution = MultivariateT([np.eye(10)], 1e9, 20_000, 1)
    p = np.array([1e-3, 0.01, 0.3])
    assert distribution.p_values(p) == pytest.approx(1 - (1 - p) ** 10, rel=0.05)
    assert distribution.p_values(np.array([0.0, np.nan, 1.0])) == pytest.approx([0, np.nan, 1], nan_ok=True)


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap"])
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("extra", [{}, {"cluster": "user"}, {"weight": "weight"}, {"per": "country"}])
def test_no_interval_contradicts_its_adjusted_p_value(library, correction, test, extra):
    if correction == "dunnett" and test != "t":
        pytest.skip("Dunnett's correction is of t-tests")
    rows = rows_of(21, lists=50)
    for row in rows:
        row["c"] += row["relevant"] / 4
    frame = library.DataFrame(rows)
    given = {"by": "session", "score": MODELS, "baseline": "a", "test": test, "resamples": 500, **extra}
    decided = 0
    for confidence in (0.5, 0.8, 0.9, 0.95):
        result = recframe.rec(frame).compare(
            ["ndcg@3", "mrr", "hit_rate@1"], correction=correction, confidence=confidence, **given, details=True
        )
        columns = zip(
            *(result[name].to_list() for name in ("p", "p_adjusted", "low", "high", "verdict", "difference")),
            strict=True,
        )
        for p, p_adjusted, low, high, verdict, difference in columns:
            assert p_adjusted >= p
            decided += verdict != "open"
            assert verdict == ("open" if p_adjusted >= 1 - confidence else "better" if difference > 0 else "worse")
            if low is not None and not np.isnan(low):
                assert low < difference < high
                assert (low <= 0 <= high) == (p_adjusted >= 1 - confidence)
            else:
                assert correction == "romano-wolf" and p_adjusted < 1 - confidence
    assert decided


@pytest.mark.parametrize("correction", ["maxt", "dunnett"])
def test_one_row_alone_is_the_test_itself(engine, correction):
    frame = engine.frame(rows_of(22, lists=60))
    given = {"by": "session", "score": ["a", "b"], "confidence": 0.9}
    (alone,) = engine.ask(frame, "compare", "ndcg@3", correction="none", **given)
    (row,) = engine.ask(frame, "compare", "ndcg@3", correction=correction, **given)
    _, ours, theirs = pair_of(engine, frame, "ndcg@3", "b", "a")
    near = 1e-9 if correction == "dunnett" else 0.02
    assert row["p_adjusted"] == pytest.approx(stats.ttest_rel(ours, theirs).pvalue, abs=near)
    assert [row["low"], row["high"]] == pytest.approx([alone["low"], alone["high"]], abs=near)


@pytest.mark.parametrize("correction", ["maxt", "dunnett"])
def test_a_margin_is_outside_of_the_interval_that_rules_it_out(library, correction):
    frame = library.DataFrame([{**row, "c": row["c"] + row["relevant"] / 8} for row in rows_of(23, lists=60)])
    words = set()
    for margin in (0.05, 0.1, 0.2, 0.3):
        given = {"by": "session", "score": MODELS, "baseline": "a", "resamples": 500, "margin": margin}
        result = recframe.rec(frame).compare(["ndcg@3", "mrr"], correction=correction, **given)
        for low, high, verdict in zip(*(result[name].to_list() for name in ("low", "high", "verdict")), strict=True):
            within = low > -margin and high < margin
            assert verdict == (
                "better" if low > 0 else "equivalent" if within else "not worse" if low > -margin else "open"
            )
            words.add(verdict)
    assert words >= {"open", "not worse", "equivalent"}


def test_an_interval_that_would_hold_what_is_rejected_is_missing(library):
    """One list outweighs the others, so its difference may be anything; that of the mean is not 0 all the same."""
    places = [(0, 10, 5, 4), *((user, 1, 2, 1) for user in range(1, 11))]
    rows = [
        {
            "user": user,
            "weight": weight,
            "relevant": int(item == 0),
            "a": -(item or old - 0.5),
            "b": -(item or new - 0.5),
        }
        for user, weight, old, new in places
        for item in range(6)
    ]
    given = {"score": ["a", "b"], "weight": "weight", "test": "randomization", "correction": "maxt"}
    result = library.DataFrame(rows).rec.compare("mrr", **given, details=True)
    ((p, low, verdict),) = zip(*(result[name].to_list() for name in ("p_adjusted", "low", "verdict")), strict=True)
    assert p < 0.01
    assert verdict == "better"
    assert low is None or np.isnan(low)


def test_flips_of_two_lists_bound_no_difference(library):
    """Whatever the difference of an unbounded metric is, its statistic is not above that of all flips but for rounding."""
    for grades in ([3, 1], [7, 5], [1, 0.1]):
        rows = [
            {"user": user, "relevant": grades[(item + user) % 2], "a": item, "b": -item}
            for user in range(2)
            for item in range(2)
        ]
        result = library.DataFrame(rows).rec.compare("dcg@1", score=["a", "b"], correction="maxt", confidence=0.6)
        assert result["low"].isna().all() if hasattr(result["low"], "isna") else result["low"].is_null().all()


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_differences_of_rounding_are_no_column_of_flips(library, correction):
    """Of three tied items of one relevance, the mean gain at 1 is that of each but for rounding."""
    rows = [
        {
            "user": user,
            "relevant": relevance * (item < 3),
            "a": 5 * (item < 3),
            "b": (5, 3, 2, 4 * (user % 3 > 0))[item],
        }
        for user, relevance in enumerate([0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.19])
        for item in range(4)
    ]
    rec = library.DataFrame(rows).rec(score=["a", "b"])
    given = {"correction": correction, "resamples": 1000}
    alone, both = (rec.compare(metrics, **given)["p_adjusted"].to_list() for metrics in ("ndcg@3", ["ndcg@3", "dcg@1"]))
    assert both == [*alone, 1.0]


def test_segments_have_the_same_draws_in_any_order_of_rows(library):
    rows = rows_of(23, lists=40)
    given = {"by": "session", "score": MODELS, "per": "country", "correction": "maxt", "resamples": 100}
    result = [
        library.DataFrame(each).rec.compare("mrr", **given)["p_adjusted"].to_list() for each in (rows, rows[::-1])
    ]
    assert result[0] == pytest.approx(result[1], abs=1e-12)


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("factor", [1e-90, 1e90])
def test_only_the_ratios_of_weights_count(library, correction, factor):
    given = {"by": "session", "score": MODELS[:2], "weight": "weight", "correction": correction, "resamples": 100}
    actual = []
    for scale in (1.0, factor):
        rows = [{**row, "weight": row["weight"] * scale} for row in rows_of(23, lists=40)]
        result = library.DataFrame(rows).rec.compare("mrr", **given)
        actual.append([value for name in ("p_adjusted", "low", "high") for value in result[name].to_list()])
    assert actual[1] == pytest.approx(actual[0], rel=1e-9)


def test_steps_and_other_engines_change_nothing(engine, monkeypatch):
    frame = engine.frame(rows_of(24, lists=40))
    given = {"by": "session", "score": MODELS, "correction": "romano-wolf", "resamples": 200, "per": "country"}
    expected = engine.ask(frame, "compare", ["ndcg@3", "mrr"], **given)
    monkeypatch.setattr("recframe._inference.comparison.compare.PAIRS_AT_ONCE", 4)
    result = engine.ask(frame, "compare", ["ndcg@3", "mrr"], **given)
    for one, other in zip(result, expected, strict=True):
        assert {name: one[name] for name in one if name != "p"} == pytest.approx(
            {name: other[name] for name in one if name != "p"}
        )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"correction": "maxt", "test": "wilcoxon"}, "correction='maxt' is about means"),
        ({"correction": "dunnett", "test": "bootstrap", "baseline": "a"}, "correction='dunnett' is of t-tests"),
        ({"correction": "dunnett"}, "compares models with one baseline"),
    ],
)
def test_what_does_not_go_together(library, given, message):
    frame = library.DataFrame(rows_of(1))
    with pytest.raises(recframe.OptionError, match=message):
        frame.rec.compare("mrr", by="session", score=MODELS, **given)


def test_states_hold_no_values_to_flip(library):
    frame = library.DataFrame(rows_of(1))
    state = recframe.merge_states(frame.rec.state("mrr", by="session", score=MODELS))
    for correction in CORRECTIONS:
        with pytest.raises(recframe.OptionError, match=f"correction='{correction}' reads the values of lists"):
            state.compare(correction=correction, baseline="a", details=True)


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 0.25])
def test_the_family_error_is_kept_with_more_power_than_holms(effect):
    """Sixteen tests of 60 lists with a correlation of 0.7, four of them with an effect."""
    random, draws, lists, tests = np.random.default_rng(9), 250, 60, 16
    effects = np.zeros(tests) + np.where(np.arange(tests) % 4 == 0, effect, 0.0)
    errors, result = dict.fromkeys(["holm", *CORRECTIONS], 0), dict.fromkeys(["holm", *CORRECTIONS], 0)
    for draw in range(draws):
        values = (
            np.sqrt(0.7) * random.normal(size=(lists, 1)) + np.sqrt(0.3) * random.normal(size=(lists, tests)) + effects
        )
        statistics = np.abs(values.sum(axis=0)) / np.sqrt((values**2).sum(axis=0))
        p = stats.ttest_1samp(values, 0).pvalue
        distribution = LargestFlipped([values], 400, draw, [statistics])
        t = MultivariateT([values - values.mean(axis=0)], lists - 1, 400, draw)
        rejected = {
            "holm": adjusted(p, "holm"), "maxt": distribution.p_values(statistics),
            "romano-wolf": distribution.stepped_down, "dunnett": t.p_values(p),
        }  # fmt: skip
        for name, each in rejected.items():
            errors[name] += (each[effects == 0] < 0.05).any()
            result[name] += (each[effects > 0] < 0.05).sum()
    for name in CORRECTIONS:
        assert errors[name] / draws < 0.085
        assert effect == 0 or result[name] > 1.05 * result["holm"]


def test_a_model_whose_differences_are_equal_but_for_rounding_does_not_widen_dunnetts_intervals(library):
    draw = np.random.default_rng(0)
    users, items = np.repeat(np.arange(40), 3), np.tile(np.arange(3), 40)
    grades = np.stack([0.1 + 0.1 * (np.arange(40) % 3), 0.2 + 0.1 * (np.arange(40) % 3), 0.7 * draw.random(40)], axis=1)
    scores = {"old": items == 0, "equal": items == 1, "new": items == np.where(users % 2, 2, 0)}
    columns = {name: values.astype(float) for name, values in scores.items()}
    frame = library.DataFrame({"user": users, "item": items, "relevant": grades.ravel(), **columns})
    found = {}
    for models in (["old", "new"], ["old", "equal", "new"]):
        result = frame.rec(score=models).compare("dcg@1", baseline="old", correction="dunnett", details=True)
        found[len(models)] = [result[name].to_list()[-1] for name in ("p_adjusted", "low", "high")]
    assert found[3] == pytest.approx(found[2], rel=1e-9)
