"""Warn in eager calls about data that make the result meaningless: one `DataWarning` lists all problems.

The warnings must cost next to nothing, so they read a sample: the first rows, and more rows of the first row's list.
Only if the sample looks wrong or the result is 0, they read the whole frame.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from itertools import pairwise
from operator import ne
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw

from recframe._base.columns import CANDIDATES, CATALOG_SIZE, HIT, ITEM, MODEL, RELEVANCE, TIED, nan_column, score_column
from recframe._base.guesses import OTHER_ARGUMENT_NAMES
from recframe._checks import first_rows
from recframe._checks.definitions import comparable, used_columns, values_of
from recframe._checks.findings import ROWS, warning_of
from recframe._checks.lists import count_unordered_lists
from recframe._checks.opened import (
    RowsToCheck,
    findings_present,
    relevance_candidate_specs,
    relevance_candidates,
    unused_model,
)
from recframe._checks.relevance_warnings import relevance_warnings
from recframe._checks.rows import count_repeats, count_unused_models
from recframe._checks.truth_warnings import EXAMPLES, Matches, assumed_relevance
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.postponed import RERUN
from recframe._engines.registry import adapter_of, is_lazy, open_frames
from recframe._plan.relevance import is_hit, or_zero
from recframe._plan.sources import item_spec, model_spec, score_specs
from recframe.errors import DataWarning, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recframe._engines.base import Engine
    from recframe._plan.call_frames import CallFrames
    from recframe._plan.opened import Opened
    from recframe._plan.query import Query
    from recframe.metrics._record import Metric

MOST_SEARCHED_ROWS = 1_000_000
"""How many rows are searched for the rest of the first row's list."""
LEAST_LISTS, LEAST_ROWS = 5, 50
"""The fewest lists, and rows in each, for which one relevant item in every list is unlikely to be chance."""
MOST_MODELS = 50
"""How many distinct values a column of model names may have."""
FIRST_COMPARED = 16
"""How many rows are compared before all are, to see whether a score orders a list."""
METRIC, LARGEST_VALUE = "metric", "largest"


class InspectedData(NamedTuple):
    """The doubts about the rows of a call, before anything is computed."""

    reasons: Sequence[str]
    """The reasons why the result may be meaningless."""
    guesses: Sequence[str]
    """Suspicions that `check` cannot confirm."""


def inspect_data(frames: CallFrames, query: Query, context: Opened) -> InspectedData | None:
    """Return the doubts about the rows of eager frames, or None for frames that are not checked."""
    if _noted_by_dry_run(frames.frame, frames.truth, query):
        return None
    # Without rows and without a truth, the UndefinedWarning says enough.
    if is_lazy(frames.frame) or (len(frames.frame) == 0 and frames.truth is None):
        return None
    rows = context.engine.opened_rows(context.session.frames["frame"])
    reasons, guesses = [*_sample_warnings(frames.frame, query, context, rows)], [*_ranks_as_scores(query)]
    reasons += [*_nan_scores(frames.frame, query, context), *relevance_warnings(frames, query, context, rows)]
    if (
        frames.truth is None
        and query.sampled is None
        and CANDIDATES not in context.omitted
        and context.requirements.reads_ranks
    ):
        guesses += _sampled_candidates(frames.frame, query, context, rows)
    guesses += _small_catalog(frames, context) if CANDIDATES in context.omitted else []
    return InspectedData(reasons, guesses)


def _noted_by_dry_run(frame: Any, truth: Any, query: Query) -> bool:
    """Return whether a dry run has noted what warnings read, because there are no rows to look at yet."""
    rerun = RERUN.get()
    if rerun is None or not rerun.dry:
        return False
    rerun.note(*_sources(frame, truth, query))
    return True


def _sources(frame: Any, truth: Any, query: Query) -> Iterator[Source]:
    """Yield the frames of a postponed call with the columns that only warnings read; few frames have such columns."""
    if MODEL in frame.columns and MODEL not in used_columns(query):
        yield Source(frame, {MODEL: ColumnSpec(MODEL, "model", "key")})
    if truth is not None:
        yield Source(truth, relevance_candidate_specs(relevance_candidates(truth, query) or []))


def warn_of_data(
    frames: CallFrames,
    query: Query,
    context: Opened,
    result: Any,
    means: Sequence[str] | None = None,
    inspected: InspectedData | None = None,
    *,
    other_truth: Any = None,
) -> None:
    """Warn about data that make the result of an eager call meaningless.

    Parameters
    ----------
    frames : CallFrames
        The user's frames.
    query : Query
        The roles.
    context : Opened
        The frames, opened.
    result : float or frame
        The answer.
    means : sequence of str, optional
        The columns of means, where the answer has a row for each metric; None: it has a column for each.
    inspected : InspectedData, optional
        The doubts about the rows, if `inspect_data` has read them already; None: read them now.
    other_truth : frame, optional
        A second truth that the answer depends on.
    """
    inspected = inspect_data(frames, query, context) if inspected is None else inspected
    if inspected is None:
        return
    reasons, guesses = [*inspected.reasons], inspected.guesses
    if frames.truth is not None:
        matches = Matches(frames.frame, frames.truth, query, context.session)
        if context.requirements.columns_read.relevance:
            truths = [frames.truth, *([] if other_truth is None else [other_truth])]
            reasons += dict.fromkeys(text for truth in truths for text in assumed_relevance(truth, query))
        metrics = [terms.metric for terms in context.requirements.accuracy]
        read = result if isinstance(result, float) else adapter_of(result).as_narwhals(result)
        if any(_is_zero(query, metric, read, context, means) for metric in metrics):
            reasons += matches.unmatched()
        if context.requirements.columns_read.relevance:
            reasons += matches.rarely_matched_lists()
    _warn(reasons, "the numbers may mean nothing", guesses)


def warn_of_labels(frame: Any, truth: Any, query: Query, *, matches_all_models: bool) -> None:
    """Warn about data that make the labels of eager frames meaningless.

    Parameters
    ----------
    frame, truth : frame
        What is labelled, and by what.
    query : Query
        The roles.
    matches_all_models : bool
        Whether every model has a recommendation that the truth holds.
    """
    if _noted_by_dry_run(frame, truth, query):
        return
    if not len(frame) or not len(truth):
        return
    reasons = [*_pooled_models(frame, query), *assumed_relevance(truth, query)]
    reasons += [] if matches_all_models else Matches(frame, truth, query).unmatched()
    _warn(reasons, "the labels may mean nothing")


def warn_of_pooled_models(frame: Any, query: Query) -> None:
    """Warn about an eager frame whose models a call ranks together, because their column has no role."""
    if _noted_by_dry_run(frame, None, query):
        return
    if not is_lazy(frame) and len(frame):
        _warn([*_pooled_models(frame, query)], "the ranks may mean nothing")


def _warn(reasons: Sequence[str], what: str, guesses: Sequence[str] = ()) -> None:
    """Warn about problems that were found, and about suspicions that `check` cannot confirm."""
    if reasons or guesses:
        listed = "\n".join(f"- {text}" for text in (*reasons, *guesses))
        closing = "\nThe call check looks at all rows." if reasons else ""
        warn(f"{what}:\n{listed}{closing}", DataWarning)


def _is_zero(query: Query, metric: Metric, result: Any, context: Opened, means: Sequence[str] | None) -> bool:
    """Return whether some model has no value of a metric above 0, or an option may hide that it has none."""
    how = query.averaging(metric.label)
    if isinstance(how.undefined, float) and how.undefined != 0:
        return True
    if isinstance(result, float):
        return not abs(result) > 0
    if means is not None:
        averages = result.filter(nw.col(METRIC) == how.name).select(*means)
        return any(not abs(mean or 0.0) > 0 for row in averages.rows() for mean in row)
    if context.keys.long:
        value = nw.col(how.name).abs().fill_null(0.0)
        models = result.select(MODEL, value.alias(LARGEST_VALUE)).group_by(MODEL).agg(nw.col(LARGEST_VALUE).max())
        # Contributions have no row of a list without a value.
        missing = len(models) < context.engine.scalar(context.models.select(nw.len()))
        return missing or not (models.get_column(LARGEST_VALUE).min() or 0.0) > 0
    values = result.get_column(how.name)
    return not ((values.min() or 0.0) < 0 or (values.max() or 0.0) > 0)


def _sample_warnings(frame: Any, query: Query, context: Opened, rows: Any) -> Iterator[str]:
    """Yield warnings about repeated items, pooled models and scores that order nothing, from a sample of the frame.

    `rows` is the opened frame in the engine's own library.
    """
    yield from _pooled_models(frame, query)
    adapter = adapter_of(frame)
    item = query.item if query.item in adapter.names(frame) and query.item not in query.by else None
    repeats = _repeats_at_once(frame, query, context, rows, item)
    if repeats == 0:
        return
    frame = _searched_rows(frame)
    sample = first_rows.with_first_list(frame, query)
    if repeats is None:
        has_items = item is not None and (context.with_item or comparable(sample, item))
        specs = score_specs(query) | model_spec(query) | (item_spec(query) if has_items else {})
        opened = first_rows.open_rows_of(sample, query, specs)
        all_rows = RowsToCheck(context.engine, context.frame, context.keys.group)
        # A frame without rows has no row that could be ranked, so nothing is checked.
        inspected_frames = [opened, *([] if sample is frame else [all_rows])] if len(frame) else []
        yield from _order_warnings(inspected_frames, query, may_tie=len(frame) > 0 and TIED not in context.omitted)
        repeats = _lists_with_repeats(opened) if has_items else 0
    if repeats:
        lists = "1 list" if repeats == 1 else f"{repeats} lists"
        yield warning_of("duplicate_rows", lists=lists, item=query.item, remedy=_remedy_of_repeats(sample, query))


def _repeats_at_once(frame: Any, query: Query, context: Opened, rows: Any, item: Any) -> int | None:
    """Return in how many lists of the sample an item is repeated; None: unknown, or a score may tie in each list.

    The opened rows are compared, because their keys are integers already.
    """
    engine, keys = context.engine, context.keys.of_rows
    rows = _searched_rows(rows)
    count, others = first_rows.sample_of(rows, context.keys.of_user)
    items = None
    if item is not None:
        holder, name = (rows, ITEM) if context.with_item else (frame, item)
        items = adapter_of(holder).values_to_compare(holder, name, count, others)
        if items is None:
            return None
    scores = [score_column(number) for number in range(len(query.orders))]
    scores = [score for score in scores if not _orders_first_rows(engine, rows, keys, score)]
    return engine.lists_with_repeats(first_rows.rows_of_sample(rows, count, others), keys, scores, items)


def _orders_first_rows(engine: Engine, rows: Any, keys: Sequence[str], score: str) -> bool:
    """Return whether two neighbouring rows of the same list have different scores, among the first few rows."""
    *in_list, scores = (engine.some_values(rows, name, slice(FIRST_COMPARED)) for name in (*keys, score))
    for row, (first, second) in enumerate(pairwise(scores)):
        if None in (first, second) or any(key[row] != key[row + 1] for key in in_list):
            continue
        if first < second or first > second:  # NaN is neither
            return True
    return False


def _searched_rows(frame: Any) -> Any:
    """Return the first rows of a frame, among which the rest of the first row's list is searched."""
    if len(frame) <= MOST_SEARCHED_ROWS:
        return frame
    return adapter_of(frame).as_narwhals(frame)[:MOST_SEARCHED_ROWS].to_native()


def _remedy_of_repeats(sample: Any, query: Query) -> str:
    """Return what to do about repeated items: name the column that distinguishes their rows, or drop rows."""
    candidates = _columns_of_models(sample, query) if query.model is None else {}
    specs = {name: ColumnSpec(column, "model", "key") for name, column in candidates.items()}
    opened = first_rows.open_rows_of(sample, query, item_spec(query) | specs)
    separating = []
    for name, column in candidates.items():
        counts = opened.frame.group_by(*opened.group, ITEM, name).agg(nw.len().alias(ROWS)).collect()
        separating += [column] if counts.get_column(ROWS).max() == 1 else []
    if not separating:
        # The column of models may be one that a postponed call does not read.
        models = "" if query.model is not None else ", or pass the column that names models as `model=`"
        return f"Each row counts as another item; drop the repeated rows{models}"
    if len(separating) > 1:
        named = f"{', '.join(map(repr, separating[:-1]))} and {separating[-1]!r}"
        return f"{named} each tell their rows apart. If one of them names models, `model={separating[0]!r}`"
    values = values_of(adapter_of(sample).as_narwhals(sample), separating[0]).unique(maintain_order=True)[:EXAMPLES]
    shown_values = ", ".join(map(repr, values.to_list()))
    return f"{separating[0]!r} tells their rows apart ({shown_values}). If it names models, `model={separating[0]!r}`"


def _columns_of_models(sample: Any, query: Query) -> dict[str, Any]:
    """Return the columns without a role that may name models: few values, of text or whole numbers, by new names."""
    rows, used = adapter_of(sample).as_narwhals(sample), used_columns(query)
    columns = {}
    for number, (column, dtype) in enumerate(rows.schema.items()):
        is_name = dtype in (nw.String, nw.Categorical, nw.Enum, nw.Boolean) or dtype.is_integer()
        if column not in used and is_name and 1 < values_of(rows, column).n_unique() <= MOST_MODELS:
            columns[f"candidate{number}"] = column
    return columns


def _order_warnings(inspected_frames: Sequence[RowsToCheck], query: Query, *, may_tie: bool) -> Iterator[str]:
    """Yield a warning for each score or rank that orders no list, neither in the sample nor in the whole frame."""
    role = "rank" if query.by_rank else "score"
    faults = {"nothing_ranked", *(["nothing_ordered"] if may_tie and query.ties != "first" else [])}
    for i, column in enumerate(query.orders):
        shown_faults = faults
        for each in inspected_frames:
            lists = RowsToCheck(each.engine, each.frame, each.group)
            shown_faults = shown_faults and shown_faults & findings_present(
                count_unordered_lists(lists, nw.col(score_column(i)))
            )
        if shown_faults:
            yield warning_of(*shown_faults, role=role, column=column)


def _nan_scores(frame: Any, query: Query, context: Opened) -> Iterator[str]:
    """Yield a warning for each score or rank that is NaN in some rows instead of missing."""
    adapter, role = adapter_of(frame), "rank" if query.by_rank else "score"
    for number, column in enumerate(query.orders):
        if not adapter.may_hold_nan(frame, column, context.session.frames["frame"], score_column(number)):
            continue
        opened = open_frames({"frame": Source(frame, {nan_column(0): ColumnSpec(column, role, "nan")})}, {})
        count = opened.engine.scalar(opened.frames["frame"].select(nw.col(nan_column(0)).sum()))
        if count:
            yield warning_of("nan_scores", role=role, column=column, rows=f"{count:,.0f}", all_rows=f"{len(frame):,}")


def _ranks_as_scores(query: Query) -> Iterator[str]:
    """Yield a warning for each score column whose name means a rank, where 1 would be the best."""
    for name in () if query.by_rank else query.orders:
        if str(name).lower() in ("rank", *OTHER_ARGUMENT_NAMES["rank"]):
            named = f"`score={name!r}` is named like a rank"
            yield f"{named}, but the largest score comes first: `rank={name!r}` puts 1 first"


def _small_catalog(frames: CallFrames, context: Opened) -> Iterator[str]:
    """Yield a warning if a metric takes the frame's items as the catalogue, but lists rank more items."""
    metrics, values = context.requirements.metrics, context.requirements.values
    counting = [each.label for each in metrics if each.reads_groups or CATALOG_SIZE in values[each.label].requested]
    if not counting or frames.catalog is not None or frames.catalog_size is not None:
        return
    count, most = (
        context.engine.scalar(context.session.frames["frame"].select(number))
        for number in (nw.col(ITEM).n_unique(), nw.col(CANDIDATES).max())
    )
    if most is not None and count < most:
        detail = f"and the frame holds {count:,} of at least {most:,}"
        yield f"{counting[0]} reads the number of all items, {detail}: `catalog=` names or counts them"


def _lists_with_repeats(sample: RowsToCheck) -> int:
    """Return how many lists repeat an item."""
    lists = RowsToCheck(sample.engine, sample.frame, [], sample.group)
    (name,), totals = count_repeats(lists, lists.frame, lists.group, "duplicate_rows")
    return len(totals.filter(nw.col(name) > 0).collect())


def _pooled_models(frame: Any, query: Query) -> Iterator[str]:
    """Yield a warning if a column seems to name models, but has no role."""
    adapter = adapter_of(frame)
    unused = unused_model(frame, query) if MODEL in adapter.names(frame) else {}
    if not unused:
        return
    # Frames that were concatenated differ at their ends.
    rows = adapter.as_narwhals(frame)
    ends = nw.concat([rows[:1], rows[-1:]], how="vertical").to_native()
    for part in (first_rows.with_first_list(frame, query), ends):
        if findings_present(count_unused_models(first_rows.open_rows_of(part, query, model_spec(query) | unused))):
            yield warning_of("unused_model")
            return


def _sampled_candidates(frame: Any, query: Query, context: Opened, rows: Any) -> Iterator[str]:
    """Yield a warning if each of the first lists looks like one relevant item among sampled items.

    `rows` is the opened frame in the engine's own library.
    """
    if len(frame) < LEAST_LISTS * LEAST_ROWS or not query.by or not context.requirements.columns_read.relevance:
        return
    engine = context.engine
    length = _length_of_first(engine, rows, context.keys.of_rows, min(len(rows), first_rows.FIRST_ROWS) // LEAST_LISTS)
    if length is None:
        return
    if any(_hits(engine, rows, query, start, length) != 1 for start in range(0, LEAST_LISTS * length, length)):
        return
    if query.item not in adapter_of(frame).names(frame) or not comparable(frame, query.item):
        return
    relevance = {RELEVANCE: ColumnSpec(query.relevant, "relevant", "relevance")}
    opened = first_rows.open_rows_of(
        first_rows.first_rows(frame), query, model_spec(query) | item_spec(query) | relevance
    )
    hit = is_hit(or_zero(RELEVANCE), query.min_relevance).cast(nw.Float64()).alias(HIT)
    sizes = opened.engine.sum_by(opened.frame.with_columns(hit), opened.group, [ROWS, HIT]).collect()
    others = sizes.filter(nw.col(ROWS) != length)
    # The sample may cut its last list.
    cut = len(frame) > first_rows.FIRST_ROWS and len(others) == 1 and (others.get_column(ROWS) < length).all()
    if (len(others) and not cut) or not (sizes.filter(nw.col(ROWS) == length).get_column(HIT) == 1).all():
        return
    if opened.frame.select(nw.col(ITEM).n_unique()).collect().item() > length:
        yield (
            f"each list has one relevant item among {length} rows, and lists hold different items. If the other rows "
            "are a sample of all items, the values are too high, and the better model may have the lower value: "
            f"`sampled=({length - 1}, n)` estimates the values of full lists of n items"
        )


def _length_of_first(engine: Engine, rows: Any, keys: Sequence[str], most: int) -> int | None:
    """Return how many rows the first list has before another one begins; None: too few, or more than `most`."""
    # In most frames, a few values show that lists are shorter.
    for name in keys:
        values = engine.some_values(rows, name, slice(LEAST_ROWS))
        if values[-1] != values[0]:
            return None
    columns = [engine.some_values(rows, name, slice(most + 1)) for name in keys]
    length = min(bisect_left(column, 1, key=partial(ne, column[0])) for column in columns)
    return length if length <= most else None


def _hits(engine: Engine, rows: Any, query: Query, start: int, length: int) -> int | None:
    """Return how many of these rows are relevant, or None if rows of relevance 0 are relevant too."""
    least = query.min_relevance
    if least is not None and least <= 0:
        return None
    # `filter` skips zeros and missing values fast.
    grades = filter(None, engine.some_values(rows, RELEVANCE, slice(start, start + length)))
    return sum(bool(value > 0 if least is None else value >= least) for value in grades)
