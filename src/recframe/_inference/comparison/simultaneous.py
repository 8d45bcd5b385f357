"""Corrections that read the values of lists: p-values and intervals of all rows of a comparison at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._base.values import ROUNDING
from recframe._inference.comparison.margins import MARGIN_ENDS
from recframe._inference.comparison.options import SIMULTANEOUS
from recframe._inference.statistics import student
from recframe._inference.statistics.simultaneous import LargestFlipped, MultivariateT
from recframe._inference.statistics.student import square, sum_by_cluster
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recframe._inference.comparison.options import Options
    from recframe._inference.comparison.tested import Tested

    Floats = NDArray[np.float64]


def check_simultaneous(options: Options, models: int) -> None:
    """Raise for options that do not go with a correction that reads the values of lists.

    Raises
    ------
    OptionError
        The test has no interval, or Dunnett's correction lacks its baseline or the t-test.
    """
    if options.correction not in SIMULTANEOUS:
        return
    what = f"`correction={options.correction!r}`"
    if options.test == "wilcoxon":
        msg = f"{what} is about means, but `test='wilcoxon'` compares ranks"
        raise OptionError(msg, "`test='t'`, or `correction='holm'`")
    if options.correction != "dunnett":
        return
    if options.test != "t":
        msg = f"{what} is of t-tests, but `test={options.test!r}` is another test"
        raise OptionError(msg, "`test='t'`, or `correction='maxt'`")
    if options.baseline is None and models > 2:  # noqa: PLR2004 - a pair
        msg = f"{what} compares models with one baseline, but `baseline=` names none"
        raise OptionError(msg, "`baseline='old'`, or `correction='maxt'` for all pairs")


def adjust_together(compared: Sequence[Tested], options: Options) -> list[dict[str, Any]]:
    """Return p-values that are adjusted for all rows at once, and change the intervals so that they agree.

    No p-value becomes smaller and no interval narrower than without the adjustment.
    """
    if not compared[0].units:
        return [tested.numbers for tested in compared]
    method = _Dunnett(compared, options) if options.correction == "dunnett" else _Flips(compared, options)
    tables = []
    for number, tested in enumerate(compared):
        numbers = tested.numbers
        names = ["p", *(name for name in MARGIN_ENDS if name in numbers)]
        adjusted = {name: np.fmax(method.adjusted(tested, name), numbers[name]) for name in names}
        adjusted = {name: np.where(np.isnan(numbers[name]), np.nan, p) for name, p in adjusted.items()}
        low, high = method.interval(tested)
        # The interval is never narrower than the unadjusted interval.
        low, high = np.minimum(low, numbers["low"]), np.maximum(high, numbers["high"])
        low, high = student.clip_interval(low, high, tested.sums.mean, tested.bounds)
        kept = adjusted["p"] >= 1 - options.confidence
        low, high = np.where(kept, np.minimum(low, 0.0), low), np.where(kept, np.maximum(high, 0.0), high)
        # If one unit outweighs all others, the interval holds 0 although the p-value is small. Then it is unknown.
        unknown = ~kept & (low <= 0) & (high >= 0)
        if method.stepped:
            stepped = np.where(np.isnan(numbers["p"]), np.nan, np.fmax(method.stepped[number], numbers["p"]))
            # If only the stepped-down p-value is small, the models differ, but no interval says how much.
            unknown |= kept & (stepped < 1 - options.confidence)
            adjusted["p"] = stepped
        numbers.update({"low": np.where(unknown, np.nan, low), "high": np.where(unknown, np.nan, high)})
        tables.append({**numbers, **adjusted})
    return tables


def _by_segment(compared: Sequence[Tested], *, residuals: bool = False) -> list[Floats]:
    """Return the totals of units in each segment, with a column for each pair; with `residuals`, minus the mean."""
    parts = []
    for entry in range(len(compared[0].units)):
        # Lists of weight 0 are left out.
        weigh = np.any([(tested.units[entry].weights > 0).any(axis=1) for tested in compared], axis=0)
        columns = []
        for tested in compared:
            units = tested.units[entry]
            totals, weights = units.totals[weigh], units.weights[weigh]
            if units.clusters is not None and len(totals):
                clusters = np.asarray(units.clusters)[weigh]
                totals, weights = (sum_by_cluster(each, clusters) for each in (totals, weights))
            error = tested.sums.standard_error[:, entry]
            mean = tested.sums.mean[:, entry]
            # A difference that is only rounding gets no statistic.
            differs = ~np.isnan(tested.numbers["p"][:, entry]) & ((error > 0) | ((mean != 0) & (not residuals)))
            moved = totals - mean * weights if residuals else totals
            columns.append(np.where(differs, moved, 0.0))
        parts.append(np.concatenate(columns, axis=1))
    return parts


class _Flips:
    """Adjusted p-values and intervals from random flips of signs."""

    def __init__(self, compared: Sequence[Tested], options: Options) -> None:
        steps = options.correction == "romano-wolf"
        observed = [self._statistic(tested.moments["p"]) for tested in compared]
        every = list(np.concatenate(observed).T) if steps else None
        parts = _by_segment(compared)
        self._distribution = LargestFlipped(parts, options.resamples, options.seed, every)
        self._critical = self._distribution.critical(1 - options.confidence)
        self.stepped: list[Floats] = []
        """The stepped-down p-values, for each batch of pairs."""
        if steps:
            stepped = self._distribution.stepped_down.reshape(len(parts), -1).T
            self.stepped = np.split(stepped, np.cumsum([len(each) for each in observed])[:-1])

    @staticmethod
    def _statistic(moments: dict[str, Any]) -> Floats:
        """Return the statistic of each difference: |ΣT| / √ΣT², with the totals T of units."""
        statistic = student.ratio(np.abs(moments["difference"]), np.sqrt(moments["unit_squares"]))
        return np.asarray(np.nan_to_num(statistic))

    def adjusted(self, tested: Tested, name: str) -> Floats:
        """Return the adjusted p-values of the test of 0 (`"p"`), or of an end of the margin."""
        return self._distribution.p_values(self._statistic(tested.moments[name]))

    def interval(self, tested: Tested) -> tuple[Floats, Floats]:
        """Return the intervals: the differences whose statistics are not above the critical statistic.

        The statistic of a difference m is |Σ (T − mv)| / √Σ (T − mv)²: its square is a quotient of squares in m.
        """
        sums = tested.moments["p"]
        mean = tested.sums.mean
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            names = ("unit_squares", "unit_products", "unit_weight_squares")
            squares, products, weights = (self._critical**2 * sums[name] / square(tested.sums.weight) for name in names)
            second = 1 - weights
            first = mean - products
            root = np.sqrt(np.maximum(first**2 - second * (square(mean) - squares), 0.0))
            low = (first - root) / second
            high = (first + root) / second
        bounded = second > ROUNDING
        spreads = tested.sums.standard_error > 0
        low = np.where(bounded, low, -np.inf)
        high = np.where(bounded, high, np.inf)
        # If all differences are equal, their spread is unknown: keep the unadjusted interval.
        equal = (tested.sums.standard_error == 0) & (tested.sums.mean == 0)
        ends_alone = tested.numbers["low"], tested.numbers["high"]
        alone = (np.where(equal, end, np.nan) for end in ends_alone)
        low, high = (np.where(spreads, *ends) for ends in zip((low, high), alone, strict=True))
        return low, high


class _Dunnett:
    """Adjusted p-values and intervals from the multivariate t distribution."""

    stepped = ()
    """Empty, because Dunnett's test is not stepped down."""

    def __init__(self, compared: Sequence[Tested], options: Options) -> None:
        degrees = np.concatenate([tested.sums.degrees.ravel() for tested in compared])
        degrees = degrees[np.isfinite(degrees)]
        parts = _by_segment(compared, residuals=True)
        self._distribution = MultivariateT(parts, float(degrees.min(initial=np.inf)), options.resamples, options.seed)
        self._level = self._distribution.level(1 - options.confidence)

    def adjusted(self, tested: Tested, name: str) -> Floats:
        """Return the adjusted p-values of the test of 0 (`"p"`), or of an end of the margin."""
        p = tested.numbers[name]
        return self._distribution.p_values(p.ravel()).reshape(p.shape)

    def interval(self, tested: Tested) -> tuple[Floats, Floats]:
        """Return the intervals of t-tests at the level of each test that keeps the level of all tests together."""
        return student.interval(tested.sums, 1 - self._level, tested.bounds)
