"""Options of `compare` that exclude each other: with tests for repeated looks, relative differences, and strata."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from recframe._inference.comparison.options import ANYTIME, SIMULTANEOUS, TESTS_OF_SUMS
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recframe._inference.comparison.options import Options

ASYMPTOTIC = "`test='anytime'`, which reads standard errors"
"""The remedy for calls that the bounded test refuses."""


def check_looks(options: Options, weight: str | None) -> None:
    """Raise for options that a test for repeated looks at growing data does not allow.

    Raises
    ------
    OptionError
        The correction is valid at a single look only. Or the bounded test gets weights, clusters, or a margin in
        percent.
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
    """Raise for metrics that the bounded test does not allow.

    Parameters
    ----------
    options : Options
        The options of the comparison.
    metrics : iterable of tuple
        The name of each metric, its range, and whether its lists have weights.

    Raises
    ------
    OptionError
        A metric has no greatest value, or its lists have weights.
    """
    for name, bounds, is_weighted in metrics if options.test == "anytime-bounded" else ():
        if is_weighted or not math.isfinite(bounds[1]):
            why = "which weighs lists" if is_weighted else "which has no greatest value"
            msg = f"`test={options.test!r}` needs values within known bounds, but one of the metrics is {name}, {why}"
            raise OptionError(msg, ASYMPTOTIC)


def check_relative(options: Options) -> None:
    """Raise for tests and corrections that have no interval of a relative difference.

    Raises
    ------
    OptionError
        The test reads no standard error, or the correction changes the interval of the difference.
    """
    if not options.relative:
        return
    if options.test not in TESTS_OF_SUMS or options.test == "anytime-bounded":
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
