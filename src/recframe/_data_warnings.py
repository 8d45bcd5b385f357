"""What an eager call says of data whose numbers mean nothing: one `DataWarning` that lists what was found.

A look must cost next to nothing, so it reads a sample: the first rows, and the whole list of the first row. Only what
looks wrong there, or a value of 0, is looked at in the whole frame.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._columns import ITEM, MODEL, attribute_column, key_column, score_column
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import adapter_of, is_lazy, open_frames
from recframe._plan.relevance import or_zero
from recframe.errors import DataWarning, stack_level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recframe._columns import Frame
    from recframe._plan.context import CallContext
    from recframe._plan.sources import Given
    from recframe._query import Query
    from recframe.metrics._record import Metric

SAMPLE = 10_000
"""How many of the first rows to look at."""
EXAMPLES = 3
ROWS, SEEN, MODELS = "rows", "seen", "models"


def warn_of_data(given: Given, query: Query, context: CallContext, result: Any) -> None:
    """Warn of what makes the result of an eager call mean nothing."""
    # Of no rows and no truth the UndefinedWarning says enough.
    if is_lazy(given.frame) or (len(given.frame) == 0 and given.truth is None):
        return
    look = _Look(given, query, context)
    found = [*look.sampled(), *look.assumed_relevance()]
    if given.truth is not None and any(
        _is_zero(query, terms.metric, result) for terms in context.requirements.accuracy
    ):
        found += look.unmatched()
    if found:
        listed = "\n".join(f"- {text}" for text in found)
        msg = f"the numbers may mean nothing:\n{listed}\ncheck() looks at all rows."
        warnings.warn(msg, DataWarning, stacklevel=stack_level())


def _is_zero(query: Query, metric: Metric, result: Any) -> bool:
    """Return whether a metric is 0 or missing wherever it is reported, or an option may hide that it is."""
    how = query.averaging(metric.label)
    if isinstance(how.undefined, float) and how.undefined != 0:
        return True
    if isinstance(result, float):
        return not abs(result) > 0
    values = adapter_of(result).as_narwhals(result).get_column(how.name)
    return not any(abs(value or 0.0) > 0 for value in (values.min(), values.max()))


class _Look:
    """A look at the frames of one eager call."""

    def __init__(self, given: Given, query: Query, context: CallContext) -> None:
        self._query, self._context = query, context
        self._frame, self._truth = given.frame, given.truth
        self._names = adapter_of(given.frame).names(given.frame)
        self._keys = [key_column(i) for i in range(len(query.by))] or [key_column(0)]
        self._per = [name for name in query.per if name not in query.by and name in self._names and query.by]
        roles = (query.item, query.relevant, query.value, query.model, query.candidates, query.tied)
        used = {*query.by, *query.per, *query.orders, *roles}
        self._unused_model = MODEL in self._names and MODEL not in used

    # --- a sample of the frame -------------------------------------------------------------------------------

    def sampled(self) -> Iterator[str]:
        """Yield what a sample of the frame shows."""
        sample, whole = self._sample()
        row = self._lists(sample)
        for i, column in enumerate(self._query.orders):
            yield from self._of_order(i, column, row, whole=whole)
        if row.get(ITEM):
            yield (
                f"items stand twice in {_some(row[ITEM], 'list')}: {_named('item', self._query.item)}. "
                "Each row takes a place; drop the repeated rows."
            )
        for i, column in enumerate(self._per):
            if row[attribute_column(i)]:
                yield (
                    f"{_named('per', column)} has several values within {_some(row[attribute_column(i)], 'list')}. "
                    "The lists are cut, and each part is ranked by itself. Report by a column that describes the list, "
                    f"or make it part of the key: by={[*self._query.by, column]!r}"
                )
        if self._unused_model and (row[MODELS] > 1 or self._ends_differ()):
            yield (
                "the column 'model' has several values and no role: the rows of all models are ranked together. "
                "For one row a model, evaluate(..., model='model'); if it means something else, rename it"
            )

    def _ends_differ(self) -> bool:
        """Return whether the first and the last row have unlike models, as in frames that were concatenated."""
        models = adapter_of(self._frame).as_narwhals(self._frame).get_column(MODEL)
        return bool(models[0] != models[-1])

    def _sample(self) -> tuple[Any, bool]:
        """Return the first rows and the rest of the first row's list, and whether that is the whole frame."""
        if len(self._frame) <= SAMPLE:
            return self._frame, True
        native = adapter_of(self._frame).as_narwhals(self._frame)
        head, rest = native[:SAMPLE], native[SAMPLE:]
        known = (nw.String, nw.Int64, nw.Int32, nw.UInt32, nw.UInt64)
        if not self._query.by or any(
            name not in native.columns or native.schema[name] not in known for name in self._query.by
        ):
            return head.to_native(), False
        first = [nw.col(name) == native[name][0] for name in self._query.by if native[name][0] is not None]
        rest = rest.filter(*first) if len(first) == len(self._query.by) else rest[:0]
        return nw.concat([head, rest], how="vertical").to_native(), False

    def _lists(self, sample: Any) -> dict[str, Any]:
        """Return in how many of the sample's lists something is found, by the columns it is found in."""
        query = self._query
        role = "rank" if query.by_rank else "score"
        orders = {score_column(i): ColumnSpec(column, role, "score") for i, column in enumerate(query.orders)}
        per = {attribute_column(i): ColumnSpec(column, "per", "key") for i, column in enumerate(self._per)}
        item = {ITEM: ColumnSpec(query.item, "item", "key")} if self._has_items(sample) else {}
        model, unused = self._models()
        frame = self._opened(sample, orders | per | item | model | unused)
        lists = frame.group_by(*self._keys, *model).agg(
            nw.len().alias(ROWS),
            *(nw.col(name).n_unique() for name in (*per, *item)),
            *(nw.col(name).count().alias(f"{name} count") for name in orders),
            *(nw.col(name).min().alias(f"{name} min") for name in orders),
            *(nw.col(name).max().alias(f"{name} max") for name in orders),
        )
        counts = {**{name: nw.col(name) > 1 for name in per}, **{name: nw.col(name) < nw.col(ROWS) for name in item}}
        for name in orders:
            counts[f"{name} ranked"] = nw.col(f"{name} count") > 0
            counts[f"{name} several"] = nw.col(f"{name} count") > 1
            counts[f"{name} differ"] = nw.col(f"{name} max") > nw.col(f"{name} min")
        counted = lists.select(*(expression.cast(nw.Int64()).sum().alias(name) for name, expression in counts.items()))
        row = _row(counted)
        return row | (_row(frame.select(nw.col(MODELS).n_unique())) if unused else {})

    def _models(self) -> tuple[dict[str, ColumnSpec], dict[str, ColumnSpec]]:
        """Return the column that names models, and one of that name that has no role."""
        named = {} if self._query.model is None else {MODEL: ColumnSpec(self._query.model, "model", "key")}
        return named, {MODELS: ColumnSpec(MODEL, "model", "key")} if self._unused_model else {}

    def _opened(self, sample: Any, specs: dict[str, ColumnSpec]) -> Frame:
        """Return columns of the sample, with the key of its lists."""
        keys = {key_column(i): ColumnSpec(column, "by", "key") for i, column in enumerate(self._query.by)}
        frame = open_frames({"frame": Source(sample, keys | specs)}, {}).frames["frame"]
        return frame if keys else frame.with_columns(nw.lit(0).alias(key_column(0)))

    def _has_items(self, sample: Any) -> bool:
        """Return whether the frame has a column of items that can be compared."""
        if self._query.item not in self._names or self._query.item in self._query.by:
            return False
        if self._context.with_item:
            return True
        schema = adapter_of(sample).as_narwhals(sample).schema
        dtype = schema.get(self._query.item)
        return dtype is not None and not dtype.is_nested() and dtype not in (nw.Object, nw.Unknown)

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
            keys = [key for key, by in self._context.key_names.items() if by in query.by] or self._context.keys
            keys += [MODEL] if self._context.long else []
            lists = frame.group_by(*keys).agg(nw.col(name).min().alias("min"), nw.col(name).max().alias("max"))
            if _row(lists.select((nw.col("max") > nw.col("min")).cast(nw.Int64()).sum().alias(name)))[name]:
                return
        yield f"{_named(role, column)} is the same in all rows of each list: nothing is ordered, values are chance"

    # --- the truth -------------------------------------------------------------------------------------------

    def assumed_relevance(self) -> Iterator[str]:
        """Yield which column of the truth looks like the relevance that nobody named."""
        query = self._query
        if self._truth is None or "relevant" in query.named or not self._context.requirements.reads_relevance:
            return
        if query.relevant in adapter_of(self._truth).names(self._truth):
            return
        used = {*query.by, *query.per, *query.orders, query.item, query.value, query.model}
        truth = adapter_of(self._truth).as_narwhals(self._truth)
        types = truth.schema.items()
        columns = [n for n, dtype in types if n not in used and (dtype.is_numeric() or dtype == nw.Boolean)]
        like = self._like_relevance(truth[:SAMPLE].to_native(), columns) if columns else []
        if like:
            yield (
                f"truth has no column {query.relevant!r}, so each of its rows is relevant; "
                f"but {', '.join(map(repr, like))} holds 0 and 1. If that says what is relevant, relevant={like[0]!r}"
            )

    def _like_relevance(self, sample: Any, columns: Sequence[Any]) -> list[Any]:
        """Return the columns of 0 and 1 that do not merely describe the lists."""
        names = {score_column(i): ColumnSpec(column, "relevant", "relevance") for i, column in enumerate(columns)}
        frame = self._opened(sample, names).with_columns(*map(or_zero, names))
        frame = frame.with_columns(
            *(((nw.col(n) == 0) | (nw.col(n) == 1)).cast(nw.Float64()).alias(f"{n} known") for n in names)
        )
        lists = frame.group_by(*self._keys).agg(
            nw.len().alias(ROWS),
            *(nw.col(n).min().alias(f"{n} min") for n in names),
            *(nw.col(n).max().alias(f"{n} max") for n in names),
            *(nw.col(f"{n} known").min() for n in names),
        )
        found = _row(
            lists.select(
                (nw.col(ROWS).max() > 1).alias(ROWS),
                *((nw.col(f"{n} max") > nw.col(f"{n} min")).max().alias(f"{n} differ") for n in names),
                *(nw.col(f"{n} min").min() for n in names),
                *(nw.col(f"{n} max").max() for n in names),
                *(nw.col(f"{n} known").min() for n in names),
            )
        )

        def marks_rows(n: str) -> bool:
            differs = found[f"{n} differ"] or not found[f"{n} max"] or not found[ROWS]
            return bool(found[f"{n} known"] and not found[f"{n} min"] and differs)

        return [spec.column for n, spec in names.items() if marks_rows(n)]

    def unmatched(self) -> Iterator[str]:
        """Yield why frame and truth have nothing in common."""
        context = self._context
        frame, truth = context.frame, context.truth_lists
        if truth is None:
            return
        for role, columns, names in (
            ("by", context.keys if self._query.by else [], self._query.by),
            ("item", [ITEM], (self._query.item,)),
        ):
            if columns and not self._share(frame, truth, columns):
                what = "list" if role == "by" else "item"
                each = [f"{_named(role, name)} is {self._examples(name)}" for name in names]
                yield f"no {what} of the frame is in truth: {'; '.join(each)}. Make the ids the same"
                return

    def _share(self, frame: Frame, truth: Frame, columns: Sequence[str]) -> bool:
        """Return whether two frames have a value of the columns in common."""
        engine = self._context.engine
        there = truth.select(*columns).unique().with_columns(nw.lit(1.0).alias(SEEN))
        both = engine.join(frame.select(*columns).unique(), there, columns)
        return bool(_row(both.select(nw.col(SEEN).count()))[SEEN])

    def _examples(self, name: Any) -> str:
        """Return some values of a column in both frames."""
        said = []
        for which, native in (("the frame", self._frame), ("truth", self._truth)):
            frame = adapter_of(native).as_narwhals(native)
            if name in frame.columns:
                values = frame[name][:SAMPLE].unique(maintain_order=True)[:EXAMPLES].to_list()
                said.append(f"{', '.join(map(repr, values))} in {which}")
        return ", ".join(said)


def _row(frame: Frame) -> dict[str, Any]:
    """Return the one row of a frame."""
    return {name: value or 0 for name, value in frame.collect().rows(named=True)[0].items()}


def _named(role: str, column: object) -> str:
    return f"{role}={column!r}"


def _some(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"
