"""Tests that hold at all looks, against integrals, published formulas and enumerated laws."""

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import integrate, stats

from recframe._inference.statistics import anytime
from recframe._inference.statistics.student import Sums

LEVEL = 0.05
RANGE = (-1.0, 1.0)


def sums_of(values, **given):
    return Sums.of(np.asarray(values, dtype=float), np.ones(len(values)), **given)


def variance_of_effects(planned, level=LEVEL):
    """Return ρ² of Waudby-Smith and others, section B.2."""
    return (-2 * np.log(level) + np.log(1 - 2 * np.log(level))) / planned


@pytest.mark.parametrize(("count", "planned"), [(3, 20), (12, 100), (40, 5), (200, 1_000)])
def test_the_e_value_is_a_mixture_of_likelihood_ratios_of_t(count, planned):
    values = np.random.default_rng(count).normal(0.15, 1, count)
    statistic = float(np.abs(stats.ttest_1samp(values, 0).statistic))
    spread = np.sqrt(variance_of_effects(planned))

    def ratio(effect):
        both = sum(stats.nct.pdf(statistic, count - 1, sign * effect * np.sqrt(count)) for sign in (1, -1))
        return both / stats.t.pdf(statistic, count - 1) * stats.norm.pdf(effect, 0, spread)

    expected = 1 / integrate.quad(ratio, 0, 6 * spread, limit=200)[0]
    result = anytime.Asymptotic(LEVEL, planned).p_value(sums_of(values), RANGE)
    assert result == pytest.approx(min(expected, 1.0), rel=1e-5)


def test_with_many_lists_the_interval_is_that_of_waudby_smith():
    count, planned = 1_000_000, 20_000
    values = np.random.default_rng(1).normal(0.001, 0.3, count)
    variance = variance_of_effects(planned)
    growth = count * variance
    half = values.std() * np.sqrt(2 * (growth + 1) / (count**2 * variance) * np.log(np.sqrt(growth + 1) / LEVEL) / 1)
    low, high = anytime.Asymptotic(LEVEL, planned).interval(sums_of(values), (-np.inf, np.inf))
    assert [low.item(), high.item()] == pytest.approx([values.mean() - half, values.mean() + half], rel=1e-4)


@pytest.mark.parametrize("planned", [50, 100_000])
def test_an_interval_ends_where_the_evidence_is_just_enough(planned):
    bounded, squares = anytime.Bounded(LEVEL, planned), np.array([0.0, 1.0, 100.0])
    evidence = bounded._log_e(bounded._reach(squares, LEVEL), squares)
    assert np.exp(evidence) == pytest.approx([1 / LEVEL] * 3)


@pytest.mark.parametrize("method", [anytime.Asymptotic(LEVEL, 50), anytime.Bounded(LEVEL, 50)], ids=["t", "bounded"])
def test_the_interval_holds_what_the_p_value_does_not_reject(method):
    random = np.random.default_rng(2)
    for count in (2, 10, 60, 500):
        values = random.uniform(-0.5, 0.9, count)
        wide = (-10.0, 10.0)
        low, high = method.interval(sums_of(values), wide)
        for end in (low, high):
            if np.isfinite(end) and abs(end) < 9:
                moved = tuple(bound - end for bound in wide)
                assert method.p_value(sums_of(values - end), moved) == pytest.approx(LEVEL, rel=1e-6)
        reach = method.end(sums_of(values), wide, LEVEL) * sums_of(values).standard_error
        assert np.clip(values.mean() + reach, -10, 10) == pytest.approx(high)


def test_the_bounded_e_value_is_a_mean_over_bets():
    method, values = anytime.Bounded(LEVEL, 200), np.random.default_rng(3).uniform(-0.3, 0.5, 30)
    spread = np.sqrt(variance_of_effects(200) / 0.04)
    bets = stats.truncnorm.ppf((np.arange(400) + 0.5) / 400, 0, 1 / spread, scale=spread)
    s, v = values.sum(), (values**2).sum()
    bound = np.exp((np.log(1 - bets) + bets) * v)
    expected = np.mean((np.exp(bets * s) + np.exp(-bets * s)) / 2 * bound)
    assert method.p_value(sums_of(values), RANGE) == pytest.approx(1 / expected, rel=1e-9)


def test_values_on_another_scale_reject_as_soon():
    for method in (anytime.Asymptotic(LEVEL, 200), anytime.Bounded(LEVEL, 200)):
        values = np.random.default_rng(3).uniform(-0.3, 0.5, 30)
        p, ends = method.p_value(sums_of(values), RANGE), np.hstack(method.interval(sums_of(values), RANGE))
        assert method.p_value(sums_of(values * 3), (-3.0, 3.0)) == pytest.approx(p, rel=1e-12)
        assert np.hstack(method.interval(sums_of(values * 3), (-3.0, 3.0))) == pytest.approx(ends * 3, rel=1e-9)


@pytest.mark.parametrize(("up", "down"), [(1.0, -1.0), (0.1, -1.0), (0.9, -0.2), (0.02, -0.9)])
@pytest.mark.parametrize("planned", [5, 100])
def test_the_mean_of_the_bounded_e_value_is_at_most_1(up, down, planned):
    """Over all outcomes of two values whose mean is 0, at each number of lists."""
    method, share = anytime.Bounded(LEVEL, planned), -down / (up - down)
    for count in (1, 2, 5, 20, 60):
        ups = np.arange(count + 1)
        total, squares = ups * up + (count - ups) * down, ups * up**2 + (count - ups) * down**2
        e = np.exp(method._log_e(total, squares))
        assert (stats.binom.pmf(ups, count, share) * e).sum() <= 1 + 1e-9


@pytest.mark.parametrize("planned", [200, 10_000])
def test_equal_values_reject_no_sooner_than_values_that_hardly_differ(planned):
    method = anytime.Asymptotic(LEVEL, planned)
    decided = set()
    for count in range(2, 200):
        equal, nearly = sums_of([0.01] * count), sums_of([0.01] * (count - 1) + [0.01 + 1e-6])
        p, (low, high) = method.p_value(equal, RANGE), method.interval(equal, RANGE)
        assert p >= method.p_value(nearly, RANGE) * (1 - 1e-3)
        assert p >= 2.0 ** (1 - count)
        assert (np.isnan(low) or low > 0 or high < 0) if p < LEVEL else low <= 0 <= high
        decided.add(bool(p < LEVEL))
    assert decided == {True, False}


@pytest.mark.slow
def test_a_first_few_equal_values_do_not_end_an_experiment():
    """A loss in one list of a hundred, made up for by a little gain in all others: no difference on average."""
    random = np.random.default_rng(6)
    values = np.where(random.random((400, 80)) < 0.01, -0.99, 0.01)
    method = anytime.Asymptotic(LEVEL, 10_000)
    ever = [any(method.p_value(sums_of(row[:count]), RANGE) < LEVEL for count in (5, 10, 20, 40, 80)) for row in values]
    assert np.mean(ever) <= 0.05


def test_means_that_nothing_is_known_of_are_missing():
    for method in (anytime.Asymptotic(LEVEL, 100), anytime.Bounded(LEVEL, 100)):
        one = sums_of([0.5])
        assert np.isnan([method.p_value(one, RANGE), *method.interval(one, RANGE)]).all()
        equal = sums_of([0.0] * 10)
        assert method.p_value(equal, RANGE) == 1
        low, high = method.interval(equal, RANGE)
        assert -1 <= low < 0 < high <= 1
    bounded = anytime.Bounded(LEVEL, 100)
    values, weights = np.array([0.5, 0.1, 0.2, 0.4]), np.array([1.0, 2.0, 1.0, 1.0])
    for sums in (Sums.of(values, weights), sums_of(values, clusters=[1, 1, 2, 3])):
        assert np.isnan(bounded.p_value(sums, RANGE))
    assert np.isnan(bounded.p_value(sums_of(values), (-np.inf, 1.0)))


@pytest.mark.parametrize("distribution", ["even", "0 or 1", "skewed"])
def test_at_most_one_in_twenty_is_ever_found_where_nothing_differs(distribution):
    """200 experiments of 40 looks at 100 to 3,000 lists; a t-test finds one in five or more."""
    random, counts = np.random.default_rng(4), np.unique(np.geomspace(100, 3_000, 40).astype(int))
    shape = (200, counts[-1])
    values = {
        "even": lambda: np.clip(random.normal(0, 0.3, shape), -1, 1),
        "0 or 1": lambda: (random.random(shape) < 0.03) * 1.0 - (random.random(shape) < 0.03),
        "skewed": lambda: random.beta(0.1, 2, shape) - 0.1 / 2.1,
    }[distribution]()
    total, squares = (np.cumsum(each, axis=1)[:, counts - 1] for each in (values, values**2))
    lists = np.broadcast_to(counts.astype(float), total.shape)
    spread = squares - total**2 / lists
    sums = Sums(lists, lists, lists, total, spread, spread, lists, lists)
    ever = {
        name: (one.p_value(sums, RANGE) < LEVEL).any(axis=1).mean()
        for name, one in {
            "t": anytime.Student(LEVEL),
            "anytime": anytime.Asymptotic(LEVEL, 3_000),
            "bounded": anytime.Bounded(LEVEL, 3_000),
        }.items()
    }
    assert ever["t"] > 0.15
    assert ever["anytime"] <= 0.05
    assert ever["bounded"] <= 0.05
