"""Lists needed, and differences that lists find, against statsmodels and against each other."""

import warnings

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import stats

import recframe
from recframe._inference.statistics import power
from recframe._inference.statistics.student import Sums
from sessions import MODELS, only_row, pair_of, rows_of


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


@pytest.mark.parametrize("count", [8, 40, 1000])
@pytest.mark.parametrize(("wanted", "level"), [(0.8, 0.05), (0.9, 0.05 / 12), (0.99, 0.2), (0.5, 0.01)])
def test_power_is_that_of_statsmodels(count, wanted, level):
    theirs = pytest.importorskip("statsmodels.stats.power").TTestPower()
    values = np.random.default_rng(count).normal(0.1, 1, count)
    sums, spread = Sums.of(values, np.ones(count)), values.std(ddof=1)
    units = power.FutureUnits.of(sums)
    for difference in (0.1, 0.5):
        for size in (5, 30, 400):
            expected = theirs.power(difference / spread, size, level)
            # Theirs is missing where nearly every test finds it.
            expected = 1.0 if np.isnan(expected) else expected
            assert units.power(difference, size, level).item() == pytest.approx(expected, rel=1e-9)
        needed = units.needed(difference, wanted, level).item()
        assert needed < 3 or theirs.power(difference / spread, needed, level) == pytest.approx(wanted, rel=1e-9)
    result = power.detectable(sums, 1 - level, wanted).item()
    assert theirs.power(result / spread, count, level) == pytest.approx(wanted, rel=1e-9)


def test_far_from_0_power_is_that_of_draws():
    """SciPy's noncentral t is not exact there."""
    random = np.random.default_rng(1)
    for degrees, shift, level in ((1, 50.0, 0.01), (2, 60.0, 0.001)):
        end = stats.t.isf(level / 2, degrees)
        draws = (random.normal(size=200_000) + shift) / np.sqrt(random.chisquare(degrees, 200_000) / degrees)
        assert power.power_of(shift, degrees, level) == pytest.approx((np.abs(draws) > end).mean(), abs=0.005)
    assert power.power_of(3.0, 1e7, 0.05) == pytest.approx(power.power_of(3.0, 9e5, 0.05), abs=1e-5)


@pytest.mark.parametrize("degrees", [1.0, 1.5, 2.0, 5.0])
@pytest.mark.parametrize("level", [0.01, 1e-4])
@pytest.mark.parametrize("share", [0.1, 0.8, 0.95])
def test_the_power_of_few_lists_is_exact_where_scipys_noncentral_t_is_not(degrees, level, share):
    """The power is the integral over the distributions of a standard error and of a mean around it."""
    from scipy import integrate

    end = stats.t.isf(level / 2, degrees)
    shift = max(40.0, end * np.sqrt(stats.chi2.ppf(share, degrees) / degrees))
    expected, _ = integrate.quad(
        lambda z: stats.norm.pdf(z) * stats.chi2.cdf(degrees * ((shift + z) / end) ** 2, degrees),
        -9, 9, epsrel=1e-12, points=[-3, 0, 3],
    )  # fmt: skip
    assert power.power_of(shift, degrees, level) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    "more", [{}, {"weight": "weight"}, {"cluster": "user"}, {"cluster": "user", "weight": "weight"}]
)
def test_as_many_lists_as_there_are_find_what_is_detectable(engine, more):
    frame = engine.frame(rows_of(30, lists=60))
    given = {"by": "session", "score": MODELS, **more}
    result = engine.ask(frame, "compare", "mrr", **given)
    row = only_row(result, model="b", baseline="a")
    result = engine.ask(frame, "sample_size", "mrr", difference=row["detectable"], **given)
    needed = only_row(result, model="b", baseline="a")
    assert (needed["seen"], needed["lists"], needed["tests"]) == (row["lists"], row["lists"], 3)
    assert "cluster" not in more or needed["clusters"] == 20


def test_lists_are_those_of_statsmodels(engine):
    solve = pytest.importorskip("statsmodels.stats.power").TTestPower().solve_power
    frame = engine.frame(rows_of(31, lists=60))
    given = {"by": "session", "score": ["a", "b"], "difference": "10%", "power": 0.9, "tests": 4, "confidence": 0.9}
    (row,) = engine.ask(frame, "sample_size", "mrr", **given)
    _, ours, theirs = pair_of(engine, frame, "mrr", "b", "a")
    spread = (ours - theirs).std(ddof=1)
    assert row["difference"] == pytest.approx(theirs.mean() / 10)
    assert row["std"] == pytest.approx(spread)
    assert row["lists"] == np.ceil(solve(effect_size=theirs.mean() / 10 / spread, power=0.9, alpha=0.025))
    assert (row["seen"], row["tests"], row["power"]) == (len(ours), 4, 0.9)


@pytest.mark.parametrize("more", [{}, {"weight": "weight"}, {"cluster": "user"}, {"cluster": "user", "per": "country"}])
def test_merged_states_say_what_one_call_does(library, more):
    rows = rows_of(33, lists=60)
    frame = library.DataFrame(rows)
    given = {"by": "session", "score": MODELS, **more}
    metrics, wanted = ["mrr", "ndcg@2"], {"difference": "5%", "power": 0.9, "confidence": 0.9}
    whole = frame.rec.sample_size(metrics, **given, **wanted)
    third = [[row for row in rows if row["session"] % 3 == part] for part in range(3)]
    states = [library.DataFrame(part).rec.state(metrics, **given) for part in third]
    merged = recframe.merge_states(states)
    actual = merged.sample_size(**wanted)
    assert list(actual.columns) == list(whole.columns)
    keys = [name for name in ("country", "metric", "model", "baseline") if name in list(whole.columns)]
    by_key = []
    for result in (whole, actual):
        columns = [result[name].to_list() for name in result.columns]
        lines = [dict(zip(result.columns, values, strict=True)) for values in zip(*columns, strict=True)]
        by_key.append({tuple(line[name] for name in keys): line for line in lines})
    ours, theirs = by_key
    assert len(ours) == len(whole)
    assert ours.keys() == theirs.keys()
    for key, line in ours.items():
        numbers = [name for name in line if name not in keys]
        assert [theirs[key][name] for name in numbers] == pytest.approx([line[name] for name in numbers], rel=1e-9)
    named = merged.sample_size(difference=0.05, baseline="a", tests=7)
    assert set(named["baseline"].to_list()) == {"a"}
    assert set(named["tests"].to_list()) == {7}


def test_merged_states_that_do_not_say_it(library):
    rows = library.DataFrame(rows_of(34, lists=6))
    one = recframe.merge_states(rows.rec.state("mrr", by="session", score="a"))
    with pytest.raises(recframe.OptionError, match="sample_size needs two models, but the states have one"):
        one.sample_size(difference=0.1)
    both = recframe.merge_states(rows.rec.state("mrr", by="session", score=["a", "b"]))
    with pytest.raises(recframe.OptionError, match="difference=0 is no difference to find"):
        both.sample_size(difference=0)
    with pytest.raises(recframe.OptionError, match="baseline='x' is not one of the models"):
        both.sample_size(difference=0.1, baseline="x")


def test_users_with_several_lists_are_counted(library):
    """Each session seven times, in a cluster of its own, tells as much as once: as many clusters, with seven lists each."""
    rows = rows_of(32, lists=40)
    copies = [{**row, "copy": copy} for row in rows for copy in range(7)]
    given = {"score": ["a", "b"], "difference": 0.03}
    alone = recframe.rec(library.DataFrame(rows)).sample_size("mrr", by="session", **given)
    both = {"by": ["session", "copy"], "cluster": "session"}
    result = recframe.rec(library.DataFrame(copies)).sample_size("mrr", **both, **given)
    lists, clusters = (result[name].to_list()[0] for name in ("lists", "clusters"))
    assert clusters == alone["lists"].to_list()[0]
    assert lists == 7 * clusters


def test_so_many_lists_find_the_difference_as_often_as_wanted():
    random, difference, wanted = np.random.default_rng(4), 0.2, 0.8
    seen = Sums.of(random.normal(0, 0.5, 5_000), np.ones(5_000))
    lists = int(np.ceil(power.FutureUnits.of(seen).needed(difference, wanted, 0.05).item()))
    p = stats.ttest_1samp(random.normal(difference, 0.5, (4_000, lists)), 0, axis=1).pvalue
    assert (p < 0.05).mean() == pytest.approx(wanted, abs=0.025)


def test_where_nothing_varies_nothing_is_known(library):
    frame = library.DataFrame({"user": [1, 1, 2, 2], "relevant": [0, 1, 0, 1], "a": [1, 2, 1, 2], "b": [1, 2, 1, 2]})
    (lists,) = frame.rec.sample_size("mrr", score=["a", "b"], difference=0.1)["lists"].to_list()
    assert lists is None or lists != lists  # noqa: PLR0124 - NaN


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"difference": 0}, "difference=0 is no difference to find"),
        ({"difference": "x"}, "difference='x' is neither a number nor a percentage"),
        ({"difference": 0.1, "power": 1.0}, "power=1 is not between"),
        ({"difference": 0.1, "power": 0.05}, "power=0.05 is not between"),
        ({"difference": 0.1, "tests": 0}, "tests=0"),
        ({"difference": 0.1, "tests": 10**30}, "tests=10+ is more than 2147483647"),
        ({"difference": 0.1, "score": ["a"]}, "two models"),
        ({}, "difference"),
    ],
)
def test_bad_arguments(library, given, message):
    frame = library.DataFrame(rows_of(1))
    with pytest.raises((recframe.RecError, TypeError), match=message):
        frame.rec.sample_size("mrr", **{"by": "session", "score": ["a", "b"], **given})


def test_the_curve_passes_the_wanted_power_at_the_lists_needed(library):
    pytest.importorskip("altair")
    rec = library.DataFrame(rows_of(33, lists=40)).rec(by="session", score=["a", "b"])
    chart = rec.plot.power("mrr", difference=0.05, cluster="user").to_dict()
    points = chart["data"]["values"]
    needed = rec.sample_size("mrr", difference=0.05, cluster="user")["lists"].to_list()[0]
    lists, powers = (np.array([point[name] for point in points]) for name in ("lists", "power"))
    assert (np.diff(powers) >= 0).all()
    assert np.interp(needed, lists, powers) == pytest.approx(0.8, abs=0.01)
    assert chart["title"]["text"] == "Power to find a difference of 0.05 in mrr"


def test_one_model_is_refused_under_the_name_of_the_call():
    frame = pytest.importorskip("polars").DataFrame({"user": [1], "item": [1], "relevant": [1], "old": [0.5]})
    with pytest.raises(recframe.RecError, match="sample_size needs two models, but there is only 'old'"):
        frame.rec.sample_size("ndcg", difference=0.1, score="old")


def test_what_one_list_cannot_tell_is_missing(engine):
    rows = [{"user": 1, "item": item, "relevant": item % 2, "old": item / 4, "new": -item / 4} for item in range(3)]
    (row,) = engine.ask(engine.frame(rows), "sample_size", "ndcg", difference=0.1, score=["old", "new"])
    assert row["seen"] == 1
    assert row["lists"] is None or np.isnan(row["lists"])


def test_careful_lists_are_those_of_a_larger_variance(library):
    """Of normal differences, the upper end of the variance's interval; of differences that are mostly 0, more."""
    random = np.random.default_rng(8)
    rows = rows_of(35, lists=60)
    result = recframe.rec(library.DataFrame(rows)).sample_size("mrr", by="session", score=["a", "b"], difference=0.03)
    row = {name: result[name].to_list()[0] for name in result.columns}
    compared = recframe.rec(library.DataFrame(rows)).compare(
        "mrr",
        by="session",
        score=["a", "b"],
        details=True,
    )
    share = 1 - compared["ties"].to_list()[0] / compared["lists"].to_list()[0]
    degrees = (row["seen"] - 1) * 2 * share / (3 - share)
    spread = row["std"] * np.sqrt(degrees / stats.chi2.ppf(0.2, degrees))
    units = power.FutureUnits(np.array([spread]), np.ones(1), np.ones(1))
    assert row["lists_careful"] == np.ceil(units.needed(0.03, 0.8, 0.05).item())
    plain = power.FutureUnits(np.array([row["std"]]), np.ones(1), np.ones(1))
    assert row["lists_equivalent"] == np.ceil(plain.needed(0.03, 0.9, 0.05).item())
    assert row["lists"] < row["lists_equivalent"] < 1.5 * row["lists"]
    # Two equal models, with so many lists.
    lists = row["lists_equivalent"]
    draws = random.normal(0, row["std"], (2_000, lists))
    reach = stats.t.ppf(0.975, lists - 1) * draws.std(axis=1, ddof=1) / np.sqrt(lists)
    assert np.mean(np.abs(draws.mean(axis=1)) + reach < 0.03) == pytest.approx(0.8, abs=0.03)


def test_small_pilots_warn(library):
    given = {"by": "session", "score": ["a", "b"], "difference": 0.03}
    rows = library.DataFrame(rows_of(36, lists=60))
    with pytest.warns(recframe.DataWarning, match="the numbers of lists come from only 48 lists"):
        rows.rec.sample_size("mrr", **given)
    with pytest.warns(recframe.DataWarning, match="from only .* effective clusters"):
        rows.rec.sample_size("mrr", cluster="user", **given)
    state = rows.rec.state("mrr", by="session", score=["a", "b"])
    with pytest.warns(recframe.DataWarning, match="the numbers of lists come from only 48 lists"):
        recframe.merge_states(state).sample_size(difference=0.03)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        library.DataFrame(rows_of(36, lists=150)).rec.sample_size("mrr", **given)
