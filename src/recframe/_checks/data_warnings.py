"""What an eager call says of data whose numbers mean nothing: one `DataWarning` that lists what was found.

A look must cost next to nothing, so it reads a sample: the first rows, and more of the first row's list. Only what
looks wrong there, or a value of 0, is looked at in the whole frame.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._checks import first_rows
from recframe._checks.assumed_relevance import assumed_relevance
from recframe._checks.definitions import comparable, may_pool_models
from recframe._checks.sampled_candidates import sampled_candidates
from recframe._checks.unmatched import strange_lists, unmatched
from recframe._columns import ITEM, MODEL, score_column
from recframe._engines.column_spec import ColumnSpec
from recframe._engines.registry import adapter_of, is_lazy
from recframe._plan.sources import model_spec
from recframe.errors import DataWarning, stack_level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recframe._columns import Frame
    from recframe._given_frames import Given
    from recframe._plan.context import CallContext
    from recframe._query import Query
    from recframe.metrics._record import Metric

REACH = 1_000_000
"""Among how many rows to look for the rest of the first row's list."""
METRIC, ROWS, MODELS, LARGEST = "metric", "rows", "models", "largest"


def warn_of_data(
    given: Given, query: Query, context: CallContext, result: Any, means: Sequence[str] | None = None
) -> None:
    """Warn of what makes the result of an eager call mean nothing.

    Parameters
    ----------
    given : Given
        The user's frames.
    query : Query
        The roles.
    context : CallContext
        The frames, opened.
    result : float or frame
        The answer.
    means : sequence of str, optional
        The columns of means, where the answer has a row for each metric; None: it has a column for each.
    """
    # Without rows and without a truth, the UndefinedWarning says enough.
    if is_lazy(given.frame) or (len(given.frame) == 0 and given.truth is None):
        return
    look = _Look(given.frame, query, context)
    reasons, guesses = [*look.sampled()], list[str]()
    if given.truth is None and query.sampled is None and query.candidates is None and _reads_ranks(context):
        guesses += sampled_candidates(given.frame, query)
    if given.truth is not None:
        if context.requirements.reads_relevance:
            reasons += assumed_relevance(given.truth, query)
        metrics = [terms.metric for terms in context.requirements.accuracy]
        if any(_is_zero(query, metric, result, context, means) for metric in metrics):
            reasons += unmatched(given.frame, given.truth, query)
        if context.requirements.reads_relevance:
            reasons += strange_lists(context)
    _warn(reasons, "the numbers may mean nothing", guesses)


def _reads_ranks(context: CallContext) -> bool:
    """Return whether a metric has another expected value if only a sample of the irrelevant rows is ranked."""
    return any(terms.metric.of_rank(1.0) is not None for terms in context.requirements.accuracy)


def warn_of_labels(frame: Any, truth: Any, query: Query, *, all_found: bool) -> None:
    """Warn of what makes the labels of eager frames mean nothing.

    Parameters
    ----------
    frame, truth : frame
        What is labelled, and by what.
    query : Query
        The roles.
    all_found : bool
        Whether every model has a recommendation that the truth holds.
    """
    if is_lazy(frame) or not len(frame) or not len(truth):
        return
    reasons = [*_pooled_models(frame, query), *assumed_relevance(truth, query)]
    _warn(reasons if all_found else [*reasons, *unmatched(frame, truth, query)], "the labels may mean nothing")


def _warn(reasons: Sequence[str], what: str, guesses: Sequence[str] = ()) -> None:
    """Warn of what was found, if anything was, and of guesses that `check` cannot confirm."""
    if reasons or guesses:
        listed = "\n".join(f"- {text}" for text in (*reasons, *guesses))
        closing = "\ncheck() looks at all rows." if reasons else ""
        warnings.warn(f"{what}:\n{listed}{closing}", DataWarning, stacklevel=stack_level())


def _is_zero(query: Query, metric: Metric, result: Any, context: CallContext, means: Sequence[str] | None) -> bool:
    """Return whether a metric is 0 or missing wherever a model has it, or an option may hide that it is."""
    how = query.averaging(metric.label)
    if isinstance(how.undefined, float) and how.undefined != 0:
        return True
    if isinstance(result, float):
        return not abs(result) > 0
    frame = adapter_of(result).as_narwhals(result)
    if means is not None:
        averages = frame.filter(nw.col(METRIC) == how.name).select(*means)
        return any(not abs(mean or 0.0) > 0 for row in averages.rows() for mean in row)
    if context.long:
        value = nw.col(how.name).abs().fill_null(0.0)
        models = frame.select(MODEL, value.alias(LARGEST)).group_by(MODEL).agg(nw.col(LARGEST).max())
        # Contributions have no row of a list without a value.
        missing = len(models) < context.engine.scalar(context.models().select(nw.len()))
        return missing or not models.get_column(LARGEST).min() > 0
    values = frame.get_column(how.name)
    return not any(abs(value or 0.0) > 0 for value in (values.min(), values.max()))


class _Look:
    """A look at the frame of one eager call of metrics."""

    def __init__(self, frame: Any, query: Query, context: CallContext) -> None:
        self._query, self._context, self._frame = query, context, frame
        self._adapter = adapter_of(frame)
        self._names = self._adapter.names(frame)

    # --- a sample of the frame -------------------------------------------------------------------------------

    def sampled(self) -> Iterator[str]:
        """Yield what a sample of the frame shows."""
        query = self._query
        yield from _pooled_models(self._frame, query)
        frame = self._frame
        if len(frame) > REACH:
            frame = self._adapter.as_narwhals(frame)[:REACH].to_native()
        there = query.item in self._names and query.item not in query.by
        item = query.item if there else None
        look = self._adapter.lists_with_repeats
        repeats = look(frame, query.by, query.model, query.orders, item, first_rows.SAMPLE)
        if repeats is not None:
            yield from self._of_repeats(repeats)
            return
        sample = first_rows.with_first_list(frame, query)
        row, whole = self._lists(sample), sample is frame
        for i, column in enumerate(self._query.orders):
            yield from self._of_order(i, column, row, whole=whole)
        yield from self._of_repeats(row.get(ITEM, 0))

    def _of_repeats(self, lists: int) -> Iterator[str]:
        """Yield that items are repeated in so many lists, if there are any."""
        if lists:
            yield (
                f"items are repeated in {_lists(lists)}: {_named('item', self._query.item)}. "
                "Each row counts as another item; drop the repeated rows."
            )

    def _lists(self, sample: Any) -> dict[str, Any]:
        """Return in how many of the sample's lists something is found, by the columns it is found in."""
        query = self._query
        role = "rank" if query.by_rank else "score"
        orders = {score_column(i): ColumnSpec(column, role, "score") for i, column in enumerate(query.orders)}
        item = {ITEM: ColumnSpec(query.item, "item", "key")} if self._has_items(sample) else {}
        model = model_spec(query)
        frame, keys, _ = first_rows.open_rows_of(sample, query, orders | item | model)
        lists = frame.group_by(*keys, *model).agg(
            nw.len().alias(ROWS),
            *(nw.col(name).n_unique() for name in item),
            *(expression for name in orders for expression in _extent(name)),
        )
        counts = {name: nw.col(name) < nw.col(ROWS) for name in item}
        for name in orders:
            ranked, least, most = map(nw.col, _extent_columns(name))
            counts[f"{name} ranked"] = ranked > 0
            counts[f"{name} several"] = ranked > 1
            counts[f"{name} differ"] = most > least
        counted = lists.select(*(expression.cast(nw.Int64()).sum().alias(name) for name, expression in counts.items()))
        return _row(counted)

    def _has_items(self, sample: Any) -> bool:
        """Return whether the frame has a column of items that can be compared."""
        if self._query.item not in self._names or self._query.item in self._query.by:
            return False
        return self._context.with_item or comparable(sample, self._query.item)

    def _of_order(self, index: int, column: str, row: dict[str, Any], *, whole: bool) -> Iterator[str]:
        """Yield what is wrong with a score or rank, which the sample suspects and the whole frame confirms."""
        name, query = score_column(index), self._query
        role = "rank" if query.by_rank else "score"
        frame = self._context.frame
        if not row[f"{name} ranked"]:
            if whole or not _row(frame.select(nw.col(name).count()))[name]:
                yield f"nothing is ranked: {_named(role, column)} is missing in every row"
            return
        if row[f"{name} differ"] or not row[f"{name} several"] or query.ties == "first" or query.tied is not None:
            return
        if not whole:
            lists = frame.group_by(*self._context.group).agg(*_extent(name))
            _, least, most = map(nw.col, _extent_columns(name))
            if _row(lists.select((most > least).cast(nw.Int64()).sum().alias(name)))[name]:
                return
        yield f"{_named(role, column)} is the same in all rows of each list: nothing is ordered, values are chance"


def _pooled_models(frame: Any, query: Query) -> Iterator[str]:
    """Yield that a column tells models apart, and no role names it."""
    adapter = adapter_of(frame)
    if MODEL not in adapter.names(frame) or not may_pool_models(query) or not comparable(frame, MODEL):
        return
    model, unused = model_spec(query), {MODELS: ColumnSpec(MODEL, "model", "key")}
    # Frames that were concatenated differ at their ends.
    rows = adapter.as_narwhals(frame)
    ends = nw.concat([rows[:1], rows[-1:]], how="vertical").to_native()
    for part in (first_rows.with_first_list(frame, query), ends):
        opened, *_ = first_rows.open_rows_of(part, query, model | unused)
        models = opened.select(*model, MODELS).unique()
        counted = models.group_by(*model).agg(nw.len().alias(ROWS)) if model else models.select(nw.len().alias(ROWS))
        if _row(counted.select(nw.col(ROWS).max()))[ROWS] > 1:
            yield (
                "the column 'model' has several values and no role: the rows of all models are ranked together. "
                "For one row a model, model='model'; if it means something else, rename it"
            )
            return


def _extent_columns(name: str) -> tuple[str, str, str]:
    """Return the columns of what `_extent` finds."""
    return f"{name} count", f"{name} min", f"{name} max"


def _extent(name: str) -> tuple[nw.Expr, nw.Expr, nw.Expr]:
    """Return how many numbers a list has in a column, the least and the greatest."""
    count, least, most = _extent_columns(name)
    numbers = nw.col(name)
    return numbers.count().alias(count), numbers.min().alias(least), numbers.max().alias(most)


def _row(frame: Frame) -> dict[str, Any]:
    """Return the one row of a frame."""
    return {name: value or 0 for name, value in frame.collect().rows(named=True)[0].items()}


def _named(role: str, column: object) -> str:
    return f"{role}={column!r}"


def _lists(count: int) -> str:
    return "1 list" if count == 1 else f"{count} lists"
