"""What tests that hold at all looks, intervals of relative differences, and strata do not allow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from recframe._inference.comparison.options import ANYTIME, OF_SUMS, SIMULTANEOUS
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recframe._inference.comparison.options import Options

ASYMPTOTIC = "`test='anytime'`, which reads standard errors"


def check_looks(options: Options, weight: str | None) -> None:
    """Raise for what a test of this kind does not allow.

    Raises
    ------
    OptionError
        The correction is of one look, or the bounded test is to weigh or cluster lists, or to have a share as margin.
    """
    if options.test not in ANYTIME:
        return
    if options.correction in SIMULTANEOUS:
        msg = f"`correction={options.correction!r}` holds at one look, but `test={options.test!r}` at all of them"
        raise OptionError(msg, "`correction='holm'`, whose p-values hold at all looks too")
    if options.test == "anytime":
        return
    if options.cluster or weight:
        msg = f"`test={options.test!r}` accepts neither `cluster=` nor `weight=`, as it bounds what a list adds"
        raise OptionError(msg, ASYMPTOTIC)
    if options.margin is not None and options.margin.any_relative:
        msg = f"`test={options.test!r}` accepts no margin in percent, as the differences have no known range then"
        raise OptionError(msg, "give the margin as a number, or " + ASYMPTOTIC)


def check_bounded(options: Options, metrics: Iterable[tuple[str, tuple[float, float], bool]]) -> None:
    """Raise for metrics that a test of bounded values does not allow: their names, ranges, and whether lists weigh.

    Raises
    ------
    OptionError
        A metric has no greatest value, or weighs lists.
    """
    for name, bounds, weighs in metrics if options.test == "anytime-bounded" else ():
        if weighs or not math.isfinite(bounds[1]):
            why = "which weighs lists" if weighs else "which has no greatest value"
            msg = f"`test={options.test!r}` needs values within known bounds, but one of the metrics is {name}, {why}"
            raise OptionError(msg, ASYMPTOTIC)


def check_relative(options: Options) -> None:
    """Raise for tests and corrections that have no interval of a relative difference.

    Raises
    ------
    OptionError
        The test is none of standard errors, or the correction changes the interval of the difference.
    """
    if not options.relative:
        return
    if options.test not in OF_SUMS or options.test == "anytime-bounded":
        msg = f"`relative=True` needs a test with a standard error, but `test={options.test!r}` has none"
        raise OptionError(msg, "`test='t'` or `test='anytime'`")
    if options.correction in SIMULTANEOUS:
        msg = f"`relative=True` gives the interval of each row, but `correction={options.correction!r}` one of all rows"
        raise OptionError(msg, "`correction='holm'`")


def check_stratified(options: Options) -> None:
    """Raise for tests and corrections that have no version for strata.

    Raises
    ------
    OptionError
        The test is not Student's t, or the correction reads the values of all lists.
    """
    if options.strata is None:
        return
    strata = f"`strata={options.strata.column!r}` does not go with"
    if options.test != "t":
        msg = f"{strata} `test={options.test!r}`"
        raise OptionError(msg, "`test='t'`, whose interval is stratified")
    if options.correction in SIMULTANEOUS:
        msg = f"{strata} `correction={options.correction!r}`, which draws lists of all strata"
        raise OptionError(msg, "`correction='holm'`")
