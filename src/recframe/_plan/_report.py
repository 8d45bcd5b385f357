"""From the values of lists to what is reported: fill what is undefined, and average over `per`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._plan._tables import MODEL
from recframe._terms import SIZE
from recframe.errors import InputError, UndefinedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._plan._tables import Tables
    from recframe.metrics._record import Metric

    Frame = nw.LazyFrame[Any]

__all__ = ["fill", "mean", "with_attributes"]


def fill(tables: Tables, rows: Frame, metrics: Sequence[Metric], key: Mapping[str, str], one: str = "list") -> Frame:
    """Let a number stand where there is no value, or raise; the key names the rows, by the user's names."""
    undefined = tables.question.undefined
    if undefined == "skip" or not metrics:
        return rows
    if undefined != "raise":
        return rows.with_columns(nw.col(*(metric.label for metric in metrics)).fill_null(undefined))
    rows = tables.engine.settle(rows)
    for metric in metrics:
        without = rows.filter(nw.col(metric.label).is_null())
        count = tables.engine.scalar(without.select(nw.len()))
        if count:
            have = f"1 {one} has" if count == 1 else f"{count} {one}s have"
            some = f", such as\n{tables.session.finish(without.select(*key).head(3), key, ())}" if key else ""
            msg = f"{have} no {metric.label} {metric.undefined_because}{some}"
            raise UndefinedError(msg, "undefined='skip' leaves them out, undefined=0.0 counts them as 0")
    return rows


def with_attributes(tables: Tables, lists: Frame) -> Frame:
    """Add the columns of `per` that describe a list without being its key."""
    engine = tables.engine
    for name, column in tables.attribute_names.items():
        in_truth = name in tables.session.columns["truth"]
        source = tables.truth_lists if in_truth and tables.truth_lists is not None else tables.frame
        known = source.select(*tables.keys, name).filter(~nw.col(name).is_null()).unique()
        if engine.eager:
            known = engine.settle(known)
            several = known.group_by(*tables.keys).agg(nw.len().alias(SIZE)).filter(nw.col(SIZE) > 1)
            if engine.scalar(several.select(nw.len())):
                msg = f"per={column!r} has several values within a list"
                raise InputError(msg, f"make it part of the key: by={[*tables.question.by, column]!r}")
        else:
            known = known.group_by(*tables.keys).agg(nw.col(name).min())
        lists = engine.join(lists, known, tables.keys)
    return lists


def mean(tables: Tables, lists: Frame, labels: Sequence[str], weights: Mapping[str, str]) -> Frame:
    """Average the lists over what is reported by; some labels are weighted by a column."""
    per = tables.per
    by = [*([MODEL] if tables.long else []), *per]
    if per and set(per) == set(tables.keys) and not tables.attribute_names:
        return lists.select(*by, *labels)
    if not weights:
        means = [nw.col(label).mean() for label in labels]
        return lists.group_by(*by).agg(*means) if by else lists.select(*means)
    # A weighted mean is a ratio of sums, of the lists that have a value.
    lists = lists.with_columns(
        *((nw.col(label) * nw.col(weight)).alias(f"{label} {weight}") for label, weight in weights.items()),
        *(nw.when(~nw.col(label).is_null()).then(nw.col(weight)).alias(weight) for label, weight in weights.items()),
    )
    parts = [nw.col(label).mean() for label in labels if label not in weights]
    parts += [nw.col(f"{label} {weight}", weight).sum() for label, weight in weights.items()]
    result = lists.group_by(*by).agg(*parts) if by else lists.select(*parts)
    ratios = {
        label: nw.when(nw.col(weight) > 0).then(nw.col(f"{label} {weight}") / nw.col(weight)).alias(label)
        for label, weight in weights.items()
    }
    return result.select(*by, *(ratios.get(label, nw.col(label)) for label in labels))
