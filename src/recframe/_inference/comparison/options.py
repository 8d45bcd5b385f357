"""How models are compared: the arguments of `compare`, checked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self, cast, get_args

from recframe._base.strata import Strata
from recframe._base.values import choice, column_or_none, flag, whole_number
from recframe._engines.base import values_of
from recframe._engines.registry import a_type, is_frame
from recframe._inference.comparison.margins import Margin, Margins, margin_of
from recframe._inference.lists.claims import Claims
from recframe._inference.statistics import anytime, resampling, student
from recframe._inference.statistics.correction import Correction
from recframe.errors import OptionError, OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from recframe._base.values import Labels

Test = Literal["t", "randomization", "bootstrap", "wilcoxon", "anytime", "anytime-bounded"]
"""The test of a mean difference of 0."""
ANYTIME = ("anytime", "anytime-bounded")
"""The tests that allow repeated looks at growing data."""
TESTS_OF_SUMS = ("t", *ANYTIME)
"""The tests that read sums over lists."""
SIMULTANEOUS = ("maxt", "romano-wolf", "dunnett")
"""The corrections whose intervals hold all differences at once."""
Changed = Literal["leave_out", "refuse"]
"""What happens to lists that differ from the lists of a stored baseline."""
MOST_RESAMPLES = 1_000_000
"""More would run for hours, and no decision needs a p-value in smaller steps."""


@dataclass(frozen=True)
class Intervals:
    """The checked options of intervals: the confidence, the cluster and the strata."""

    confidence: float
    cluster: str | None
    strata: Strata | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, labels: Labels, **named: Any) -> Self:
        """Return checked options, or raise for what can be checked without a frame."""
        named["strata"] = Strata.of(named.get("strata"), named.pop("strata_weights", None), labels)
        named["confidence"] = student.check_confidence(named["confidence"])
        named["cluster"] = column_or_none("cluster", named["cluster"], labels)
        return cls(**named)


@dataclass(frozen=True)
class Draws(Intervals):
    """The checked options of intervals that need random numbers."""

    resamples: int
    seed: int

    @classmethod
    def of(cls, labels: Labels, **named: Any) -> Self:
        """Return checked options, or raise for what can be checked without a frame."""
        hint = "`resamples=10_000`"
        named["resamples"] = whole_number("resamples", named["resamples"], hint, least=100, most=MOST_RESAMPLES)
        named["seed"] = whole_number("seed", named["seed"], "`seed=0`", least=0, most=None)
        return super().of(labels, **named)


@dataclass(frozen=True)
class Options(Draws):
    """The checked options of `compare`."""

    baseline: Any
    test: Test
    correction: Correction
    interval: resampling.Interval
    margin: Margin | Margins | None = None
    changed: Changed | None = None
    planned: int = 10_000
    relative: bool = False
    details: bool = False
    runs: str | None = None

    @property
    def mean_test(self) -> anytime.Student | anytime.Asymptotic | anytime.Bounded:
        """The method that computes intervals and p-values from sums. Resampling tests replace its results."""
        significance_level = 1 - self.confidence
        if self.test not in ANYTIME:
            return anytime.Student(significance_level)
        method = anytime.Asymptotic if self.test == "anytime" else anytime.Bounded
        return method(significance_level, self.planned)

    @property
    def margin_of_pairs(self) -> Margin | None:
        """The margin of each pair of models, in options that `of_pairs` returned; None without a margin."""
        return cast("Margin | None", self.margin)

    def claims(self, frame: nw.DataFrame[Any]) -> Claims:
        """Return the p-values and margins of the rows of a result, which gates read (see `recframe.require`)."""
        metrics = values_of(frame["metric"])
        margins = [None if self.margin is None else self.margin.of_metric(metric) for metric in metrics]
        margin_texts = [None if margin is None else margin.text for margin in margins]
        return Claims.of(frame, self.correction, 1 - self.confidence, margin_texts)

    def of_pairs(self, metrics: Sequence[str]) -> Self:
        """Return the options with a margin for each pair of models; `metrics` names the metric of each pair."""
        return self if self.margin is None else replace(self, margin=self.margin.of_pairs(metrics))

    @classmethod
    def of(cls, labels: Labels, **named: Any) -> Self:
        """Return checked options, or raise for what can be checked without a frame."""
        for name, kind in (("test", Test), ("correction", Correction), ("interval", resampling.Interval)):
            choice(name, named[name], get_args(kind))
        _check_name(named["baseline"])
        if named.get("changed") is not None:
            choice("changed", named["changed"], get_args(Changed))
        if named["interval"] == "bca" and named["test"] != "bootstrap":
            msg = f"`interval='bca'` is the bootstrap's, but `test={named['test']!r}` is another test"
            raise OptionError(msg, "`test='bootstrap'`, or leave `interval=` out")
        named["planned"] = whole_number("planned", named.get("planned", 10_000), "`planned=10_000`", least=1, most=None)
        named["relative"] = flag("relative", named.get("relative", False))
        named["details"] = flag("details", named.get("details", False))
        named["margin"] = margin_of(named.get("margin"))
        named["runs"] = column_or_none("runs", named.get("runs"), labels)
        return super().of(labels, **named)


def _check_name(baseline: Any) -> None:
    """Raise if a baseline is data and not a name, because `==` on data compares its rows."""
    # Asks the type, because an expression of pandas has every attribute.
    kind = type(baseline)
    of_data = hasattr(kind, "__array__") and hasattr(kind, "__len__") and not issubclass(kind, str)
    if is_frame(baseline) or of_data:
        msg = f"`baseline=` is {a_type(baseline)}, but it is the name of a model or of a file"
        hint = "`baseline='prod.parquet'`, which evaluate with `save='prod.parquet'` writes; a state: "
        raise OptionTypeError(msg, hint + "recframe.merge_states(df.rec.state(...)).compare(baseline=state)")
