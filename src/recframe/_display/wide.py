"""Tables with a column for each segment or each metric, for papers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recframe._display.cells import (
    MISSING_SIGN,
    Cell,
    interval_text,
    label_text,
    number_cell,
    number_text,
    plus_minus_text,
    stars_of,
    with_letters,
)
from recframe._display.layout import (
    IS_COMPARE,
    IS_DESCRIBE,
    IS_RANKS,
    STARS_NOTE,
    Columns,
    Layout,
    Look,
    about_of,
    decided_cells,
    interval_notes,
    labels_of,
    layout_of,
    models_of,
)
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe.metrics import Metric


@dataclass(frozen=True)
class Value:
    """A cell with what it is about."""

    segment: tuple[str, ...]
    metric: str
    who: tuple[str, ...]
    """The model, in a comparison the model and its baseline."""
    cell: Cell
    lists: int | None


def wide_layout(columns: Columns, records: Mapping[str, Metric], look: Look, of: str) -> Layout:
    """Return the table of a result with a column for each `of`: segment or metric.

    Raises
    ------
    OptionError
        The result has no segments, or is one of `rank_models`.
    """
    segments, metrics = labels_of(columns, records)
    if columns.keys() >= IS_RANKS:
        msg = f"columns={of!r} is for results of evaluate, describe and compare, but these are ranks"
        raise OptionError(msg, "recframe.table(ranks)")
    if of == "segment" and not segments:
        msg = "columns='segment' needs segments, but the result has none"
        raise OptionError(msg, "evaluate, describe or compare with per='country'")
    if metrics and of == "metric":
        return layout_of(columns, records, look)
    if metrics:
        values = _of_evaluate(columns, segments, metrics, look)
    elif columns.keys() >= IS_COMPARE:
        values = _of_compare(columns, segments, look)
    else:
        values = _of_describe(columns, segments, look)
    who = [name for name in ("model", "baseline") if name in columns]
    if of == "segment":
        layout = _turned(values, ["metric", *who], by_segment=True)
    else:
        layout = _turned(values, [*map(str, segments), *who], by_segment=False)
    layout.notes += look.decided.notes(layout.columns, letters=look.letters and look.decided.lettered)
    if columns.keys() >= IS_COMPARE:
        layout.notes += ["Bold: the model is better, by the verdict."] if any(one.cell.bold for one in values) else []
        layout.notes += [
            *interval_notes("difference", "compare", look),
            STARS_NOTE.replace("*", with_letters(Cell("", raised="*"), "")),
        ]
    elif columns.keys() >= IS_DESCRIBE:
        layout.notes += interval_notes("mean", "describe", look)
    return layout


def _turned(values: Sequence[Value], labels: Sequence[str], *, by_segment: bool) -> Layout:
    """Return the table of values: by segment with the numbers of lists in the header, by metric in a column."""
    rows: dict[tuple[str, ...], dict[tuple[str, ...], Value]] = {}
    heads: dict[tuple[str, ...], list[Value]] = {}
    places = {metric: place for place, metric in enumerate(dict.fromkeys(value.metric for value in values))}
    for value in sorted(values, key=lambda value: places[value.metric]) if by_segment else values:
        row, head = ((value.metric, *value.who), value.segment) if by_segment else (
            (*value.segment, *value.who), (value.metric,)
        )  # fmt: skip
        rows.setdefault(row, {})[head] = value
        heads.setdefault(head, []).append(value)
    layout = Layout()
    for place, name in enumerate(labels):
        layout.add(name, [row[place] for row in rows], numeric=False)
    if not by_segment and all(value.lists is not None for value in values):
        layout.add("lists", [_lists(of_row.values()) for of_row in rows.values()])
    for head, of_head in heads.items():
        name = " · ".join(head)
        if by_segment and all(value.lists is not None for value in of_head):
            name = f"{name} (n = {_lists(of_head)})"
        layout.add(name, [of_row[head].cell if head in of_row else Cell(MISSING_SIGN) for of_row in rows.values()])
    return layout


def _lists(values: Iterable[Value]) -> str:
    counts = [number_text(count, 0) for count in sorted({value.lists for value in values if value.lists is not None})]
    return counts[0] if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _of_evaluate(columns: Columns, segments: Sequence[str], metrics: Sequence[str], look: Look) -> list[Value]:
    by_metric = []
    for name in metrics:
        cells = [number_cell(value, look.digits) for value in columns[name]]
        by_metric.append(_values(columns, segments, name, [name] * len(cells), cells, look))
    # The order of metrics within a segment and model is that of the call.
    return [value for of_row in zip(*by_metric, strict=True) for value in of_row]


def _of_describe(columns: Columns, segments: Sequence[str], look: Look) -> list[Value]:
    rows = zip(columns["mean"], columns["low"], columns["high"], strict=True)
    cells = [Cell(_with_interval(mean, low, high, look)) for mean, low, high in rows]
    return _values(columns, segments, "mean", columns["metric"], cells, look)


def _of_compare(columns: Columns, segments: Sequence[str], look: Look) -> list[Value]:
    ends = zip(columns["low"], columns["high"], strict=True)
    rows = zip(columns["difference"], ends, columns["p_adjusted"], strict=True)
    verdicts = columns.get("verdict", [""] * len(columns["p_adjusted"]))
    cells = [
        Cell(_with_interval(difference, low, high, look), verdict == "better", stars_of(p))
        for (difference, (low, high), p), verdict in zip(rows, verdicts, strict=True)
    ]
    bare = replace(look, letters=False)
    names = zip(models_of(columns, bare), map(label_text, columns["baseline"]), strict=True)
    return _named(columns, segments, columns["metric"], cells, names)


def _values(
    columns: Columns, segments: Sequence[str], name: str, metrics: Sequence[Any], cells: list[Cell], look: Look
) -> list[Value]:
    """Return the cells of means, with what was decided about their models."""
    cells = decided_cells(cells, columns, segments, name, metrics, look)
    who = [(model,) for model in models_of(columns, look)] if "model" in columns else [()] * len(cells)
    return _named(columns, segments, metrics, cells, who)


def _named(
    columns: Columns,
    segments: Sequence[str],
    metrics: Sequence[Any],
    cells: Sequence[Cell],
    who: Iterable[tuple[str, ...]],
) -> list[Value]:
    counts = columns.get("lists", [None] * len(cells))
    about = about_of(columns, segments, metrics)
    return [
        Value(segment, metric, names, cell, count)
        for (*segment_of_row, metric), names, cell, count in zip(about, who, cells, counts, strict=True)
        for segment in [tuple(segment_of_row)]
    ]


def _with_interval(value: Any, low: Any, high: Any, look: Look) -> str:
    if look.interval == "plus_minus":
        return plus_minus_text(value, low, high, look.digits)
    ends = interval_text(low, high, look.digits)
    return number_text(value, look.digits) + (f" {ends}" if look.interval == "range" and ends != MISSING_SIGN else "")
