"""The frames of one call under the plan's own names: which column comes from which frame, and which lists there are."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._columns import (
    GREATEST,
    HIT,
    IN_TRUTH,
    ITEM,
    KNOWN,
    MODEL,
    POOLED,
    PROPENSITY,
    RANKED,
    RELEVANCE,
    RELEVANT,
    ROWS,
    SERVED,
    SUBTOPICS,
    VALUE,
    greedy_column,
    group_distance_column,
    grouped_column,
    vacant_column,
)
from recframe._engines.registry import adapter_of, open_frames
from recframe._plan import sources
from recframe._plan.item_groups import by_value
from recframe._plan.keys import keys_of
from recframe._plan.matches import matched
from recframe._plan.relevance import IS_POOLED, distinct, hit_column, or_zero, relevant_pairs
from recframe._plan.side_tables import SideTables
from recframe._plan.sum_columns import constant, literal
from recframe.errors import OptionError
from recframe.metrics._row import is_judged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._call_frames import CallFrames
    from recframe._columns import Addends, Frame
    from recframe._engines.base import Engine, Session
    from recframe._plan.requirements import Requirements
    from recframe._query import Query


class Opened:
    """The frames of one call, opened.

    Attributes
    ----------
    frame, all_rows : Frame
        The user's frame: the key, the scores, and what else the call reads; the rows that are ranked, and all of them.
    truth : Frame or None
        The second frame, where there is one, each item of a list once.
    truth_lists : Frame or None
        The second frame as it came.
    subtopics : Frame or None
        The relevant items of the truth with their subtopics, where the call names these and a metric reads them.
    keys : Keys
        The keys of the call.
    with_item : bool
        Whether the call reads the item.
    group_frames : tuple of str
        The frames that say which group an item has, the one that the catalogue is read from first.
    target_tables : sequence of tuple
        The tables of shares that groups should have, by their numbers.
    omitted : dict of str to str
        The user's columns that count ranked rows which the frame omits, by the plan's names; empty if it has all rows.
    releases : bool
        Whether the user's rows may go as soon as nothing reads them: the call alone holds them.
    attributes : dict of str to Frame
        The columns that describe lists without being their key, by those that were read so far.

    Parameters
    ----------
    item : bool
        Whether to read the item even if no metric does.
    prepared : bool
        Whether SQL may make what the plan needs of the relevance where it reads it.
    """

    def __init__(
        self,
        frames: CallFrames,
        query: Query,
        requirements: Requirements,
        *,
        item: bool = False,
        prepared: bool = True,
    ) -> None:
        with_truth = frames.truth is not None
        self.with_item = item or with_truth or query.ties in ("item", "item_desc") or requirements.reads_items
        self.query = query
        self.requirements = requirements
        self._catalog_size = frames.catalog_size
        self._greatest = frames.greatest
        self.keys = keys_of(query)
        self.omitted = sources.omitted_rows(query)
        self.group_frames = sources.group_frames(frames, query, requirements)
        self.target_tables = frames.target_tables
        self.prepared = prepared and not query.per_item and adapter_of(frames.frame).writes_sql
        self.session: Session = open_frames(
            sources.sources_of(frames, query, requirements, item=self.with_item, sql=self.prepared),
            sources.attributes(query) if with_truth else {},
            rows=["frame"] if query.ties == "first" else [],
        )
        self.engine: Engine = self.session.engine
        self._check_queries(frames.frame)
        self.attributes: dict[str, Frame] = {}
        self.releases = False
        self.frame = self.all_rows = self._opened("frame")
        self.truth: Frame | None = None
        self.truth_lists: Frame | None = None
        if with_truth:
            self.truth_lists = self._opened("truth")
            numbers = [RELEVANCE, *self.pool, *self.propensities, *self.values]
            truth = self.truth_lists
            if self.pool and not self.prepared:
                truth = truth.with_columns(IS_POOLED)
            truth = distinct(self._filled(truth, [RELEVANCE]), self.keys.key, numbers)
            if query.condensed:
                truth = self._judged(truth)
            self.truth = self.engine.collect_once(truth)
        self.subtopics: Frame | None = None
        if self.truth_lists is not None and query.subtopic is not None and requirements.numbers.alphas:
            self.subtopics = self.engine.collect_once(
                relevant_pairs(self.truth_lists, self.keys.key, query.min_relevance)
            )
        if query.condensed:
            self.frame = self.engine.collect_once(self._condensed(self.frame))

    @cached_property
    def side_tables(self) -> SideTables:
        """The side information, read by the first metric that needs some."""
        return SideTables(self.session, self.requirements, self.keys, self._catalog_size)

    def release(self, columns: Sequence[str] | None = None) -> None:
        """Let go of the user's rows, or of some of their columns: nothing reads them anymore."""
        self.engine.release([*self.session.frames.values(), self.frame, self.all_rows], columns)

    def _check_queries(self, frame: Any) -> None:
        """Raise for what no query of a database can do."""
        if self.engine.eager:
            return
        if self.query.ties == "first":
            msg = "`ties='first'` means row order, which a lazy frame does not have"
            raise OptionError(msg, f"`ties='item'`, or {adapter_of(frame).remedy}")
        if self.query.undefined in ("raise", "raise_all"):
            msg = f"`undefined={self.query.undefined!r}` needs the data, which a lazy frame does not have yet"
            raise OptionError(msg, f"`undefined='skip'` or a number, or {adapter_of(frame).remedy}")

    def _opened(self, name: str) -> Frame:
        """Return a frame with a key also where it is one list, or the part of it that is to be read."""
        judged = self.requirements.columns_read.relevance and (name == "truth" or "truth" not in self.session.frames)
        if self.keys.of_items:
            frame = by_value(self.session, self.query, name, reads_relevance=judged)
        else:
            frame, _ = sources.with_list_key(self.session.frames[name], self.keys.of_user)
        return self._filled(frame, [*self.values, *(self.propensities if judged else [])])

    def _condensed(self, frame: Frame) -> Frame:
        """Return the judged rows of the user's frame."""
        if self.truth is None:
            if self.prepared:
                return frame.filter(is_judged())
            return self._judged(frame.with_columns(IS_POOLED, or_zero(RELEVANCE))).drop(POOLED)
        on = [*self.keys.key, ITEM]
        return matched(self.engine, frame, self.truth.select(*on), on)

    def _judged(self, rows: Frame) -> Frame:
        """Return the judged rows of a pool."""
        return self.with_hits(rows).filter(is_judged()).drop(HIT)

    def _filled(self, frame: Frame, columns: Sequence[str]) -> Frame:
        """Make columns numbers, missing 0, as SQL reads them already."""
        return frame if self.prepared or not columns else frame.with_columns(*map(or_zero, columns))

    @cached_property
    def pool(self) -> list[str]:
        """The column that says which items of a truth have a relevance that is not missing, if something reads it."""
        return [POOLED] if self.query.condensed or self.requirements.columns_read.pool else []

    @cached_property
    def relevance(self) -> list[str]:
        """The columns of a frame that has no truth from which `with_relevance` makes what metrics read of it."""
        made = [HIT, *([POOLED] if self.requirements.columns_read.pool else [])] if self.prepared else []
        return [RELEVANCE, *made]

    def with_relevance(self, frame: Frame) -> Frame:
        """Return rows of a frame that has no truth with their relevance, and whether they are relevant."""
        if self.prepared:
            return frame
        pooled = [IS_POOLED] if self.requirements.columns_read.pool else []
        return frame.with_columns(*pooled, or_zero(RELEVANCE)).with_columns(hit_column(self.query.min_relevance))

    def with_greatest(self, rows: Frame) -> tuple[Frame, nw.Expr]:
        """Return rows with the largest relevance of the whole frame, or of the truth, and what says it there."""
        if self._greatest is not None:
            return rows.with_columns(nw.lit(self._greatest).alias(GREATEST)), nw.col(GREATEST)
        source = self.session.frames["frame" if self.truth is None else "truth"]
        greatest = source.select(or_zero(RELEVANCE).max().alias(GREATEST))
        if self.engine.eager:
            number = nw.lit(self.engine.scalar(greatest)).cast(nw.Float64())
            return rows.with_columns(number.alias(GREATEST)), nw.col(GREATEST)
        return rows.join(greatest, how="cross"), nw.col(GREATEST)

    @property
    def own_groups(self) -> bool:
        """Whether each row of the frame says which group its item has."""
        return self.group_frames[:1] == ("frame",)

    @cached_property
    def values(self) -> list[str]:
        """The column of the values of hits, where a metric reads it."""
        return [VALUE] if self.requirements.columns_read.value else []

    @cached_property
    def propensities(self) -> list[str]:
        """The column of the probabilities that the relevance was observed, if the call names one."""
        return [] if self.query.propensity is None else [PROPENSITY]

    @cached_property
    def relevant_keys(self) -> list[str]:
        """The key of a list of relevant items: those of a truth are the same for all models."""
        return self.keys.group if self.truth is None else self.keys.key

    @property
    def names(self) -> dict[str, str]:
        """The user's names of the result's columns by the plan's names."""
        return self.keys.names(self.requirements.metrics)

    def named(self, rows: Frame, index: int) -> Frame:
        """Add the name of one of several models in wide format, of eager frames its number: it sorts by the call."""
        if self.keys.long or not self.query.several:
            return rows
        return rows.with_columns(literal(MODEL, index if self.engine.eager else self.query.model_name(index)))

    def finish(self, rows: Frame, names: Mapping[str, str], sort: Sequence[str]) -> Any:
        """Return a result as a frame of the user's kind, sorted by some columns where it is eager."""
        native = self.session.finish(rows, names, sort)
        if self.keys.long or not self.query.several or not self.engine.eager:
            return native
        result = nw.from_native(native, eager_only=True)
        called = [self.query.model_name(number) for number in result[MODEL].to_list()]
        column = nw.new_series(MODEL, called, nw.String(), backend=nw.get_native_namespace(result))
        return result.with_columns(column).to_native()

    @cached_property
    def pooled(self) -> bool:
        """Whether the models are in long format and tell together which lists there are."""
        return self.requirements.columns_read.relevance and self.keys.long and self.truth is None

    @cached_property
    def every_list(self) -> bool:
        """Whether lists without a relevant item show in the result."""
        skips = ("skip", "raise_all")
        filled = any(self.query.averaging(metric.label).undefined not in skips for metric in self.requirements.metrics)
        counted = self.requirements.reads_recommended or self.requirements.of_every_list
        return counted or bool(self.query.per) or filled or self.query.every_list

    # --- columns ---------------------------------------------------------------------------------------------

    def with_hits(self, frame: Frame) -> Frame:
        """Add which rows are relevant."""
        return frame.with_columns(hit_column(self.query.min_relevance))

    @cached_property
    def columns(self) -> list[str]:
        """The sums of a list."""
        counts = [name for name in (RANKED, ROWS, IN_TRUTH, SERVED, SUBTOPICS) if name in self.requirements.requested]
        counts += [greedy_column(number) for number in range(len(self.requirements.numbers.greedy))]
        for number in range(len(self.requirements.numbers.groups)):
            counts += [group_distance_column(number), grouped_column(number)]
        counts += sorted(name for name in self.requirements.requested if name.startswith(vacant_column("")))
        return [RELEVANT, *counts, *([KNOWN] if self.pooled else []), *self.requirements.sum_columns]

    def sum_by_list(self, parts: Sequence[Addends]) -> Frame:
        """Return what parts add to the sums of their lists, 0 where they add nothing."""
        columns = self.columns
        sums = self.engine.sum_separately(parts, self.keys.group, columns)
        if sums is not None:
            return sums
        stacked = []
        for part in parts:
            added = [part.terms[name] if name in part.terms else constant(name, 0.0) for name in columns]
            stacked.append(part.frame.select(*self.keys.group, *added))
        in_order = all(part.order or part.by_list or not part.terms for part in parts)
        add = self.engine.sum_by if in_order else self.engine.sum_exactly
        return add(self.engine.stack(stacked), self.keys.group, columns)

    # --- lists -----------------------------------------------------------------------------------------------

    @cached_property
    def models(self) -> Frame:
        """Every model of a frame in long format, those included that a part of the lists lacks."""
        frames = self.session.frames
        return self.engine.collect_once(frames.get("models", frames["frame"]).select(MODEL).unique())

    def of_models(self, rows: Frame) -> Frame:
        """Return rows of lists of the truth for every model of a frame in long format."""
        return rows.join(self.models, how="cross") if self.keys.long else rows

    @cached_property
    def lists(self) -> Frame:
        """Every list of every model."""
        lists = self.engine.distinct(self.all_rows, self.keys.key)
        if self.truth_lists is not None:
            lists = self.engine.stack([lists, self.engine.distinct(self.truth_lists, self.keys.key)]).unique()
        return self.of_models(lists)

    @cached_property
    def lists_of_truth(self) -> Frame:
        """Those of the truth, or of the frame where that is the truth."""
        rows = self.all_rows if self.truth_lists is None else self.truth_lists
        return self.of_models(self.engine.distinct(rows, self.keys.key))
