"""The call `agreement`: how similar the rankings of each pair of models are."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals as nw

from recframe._base.columns import ITEM, MODEL, POSITION, ROW, SCORE, key_column, score_column
from recframe._base.roles import CALL_ROLES
from recframe._base.values import number, whole_number
from recframe._data.common import check_several, words_of
from recframe._engines.column_spec import Source
from recframe._engines.registry import is_lazy, labels_of, open_frames
from recframe._inference.agreement.overlap_bounds import BOUNDS, with_bounds
from recframe._inference.agreement.rank_correlation import (
    KENDALL,
    SPEARMAN,
    common_of_columns,
    common_of_rows,
    correlations,
)
from recframe._inference.agreement.rank_overlap import (
    LEFT,
    NUMBER,
    RIGHT,
    Ranking,
    overlaps,
    refuse_repeated_items,
)
from recframe._inference.agreement.top_correlation import TOP_WEIGHTED
from recframe._inference.lists.keys import restore_user_values
from recframe._inference.statistics import check_installed
from recframe._plan.averages import several_segments
from recframe._plan.query import check_apart
from recframe._plan.sources import (
    attribute_names,
    item_spec,
    key_names,
    key_specs,
    model_spec,
    name_of_model,
    score_specs,
    segment_specs,
    with_list_key,
)
from recframe.errors import OptionError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._base.values import Labels
    from recframe._inference.agreement.intervals import Interval
    from recframe._plan.query import Query
    from recframe._plan.request import Request

Measure = Literal[
    "overlap", "jaccard", "rbo", "kendall", "spearman", "rbo_min", "rbo_max", "rbo_residual", "tau_ap", "weighted_tau"
]
"""A measure of how similar two rankings are."""
DEFAULT = ("overlap", "jaccard", "rbo", "kendall", "spearman")
"""The measures of a call that names none."""
OTHER = "other"
LISTS = "lists"
"""The number of lists that both models rank."""
MODEL_ONLY = "model_only"
"""The number of lists that only the first model ranks."""
OTHER_ONLY = "other_only"
"""The number of lists that only the second model ranks."""
IN_BOTH = "in_both"
"""The share of lists that both models rank."""
CORRELATED = "correlated"
"""The number of lists with a rank correlation."""
CORRELATIONS = (KENDALL, SPEARMAN, *TOP_WEIGHTED)
"""The measures without a cutoff, which read all items that both models rank."""
LOW = "{}_low".format
HIGH = "{}_high".format
"""The names of the ends of a measure's interval."""


def agreement(request: Request, k: Any, measures: Any, p: Any, intervals: Mapping[str, Any]) -> Any:
    """Return how similar the rankings of each pair of models are; see `Rec.agreement`."""
    is_measure = isinstance(k, str) and k in get_args(Measure)
    hint = f"measures={k!r}, whose column has this name; k=10 is the cutoff" if is_measure else "k=10"
    k = whole_number("k", k, hint)
    p = number("p", p, "p=0.9")
    if not 0 < p < 1:
        msg = f"p={p:g} is not between 0 and 1"
        raise OptionError(msg, "p=0.9")
    remedy = "measures=['overlap', 'rbo'], or leave it out for all"
    chosen = words_of("measures", DEFAULT if measures is None else measures, get_args(Measure), "no measure", remedy)
    interval = _interval(labels_of(request.frame), **intervals)
    query = request.query(CALL_ROLES["agreement"])
    check_several(query, "agreement compares")
    return Agreement(request.frame, query, k, p, chosen, interval).frame()


def _interval(labels: Labels, confidence: Any, cluster: Any) -> Interval | None:
    """Return the checked options of intervals, or None if no intervals are requested."""
    if confidence is None:
        if cluster is None:
            return None
        msg = f"cluster={quoted(cluster)} is about intervals, but no confidence= requests them"
        raise OptionError(msg, "confidence=0.95")
    check_installed()
    from recframe._inference.agreement.intervals import Interval

    return Interval.of(labels, confidence=confidence, cluster=cluster)


class Agreement:
    """One call: the rankings of all models, and the measures of their pairs."""

    def __init__(
        self, frame: Any, query: Query, k: int, p: float, measures: Sequence[str], interval: Interval | None
    ) -> None:
        self._query = query
        self._k = k
        self._p = p
        self._measures = measures
        self._interval = interval
        self._segments = attribute_names(query)
        names = key_names(query)
        self._names = names | self._segments
        specs = key_specs(query) | segment_specs(query) | item_spec(query) | score_specs(query) | model_spec(query)
        specs |= {} if interval is None else interval.specs(query.by)
        numbered = not self._long and not is_lazy(frame)
        # In wide format, the row number identifies an item too, and is faster to join by.
        self._item_column = ROW if numbered else ITEM
        self._session = open_frames({"frame": Source(frame, specs)}, {}, rows=["frame"] if numbered else [])
        self._engine = self._session.engine
        self._keys = list(names) or [key_column(0)]
        self._scores = [score_column(i) for i in range(len(query.orders))]
        self._per = [name for name, column in self._names.items() if column in query.per]

    @cached_property
    def _rows(self) -> Frame:
        """The rows of the frame. Ranks are negated, so that higher is better."""
        rows, _ = with_list_key(self._session.frames["frame"], key_names(self._query))
        if self._query.by_rank:
            rows = rows.with_columns(*(nw.col(column).cast(nw.Float64()) * -1 for column in self._scores))
        return self._engine.collect_once(self._engine.join(rows, self._models, [MODEL]) if self._long else rows)

    @property
    def _long(self) -> bool:
        """Whether the models are in long format."""
        return self._query.model is not None

    @cached_property
    def _models(self) -> Frame:
        """The numbers of the models; in long format with their names, in sorted order."""
        if not self._long:
            numbers = self._engine.positions(len(self._query.orders))
            return numbers.select((nw.col(POSITION).cast(nw.Int64()) - 1).alias(NUMBER))
        models = self._session.frames["frame"].select(MODEL).unique()
        # A constant column, because a window needs a key.
        models = models.with_columns(nw.lit(0).alias(NUMBER))
        rank = nw.col(MODEL).rank("dense").over(NUMBER).cast(nw.Int64())
        # A missing name has no rank, and is last.
        count = nw.len().over(NUMBER).cast(nw.Int64())
        return self._engine.collect_once(models.with_columns(rank.fill_null(count).alias(NUMBER)))

    @property
    def _rankings(self) -> list[Ranking]:
        """The rows that each model ranks."""
        rankings = []
        for i, column in enumerate(self._scores):
            number = [NUMBER] if self._long else []
            score = nw.col(column).alias(SCORE)
            rows = self._engine.drop_missing(self._rows.select(*self._keys, *number, self._item_column, score), SCORE)
            rankings.append(Ranking(rows, [*self._keys, *number], None if self._long else i))
        return rankings

    def _lists(self) -> tuple[Frame, Frame]:
        """Return two frames: the measures of each pair of models per list, and the lists of each model."""
        engine = self._engine
        keys = self._keys
        rankings = self._rankings
        rows, group = (rankings[0].rows, rankings[0].group) if self._long else (self._rows, keys)
        refuse_repeated_items(engine, rows, group, self._query.item)
        lists, ranked = overlaps(engine, rankings, keys, self._item_column, self._k, self._p)
        lists = with_bounds(engine, lists, self._p) if not {*BOUNDS}.isdisjoint(self._measures) else lists
        if not self._correlated:
            return lists, ranked
        if self._long:
            common = common_of_rows(engine, rankings[0], keys)
        else:
            common = common_of_columns(engine, rows, keys, self._scores)
        top_weighted = not {*TOP_WEIGHTED}.isdisjoint(self._measures)
        correlated = correlations(engine, common, keys, top_weighted=top_weighted)
        return engine.join(lists, correlated, [*keys, LEFT, RIGHT]), ranked

    def _with_attributes(self, lists: Frame) -> Frame:
        """Add the columns of `per` and of clusters, if they are not in the key."""
        interval = self._interval
        errors = {name: several_segments(self._query, column) for name, column in self._segments.items()}
        if interval is not None:
            errors |= dict.fromkeys(interval.specs(self._query.by), interval.several())
        for name, error in errors.items():
            column = self._engine.one_value(self._rows, self._keys, name, error)
            lists = self._engine.join(lists, column, self._keys)
        return lists

    @property
    def _correlated(self) -> dict[str, str]:
        """The column CORRELATED, with the measure whose values it counts; empty without correlations."""
        # If a model ties all items, all correlations of the list are missing, so one measure shows which lists count.
        measures = [name for name in self._measures if name in CORRELATIONS]
        return {CORRELATED: measures[0]} if measures else {}

    def frame(self) -> Any:
        """Return the result: one row per segment and pair of models.

        With intervals, the result for frames of a database is an eager frame, because SQL cannot compute their ends.
        """
        table = self._table()
        if self._interval is None:
            return self._finished(table)
        result = self._engine.computed(lambda: self._finished(table), self._schema)
        if result is not None:
            return result
        return self._with_ends(self._interval, table).select(*self._columns).rename(self._labels).to_native()

    def _table(self) -> Frame:
        """Return the means of each segment and pair of models, the counts of lists, and the sums for intervals."""
        lists, ranked = map(self._with_attributes, self._lists())
        table = self._with_counts(self._means(lists), ranked)
        if not self._long:
            models = {MODEL: LEFT, OTHER: RIGHT}
            names = {name: name_of_model(self._query, nw.col(number)) for name, number in models.items()}
            table = table.with_columns(**names)
        check_apart([self._labels.get(column, column) for column in self._columns])
        return table

    def _means(self, lists: Frame) -> Frame:
        """Return the means of the measures over lists, and the sums for intervals."""
        engine = self._engine
        row = [*self._per, LEFT, RIGHT]
        valued = {f"lists {name}": name for name in self._measures} | self._correlated
        interval = self._interval
        # Means and intervals share one sum, because a query of a database computes its lists once per sum.
        terms = {} if interval is None else interval.terms(self._measures)
        lists = lists.with_columns(nw.lit(1).alias(LISTS), **terms)
        lists = lists if interval is None else engine.collect_once(lists)
        table = engine.sum_exactly(lists, row, [LISTS, *self._measures, *terms], valued)
        read = [*row, LISTS, *self._correlated, *self._measures, *terms]
        table = engine.ratios(table, read, {name: (name, f"lists {name}") for name in self._measures})
        if interval is not None and interval.cluster is not None:
            table = engine.join(table, interval.cluster_sums(engine, lists, row, self._query.by, self._measures), row)
        return table

    def _with_counts(self, table: Frame, ranked: Frame) -> Frame:
        """Return a row for every pair of models, with how many lists both rank and how many only one ranks.

        `ranked` holds the lists of each model.
        """
        engine = self._engine
        per = self._per
        left = self._models.rename({NUMBER: LEFT})
        right = self._models.rename({NUMBER: RIGHT, **({MODEL: OTHER} if self._long else {})})
        pairs = left.join(right, how="cross").filter(nw.col(LEFT) < nw.col(RIGHT))
        # Without segments there is a row for each pair, even if the models have no list in common.
        pairs = ranked.select(*per).unique().join(pairs, how="cross") if per else pairs
        ranked = engine.collect_once(ranked.group_by(*per, NUMBER).agg(nw.len().alias(MODEL_ONLY)))
        table = engine.join(pairs, table, [*per, LEFT, RIGHT])
        for side, name in ((LEFT, MODEL_ONLY), (RIGHT, OTHER_ONLY)):
            table = engine.join(table, ranked.rename({NUMBER: side, MODEL_ONLY: name}), [*per, side])
        counts = nw.col(LISTS, MODEL_ONLY, OTHER_ONLY, *self._correlated)
        table = table.with_columns(counts.fill_null(0).cast(nw.Int64()))
        table = table.with_columns(nw.col(MODEL_ONLY, OTHER_ONLY) - nw.col(LISTS))
        all_lists = nw.col(LISTS) + nw.col(MODEL_ONLY) + nw.col(OTHER_ONLY)
        return table.with_columns(nw.when(all_lists > 0).then(nw.col(LISTS) / all_lists).alias(IN_BOTH))

    @property
    def _columns(self) -> list[str]:
        """The columns of the result, by the plan's names."""
        counts = [LISTS, MODEL_ONLY, OTHER_ONLY, IN_BOTH, *self._correlated]
        values = [column for name in self._measures for column in self._with_names_of_ends(name)]
        return [*self._per, MODEL, OTHER, *counts, *values]

    @property
    def _labels(self) -> dict[str, str]:
        """The names of the result's columns, by the plan's names, if they differ."""
        cut = [name for name in self._measures if name not in CORRELATIONS]
        labels = {name: self._names[name] for name in self._per}
        for name in cut:
            labels |= zip(self._with_names_of_ends(name), self._with_names_of_ends(f"{name}@{self._k}"), strict=True)
        return labels

    def _with_names_of_ends(self, name: str) -> list[str]:
        """Return the name of a measure and, with intervals, the names of both ends."""
        return [name] if self._interval is None else [name, LOW(name), HIGH(name)]

    def _with_ends(self, interval: Interval, table: Frame) -> nw.DataFrame[Any]:
        """Return the rows of the result with the ends of the intervals."""
        ranges = {name: (-1.0 if name in CORRELATIONS else 0.0, 1.0) for name in self._measures}
        return interval.with_ends(self._engine.collected(table), ranges, (LOW, HIGH), self._query.per)

    def _schema(self) -> Any:
        """Return the columns of a lazy result and their types."""
        ends = {end(name) for name in self._measures for end in (LOW, HIGH)}
        means = [name for name in self._columns if name not in ends]
        types = self._session.finish(
            self._table().select(*means), {name: self._labels[name] for name in means if name in self._labels}, ()
        ).collect_schema()
        labels = [self._labels.get(name, name) for name in self._columns]
        return type(types)({label: types.get(label, float) for label in labels})

    def _finished(self, table: Frame) -> Any:
        """Return the result as a frame of the user's kind."""
        engine = self._engine
        names = self._labels
        pair = [LEFT, RIGHT]
        if self._interval is not None:
            table = self._with_ends(self._interval, table).lazy()
        if not engine.eager:
            return self._session.finish(table.select(*self._columns), names, ())
        table = engine.collect_once(table)
        # Sort under the plan's names, because a user's column may have the name of a column in `pair`.
        order = [*self._per, *pair]
        result = restore_user_values(self._session, table.select(*self._columns, *pair), order)
        if self._long:
            # The session only restores the values of MODEL, so the other model takes that name for a moment.
            others = table.select(*self._per, nw.col(OTHER).alias(MODEL), *pair)
            result = result.with_columns(restore_user_values(self._session, others, order)[MODEL].alias(OTHER))
        return result.drop(pair).rename(names).to_native()
