"""How many lists you need to find a difference between models, from the variance of the lists that you have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recframe._base.values import number, whole_number
from recframe._inference.comparison.margins import Margin
from recframe._inference.comparison.options import Intervals
from recframe._inference.lists import paired_sums as paired
from recframe._inference.lists.clusters import check_clusters
from recframe._inference.lists.paired_sums import Pair, model_pairs, paired_sums, with_differences
from recframe._inference.lists.results import result_frame, stacked
from recframe._inference.lists.values import ListValues, check_values_per_list
from recframe._inference.statistics.power import FutureUnits
from recframe._inference.statistics.student import ratio
from recframe.errors import DataWarning, OptionError, warn

if TYPE_CHECKING:
    from collections.abc import Mapping

    import narwhals as nw
    from numpy.typing import NDArray

    from recframe._base.values import Labels
    from recframe._inference.statistics.student import Sums
    from recframe._plan.plan import Plan

    Floats = NDArray[np.float64]

COLUMNS = (
    "metric", "model", "baseline", "difference", "power", "tests", "std", "seen", "lists", "lists_careful",
    "lists_equivalent", "clusters",
)  # fmt: skip
"""The columns of a result, after the columns of `per`. The last one appears only with `cluster=`."""
LEAST_PILOT_UNITS = 100 - 1e-9
"""With fewer lists or clusters, a warning says that the pilot is small."""
SHARES_OF_NEEDED = np.geomspace(0.05, 4, 60)
"""The numbers of lists of a power curve, as multiples of the number that is needed."""


@dataclass(frozen=True)
class Options(Intervals):
    """The checked options of `sample_size`."""

    difference: Margin
    power: float
    tests: int | None
    baseline: Any

    @classmethod
    def of(cls, labels: Labels, **named: Any) -> Self:
        """Return checked options, or raise for what can be checked without a frame."""
        difference = named["difference"]
        named["difference"] = Margin.of(difference, "difference")
        if named["difference"] is None:
            msg = f"`difference={difference!r}` is no difference to find"
            raise OptionError(msg, "`difference=0.01`, or `difference='1%'` of the baseline's mean")
        named["power"] = number("power", named["power"], "`power=0.8`")
        if named["tests"] is not None:
            named["tests"] = whole_number("tests", named["tests"], "`tests=12`")
        checked = super().of(labels, **named)
        level = 1 - checked.confidence
        if not level < checked.power < 1:
            msg = f"`power={checked.power:g}` is not between the significance level, {level:.3g}, and 1"
            raise OptionError(msg, "`power=0.8`")
        return checked


@dataclass(frozen=True)
class Pilot:
    """The differences of pairs of models in the lists of the call, a pilot study. Arrays have a row for each pair."""

    names: list[dict[str, Any]]
    reported: nw.DataFrame[Any]
    sums: Sums
    units: FutureUnits
    differences: Floats
    """The differences to find."""
    clusters: Floats
    differing: Floats
    """The share of lists whose difference is not 0."""
    tests: int
    level: float

    @classmethod
    def of(cls, plan: Plan, options: Options) -> Pilot:
        """Return the differences over the lists of a plan."""
        values = ListValues(plan).without_unknown()
        context = plan.context
        numbers = model_pairs(values.models, options.baseline, "sample_size")
        pairs = [Pair(metric, *models) for metric in range(len(plan.metrics)) for models in numbers]
        table = paired_sums(with_differences(values, pairs), pairs, context.keys.per, context.keys.cluster)
        totals = paired.sums_of(table, pairs)
        check_clusters(context.query.cluster, context.query.per, totals["lists"], totals.get("clusters", []))
        differences = paired.statistics(totals)
        names = [pair.names(plan, values.models) for pair in pairs]
        return cls.of_sums(names, table.select(*context.keys.per), differences, totals, options)

    @classmethod
    def of_sums(
        cls,
        names: list[dict[str, Any]],
        reported: nw.DataFrame[Any],
        differences: Sums,
        totals: Mapping[str, Any],
        options: Options,
    ) -> Pilot:
        """Return the differences from sums over lists. With clusters, `totals` holds their number."""
        difference = np.full(differences.mean.shape, options.difference.size)
        if options.difference.relative:
            with np.errstate(invalid="ignore", divide="ignore"):
                difference = difference * np.abs(totals["baseline"] / differences.weight)
        tests = max(int(np.isfinite(differences.standard_error).sum()), 1) if options.tests is None else options.tests
        level = (1 - options.confidence) / tests
        clusters = totals.get("clusters", differences.lists)
        differing = ratio(totals["wins"] + totals["losses"], differences.lists)
        return cls(
            names, reported, differences, FutureUnits.of(differences), difference, clusters, differing, tests, level
        )

    def rows(self, options: Options) -> list[dict[str, Any]]:
        """Return the rows of a result."""
        self._warn_of_small_pilots()
        careful = self.units.careful(self.sums.degrees, self.differing)
        lists, clusters = self._lists(self.units.needed(self.differences, options.power, self.level))
        lists_careful, _ = self._lists(careful.needed(self.differences, options.power, self.level))
        equivalent, _ = self._lists(self.units.needed_to_be_equivalent(self.differences, options.power, self.level))
        shape = lists.shape
        numbers = {
            "difference": self.differences,
            "power": np.full(shape, options.power),
            "tests": np.full(shape, self.tests),
            "std": self.sums.standard_deviation,
            "seen": self.sums.lists,
            "lists": lists,
            "lists_careful": lists_careful,
            "lists_equivalent": equivalent,
            "clusters": clusters,
        }
        return [
            {**{name: array[row] for name, array in numbers.items()}, **names} for row, names in enumerate(self.names)
        ]

    def _lists(self, units: Floats) -> tuple[Floats, Floats]:
        """Return the number of lists that hold as much information as some units, and the number of their clusters."""
        with np.errstate(invalid="ignore", divide="ignore"):
            # You collect whole clusters, as large as the clusters of the call. Without clusters, each is one list.
            clusters = _rounded_up(units * self.units.lists * self.clusters / self.sums.lists)
            return _rounded_up(clusters * self.sums.lists / self.clusters), clusters

    def _warn_of_small_pilots(self) -> None:
        """Warn if there are few lists, or clusters, to estimate how much differences vary."""
        least = float(np.nanmin(self.sums.units, initial=np.inf))
        if least < LEAST_PILOT_UNITS:
            what = "effective clusters" if (self.clusters < self.sums.lists).any() else "lists"
            msg = (
                f"the numbers of lists come from only {least:.0f} {what}, so they may be far too small.\nPlan with"
                " lists_careful, or give the lists of more days: 100 or more"
            )
            warn(msg, DataWarning)


def sample_size(plan: Plan, options: Options) -> Any:
    """Return one row per value of `per`, metric and pair of models, as a frame of the user's kind."""
    check_values_per_list(plan.metrics, "sample_size")
    columns = COLUMNS if plan.context.keys.cluster is not None else COLUMNS[:-1]

    def rows() -> nw.DataFrame[Any]:
        pilot = Pilot.of(plan, options)
        return stacked(pilot.reported, pilot.rows(options), columns)

    return result_frame(plan, rows, columns)


def power_curve(plan: Plan, options: Options) -> list[dict[str, Any]]:
    """Return the power of the test of each pair at numbers of lists."""
    check_values_per_list(plan.metrics, "power")
    pilot = Pilot.of(plan, options)
    rows = []
    needed = pilot.units.needed(pilot.differences, options.power, pilot.level)
    for times in SHARES_OF_NEEDED.tolist():
        units = np.maximum(needed * times, 2.0)
        powers = pilot.units.power(pilot.differences, units, pilot.level)
        lists = units * pilot.units.lists
        for row, names in enumerate(pilot.names):
            if np.isfinite(powers[row, 0]):
                pair = {name: names[name] for name in ("model", "baseline")}
                rows.append(pair | {"lists": float(lists[row, 0]), "power": float(powers[row, 0])})
    return rows


def _rounded_up(numbers: Floats) -> Floats:
    """Return numbers rounded up to integers, ignoring rounding errors above an integer."""
    return np.ceil(numbers * (1 - 1e-9))
