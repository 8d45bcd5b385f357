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
    TableOptions,
    cells_with_verdicts,
    interval_notes,
    label_texts,
    labels_of,
    layout_of,
)
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe.metrics import Metric

MODEL_COLUMNS = ("model", "baseline")


@dataclass(frozen=True)
class Value:
    """A cell with its keys."""

    keys: Mapping[str, str]
    """Its segment, metric, model and (in a comparison) baseline, by the names of their columns."""
    cell: Cell
    lists: int | None
    """The number of lists, if the result has it."""


def wide_layout(columns: Columns, records: Mapping[str, Metric], options: TableOptions, of: str) -> Layout:
    """Return the table of a result with a column for each segment or each metric, as `of` says.

    Raises
    ------
    OptionError
        The result has no segments, or comes from `rank_models`.
    """
    segments, metrics = labels_of(columns, records)
    if columns.keys() >= IS_RANKS:
        msg = f"columns={of!r} is for results of evaluate, describe and compare, but these are ranks"
        raise OptionError(msg, "recframe.table(ranks)")
    if of == "segment" and not segments:
        msg = "columns='segment' needs segments, but the result has none"
        raise OptionError(msg, "evaluate, describe or compare with per='country'")
    if metrics and of == "metric":
        return layout_of(columns, records, options)
    compared = columns.keys() >= IS_COMPARE
    if compared:
        values = _difference_values(columns, segments, options)
    else:
        values = _mean_values(columns, segments, metrics, options)
    model_columns = [name for name in MODEL_COLUMNS if name in columns]
    if of == "segment":
        # A column for each segment holds all metrics, one below the other.
        in_order = list(dict.fromkeys(value.keys["metric"] for value in values))
        values = sorted(values, key=lambda value: in_order.index(value.keys["metric"]))
        layout = _pivoted(values, ["metric", *model_columns], segments, counted=True)
    else:
        layout = _pivoted(values, [*segments, *model_columns], ["metric"], counted=False)
    layout.notes += options.verdicts.notes(layout.columns, letters=options.shows_letters)
    if compared:
        is_any_bold = any(value.cell.bold for value in values)
        layout.notes += ["Bold: the model is better, by the verdict."] if is_any_bold else []
        layout.notes += [
            *interval_notes("difference", "compare", options),
            STARS_NOTE.replace("*", with_letters(Cell("", raised="*"), "")),
        ]
    elif columns.keys() >= IS_DESCRIBE:
        layout.notes += interval_notes("mean", "describe", options)
    return layout


def _pivoted(values: Sequence[Value], labels: Sequence[str], heads: Sequence[str], *, counted: bool) -> Layout:
    """Return the table with a row for each value of `labels` and a column for each value of `heads`.

    The numbers of lists are in the header if `counted`, otherwise in a column of their own.
    """

    def row_of(value: Value) -> tuple[str, ...]:
        return tuple(value.keys[name] for name in labels)

    rows = grouped(values, row_of)
    layout = Layout()
    for number, name in enumerate(labels):
        layout.add(str(name), [row[number] for row in rows], numeric=False)
    if not counted and all(value.lists is not None for value in values):
        layout.add("lists", [_lists_text(row_values) for row_values in rows.values()])
    for head, column_values in grouped(values, lambda value: tuple(value.keys[name] for name in heads)).items():
        name = " · ".join(head)
        if counted and all(value.lists is not None for value in column_values):
            name = f"{name} (n = {_lists_text(column_values)})"
        cells = {row_of(value): value.cell for value in column_values}
        layout.add(name, [cells.get(row, Cell(MISSING_SIGN)) for row in rows])
    return layout


def _lists_text(values: Iterable[Value]) -> str:
    """Return the number of lists of some cells, or the smallest and the largest if they differ."""
    counts = [number_text(count, 0) for count in sorted({value.lists for value in values if value.lists is not None})]
    return counts[0] if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _mean_values(
    columns: Columns, segments: Sequence[str], metrics: Sequence[str], options: TableOptions
) -> list[Value]:
    """Return the cells of a result of `evaluate` or `describe`."""
    means = {name: [number_cell(value, options.digits) for value in columns[name]] for name in metrics}
    if not metrics:
        rows = zip(columns["mean"], columns["low"], columns["high"], strict=True)
        means = {"mean": [Cell(_with_interval(*row, options)) for row in rows]}
    values = []
    for name, cells in means.items():
        keys = [name] * len(cells) if metrics else columns["metric"]
        marked = cells_with_verdicts(cells, columns, segments, name, keys, options)
        values += _values(columns, segments, keys, marked, options)
    return values


def _difference_values(columns: Columns, segments: Sequence[str], options: TableOptions) -> list[Value]:
    """Return the cells of a result of `compare`."""
    p_values = columns["p_adjusted"]
    verdicts = columns.get("verdict", [""] * len(p_values))
    rows = zip(columns["difference"], columns["low"], columns["high"], p_values, verdicts, strict=True)
    cells = [
        Cell(_with_interval(difference, low, high, options), verdict == "better", stars_of(p))
        for difference, low, high, p, verdict in rows
    ]
    return _values(columns, segments, columns["metric"], cells, options)


def _values(
    columns: Columns, segments: Sequence[str], metrics: Sequence[Any], cells: Sequence[Cell], options: TableOptions
) -> list[Value]:
    """Return cells with the keys of their rows."""
    texts = {name: label_texts(columns, name, options) for name in (*segments, *MODEL_COLUMNS) if name in columns}
    texts["metric"] = [*map(str, metrics)]
    counts = columns.get("lists", [None] * len(cells))
    rows = zip(*texts.values(), strict=True)
    return [
        Value(dict(zip(texts, row, strict=True)), cell, count)
        for row, cell, count in zip(rows, cells, counts, strict=True)
    ]


def _with_interval(value: Any, low: Any, high: Any, options: TableOptions) -> str:
    """Return the text of a number with its interval, as the table shows intervals."""
    if options.interval == "plus_minus":
        return plus_minus_text(value, low, high, options.digits)
    ends = interval_text(low, high, options.digits)
    text = number_text(value, options.digits)
    return f"{text} {ends}" if options.interval == "range" and ends != MISSING_SIGN else text
