"""The frames of one call under the plan's own names: what is taken from where, and which lists there are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw

from recframe._columns import (
    CANDIDATES,
    CLUSTER,
    GREATEST,
    HIT,
    ITEM,
    JUDGED,
    KNOWN,
    MODEL,
    RANKED,
    RELEVANCE,
    RELEVANT,
    ROWS,
    TIED,
    VALUE,
    WEIGHT,
    attribute_column,
    key_column,
    score_column,
)
from recframe._engines.base import ColumnSpec, Source
from recframe._engines.registry import adapter_of, open_frames
from recframe._plan.relevance import distinct, or_zero
from recframe.errors import OptionError
from recframe.metrics._item_row import features

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._arguments import Lists, Query
    from recframe._columns import Frame
    from recframe._engines.base import Engine, Session
    from recframe._plan.requirements import Requirements
    from recframe.metrics._record import Metric


ZERO = nw.lit(0.0)
COUNTED: dict[Lists, tuple[str, ...]] = {"all": (), "truth": (JUDGED,), "ranked": (RANKED,), "both": (JUDGED, RANKED)}
"""What a list must have to be averaged, under each policy."""


@dataclass(frozen=True)
class Given:
    """The user's own frames of one call."""

    frame: Any
    truth: Any = None
    train: Any = None
    features: Any = None
    feature_names: Sequence[str] = ()
    """The columns of `features` that are numbers."""
    catalog: Any = None
    catalog_size: int | None = None
    """Of a catalogue that is only counted."""
    greatest: float | None = None
    """The largest relevance of all, where the frames hold a part of the rows only."""


class CallContext:
    """The frames of one call, opened.

    Attributes
    ----------
    frame : Frame
        The user's frame: the key, the scores, and what else the call reads.
    truth : Frame or None
        The second frame, where there is one, each item of a list once.
    truth_lists : Frame or None
        The second frame as it came.
    keys, group : list of str
        The key of a list, and that of a list of one model.
    long : bool
        Whether models stand below each other.
    with_item : bool
        Whether the call reads the item.

    Parameters
    ----------
    part : tuple of int, optional
        Which part of the lists to read, from 0, and how many parts there are; None: all lists.
    item : bool
        Whether to read the item even if no metric does.
    """

    def __init__(
        self,
        given: Given,
        query: Query,
        requirements: Requirements,
        part: tuple[int, int] | None = None,
        *,
        item: bool = False,
    ) -> None:
        with_truth = given.truth is not None
        self.with_item = item or with_truth or query.ties in ("item", "item_desc") or requirements.reads_items
        self.query = query
        self.requirements = requirements
        self.catalog_size = given.catalog_size
        self._greatest = given.greatest
        requirements.asked |= {column for metric in requirements.metrics for column in self.counted(metric)}
        self.key_names = _key_names(query, truth=with_truth)
        self.attribute_names = _attribute_names(query, truth=with_truth)
        self.list_columns = _list_columns(query, self.key_names)
        sources, either = _sources(given, query, requirements, item=self.with_item)
        rows = ["frame"] if query.ties == "first" else []
        self.session: Session = open_frames(sources, either, rows=rows)
        self.engine: Engine = self.session.engine
        self._check_lazy(given.frame)
        self.keys = list(self.key_names) or [key_column(0)]
        self.long = query.model is not None
        self.group = [*self.keys, *([MODEL] if self.long else [])]
        self._part = part
        self.frame = self._opened("frame")
        self.truth: Frame | None = None
        self.truth_lists: Frame | None = None
        if with_truth:
            self.truth_lists = self._opened("truth")
            truth = distinct(self.relevance(self.truth_lists), self.keys, [RELEVANCE, *self.values])
            self.truth = self.engine.settle(truth)

    def _check_lazy(self, frame: Any) -> None:
        if self.engine.eager:
            return
        if self.query.ties == "first":
            msg = "ties='first' means row order, which a lazy frame does not have"
            raise OptionError(msg, f"ties='item', or {adapter_of(frame).remedy}")
        if self.query.undefined in ("raise", "raise_all"):
            msg = f"undefined={self.query.undefined!r} needs the data, which a lazy frame does not have yet"
            raise OptionError(msg, f"undefined='skip' or a number, or {adapter_of(frame).remedy}")

    def _opened(self, name: str) -> Frame:
        """Return a frame with a key also where it is one list, or the part of it that is asked for."""
        frame = self.session.frames[name]
        frame = self.fill_missing_values(
            frame if self.key_names else frame.with_columns(nw.lit(0).alias(key_column(0)))
        )
        if self._part is None:
            return frame
        from recframe._engines import polars_partitions

        return polars_partitions.part(frame, self.keys, *self._part)

    def with_greatest(self, rows: Frame) -> tuple[Frame, nw.Expr]:
        """Return rows with the largest relevance of the whole frame, or of the truth, and what says it there."""
        if self._greatest is not None:
            return rows, nw.lit(self._greatest)
        source = self.session.frames["frame" if self.truth is None else "truth"]
        greatest = self.relevance(source.select(RELEVANCE)).select(nw.col(RELEVANCE).max().alias(GREATEST))
        if self.engine.eager:
            return rows, nw.lit(self.engine.scalar(greatest)).cast(nw.Float64())
        return rows.join(greatest, how="cross"), nw.col(GREATEST)

    # --- what is asked ---------------------------------------------------------------------------------------

    @property
    def labelled(self) -> bool:
        """Whether a metric asks what is relevant."""
        return bool(self.requirements.accuracy)

    @property
    def reads_recommended(self) -> bool:
        """Whether a metric asks what lists show."""
        return bool(self.requirements.shown or self.requirements.exposure)

    @property
    def user_keys(self) -> list[str]:
        """The keys that name a user: those of `by`."""
        return [name for name, column in self.key_names.items() if column in self.query.by]

    @property
    def valued(self) -> bool:
        """Whether a metric asks what items are worth."""
        return VALUE in self.requirements.asked

    @property
    def values(self) -> list[str]:
        """The column of what items are worth, where a metric asks for it."""
        return [VALUE] if self.valued else []

    @property
    def per(self) -> list[str]:
        """The columns to report by, in the order that was asked for."""
        plans = {column: name for name, column in (self.key_names | self.attribute_names).items()}
        return [plans[column] for column in self.query.per]

    @property
    def cluster(self) -> str | None:
        """The column of clusters of lists, if they are clustered: one of the key or one of its own."""
        of_key = (name for name, column in self.key_names.items() if column == self.query.cluster)
        return None if self.query.cluster is None else next(of_key, CLUSTER)

    @property
    def reported(self) -> list[str]:
        """What tells the rows of a result apart, for one model or for models below each other."""
        return [*([MODEL] if self.long else []), *self.per]

    @property
    def names(self) -> dict[str, str]:
        """The user's names of the result's columns by the plan's names."""
        names = self.key_names | self.attribute_names
        columns = {name: column for name, column in names.items() if column in self.query.per}
        metrics = {metric.column: self.query.averaging(metric.label).name for metric in self.requirements.metrics}
        return columns | {column: name for column, name in metrics.items() if column != name}

    @property
    def pooled(self) -> bool:
        """Whether the models' rows stand below each other and tell together which lists there are."""
        return self.labelled and self.long and self.truth is None

    @property
    def every_list(self) -> bool:
        """Whether lists without a relevant item show in the result."""
        skips = ("skip", "raise_all")
        filled = any(self.query.averaging(metric.label).undefined not in skips for metric in self.requirements.metrics)
        return self.reads_recommended or bool(self.query.per) or filled or self.query.every_list

    def counted(self, metric: Metric) -> tuple[str, ...]:
        """Return the columns that say of a list whether it is averaged; what lists show is averaged over all."""
        if metric not in self.requirements.accuracy:
            return ()
        return COUNTED[self.query.averaging(metric.label).lists]

    # --- columns ---------------------------------------------------------------------------------------------

    def relevance(self, frame: Frame) -> Frame:
        """Make relevance a number, missing 0."""
        return frame.with_columns(or_zero(RELEVANCE))

    def fill_missing_values(self, frame: Frame) -> Frame:
        """Make values numbers, missing 0, where a metric asks for them."""
        return frame.with_columns(or_zero(VALUE)) if self.valued else frame

    def hits(self, frame: Frame) -> Frame:
        """Add which rows are relevant."""
        return frame.with_columns(self.is_hit(nw.col(RELEVANCE)).cast(nw.Float64()).alias(HIT))

    def is_hit(self, relevance: nw.Expr) -> nw.Expr:
        """Return whether a relevance makes a row relevant."""
        least = self.query.min_relevance
        if least == -math.inf:
            return ~relevance.is_null()  # SQL has no literal for it
        return relevance > 0 if least is None else relevance >= least

    @property
    def columns(self) -> list[str]:
        """The sums of a list."""
        counts = [name for name in (RANKED, ROWS, JUDGED) if name in self.requirements.asked]
        return [
            RELEVANT,
            *counts,
            *([KNOWN] if self.pooled else []),
            *dict.fromkeys(self.requirements.columns.values()),
        ]

    def to_sum_columns(self, frame: Frame, present: Mapping[str, nw.Expr]) -> Frame:
        """Return the key and all sums, 0 where the frame adds nothing."""
        columns = [present.get(column, ZERO).cast(nw.Float64()).alias(column) for column in self.columns]
        return frame.select(*self.group, *columns)

    # --- lists -----------------------------------------------------------------------------------------------

    def models(self) -> Frame:
        """Return every model, where they stand below each other."""
        return self.engine.settle(self.frame.select(MODEL).unique())

    def lists(self, of: Literal["both", "truth"] = "both") -> Frame:
        """Return every list, or those of the truth, of every model."""
        source = self.truth_lists if self.truth_lists is not None and of == "truth" else self.frame
        lists = source.select(*self.keys).unique()
        if self.truth_lists is not None and of == "both":
            lists = nw.concat([lists, self.truth_lists.select(*self.keys).unique()], how="vertical").unique()
        return lists.join(self.models(), how="cross") if self.long else lists


def _key_names(query: Query, *, truth: bool) -> dict[str, str]:
    """Return the user's key columns by the plan's names."""
    keys = query.by if truth else (*query.by, *(name for name in query.per if name not in query.by))
    return {key_column(i): name for i, name in enumerate(keys)}


def _attribute_names(query: Query, *, truth: bool) -> dict[str, str]:
    """Return the columns of `per` that describe a list without being its key, by the plan's names."""
    others = [name for name in query.per if name not in query.by] if truth else []
    return {attribute_column(i): name for i, name in enumerate(others)}


def _list_columns(query: Query, key_names: Mapping[str, str]) -> dict[str, str]:
    """Return the user's columns of the lists' weights and clusters by the plan's names, clusters in the key aside."""
    found = {WEIGHT: query.weight, CLUSTER: None if query.cluster in key_names.values() else query.cluster}
    return {name: column for name, column in found.items() if column is not None}


def _sources(
    given: Given, query: Query, requirements: Requirements, *, item: bool
) -> tuple[dict[str, Source], dict[str, ColumnSpec]]:
    """Return the frames with what to take from each, and what to take from the truth if it has it."""
    with_truth = given.truth is not None
    names = _key_names(query, truth=with_truth)
    keys = {name: ColumnSpec(column, "by" if column in query.by else "per", "key") for name, column in names.items()}
    users = {name: take for name, take in keys.items() if take.column in query.by}
    others = _attribute_names(query, truth=with_truth)
    attributes = {name: ColumnSpec(column, "per", "attribute") for name, column in others.items()}
    if query.weight is not None:
        attributes[WEIGHT] = ColumnSpec(query.weight, "weight", "value")
    if CLUSTER in _list_columns(query, names):
        attributes[CLUSTER] = ColumnSpec(str(query.cluster), "cluster", "attribute")
    in_order = query.ties in ("item", "item_desc") or requirements.reads_items
    items = {ITEM: ColumnSpec(query.item, "item", "order" if in_order else "key")}
    value_column = {VALUE: ColumnSpec(query.value, "value", "value")} if VALUE in requirements.asked else {}
    role = "rank" if query.by_rank else "score"
    orders = {score_column(i): ColumnSpec(column, role, "score") for i, column in enumerate(query.orders)}
    model = {MODEL: ColumnSpec(query.model, "model", "key")} if query.model is not None else {}
    counts = {
        name: ColumnSpec(column, name, "score")
        for name, column in ((CANDIDATES, query.candidates), (TIED, query.tied))
        if column is not None
    }
    default = 1.0 if with_truth and "relevant" not in query.named else None
    relevance = {RELEVANCE: ColumnSpec(query.relevant, "relevant", "relevance", default=default)}
    taken = keys | (items if item else {}) | orders | model | value_column | counts
    if not with_truth and requirements.accuracy:
        taken |= relevance
    sources = {"frame": Source(given.frame, taken)}
    if not with_truth:
        sources["frame"], attributes = Source(given.frame, taken | attributes), {}
    if with_truth:
        sources["truth"] = Source(given.truth, keys | items | relevance | value_column)
    if given.train is not None:
        sources["train"] = Source(given.train, users | items)
    if given.features is not None:
        columns = zip(features(requirements.width), given.feature_names, strict=True)
        sources["features"] = Source(
            given.features, items | {n: ColumnSpec(c, "features", "feature") for n, c in columns}
        )
    if given.catalog is not None:
        sources["catalog"] = Source(given.catalog, items)
    return sources, attributes
