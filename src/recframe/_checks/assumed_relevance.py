"""A column of the truth that seems to say what is relevant, where no column has this role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._checks.definitions import used_columns, values_of
from recframe._checks.first_rows import first_rows, open_rows_of
from recframe._engines.column_spec import ColumnSpec
from recframe._engines.registry import adapter_of, is_frame
from recframe._plan.relevance import or_zero

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine
    from recframe._query import Query

ROWS, LONG = "rows", "lists of several rows"


def candidates(truth: Any, query: Query) -> list[Any] | None:
    """Return the columns of a truth that may be the relevance by their type; None where nobody has to guess."""
    if not is_frame(truth) or "relevant" in query.named or query.relevant in adapter_of(truth).names(truth):
        return None
    schema = adapter_of(truth).as_narwhals(truth).collect_schema().items()
    used = used_columns(query)
    return [
        name
        for name, dtype in schema
        if name not in used and (dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean)
    ]


def candidate_specs(columns: Sequence[Any]) -> dict[str, ColumnSpec]:
    """Return what to read of a truth to look at candidates."""
    return {f"candidate{i}": ColumnSpec(column, "relevant", "relevance") for i, column in enumerate(columns)}


def sums_of_lists(truth: Frame, keys: Sequence[str], names: Sequence[str], engine: Engine) -> tuple[Frame, list[str]]:
    """Return what to sum over all lists to know whether candidates hold relevance, and its columns."""
    rows = [nw.lit(1.0).alias(ROWS)]
    for name in names:
        zero, one, _ = _counts(name)
        rows += [(or_zero(name) == value).cast(nw.Float64()).alias(to) for value, to in ((0, zero), (1, one))]
    columns = [ROWS, *(column for name in names for column in _counts(name)[:2])]
    lists = engine.sum_by(truth.select(*keys, *rows), keys, columns)
    flags = [(nw.col(ROWS) > 1).cast(nw.Float64()).alias(LONG)]
    for name in names:
        zero, one, mixed = _counts(name)
        flags.append(((nw.col(zero) > 0) & (nw.col(one) > 0)).cast(nw.Float64()).alias(mixed))
    return lists.with_columns(*flags), [*columns, LONG, *(_counts(name)[2] for name in names)]


def irrelevant_rows(name: str) -> nw.Expr:
    """Return, of the sums over all lists, in how many rows a candidate holds 0; 0 if it does not seem to be relevance.

    It does if it holds only 0 and 1, some 0 among them, and is not alike in all rows of each list, as what describes
    lists is.
    """
    zero, one, mixed = map(nw.col, _counts(name))
    flags = (zero + one == nw.col(ROWS)) & ((mixed > 0) | (one == 0) | (nw.col(LONG) == 0))
    return nw.when(flags).then(zero).otherwise(0.0)


def assumed_relevance(truth: Any, query: Query) -> Iterator[str]:
    """Yield which columns look like the relevance in the first rows of an eager truth."""
    columns = candidates(truth, query)
    if not columns or not len(truth):
        return
    first = first_rows(truth)
    rows = adapter_of(first).as_narwhals(first)
    specs = candidate_specs([name for name in columns if _may_be_zeros_and_ones(values_of(rows, name))])
    if not specs:
        return
    opened, keys, engine = open_rows_of(first, query, specs)
    lists, sums = sums_of_lists(opened, keys, [*specs], engine)
    totals = lists.select(nw.col(*sums).sum()).select(*(irrelevant_rows(name).alias(name) for name in specs))
    (positives,) = totals.collect().rows(named=True)
    like = [spec.column for name, spec in specs.items() if positives[name] > 0]
    if like:
        yield (
            f"truth has no column {query.relevant!r}, so each of its rows is relevant; "
            f"but {', '.join(map(repr, like))} holds 0 and 1. If that says what is relevant, relevant={like[0]!r}"
        )


def _may_be_zeros_and_ones(values: Any) -> bool:
    """Return whether the ends of a column allow that it holds only 0 and 1."""
    low, high = values.min(), values.max()
    return not (low is not None and low < 0) and not (high is not None and high > 1)


def _counts(name: str) -> tuple[str, str, str]:
    """Return the columns of a candidate: rows of 0, rows of 1, lists of both."""
    return f"{name} is 0", f"{name} is 1", f"{name} varies"
