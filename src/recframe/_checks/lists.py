"""Counts the lists with findings: lists that rank nothing, tie, or have no relevant item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import HIT, KNOWN, RANKED, RELEVANT, SCORE, SIZE, START, score_column
from recframe._checks.definitions import makes_dependent
from recframe._checks.findings import HAS_GRADES, LISTS
from recframe._checks.opened import all_or_none
from recframe._engines.base import known_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._checks.opened import FindingCounts, FramesToCheck, RowsToCheck

RANKED_HITS = "ranked hits"
STRADDLES = "straddles"
OVERLAPS = "overlaps"
LEAST = "least"
MOST = "most"
CONSTANT = "constant"
LAST = "last"
BEFORE = "before"
SEVERAL = "several ranked"
DEPENDENT = "dependent_lists"
LISTS_OF_HITS = "lists of hits"
ONLY_RELEVANT = "only_relevant"
ONLY_HITS = {LISTS_OF_HITS: (nw.col(RANKED) > 1) & (nw.col(RANKED_HITS) == nw.col(RANKED))}


def count_lists(opened: FramesToCheck, index: int, k: int | None) -> FindingCounts:
    """Check the lists of one model, including lists that are only in the truth."""
    graded = [HAS_GRADES] if HAS_GRADES in opened.optional else []
    segments = {name: f"values of {name}" for name in opened.segments}
    counts = [RANKED, CONSTANT, RANKED_HITS, RELEVANT, *graded]
    columns = [*counts, STRADDLES, OVERLAPS, KNOWN, *segments.values()]

    def to_sum_columns(frame: Frame, **sums: str) -> Frame:
        present = [nw.col(sums[name]).cast(nw.Float64()) if name in sums else nw.lit(0.0) for name in columns]
        return frame.select(*opened.group, *(sum_.alias(name) for name, sum_ in zip(columns, present, strict=True)))

    score = nw.col(score_column(index))
    rows = opened.frame.with_columns(nw.when(~score.is_null()).then(nw.col(HIT)).otherwise(0.0).alias(RANKED_HITS))
    sums = [nw.col(RANKED_HITS).sum(), nw.col(HIT).sum().alias(RELEVANT), *(nw.col(name).sum() for name in graded)]
    scores = _scores_of_lists(rows, opened.group, score, *sums)
    if opened.truth is None and not opened.long:
        # Each list has rows in the frame, so no other frame adds lists.
        stacked = [to_sum_columns(scores, **{name: name for name in counts}, **{KNOWN: RELEVANT})]
    else:
        # A list has a relevant item for every model as soon as one model's rows, or the truth, show one.
        source = opened.frame if opened.truth is None else opened.truth
        in_lists = opened.for_models(opened.engine.sum_by(source.select(*opened.keys, HIT), opened.keys, [HIT]))
        stacked = [
            to_sum_columns(opened.for_models(opened.frame.select(*opened.keys).unique())),
            to_sum_columns(scores, **{name: name for name in counts}),
            to_sum_columns(in_lists, **{KNOWN: HIT}),
        ]
    stacked += [to_sum_columns(_segments(opened, name), **{count: LISTS}) for name, count in segments.items()]
    if k is not None or opened.query.by_rank:
        stacked.append(to_sum_columns(_blocks(opened, score, k or 0), **{STRADDLES: STRADDLES, OVERLAPS: OVERLAPS}))
    lists = opened.engine.sum_by(opened.engine.stack(stacked), opened.group, columns)
    flags = {"lists_without_relevant": nw.col(KNOWN) == 0}
    if k is not None:
        flags["ties_across_k"] = nw.col(STRADDLES) > 0
    if opened.query.by_rank:
        flags["overlapping_ranks"] = nw.col(OVERLAPS) > 0
    elif k is not None:
        # Rows with ranks may be some of the ranked rows only.
        flags["high_chance"] = (nw.col(KNOWN) > 0) & (nw.col(RANKED) > 0) & (nw.col(RANKED) <= 2 * k)
    if opened.truth is None:
        flags |= ONLY_HITS
        complete = (nw.col(RELEVANT) > 0) & (nw.col(RANKED_HITS) == nw.col(RELEVANT))
        # Items below the cutoff show that the list is more than the recommended ones.
        flags["ideal_of_ranked_only"] = complete if k is None else complete & (nw.col(RANKED) <= k)
    if segments:
        several_values = [nw.col(name) > 1 for name in segments.values()]
        flags["segments_within_lists"] = nw.any_horizontal(*several_values, ignore_nulls=False)
    return _list_totals(opened, lists, flags, graded)


def count_lists_of_hits(opened: RowsToCheck, score: nw.Expr) -> FindingCounts:
    """Count the lists in which a score ranks only relevant rows."""
    hits = nw.when(~score.is_null()).then(nw.col(HIT)).otherwise(0.0).sum().alias(RANKED_HITS)
    return _list_totals(opened, _scores_of_lists(opened.frame, opened.group, score, hits), ONLY_HITS, [])


def count_unordered_lists(opened: RowsToCheck, score: nw.Expr) -> FindingCounts:
    """Count the lists in which a score ranks nothing, or ties all ranked rows."""
    return _list_totals(opened, _scores_of_lists(opened.frame, opened.group, score), {}, [])


def _scores_of_lists(rows: Frame, group: Sequence[str], score: nw.Expr, *others: nw.Expr) -> Frame:
    """Return how many rows of each list are ranked, whether all of several tie, and what else to sum."""
    lists = rows.group_by(*group).agg(
        score.count().alias(RANKED), score.min().alias(LEAST), score.max().alias(MOST), *others
    )
    constant = (nw.col(RANKED) > 1) & (nw.col(LEAST) == nw.col(MOST))
    return lists.with_columns(constant.cast(nw.Float64()).alias(CONSTANT))


def _list_totals(
    opened: RowsToCheck, lists: Frame, flags: Mapping[str, nw.Expr], others: Sequence[str]
) -> FindingCounts:
    """Return how many lists rank nothing, tie throughout or have one of the flags, and whether all lists do."""
    flags = {"lists_without_ranked": nw.col(RANKED) == 0, "constant_lists": nw.col(CONSTANT) > 0, **flags}
    several = (nw.col(RANKED) > 1).cast(nw.Float64()).alias(SEVERAL)
    lists = lists.with_columns(nw.lit(1.0).alias(LISTS), several)
    seen, totals = opened.totals(lists, flags, [LISTS, SEVERAL, *others])
    of_all = {"nothing_ranked": ("lists_without_ranked", LISTS), "nothing_ordered": ("constant_lists", SEVERAL)}
    of_all |= {ONLY_RELEVANT: (LISTS_OF_HITS, SEVERAL)} if LISTS_OF_HITS in flags else {}
    return seen | of_all.keys(), totals.with_columns(
        *(all_or_none(count, total, name) for name, (count, total) in of_all.items())
    )


def count_dependent_lists(opened: FramesToCheck) -> FindingCounts:
    """Count lists as dependent if a column of the key has few values: users who return every day have several lists."""
    lists = opened.frame.select(*opened.keys).unique()
    if opened.truth is not None:
        lists = opened.engine.stack([lists, opened.truth.select(*opened.keys).unique()]).unique()
    # Results per segment are about the lists within it, so columns of per= do not make lists dependent.
    per = [name for name, column in zip(opened.keys, opened.query.by, strict=True) if column in opened.query.per]
    counts = {name: f"values of {name}" for name in opened.keys if name not in per}
    columns = [LISTS, *counts.values()]

    def counted(frame: Frame, column: str) -> Frame:
        ones = (nw.lit(1.0 if name == column else 0.0).alias(name) for name in columns)
        return frame.with_columns(*ones).select(*columns)

    values = [counted(lists.select(*per, name).unique(), count) for name, count in counts.items()]
    stacked = opened.engine.stack([counted(lists, LISTS), *values])
    _, totals = opened.totals(opened.for_models(stacked), {}, columns)
    few = [makes_dependent(nw.col(count), nw.col(LISTS)) for count in counts.values()]
    dependent = nw.when(nw.any_horizontal(*few, ignore_nulls=False)).then(nw.col(LISTS)).otherwise(0.0)
    return {DEPENDENT}, totals.with_columns(dependent.alias(DEPENDENT))


def _segments(opened: FramesToCheck, name: str) -> Frame:
    """Return the known values that a column of `per` has in each list."""
    in_truth = name in opened.session.columns.get("truth", ())
    source = opened.truth if in_truth and opened.truth is not None else opened.frame
    values = opened.for_models(known_values(source, opened.keys, name))
    return values.with_columns(nw.lit(1.0).alias(LISTS))


def _blocks(opened: FramesToCheck, score: nw.Expr, k: int) -> Frame:
    """Return the tied blocks that cross position k, and blocks of ranks that overlap the block before them."""
    ranked = opened.engine.drop_missing(opened.frame.select(*opened.group, score.alias(SCORE)), SCORE)
    if not opened.query.by_rank:
        rows = opened.engine.rank_rows(ranked, opened.group, SCORE, k, None)
        rows = rows.filter(nw.col(START) + nw.col(SIZE) - 1 > k).select(*opened.group)
        return rows.with_columns(nw.lit(1.0).alias(STRADDLES), nw.lit(0.0).alias(OVERLAPS))
    block = [*opened.group, START]
    ranked = ranked.select(*opened.group, nw.col(SCORE).cast(nw.Float64()).alias(START), nw.lit(1.0).alias(RANKED))
    last = nw.col(START) + nw.col(RANKED) - 1
    straddles = (nw.col(START) <= k) & (last > k)
    blocks = opened.engine.sum_by(ranked, block, [RANKED])
    blocks = blocks.with_columns(straddles.cast(nw.Float64()).alias(STRADDLES), last.alias(LAST))
    before = nw.col(LAST).shift(1).over(*opened.group, order_by=START)
    overlaps = (nw.col(BEFORE) >= nw.col(START)).fill_null(value=False)
    return blocks.with_columns(before.alias(BEFORE)).with_columns(overlaps.cast(nw.Float64()).alias(OVERLAPS))
