"""`sampled=`: metrics of full lists, estimated from lists with one relevant item and a sample of the other items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import RELEVANT, ROWS
from recframe.errors import InputError, OptionError
from recframe.metrics import names_where
from recframe.metrics._sampled import SampledMetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._plan.opened import Opened
    from recframe._plan.query import Query
    from recframe.metrics._record import Metric


def is_estimated(metric: Metric) -> bool:
    """Return whether a metric allows `sampled=`."""
    return metric.ignores_sampling or metric.of_rank(1.0) is not None


def estimates(query: Query, metrics: Sequence[Metric]) -> Sequence[Metric]:
    """Return metrics that estimate the same metrics of full lists."""
    assert query.sampled is not None  # noqa: S101 - for the type checker
    if query.propensity is not None:
        msg = f"`sampled={query.sampled}` and `propensity={query.propensity!r}` cannot be combined"
        raise OptionError(msg, "give one of them")
    estimated: list[Metric] = []
    for metric in metrics:
        if metric.ignores_sampling:
            estimated.append(metric)
        elif metric.of_rank(1.0) is not None:
            estimated.append(SampledMetric(metric, *query.sampled, query.estimator))
        else:
            name = query.called(metric.label)
            estimated_metrics = "metrics of the rank of one relevant item"
            msg = f"`sampled={query.sampled}` estimates {estimated_metrics}, but {name} is not such a metric"
            raise OptionError(msg, f"leave `sampled=` out, or use one of {', '.join(names_where(is_estimated))}")
    return estimated


def check_sampled(context: Opened, lists: Frame) -> Frame:
    """Return the lists, or raise if a list does not have one relevant item and the number of others in ``sampled=``."""
    if not any(isinstance(terms.metric, SampledMetric) for terms in context.requirements.accuracy):
        return lists
    engine = context.engine
    sampled = context.query.sampled
    assert sampled is not None  # noqa: S101 - for the type checker
    lists = engine.collect_once(lists)
    relevant = nw.col(RELEVANT)
    rows = nw.col(ROWS)
    several = engine.scalar(lists.select(relevant.max()))
    if several is not None and several > 1:
        msg = f"`sampled={sampled}` needs lists with one relevant item, but a list has {several:g}"
        raise InputError(msg, "make a list of each relevant item, with a sample of its own")
    wrong = lists.filter((relevant > 0) & (rows != sampled[0] + 1))
    wrong_size = engine.scalar(wrong.select(rows.max()))
    if wrong_size is not None:
        msg = f"`sampled={sampled}` means lists of {sampled[0] + 1} rows, but a list has {wrong_size:g}"
        raise InputError(msg, "the first number of `sampled=` counts a list's rows without the relevant one")
    return lists
