"""The score test of paired hits: published values, a likelihood that is maximized by search, and exact coverage."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import optimize, stats

from recframe._inference.statistics import student
from recframe._inference.statistics.paired_hits import PairedHits
from recframe._inference.statistics.student import Sums

QUANTILE = stats.norm.ppf(0.975)


def hits_of(lists, gained, lost):
    return PairedHits(*(np.array([float(each)]) for each in (lists, gained / lists, lost / lists)))


def test_intervals_are_the_published_ones():
    """Airway reactivity of 21 children before and after a transplantation (Fagerland, Lydersen, Laake 2014)."""
    hits = hits_of(21, gained=1, lost=7)
    assert np.ravel(hits.interval(0.95)) == pytest.approx([-0.517, -0.026], abs=5e-4)
    assert np.ravel(hits.interval_of_ratio(np.array([8 / 21]), 0.95)) == pytest.approx([0.065, 0.907], abs=5e-4)


def test_without_a_difference_the_test_is_that_of_mcnemar():
    hits = hits_of(100, gained=9, lost=4)
    assert hits.p_value(np.array([0.0])) == pytest.approx(2 * stats.norm.sf(5 / np.sqrt(13)))
    assert hits.p_value_of_ratio(np.array([1.0]), np.array([0.3])) == pytest.approx(2 * stats.norm.sf(5 / np.sqrt(13)))


def least(negative_likelihood, low, high):
    result = optimize.minimize_scalar(
        negative_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-13}
    )
    return min([result.x, low + 1e-15, high - 1e-15], key=negative_likelihood)


@pytest.mark.parametrize("seed", range(40))
def test_the_spread_is_that_of_the_likeliest_probabilities(seed):
    random = np.random.default_rng(seed)
    lists = int(random.integers(5, 400))
    both, gained, lost, neither = random.multinomial(lists, random.dirichlet([1, 0.3, 0.3, 2]))
    difference = random.uniform(-0.6, 0.6)

    def negative_likelihood(only_baseline):
        shares = [only_baseline + difference, only_baseline, 1 - 2 * only_baseline - difference]
        counts = (gained, lost, both + neither)
        return -sum(n * np.log(max(share, 1e-300)) for n, share in zip(counts, shares, strict=True) if n)

    q = least(negative_likelihood, max(0.0, -difference), (1 - difference) / 2)
    variance = lists * (2 * q + difference * (1 - difference))
    if variance > 1e-6:
        expected = (gained - lost - lists * difference) / np.sqrt(variance)
        result = hits_of(lists, gained, lost).statistic(np.array([difference]))
        assert result == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_ends_of_intervals_are_where_the_test_stops_rejecting(seed):
    random = np.random.default_rng(seed)
    lists = int(random.integers(3, 3000))
    both, gained, lost, _ = random.multinomial(lists, random.dirichlet([0.5, 0.1, 0.1, 2]))
    hits, baseline = hits_of(lists, gained, lost), np.array([(both + lost) / lists])
    low, high = hits.interval(0.95)
    mean = (gained - lost) / lists
    assert -1 <= low <= mean <= high <= 1
    for end in (low, high):
        if abs(end) < 1 - 1e-9 and abs(end - mean) > 1e-9:
            assert abs(hits.statistic(end)) == pytest.approx(QUANTILE, rel=1e-6)
    if baseline > 0:
        low, high = hits.interval_of_ratio(baseline, 0.95)
        assert 0 <= low <= 1 + mean / baseline <= high
        assert abs(hits.statistic_of_ratio(high, baseline)) == pytest.approx(QUANTILE, rel=1e-6)


def exact_coverage(lists, gain, lose):
    """Return how often the interval holds the true difference, by the probability of each outcome."""
    gained, lost = (each.ravel() for each in np.meshgrid(np.arange(lists + 1), np.arange(lists + 1), indexing="ij"))
    kept = gained + lost <= lists
    gained, lost = gained[kept], lost[kept]
    chance = stats.multinomial.pmf(
        np.column_stack([gained, lost, lists - gained - lost]), lists, [gain, lose, 1 - gain - lose]
    )
    likely = chance > 1e-9
    gained, lost, chance = gained[likely], lost[likely], chance[likely]
    low, high = PairedHits(np.full(len(gained), float(lists)), gained / lists, lost / lists).interval(0.95)
    share = 1 - 0.025 ** (1 / lists)  # the interval of equal differences, which other code gives
    equal = gained + lost == 0
    low, high = np.where(equal, -share, low), np.where(equal, share, high)
    return chance[(low <= gain - lose) & (gain - lose <= high)].sum()


@pytest.mark.parametrize(
    ("lists", "gain", "lose"), [(100, 0, 0.05), (150, 0.02, 0.02), (200, 0, 0.02), (250, 0.01, 0.03)]
)
def test_intervals_have_their_coverage_where_few_lists_differ(lists, gain, lose):
    assert exact_coverage(lists, gain, lose) >= 0.93


def test_weighted_lists_and_clusters_count_as_many_lists_as_they_are_worth():
    random = np.random.default_rng(0)
    values = random.choice([-1.0, 0.0, 1.0], 60, p=[0.2, 0.7, 0.1])
    alone = PairedHits.of(Sums.of(values, np.ones(60)))
    assert alone.lists.item() == 60
    assert alone.gained.item() == pytest.approx((values == 1).mean())
    assert alone.lost.item() == pytest.approx((values == -1).mean())
    # A weight of all lists, lists of weight 0 and a cluster for each list change nothing.
    assert PairedHits.of(Sums.of(values, np.full(60, 7.0))).lists == pytest.approx(60)
    more = np.append(values, [1.0, -1.0])
    assert PairedHits.of(Sums.of(more, np.append(np.ones(60), [0, 0]))).gained == pytest.approx(alone.gained)
    assert PairedHits.of(Sums.of(values, np.ones(60), np.arange(60))).lists == pytest.approx(60)
    # Twins are one list.
    twins = PairedHits.of(Sums.of(np.repeat(values, 2), np.ones(120), np.repeat(np.arange(60), 2)))
    assert 50 < twins.lists.item() <= 60
    assert np.isnan(PairedHits.of(Sums.of(np.array([1.0, 0.0]), np.array([1.0, 0.0]))).lists).all()


def test_the_interval_is_like_that_of_t_where_many_lists_differ():
    values = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], 20_000, p=[0.2, 0.5, 0.3])
    sums = Sums.of(values, np.ones(len(values)))
    result = np.ravel(PairedHits.of(sums).interval(0.95))
    assert result == pytest.approx(np.ravel(student.interval(sums, 0.95)), abs=2e-5)
