"""Warnings about the relevance of a call: ratings without a 0, only positives, lists without unranked items."""

from __future__ import annotations

import math
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import HIT, RELEVANCE, score_column
from recframe._checks.definitions import has_columns, values_of
from recframe._checks.findings import LISTS, ROWS, warning_of
from recframe._checks.first_rows import FIRST_ROWS, first_rows, open_rows_of
from recframe._checks.lists import ONLY_RELEVANT, count_lists_of_hits
from recframe._checks.opened import RowsToCheck
from recframe._checks.rows import FEWEST_GRADES, HIGHEST_JUDGMENT, MOST_GRADES
from recframe._engines.column_spec import ColumnSpec
from recframe._engines.registry import adapter_of
from recframe._plan.relevance import is_hit, or_zero
from recframe._plan.sources import model_spec, score_specs
from recframe.metrics import (
    F1,
    MAP,
    NDCG,
    AlphaNDCG,
    FBeta,
    FullRecall,
    MoneyRecall,
    Recall,
    RPrecision,
    SubtopicRecall,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recframe._plan.call_frames import CallFrames
    from recframe._plan.opened import Opened
    from recframe._plan.query import Query
    from recframe.metrics import Metric

FIRST_VALUES = 100
"""How many values to read before a whole column is read."""
SHARE_OF_HIGHEST = 0.8
"""The share of the highest grade from which a rating probably counts as relevant: 4 of 5."""
LEAST_LISTS = 5
"""So many first lists show that a frame is an export of top rows."""
MOST_SHORTER = 1
"""So many of these lists may be shorter."""
MOST_ROWS_WITHOUT_CUTOFF = 10
"""The longest lists that are taken for an export of top rows without a cutoff: longer ones may be all candidates."""
COUNTING_ALL = (Recall, F1, FBeta, MAP, NDCG, AlphaNDCG, MoneyRecall, RPrecision, FullRecall, SubtopicRecall)
"""The metrics that compare with all relevant items of a list."""


def relevance_warnings(frames: CallFrames, query: Query, context: Opened, rows: Any) -> Iterator[str]:
    """Yield warnings about the relevance that a call reads. `rows` is the opened frame in the engine's own library."""
    source = frames.frame if frames.truth is None else frames.truth
    metrics = [terms.metric for terms in context.requirements.accuracy if terms.metric.reads_relevance]
    if not metrics or not len(source) or query.relevant not in adapter_of(source).names(source):
        return
    engine = context.engine
    opened = context.session.frames["frame" if frames.truth is None else "truth"]
    judged = rows if frames.truth is None else engine.opened_rows(opened)
    values = engine.some_values(judged, RELEVANCE, slice(FIRST_VALUES))
    # NaN, which differs from itself, is missing.
    grades = [value for value in values if value is not None and value == value]  # noqa: PLR0124
    # In most frames, the first values are enough: they hold a 0 and a relevant row.
    ratings = []
    if min(grades, default=1) > 0 and engine.extremes(opened, RELEVANCE)[0] > 0:
        ratings = [*_grades_without_zero(source, query, metrics)]
    yield from ratings
    if frames.truth is not None or context.omitted:
        return
    least = 0 if len(grades) < len(values) else min(grades)
    if not ratings and _is_relevant(least, query):
        yield from _only_relevant(source, query, context, metrics)
    if _is_relevant(max(grades, default=0), query) or _is_relevant(engine.extremes(opened, RELEVANCE)[1], query):
        yield from _ideal_of_ranked_only(source, query, context, metrics, rows)


def _grades_without_zero(source: Any, query: Query, metrics: Sequence[Metric]) -> Iterator[str]:
    """Yield a warning if metrics count the lowest of several grades as relevant too."""
    counting = [metric for metric in metrics if counts_hits(metric)]
    if query.min_relevance is not None or not counting:
        return
    grades: list[Any] = []
    for rows in (first_rows(source), *([source] if len(source) > FIRST_ROWS else [])):
        values = values_of(adapter_of(rows).as_narwhals(rows), query.relevant)
        if not (values.dtype.is_integer() or values.dtype.is_float()):
            return
        known = values.drop_nulls()
        if known.is_empty() or not 0 < known.min() < known.max():
            return
        grades = sorted(value for value in known.unique().to_list() if value == value)  # noqa: PLR0124
        if not FEWEST_GRADES <= len(grades) <= MOST_GRADES:
            return
    # Judgments of search results: files of relevant documents only have no 0.
    if grades[-1] <= HIGHEST_JUDGMENT and all(grade % 1 == 0 for grade in grades):
        return
    good = math.ceil(SHARE_OF_HIGHEST * grades[-1])
    good = min(good, grades[-1])
    ends = {"lowest": f"{grades[0]:g}", "highest": f"{grades[-1]:g}", "good": f"{good:g}"}
    yield warning_of("grades_without_zero", column=query.relevant, metric=counting[0].label, **ends)


def counts_hits(metric: Metric) -> bool:
    """Return whether a metric only reads whether a row is relevant."""
    return not metric.lower_grades and (metric.reads == "hits" or getattr(metric, "gain", "") == "binary")


def _is_relevant(grade: float, query: Query) -> bool:
    """Return whether a row with this relevance is relevant."""
    return grade > 0 if query.min_relevance is None else grade >= query.min_relevance


def _only_relevant(frame: Any, query: Query, context: Opened, metrics: Sequence[Metric]) -> Iterator[str]:
    """Yield a warning for each score that ranks only relevant rows, in the sample and then in all rows."""
    head = first_rows(frame)
    values = values_of(adapter_of(head).as_narwhals(head), query.relevant)
    if all(metric.lower_grades for metric in metrics) and values.min() != values.max():
        return
    specs = score_specs(query) | model_spec(query) | _relevance_spec(query)
    inspected = [open_rows_of(head, query, specs)]
    inspected += [] if head is frame else [RowsToCheck(context.engine, context.frame, context.keys.group)]
    role = "rank" if query.by_rank else "score"
    for number, column in enumerate(query.orders):
        if all(_ranks_only_hits(_with_hits(each, query), nw.col(score_column(number))) for each in inspected):
            yield warning_of("only_relevant", role=role, column=column)


def _ranks_only_hits(rows: RowsToCheck, score: nw.Expr) -> bool:
    """Return whether a score ranks only relevant rows in two lists or more: a single list may be perfect."""
    _, totals = count_lists_of_hits(rows, score)
    counts = totals.collect()
    return counts.get_column(LISTS).sum() > 1 and (counts.get_column(ONLY_RELEVANT) > 0).any()


def _relevance_spec(query: Query) -> dict[str, ColumnSpec]:
    """Return the spec that reads the relevance in the frame."""
    return {RELEVANCE: ColumnSpec(query.relevant, "relevant", "relevance")}


def _with_hits(rows: RowsToCheck, query: Query) -> RowsToCheck:
    """Return the rows with a column of hits."""
    hit = is_hit(or_zero(RELEVANCE), query.min_relevance).cast(nw.Float64()).alias(HIT)
    return RowsToCheck(rows.engine, rows.frame.with_columns(hit), rows.group)


def _ideal_of_ranked_only(
    frame: Any, query: Query, context: Opened, metrics: Sequence[Metric], rows: Any
) -> Iterator[str]:
    """Yield a warning if the frame has only ranked items, so that a metric cannot see missed relevant items."""
    cutoffs = {each.label: each.cutoff for each in metrics if counts_all_relevant(each)}
    if not cutoffs or not query.by or query.condensed or query.sampled or query.item in query.by:
        return
    # A metric without a cutoff reads whole lists, whose length alone does not tell an export from all candidates.
    most = max(cutoff or MOST_ROWS_WITHOUT_CUTOFF for cutoff in cutoffs.values())
    # In most frames, so few lists have so many rows that one of them is longer.
    lists = context.most_lists
    if (lists is not None and len(frame) > most * lists) or not has_columns(frame, [query.item]):
        return
    length = _length_of_export(frame, query, context, most, rows)
    if length is None:
        return
    scores = map(score_column, range(len(query.orders)))
    ranked = context.engine.collected(context.session.frames["frame"].select(*context.keys.of_rows, *scores))
    # A row without a score is an item that a list missed, so the frame is no export of top rows.
    if all(ranked.get_column(score_column(index)).null_count() > 0 for index in range(len(query.orders))):
        return
    longest = _longest_list(ranked, context, length)
    inflated = [label for label, cutoff in cutoffs.items() if (cutoff or most) >= longest]
    if inflated:
        named = f"{' and '.join(inflated)} {'is' if len(inflated) == 1 else 'are'}"
        yield warning_of("ideal_of_ranked_only", longest=longest, metrics=named)


def counts_all_relevant(metric: Metric) -> bool:
    """Return whether a metric compares with all relevant items of a list."""
    return isinstance(metric, COUNTING_ALL) and getattr(metric, "ideal", "all") in ("all", "uncut")


def _length_of_export(frame: Any, query: Query, context: Opened, most: int, rows: Any) -> int | None:
    """Return the length of the first lists, or None if the frame is no export of top rows.

    In an export, nearly all of the first lists have the same length, at most `most`, no list is longer, and the lists
    have different items. Short lists of all items have the same items or different lengths. `rows` is the opened frame
    in the engine's own library.
    """
    engine, keys = context.engine, context.keys.of_rows
    for lists in (1, LEAST_LISTS):
        stop = lists * most + 1
        keys_of_rows = [*zip(*(engine.some_values(rows, key, slice(stop)) for key in keys), strict=True)]
        starts = [0, *(row for row, (last, key) in enumerate(pairwise(keys_of_rows), 1) if key != last)]
        heads = [keys_of_rows[row] for row in starts]
        starts += [len(frame)] if stop >= len(frame) else []
        if len(starts) <= lists:
            return None
    lengths = [end - start for start, end in pairwise(starts[: LEAST_LISTS + 1])]
    different = _count_different(heads)
    if not different:
        return None
    # If the rows of a list do not stand together, its key comes again later, or each list seems to have one row.
    if different < len(heads) or max(lengths) == 1:
        first_rows = dict(zip(reversed(heads), reversed(starts[: len(heads)]), strict=True))
        lengths, items = _scattered_lists(frame, query, context, first_rows, most, rows)
    else:
        items = adapter_of(frame).some_values(frame, query.item, slice(starts[LEAST_LISTS]))
    length = max(lengths, default=0)
    if not 1 < length <= most or sum(each < length for each in lengths) > MOST_SHORTER:
        return None
    return length if _count_different(items) > length else None


def _count_different(values: Sequence[Any]) -> int:
    """Return how many different values there are; 0 if they cannot be compared, because they are nested."""
    try:
        return len(set(values))
    except TypeError:
        return 0


def _scattered_lists(
    frame: Any, query: Query, context: Opened, first_rows: Mapping[tuple[Any, ...], int], most: int, rows: Any
) -> tuple[list[int], list[Any]]:
    """Return the lengths and the items of the first lists, whose rows do not stand together.

    Both are empty if there are too few lists, or if a list has more than `most` rows.
    """
    first = sorted(first_rows, key=first_rows.__getitem__)[:LEAST_LISTS]
    if len(first) < LEAST_LISTS or any(None in head for head in first):
        return [], []
    # Rows are found by the values of each key column, so the rows of other combinations of these values come too.
    engine, keys = context.engine, context.keys.of_rows
    combinations = LEAST_LISTS ** len(keys)
    numbers = engine.rows_like(
        context.session.frames["frame"], keys, [first_rows[head] for head in first], combinations * most
    )
    if numbers is None:
        return [], []
    by_list: dict[tuple[Any, ...], list[int]] = {head: [] for head in first}
    heads = zip(*(engine.some_values(rows, key, numbers) for key in keys), strict=True)
    for row, head in zip(numbers, heads, strict=True):
        if head in by_list:
            by_list[head].append(row)
    lengths = [*map(len, by_list.values())]
    if max(lengths) > most:
        return [], []
    return lengths, adapter_of(frame).some_values(frame, query.item, sorted(chain(*by_list.values())))


def _longest_list(rows: nw.DataFrame[Any], context: Opened, length: int) -> int:
    """Return how many rows the longest list has; `length` is the length of the first lists."""
    keys = context.keys.of_rows
    # In rows sorted by the key, a longer list has two rows with the same key at that distance.
    key = rows.get_column(keys[0])
    if len(keys) == 1 and key.is_sorted() and not (key[length:] == key[:-length]).any():
        return length
    counts = context.frame.group_by(*context.keys.group).agg(nw.len().alias(ROWS)).select(nw.col(ROWS).max())
    return int(context.engine.scalar(counts))
