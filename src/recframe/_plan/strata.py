"""Strata of lists, such as the tasks of a benchmark: the mean of their means, in which each has a weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import narwhals as nw

from recframe._base.columns import total_column, total_weight_column
from recframe._engines.base import values_of
from recframe._engines.postponed import is_dry
from recframe._engines.registry import adapter_of
from recframe._plan.averages import is_any_known
from recframe.errors import DataWarning, InputError, OptionError, quoted, warn
from recframe.metrics._beyond_accuracy import ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recframe._base.columns import Frame
    from recframe._base.strata import Strata
    from recframe._plan.opened import Opened
    from recframe._plan.query import Query
    from recframe._plan.requirements import Requirements
    from recframe.metrics._record import Metric

STRATUM_NUMBER = "number of stratum"
STRATUM_WEIGHT = "weight of stratum"
"""The columns of a table of strata, beside the stratum itself."""


def check_strata(query: Query, metrics: Sequence[Metric], frame: Any) -> None:
    """Raise for what does not go with strata.

    Raises
    ------
    OptionError
        The call weighs lists, has another mean, or reports by strata.
    """
    if query.strata is None:
        return
    strata = f"`strata={query.strata.column!r}`"
    adapter = adapter_of(frame)
    together = next((metric.label for metric in metrics if isinstance(metric, ExposureMetric)), None)
    refused = {
        f"`weight={query.weight!r}`": (
            query.weight is not None,
            "leave `weight=` out: `strata_weights=` weights strata",
        ),
        f"`mean={query.mean!r}`": (query.mean != "arithmetic", "`mean='arithmetic'`"),
        f"`cluster={query.cluster!r}`": (
            query.cluster is not None,
            "`strata=` where the values are all there are, `cluster=` where they are a sample of more",
        ),
        "`counts=True`": (query.counts, "describe, which counts the lists of each metric"),
        f"`partitions={quoted(query.partitions)}`": (query.partitions is not None, "leave `partitions=` out"),
        str(together): (together is not None, "a metric with a value per list"),
    }
    for name, (is_given, hint) in refused.items():
        if is_given:
            msg = f"{strata} averages the means of strata, and does not go with {name}"
            raise OptionError(msg, hint)
    if query.strata.column in query.per or (query.strata.column,) == query.by:
        role = "per" if query.strata.column in query.per else "by"
        msg = f"{strata} is also the column of `{role}=`, so that nothing is averaged"
        raise OptionError(msg, "leave one of them out")
    if not (adapter.eager or adapter.answers_with_rows):
        msg = f"{strata} averages rows of polars and pandas frames only"
        raise OptionError(msg, adapter.remedy)


def check_unweighted(requirements: Requirements, strata: Strata) -> None:
    """Raise for metrics that weight their lists, because a stratum's mean counts all of its lists the same."""
    weighted = [value.metric.label for value in requirements.values.values() if value.weighting is not None]
    if weighted:
        msg = f"`strata={strata.column!r}` averages the means of strata, but {weighted[0]} weights its lists"
        raise OptionError(msg, "leave it out, or use a metric that counts every list the same")


def belongs_to_stratum(context: Opened, columns: Sequence[str]) -> nw.Expr:
    """Return whether a row has a stratum or a value; `table_of_strata` raises for a value without a stratum."""
    return is_any_known(*context.keys.strata, *columns)


def table_of_strata(context: Opened, strata: Strata, rows: nw.DataFrame[Any]) -> tuple[nw.DataFrame[Any], list[Any]]:
    """Return the strata in some rows with their numbers and weights, and their names as the user's frame has them."""
    (column,) = context.keys.strata
    table = rows.select(column).unique().sort(column, nulls_last=True).with_row_index(STRATUM_NUMBER)
    restored: nw.DataFrame[Any] = nw.from_native(context.session.finish(table.lazy(), {}, ()), eager_only=True)
    names = values_of(restored.sort(STRATUM_NUMBER)[column])
    if None in names:
        refuse_lists_without_stratum(strata, truth=context.truth is not None)
    if not names and not is_dry():
        msg = f"`strata={strata.column!r}` has no values, as the frame has no rows"
        raise InputError(msg, "give a frame with rows")
    weights = strata.weights_of(names) if names else []
    series = nw.new_series(STRATUM_WEIGHT, weights, nw.Float64(), backend=nw.get_native_namespace(table))
    return table.with_columns(series), names


def refuse_lists_without_stratum(strata: Strata, *, truth: bool) -> NoReturn:
    """Raise for lists with a value and without a stratum."""
    also = ", also in the truth, which has further lists" if truth else ""
    msg = f"`strata={strata.column!r}` is missing in some lists with a value, which belong to no stratum then"
    raise InputError(msg, f"give every list a value{also}, or leave its rows out")


def averaged(context: Opened, means: Frame, metrics: Sequence[Metric]) -> Frame:
    """Return the weighted means of the means of strata: missing if a stratum of the call has none."""
    strata = context.query.strata
    if strata is None:
        return means
    columns = [metric.column for metric in metrics]
    means = context.engine.collect_once(means.filter(belongs_to_stratum(context, columns)))
    rows = context.engine.collected(means)
    by = [name for name in context.keys.of_result if name not in context.keys.strata]
    table, names = table_of_strata(context, strata, rows)
    weighted = context.engine.join(means, table.drop(STRATUM_NUMBER).lazy(), context.keys.strata)
    sums = {total_column(name): nw.col(name) * nw.col(STRATUM_WEIGHT) for name in columns}
    sums |= {total_weight_column(name): (~nw.col(name).is_null()).cast(nw.Float64()) for name in columns}
    totals = context.engine.sum_exactly(weighted.select(*by, **sums), by, list(sums))
    has_all = {name: nw.col(total_weight_column(name)) == len(names) for name in columns}
    values = [nw.when(has_all[name]).then(nw.col(total_column(name))).alias(name) for name in columns]
    if not is_dry():
        # A group's stratum counts if the group has a mean there.
        numbers = dict(zip(table[context.keys.strata[0]].to_list(), names, strict=True))
        named = [numbers[code] for code in rows[context.keys.strata[0]].to_list()]
        groups = list(zip(*(rows[name].to_list() for name in by), strict=True)) if by else [()] * len(rows)
        for metric in metrics:
            has_mean = (~rows[metric.column].is_null()).to_list()
            stratum = first_missing(zip(groups, named, has_mean, strict=True), names)
            if stratum is not None:
                warn_of_missing(strata, context.query.averaging(metric.label).name, stratum)
                break
    return totals.select(*by, *values)


def first_missing(means: Iterable[tuple[Any, Any, bool]], names: Sequence[Any]) -> Any:
    """Return the first stratum without a mean in some group, of groups, strata and whether there is a mean."""
    strata_with_means: dict[Any, set[Any]] = {}
    for group, stratum, has_mean in means:
        strata_with_means.setdefault(group, set()).update([stratum] if has_mean else [])
    return next((name for strata in strata_with_means.values() for name in names if name not in strata), None)


def warn_of_missing(strata: Strata, metric: str, stratum: Any) -> None:
    """Warn that means are missing, as a stratum has no list with a value."""
    msg = (
        f"a mean over `strata={strata.column!r}` is missing: no list of {stratum!r} has a value of {metric}.\nLeave its"
        " rows out everywhere, or leave out the segments and models that lack it"
    )
    warn(msg, DataWarning)
