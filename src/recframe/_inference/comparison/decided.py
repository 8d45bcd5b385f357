"""Verdicts and adjusted p-values, which depend on all tests of a call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._inference.comparison.margins import HAS_MARGIN, MARGIN_ENDS
from recframe._inference.comparison.options import SIMULTANEOUS
from recframe._inference.comparison.simultaneous import adjust_together
from recframe._inference.lists.claims import P_OF_DEMANDS
from recframe._inference.statistics.power import detectable
from recframe._inference.statistics.verdicts import Evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._inference.comparison.options import Options
    from recframe._inference.comparison.tested import Tested


def correct(compared: Sequence[Tested], options: Options) -> None:
    """Add to the statistics of all pairs the numbers that depend on the number of tests."""
    upwards = [tested.upwards for tested in compared]
    if options.correction in SIMULTANEOUS:
        # Gates read the tests of single rows.
        decide([tested.numbers for tested in compared], upwards, replace(options, correction="none"))
        tables = adjust_together(compared, options)
        tests = decide(tables, upwards, replace(options, correction="none"))
        for tested, table in zip(compared, tables, strict=True):
            tested.numbers.update({name: table[name] for name in ("p_adjusted", "p_margin", "verdict")})
    else:
        tests = decide([tested.numbers for tested in compared], upwards, options)
    tests = 1 if options.correction == "none" else tests
    for tested in compared if options.details else ():
        level = (1 - options.confidence) / tests
        reach = options.mean_test.end(tested.sums, tested.bounds, level)
        tested.numbers["detectable"] = detectable(tested.sums, 1 - level, reach=reach)


def decide(tables: Sequence[dict[str, Any]], upwards: Sequence[Any], options: Options) -> int:
    """Add adjusted p-values, verdicts and what gates read to statistics, and return the number of tests.

    Parameters
    ----------
    tables : sequence of dict
        Statistics by column, arrays of one shape: p-values, directions, and the p-values at the ends of a margin.
    upwards : sequence of array
        1 if higher values of the metric are better, otherwise -1.
    options : Options
        The correction and the confidence.
    """
    names = ["p", "direction", *(name for name in MARGIN_ENDS if name in tables[0])]
    p, direction, *ends = (np.concatenate([table[name].ravel() for table in tables]) for name in names)
    signs = [np.broadcast_to(sign, table["p"].shape).ravel() for sign, table in zip(upwards, tables, strict=True)]
    unadjusted = Evidence.of(p, direction, np.concatenate(signs), tuple(ends))
    evidence = unadjusted.adjusted(options.correction)
    columns = {
        "p_adjusted": evidence.p,
        "p_margin": _p_margin(evidence, tables),
        "verdict": evidence.verdicts(options.confidence),
        P_OF_DEMANDS["better"]: unadjusted.p_better,
        P_OF_DEMANDS["not worse"]: unadjusted.p_not_worse,
    }
    borders = np.cumsum([table["p"].size for table in tables])[:-1]
    for name, column in columns.items():
        for table, part in zip(tables, np.split(column, borders), strict=True):
            table[name] = part.reshape(table["p"].shape)
    return max(int(np.isfinite(p).sum()), 1)


def _p_margin(evidence: Evidence, tables: Sequence[dict[str, Any]]) -> Any:
    """Return the adjusted p-values of a loss as large as the margin, missing in rows without a margin."""
    if evidence.loss is None:
        return np.full_like(evidence.p, np.nan)
    shown = [np.broadcast_to(table.get(HAS_MARGIN, True), table["p"].shape).ravel() for table in tables]
    return np.where(np.concatenate(shown), evidence.loss, np.nan)
