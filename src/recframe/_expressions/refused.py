"""What an expression of one group refuses: it sees scores and relevances, and no other lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals as nw

from recframe._columns import (
    GREATEST,
    POSITION,
    RELEVANCE,
    before_column,
    ideal_position_column,
    stop_column,
    upto_column,
    vacant_column,
)
from recframe._expressions import rows, values
from recframe._expressions.fields import columns_of
from recframe._plan import checks
from recframe.errors import OptionError
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from recframe.metrics._row import ALL_ROWS, FIRST_HIT, STOPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._plan.requirements import Requirements
    from recframe._query import Query
    from recframe.metrics import Metric


ExpressionTies = Literal["average", "best", "worst"]
"""The policies that read nothing but the relevance of tied rows."""


def check_call(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for policies that an expression does not have, and for metrics of recommended items."""
    for metric in metrics:
        if isinstance(metric, BeyondAccuracyMetric | ExposureMetric):
            raise _reads_more(metric, query)
    checks.check_call(query, metrics)
    if query.ties not in get_args(ExpressionTies):
        msg = f"ties={query.ties!r} orders tied rows by more than the relevance, which is all that an expression reads"
        raise OptionError(msg, f"ties='average', 'best' or 'worst', or {_on_frame(metrics[0])}")
    if query.undefined in ("raise", "raise_all"):
        msg = f"undefined={query.undefined!r} needs the data, which an expression does not have yet"
        raise OptionError(msg, "undefined='skip', or a number such as undefined=0")


def check_requirements(requirements: Requirements, query: Query) -> None:
    """Raise for metrics that read more than an expression can tell."""
    stopping = {stop_column(number): stop for number, stop in enumerate(requirements.numbers.stops)}
    columns = {*rows.KNOWN, *values.KNOWN, *stopping, POSITION, ALL_ROWS, FIRST_HIT, STOPS, *requirements.sum_columns}
    columns |= {ideal_position_column(number) for number in range(len(requirements.numbers.orders))}
    columns |= {vacant_column(metric.cutoff) for metric in requirements.metrics}
    for each in requirements.weight_sums:
        columns |= {before_column(each.number), upto_column(each.number)}
    terms = {each.metric.label: each for each in requirements.accuracy}
    for metric in requirements.metrics:
        name, term = query.averaging(metric.label).name, terms[metric.label]
        if (term.ranked.requested | term.ideal.requested | requirements.values[metric.label].requested) - columns:
            raise _reads_more(metric, query)
        stops = [stop for column, stop in stopping.items() if column in term.ranked.requested]
        if any(GREATEST in columns_of(stop(nw.col(RELEVANCE), nw.col(GREATEST))) for stop in stops):
            msg = f"{name} divides by the largest relevance of the frame, and an expression sees one group"
            raise OptionError(msg, "name the largest grade of the scale, such as max_relevance=4")


def _reads_more(metric: Metric, query: Query) -> OptionError:
    name = query.averaging(metric.label).name
    return OptionError(f"{name} reads more than the scores and the relevance of one group", _on_frame(metric))


def _on_frame(metric: Any) -> str:
    """Return the call of the frame that has a value for each list."""
    return f"df.rec.evaluate([{metric.label!r}], by='query', per='query')"
