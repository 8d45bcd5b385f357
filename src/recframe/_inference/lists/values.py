"""The values of all models, list by list: one row per list."""

from __future__ import annotations

import math
from copy import copy
from itertools import product
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._base.columns import CATALOG_SIZE, MODEL
from recframe._inference.lists.clusters import check_clusters
from recframe._inference.lists.keys import ROW_NUMBER, floats_of, numbered, restore_user_values, rows_of, segments_of
from recframe._inference.lists.strata import StrataOfLists
from recframe._plan.averages import in_reported_segments, is_any_known, refuse_all_undefined
from recframe._plan.strata import belongs_to_stratum
from recframe.errors import OptionError
from recframe.metrics import METRICS, Metric
from recframe.metrics._beyond_accuracy import ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Session
    from recframe._plan.opened import Opened
    from recframe._plan.plan import Plan
    from recframe._plan.query import Query


def value_column(model: int, metric: int) -> str:
    """Return the column of a metric's values under a model, both given by number."""
    return f"value {model} {metric}"


def weight_column(model: int, metric: int) -> str:
    """Return the column of the lists' weights for a metric under a model, both given by number."""
    return f"weight {model} {metric}"


def check_values_per_list(metrics: Sequence[Metric], call: str, remedy: str = "") -> None:
    """Raise for exposure metrics, which have one value for all lists together.

    Raises
    ------
    OptionError
        A metric has no value per list.
    """
    together = [metric for metric in metrics if isinstance(metric, ExposureMetric)]
    if together:
        msg = f"{call} needs a value per list, but {together[0].label} is one value of all lists together"
        raise OptionError(msg, remedy or f"leave {together[0].label} out; evaluate computes it")


def check_independent_lists(plan: Plan, stored: str) -> None:
    """Raise for metrics whose value of a list depends on other lists, because a stored result lacks these.

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
                msg = f"{metric.label} reads {number}, which {stored} does not hold"
                raise OptionError(msg, remedy)


def range_with_number(metric: Metric, query: Query) -> tuple[float, float]:
    """Return the range of a metric, widened to include the number in `undefined=`, if it is a number."""
    undefined = query.averaging(metric.label).undefined
    values = [*metric.range, *([undefined] if isinstance(undefined, float) else [])]
    return min(values), max(values)


class ListValues:
    """The values of all models for each list.

    Parameters
    ----------
    plan : Plan
        The plan of the call.

    Attributes
    ----------
    models : list
        The names of the models in the order of the call, or of the rows in long format; sorted for lazy frames.
    engine : Engine
        The engine of the frame.
    frame : Frame
        One row per list with its key, the columns of `per`, and the values and weights of each model.
    weighted : set of int
        The numbers of the metrics that weight lists.
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
        """Return these values and, after them, other values of the same lists as further models, all called `name`."""
        both = copy(self)
        keys = self._context.keys.key
        both.models = [*self.models, *([name] * len(self.models))]
        columns = dict(zip(both.columns[len(self.columns) :], other.columns, strict=True))
        both.frame = self.engine.join(self.frame, other.frame.select(*keys, **columns), keys)
        return both

    def without_unknown(self) -> ListValues:
        """Return the values without the unknown segment, if no list in it has a value.

        With exposure metrics the segment stays, because it has values of all its lists together.
        """
        if not self._context.keys.reports_attributes or self._plan.context.requirements.exposure:
            return self
        values = copy(self)
        numbers = product(range(len(self.models)), range(len(self._metrics)))
        has_value = is_any_known(*(value_column(model, metric) for model, metric in numbers))
        values.frame = in_reported_segments(self.frame, self._context.keys.per, has_value)
        return values

    def columns_of(self, model: int) -> dict[str, str]:
        """Return the columns of a model's values and weights, each with its name in the plan."""
        columns = {value_column(model, number): metric.column for number, metric in enumerate(self._metrics)}
        for number in sorted(self.weighted):
            columns[weight_column(model, number)] = self._plan.weighted[self._metrics[number].column]
        return columns

    @property
    def columns(self) -> list[str]:
        """The columns of values and weights of all models."""
        return [name for model in range(len(self.models)) for name in self.columns_of(model)]

    def in_segment(self, part: Mapping[str, Any], model: int, metric: int) -> tuple[Any, Any]:
        """Return a metric's values under a model in a segment, and the weights of the lists, 1 if there are none."""
        values = part[value_column(model, metric)]
        if metric not in self.weighted:
            return values, np.ones(len(values))
        return values, np.nan_to_num(part[weight_column(model, metric)])

    def range_of(self, metric: int) -> tuple[float, float]:
        """Return the least and the greatest value that a list may have under a metric; infinite if not certain.

        Estimates may leave the range of their metric. A custom metric may leave the range that it inherits.
        """
        record = self._metrics[metric]
        query = self._context.query
        custom = type(record) not in METRICS.values() and type(record).range is Metric.range
        estimated = query.propensity is not None or query.sampled is not None
        if custom or estimated:
            return -math.inf, math.inf
        return range_with_number(record, query)

    def _joined(self, frames: list[Frame]) -> Frame:
        """Return one row per list with the values of all models, from one frame per model."""
        keys = self._context.keys.key
        columns = list(dict.fromkeys([*keys, *self._context.keys.per, *self._context.keys.list_columns]))
        if not frames:
            msg = "the frame has no model"
            raise OptionError(msg, "give a frame with rows")
        texts = [f" of the model {model!r}" if self._context.query.several else "" for model in self.models]
        frames = [
            refuse_all_undefined(self._context, frame, self._metrics, text)
            for frame, text in zip(frames, texts, strict=True)
        ]
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
    """Return the segments, and for each of them the columns of its lists as arrays.

    Parameters
    ----------
    values : ListValues
        The values of lists.
    context : Opened
        The frames of the call.
    names : sequence of str, optional
        The columns to return; None: all values and weights. The cluster is added as ``"cluster"``, if there is one, and
        the number of the stratum as ``"stratum"``.
    reported : DataFrame, optional
        The segments in the order to return them; None: sorted.
    by_key : bool
        Whether to sort the lists by their keys. Otherwise their order is not defined.
    """
    per = list(context.keys.per)
    cluster = [] if context.keys.cluster is None else [nw.col(context.keys.cluster).alias("cluster of list")]
    keys = list(dict.fromkeys([*per, *context.keys.key, *context.keys.strata]))
    if names is None:
        names = values.columns
    frame = _in_strata(values, context)
    table = values.engine.collected(frame.select(*keys, *names, *cluster))
    table = sorted_by_key(table, context, context.keys.key) if by_key else table
    strata = StrataOfLists.of(context, table)
    columns = {name: floats_of(table[name]) for name in names}
    if cluster:
        columns["cluster"], _ = numbered(rows_of(table, ["cluster of list"]))
    if strata is not None:
        columns["stratum"] = strata.numbers_of(table)
    if not per:
        _check_clusters(context, [columns])
        return table.select(), [columns]
    reported, numbers = segments_of(table, per, reported)
    order = np.argsort(numbers, kind="stable")
    counts = np.bincount(numbers, minlength=len(reported))
    ends = np.cumsum(counts)
    rows_of_segments = [order[start:end] for start, end in zip(ends - counts, ends, strict=True)]
    arrays = [{name: column[rows] for name, column in columns.items()} for rows in rows_of_segments]
    _check_clusters(context, arrays)
    return reported, arrays


def strata_of_lists(values: ListValues, context: Opened) -> StrataOfLists | None:
    """Return the strata of the call's lists, numbered as in `segments`; None if the call names none."""
    if context.query.strata is None:
        return None
    return StrataOfLists.of(context, values.engine.collected(_in_strata(values, context).select(*context.keys.strata)))


def _in_strata(values: ListValues, context: Opened) -> Frame:
    """Return the lists, without those that have neither a stratum nor a value."""
    if context.query.strata is None:
        return values.frame
    return values.frame.filter(belongs_to_stratum(context, values.columns))


def _check_clusters(context: Opened, parts: Sequence[Mapping[str, Any]]) -> None:
    """Raise if the call clusters lists and every segment is a single cluster."""
    if context.keys.cluster is not None:
        clusters = [part["cluster"] for part in parts]
        counts = [len(np.unique(numbers)) for numbers in clusters]
        check_clusters(context.query.cluster, context.query.per, [*map(len, clusters)], counts)


def sorted_by_key(table: nw.DataFrame[Any], context: Opened, keys: Sequence[str]) -> nw.DataFrame[Any]:
    """Return rows sorted by the user's keys. The plan's numbers for keys do not sort like the keys."""
    table = table.sort(*keys, nulls_last=True)
    if not context.engine.eager or not context.keys.key_names:
        return table
    numbered = table.select(*keys).with_row_index(ROW_NUMBER)
    order: list[int] = restore_user_values(context.session, numbered.lazy(), keys)[ROW_NUMBER].to_list()
    return table[order]


def model_names(session: Session, lists: Frame) -> tuple[list[Any], list[Any]]:
    """Return the models of a frame in long format: the codes that the plan stores, and their names."""
    models = session.engine.collected(lists.select(MODEL).unique())
    codes = models[MODEL].to_list()
    names = codes
    if session.engine.eager:
        column = restore_user_values(session, models.lazy())[MODEL]
        missing = column.is_null().to_list()
        names = [None if is_missing else name for name, is_missing in zip(column.to_list(), missing, strict=True)]
    # On eager frames, codes number the models by first appearance. Lazy rows have no order, so names are sorted.
    order = sorted(range(len(codes)), key=lambda row: (codes[row] is None, codes[row]))
    return [codes[row] for row in order], [names[row] for row in order]


def models_of_rows(context: Opened, table: nw.DataFrame[Any], models: Sequence[Any]) -> Any:
    """Return the number of each row's model among the models of a call."""
    if MODEL not in table.columns:
        return np.zeros(len(table), dtype=np.intp)
    codes = table[MODEL].to_list()
    if context.keys.long:
        names = dict(zip(*model_names(context.session, table.lazy()), strict=True))
        codes = [names[code] for code in codes]
    # In wide format, eager frames already hold the models' numbers.
    is_number = context.engine.eager and not context.keys.long
    return np.array(codes if is_number else [models.index(code) for code in codes], dtype=np.intp)


def is_model(code: Any) -> nw.Expr:
    """Return whether a row belongs to the model with this code in the plan."""
    return nw.col(MODEL).is_null() if code is None else nw.col(MODEL) == code
