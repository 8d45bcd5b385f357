"""Prints how often tests and intervals of `compare` and `describe` are wrong, and estimates: the tables of the pages.

``python tools/simulation.py`` draws from distributions whose mean is known, in about half an hour. With a file of
ratings, ``python tools/simulation.py ratings.parquet``, it prints the table of real lists first: two models recommend
films to each user on each day, and lists, or users with all of their days, are drawn with replacement from their
differences in NDCG@10, which are shifted so that the true difference is known.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import recframe
from recframe._inference.comparison.doubts import are_uneven, few_differ
from recframe._inference.fusion.tune import Lists
from recframe._inference.lists.claims import correction_factor
from recframe._inference.lists.paired_sums import statistics
from recframe._inference.ranks.rank_models import Means
from recframe._inference.ranks.runs import means_of_runs
from recframe._inference.statistics import anytime, resampling, student
from recframe._inference.statistics import power as power_of_tests
from recframe._inference.statistics.correction import adjusted
from recframe._inference.statistics.crossed import CrossedSums, Runs
from recframe._inference.statistics.paired_hits import PairedHits
from recframe._inference.statistics.prediction_powered import Values, prediction_powered
from recframe._inference.statistics.rank_intervals import Ranks
from recframe._inference.statistics.ratios import fieller
from recframe._inference.statistics.shrinkage import shrunk
from recframe._inference.statistics.simultaneous import LargestFlipped, MultivariateT
from recframe._inference.statistics.skewness import is_skewed, skewness
from recframe._inference.statistics.stratified import pooled
from recframe._inference.statistics.student import Sums
from recframe._inference.statistics.verdicts import Evidence
from recframe._inference.statistics.wilson import wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

DRAWS = 2_000
LISTS = 200
USERS = 300
CONFIDENCE = 0.95
LIKED = 4
CORRELATION = 0.3
RESAMPLES = 1_000
DIFFERENCES = (-1.0, 1.0)
"""The range of the differences of most metrics."""
LOSS, MARGIN = 0.065, 0.02
LIMIT, NIGHTS = 0.95, 30
ITEMS, SERVED, TOP = 1_000, 20_000, 10
RARE = 0.03
CHANGING = 0.1
SHARES = 100
SOLD = 0.4
STRATIFIED = 4_000

Floats = NDArray[np.float64]
Random = np.random.Generator


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    sys.stdout.write("\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n\n")


def differences(path: str) -> pl.DataFrame:
    """Return the difference in NDCG@10 of two models for each user and day."""
    ratings = pl.read_parquet(path).with_columns(day=pl.from_epoch("timestamp").dt.truncate("1d"))
    first = ratings.group_by("item").agg(popular=pl.len(), liked=pl.col("rating").mean())
    rows = ratings.join(first, on="item").with_columns(relevant=(pl.col("rating") >= LIKED).cast(pl.Int8))
    key = ["user", "day"]
    values = recframe.rec(rows).evaluate("ndcg@10", by=key, per=key, score=["popular", "liked"])
    wide = values.pivot(on="model", index=key, values="ndcg@10").drop_nulls()
    return wide.select("user", difference=pl.col("liked") - pl.col("popular"))


def drawn_users(values: list[Floats], random: Random, shift: float, *, clustered: bool) -> Sums:
    """Return the sums of the lists of users drawn with all of their days."""
    users = [values[place] for place in random.integers(0, len(values), USERS)]
    lists = np.concatenate(users) + shift
    clusters = np.repeat(np.arange(USERS), [len(user) for user in users])
    return Sums.of(lists, np.ones(len(lists)), clusters if clustered else None)


def real_lists(path: str) -> None:
    """Print how the t-test behaves on lists of films."""
    frame = differences(path)
    values = frame["difference"].to_numpy()
    values = values - values.mean()
    by_user = frame.group_by("user", maintain_order=True).agg("difference")["difference"].to_list()
    users = [np.asarray(of_days, dtype=np.float64) for of_days in by_user]
    mean = np.concatenate(users).mean()
    users = [of_days - mean for of_days in users]
    random = np.random.default_rng(1)
    cases: dict[str, Callable[[float], Sums]] = {
        f"{LISTS} lists": lambda shift: Sums.of(random.choice(values, LISTS) + shift, np.ones(LISTS)),
        f"{USERS} users, all of their days": lambda shift: drawn_users(users, random, shift, clustered=False),
        f'{USERS} users, all of their days, `cluster="user"`': lambda shift: drawn_users(
            users, random, shift, clustered=True
        ),
    }
    rows = []
    for name, draw in cases.items():
        draws = [draw(0.0) for _ in range(DRAWS)]
        rejects = np.mean([student.p_value(sums).item() < 1 - CONFIDENCE for sums in draws])
        covers = np.mean([low <= 0 <= high for low, high in (student.interval(sums, CONFIDENCE) for sums in draws)])
        shift = float(np.mean([power_of_tests.detectable(sums, CONFIDENCE).item() for sums in draws[:200]]))
        power = np.mean([student.p_value(draw(shift)).item() < 1 - CONFIDENCE for _ in range(DRAWS)])
        rows.append([name, f"{rejects:.1%}", f"{covers:.1%}", f"{power:.2f}"])
    table(["draws of", "rejects at 0.05, no difference", "interval holds the truth", "power at `detectable`"], rows)


def sizes_of_clusters(distribution: str, shape: tuple[int, int], random: Random) -> Floats:
    """Return how many lists each cluster of each draw has."""
    if distribution == "lognormal":
        return np.maximum(np.exp(random.normal(2, 1, shape)).round(), 1)
    sizes = np.full(shape[1], 20.0) if distribution == "equal" else np.maximum(1000 // np.arange(1, shape[1] + 1), 1)
    return np.broadcast_to(sizes, shape).astype(float)


def sums_of_clusters(sizes: Floats, random: Random) -> Sums:
    """Return the sums of draws without a true difference. Each column is a cluster, whose lists are correlated."""
    totals = sizes * np.sqrt(CORRELATION + (1 - CORRELATION) / sizes) * random.normal(size=sizes.shape)
    weight, total = sizes.sum(axis=1), totals.sum(axis=1)
    residuals = totals - (total / weight)[:, None] * sizes
    missing = np.full(len(sizes), np.nan)
    return Sums(
        lists=weight, weight=weight, weight_squares=weight, total=total, squares=missing,
        residual_squares=(residuals**2).sum(axis=1), unit_weight_squares=(sizes**2).sum(axis=1),
        unit_weight_cubes=(sizes**3).sum(axis=1),
    )  # fmt: skip


def clusters() -> None:
    """Print how often the t-test rejects without a true difference, for clusters of unequal sizes."""
    random, rows = np.random.default_rng(2), []
    counts = (10, 20, 30, 50, 100, 200, 300)
    for distribution in ("equal", "lognormal", "Zipf"):
        cells = []
        for count in counts:
            sizes = sizes_of_clusters(distribution, (20_000, count), random)
            rejects = student.p_value(sums_of_clusters(sizes, random)) < 1 - CONFIDENCE
            cells.append(f"{np.mean(rejects):.1%}")
        rows.append([distribution, *cells])
    table(["sizes", *(f"{count} clusters" for count in counts)], rows)


def sizes_that_gain() -> None:
    """Print how often the interval over clusters contains the true mean if users with many lists gain more."""
    random, rows, draws = np.random.default_rng(26), [], DRAWS // 2
    distributions = {
        "Zipf": np.minimum(random.zipf(2.0, 20_000), 300).astype(float),
        "lognormal": np.maximum(np.exp(random.normal(2, 1, 20_000)).round(), 1),
    }
    for distribution, sizes in distributions.items():
        gains = 0.06 * np.log(sizes)
        for count in (20, 50, 200, 1_000):
            users = random.integers(0, len(sizes), (draws, count))
            size = sizes[users]
            means = gains[users] + 0.15 * random.normal(size=users.shape) / np.sqrt(size)
            weight, total = size.sum(axis=1), (size * means).sum(axis=1)
            residuals = size * (means - (total / weight)[:, None])
            missing = np.full(draws, np.nan)
            sums = Sums(
                lists=weight, weight=weight, weight_squares=weight, total=total, squares=missing,
                residual_squares=(residuals**2).sum(axis=1), unit_weight_squares=(size**2).sum(axis=1),
                unit_weight_cubes=(size**3).sum(axis=1),
            )  # fmt: skip
            low, high = student.interval(sums, CONFIDENCE, (-np.inf, np.inf))
            truth = (gains * sizes).sum() / sizes.sum()
            coverage = np.mean((low <= truth) & (truth <= high))
            low, high = ends_of_t(means)
            coverage_of_users = np.mean((low <= gains.mean()) & (gains.mean() <= high))
            warned = np.mean(are_uneven(count, sums.units))
            effective = np.nanmedian(sums.units)
            shares = (f"{coverage:.1%}", f"{warned:.0%}", f"{coverage_of_users:.1%}")
            rows.append([distribution, f"{count:,}", f"{effective:.0f}", *shares])
    head = [
        "sizes",
        "users",
        "effective",
        "contains the truth",
        "warned",
        "mean of users: contains the truth",
    ]
    table(head, rows)


DISTRIBUTIONS: dict[str, tuple[Callable[[Random, Any], Floats], float]] = {
    "even": (lambda random, shape: np.clip(random.normal(0.1, 0.3, shape), -1, 1), 0.1),
    "a hit more in 3 % of lists": (lambda random, shape: (random.random(shape) < RARE).astype(float), RARE),
    "skewed: Beta(0.1, 2)": (lambda random, shape: random.beta(0.1, 2, shape), 0.1 / 2.1),
}
"""How differences of lists are drawn, and their true mean."""


def intervals(values: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Return the intervals of each test, for each column of values."""
    weights = np.ones(len(values))
    sums = [Sums.of(column, weights) for column in values.T]
    t = np.array([np.ravel(student.interval(each, CONFIDENCE, DIFFERENCES)) for each in sums]).T
    equal = np.array([each.standard_error.item() == 0 for each in sums])
    if np.isin(values, (-1, 0, 1)).all():  # as `compare` does for differences of hits
        shares = [(values == side).mean(axis=0) for side in (1, -1)]
        score = PairedHits(np.full(values.shape[1], float(len(values))), *shares).interval(CONFIDENCE)
        t = np.where(equal, t, score)
    units = resampling.Units(values, np.ones(values.shape))
    resampled = {
        "randomization": resampling.randomization(units, RESAMPLES, 0, CONFIDENCE)[:2],
        "bootstrap": resampling.bootstrap(units, RESAMPLES, 0, CONFIDENCE, "percentile")[:2],
        'bootstrap, `interval="bca"`': resampling.bootstrap(units, RESAMPLES, 0, CONFIDENCE, "bca")[:2],
    }
    cut = {name: student.clip_interval(*ends, values.mean(axis=0), DIFFERENCES) for name, ends in resampled.items()}
    return {"t": (t[0], t[1])} | {
        name: (np.where(equal, t[0], low), np.where(equal, t[1], high)) for name, (low, high) in cut.items()
    }


def few_lists() -> None:
    """Print how often the intervals of each test contain the true difference."""
    random, counts = np.random.default_rng(3), (10, 50, 500)
    for name, (draw, mean) in DISTRIBUTIONS.items():
        rows: dict[str, list[str]] = {}
        for count in counts:
            for test, (low, high) in intervals(draw(random, (count, DRAWS))).items():
                # An interval that is missing claims nothing.
                rows.setdefault(test, []).append(f"{1 - np.mean((low > mean) | (high < mean)):.1%}")
        table([name, *(f"{count} lists" for count in counts)], [[test, *cells] for test, cells in rows.items()])


def coverage_of_hit_intervals(count: int, gained: float, lost: float) -> dict[str, tuple[float, float]]:
    """Return how often 95 % intervals contain the true difference of hit rates, and how often they lie above it.

    Both are exact: they add the probabilities of all numbers of lists that gain and lose a hit, except probabilities
    below 1e-12.
    """
    from scipy import stats

    most = [int(count * share + 8 * np.sqrt(count * share) + 12) if share else 0 for share in (gained, lost)]
    grid = np.meshgrid(*(np.arange(each + 1) for each in most), indexing="ij")
    gains, losses = (each.ravel().astype(float) for each in grid)
    gains, losses = gains[gains + losses <= count], losses[gains + losses <= count]
    outcomes = np.column_stack([gains, losses, count - gains - losses])
    chance = stats.multinomial.pmf(outcomes, count, [gained, lost, 1 - gained - lost])
    gains, losses, chance = (each[chance > 1e-12] for each in (gains, losses, chance))  # noqa: PLR2004 - see above
    sums = [
        Sums.of(np.repeat([1.0, -1.0, 0.0], [int(more), int(fewer), int(count - more - fewer)]), np.ones(count))
        for more, fewer in zip(gains, losses, strict=True)
    ]
    t = np.array([np.ravel(student.interval(each, CONFIDENCE, DIFFERENCES)) for each in sums]).T
    score = PairedHits(np.full(len(gains), float(count)), gains / count, losses / count).interval(CONFIDENCE)
    true = gained - lost
    ends = {"t": t, "score": np.where(gains + losses == 0, t, score)}
    return {
        name: (float(chance[(low <= true) & (true <= high)].sum()), float(chance[low > true].sum()))
        for name, (low, high) in ends.items()
    }


def hits() -> None:
    """Print how often intervals contain the true difference of hit rates, where few lists differ."""
    changes = [(0, 0.005), (0, 0.01), (0, 0.02), (0, 0.05), (0.005, 0.005), (0.005, 0.01), (0.005, 0.02)]
    changes += [(0.01, 0.01), (0.01, 0.02), (0.01, 0.03), (0.02, 0.02), (0.02, 0.05)]
    rows, every = [], []
    for count in (200, 300, 400, 500, 600, 800, 1000, 1200, 1500, 2000):
        for change in changes:
            coverage = coverage_of_hit_intervals(count, *change)
            every.append(coverage)
            if (count, change) in SHOWN_HITS:
                cells = [f"{share:.1%}" for name in ("t", "score") for share in coverage[name]]
                rows.append([f"{count:,}", f"{change[0]:.1%}, {change[1]:.1%}", *cells])
    least = [f"{min(coverage[name][0] for coverage in every):.1%}" for name in ("t", "score")]
    most = [f"{max(coverage[name][1] for coverage in every):.1%}" for name in ("t", "score")]
    rows.append([f"the worst of {len(every)} cases", "", least[0], most[0], least[1], most[1]])
    table(["lists", "gain, lose a hit", *(f"{name}: {what}" for name in ("t", "score") for what in COVERAGE)], rows)


SHOWN_HITS = [(500, (0, 0.01)), (600, (0, 0.005)), (2000, (0, 0.005)), (200, (0.005, 0.02)), (200, (0.01, 0.03))]
"""The lists and the shares of them that gain and lose a hit, of the rows that are printed."""
COVERAGE = ("contains the true difference", "lies above it")


def ends_of_t(values: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the t-test's interval of the mean of each row."""
    from scipy import stats

    count = values.shape[1]
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(count)
    half_width = stats.t.ppf(0.5 + CONFIDENCE / 2, count - 1) * error
    return mean - half_width, mean + half_width


def ranks_and_signs() -> None:
    """Print how often the t-test, Wilcoxon's and the sign test find a difference in means."""
    from scipy import stats

    def uneven(random: Random, shape: tuple[int, int]) -> Floats:
        many = random.random(shape) < 0.8  # noqa: PLR2004 - the share of lists that lose a little
        return np.where(many, -0.05, 0.2) + random.normal(0, 0.05, shape)

    distributions: dict[str, Callable[[Random, tuple[int, int]], Floats]] = {
        "symmetric, no difference": lambda random, shape: random.normal(0, 0.3, shape),
        "80 % lose 0.05, 20 % gain 0.2: no difference": uneven,
        "symmetric, a difference of 0.06": lambda random, shape: random.normal(0.06, 0.3, shape),
        "long tails, a difference of 0.06": lambda random, shape: random.laplace(0.06, 0.21, shape),
    }
    rows = []
    for name, draw in distributions.items():
        for count in (50, 200):
            values = draw(np.random.default_rng(27), (DRAWS // 2, count))
            gain, lose = ((side > 0).sum(axis=1) for side in (values, -values))
            p_values = (
                stats.ttest_1samp(values, 0, axis=1).pvalue,
                stats.wilcoxon(values, axis=1, method="approx").pvalue,
                np.minimum(2 * stats.binom.cdf(np.minimum(gain, lose), gain + lose, 0.5), 1.0),
            )
            rows.append([name, f"{count}", *(f"{np.mean(p < 1 - CONFIDENCE):.0%}" for p in p_values)])
    table(["differences", "lists", "t", "Wilcoxon", "sign test"], rows)


def items_that_vary() -> None:
    """Print how often a t-test over users finds a difference that comes from the choice of items alone.

    Each user has three items. The difference of an item is its effect, whose mean over all items is 0, plus noise.
    """
    random, users, rows = np.random.default_rng(33), 2_000, []
    for count in (500, 5_000):
        shares = 1 / np.arange(1, count + 1)
        cells = []
        for deviation in (0.0, 0.1, 0.3):
            rejected = 0
            for _ in range(DRAWS // 4):
                effects = deviation * random.normal(size=count)
                of_users = effects[random.choice(count, (users, 3), p=shares / shares.sum())]
                values = (of_users + 0.5 * random.normal(size=(users, 3))).mean(axis=1)
                rejected += int(student.p_value(Sums.of(values, np.ones(users))).item() < 1 - CONFIDENCE)
            cells.append(f"{rejected / (DRAWS // 4):.0%}")
        rows.append([f"{count:,}", *cells])
    table(["items", *(f"items' effects deviate by {deviation}" for deviation in (0, 0.1, 0.3))], rows)


def few_changes() -> None:
    """Print how often the verdict is "not worse", and without a warning, if few lists lose exactly the margin."""
    random, rows = np.random.default_rng(24), []
    for count in (50, 200, 500, 2_000):
        cells = []
        for share in (0.01, 0.02, 0.05, 0.2, 0.5):
            draws = 2 * DRAWS if count < 1_000 else DRAWS  # noqa: PLR2004 - as many as memory holds
            lost = random.random((draws, count), dtype=np.float32) < share
            values = np.where(lost, -random.random((draws, count), dtype=np.float32), 0.0)
            low, high = ends_of_t(values)
            # `compare` has another interval if all differences are equal, so draws without a loss do not count.
            called = (low > -share / 2) & lost.any(axis=1)
            warned = few_differ(count, lost.sum(axis=1), high < 0, called)
            cells.append(f"{called.mean():.1%}, {(called & ~warned).mean():.1%}")
        rows.append([f"{count:,}", *cells])
    table(
        ["lists", *(f"{share} lose: false, without a warning" for share in ("1 %", "2 %", "5 %", "20 %", "50 %"))], rows
    )


def tails() -> None:
    """Print how often intervals of values with long tails contain the truth, and how often there is a warning."""

    def money(random: Random, shape: tuple[int, int]) -> Floats:
        return np.asarray(random.lognormal(0, 1.5, shape) * (random.random(shape) < SOLD))

    def gains(random: Random, shape: tuple[int, int]) -> Floats:
        signs = random.choice([-1.0, 0.0, 1.0], shape, p=[0.08, 0.8, 0.12])
        return np.asarray(random.lognormal(0, 1.5, shape) * signs)

    mean = float(np.exp(1.5**2 / 2))
    distributions: dict[str, tuple[Callable[[Random, tuple[int, int]], Floats], float]] = {
        "money": (money, 0.4 * mean),
        "differences of money": (gains, 0.04 * mean),
        "NDCG": (lambda random, shape: np.abs(differences_of_ndcg(random, shape)) * 2, np.nan),
        "differences in NDCG": (differences_of_ndcg, 0.0),
    }
    rows = []
    for name, (draw, true) in distributions.items():
        random, cells = np.random.default_rng(25), []
        truth = float(draw(random, (1, 2_000_000)).mean()) if np.isnan(true) else true
        for count in (50, 200, 2_000):
            values = draw(random, (DRAWS, count))
            low, high = ends_of_t(values)
            skew = skewness(*((values**power).mean(axis=1) for power in (1, 2, 3)))
            covered = (low <= truth) & (truth <= high)
            cells.append(f"{covered.mean():.1%}, {is_skewed(count, skew).mean():.0%}")
        rows.append([name, *cells])
    table(["values", *(f"{count} lists: contains the truth, warned" for count in ("50", "200", "2,000"))], rows)


def shares() -> None:
    """Print how often Wilson's interval contains the true share: the least over all shares, and the mean."""
    from scipy import stats

    truth, rows = np.arange(0.01, 0.995, 0.01), []
    for count in (50, 55, 100, 200, 500, 1000):
        hits = np.arange(count + 1)
        ends = [
            np.ravel(wilson(Sums.of((hits[:count] < hit).astype(float), np.ones(count)), CONFIDENCE)) for hit in hits
        ]
        low, high = np.array(ends).T
        covers = [stats.binom.pmf(hits, count, share)[(low <= share) & (share <= high)].sum() for share in truth]
        rows.append([f"{count}", f"{min(covers):.1%}", f"{np.mean(covers):.1%}"])
    table(["lists", "least, of the shares 0.01, 0.02 … 0.99", "mean over these shares"], rows)


def shares_of_clusters() -> None:
    """Print how often Wilson's interval of weighted lists and of clusters contains the true share."""
    random, rows = np.random.default_rng(5), []
    for name in ("lists with lognormal weights", "clusters of 10, correlated", "clusters of 10, independent"):
        cells = []
        for share in (0.02, 0.1, 0.5):
            covered = 0
            for _ in range(DRAWS):
                if name.startswith("lists"):
                    sums = Sums.of((random.random(200) < share).astype(float), random.lognormal(0, 0.7, 200))
                else:
                    spread = 0.4 if name.endswith("correlated") else 1e9
                    rates = random.beta(share / spread, (1 - share) / spread, 100) if spread < 1 else share
                    hits = random.random((10, 100)) < rates
                    sums = Sums.of(hits.T.ravel().astype(float), np.ones(1000), np.repeat(np.arange(100), 10))
                low, high = np.ravel(wilson(sums, CONFIDENCE))
                covered += bool(low <= share <= high)
            cells.append(f"{covered / DRAWS:.1%}")
        rows.append([name, *cells])
    table(["", "share 0.02", "share 0.1", "share 0.5"], rows)


def alarm() -> None:
    """Print how often the gate ``high < 0`` notices a loss of MRR, for two models whose ranks are correlated."""
    random, rows = np.random.default_rng(4), []

    def ranks(shape: tuple[int, int], shift: float) -> tuple[Floats, Floats]:
        user = random.normal(1.2, 1.0, shape)
        old, new = (1 / np.ceil(np.exp(user + random.normal(0, 1.0, shape) + by)) for by in (0.0, shift))
        return old, new

    shift, step = 0.0, 0.5
    # Search for the shift that loses the share LOSS of the mean.
    while step > MARGIN / 20:
        old, new = ranks((1, 1_000_000), shift + step)
        shift += step if new.mean() > (1 - LOSS) * old.mean() else 0.0
        step /= 2
    for count in (100, 500, 2_000):
        cells = []
        for by in (shift, 0.0):
            old, new = ranks((count, DRAWS), by)
            sums = [Sums.of(column, np.ones(count)) for column in (new - old).T]
            ends = np.array([np.ravel(student.interval(each, CONFIDENCE, DIFFERENCES)) for each in sums])
            cells += [f"{np.mean(ends[:, 1] < 0):.0%}", f"{np.mean(ends[:, 0] < -MARGIN):.0%}"]
        rows.append([f"{count:,}", *cells])
    gates = ["`high < 0`", f"`low < -{MARGIN}`"]
    table(["lists", *(f"{gate}, {loss}" for loss in (f"{LOSS:.1%} lost", "nothing lost") for gate in gates)], rows)


def nightly_gates() -> None:
    """Print how often a gate stops a job, for MRR: a limit of its mean, or of an end of its interval."""
    random, rows = np.random.default_rng(7), []

    def ranks(shape: tuple[int, int], shift: float) -> Floats:
        return 1 / np.ceil(np.exp(random.normal(1.2 + shift, 1.4, shape)))

    usual = float(ranks((1, 4_000_000), 0.0).mean())
    low, high = 0.0, 3.0
    # Search for the shift that loses a fifth of the mean.
    while high - low > MARGIN / 20:
        middle = (low + high) / 2
        low, high = (middle, high) if ranks((1, 1_000_000), middle).mean() > 0.8 * usual else (low, middle)
    for count in (200, 1_000, 5_000):
        cells: list[str] = []
        for shift in (0.0, low):
            sums = [Sums.of(column, np.ones(count)) for column in ranks((count, DRAWS), shift).T]
            ends = np.array([np.ravel(student.interval(each, CONFIDENCE, (0.0, 1.0))) for each in sums])
            below = np.array([each.mean[0] for each in sums]) < LIMIT * usual
            shares = [np.mean(stops) for stops in (below, ends[:, 1] < LIMIT * usual, ends[:, 0] < LIMIT * usual)]
            cells += [f"{share:.0%}" if shift else f"{NIGHTS * share:.1f}" for share in shares]
        rows.append([f"{count:,}", *cells])
    gates = ["the mean", "`high`", "`low`"]
    ends_of = (f"false alarms in {NIGHTS} nights", "a night that lost a fifth is stopped")
    table(["lists", *(f"{gate}: {end}" for end in ends_of for gate in gates)], rows)


def families() -> None:
    """Print how often corrected tests reject any of many true differences of 0, and how many other differences."""
    from scipy import stats

    rows, lists, draws = [], 60, DRAWS // 2
    for tests, correlation in ((5, 0.5), (16, 0.3), (16, 0.7), (40, 0.7)):
        random, effects = np.random.default_rng(9), np.where(np.arange(tests) % 4 == 0, 0.35, 0.0)
        errors: dict[str, float] = {}
        power: dict[str, float] = {}
        for draw in range(draws):
            common = np.sqrt(correlation) * random.normal(size=(lists, 1))
            values = common + np.sqrt(1 - correlation) * random.normal(size=(lists, tests))
            for shift in (0.0, effects):
                moved = values + shift
                p, statistics = stats.ttest_1samp(moved, 0).pvalue, np.abs(moved.sum(axis=0))
                statistics /= np.sqrt((moved**2).sum(axis=0))
                flipped = LargestFlipped([moved], RESAMPLES, draw, [statistics])
                t = MultivariateT([moved - moved.mean(axis=0)], lists - 1, RESAMPLES, draw)
                adjusted_p = (
                    adjusted(p, "holm"), flipped.p_values(statistics), flipped.stepped_down, t.p_values(p),
                )  # fmt: skip
                for name, each in zip(("holm", "maxt", "romano-wolf", "dunnett"), adjusted_p, strict=True):
                    if np.any(shift):
                        power[name] = power.get(name, 0.0) + float(np.mean(each[effects > 0] < 1 - CONFIDENCE))
                    else:
                        errors[name] = errors.get(name, 0.0) + float(np.any(each < 1 - CONFIDENCE))
        cells = [f"{errors[name] / draws:.1%}, {power[name] / draws:.0%}" for name in errors]
        rows.append([f"{tests}", f"{correlation:g}", *cells])
    names = ("holm", "maxt", "romano-wolf", "dunnett")
    table(["tests", "correlation", *(f'`"{name}"`: any false, found' for name in names)], rows)


def fieller_of(differences: Floats, baselines: Floats) -> tuple[Floats, Floats]:
    """Return Fieller's interval of the relative difference, for each row of draws."""
    draws, lists = differences.shape
    count, total, squares = np.full(draws, float(lists)), differences.sum(axis=1), (differences**2).sum(axis=1)
    differences_alone = sums_of_steps(count, total, squares)
    with_baseline = {
        "baseline": baselines.sum(axis=1), "unit_weight_squares": count, "unit_products": total,
        "unit_cross": (differences * baselines).sum(axis=1), "unit_baseline_squares": (baselines**2).sum(axis=1),
        "unit_baseline_products": baselines.sum(axis=1),
    }  # fmt: skip
    half_width = anytime.Student(1 - CONFIDENCE).end(differences_alone, DIFFERENCES, 1 - CONFIDENCE)
    return fieller(differences_alone, with_baseline, half_width)


def score_of(differences: Floats, baselines: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the score interval of the relative difference of hit rates, for each row of draws."""
    gained, lost = ((differences == side).mean(axis=1) for side in (1, -1))
    count = np.full(len(differences), float(differences.shape[1]))
    low, high = PairedHits(count, gained, lost).interval_of_ratio(baselines.mean(axis=1), CONFIDENCE)
    return low - 1, high - 1


def divided(differences: Floats, baselines: Floats) -> tuple[Floats, Floats]:
    """Return the interval of the difference, divided by the baseline's mean, for each row of draws."""
    count, total = np.full(len(differences), float(differences.shape[1])), differences.sum(axis=1)
    low, high = student.interval(sums_of_steps(count, total, (differences**2).sum(axis=1)), CONFIDENCE)
    mean = np.where(baselines.any(axis=1), baselines.mean(axis=1), np.nan)
    return np.asarray(low / mean), np.asarray(high / mean)


def relative() -> None:
    """Print how often intervals contain the true relative difference: Fieller's, and the absolute one divided."""
    random, rows = np.random.default_rng(14), []

    def ranks(shape: tuple[int, int]) -> tuple[Floats, Floats]:
        user = random.normal(1.2, 1.0, shape)
        old, new = (1 / np.ceil(np.exp(user + random.normal(by, 1.0, shape))) for by in (0.0, 0.1))
        return new - old, old

    def hits(shape: tuple[int, int]) -> tuple[Floats, Floats]:
        old = random.random(shape) < 0.1  # noqa: PLR2004 - as the table says
        new = np.where(random.random(shape) < 0.5, old, random.random(shape) < 0.2)  # noqa: PLR2004
        return np.asarray(new * 1.0 - old), np.asarray(old * 1.0)

    wide = ranks((1, 4_000_000))
    truths = {ranks: float(wide[0].mean() / wide[1].mean()), hits: 0.5}
    for count in (20, 50, 200, 1_000):
        cells = []
        for draw, true in truths.items():
            drawn = draw((2 * DRAWS, count))
            ends = [interval(*drawn) for interval in (score_of if draw is hits else fieller_of, divided)]
            # An interval that is missing claims nothing.
            cells += [f"{1 - np.mean((low > true) | (high < true)):.1%}" for low, high in ends]
        rows.append([f"{count:,}", *cells])
    names = (f"MRR, {truths[ranks]:+.1%}", "hits, +50%")
    table(["lists", *(f"{name}: {interval}" for name in names for interval in ("`relative=True`", "divided"))], rows)


LOOKS = 1_000
FIRST, LAST = 100, 100_000
EXPERIMENTS = 1_000
Step = tuple[Floats, Floats, Floats]


def growing_sums(
    distribution: str, random: Random, mean: float, looks: int = LOOKS, runs: int = EXPERIMENTS
) -> Iterable[Step]:
    """Yield the number, the sum and the sum of squares of all differences so far, at each look at growing data."""
    counts = np.unique(np.geomspace(FIRST, LAST, looks).round().astype(int))
    total, squares = np.zeros(runs), np.zeros(runs)
    for count, before in zip(counts, [0, *counts[:-1]], strict=True):
        shape = (runs, count - before)
        if distribution == "even":
            values = np.clip(random.normal(0.0, 0.3, shape), -0.9, 0.9)
        elif distribution == "0 or 1":
            values = (random.random(shape) < RARE).astype(float) - (random.random(shape) < RARE)
        else:
            values = random.beta(0.1, 2, shape) - 0.1 / 2.1
        values = values + mean
        total, squares = total + values.sum(axis=1), squares + (values**2).sum(axis=1)
        yield np.full(runs, float(count)), total, squares


def users_who_return(random: Random, runs: int = EXPERIMENTS) -> Iterable[Sums]:
    """Yield the sums at each of 200 nights. On each, half of 300 users have a list; a user's lists are correlated."""
    user_effects = np.sqrt(CORRELATION) * random.normal(size=(runs, USERS))
    lists, totals = np.zeros((runs, USERS)), np.zeros((runs, USERS))
    for _ in range(200):
        come = random.random((runs, USERS)) < 0.5  # noqa: PLR2004 - half of them
        noise = np.sqrt(1 - CORRELATION) * random.normal(size=user_effects.shape)
        lists, totals = lists + come, totals + come * (user_effects + noise)
        weight, total = lists.sum(axis=1), totals.sum(axis=1)
        residuals = totals - (total / weight)[:, None] * lists
        yield Sums(
            lists=weight, weight=weight, weight_squares=weight, total=total, squares=weight * np.nan,
            residual_squares=(residuals**2).sum(axis=1), unit_weight_squares=(lists**2).sum(axis=1),
            unit_weight_cubes=(lists**3).sum(axis=1),
        )  # fmt: skip


def sums_of_steps(lists: Floats, total: Floats, squares: Floats) -> Sums:
    """Return the sums of lists that weigh the same."""
    spread = squares - total**2 / lists
    return Sums(lists, lists, lists, total, spread, spread, lists, lists)


def lists_at_first_rejection(steps: Iterable[Sums], tests: Sequence[Any]) -> list[Floats]:
    """Return how many lists each test has when it first rejects, in each experiment: infinite if it never does."""
    first: list[Floats] = []
    for sums in steps:
        first = first or [np.full(sums.lists.shape, np.inf) for _ in tests]
        for place, test in enumerate(tests):
            rejects = test.p_value(sums, DIFFERENCES) < 1 - CONFIDENCE
            first[place] = np.where(rejects, np.minimum(first[place], sums.lists), first[place])
    return first


def tests_at_each_look() -> dict[str, Any]:
    """Return the tests that look at growing data again and again."""
    level = 1 - CONFIDENCE
    return {
        '`"t"`': anytime.Student(level),
        '`"anytime"`': anytime.Asymptotic(level, 10_000),
        '`"anytime"`, planned 1,000': anytime.Asymptotic(level, 1_000),
        '`"anytime-bounded"`': anytime.Bounded(level, 10_000),
    }


def looks() -> None:
    """Print how often tests at many looks reject without a true difference, and when they find a true one."""
    tests, rows = tests_at_each_look(), []
    names = {"even": "even", "0 or 1": "0/1: a hit more or less in 3 % of lists each", "skewed": "skewed: Beta(0.1, 2)"}
    for distribution, name in names.items():
        random = np.random.default_rng(11)
        steps = (sums_of_steps(*step) for step in growing_sums(distribution, random, 0.0))
        first = lists_at_first_rejection(steps, list(tests.values()))
        rows.append([name, *(f"{np.isfinite(each).mean():.1%}" for each in first)])
    first = lists_at_first_rejection(users_who_return(np.random.default_rng(12)), list(tests.values())[:3])
    rows.append(["users who come back, clusters", *(f"{np.isfinite(each).mean():.1%}" for each in first), ""])
    table(["no difference, ever rejected", *tests], rows)
    rows = []
    for share in (0.2, 0.1, 0.05, 0.02):
        random, spread = np.random.default_rng(13), 0.3
        steps = (sums_of_steps(*step) for step in growing_sums("even", random, share * spread, 100, EXPERIMENTS // 2))
        planned = 7.849 / share**2
        first = lists_at_first_rejection(steps, list(tests.values())[1:])
        cells = [f"{np.median(each):,.0f}, {np.quantile(each, 0.8, method='higher'):,.0f}" for each in first]
        rows.append([f"{share:g}", f"{planned:,.0f}", *cells])
    names_of = [f"{name}: half, 80 % found by" for name in list(tests)[1:]]
    table(["difference in standard deviations", "t-test at one look, 80 % found", *names_of], rows)
    lists = np.array([100.0, 300.0, 1_000.0, 3_000.0, 10_000.0, 100_000.0, 1_000_000.0])
    sums = sums_of_steps(lists, 0 * lists, 0.3**2 * lists)
    widths = {name: test.end(sums, DIFFERENCES, 1 - CONFIDENCE) for name, test in tests.items()}
    rows = [[name, *(f"{ratio:.2f}" for ratio in (width / widths['`"t"`']).tolist())] for name, width in widths.items()]
    table(["width of the interval, in widths of the t-test's", *(f"{count:,.0f} lists" for count in lists)], rows)


def margins() -> None:
    """Print how often verdicts of one row and of four are false, at the true differences where errors are likeliest."""
    from scipy import stats

    random, rows, lists, margin = np.random.default_rng(8), [], 50, 0.1
    cases: dict[str, tuple[float, set[str]]] = {
        "minus the margin": (-margin, {"better", "equivalent", "not worse"}),
        "0": (0.0, {"better", "worse"}),
        "the margin": (margin, {"equivalent"}),
    }
    for name, (mean, false) in cases.items():
        cells = []
        for size in (1, 4):
            draws = random.normal(mean, 0.3, (10 * DRAWS // size, size, lists))
            means, errors = draws.mean(axis=2), draws.std(axis=2, ddof=1) / np.sqrt(lists)
            p, loss, gain = (2 * stats.t.sf(np.abs(means + by) / errors, lists - 1) for by in (0.0, margin, -margin))
            loss, gain = np.where(means > -margin, loss, 1.0), np.where(means < margin, gain, 1.0)
            verdicts = [
                Evidence(*each).adjusted("holm").verdicts(CONFIDENCE).tolist()
                for each in zip(p, np.sign(means), loss, gain, strict=True)
            ]
            cells.append(f"{np.mean([not false.isdisjoint(words) for words in verdicts]):.1%}")
        rows.append([name, ", ".join(f"`{word}`" for word in sorted(false)), *cells])
    table(["true difference", "false", "1 row", "4 rows, any of them"], rows)


def margins_of_unlike_rows() -> None:
    """Print how often any verdict is false where a few rows have small errors, and another has a large error."""
    from scipy import stats

    random, rows, margin = np.random.default_rng(18), [], 1.0
    for name, true, word in (("gains", margin, "equivalent"), ("losses", -margin, "not worse")):
        for count in (1, 3, 6):
            means = np.array([0.0, *[true] * count])
            errors = np.where(means == 0, margin, margin / 5.4)
            estimates = random.normal(means, errors, (5 * DRAWS, count + 1))
            p, loss, gain = (2 * stats.norm.sf(np.abs(estimates + by) / errors) for by in (0.0, margin, -margin))
            loss, gain = np.where(estimates > -margin, loss, 1.0), np.where(estimates < margin, gain, 1.0)
            wrong = 0
            for each in zip(p, np.sign(estimates), loss, gain, strict=True):
                first, *others = Evidence(*each).adjusted("holm").verdicts(CONFIDENCE).tolist()
                wrong += first in ("better", "worse") or not {word, "equivalent"}.isdisjoint(others)
            rows.append([f"0, and {count} {name} as large as the margin", f"{wrong / len(p):.1%}"])
    table(["true differences", "any verdict false"], rows)


def guardrails(means: Floats, correlation: float, random: Random) -> tuple[Any, Any]:
    """Return whether each model of each draw passes: by Holm's corrected verdicts, and by the gate.

    Each model has a row for each of the means. A row without a loss passes alone in 90 %; the margin is 1.
    """
    from scipy import stats

    draws, models, count = means.shape
    error = 1 / (stats.norm.isf(0.025) + stats.norm.ppf(0.9))
    common = random.normal(size=(draws, models, 1))
    noise = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * random.normal(size=means.shape)
    estimates = (means + error * noise).reshape(draws, -1)
    p, loss, gain = (2 * stats.norm.sf(np.abs(estimates + by) / error) for by in (0.0, 1.0, -1.0))
    loss, gain = np.where(estimates > -1, loss, 1.0), np.where(estimates < 1, gain, 1.0)
    names, verdicts, gate = np.repeat(np.arange(models), count).tolist(), [], []
    for each in zip(p, np.sign(estimates), loss, gain, strict=True):
        evidence = Evidence(*each)
        words = evidence.adjusted("holm").verdicts(CONFIDENCE)
        verdicts.append(np.isin(words, ("better", "equivalent", "not worse")))
        times = correction_factor(evidence.p_not_worse.tolist(), names, "holm", 1 - CONFIDENCE)
        gate.append(verdicts[-1] | (evidence.p_not_worse * times < 1 - CONFIDENCE))
    by_verdict, by_gate = (np.array(each).reshape(draws, models, count).all(axis=2) for each in (verdicts, gate))
    return by_verdict, by_gate


def gates() -> None:
    """Print how often models pass a gate of several rows: without a loss, and if one row loses exactly the margin."""
    random, rows = np.random.default_rng(21), []
    for models, count, correlation in ((1, 2, 0.5), (1, 3, 0.5), (1, 5, 0.5), (1, 8, 0.3), (3, 5, 0.5)):
        good, bad = np.zeros((2 * DRAWS, models, count)), np.zeros((2 * DRAWS, models, count))
        bad[:, :, 0] = -1.0
        # How often the first model passes if none loses, and how often any model passes if all lose.
        passes = [each[:, 0].mean() for each in guardrails(good, correlation, random)]
        false = [each.any(axis=1).mean() for each in guardrails(bad, correlation, random)]
        rows.append([f"{models}", f"{count}", *(f"{share:.1%}" for share in (*passes, *false))])
    names = [
        f"{what}: {rule}"
        for what in ("no loss, passes", "one row at the margin, passes")
        for rule in ("Holm's verdicts", "gate")
    ]
    table(["models", "rows of each", *names], rows)


def pairs_of_lists(case: str, draws: int, units: int, difference: float, random: Random) -> pl.DataFrame:
    """Return draws of the lists of two models, each with as many users as `units`: the new model has a better DCG@1."""
    sizes = np.full((draws, units), 5 if case == "5 lists a user" else 1)
    if case == "1 to 20 lists a user":
        sizes = np.minimum(random.geometric(0.2, (draws, units)), 20)
    user_of_list = np.repeat(np.arange(draws * units), sizes.ravel())
    user_effects = np.sqrt(CORRELATION) * random.normal(size=draws * units)[user_of_list]
    noise = np.sqrt(1 - CORRELATION) * random.normal(size=len(user_of_list))
    gains = 10 + difference + 0.5 * (user_effects + noise)
    weights = random.lognormal(0, 0.7, len(noise)) if case == "lognormal weights" else np.ones(len(noise))
    lists = pl.DataFrame(
        {"draw": user_of_list // units, "user": user_of_list, "weight": weights, "new": gains, "old": 10.0}
    )
    long = lists.with_row_index("list").unpivot(["old", "new"], index=["list", "draw", "user", "weight"])
    first = pl.col("variable") == "old"
    return long.with_columns(first.cast(pl.Int8).alias("old"), (~first).cast(pl.Int8).alias("new"), relevant="value")


def sample_sizes() -> None:
    """Print how often a comparison finds the difference with the lists that `sample_size` returns: 80 % is right."""
    random, rows, difference = np.random.default_rng(19), [], 0.1
    for case in ("1 list a user", "lognormal weights", "5 lists a user", "1 to 20 lists a user"):
        weight = {"weight": "weight"} if case.startswith("log") else {}
        roles: dict[str, Any] = {"by": "list", "score": ["old", "new"], **weight}
        pilot = pairs_of_lists(case, 1, 3_000, 0.0, random)
        needed = recframe.rec(pilot).sample_size("dcg@1", difference=difference, cluster="user", **roles)
        lists, users = (needed[name].item() for name in ("lists", "clusters"))
        frame = pairs_of_lists(case, DRAWS // 2, users, difference, random)
        options: dict[str, Any] = {"cluster": "user", "correction": "none", "details": True}
        compared = recframe.rec(frame).compare("dcg@1", per="draw", **options, **roles)
        power = np.mean(compared["p"].to_numpy() < 1 - CONFIDENCE)
        rows.append([case, f"{lists:,}", f"{users:,}", f"{power:.1%}"])
    table(["lists", "lists needed for 0.1", "their users", "power with these lists"], rows)


def differences_of_ndcg(random: Random, shape: tuple[int, int]) -> Floats:
    """Return differences in NDCG of two correlated models. Most lists of both have the value 0."""
    quality = random.beta(0.6, 1.2, shape)
    both = [np.clip(quality + random.normal(0, 0.25, shape), 0, 1) for _ in range(2)]
    hits = random.random(shape) < 0.4  # noqa: PLR2004 - the share of lists with hits
    return np.where(hits, both[1] - both[0], 0.0)


def pilots() -> None:
    """Print the true power with the numbers of lists that pilots say, `lists` and `lists_careful`: 80 % is wanted."""
    distributions: dict[str, Callable[[Random, tuple[int, int]], Floats]] = {
        "normal": lambda random, shape: random.normal(size=shape),
        "NDCG, most lists 0": differences_of_ndcg,
        "money, lognormal in 10 % of lists": lambda random, shape: (
            random.lognormal(0, 1.5, shape) * (random.random(shape) < CHANGING) * random.choice([-1.0, 1.0], shape)
        ),
    }
    rows = []
    for name, draw in distributions.items():
        random = np.random.default_rng(22)
        true = power_of_tests.FutureUnits.of(Sums.of(draw(random, (1, 1_000_000))[0], np.ones(1_000_000)))
        difference = true.spread / 30
        for count in (30, 100, 400):
            values = draw(random, (DRAWS // 2, count))
            # A pilot in which nothing varies says nothing.
            values = values[values.std(axis=1) > 0]
            ones = np.ones(len(values))
            units = power_of_tests.FutureUnits(values.std(axis=1, ddof=1), ones, ones)
            cells = []
            for each in (units, units.careful(count - ones, (values != 0).mean(axis=1))):
                lists = np.ceil(each.needed(difference, power_of_tests.DEFAULT_POWER, 1 - CONFIDENCE))
                power = true.power(difference, np.nan_to_num(lists, nan=2.0), 1 - CONFIDENCE)
                low, high = np.quantile(power, [0.1, 0.9])
                enough = np.mean(power >= power_of_tests.DEFAULT_POWER)
                cells += [f"{low:.0%} to {high:.0%}", f"{enough:.0%}"]
            rows.append([name, f"{count}", *cells])
    names = [
        f"{column}: {what}"
        for column in ("`lists`", "`lists_careful`")
        for what in ("power of 80 % of pilots", "at least 80 %")
    ]
    table(["differences", "lists of the pilot", *names], rows)


def sizes_for_margins() -> None:
    """Print how often the verdict on equal models is not worse, and equivalent, with the lists of `sample_size`."""
    from scipy import stats

    random, rows, margin = np.random.default_rng(23), [], 0.1
    units = power_of_tests.FutureUnits(np.ones(1), np.ones(1), np.ones(1))
    needed = {
        "`lists`": units.needed(margin, power_of_tests.DEFAULT_POWER, 1 - CONFIDENCE),
        "`lists_equivalent`": units.needed_to_be_equivalent(margin, power_of_tests.DEFAULT_POWER, 1 - CONFIDENCE),
    }
    for name, number in needed.items():
        lists = int(np.ceil(number.item()))
        means = random.normal(size=20 * DRAWS) / np.sqrt(lists)
        errors = np.sqrt(random.chisquare(lists - 1, 20 * DRAWS) / (lists - 1) / lists)
        half_width = stats.t.isf(0.025, lists - 1) * errors
        not_worse, within = means - half_width > -margin, np.abs(means) + half_width < margin
        rows.append([name, f"{lists:,}", f"{np.mean(not_worse):.1%}", f"{np.mean(within):.1%}"])
    table(["margin of 0.1 standard deviations, no difference", "lists", "not worse (or better)", "equivalent"], rows)


def drawn_strata(metric: str, sizes: Sequence[int], random: Random) -> tuple[list[Floats], list[float]]:
    """Return the values of the lists of each stratum in many draws, and their true means, which differ."""
    places = np.linspace(0, 1, len(sizes))
    if metric == "NDCG":
        means = 0.1 * places - 0.03
        values = [differences_of_ndcg(random, (STRATIFIED, n)) + mean for n, mean in zip(sizes, means, strict=True)]
        return values, [*means]
    if metric == "gained and lost hits":
        gained = 0.02 + 0.1 * places
        chances = [random.random((STRATIFIED, n)) for n in sizes]
        values = [(u < share) * 1.0 - (u > 1 - RARE) for u, share in zip(chances, gained, strict=True)]
        return values, [*(gained - RARE)]
    if metric == "hit rate":
        shares = 0.05 + 0.9 * places
        values = [(random.random((STRATIFIED, n)) < share) * 1.0 for n, share in zip(sizes, shares, strict=True)]
        return values, [*shares]
    values = [random.beta(0.1, 2 + place, (STRATIFIED, n)) for n, place in zip(sizes, places, strict=True)]
    return values, [0.1 / (2.1 + place) for place in places]


def strata() -> None:
    """Print how often intervals of means over strata contain the true mean."""
    cases = {
        "5 strata of 20 to 1,000 lists": ((20, 50, 100, 300, 1000), None),
        "15 strata of 10 lists": ((10,) * 15, None),
        "15 strata of 50 lists": ((50,) * 15, None),
        "900 and 100 lists, weights 0.1 and 0.9": ((900, 100), (0.1, 0.9)),
    }
    metrics: dict[str, Callable[[Sums], tuple[Floats, Floats]]] = {
        "NDCG": lambda sums: student.interval(sums, CONFIDENCE, DIFFERENCES),
        "Beta(0.1, 2)": lambda sums: student.interval(sums, CONFIDENCE),
        "gained and lost hits": lambda sums: PairedHits.of(sums).interval(CONFIDENCE),
        "hit rate": lambda sums: wilson(sums, CONFIDENCE),
    }
    random, rows = np.random.default_rng(31), []
    for name, (sizes, weights) in cases.items():
        shares = np.full(len(sizes), 1 / len(sizes)) if weights is None else np.array(weights)
        cells = []
        for metric, interval in metrics.items():
            values, means = drawn_strata(metric, sizes, random)
            powers = {"lists": 0, "difference": 1, "squares": 2}
            sums = {
                key: np.stack([(each**power).sum(axis=1) for each in values], axis=-1) for key, power in powers.items()
            }
            low, high = interval(statistics(pooled(sums, shares), 0))
            true = float(shares @ means)
            cells.append(f"{np.mean((low <= true) & (true <= high)):.1%}")
        rows.append([name, *cells])
    table(["interval of 95 % contains the true mean", *metrics], rows)


def groups() -> None:
    """Print how often the test of two models with different users rejects without a true difference."""
    random, rows = np.random.default_rng(20), []
    for name, users, spreads, lists in (
        ("20 and 20 users", (20, 20), (1.0, 1.0), 1),
        ("20 and 200 users, the few vary twice as much", (20, 200), (2.0, 1.0), 1),
        ("200 and 200 users", (200, 200), (1.0, 1.0), 1),
        ("30 and 60 users of 5 correlated lists each", (30, 60), (1.0, 1.0), 5),
    ):
        states, start = [], 0
        for count, spread in zip(users, spreads, strict=True):
            user_of_list = np.repeat(np.arange(DRAWS // 2 * count), lists)
            user_effects = np.sqrt(CORRELATION) * random.normal(size=DRAWS // 2 * count)[user_of_list]
            noise = np.sqrt(1 - CORRELATION) * random.normal(size=len(user_of_list))
            gains = 20 + spread * (user_effects + noise)
            frame = pl.DataFrame({
                "draw": user_of_list // count, "user": user_of_list + start, "list": np.arange(len(noise)) + start,
                "relevant": gains, "score": 1,
            })  # fmt: skip
            start += len(noise)
            states.append(
                recframe.merge_states(recframe.rec(frame).state("dcg@1", by="list", per="draw", cluster="user"))
            )
        cells = []
        for test in ("t", "anytime"):
            compared = states[0].compare(
                baseline=states[1], test=test, planned=sum(users), correction="none", details=True
            )
            p, low, high = (compared[name].to_numpy() for name in ("p", "low", "high"))
            cells += [f"{np.mean(p < 1 - CONFIDENCE):.1%}", f"{np.mean((low <= 0) & (high >= 0)):.1%}"]
        rows.append([name, *cells])
    head = [f"`{test}`: {what}" for test in ("t", "anytime") for what in ("rejects", "interval contains 0")]
    table(["no difference", *head], rows)


def ranks() -> None:
    """Print how often the intervals of ranks contain all true ranks, and how wide they are, if means are close."""
    rows = []
    for name, step in (("all equal", 0.0), ("pairs equal", 0.1), ("all differ", 0.05)):
        cells = []
        for models, lists in ((3, 20), (3, 200), (20, 20), (20, 200)):
            random, draws, covered, width = np.random.default_rng(10), DRAWS // 2, 0, 0.0
            true = step * (np.arange(models) // (2 if name == "pairs equal" else 1))
            low = 1 + (true > true[:, None]).sum(axis=1)
            high = models - (true < true[:, None]).sum(axis=1)
            for draw in range(draws):
                list_effects = 0.8 * random.normal(size=(lists, 1))
                means = Means.of(
                    true + list_effects + 0.6 * random.normal(size=(lists, models)), np.ones((lists, models))
                )
                better = means.means[:, None] - means.means
                ranks = Ranks.of(better, means.variances, means.degrees, CONFIDENCE, RESAMPLES, draw)
                covered += bool(((ranks.low <= low) & (high <= ranks.high)).all())
                width += float((ranks.high - ranks.low + 1).mean())
            cells.append(f"{covered / draws:.1%}, {width / draws:.1f}")
        rows.append([name, *cells])
    counts = ("3 models, 20 lists", "3 models, 200 lists", "20 models, 20 lists", "20 models, 200 lists")
    table(["true means", *(f"{count}: contain all, width" for count in counts)], rows)


def best_of_many() -> None:
    """Print how far the mean of the best of 20 models is from its true mean, in standard errors: plain and shrunk."""
    models, rows = 20, []
    for name, spread in (
        ("all equal", 0.0),
        ("vary half as much as the error", 0.5),
        ("vary as much as the error", 1.0),
    ):
        random, errors, covered = np.random.default_rng(32), [], 0
        for _ in range(DRAWS):
            true = spread * random.normal(size=models) / np.sqrt(LISTS)
            list_effects = np.sqrt(0.5) * random.normal(size=(LISTS, 1))
            values = true + list_effects + np.sqrt(0.5) * random.normal(size=(LISTS, models))
            means = Means.of(values, np.ones_like(values))
            best = int(means.means.argmax())
            low, high = student.interval(Sums.of(values[:, best], np.ones(LISTS)), CONFIDENCE)
            covered += bool(low <= true[best] <= high)
            estimates = means.means[best], shrunk(means.means, means.variances)[best]
            errors.append([(estimate - true[best]) * np.sqrt(LISTS) for estimate in estimates])
        bias, size = np.mean(errors, axis=0), np.sqrt(np.mean(np.square(errors), axis=0))
        rows.append([name, *(f"{bias[at]:+.2f}, {size[at]:.2f}" for at in (0, 1)), f"{covered / DRAWS:.1%}"])
    head = ["true means", "mean of the best: bias, error", "shrunk: bias, error", "its interval contains the truth"]
    table(head, rows)


def judges() -> None:
    """Print how often intervals of human and model judgments contain the true mean, and how long they are.

    Lengths are relative to the interval of the human judgments alone.
    """
    rows = []
    for distribution, mean in (("normal", 0.5), ("normal, a fifth without a value", 0.5), ("0 and 1", 0.3)):
        for name, wrong in (("good", 0.05), ("fair", 0.25), ("useless", 0.5)):
            cells = []
            for count in (100, 400):
                random, covered, length, weight = np.random.default_rng(11), 0, 0.0, 0.0
                for _ in range(DRAWS):
                    if distribution.startswith("normal"):
                        true = random.normal(mean, 0.2, 11 * count)
                        noise = random.normal(0.1, 0.2, 11 * count)
                        predicted = (1 - 2 * wrong) * true + 2 * wrong * noise
                    else:
                        true = (random.random(11 * count) < mean).astype(float)
                        predicted = np.where(random.random(11 * count) < wrong, 1 - true, true)
                    if distribution.endswith("without a value"):
                        none = random.random(11 * count) < 0.2  # noqa: PLR2004 - as the table says
                        true = np.where(none, np.nan, true)
                        none = np.where(random.random(11 * count) < wrong, ~none, none)
                        # Where only the model judge finds a relevant item, it ranks low: its value is halved.
                        predicted = np.where(none, np.nan, np.where(np.isnan(true), 0.5 * predicted, predicted))
                    parts = (true[:count], predicted[:count], predicted[count:])
                    human, same, others = (Values(part, np.ones(len(part))) for part in parts)
                    estimate = prediction_powered(human, same, others, CONFIDENCE)
                    known = parts[0][~np.isnan(parts[0])]
                    alone = np.ravel(student.interval(Sums.of(known, np.ones(len(known))), CONFIDENCE))
                    low, high = alone if estimate is None else (estimate.low, estimate.high)
                    covered += bool(low <= mean <= high)
                    length += (high - low) / (alone[1] - alone[0])
                    weight += 0.0 if estimate is None else estimate.weight
                cells.append(f"{covered / DRAWS:.1%}, {length / DRAWS:.2f}, {weight / DRAWS:.2f}")
            rows.append([f"{distribution}, {name} judge", *cells])
    head = [f"{count} human lists: contains the mean, length, weight" for count in (100, 400)]
    table(["values", *head], rows)


def agreements() -> None:
    """Print how often the intervals of `agreement` contain the true means, for rankings that change more or less."""
    distributions: dict[str, Callable[[Random, Any], Floats]] = {
        "rankings change more or less": lambda random, shape: random.uniform(0, 2, shape),
        "one list of ten changes": lambda random, shape: np.where(random.random(shape) < CHANGING, 0.5, 50.0),
        "4 correlated lists a user": lambda random, shape: np.repeat(
            random.uniform(0, 2, (shape[0], shape[1] // 4, 1)), 4, axis=1
        ),
    }
    items, measures, rows = 8, ("overlap@3", "rbo@3", "kendall"), []
    for name, draw in distributions.items():
        cells, cluster = [], "cluster" if name.startswith("4") else None
        for lists in (20, 52, 200):
            random, draws = np.random.default_rng(16), min(DRAWS, 100_000 // lists)
            shape = (draws, lists, items)
            common = draw(random, (draws, lists, 1)) * random.normal(size=shape)
            frame = pl.DataFrame({
                "draw": np.repeat(np.arange(draws), lists * items), "list": np.repeat(np.arange(draws * lists), items),
                "cluster": np.repeat(np.arange(draws * lists) // 4, items),
                "item": np.tile(np.arange(items), draws * lists),
                **{model: (common + random.normal(size=shape)).ravel() for model in ("old", "new")},
            })  # fmt: skip
            rec = recframe.rec(frame, by=["draw", "list"], score=["old", "new"])
            names = [measure.partition("@")[0] for measure in measures]
            true = rec.agreement(3, measures=names)
            means = rec.agreement(3, measures=names, per="draw", confidence=CONFIDENCE, cluster=cluster)
            coverage = [
                ((means[f"{measure}_low"] <= true[measure][0]) & (true[measure][0] <= means[f"{measure}_high"])).mean()
                for measure in measures
            ]
            cells += [", ".join(f"{share:.1%}" for share in coverage)]
        rows.append([name, *cells])
    table(["lists", *(f"{lists} lists: {', '.join(measures)}" for lists in (20, 52, 200))], rows)


def exposure_values(exposures: Floats, lists: Any) -> Floats:
    """Return coverage, Gini's coefficient, the entropy and the personalization of each row of exposures of items."""
    items, total = exposures.shape[1], exposures.sum(axis=1)
    shares = exposures / total[:, None]
    entropy = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    gini = ((2 * np.arange(1, items + 1) - items - 1) * np.sort(exposures, axis=1)).sum(axis=1) / items / total
    personal = 1 - ((exposures**2).sum(axis=1) / TOP - lists) / lists / (lists - 1)
    return np.stack([(exposures > 0).mean(axis=1), gini, entropy, personal], axis=1)


def drawn_exposures(random: Random, tastes: Floats, users: Any) -> Floats:
    """Return which items are in the top 10 of each user, drawn by the users' tastes: 1 or 0."""
    keys = np.log(tastes[users]) + random.gumbel(size=(len(users), tastes.shape[1]))
    in_top = np.zeros(keys.shape)
    np.put_along_axis(in_top, np.argpartition(-keys, TOP, axis=1)[:, :TOP], 1.0, axis=1)
    return in_top


def values_and_differences(in_tops: Sequence[Floats], draws: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the values of the first of two models, and the differences of both.

    They are of all lists, of all lists but each of some groups, and of draws of lists, whose counts are given.
    """
    lists, items = in_tops[0].shape
    parts = [each.reshape(SHARES, -1, items).sum(axis=1) for each in in_tops]
    sums = (
        [each.sum(axis=0)[None] for each in in_tops],
        [each.sum(axis=0) - part for each, part in zip(in_tops, parts, strict=True)],
        [draws @ each for each in in_tops],
    )
    counts = (lists, lists - lists // SHARES, lists)
    values = [[exposure_values(each, count) for each in both] for both, count in zip(sums, counts, strict=True)]
    of_all, without, drawn = (np.concatenate([first, second - first], axis=1) for first, second in values)
    return of_all[0], without, drawn


def together() -> None:
    """Print how often intervals of metrics of all lists together contain the mean over other draws of lists.

    The metrics are of one model, and the differences of two.
    """
    from scipy import stats

    runs, tastes = 200, 20
    names = ("coverage", "gini", "entropy", "personalization")
    for lists, items in ((200, 300), (200, 3_000), (1_000, 1_000)):
        random = np.random.default_rng(15)
        weights = random.gamma(0.3, 1, (2, tastes, items))
        models = [
            each / np.arange(1, items + 1) ** steepness + 1e-6
            for each, steepness in zip(weights, (0.8, 0.92), strict=True)
        ]
        ends: dict[str, list[Any]] = {"lists left out": [], "bootstrap, percentiles": [], "bootstrap, basic": []}
        values = []
        for _ in range(runs):
            users = random.integers(0, tastes, lists)
            draws = random.multinomial(lists, np.full(lists, 1 / lists), runs).astype(float)
            in_tops = [drawn_exposures(random, each, users) for each in models]
            of_all, without, drawn = values_and_differences(in_tops, draws)
            half = stats.t.ppf(0.5 + CONFIDENCE / 2, SHARES - 1) * np.sqrt(SHARES - 1) * without.std(axis=0)
            low, high = np.quantile(drawn, [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2], axis=0)
            pairs = ((of_all - half, of_all + half), (low, high), (2 * of_all - high, 2 * of_all - low))
            for name, pair in zip(ends, pairs, strict=True):
                ends[name].append(pair)
            values.append(of_all)
        true = np.mean(values, axis=0)
        coverage = [
            ((np.array(each)[:, 0] <= true) & (true <= np.array(each)[:, 1])).mean(axis=0) for each in ends.values()
        ]
        labels = [*names, *(f"difference in {name}" for name in names)]
        rows = [[label, *(f"{shares[place]:.0%}" for shares in coverage)] for place, label in enumerate(labels)]
        table([f"{lists:,} lists, {items:,} items", *ends], rows)


def observed_lists(length: int, random: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the relevant items of users with their ranks, and the part of these items that was observed.

    Users like items in proportion to their popularity, which follows Zipf's law. The relevance of an item is observed
    with the probability that is the square root of its popularity, relative to the first item's, and the model puts it
    into the top 10 with the same probability.
    """
    popularity = 1 / np.arange(1, ITEMS + 1)
    liked = random.choice(popularity, SERVED * length, p=popularity / popularity.sum())
    propensity = np.sqrt(liked)
    rank = np.where(random.random(len(propensity)) < propensity, random.integers(1, TOP + 1, len(propensity)), 100)
    users = np.repeat(np.arange(SERVED), length)
    rows = pl.DataFrame({"user": users, "rank": rank, "relevant": 1, "p": propensity})
    # No two items share a rank: those of one list move down.
    rows = rows.sort("user", "rank").with_columns(
        rank=(pl.col("rank") - pl.int_range(pl.len()).over("user")).cum_max().over("user")
        + pl.int_range(pl.len()).over("user")
    )
    return rows, rows.filter(random.random(len(propensity)) < rows["p"].to_numpy())


def propensities() -> None:
    """Print how far estimates of metrics with propensities are off, by the number of relevant items of each list."""
    rows_of_table = []
    random = np.random.default_rng(2)
    metrics = [f"recall@{TOP}", f"ndcg(ideal=first)@{TOP}"]
    for length in (2, 7, 20, 100):
        rows, seen = observed_lists(length, random)
        plain = [recframe.rec(frame).evaluate(metrics, rank="rank") for frame in (rows, seen)]
        weighted = recframe.rec(seen, propensity="p")
        estimates = [
            weighted.evaluate(metrics, rank="rank"),
            weighted.evaluate(metrics, rank="rank", estimator="pooled"),
        ]
        for metric in metrics:
            true, *others = [frame[metric].item() for frame in (*plain, *estimates)]
            texts = [f"{value:.3f} ({value / true - 1:+.0%})" for value in others]
            rows_of_table.append([f"{length}", f"`{metric}`", f"{true:.3f}", *texts])
    head = ["relevant items per list", "metric", "true", "observed items alone", "shares of lists", "pooled"]
    table(head, rows_of_table)


def tuning() -> None:
    """Print what the best of some fusions gains, in the sample and out of fold, in standard deviations of a list."""
    rows = []
    for better in (0.0, 0.2):
        for candidates in (5, 20, 100):
            random, cells = np.random.default_rng(10), []
            for lists in (100, 1_000):
                gains = []
                for _ in range(DRAWS):
                    values = np.sqrt(0.5) * (random.normal(size=(lists, 1)) + random.normal(size=(lists, candidates)))
                    common = values.mean()
                    values[:, -1] += better
                    tuned = Lists(values, np.ones(lists), None, (-np.inf, np.inf), upwards=True)
                    held_out, _ = tuned.out_of_fold(np.arange(lists) % 5)
                    best = tuned.best(np.ones(lists, dtype=bool))
                    gains.append((values[:, best].mean() - common, held_out.mean() - common))
                cells += [f"{gain:+.3f}" for gain in np.mean(gains, axis=0)]
            rows.append([f"{candidates}", f"{better:g}", *cells])
    head = (f"{lists} lists: {value}" for lists in ("100", "1,000") for value in ("in sample", "out of fold"))
    table(["candidates", "one is better by", *head], rows)


LIST_DEVIATION, LIST_AND_RUN_DEVIATION = 0.3, 0.15
"""The deviations of the differences of lists, and of lists and runs together within a model."""


def drawn_runs(
    random: Random, lists: int, counts: Sequence[int], deviations: Sequence[float], both: float
) -> CrossedSums:
    """Return the sums that `compare` reads of two equally good models, or `describe` of one model, in many draws.

    Values are normal, so the mean squares are independent draws of the chi-squared distribution.
    """
    draws = 10 * DRAWS

    def square(variance: float, degrees: float) -> Floats:
        return variance * random.chisquare(degrees, draws) / degrees

    total = random.normal(0, LIST_DEVIATION / np.sqrt(lists), draws)
    variance = LIST_DEVIATION**2
    run_squares, run_degrees = np.zeros(draws), np.zeros(draws)
    for sign, count, deviation in zip((1, -1), counts, deviations, strict=False):
        of_means = deviation**2 + both**2 / lists
        total += sign * random.normal(0, np.sqrt(of_means / count), draws)
        variance += both**2 / count
        if count > 1:
            spread = square(of_means, count - 1)
            run_squares += np.maximum(spread - square(both**2, (count - 1) * (lists - 1)) / lists, 0) / count
            run_degrees += (spread / count) ** 2 / (count - 1)
    number = np.full(draws, float(lists))
    squares = square(variance, lists - 1) * (lists - 1)
    least = np.full(draws, min((count - 1 for count in counts if count > 1), default=np.inf))
    return CrossedSums(
        number, number, number, total * lists, squares, squares, number, number, run_squares, run_degrees, least
    )


def rejection_rates_of_runs(*args: Any) -> list[str]:
    """Return how often the test rejects for models of the same quality: with `runs=`, and with lists alone."""
    sums = drawn_runs(*args)
    return [f"{np.mean(student.p_value(each) < 1 - CONFIDENCE):.1%}" for each in (sums, sums.of_lists)]


def training_runs() -> None:
    """Print how often the test rejects for two models of the same quality: with single runs and with several."""
    random, rows = np.random.default_rng(56), []
    for lists in (200, 2_000, 20_000):
        for deviation in (0.0, 0.002, 0.005, 0.01):
            pair = (deviation, deviation)
            _, single = rejection_rates_of_runs(random, lists, (1, 1), pair, LIST_AND_RUN_DEVIATION)
            _, averaged = rejection_rates_of_runs(random, lists, (5, 5), pair, LIST_AND_RUN_DEVIATION)
            cells = [
                rejection_rates_of_runs(random, lists, (count, count), pair, LIST_AND_RUN_DEVIATION)[0]
                for count in (2, 3, 5, 10, 20)
            ]
            rows.append([f"{lists:,}", f"{deviation:g}", single, averaged, *cells])
    several = [f"`runs=`, {count} runs" for count in (2, 3, 5, 10, 20)]
    table(["lists", "deviation of runs", "one run each", "5 runs, lists alone", *several], rows)
    unlike_runs(random)
    hits_of_runs(random)
    ranks_of_runs(random)


def unlike_runs(random: Random) -> None:
    """Print the cases that reject too often, and how often the interval of one model misses its value."""
    cases: dict[str, tuple[float, float, float]] = {
        "runs of one model vary by 0.01, of the other by 0": (0.01, 0.0, LIST_AND_RUN_DEVIATION),
        "by 0.01 and 0.002": (0.01, 0.002, LIST_AND_RUN_DEVIATION),
        "no deviation, runs agree little on lists (0.3)": (0.0, 0.0, 0.3),
    }
    counts = ((2, 2), (3, 3), (5, 5), (10, 10), (2, 10), (3, 10))
    rows = []
    for name, (first, second, both) in cases.items():
        for lists in (200, 20_000):
            cells = [rejection_rates_of_runs(random, lists, count, (first, second), both)[0] for count in counts]
            rows.append([name, f"{lists:,}", *cells])
    for lists in (200, 20_000):
        cells = [
            rejection_rates_of_runs(random, lists, count[:1], (0.01,), LIST_AND_RUN_DEVIATION)[0]
            for count in counts[:4]
        ]
        rows.append(["`describe`: misses the value, runs vary by 0.01", f"{lists:,}", *cells, "", ""])
    table(["models of the same quality", "lists", *(f"{a} and {b} runs" for a, b in counts)], rows)


def hits_of_runs(random: Random) -> None:
    """Print how often the test rejects for hit rates of the same quality, computed from values of lists."""
    rows = []
    for lists in (50, 200, 1_000):
        cells = []
        for count in (2, 3, 5):
            rejected = 0
            for _ in range(DRAWS // 2):
                rates = random.beta(0.5, 2, (lists, 1))
                values = [random.random((lists, count)) < rates + random.normal(0, 0.02, count) for _ in range(2)]
                first, second = (each.astype(float) for each in values)
                differences = Sums.of(first.mean(axis=1) - second.mean(axis=1), np.ones(lists))
                sums = CrossedSums.with_runs(differences, [Runs.of(first), Runs.of(second)], (1.0, 1.0))
                rejected += student.p_value(sums).item() < 1 - CONFIDENCE
            cells.append(f"{rejected / (DRAWS // 2):.1%}")
        rows.append([f"{lists:,}", *cells])
    table(["hits, runs vary by 0.02: lists", *(f"`runs=`, {count} runs" for count in (2, 3, 5))], rows)


def ranks_of_runs(random: Random) -> None:
    """Print how often `rank_models` finds one of several models of the same quality better than another."""
    rows, draws = [], DRAWS // 4
    for models in (3, 8):
        for count in (2, 3, 5):
            cells = []
            for lists, deviation in ((200, 0.0), (200, 0.01), (1_000, 0.01)):
                wrong = 0
                for _ in range(draws):
                    shape = (lists, count)
                    list_effects = random.normal(0, LIST_DEVIATION / np.sqrt(2), (models, lists, 1))
                    runs = random.normal(0, deviation, (models, 1, count))
                    means = means_of_runs(
                        [*(list_effects + runs + random.normal(0, LIST_AND_RUN_DEVIATION, (models, *shape)))]
                    )
                    better = means.means[:, None] - means.means
                    ranks = Ranks.of(better, means.variances, means.degrees, CONFIDENCE, RESAMPLES, 0)
                    wrong += bool((ranks.low > 1).any() or (ranks.high < models).any())
                cells.append(f"{wrong / draws:.1%}")
            rows.append([f"{models}", f"{count}", *cells])
    head = ["models", "runs", "200 lists", "200 lists, runs vary by 0.01", "1,000 lists, runs vary by 0.01"]
    table(head, rows)


def main() -> int:
    """Print all tables."""
    if sys.argv[1:]:
        real_lists(sys.argv[1])
    parts = (
        clusters,
        sizes_that_gain,
        few_lists,
        families,
        looks,
        hits,
        ranks_and_signs,
        items_that_vary,
        few_changes,
        tails,
        shares,
        shares_of_clusters,
        margins,
        margins_of_unlike_rows,
        gates,
        sample_sizes,
        pilots,
        sizes_for_margins,
        groups,
        strata,
        relative,
        together,
        alarm,
        nightly_gates,
        ranks,
        best_of_many,
        judges,
        agreements,
        propensities,
        training_runs,
    )
    for part in (*parts, tuning):
        part()
    return 0


if __name__ == "__main__":
    sys.exit(main())
