"""The opened frames of one call: their columns under the plan's names, and the lists and models they hold."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import (
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
    Addends,
    greedy_column,
    group_distance_column,
    grouped_column,
    vacant_column,
)
from recframe._engines.registry import adapter_of, open_frames
from recframe._plan import sources
from recframe._plan.call_frames import PAIR_FRAMES
from recframe._plan.item_groups import by_value
from recframe._plan.keys import keys_of
from recframe._plan.matches import matched
from recframe._plan.relevance import IS_POOLED, distinct, hit_column, or_zero, relevant_pairs
from recframe._plan.side_tables import SideTables
from recframe._plan.sum_columns import as_float, constant, literal
from recframe.errors import OptionError
from recframe.metrics._row import is_judged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine, Session
    from recframe._plan.call_frames import CallFrames
    from recframe._plan.query import Query
    from recframe._plan.requirements import Requirements


_GREATEST = or_zero(RELEVANCE).max().alias(GREATEST)


class Opened:
    """The opened frames of one call.

    Attributes
    ----------
    frame : Frame
        The rows of the user's frame that can be ranked: the key, the scores, and other columns that the call reads.
    all_rows : Frame
        The same frame with the rows that `condensed=True` leaves out.
    truth : Frame or None
        The ground truth, if there is one, with each item of a list once.
    truth_lists : Frame or None
        The ground truth with every row.
    subtopics : Frame or None
        The relevant items of the truth with their subtopics, if the call names them and a metric reads them.
    keys : Keys
        The keys of the call.
    with_item : bool
        Whether the call reads the item.
    group_frames : tuple of str
        The names of the frames that hold the groups of items; the catalogue is read from the first one.
    target_tables : sequence of tuple
        The tables of target shares of groups, by their numbers.
    omitted : dict of str to str
        The user's columns that count omitted ranked rows, by the plan's names; empty if the frame has all rows.
    releases : bool
        Whether the user's rows may be freed as soon as nothing reads them, because only this call refers to them.
    attributes : dict of str to Frame
        A cache: frames of lists with one column that describes them without being a key, by the column's name.

    Parameters
    ----------
    item : bool
        Whether to read the item even if no metric does.
    made_by_sql : bool
        Whether a query of a database may compute hits and filled relevances where it reads the relevance.
    session : Session, optional
        The frames, if another plan of the call has opened them already.
    """

    def __init__(
        self,
        frames: CallFrames,
        query: Query,
        requirements: Requirements,
        *,
        item: bool = False,
        made_by_sql: bool = True,
        session: Session | None = None,
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
        self.made_by_sql = made_by_sql and not query.per_item and adapter_of(frames.frame).writes_sql
        self.session: Session = session or open_frames(
            sources.sources_of(frames, query, requirements, item=self.with_item, sql=self.made_by_sql),
            sources.attributes(query) if with_truth else {},
            rows=[*(["frame"] if query.ties == "first" else []), *(PAIR_FRAMES if frames.others is not None else [])],
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
            if self.pool and not self.made_by_sql:
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
        """The side information, opened when the first metric needs it."""
        return SideTables(self.session, self.requirements, self.keys, self._catalog_size)

    def release(self, columns: Sequence[str] | None = None) -> None:
        """Free the user's rows, or some of their columns, because nothing reads them anymore."""
        self.engine.release([*self.session.frames.values(), self.frame, self.all_rows], columns)

    def of_lists(self, lists: Frame) -> Opened:
        """Return the frames with the rows of some lists only, before anything has read the rows of all lists."""
        key = self.keys.key
        lists = self.engine.collect_once(lists.select(*key))

        def kept(frame: Frame) -> Frame:
            return self.engine.collect_once(matched(self.engine, frame, lists, key))

        some = copy(self)
        some.all_rows = kept(self.all_rows)
        some.frame = some.all_rows if self.frame is self.all_rows else kept(self.frame)
        for name in ("truth", "truth_lists", "subtopics"):
            frame = getattr(self, name)
            setattr(some, name, None if frame is None else kept(frame))
        return some

    def _check_queries(self, frame: Any) -> None:
        """Raise for options that need the data, if the frame is lazy."""
        if self.engine.eager:
            return
        if self.query.ties == "first":
            msg = "`ties='first'` means row order, which a lazy frame does not have"
            raise OptionError(msg, f"`ties='item'`, or {adapter_of(frame).remedy}")
        for metric in self.requirements.metrics:
            undefined = self.query.averaging(metric.label).undefined
            if undefined in ("raise", "raise_all"):
                msg = f"`undefined={undefined!r}` needs the data, which a lazy frame does not have yet"
                raise OptionError(msg, f"`undefined='skip'` or a number, or {adapter_of(frame).remedy}")

    def _opened(self, name: str) -> Frame:
        """Return one of the session's frames with key columns and filled numbers.

        With `per_item`, each list is copied once per value of its items.
        """
        judged = self.requirements.columns_read.relevance and (name == "truth" or "truth" not in self.session.frames)
        if self.keys.of_items:
            frame = by_value(self.session, self.query, name, reads_relevance=judged)
        else:
            frame, _ = sources.with_list_key(self.session.frames[name], self.keys.of_user)
        return self._filled(frame, [*self.values, *(self.propensities if judged else [])])

    def _condensed(self, frame: Frame) -> Frame:
        """Return the judged rows of the user's frame."""
        if self.truth is None:
            if self.made_by_sql:
                return frame.filter(is_judged())
            return self._judged(frame.with_columns(IS_POOLED, or_zero(RELEVANCE))).drop(POOLED)
        on = [*self.keys.key, ITEM]
        return matched(self.engine, frame, self.truth.select(*on), on)

    def _judged(self, rows: Frame) -> Frame:
        """Return the judged rows of a frame with a column for the pool."""
        return self.with_hits(rows).filter(is_judged()).drop(HIT)

    def _filled(self, frame: Frame, columns: Sequence[str]) -> Frame:
        """Return a frame with 0 for missing values in some columns. A query of a database has filled them already."""
        return frame if self.made_by_sql or not columns else frame.with_columns(*map(or_zero, columns))

    @cached_property
    def pool(self) -> list[str]:
        """The column that marks truth items whose relevance is not missing, if anything reads it."""
        return [POOLED] if self.query.condensed or self.requirements.columns_read.pool else []

    @cached_property
    def relevance(self) -> list[str]:
        """The columns that `with_relevance` needs from a frame without a truth."""
        made = [HIT, *([POOLED] if self.requirements.columns_read.pool else [])] if self.made_by_sql else []
        return [RELEVANCE, *made]

    def with_relevance(self, frame: Frame) -> Frame:
        """Return rows of a frame without a truth, with their filled relevance and their hits."""
        if self.made_by_sql:
            return frame
        pooled = [IS_POOLED] if self.requirements.columns_read.pool else []
        return frame.with_columns(*pooled, or_zero(RELEVANCE)).with_columns(hit_column(self.query.min_relevance))

    def with_greatest(self, rows: Frame) -> Frame:
        """Return rows with a column of the largest relevance in the frame or the truth."""
        if self._greatest is not None:
            return rows.with_columns(nw.lit(self._greatest).alias(GREATEST))
        source = self.session.frames["frame" if self.truth is None else "truth"]
        if self.engine.eager:
            _, greatest = self.engine.extremes(source, RELEVANCE)
            if not greatest >= 0:
                # A missing relevance counts as 0. Without a known relevance, pandas returns NaN.
                greatest = float(self.engine.scalar(source.select(_GREATEST)) or 0.0)
            return rows.with_columns(constant(GREATEST, greatest))
        return rows.join(source.select(_GREATEST), how="cross")

    @property
    def rows_have_groups(self) -> bool:
        """Whether the rows of the frame itself hold the groups of items."""
        return self.group_frames[:1] == ("frame",)

    @cached_property
    def values(self) -> list[str]:
        """The column of hits' values, if a metric reads it."""
        return [VALUE] if self.requirements.columns_read.value else []

    @cached_property
    def propensities(self) -> list[str]:
        """The column of propensities, if the call names one."""
        return [] if self.query.propensity is None else [PROPENSITY]

    @cached_property
    def relevant_keys(self) -> list[str]:
        """The key of a list's relevant items. A truth has no model: its relevant items are the same for all models."""
        return self.keys.group if self.truth is None else self.keys.key

    @property
    def names(self) -> dict[str, str]:
        """The names that the user sees for the result's columns, by the plan's names."""
        return self.keys.names(self.requirements.metrics)

    def named(self, rows: Frame, index: int) -> Frame:
        """Add the model of the rows, if there are several in wide format.

        Eager frames get the model's number, so that results sort in the order of the call; `finish` names it.
        """
        if self.keys.long or not self.query.several:
            return rows
        return rows.with_columns(literal(MODEL, index if self.engine.eager else self.query.model_name(index)))

    def finish(self, rows: Frame, names: Mapping[str, str], sort: Sequence[str]) -> Any:
        """Return a result as a frame of the user's kind with the user's names, sorted if it is eager."""
        native = self.session.finish(rows, names, sort)
        if self.keys.long or not self.query.several or not self.engine.eager:
            return native
        result = nw.from_native(native, eager_only=True)
        model_names = [self.query.model_name(number) for number in result[MODEL].to_list()]
        column = nw.new_series(MODEL, model_names, nw.String(), backend=nw.get_native_namespace(result))
        return result.with_columns(column).to_native()

    @cached_property
    def pooled(self) -> bool:
        """Whether the rows of all models together decide which lists count: long format without a truth."""
        return self.requirements.columns_read.relevance and self.keys.long and self.truth is None

    @cached_property
    def every_list(self) -> bool:
        """Whether lists without a relevant item are in the result too."""
        skips = ("skip", "raise_all")
        filled = any(self.query.averaging(metric.label).undefined not in skips for metric in self.requirements.metrics)
        counted = self.requirements.reads_recommended or self.requirements.of_every_list
        return counted or bool(self.query.per) or filled or self.query.every_list

    @cached_property
    def sums_ideal_rows(self) -> bool:
        """Whether ideal rows are summed in one step with the ranked rows: in SQL, or if they are few and read once."""
        if self.truth is not None and self.keys.long:
            return False
        if self.engine.writes_sql:
            return True
        if not (self.engine.sums_at_once and self._reads_ideal_once):
            return False
        # Polars adds the rows of a single list in another way, if its key is sorted, which it is without ideal rows.
        return self.most_lists != 1

    @cached_property
    def most_lists(self) -> int | None:
        """An upper bound of the number of lists in the frame, or None if the engine has none at once."""
        return self.engine.most_groups(self.session.frames["frame"], self.keys.of_rows)

    @property
    def _reads_ideal_once(self) -> bool:
        """Whether only the sums of one model read the ideal lists."""
        requirements = self.requirements
        reads_relevant = RELEVANT in requirements.requested or requirements.cutoff is None or self.pooled
        return len(self.query.orders) == 1 and not reads_relevant and not requirements.numbers.alphas

    # --- columns ---------------------------------------------------------------------------------------------

    def with_hits(self, frame: Frame) -> Frame:
        """Add which rows are relevant."""
        return frame.with_columns(hit_column(self.query.min_relevance))

    @cached_property
    def columns(self) -> list[str]:
        """The columns of a list's sums."""
        counts = [name for name in (RANKED, ROWS, IN_TRUTH, SERVED, SUBTOPICS) if name in self.requirements.requested]
        counts += [greedy_column(number) for number in range(len(self.requirements.numbers.greedy))]
        for number in range(len(self.requirements.numbers.groups)):
            counts += [group_distance_column(number), grouped_column(number)]
        counts += sorted(name for name in self.requirements.requested if name.startswith(vacant_column("")))
        return [RELEVANT, *counts, *([KNOWN] if self.pooled else []), *self.requirements.sum_columns]

    def sum_by_list(self, parts: Sequence[Addends]) -> Frame:
        """Return the sums of each list over all parts. A sum to which no part adds anything is 0."""
        columns = self.columns
        sums = self.engine.sum_separately(parts, self.keys.group, columns)
        if sums is not None:
            return sums
        if self.engine.eager:
            # Rows without an order are summed exactly first. This slower sum then does not read all columns.
            parts = [part if _is_in_order(part) else self.summed(part, self.keys.group) for part in parts]
        stacked = []
        for part in parts:
            added = [part.terms[name] if name in part.terms else constant(name, 0.0) for name in columns]
            stacked.append(part.frame.select(*self.keys.group, *added))
        in_order = all(map(_is_in_order, parts))
        add = self.engine.sum_by if in_order else self.engine.sum_exactly
        return add(self.engine.stack(stacked), self.keys.group, columns)

    def summed(self, part: Addends, group: Sequence[str]) -> Addends:
        """Return the sums of rows, as one row per group."""
        sums = self.engine.sum_terms(part, group)
        return Addends(sums, {name: as_float(name) for name in part.terms}, one_row_each=True)

    # --- lists -----------------------------------------------------------------------------------------------

    @cached_property
    def models(self) -> Frame:
        """Every model of a frame in long format, also if the frame is read part by part."""
        frames = self.session.frames
        return self.engine.collect_once(frames.get("models", frames["frame"]).select(MODEL).unique())

    def of_models(self, rows: Frame) -> Frame:
        """Return rows of the truth, repeated for every model if the frame is in long format."""
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
        """Every list of the truth, or every list of the frame if it holds the relevance."""
        rows = self.all_rows if self.truth_lists is None else self.truth_lists
        return self.of_models(self.engine.distinct(rows, self.keys.key))


def _is_in_order(part: Addends) -> bool:
    """Return whether a plain sum of the rows of each list has the same bits in any run."""
    return bool(part.order) or part.one_row_each or not part.terms
