"""Intervals, tests and corrections from sums, against SciPy and statsmodels."""

import numpy as np
import pytest

pytest.importorskip("scipy")
import narwhals as nw

from recframe import _progress
from recframe._comparison import paired_sums
from recframe._statistics import correction, resampling, student


def sums_of(values, weights=None, clusters=None):
    """Return the sums over lists as the plan would give them, by a loop."""
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, float)
    weight, total = weights.sum(), (weights * values).sum()
    residuals = weights * (values - total / weight)
    groups = range(len(values)) if clusters is None else clusters
    units = {group: sum(r for r, g in zip(residuals, groups, strict=True) if g == group) for group in groups}
    entry = {
        "lists": len(values),
        "weight": weight,
        "weight_squares": (weights**2).sum(),
        "total": total,
        "squares": (residuals * (values - total / weight)).sum(),
        "residual_squares": sum(r**2 for r in units.values()),
    }
    arrays = {name: np.array([value], float) for name, value in entry.items()}
    return student.Sums(**arrays, clusters=None if clusters is None else np.array([len(units)], float))


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
def test_clusters_equal_a_cluster_robust_regression_on_a_constant(seed, weighted):
    models = pytest.importorskip("statsmodels.api")
    random = np.random.default_rng(seed)
    count = int(random.integers(5, 60))
    values, clusters = random.normal(size=count), random.integers(0, count // 2 + 1, count)
    weights = random.random(count) + 0.1 if weighted else None
    if len(set(clusters)) < 2:
        clusters[0] = count
    model = models.WLS(values, np.ones(count), weights=1.0 if weights is None else weights)
    expected = model.fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    sums = sums_of(values, weights, clusters)
    np.testing.assert_allclose(sums.mean, expected.params, rtol=1e-9)
    np.testing.assert_allclose(sums.standard_error, expected.bse, rtol=1e-9)
    np.testing.assert_allclose(student.p_value(sums), expected.pvalues, rtol=1e-8)
    np.testing.assert_allclose(np.ravel(student.interval(sums, 0.95)), np.ravel(expected.conf_int(0.05)), rtol=1e-8)


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
    ("values", "p", "effect"), [([0.3], np.nan, np.nan), ([0.0, 0.0], 1.0, 0.0), ([0.5, 0.5, 0.5], 0.0, np.nan)]
)
def test_degenerate_differences(values, p, effect):
    sums = sums_of(np.array(values))
    np.testing.assert_array_equal(student.p_value(sums), [p])
    np.testing.assert_array_equal(student.effect(sums), [effect])
    low, high = student.interval(sums, 0.95)
    assert np.isnan(low) if len(values) == 1 else low == high == values[0]


@pytest.mark.filterwarnings("error")
def test_no_list_at_all():
    nothing = np.zeros(1)
    sums = student.Sums(nothing, nothing, nothing, nothing, nothing, nothing)
    assert np.isnan(
        [sums.mean, student.p_value(sums), *student.interval(sums, 0.95), student.detectable(sums, 0.95)]
    ).all()


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")])
@pytest.mark.parametrize("seed", range(10))
def test_corrections_equal_statsmodels(ours, theirs, seed):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    random = np.random.default_rng(seed)
    p = random.choice([random.random(), 0.01, *random.random(8)], size=int(random.integers(1, 12)))
    np.testing.assert_allclose(correction.adjusted(p, ours), multitest.multipletests(p, method=theirs)[1], rtol=1e-12)


def test_differences_of_rounding_are_none():
    sums = {"lists": 3.0, "model": 1.5, "baseline": 1.5 - 3e-16, "squares": 3e-32, "wins": 0.0, "losses": 0.0}
    frame = nw.from_native(pytest.importorskip("polars").DataFrame({f"{name} 0": [one] for name, one in sums.items()}))
    found, parts = paired_sums.statistics(frame, 0, clustered=False)
    assert (student.p_value(found).item(), student.effect(found).item()) == (1.0, 0.0)
    assert np.ravel(student.interval(found, 0.95)).tolist() == [0.0, 0.0]
    assert parts["ties"].item() == 3.0


def test_missing_p_values_do_not_count():
    found = correction.adjusted(np.array([0.02, np.nan, 0.5]), "bonferroni")
    np.testing.assert_array_equal(found, [0.04, np.nan, 1.0])


def test_the_detectable_difference_is_found_four_times_of_five():
    from scipy import stats

    values = np.random.default_rng(2).normal(size=40)
    sums = sums_of(values)
    found = student.detectable(sums, 0.95) / sums.standard_error
    degrees = 39
    power = stats.nct.sf(stats.t.ppf(0.975, degrees), degrees, found) + stats.nct.cdf(
        -stats.t.ppf(0.975, degrees), degrees, found
    )
    assert 0.79 < power < 0.81


def units_of(*columns):
    totals = np.column_stack(columns)
    return resampling.Units(np.nan_to_num(totals), (~np.isnan(totals)).astype(float))


@pytest.mark.parametrize("seed", range(5))
def test_exact_randomization_equals_scipy(seed):
    from scipy import stats

    values = np.random.default_rng(seed).normal(0.4, 1, 10)
    expected = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf)
    np.testing.assert_allclose(resampling.randomization(units_of(values), 10_000, 0), [expected.pvalue], rtol=1e-9)


def test_drawn_randomization_is_within_its_monte_carlo_error():
    values = np.random.default_rng(4).normal(0.7, 1, 12)
    (exact,) = resampling.randomization(units_of(values), 10_000, 0)
    (drawn,) = resampling.randomization(units_of(values), 4_000, 0)
    assert 0.01 < exact < 0.2
    assert abs(drawn - exact) < 4 * np.sqrt(exact * (1 - exact) / 4_000)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_intervals_equal_scipy_within_their_monte_carlo_error(method):
    from scipy import stats

    values = np.random.default_rng(4).exponential(size=200)
    expected = stats.bootstrap((values,), np.mean, n_resamples=20_000, method=method, rng=1).confidence_interval
    low, high, p = resampling.bootstrap(units_of(values), 20_000, 0, 0.95, method)
    width = expected.high - expected.low
    assert abs(low[0] - expected.low) < 0.03 * width
    assert abs(high[0] - expected.high) < 0.03 * width
    assert p[0] == 1 / 20_001


def test_columns_share_their_draws_and_lists_without_a_value_are_left_out():
    random = np.random.default_rng(5)
    a = random.normal(size=50)
    b = np.where(np.arange(50) < 30, a, np.nan)
    both = resampling.bootstrap(units_of(a, a, b), 1_000, 0, 0.95, "percentile")
    assert both[0][0] == both[0][1]
    alone = resampling.bootstrap(units_of(a[:30]), 1_000, 0, 0.95, "percentile")
    assert abs(both[0][2] - alone[0][0]) < 0.1
    p = resampling.randomization(units_of(a, b), 1_000, 0)
    assert p[0] != p[1]


def test_a_bar_of_a_terminal_says_how_far_the_draws_are(monkeypatch, capsys):
    pytest.importorskip("tqdm")
    units = resampling.Units(np.ones((40, 1)), np.ones((40, 1)))
    resampling.randomization(units, 6_000, 0)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(_progress, "QUIET", 0)
    resampling.randomization(units, 6_000, 0)
    assert "6000/6000" in capsys.readouterr().err


def numbers_drawn(size, units, resamples):
    """Return how often each of these sets of units is drawn by each resample."""
    totals = np.column_stack([np.isin(np.arange(size), one) for one in units]).astype(float)
    means = resampling._drawn_means(resampling.Units(totals, np.ones(totals.shape)), resamples, 3)
    found = np.rint(means * size)
    np.testing.assert_allclose(means * size, found, atol=1e-9)
    return found


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

    found = numbers_drawn(size, range(size), 20_000)
    samples = [one for one in product(range(size + 1), repeat=size) if sum(one) == size]
    places = {sample: place for place, sample in enumerate(samples)}
    expected = stats.multinomial.pmf(samples, size, np.full(size, 1 / size))
    drawn = np.array([places[tuple(row)] for row in found.astype(int).tolist()])
    assert len(samples) == 1 or goodness_of_fit(drawn, expected) > 0.001


@pytest.mark.parametrize("size", [2, 127, 128, 129, 255, 256, 257, 513])
@pytest.mark.parametrize("section", [2**15, 256])
def test_bootstrap_draws_units_at_the_borders_of_blocks_as_often_as_any(size, section, monkeypatch):
    from scipy import stats

    monkeypatch.setattr(resampling, "SECTION", section)
    borders = sorted({place for border in (1, 128, 256, 512, size) for place in (border - 1, border) if place < size})
    sets = [[place] for place in borders] + [range(min(size, 128)), range(size // 2), range(size)]
    found = numbers_drawn(size, sets, 4_000)
    for units, column in zip(sets, found.T, strict=True):
        chances = stats.binom.pmf(np.arange(size + 1), size, len(units) / size)
        assert len(units) == size or goodness_of_fit(column, chances) > 0.0005
    assert (found[:, -1] == size).all()


def test_bootstrap_draws_units_independently_of_each_other(monkeypatch):
    monkeypatch.setattr(resampling, "BLOCK", 4)
    monkeypatch.setattr(resampling, "SECTION", 16)
    monkeypatch.setattr(resampling, "TOGETHER", 999)
    size, resamples = 37, 20_000
    found = numbers_drawn(size, range(size), resamples)
    assert (found.sum(axis=1) == size).all()
    expected = np.eye(size) - 1 / size
    # A covariance of N draws has the variance (σ²σ² + cov²) / N, and a bit more for counts, as they are skewed.
    error = np.sqrt((np.outer(expected.diagonal(), expected.diagonal()) + 2 * expected**2) / resamples)
    assert (np.abs(np.cov(found.T) - expected) / error).max() < 4.5


@pytest.mark.parametrize("alike", [True, False], ids=["equal weights", "weights"])
def test_draws_do_not_depend_on_the_number_of_threads(alike, monkeypatch):
    random = np.random.default_rng(6)
    monkeypatch.setattr(resampling, "SECTION", 2**10)
    units = units_of(random.normal(size=2 * resampling.SECTION + 300))
    if not alike:
        units = resampling.Units(units.totals, random.random(units.weights.shape))
    monkeypatch.setattr(resampling, "BATCH", 20)

    def drawn(threads):
        monkeypatch.setattr("os.cpu_count", lambda: threads)
        bootstrap = resampling.bootstrap(units, 110, 7, 0.9, "percentile")
        return np.ravel([*bootstrap, resampling.randomization(units, 110, 7)])

    one, three = drawn(1), drawn(3)
    assert not np.isnan(one).any()
    np.testing.assert_array_equal(one, three)


@pytest.mark.filterwarnings("error")
def test_resampling_of_too_little():
    nothing = units_of(np.array([np.nan, np.nan]), np.array([0.5, np.nan]))
    low, high, p = resampling.bootstrap(nothing, 100, 0, 0.95, "bca")
    assert np.isnan([low, high, p]).all()
    np.testing.assert_array_equal(resampling.randomization(nothing, 100, 0), [np.nan, 1.0])
