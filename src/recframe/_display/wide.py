"""Tables with a column for each segment or each metric, for papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recframe._display.cells import (
    MISSING_SIGN,
    Cell,
    interval_text,
    number_cell,
    number_text,
    plus_minus_text,
    stars_of,
    with_letters,
)
from recframe._display.frames import grouped
from recframe._display.layout import (
    IS_COMPARE,
    IS_DESCRIBE,
    IS_RANKS,
    STARS_NOTE,
    Columns,
    Layout,
    Look,
    decided_cells,
    interval_notes,
    label_texts,
    labels_of,
    layout_of,
)
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe.metrics import Metric

WHO = ("model", "baseline")


@dataclass(frozen=True)
class Value:
    """A cell with what it is about."""

    about: Mapping[str, str]
    """Its segment, metric and model, in a comparison its baseline too, by the names of their columns."""
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
    compared = columns.keys() >= IS_COMPARE
    values = _of_compare(columns, segments, look) if compared else _of_means(columns, segments, metrics, look)
    who = [name for name in WHO if name in columns]
    if of == "segment":
        # A column for each segment holds all metrics, one below the other.
        in_order = list(dict.fromkeys(value.about["metric"] for value in values))
        values = sorted(values, key=lambda value: in_order.index(value.about["metric"]))
        layout = _turned(values, ["metric", *who], segments, counted=True)
    else:
        layout = _turned(values, [*segments, *who], ["metric"], counted=False)
    layout.notes += look.decided.notes(layout.columns, letters=look.letters and look.decided.lettered)
    if compared:
        layout.notes += ["Bold: the model is better, by the verdict."] if any(one.cell.bold for one in values) else []
        layout.notes += [
            *interval_notes("difference", "compare", look),
            STARS_NOTE.replace("*", with_letters(Cell("", raised="*"), "")),
        ]
    elif columns.keys() >= IS_DESCRIBE:
        layout.notes += interval_notes("mean", "describe", look)
    return layout


def _turned(values: Sequence[Value], labels: Sequence[str], heads: Sequence[str], *, counted: bool) -> Layout:
    """Return the table of values, with the numbers of lists in the header if `counted`, otherwise in a column."""

    def row_of(value: Value) -> tuple[str, ...]:
        return tuple(value.about[name] for name in labels)

    rows = grouped(values, row_of)
    layout = Layout()
    for number, name in enumerate(labels):
        layout.add(str(name), [row[number] for row in rows], numeric=False)
    if not counted and all(value.lists is not None for value in values):
        layout.add("lists", [_lists(of_row) for of_row in rows.values()])
    for head, of_head in grouped(values, lambda value: tuple(value.about[name] for name in heads)).items():
        name = " · ".join(head)
        if counted and all(value.lists is not None for value in of_head):
            name = f"{name} (n = {_lists(of_head)})"
        cells = {row_of(value): value.cell for value in of_head}
        layout.add(name, [cells.get(row, Cell(MISSING_SIGN)) for row in rows])
    return layout


def _lists(values: Iterable[Value]) -> str:
    counts = [number_text(count, 0) for count in sorted({value.lists for value in values if value.lists is not None})]
    return counts[0] if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _of_means(columns: Columns, segments: Sequence[str], metrics: Sequence[str], look: Look) -> list[Value]:
    means = {name: [number_cell(value, look.digits) for value in columns[name]] for name in metrics}
    if not metrics:
        rows = zip(columns["mean"], columns["low"], columns["high"], strict=True)
        means = {"mean": [Cell(_with_interval(*row, look)) for row in rows]}
    values = []
    for name, cells in means.items():
        about = [name] * len(cells) if metrics else columns["metric"]
        marked = decided_cells(cells, columns, segments, name, about, look)
        values += _values(columns, segments, about, marked, look)
    return values


def _of_compare(columns: Columns, segments: Sequence[str], look: Look) -> list[Value]:
    p_values = columns["p_adjusted"]
    verdicts = columns.get("verdict", [""] * len(p_values))
    rows = zip(columns["difference"], columns["low"], columns["high"], p_values, verdicts, strict=True)
    cells = [
        Cell(_with_interval(difference, low, high, look), verdict == "better", stars_of(p))
        for difference, low, high, p, verdict in rows
    ]
    return _values(columns, segments, columns["metric"], cells, look)


def _values(
    columns: Columns, segments: Sequence[str], metrics: Sequence[Any], cells: Sequence[Cell], look: Look
) -> list[Value]:
    """Return the cells of rows with what these are about."""
    texts = {name: label_texts(columns, name, look) for name in (*segments, *WHO) if name in columns}
    texts["metric"] = [*map(str, metrics)]
    counts = columns.get("lists", [None] * len(cells))
    about = zip(*texts.values(), strict=True)
    return [
        Value(dict(zip(texts, of_row, strict=True)), cell, count)
        for of_row, cell, count in zip(about, cells, counts, strict=True)
    ]


def _with_interval(value: Any, low: Any, high: Any, look: Look) -> str:
    if look.interval == "plus_minus":
        return plus_minus_text(value, low, high, look.digits)
    ends = interval_text(low, high, look.digits)
    return number_text(value, look.digits) + (f" {ends}" if look.interval == "range" and ends != MISSING_SIGN else "")
