"""Checks that custom metrics have a value for each list that they define."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._columns import Frame
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
    one: str = "list",
) -> Frame:
    """Return rows, computed if there is something to check; raise for those that lack a custom metric's value."""
    engine, values = context.engine, context.requirements.values
    lacking = [(metric, lacks) for metric in metrics if (lacks := values[metric.label].lacking) is not None]
    if not lacking or not engine.eager:
        return rows
    rows = engine.collect_once(rows)
    for metric, lacks in lacking:
        try:
            without = rows.filter(lacks.fill_null(value=False))
            count = engine.scalar(without.select(nw.len()))
        except TypeError as error:
            # pandas refuses to divide by None, which gives other engines a missing value.
            msg = f"metric {metric.label!r} cannot be computed: {error}"
            raise InputError(msg, HINT) from error
        if count:
            some = f", such as\n{context.session.finish(without.select(*key).head(3), key, ())}" if key else ""
            what = f"{count} {one}{'s' if count > 1 else ''} but gives no finite value or weight"
            msg = f"metric {metric.label!r} defines {what}{some}"
            raise InputError(msg, HINT)
    return rows
