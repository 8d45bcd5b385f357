"""Intervals, tests and corrections from sums, against SciPy and statsmodels."""

import dataclasses
import itertools

import numpy as np
import pytest

pytest.importorskip("scipy")
import narwhals as nw

from recframe._base import progress as _progress
from recframe._inference.lists import paired_sums
from recframe._inference.statistics import correction, draws, power, resampling, student
from recframe._inference.statistics.simultaneous import LargestFlipped
from recframe._inference.statistics.wilson import wilson


def sums_of(values, weights=None, clusters=None):
    """Return the sums over lists as the plan would give them, by a loop."""
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, float)
    weight, total = weights.sum(), (weights * values).sum()
    residuals = weights * (values - total / weight)
    groups = range(len(values)) if clusters is None else clusters
    units = {group: sum(r for r, g in zip(residuals, groups, strict=True) if g == group) for group in groups}
    of_units = {group: sum(w for w, g in zip(weights, groups, strict=True) if g == group) for group in groups}
    entry = {
        "lists": len(values),
        "weight": weight,
        "weight_squares": (weights**2).sum(),
        "total": total,
        "squares": (residuals * (values - total / weight)).sum(),
        "residual_squares": sum(r**2 for r in units.values()),
        "unit_weight_squares": sum(w**2 for w in of_units.values()),
        "unit_weight_cubes": sum(w**3 for w in of_units.values()),
    }
    return student.Sums(**{name: np.array([value], float) for name, value in entry.items()})


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_paired_t_equals_scipy(seed, confidence):
    from scipy import stats

    random = np.random.default_rng(seed)
    a, b = random.random((2, int(random.integers(2, 200))))
    sums = sums_of(a - b)
    expected = stats.ttest_rel(a, b)
    np.testing.assert_allclose(student.p_value(sums), expected.pvalue, rtol=1e-9)
    np.testing.assert_allclose(
        np.ravel(student.interval(sums, confidence)), expected.confidence_interval(confidence), rtol=1e-9
    )
    np.testing.assert_allclose(student.effect(sums), (a - b).mean() / (a - b).std(ddof=1), rtol=1e-9)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weighted", [False, True])
def test_clusters_of_equal_weight_equal_a_cluster_robust_regression_on_a_constant(seed, weighted):
    models = pytest.importorskip("statsmodels.api")
    random = np.random.default_rng(seed)
    count, size = int(random.integers(2, 20)), int(random.integers(2, 6))
    values, clusters = random.normal(size=count * size), np.repeat(np.arange(count), size)
    weights = np.concatenate(random.dirichlet(np.ones(size), count)) if weighted else None
    model = models.WLS(values, np.ones(len(values)), weights=1.0 if weights is None else weights)
    expected = model.fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    sums = sums_of(values, weights, clusters)
    np.testing.assert_allclose(sums.mean, expected.params, rtol=1e-9)
    np.testing.assert_allclose(sums.standard_error, expected.bse, rtol=1e-9)
    np.testing.assert_allclose(student.p_value(sums), expected.pvalues, rtol=1e-8)
    np.testing.assert_allclose(np.ravel(student.interval(sums, 0.95)), np.ravel(expected.conf_int(0.05)), rtol=1e-8)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("clustered", [False, True])
def test_the_standard_error_is_unbiased_where_the_means_of_units_vary_equally(seed, clustered):
    random = np.random.default_rng(seed)
    units = int(random.integers(3, 30))
    weights = random.lognormal(0, 0.7, units)
    sums = sums_of(np.zeros(units), weights)
    if clustered:
        sizes = random.integers(1, 5, units)
        lists = np.repeat(weights / sizes, sizes)
        sums = sums_of(np.zeros(len(lists)), lists, np.repeat(np.arange(units), sizes))
    share = weights / weights.sum()
    # The residuals of all units as a matrix that is applied to their means, and what it makes of a variance of 1.
    residuals = weights[:, None] * (np.eye(units) - share)
    sums = dataclasses.replace(sums, residual_squares=np.array([(residuals**2).sum()]))
    effective = 1 / (share**2).sum()
    if effective < 2:
        assert np.isnan([sums.standard_error, sums.degrees, student.p_value(sums)]).all()
    else:
        np.testing.assert_allclose(sums.standard_error**2, (share**2).sum(), rtol=1e-12)
        # Satterthwaite's degrees of freedom of the sum of squares, where the variance of a unit is 1 over its weight.
        covariance = np.diag(share) - np.outer(share, share)
        degrees = np.trace(covariance) ** 2 / (covariance**2).sum()
        np.testing.assert_allclose(sums.degrees, degrees, rtol=1e-12)


def sizes_of_clusters(kind, shape, random):
    if kind == "lognormal":
        return np.maximum(np.exp(random.normal(2, 1, shape)).round(), 1)
    sizes = np.full(shape[1], 20) if kind == "equal" else np.maximum(1000 // np.arange(1, shape[1] + 1), 1)
    return np.broadcast_to(sizes, shape)


@pytest.mark.parametrize("count", [10, 30, 100, 300])
@pytest.mark.parametrize("kind", ["equal", "lognormal", "zipf"])
def test_clusters_of_any_sizes_reject_as_often_as_they_say(kind, count):
    random = np.random.default_rng(3)
    draws, correlation = 10_000, 0.3
    sizes = sizes_of_clusters(kind, (draws, count), random)
    weight = sizes.sum(axis=1)
    totals = sizes * np.sqrt(correlation + (1 - correlation) / sizes) * random.normal(size=sizes.shape)
    residuals = totals - (totals.sum(axis=1) / weight)[:, None] * sizes
    whole = {
        "lists": weight, "weight": weight, "weight_squares": weight, "total": totals.sum(axis=1),
        "squares": np.full(draws, np.nan), "residual_squares": (residuals**2).sum(axis=1),
        "unit_weight_squares": (sizes**2).sum(axis=1), "unit_weight_cubes": (sizes**3).sum(axis=1),
    }  # fmt: skip
    assert 0.03 < np.mean(student.p_value(student.Sums(**whole)) < 0.05) < 0.07


@pytest.mark.parametrize("weighted", [False, True])
def test_clusters_of_one_list_each_change_nothing(weighted):
    random = np.random.default_rng(4)
    values, weights = random.normal(size=40), random.lognormal(size=40) if weighted else np.ones(40)
    alone = student.Sums.of(values, weights)
    of_one = student.Sums.of(values, weights, np.arange(40))
    for statistic in (
        student.p_value,
        lambda sums: power.detectable(sums, 0.95),
        lambda sums: student.interval(sums, 0.95),
    ):
        np.testing.assert_allclose(statistic(of_one), statistic(alone), rtol=1e-12)
    shares = (values > 0).astype(float)
    alone, of_one = (student.Sums.of(shares, weights, clusters) for clusters in (None, np.arange(40)))
    np.testing.assert_allclose(wilson(of_one, 0.95), wilson(alone, 0.95), rtol=1e-12)


def test_equal_weights_are_no_weights():
    values = np.random.default_rng(1).random(30)
    for given in (student.p_value, student.effect, lambda sums: student.interval(sums, 0.9)):
        np.testing.assert_allclose(given(sums_of(values, np.full(30, 7.0))), given(sums_of(values)), rtol=1e-12)


def test_lists_without_weight_do_not_count():
    values, weights = np.array([0.1, 0.4, 0.2, 9.0]), np.array([1.0, 1.0, 1.0, 0.0])
    np.testing.assert_allclose(
        student.p_value(sums_of(values, weights)), student.p_value(sums_of(values[:3])), rtol=1e-12
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("values", "p", "effect", "ends"),
    [
        ([0.3], np.nan, np.nan, (np.nan, np.nan)),
        ([0.0, 0.0], 1.0, 0.0, (-0.841886, 0.841886)),
        ([0.5, 0.5], 0.5, np.nan, (-0.762829, 0.920943)),
        ([1.0, 1.0, 1.0], 0.25, np.nan, (-0.415196, 1.0)),
        ([-1.0] * 20, 2**-19, np.nan, (-1.0, -0.663133)),
        ([0.25] * 10, 2**-9, np.nan, (np.nan, np.nan)),
        ([0.5] * 5000, np.finfo(float).tiny, np.nan, (0.498894, 0.500369)),
    ],
)
def test_equal_differences_have_the_p_value_of_flips_and_never_an_interval_of_one_point(values, p, effect, ends):
    sums = student.Sums.of(np.array(values), np.ones(len(values)))
    np.testing.assert_array_equal(student.p_value(sums), [p])
    np.testing.assert_array_equal(student.effect(sums), [effect])
    np.testing.assert_allclose(np.ravel(student.interval(sums, 0.95, (-1, 1))), ends, atol=1e-6)
    assert np.isnan([*student.interval(sums, 0.95), *student.interval(sums, 0.95, (-1, np.inf))]).all()
    assert np.isnan(power.detectable(sums, 0.95))


@pytest.mark.parametrize("seed", range(10))
def test_intervals_of_equal_bounds_are_clopper_and_pearsons(seed):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    count = int(np.random.default_rng(seed).integers(2, 300))
    result = np.ravel(student.interval(sums_of(np.ones(count)), 0.9, (0, 1)))
    np.testing.assert_allclose(result, proportion.proportion_confint(count, count, 0.1, "beta"), rtol=1e-9)


@pytest.mark.parametrize("weight", [1e7, 1e8, 1e100])
@pytest.mark.parametrize("clusters", [None, range(7)])
def test_one_list_that_weighs_all_tells_nothing(weight, clusters):
    sums = student.Sums.of(np.array([-0.5, 0, 0.5, 0.5, 0.25, 0.5, 0.5]), np.array([weight, *np.ones(6)]), clusters)
    missing = [student.p_value(sums), *student.interval(sums, 0.95, (-1, 1)), power.detectable(sums, 0.95)]
    assert np.isnan([*missing, *wilson(sums, 0.95)]).all()


@pytest.mark.parametrize("hits", [0, 4, 7, 25, 50])
def test_shares_have_wilsons_interval(hits):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    values = np.repeat([1.0, 0.0], [hits, 50 - hits])
    expected = proportion.proportion_confint(hits, 50, 0.05, "wilson")
    np.testing.assert_allclose(np.ravel(wilson(sums_of(values), 0.95)), expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(
        np.ravel(wilson(sums_of(values, np.full(50, 0.3)), 0.95)), expected, rtol=1e-9, atol=1e-15
    )
    # Ten lists of a cluster that are all alike tell as much as one.
    tenfold = student.Sums.of(np.repeat(values, 10), np.ones(500), np.repeat(np.arange(50), 10))
    np.testing.assert_allclose(np.ravel(wilson(tenfold, 0.95)), expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("hits", [1, 2, 3])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_few_hits_have_poissons_end(hits, confidence):
    stats, proportion = pytest.importorskip("scipy.stats"), pytest.importorskip("statsmodels.stats.proportion")
    _, high = proportion.proportion_confint(hits, 60, 1 - confidence, "wilson")
    (low,) = stats.gamma(hits).ppf([1 - confidence]) / 60
    values = np.repeat([1.0, 0.0], [hits, 60 - hits])
    assert np.ravel(wilson(sums_of(values), confidence)) == pytest.approx([low, high], rel=1e-9)
    assert np.ravel(wilson(sums_of(1 - values), confidence)) == pytest.approx([1 - high, 1 - low], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("count", [*range(50, 70), 100, 122, 200, 1000])
def test_wilsons_interval_holds_nearly_every_share_as_often_as_it_says(count):
    from scipy import stats

    hits = np.arange(count + 1)
    every = [np.repeat([1.0, 0.0], [hit, count - hit]) for hit in hits]
    ends = [np.ravel(wilson(student.Sums.of(values, np.ones(count)), 0.95)) for values in every]
    low, high = np.array(ends).T
    shares = np.arange(0.01, 0.995, 0.01)
    covers = [stats.binom.pmf(hits, count, share)[(low <= share) & (share <= high)].sum() for share in shares]
    assert min(covers) >= 0.9
    assert 0.94 < np.mean(covers) < 0.96


@pytest.mark.filterwarnings("error")
def test_no_list_at_all():
    sums = student.Sums(*[np.zeros(1)] * 8)
    assert np.isnan(
        [sums.mean, student.p_value(sums), *student.interval(sums, 0.95, (0, 1)), power.detectable(sums, 0.95)]
    ).all()
    assert np.isnan(wilson(sums, 0.95)).all()


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")])
@pytest.mark.parametrize("seed", range(10))
def test_corrections_equal_statsmodels(ours, theirs, seed):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    random = np.random.default_rng(seed)
    p = random.choice([random.random(), 0.01, *random.random(8)], size=int(random.integers(1, 12)))
    np.testing.assert_allclose(correction.adjusted(p, ours), multitest.multipletests(p, method=theirs)[1], rtol=1e-12)


def test_differences_of_rounding_are_none():
    sums = {"lists": 3.0, "difference": 3e-16, "baseline": 1.5, "squares": 3e-32, "wins": 0.0, "losses": 0.0}
    pair = paired_sums.Pair(0, 1, 0)
    columns = {f"{name} {pair.difference}": [one] for name, one in sums.items()}
    frame = nw.from_native(pytest.importorskip("polars").DataFrame(columns))
    parts = paired_sums.sums_of(frame, [pair])
    result = paired_sums.statistics(parts)
    assert (student.p_value(result).item(), student.effect(result).item()) == (1.0, 0.0)
    low, high = student.interval(result, 0.95, (-1, 1))
    assert low == -high < 0
    assert parts["ties"].item() == 3.0


def test_missing_p_values_do_not_count():
    result = correction.adjusted(np.array([0.02, np.nan, 0.5]), "bonferroni")
    np.testing.assert_array_equal(result, [0.04, np.nan, 1.0])


def test_the_detectable_difference_is_found_four_times_of_five():
    from scipy import stats

    values = np.random.default_rng(2).normal(size=40)
    sums = sums_of(values)
    result = power.detectable(sums, 0.95) / sums.standard_error
    degrees = 39
    reached = stats.nct.sf(stats.t.ppf(0.975, degrees), degrees, result) + stats.nct.cdf(
        -stats.t.ppf(0.975, degrees), degrees, result
    )
    assert reached == pytest.approx(0.8, rel=1e-9)


def test_detectable_differences_of_several_columns_are_those_of_each():
    random = np.random.default_rng(0)
    every = [sums_of(random.normal(size=size)) for size in (2, 30, 200)]
    names = [field.name for field in dataclasses.fields(student.Sums)]
    together = student.Sums(**{name: np.concatenate([getattr(sums, name) for sums in every]) for name in names})
    alone = np.concatenate([power.detectable(sums, 0.95) for sums in every])
    np.testing.assert_allclose(power.detectable(together, 0.95), alone, rtol=1e-12)


def units_of(*columns):
    totals = np.column_stack(columns)
    return resampling.Units(np.nan_to_num(totals), (~np.isnan(totals)).astype(float))


@pytest.mark.parametrize("seed", range(5))
def test_exact_randomization_equals_scipy(seed):
    from scipy import stats

    values = np.random.default_rng(seed).normal(0.4, 1, 10)
    expected = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf)
    *_, p = resampling.randomization(units_of(values), 10_000, 0, 0.9)
    np.testing.assert_allclose(p, [expected.pvalue], rtol=1e-9)


def test_differences_that_cancel_have_a_p_value_of_1():
    values = np.array([0.1, 0.2, -0.1, -0.2])
    assert values.sum() != 0
    np.testing.assert_array_equal(resampling.randomization(units_of(values), 10_000, 0, 0.9)[2], [1.0])


def test_drawn_randomization_is_within_its_monte_carlo_error():
    values = np.random.default_rng(4).normal(0.7, 1, 12)
    *_, exact = resampling.randomization(units_of(values), 10_000, 0, 0.9)
    *_, drawn = resampling.randomization(units_of(values), 4_000, 0, 0.9)
    assert 0.01 < exact < 0.2
    assert abs(drawn - exact) < 4 * np.sqrt(exact * (1 - exact) / 4_000)


def times_drawn(count, resamples, seed):
    """Return how often each resample draws each unit: all columns with a value in the same lists share the draws."""
    means = resampling._drawn_means(resampling.Units(np.eye(count), np.ones((count, count))), resamples, seed)
    return np.rint(means * count).astype(int)


def plain_bca(totals, weights, times, confidence):
    """Return the ends of the BCa interval of a ratio of sums, by Efron and Tibshirani's formulas."""
    from fractions import Fraction
    from statistics import NormalDist

    totals, weights = [Fraction(one) for one in totals], [Fraction(one) for one in weights]
    mean = sum(totals) / sum(weights)
    draws = sorted(
        sum(n * t for n, t in zip(row, totals, strict=True)) / sum(n * w for n, w in zip(row, weights, strict=True))
        for row in times.tolist()
    )
    bias = NormalDist().inv_cdf(
        (sum(draw < mean for draw in draws) + sum(draw <= mean for draw in draws)) / 2 / len(draws)
    )
    pairs = list(zip(totals, weights, strict=True))
    left_out = [(sum(totals) - t) / (sum(weights) - w) for t, w in pairs]
    middle = sum(left_out) / len(left_out)
    cubes, squares = (float(sum((middle - one) ** power for one in left_out)) for power in (3, 2))
    acceleration = cubes / (6 * squares**1.5)
    ends = []
    for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
        shifted = bias + NormalDist().inv_cdf(tail)
        place = NormalDist().cdf(bias + shifted / (1 - acceleration * shifted)) * (len(draws) - 1)
        lower = min(int(place), len(draws) - 2)
        ends.append(float(draws[lower] + Fraction(place - lower) * (draws[lower + 1] - draws[lower])))
    return ends


VALUES = {
    "skewed": lambda random, size: random.exponential(size=size) - 0.5,
    "0 and 1": lambda random, size: (np.arange(size) < 2 + size // 8).astype(float),
    "-1, 0 and 1": lambda random, size: random.choice([-1.0, 0.0, 0.0, 1.0], size),
    "thirds": lambda random, size: random.choice([-1 / 3, 0.0, 1 / 3, 2 / 3], size),
}


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("size", [9, 30])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_bca_is_exact_at_fixed_draws(values, size, confidence):
    from types import SimpleNamespace

    from scipy import stats

    result = VALUES[values](np.random.default_rng(8), size)
    times = times_drawn(size, 300, 5)
    assert (times.sum(axis=1) == size).all()
    bounds = np.ravel(resampling.bootstrap(units_of(result), 300, 5, confidence, "bca")[:2])
    # Thirds as numbers of Python are none: sums of them tie only up to rounding, so the plain sums read sixths.
    whole = [float(round(6 * one)) if values == "thirds" else one for one in result]
    expected = plain_bca(whole, [6.0 if values == "thirds" else 1.0] * size, times, confidence)
    np.testing.assert_allclose(bounds, expected, rtol=1e-9, atol=1e-12)
    if values != "thirds":
        given = SimpleNamespace(bootstrap_distribution=times @ result / size)
        theirs = stats.bootstrap(
            (result,), np.mean, n_resamples=0, bootstrap_result=given, method="BCa", confidence_level=confidence
        )
        np.testing.assert_allclose(bounds, theirs.confidence_interval, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("clustered", [False, True])
def test_bca_of_weights_and_clusters_is_exact_at_fixed_draws(clustered):
    random = np.random.default_rng(9)
    weights = random.integers(1, 6, 24).astype(float)
    totals = weights * random.exponential(size=24)
    clusters = np.array([f"u{place // 3}" for place in range(24)], dtype=object) if clustered else None
    units = resampling.Units(totals[:, None], weights[:, None], clusters)
    bounds = np.ravel(resampling.bootstrap(units, 300, 2, 0.9, "bca")[:2])
    if clustered:
        totals, weights = totals.reshape(8, 3).sum(axis=1), weights.reshape(8, 3).sum(axis=1)
    expected = plain_bca(totals, weights, times_drawn(len(totals), 300, 2), 0.9)
    np.testing.assert_allclose(bounds, expected, rtol=1e-9)


def test_percentile_intervals_are_exact_at_fixed_draws():
    values = np.random.default_rng(4).exponential(size=40)
    draws = times_drawn(40, 500, 3) @ values / 40
    low, high, _ = resampling.bootstrap(units_of(values), 500, 3, 0.9, "percentile")
    np.testing.assert_allclose([low[0], high[0]], np.quantile(draws, [0.05, 0.95]), rtol=1e-12)


@pytest.mark.parametrize("test", ["percentile", "bca", "randomization"])
@pytest.mark.parametrize("lists", [3, 7, 30])
@pytest.mark.parametrize("values", VALUES)
def test_an_interval_holds_0_where_the_p_value_does_not_reject_it(test, lists, values):
    random = np.random.default_rng(6)
    for shift in (0.0, -0.5, *random.normal(size=4)):
        result = VALUES[values](random, lists) + shift
        weights = random.choice([np.ones(lists), random.random(lists) + 0.2])
        units = resampling.Units((result * weights)[:, None], weights[:, None])

        def tested(confidence, units=units):
            if test == "randomization":
                return np.ravel(resampling.randomization(units, 400, 1, confidence))
            return np.ravel(resampling.bootstrap(units, 400, 1, confidence, test))

        p = tested(0.5)[2]
        confidences = [0.5, 0.8, 0.9, 0.95, 0.99, 1 - 0.999 * p, 1 - 1.001 * p]
        for confidence in [one for one in confidences if 0 < one < 1 - 1 / 401]:
            low, high, same = tested(confidence)
            assert same == p
            assert (low <= 0 <= high) == (p >= 1 - confidence), (shift, confidence, p)


@pytest.mark.parametrize("count", [5, 9])
def test_the_interval_of_flips_holds_the_means_that_flips_do_not_reject(count):
    random = np.random.default_rng(7)
    totals, weights = random.normal(0.3, 1, (count, 1)), random.random((count, 1)) + 0.5
    low, high, _ = np.ravel(resampling.randomization(resampling.Units(totals, weights), 600, 0, 0.8))
    for mean in (low - 1e-6, low + 1e-6, totals.sum() / weights.sum(), high - 1e-6, high + 1e-6):
        signs = np.array(list(itertools.product([-1, 1], repeat=count)))
        shifted = (totals - mean * weights)[:, 0]
        p = (abs(signs @ shifted) >= abs(shifted.sum()) * (1 - 1e-12)).mean()
        assert (p >= 1 - 0.8) == (low <= mean <= high)


def test_columns_share_their_draws_where_they_have_values_in_the_same_lists():
    random = np.random.default_rng(5)
    a = random.normal(size=50)
    b = np.where(np.arange(50) < 30, a, np.nan)
    both = resampling.bootstrap(units_of(a, a, b), 1_000, 0, 0.95, "percentile")
    assert both[0][0] == both[0][1] != both[0][2]
    *_, p = resampling.randomization(units_of(a, b), 1_000, 0, 0.9)
    assert p[0] != p[1]


@pytest.mark.parametrize("lists", [6, 40])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_column_is_drawn_as_if_it_were_alone(lists, clustered, seed):
    random = np.random.default_rng(seed)
    totals = random.normal(size=(lists, 4))
    weights = np.column_stack([np.ones((lists, 2)), random.random((lists, 2))])
    weights[random.random((lists, 4)) < 0.5] = 0.0
    clusters = random.integers(0, lists // 2, lists)
    totals *= weights > 0

    def drawn(columns, kept):
        units = resampling.Units(
            totals[kept][:, columns], weights[kept][:, columns], clusters[kept] if clustered else None
        )
        bounds = [resampling.bootstrap(units, 200, 7, 0.9, interval) for interval in ("percentile", "bca")]
        return np.column_stack([*bounds[0], *bounds[1], *resampling.randomization(units, 200, 7, 0.9)])

    together = drawn([0, 1, 2, 3], np.full(lists, fill_value=True))
    for column in range(4):
        np.testing.assert_array_equal(drawn([column], weights[:, column] > 0)[0], together[column])


def test_a_bar_of_a_terminal_says_how_far_the_draws_are(monkeypatch, capsys):
    pytest.importorskip("tqdm")
    units = resampling.Units(np.ones((40, 1)), np.ones((40, 1)))
    resampling.randomization(units, 6_000, 0, 0.9)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(_progress, "QUIET", 0)
    resampling.randomization(units, 6_000, 0, 0.9)
    assert "6000/6000" in capsys.readouterr().err


def numbers_drawn(size, units, resamples):
    """Return how often each of these sets of units is drawn by each resample."""
    totals = np.column_stack([np.isin(np.arange(size), one) for one in units]).astype(float)
    means = resampling._drawn_means(resampling.Units(totals, np.ones(totals.shape)), resamples, 3)
    result = np.rint(means * size)
    np.testing.assert_allclose(means * size, result, atol=1e-9)
    return result


def goodness_of_fit(found, probabilities):
    """Return the p-value of the chi-square test of counts that are expected to have these probabilities."""
    from scipy import stats

    expected = probabilities * len(found)
    counts = np.bincount(found.astype(int), minlength=len(expected))
    rare = expected < 5
    if rare.any():
        expected, counts = (np.append(column[~rare], column[rare].sum()) for column in (expected, counts))
    return stats.chisquare(counts[expected > 1e-6], expected[expected > 1e-6]).pvalue


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_bootstrap_draws_every_sample_of_few_units_as_often_as_a_multinomial_does(size):
    from itertools import product

    from scipy import stats

    result = numbers_drawn(size, range(size), 20_000)
    samples = [one for one in product(range(size + 1), repeat=size) if sum(one) == size]
    places = {sample: place for place, sample in enumerate(samples)}
    expected = stats.multinomial.pmf(samples, size, np.full(size, 1 / size))
    drawn = np.array([places[tuple(row)] for row in result.astype(int).tolist()])
    assert len(samples) == 1 or goodness_of_fit(drawn, expected) > 0.001


@pytest.mark.parametrize("size", [2, 127, 128, 129, 255, 256, 257, 513])
@pytest.mark.parametrize("section", [2**15, 256])
def test_bootstrap_draws_units_at_the_borders_of_blocks_as_often_as_any(size, section, monkeypatch):
    from scipy import stats

    monkeypatch.setattr(draws, "SECTION", section)
    borders = sorted({place for border in (1, 128, 256, 512, size) for place in (border - 1, border) if place < size})
    sets = [[place] for place in borders] + [range(min(size, 128)), range(size // 2), range(size)]
    result = numbers_drawn(size, sets, 4_000)
    for units, column in zip(sets, result.T, strict=True):
        chances = stats.binom.pmf(np.arange(size + 1), size, len(units) / size)
        assert len(units) == size or goodness_of_fit(column, chances) > 0.0005
    assert (result[:, -1] == size).all()


def test_bootstrap_draws_units_independently_of_each_other(monkeypatch):
    monkeypatch.setattr(draws, "UNITS_OF_BLOCK", 4)
    monkeypatch.setattr(draws, "SECTION", 16)
    monkeypatch.setattr(draws, "RESAMPLES_AT_ONCE", 999)
    size, resamples = 37, 20_000
    result = numbers_drawn(size, range(size), resamples)
    assert (result.sum(axis=1) == size).all()
    expected = np.eye(size) - 1 / size
    # A covariance of N draws has the variance (σ²σ² + cov²) / N, and a bit more for counts, as they are skewed.
    error = np.sqrt((np.outer(expected.diagonal(), expected.diagonal()) + 2 * expected**2) / resamples)
    assert (np.abs(np.cov(result.T) - expected) / error).max() < 4.5


@pytest.mark.parametrize("alike", [True, False], ids=["equal weights", "weights"])
def test_draws_do_not_depend_on_the_number_of_threads(alike, monkeypatch):
    random = np.random.default_rng(6)
    monkeypatch.setattr(draws, "SECTION", 2**10)
    units = units_of(random.normal(size=2 * draws.SECTION + 300))
    if not alike:
        units = resampling.Units(units.totals, random.random(units.weights.shape))
    monkeypatch.setattr(resampling, "BATCH", 20)

    def drawn(threads):
        monkeypatch.setattr("os.cpu_count", lambda: threads)
        bootstrap = resampling.bootstrap(units, 110, 7, 0.9, "percentile")
        return np.ravel([*bootstrap, *resampling.randomization(units, 110, 7, 0.9)])

    one, three = drawn(1), drawn(3)
    assert not np.isnan(one).any()
    np.testing.assert_array_equal(one, three)


@pytest.mark.filterwarnings("error")
def test_resampling_of_too_little():
    nothing = units_of(np.array([np.nan, np.nan]), np.array([0.5, np.nan]))
    low, high, p = resampling.bootstrap(nothing, 100, 0, 0.95, "bca")
    assert np.isnan([low, high, p]).all()
    np.testing.assert_array_equal(resampling.randomization(nothing, 100, 0, 0.9)[2], [np.nan, 1.0])


@pytest.mark.parametrize("level", [0.05, 0.06, 0.25, 0.4])
def test_the_critical_statistic_is_the_largest_whose_p_value_is_not_below_the_level(level):
    # Of 19 flips, p-values are multiples of 0.05.
    distribution = LargestFlipped([np.random.default_rng(0).normal(size=(10, 2))], 19, 0)
    critical = distribution.critical(level)
    assert distribution.p_values(critical) >= level
    assert np.isinf(critical) or distribution.p_values(critical * 1.000001) < level
