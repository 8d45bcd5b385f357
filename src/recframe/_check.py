"""What a look at a frame finds before anything is computed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._arguments import CALL_ROLES, Roles
from recframe._columns import (
    HIT,
    ITEM,
    KNOWN,
    MODEL,
    RANKED,
    RELEVANCE,
    RELEVANT,
    SCORE,
    START,
    key_column,
    missing_key_column,
    nan_column,
    score_column,
)
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import adapter_of, is_lazy, open_frames
from recframe._findings import FINDINGS, GRADES_THERE, ITEM_THERE, LISTS, ROWS
from recframe._plan import ranks
from recframe._plan.relevance import is_hit, or_zero
from recframe._query import Query
from recframe._resolve import resolved
from recframe._values import flag
from recframe.errors import InputError, OptionError
from recframe.metrics._record import check_k

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._columns import Frame
    from recframe._engines.column_spec import Use


FINDING, SEVERITY, COUNT, SHARE, MEANING = "finding", "severity", "count", "share", "meaning"
TOTAL, ORDER = "total", "order"
RANKED_HITS, BLOCKS, STRADDLES, OVERLAPS = "ranked hits", "blocks", "straddles", "overlaps"
LAST, BEFORE, SEEN, SEVERAL = "last", "before", "seen", "several ranked"
OF_RANKS = {"impossible_ranks", "overlapping_ranks"}
UNKNOWN = {
    "lists": ("truth_of_unknown_lists", "no_list_in_truth"),
    "items": ("truth_of_unknown_items", "no_item_in_truth"),
}
OF_TRUTH = {"duplicate_truth_rows", *UNKNOWN["lists"], *UNKNOWN["items"]}


def check(frame: Any, bound: Mapping[str, Any], k: Any, given: dict[str, Any], *, strict: bool) -> Any:
    """Return the findings as a frame of the kind given, or raise for the errors among them."""
    if flag("strict", strict) and is_lazy(frame):
        msg = "strict=True needs the data, which a lazy frame does not have yet"
        raise OptionError(msg, f"strict=False, or {adapter_of(frame).remedy}")
    bound = {name: value for name, value in bound.items() if name in CALL_ROLES["check"]}
    roles = resolved([frame, {**bound, **given}.get("truth")], bound, given, CALL_ROLES["check"])
    look = _Look(frame, roles, check_k(k), named={*bound, *given})
    found = look.findings()
    if strict:
        look.refuse(found)
    return look.finish(found)


class _Look:
    """One look at a frame: everything that is counted, as one plan."""

    def __init__(self, frame: Any, roles: Roles, k: int | None, named: set[str]) -> None:
        self._query = query = Query.of(roles, named)
        self._k = k
        self._keys = [key_column(i) for i in range(len(query.by))] or [key_column(0)]
        self._group = [*self._keys, *self._long]
        truth = roles.truth is not None
        takes, truth_takes = _takes(query, named, truth=truth)
        self._optional = {ITEM_THERE, GRADES_THERE} & takes.keys()
        sources = {"frame": Source(frame, takes)} | ({"truth": Source(roles.truth, truth_takes)} if truth else {})
        self._session = open_frames(sources, {})
        self._engine = self._session.engine
        self._frame = self._prepared(self._session.frames["frame"], relevant=not truth)
        self._truth = self._prepared(self._session.frames["truth"], relevant=True) if truth else None
        skipped = set() if query.by_rank else set(OF_RANKS)
        skipped |= {"ideal_of_ranked_only"} if truth else OF_TRUTH
        skipped |= {"ties_across_k"} if k is None else set()
        self._wanted = {finding.name for finding in FINDINGS} - skipped

    @property
    def _long(self) -> list[str]:
        """The column of the models that stand below each other, if there is one."""
        return [MODEL] if self._query.model is not None else []

    def findings(self) -> Frame:
        """Return a row per model and finding that was looked for."""
        parts = [part for index in range(len(self._query.orders)) for part in self._of_model(index)]
        found = nw.concat(parts, how="vertical")
        # What needs a column that the frame turns out to lack was not looked for.
        found = found.filter(~nw.col(COUNT).is_null())
        share = nw.when(nw.col(TOTAL) > 0).then(nw.col(COUNT) / nw.col(TOTAL)).otherwise(0.0)
        found = found.with_columns(share.alias(SHARE)).with_columns(nw.col(COUNT).cast(nw.Int64()))
        return self._engine.settle(found.sort(*self._long, ORDER, nulls_last=True))

    def finish(self, found: Frame) -> Any:
        """Return the findings as a frame of the user's kind."""
        model = [MODEL] if self._query.several else []
        return self._session.finish(found.select(*model, FINDING, SEVERITY, COUNT, SHARE, MEANING), {}, self._long)

    def refuse(self, found: Frame) -> None:
        """Raise if there are errors."""
        said = []
        for finding in FINDINGS:
            if finding.severity == "error" and finding.name in self._wanted:
                counts = found.filter(nw.col(FINDING) == finding.name).select(nw.col(COUNT).sum())
                if count := self._engine.scalar(counts):
                    said.append(f"{finding.name}: {count} ({finding.meaning})")
        if said:
            msg = "the frame has errors\n" + "\n".join(said)
            raise InputError(msg, "without strict=True, check returns all findings")

    # --- what is looked at -----------------------------------------------------------------------------------

    def _prepared(self, frame: Frame, *, relevant: bool) -> Frame:
        """Give every row a key, and say whether it is relevant where that is known."""
        if not self._query.by:
            frame = frame.with_columns(nw.lit(0).alias(key_column(0)))
        hit = is_hit(or_zero(RELEVANCE) if relevant else nw.lit(0.0), self._query.min_relevance)
        return frame.with_columns(hit.cast(nw.Float64()).alias(HIT), nw.lit(1.0).alias(ROWS))

    def _of_model(self, index: int) -> list[Frame]:
        """Return the findings of one model, each as a frame of its own."""
        parts = [self._rows(index), self._duplicates(self._frame, self._group, "duplicate_rows"), self._lists(index)]
        if self._truth is not None:
            parts.append(self._duplicates(self._truth, self._keys, "duplicate_truth_rows"))
            parts.append(self._unknown(self._truth, self._keys, *UNKNOWN["lists"]))
            parts.append(self._unknown(self._truth, [ITEM], *UNKNOWN["items"]))
        found = []
        for place, finding in enumerate(FINDINGS):
            if finding.name not in self._wanted:
                continue
            (part,) = (frame for names, frame in parts if finding.name in names)
            count = nw.col(finding.name)
            count = nw.when(nw.col(finding.needs) > 0).then(count) if finding.needs in self._optional else count
            text = {FINDING: finding.name, SEVERITY: finding.severity, MEANING: finding.meaning}
            model = {} if self._long else {MODEL: self._query.model_name(index)}
            constants = text | model | {ORDER: index * len(FINDINGS) + place}
            numbers = part.select(*self._long, count.alias(COUNT), nw.col(finding.of).alias(TOTAL))
            numbers = numbers.with_columns(*(nw.lit(value).alias(name) for name, value in constants.items()))
            found.append(numbers.select(MODEL, FINDING, SEVERITY, COUNT, TOTAL, MEANING, ORDER))
        return found

    def _totals(self, frame: Frame, flags: Mapping[str, nw.Expr], others: Sequence[str]) -> tuple[set[str], Frame]:
        """Return what was looked for, and in each model how many rows of a frame show it."""
        names = [*flags, *others]
        frame = frame.with_columns(*(flag.cast(nw.Float64()).alias(name) for name, flag in flags.items()))
        frame = frame.select(*self._long, *names)
        if self._long:
            return set(flags), self._engine.sum_by(frame, self._long, names)
        return set(flags), frame.select(nw.col(*names).sum())

    def _for_models(self, frame: Frame) -> Frame:
        """Repeat for each of the models that stand below each other what they share."""
        return frame.join(self._frame.select(MODEL).unique(), how="cross") if self._long else frame

    def _rows(self, index: int) -> tuple[set[str], Frame]:
        """Look at single rows."""
        score, nan = nw.col(score_column(index)), nw.col(nan_column(index)) > 0
        missing = score.is_null()
        # A missing or NaN rank is no rank at all.
        position = nw.when(missing).then(1.0).otherwise(score)
        no_key = [nw.col(missing_key_column(i)).is_null() for i in range(len(self._query.by))]
        flags = {
            "nan_scores": nan,
            "missing_scores": missing & ~nan,
            "impossible_ranks": (position < 1) | (position % 1 != 0),
            "missing_keys": nw.any_horizontal(*no_key, ignore_nulls=False) if no_key else missing & ~missing,
        }
        return self._totals(self._frame, flags, [ROWS])

    def _duplicates(self, frame: Frame, group: Sequence[str], name: str) -> tuple[set[str], Frame]:
        """Look for items that stand in a list more than once."""
        there = [ITEM_THERE] if ITEM_THERE in self._optional else []
        item, columns = [*group, ITEM], [ROWS, *there]
        items = self._engine.sum_by(frame.select(*item, *columns), item, columns)
        truth = name == "duplicate_truth_rows"
        items = self._for_models(items) if truth else items
        return self._totals(items, {name: nw.col(ROWS) - 1}, columns)

    def _unknown(self, truth: Frame, keys: Sequence[str], some: str, all_of_them: str) -> tuple[set[str], Frame]:
        """Look for lists or items that only the truth knows."""
        here = self._frame.select(*keys).unique()
        here = here.with_columns(nw.lit(0.0).alias(ROWS), nw.lit(1.0).alias(SEEN))
        there = truth.select(*keys, ROWS, nw.lit(0.0).alias(SEEN))
        known = self._engine.sum_by(nw.concat([here, there], how="vertical"), keys, [ROWS, SEEN])
        unseen = nw.when(nw.col(SEEN) == 0).then(nw.col(ROWS)).otherwise(0.0)
        found, totals = self._totals(self._for_models(known), {some: unseen}, [ROWS])
        return found | {all_of_them}, totals.with_columns(_all_or_none(some, ROWS, all_of_them))

    def _lists(self, index: int) -> tuple[set[str], Frame]:
        """Look at whole lists, those that only the truth knows included."""
        there = [GRADES_THERE] if GRADES_THERE in self._optional else []
        columns = [RANKED, RANKED_HITS, BLOCKS, STRADDLES, OVERLAPS, RELEVANT, KNOWN, *there]

        def to_sum_columns(frame: Frame, **sums: str) -> Frame:
            present = [(nw.col(sums[name]) if name in sums else nw.lit(0.0)).alias(name) for name in columns]
            return frame.select(*self._group, *present)

        # A list has a relevant item for every model as soon as one model's rows, or the truth, show one.
        source = self._frame if self._truth is None else self._truth
        known = self._for_models(self._engine.sum_by(source.select(*self._keys, HIT), self._keys, [HIT]))
        stacked = [
            to_sum_columns(self._for_models(self._frame.select(*self._keys).unique())),
            to_sum_columns(self._frame, **{RELEVANT: HIT, **{name: name for name in there}}),
            to_sum_columns(known, **{KNOWN: HIT}),
            to_sum_columns(self._blocks(score_column(index)), **{name: name for name in columns[:5]}),
        ]
        lists = self._engine.sum_by(nw.concat(stacked, how="vertical"), self._group, columns)
        flags = {
            "lists_without_relevant": nw.col(KNOWN) == 0,
            "lists_without_ranked": nw.col(RANKED) == 0,
            "constant_lists": (nw.col(BLOCKS) == 1) & (nw.col(RANKED) > 1),
            "ties_across_k": nw.col(STRADDLES) > 0,
            "overlapping_ranks": nw.col(OVERLAPS) > 0,
            "ideal_of_ranked_only": (nw.col(RELEVANT) > 0) & (nw.col(RANKED_HITS) == nw.col(RELEVANT)),
        }
        several = (nw.col(RANKED) > 1).cast(nw.Float64()).alias(SEVERAL)
        lists = lists.with_columns(nw.lit(1.0).alias(LISTS), several)
        found, totals = self._totals(lists, flags, [LISTS, SEVERAL, *there])
        return found | {"nothing_ranked", "nothing_ordered"}, totals.with_columns(
            _all_or_none("lists_without_ranked", LISTS, "nothing_ranked"),
            _all_or_none("constant_lists", SEVERAL, "nothing_ordered"),
        )

    def _blocks(self, score: str) -> Frame:
        """Return the tied blocks of the ranked rows, and which of them straddle k or the block before."""
        ranked = self._frame.select(*self._group, HIT, nw.col(score).alias(SCORE))
        ranked = self._engine.present(ranked, SCORE)
        start = ranks.block_start(self._group, by_rank=self._query.by_rank)
        ranked = ranked.with_columns(start.cast(nw.Float64()).alias(START), nw.lit(1.0).alias(RANKED))
        block = [*self._group, START]
        blocks = self._engine.sum_by(ranked.select(*block, HIT, RANKED), block, [HIT, RANKED])
        blocks = blocks.rename({HIT: RANKED_HITS})
        last = nw.col(START) + nw.col(RANKED) - 1
        k = self._k or 0
        straddles = (nw.col(START) <= k) & (last > k)
        blocks = blocks.with_columns(
            nw.lit(1.0).alias(BLOCKS), straddles.cast(nw.Float64()).alias(STRADDLES), last.alias(LAST)
        )
        if not self._query.by_rank:
            return blocks.with_columns(nw.lit(0.0).alias(OVERLAPS))
        before = nw.col(LAST).shift(1).over(*self._group, order_by=START)
        overlaps = (nw.col(BEFORE) >= nw.col(START)).fill_null(value=False)
        return blocks.with_columns(before.alias(BEFORE)).with_columns(overlaps.cast(nw.Float64()).alias(OVERLAPS))


def _all_or_none(count: str, total: str, name: str) -> nw.Expr:
    """Return a count where it is that of everything, else 0."""
    return nw.when(nw.col(count) == nw.col(total)).then(nw.col(count)).otherwise(0.0).alias(name)


def _takes(query: Query, named: set[str], *, truth: bool) -> tuple[dict[str, ColumnSpec], dict[str, ColumnSpec]]:
    """Return what to take from the frame and from the truth; a role that nobody named may be absent."""

    def take(role: str, column: str, use: Use, default: float | None) -> ColumnSpec:
        return ColumnSpec(column, role, use, None if role in named or truth else default)

    keys = {key_column(i): ColumnSpec(column, "by", "key") for i, column in enumerate(query.by)}
    # As an attribute, what is missing is missing on every engine.
    missing = {missing_key_column(i): ColumnSpec(column, "by", "attribute") for i, column in enumerate(query.by)}
    role = "rank" if query.by_rank else "score"
    orders = {score_column(i): ColumnSpec(column, role, "score") for i, column in enumerate(query.orders)}
    nans = {nan_column(i): ColumnSpec(column, role, "nan") for i, column in enumerate(query.orders)}
    model = {} if query.model is None else {MODEL: ColumnSpec(query.model, "model", "key")}
    item = {ITEM: take("item", query.item, "key", 0.0)}
    frame = keys | missing | orders | nans | model | item
    if truth:
        default = None if "relevant" in named else 1.0
        return frame, keys | item | {RELEVANCE: ColumnSpec(query.relevant, "relevant", "relevance", default=default)}
    relevance = {RELEVANCE: take("relevant", query.relevant, "relevance", 0.0)}
    absent = {
        ITEM_THERE: ColumnSpec(query.item, "item", "there", default=0.0),
        GRADES_THERE: ColumnSpec(query.relevant, "relevant", "there", default=0.0),
    }
    return frame | relevance | {name: flag for name, flag in absent.items() if flag.role not in named}, {}
