"""The tables of results, by their call: a row for each result, or a column for each segment or each metric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recframe._checks.findings import meaning_of
from recframe._display.cells import (
    MISSING_SIGN,
    Cell,
    interval_text,
    is_missing,
    label_text,
    number_cell,
    number_text,
    p_text,
    plus_minus_text,
    stars_of,
    with_letters,
)
from recframe._display.frames import grouped
from recframe._display.layout import (
    COUNTED_LISTS,
    COUNTS,
    IS_CHECK,
    IS_COMPARE,
    IS_DESCRIBE,
    IS_RANKS,
    OPEN_NOTE,
    STARS_NOTE,
    VERDICT_NOTE,
    Columns,
    Layout,
    confidence_text,
    interval_notes,
    label_texts,
    margin_text,
)
from recframe._display.model_verdicts import record_of
from recframe._inference.comparison.columns import ANSWER, DETAILS
from recframe.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe._display.table_options import TableOptions
    from recframe.metrics import Metric

MOST_RESULT_ROWS = 10_000
"""The most rows of a result whose rows are not metrics, models or segments."""
MODEL_COLUMNS = ("model", "baseline")


@dataclass(frozen=True)
class Value:
    """A cell with its keys."""

    keys: Mapping[str, str]
    """Its segment, metric, model and (in a comparison) baseline, by the names of their columns."""
    cell: Cell
    lists: int | None
    """The number of lists, if the result has it."""


def layout_of(
    columns: Columns, records: Mapping[str, Metric], options: TableOptions, heads: str | None = None
) -> Layout:
    """Return the table of a result of a call, with a column for each metric or segment if `heads` says so.

    Raises
    ------
    InputError
        The frame has too many rows to be a result.
    OptionError
        The result has no segments or comes from `rank_models`, so that it has no such columns.
    """
    if heads is None and not is_known(columns, records):
        if any(len(values) > MOST_RESULT_ROWS for values in columns.values()):
            msg = f"the frame has more than {MOST_RESULT_ROWS:,} rows, which no table shows"
            raise InputError(msg, "recframe.table(result.head(100))")
        return _check_table(columns, options) if columns.keys() >= IS_CHECK else _plain_table(columns, options)
    segments, metrics = labels_of(columns, records)
    if heads is not None and not (metrics and heads == "metric"):
        return _pivoted_table(columns, segments, metrics, options, heads)
    if columns.keys() >= IS_COMPARE:
        return _comparison_table(columns, segments, options)
    if columns.keys() >= IS_RANKS:
        return _ranks_table(columns, segments, options)
    return _means_table(columns, segments, metrics, options)


def is_known(columns: Columns, records: Mapping[str, Metric]) -> bool:
    """Return whether a result has metric values, in rows or in columns named after metrics."""
    if any(columns.keys() >= kind for kind in (IS_COMPARE, IS_DESCRIBE, IS_RANKS)):
        return True
    # Other calls have columns of their own with such names: bounds has judged, agreement has kendall.
    others = "metric" in columns or columns.keys() >= {"model", "other", "lists"}
    return not others and any(record_of(str(name), records) is not None for name in columns)


def labels_of(columns: Columns, records: Mapping[str, Metric]) -> tuple[list[str], list[str]]:
    """Return the segment columns and the metric columns; there are no metric columns if each row is a metric.

    Raises
    ------
    InputError
        The frame is no result.
    """
    names = list(columns)
    kind = next((kind for kind in (IS_COMPARE, IS_DESCRIBE, IS_RANKS) if columns.keys() >= kind), None)
    if kind is not None:
        # Segments come first: every column before the metric, the models and the numbers.
        last = max(names.index(name) for name in ("metric", "model", "baseline") if name in columns)
        result_columns = {"model", "baseline", *kind, *((*ANSWER, *DETAILS) if kind is IS_COMPARE else ())}
        after = range(last + 1, len(names))
        until = next((number for number in after if names[number] in result_columns), len(names))
        return [name for name in names[:until] if name not in result_columns], []
    metrics = [name for name in names if record_of(str(name), records) is not None]
    if not metrics:
        msg = f"the frame has the columns {', '.join(map(repr, columns))}, and none of them is named after a metric"
        raise InputError(msg, "give the result of evaluate, describe or compare; metrics= names metrics of your own")
    return [name for name in names[: names.index(metrics[0])] if name != "model"], metrics


def _means_table(columns: Columns, segments: Sequence[str], metrics: Sequence[str], options: TableOptions) -> Layout:
    """Return the table of a result of evaluate, or of describe, which has no columns of metrics."""
    names = list(columns)
    layout = Layout()
    described = ("model", *segments, "metric")
    labels = names[: names.index(metrics[0])] if metrics else [name for name in names if name in described]
    layout.add_labels(columns, labels, options)
    means = _mean_cells(columns, segments, metrics, options, beside=False)
    for name in (name for name in names if name not in labels):
        if name in means:
            layout.add(str(name), means[name])
        elif metrics or name not in ("low", "high"):
            layout.add(str(name), [number_cell(value, options.digits) for value in columns[name]])
        elif name == "low" and options.interval == "range":
            layout.add("interval", _interval_texts(columns, options.digits))
    layout.notes += options.verdicts.notes(layout.columns, letters=options.shows_letters)
    layout.notes += [] if metrics else interval_notes("mean", "describe", options)
    return layout


def _mean_cells(
    columns: Columns, segments: Sequence[str], metrics: Sequence[str], options: TableOptions, *, beside: bool
) -> dict[str, list[Cell]]:
    """Return the cells of the means, by column. Means of `describe` have their intervals `beside` them."""
    if metrics:
        means = {name: [number_cell(value, options.digits) for value in columns[name]] for name in metrics}
    else:
        means = {"mean": _estimates(columns, "mean", options, beside=beside)}
    return {
        name: _with_verdicts(
            cells, columns, segments, name, [name] * len(cells) if metrics else columns["metric"], options
        )
        for name, cells in means.items()
    }


def _with_verdicts(
    cells: list[Cell],
    columns: Columns,
    segments: Sequence[str],
    name: str,
    metrics: Sequence[Any],
    options: TableOptions,
) -> list[Cell]:
    """Return the cells of a column of means. The best means are bold, and letters name the models that each beats."""
    if "model" not in columns:
        return cells
    marked = [*cells]
    models = [*map(label_text, columns["model"])]
    means = columns[name]
    keys = list(zip(*(map(label_text, columns[name]) for name in segments), map(str, metrics), strict=True))
    for key, rows in grouped(range(len(keys)), keys.__getitem__).items():
        means_of_models = {models[row]: means[row] for row in rows}
        tied_for_best = options.verdicts.tied_for_best(key, means_of_models)
        for row in rows:
            letters = options.verdicts.letters_of(key, models[row]) if options.shows_letters else ""
            marked[row] = replace(marked[row], bold=models[row] in tied_for_best, raised=letters)
    return marked


def _estimates(columns: Columns, name: str, options: TableOptions, *, beside: bool) -> list[Cell]:
    """Return the cells of numbers: with ± half of their intervals, or with both ends `beside` them, as options say."""
    rows = zip(columns[name], columns["low"], columns["high"], strict=True)
    if options.interval == "plus_minus":
        return [Cell(plus_minus_text(*row, options.digits)) for row in rows]
    cells = [number_cell(value, options.digits) for value in columns[name]]
    if options.interval == "none" or not beside:
        return cells
    ends = _interval_texts(columns, options.digits)
    pairs = zip(cells, ends, strict=True)
    return [Cell(cell.text if end == MISSING_SIGN else f"{cell.text} {end}") for cell, end in pairs]


def _interval_texts(columns: Columns, digits: int) -> list[str]:
    """Return the interval of each row."""
    ends = zip(columns["low"], columns["high"], strict=True)
    return [interval_text(low, high, digits) for low, high in ends]


def _comparison_table(columns: Columns, segments: Sequence[str], options: TableOptions) -> Layout:
    """Return the table of a comparison, the verdict first. A baseline of all rows is a note, not a column."""
    layout = Layout()
    baselines = [*dict.fromkeys(map(label_text, columns.get("baseline", ())))]
    names = ("metric", "model", *(["baseline"] if len(baselines) != 1 else []))
    layout.add_labels(columns, (*segments, *(name for name in names if name in columns)), options)
    if "verdict" in columns:
        layout.add("verdict", columns["verdict"], numeric=False)
    verdicts = columns.get("verdict", [""] * len(columns["difference"]))
    has_means = columns.keys() >= {"mean", "baseline_mean"}
    differences = _estimates(columns, "difference", options, beside=False)
    if not has_means:
        differences = [replace(cell, bold=verdicts[row] == "better") for row, cell in enumerate(differences)]
    layout.add("difference", differences)
    if options.interval == "range":
        layout.add("interval", _interval_texts(columns, options.digits))
    layout.add("adjusted p", [p_text(value) for value in columns["p_adjusted"]])
    winners = {"mean": "better", "baseline_mean": "worse"}
    for name in (name for name in (*COUNTED_LISTS, *winners) if name in columns):
        rows = zip(columns[name], verdicts, strict=True)
        cells = [number_cell(value, options.digits, bold=verdict == winners.get(name)) for value, verdict in rows]
        layout.add(name.replace("_", " "), cells)
    if columns.keys() >= {"wins", "ties", "losses"}:
        counts = zip(*(columns[name] for name in ("wins", "ties", "losses")), strict=True)
        layout.add("wins/ties/losses", ["/".join(number_text(value, 0) for value in row) for row in counts])
    layout.notes += [f"Baseline: {baselines[0]}."] if len(baselines) == 1 else []
    if any(cell.bold for column in layout.columns for cell in column):
        layout.notes.append(
            f"Bold: {'the mean that the verdict finds better' if has_means else 'better, by the verdict'}."
        )
    layout.notes += interval_notes("difference", "compare", options)
    layout.notes.append(STARS_NOTE)
    if "verdict" in columns:
        layout.notes.append(VERDICT_NOTE.format(margin_text(options.margins)))
        layout.notes += [OPEN_NOTE] if options.interval != "none" and _open_without_zero(columns) else []
    return layout


def _ranks_table(columns: Columns, segments: Sequence[str], options: TableOptions) -> Layout:
    """Return the table of a result of `rank_models`."""
    layout = Layout()
    layout.add_labels(columns, (*segments, "metric", "model"), options)
    layout.add("lists", [number_cell(value, options.digits) for value in columns["lists"]])
    rows = zip(columns["mean"], columns["tied_with_best"], strict=True)
    layout.add("mean", [number_cell(value, options.digits, bold=bool(tied)) for value, tied in rows])
    if "shrunk" in columns:
        layout.add("shrunk", [number_cell(value, options.digits) for value in columns["shrunk"]])
    layout.add("rank", [number_cell(value, 0) for value in columns["rank"]])
    ends = zip(columns["rank_low"], columns["rank_high"], strict=True)
    layout.add("ranks", [f"{number_text(low, 0)} to {number_text(high, 0)}" for low, high in ends])
    layout.add("tied with the best", ["yes" if tied else "no" for tied in columns["tied_with_best"]], numeric=False)
    layout.notes.append("Bold: the models that may be the best.")
    layout.notes.append(f"Ranks: between these for all models at once, at {confidence_text('rank_models', options)}.")
    return layout


def _plain_table(columns: Columns, options: TableOptions) -> Layout:
    """Return the table of a result of another call, with all of its columns."""
    layout = Layout()
    for name, values in columns.items():
        known = [value for value in values if not is_missing(value)]
        if known and all(isinstance(value, bool) for value in known):
            words = {True: "yes", False: "no"}
            layout.add(str(name), [words.get(value, MISSING_SIGN) for value in values], numeric=False)
        elif known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
            # A whole number may be an id, which has no thousands.
            ids = name not in COUNTS and all(isinstance(value, int) for value in known)
            layout.add(str(name), map(label_text, values) if ids else [number_cell(x, options.digits) for x in values])
        else:
            layout.add(str(name), map(label_text, values), numeric=False)
    return layout


def _check_table(columns: Columns, options: TableOptions) -> Layout:
    """Return the table of findings, whose notes say what they mean and what to do."""
    layout = _plain_table({name: values for name, values in columns.items() if name != "meaning"}, options)
    layout.notes += [f"{name}: {meaning_of(name)}." for name in dict.fromkeys(columns["finding"]) if meaning_of(name)]
    return layout


def _open_without_zero(columns: Columns) -> bool:
    """Return whether a verdict is open although its interval excludes 0."""
    rows = zip(columns["verdict"], columns["low"], columns["high"], strict=True)
    return any(verdict == "open" and not is_missing(low) and (low > 0 or high < 0) for verdict, low, high in rows)


def _pivoted_table(
    columns: Columns, segments: Sequence[str], metrics: Sequence[str], options: TableOptions, heads: str
) -> Layout:
    """Return the table of a result with a column for each segment or each metric."""
    if columns.keys() >= IS_RANKS:
        msg = f"columns={heads!r} is for results of evaluate, describe and compare, but these are ranks"
        raise OptionError(msg, "recframe.table(ranks)")
    if heads == "segment" and not segments:
        msg = "columns='segment' needs segments, but the result has none"
        raise OptionError(msg, "evaluate, describe or compare with per='country'")
    compared = columns.keys() >= IS_COMPARE
    if compared:
        values = _difference_values(columns, segments, options)
    else:
        values = _mean_values(columns, segments, metrics, options)
    baselines = [*dict.fromkeys(map(label_text, columns.get("baseline", ())))]
    model_columns = [name for name in MODEL_COLUMNS if name in columns]
    if len(baselines) == 1:
        model_columns.remove("baseline")
    if heads == "segment":
        # A column for each segment holds all metrics, one below the other.
        in_order = list(dict.fromkeys(value.keys["metric"] for value in values))
        values = sorted(values, key=lambda value: in_order.index(value.keys["metric"]))
        layout = _pivoted(values, ["metric", *model_columns], segments, counted=True)
    else:
        layout = _pivoted(values, [*segments, *model_columns], ["metric"], counted=False)
    layout.notes += options.verdicts.notes(layout.columns, letters=options.shows_letters)
    layout.notes += [f"Baseline: {baselines[0]}."] if len(baselines) == 1 else []
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
    values = []
    for name, cells in _mean_cells(columns, segments, metrics, options, beside=True).items():
        keys = [name] * len(cells) if metrics else columns["metric"]
        values += _values(columns, segments, keys, cells, options)
    return values


def _difference_values(columns: Columns, segments: Sequence[str], options: TableOptions) -> list[Value]:
    """Return the cells of a result of `compare`."""
    verdicts = columns.get("verdict", [""] * len(columns["difference"]))
    rows = zip(_estimates(columns, "difference", options, beside=True), columns["p_adjusted"], verdicts, strict=True)
    cells = [Cell(cell.text, verdict == "better", stars_of(p)) for cell, p, verdict in rows]
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
