"""Checks that a custom metric has a finite value for each list where `defined()` is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._plan.opened import Opened
    from recframe.metrics._record import Metric


HINT = (
    "divide by sums.ranked(self.k), which knows k=None, or use sums.ratio(part, whole), which is 0 where whole is 0;"
    " leave lists without a value out by defined()"
)


def check_values(
    context: Opened,
    rows: Frame,
    metrics: Sequence[Metric],
    key: Mapping[str, str],
    row_name: str = "list",
) -> Frame:
    """Return the rows, or raise if a custom metric is defined in a row and has no finite value or weight there.

    Rows are computed only if there is a custom metric to check.
    """
    engine = context.engine
    values = context.requirements.values
    lacking = [(metric, lacks) for metric in metrics if (lacks := values[metric.label].lacking) is not None]
    if not lacking or not engine.eager:
        return rows
    rows = engine.collect_once(rows)
    for metric, lacks in lacking:
        try:
            without = rows.filter(lacks.fill_null(value=False))
            count = engine.scalar(without.select(nw.len()))
        except TypeError as error:
            # pandas raises for a division by None. On other engines the result is missing.
            msg = f"metric {metric.label!r} cannot be computed: {error}"
            raise InputError(msg, HINT) from error
        if count:
            examples = f", such as\n{context.session.finish(without.select(*key).head(3), key, ())}" if key else ""
            rows_text = f"{count} {row_name}{'s' if count > 1 else ''}"
            msg = f"metric {metric.label!r} defines {rows_text} but gives no finite value or weight{examples}"
            raise InputError(msg, HINT)
    return rows
