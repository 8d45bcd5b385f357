"""The values of all models, list by list: one row per list."""

from __future__ import annotations

import math
from copy import copy
from itertools import product
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._columns import CATALOG_SIZE, MODEL
from recframe._lists.clusters import check_clusters
from recframe._lists.keys import PLACE, as_user_has, floats_of, numbered, rows_of, segments_of
from recframe._plan.averages import in_reported_segments, is_any_known, refuse_all_undefined
from recframe.errors import OptionError
from recframe.metrics import METRICS, Metric
from recframe.metrics._beyond_accuracy import ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Session
    from recframe._plan.opened import Opened
    from recframe._plan.plan import Plan
    from recframe._query import Query


def value_column(model: int, metric: int) -> str:
    """Return the name of the values of a metric under a model, both by their numbers."""
    return f"value {model} {metric}"


def weight_column(model: int, metric: int) -> str:
    """Return the name of the weights of a metric that weighs lists."""
    return f"weight {model} {metric}"


def check_by_list(metrics: Sequence[Metric], call: str, remedy: str = "") -> None:
    """Raise for metrics of all lists together, which have no value per list.

    Raises
    ------
    OptionError
        A metric has no value per list.
    """
    together = [metric for metric in metrics if isinstance(metric, ExposureMetric)]
    if together:
        msg = f"{call} needs a value per list, but {together[0].label} is one value of all lists together"
        raise OptionError(msg, remedy or f"leave {together[0].label} out; evaluate computes it")


def check_of_lists(plan: Plan, what: str) -> None:
    """Raise for metrics whose values of lists depend on the other lists of the frame, which other frames lack.

    Raises
    ------
    OptionError
        A metric reads all lists of the frame.
    """
    names_items = plan.frames.catalog_size is not None or "catalog" in plan.context.session.frames
    for metric in plan.list_metrics:
        counts = CATALOG_SIZE in plan.context.requirements.values[metric.label].requested and not names_items
        for reads, number, remedy in (
            (metric.reads_groups, "the groups of all items", "evaluate it in a call of all lists"),
            (metric.reads_greatest, "the largest relevance of all lists", "err(max_relevance=4) names it"),
            (counts, "the number of all items", "`catalog=` counts or names the items that could be recommended"),
        ):
            if reads:
                msg = f"{metric.label} reads {number}, which {what} does not hold"
                raise OptionError(msg, remedy)


def range_with_number(metric: Metric, query: Query) -> tuple[float, float]:
    """Return the range of a metric, and of a number for what is undefined, which counts like any other value."""
    undefined = query.averaging(metric.label).undefined
    values = [*metric.range, *([undefined] if isinstance(undefined, float) else [])]
    return min(values), max(values)


class ListValues:
    """The values of all models, list by list.

    Parameters
    ----------
    plan : Plan
        The plan of the call.

    Attributes
    ----------
    models : list
        The names of the models, in the order of the call or of the rows; of lazy frames in long format, sorted.
    engine : Engine
        What computes the frame.
    frame : Frame
        One row per list: the columns to report by, the values and the weights of each model.
    weighted : set of int
        The metrics that weigh lists, by their numbers.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._context = plan.context
        self.engine = plan.context.engine
        self._metrics = plan.list_metrics
        frames = plan.list_values()
        self.weighted = {number for number, metric in enumerate(self._metrics) if metric.column in plan.weighted}
        if self._context.keys.long:
            lists = self.engine.collect_once(frames[0]) if self.engine.eager else frames[0]
            codes, self.models = model_names(self._context.session, self._context.models)
            frames = [lists.filter(is_model(code)) for code in codes]
        else:
            self.models = [plan.context.query.model_name(index) for index in range(len(plan.context.query.orders))]
        self.frame = self._joined(frames)

    def with_model(self, other: ListValues, name: str) -> ListValues:
        """Return these values and those of the same models in another order of rows, under one name, after them."""
        both, keys = copy(self), self._context.keys.key
        both.models = [*self.models, *([name] * len(self.models))]
        columns = dict(zip(both.columns[len(self.columns) :], other.columns, strict=True))
        both.frame = self.engine.join(self.frame, other.frame.select(*keys, **columns), keys)
        return both

    def without_unknown(self) -> ListValues:
        """Return the values that are reported: not those of an unknown segment in which no list has a value.

        Of the metrics of all lists together, such a segment has values.
        """
        if not self._context.keys.reports_attributes or self._plan.context.requirements.exposure:
            return self
        values, ones = copy(self), product(range(len(self.models)), range(len(self._metrics)))
        has_value = is_any_known(*(value_column(*one) for one in ones))
        values.frame = in_reported_segments(self.frame, self._context.keys.per, has_value)
        return values

    def columns_of(self, model: int) -> dict[str, str]:
        """Return the columns of the values and weights of a model, each with what the plan calls it."""
        columns = {value_column(model, number): metric.column for number, metric in enumerate(self._metrics)}
        for number in sorted(self.weighted):
            columns[weight_column(model, number)] = self._plan.weighted[self._metrics[number].column]
        return columns

    @property
    def columns(self) -> list[str]:
        """The columns of the values and weights of each model."""
        return [name for model in range(len(self.models)) for name in self.columns_of(model)]

    def in_segment(self, part: Mapping[str, Any], model: int, metric: int) -> tuple[Any, Any]:
        """Return the values of a metric under a model in a part of the lists, and the weights of these lists."""
        values = part[value_column(model, metric)]
        if metric not in self.weighted:
            return values, np.ones(len(values))
        return values, np.nan_to_num(part[weight_column(model, metric)])

    def range_of(self, metric: int) -> tuple[float, float]:
        """Return the least and the greatest value of a list under a metric, by its number, where these are certain.

        Estimates may leave the range of their metric, and a custom metric may leave that which it inherits.
        """
        record, query = self._metrics[metric], self._context.query
        custom = type(record) not in METRICS.values() and type(record).range is Metric.range
        estimated = query.propensity is not None or query.sampled is not None
        if custom or estimated:
            return -math.inf, math.inf
        return range_with_number(record, query)

    def _joined(self, frames: list[Frame]) -> Frame:
        """Return one row per list with the values of all models."""
        keys = self._context.keys.key
        columns = list(dict.fromkeys([*keys, *self._context.keys.per, *self._context.keys.list_columns]))
        if not frames:
            msg = "the frame has no model"
            raise OptionError(msg, "give a frame with rows")
        if self._context.query.undefined == "raise_all":
            of = [f" of the model {model!r}" if self._context.query.several else "" for model in self.models]
            one_by_one = zip(frames, of, strict=True)
            frames = [refuse_all_undefined(self._context, frame, self._metrics, of) for frame, of in one_by_one]
        lists = frames[0].select(*columns, **self.columns_of(0))
        for model, frame in enumerate(frames[1:], start=1):
            lists = self.engine.join(lists, frame.select(*keys, **self.columns_of(model)), keys)
        return lists


def segments(
    values: ListValues,
    context: Opened,
    names: Sequence[str] | None = None,
    reported: nw.DataFrame[Any] | None = None,
    *,
    by_key: bool = False,
) -> tuple[nw.DataFrame[Any], list[dict[str, Any]]]:
    """Return the values of `per`, and for each the columns of its lists as arrays.

    Parameters
    ----------
    values : ListValues
        The values of lists.
    context : Opened
        The frames of the call.
    names : sequence of str, optional
        The columns to return of each list, None: all values and weights; and also the cluster, as ``"cluster"``.
    reported : DataFrame, optional
        The values of `per`, in order; None: sorted.
    by_key : bool
        Whether lists are sorted by their keys. Else they come in any order.
    """
    per = list(context.keys.per)
    cluster = [] if context.keys.cluster is None else [nw.col(context.keys.cluster).alias("cluster of list")]
    keys, names = list(dict.fromkeys([*per, *context.keys.key])), values.columns if names is None else names
    table = values.engine.collected(values.frame.select(*keys, *names, *cluster))
    table = sorted_by_key(table, context, context.keys.key) if by_key else table
    columns = {name: floats_of(table[name]) for name in names}
    if cluster:
        columns["cluster"], _ = numbered(rows_of(table, ["cluster of list"]))
    if not per:
        _check_clusters(context, [columns])
        return table.select(), [columns]
    reported, numbers = segments_of(table, per, reported)
    order, counts = np.argsort(numbers, kind="stable"), np.bincount(numbers, minlength=len(reported))
    ends = zip(np.cumsum(counts) - counts, np.cumsum(counts), strict=True)
    parts = [order[start:end] for start, end in ends]
    segments_of_lists = [{name: column[part] for name, column in columns.items()} for part in parts]
    _check_clusters(context, segments_of_lists)
    return reported, segments_of_lists


def _check_clusters(context: Opened, parts: Sequence[Mapping[str, Any]]) -> None:
    """Raise if there are clusters, but no segment has two of them."""
    if context.keys.cluster is not None:
        clusters = [part["cluster"] for part in parts]
        counts = [len(np.unique(numbers)) for numbers in clusters]
        check_clusters(context.query.cluster, context.query.per, [*map(len, clusters)], counts)


def sorted_by_key(table: nw.DataFrame[Any], context: Opened, keys: Sequence[str]) -> nw.DataFrame[Any]:
    """Sort rows by what the user's columns of keys hold: a number in the plan may be one of another value."""
    table = table.sort(*keys, nulls_last=True)
    if not context.engine.eager or not context.keys.key_names:
        return table
    numbered = table.select(*keys).with_row_index(PLACE)
    order: list[int] = as_user_has(context.session, numbered.lazy(), keys)[PLACE].to_list()
    return table[order]


def model_names(session: Session, lists: Frame) -> tuple[list[Any], list[Any]]:
    """Return the models of a frame in long format as the plan stores them, and their names."""
    models = session.engine.collected(lists.select(MODEL).unique())
    codes = names = models[MODEL].to_list()
    if session.engine.eager:
        column = as_user_has(session, models.lazy())[MODEL]
        missing = column.is_null().to_list()
        names = [None if gone else name for name, gone in zip(column.to_list(), missing, strict=True)]
    # Of eager frames, the plan's numbers are those of first appearance; the rows of others have no order.
    order = sorted(range(len(codes)), key=lambda row: (codes[row] is None, codes[row]))
    return [codes[row] for row in order], [names[row] for row in order]


def models_of_rows(context: Opened, table: nw.DataFrame[Any], models: Sequence[Any]) -> Any:
    """Return the number of the model of each row, among the models of a call."""
    if MODEL not in table.columns:
        return np.zeros(len(table), dtype=np.intp)
    codes = table[MODEL].to_list()
    if context.keys.long:
        names = dict(zip(*model_names(context.session, table.lazy()), strict=True))
        codes = [names[code] for code in codes]
    # A model of an eager frame is its number.
    is_number = context.engine.eager and not context.keys.long
    return np.array(codes if is_number else [models.index(code) for code in codes], dtype=np.intp)


def is_model(code: Any) -> nw.Expr:
    """Return whether a row is that of a model, as the plan stores it."""
    return nw.col(MODEL).is_null() if code is None else nw.col(MODEL) == code
