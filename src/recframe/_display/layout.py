"""The content of a result's table before it becomes HTML, LaTeX or Markdown: texts, bold cells and notes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

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
)
from recframe._display.frames import grouped
from recframe._display.model_verdicts import ModelVerdicts, record_of
from recframe._inference.comparison.columns import ANSWER, DETAILS
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe.metrics import Metric

STARS_NOTE = "* adjusted p-value below 0.05, ** below 0.01, *** below 0.001."
VERDICT_NOTE = "Verdict: by the adjusted p-value, in the direction of the metric{}."
OPEN_NOTE = "Open although an interval leaves out 0: p-values are adjusted for all tests, intervals are not."
IS_COMPARE = {"metric", "difference", "low", "high", "p_adjusted"}
IS_PAIRED = {*IS_COMPARE, "model", "baseline", "verdict"}
"""The columns of a comparison of named models. A comparison of two states of unnamed models lacks the names."""
IS_DESCRIBE = {"metric", "lists", "mean", "low", "high", "std"}
IS_RANKS = {"metric", "model", "mean", "lists", "rank", "rank_low", "rank_high", "tied_with_best"}
COUNTED_LISTS = ("lists", "baseline_lists")
COUNTS = {*COUNTED_LISTS, "count", "clusters", "seen", "tests", "items", "human_lists", "judge_lists", "undefined"}
"""The columns of whole numbers that are counts. Other whole numbers may be ids."""
MOST_RESULT_ROWS = 10_000
"""The most rows of a result whose rows are not metrics, models or segments."""
Columns = dict[str, list[Any]]
"""A result: the values of each column."""


@dataclass(frozen=True)
class TableOptions:
    """The options of a table."""

    digits: int
    confidence: float | None = None
    """The confidence of intervals, if it is known."""
    interval: str = "range"
    """Whether intervals are a range, plus_minus or none."""
    verdicts: ModelVerdicts = field(default_factory=ModelVerdicts)
    letters: bool = True
    """Whether models may get letters, which mark the models that another model beats."""
    margins: Mapping[str, str | None] | None = None
    """The margin of each metric of a comparison as text, None without one; None if it is not known."""

    @property
    def shows_letters(self) -> bool:
        """Whether models get letters."""
        return self.letters and self.verdicts.can_use_letters


@dataclass
class Layout:
    """A table of texts: a header, rows, the numeric columns, and notes."""

    header: list[str] = field(default_factory=list)
    columns: list[list[Cell]] = field(default_factory=list)
    numeric: list[bool] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, cells: Iterable[Cell | str], *, numeric: bool = True) -> None:
        """Add a column."""
        self.header.append(name)
        self.columns.append([cell if isinstance(cell, Cell) else Cell(cell) for cell in cells])
        self.numeric.append(numeric)

    def add_labels(self, columns: Columns, names: Iterable[str], options: TableOptions) -> None:
        """Add the columns of a result that identify its rows."""
        for name in names:
            self.add(str(name), label_texts(columns, name, options), numeric=False)

    def add_daggers(self, name: str, has_dagger: Sequence[bool], note: str) -> None:
        """Add a dagger to some cells of a column, and a note that explains it."""
        column = self.columns[self.header.index(name)]
        column[:] = [
            replace(cell, text=f"{cell.text} †", value=None) if is_marked else cell
            for cell, is_marked in zip(column, has_dagger, strict=True)
        ]
        self.notes += [f"† {note}."] if any(has_dagger) else []

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """The cells, row by row."""
        return list(zip(*self.columns, strict=True))


def layout_of(columns: Columns, records: Mapping[str, Metric], options: TableOptions) -> Layout:
    """Return the table of a result of a call.

    Raises
    ------
    InputError
        The frame has too many rows to be a result.
    """
    if not is_known(columns, records):
        if any(len(values) > MOST_RESULT_ROWS for values in columns.values()):
            msg = f"the frame has more than {MOST_RESULT_ROWS:,} rows, which no table shows"
            raise InputError(msg, "recframe.table(result.head(100))")
        return _plain_table(columns, options)
    segments, metrics = labels_of(columns, records)
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


def interval_notes(of: str, call: str, options: TableOptions) -> list[str]:
    """Return the note about intervals and their confidence, if intervals are shown."""
    name = "±" if options.interval == "plus_minus" else "Interval"
    return [] if options.interval == "none" else [f"{name}: of the {of}, at {confidence_text(call, options)}."]


def confidence_text(call: str, options: TableOptions) -> str:
    """Return the confidence of the result of a call, as text."""
    confidence = options.confidence
    return f"the confidence given to {call} (0.95 unless named)" if confidence is None else f"{100 * confidence:.6g}%"


def margin_text(margins: Mapping[str, str | None] | None) -> str:
    """Return the margin of the verdicts, as the end of a sentence."""
    if margins is None:
        return ", and by the margin if there is one"
    texts = {
        name: f"{text} of the baseline's mean" if text.endswith("%") else text for name, text in margins.items() if text
    }
    if not texts:
        return ""
    if len(texts) == len(margins) and len({*texts.values()}) == 1:
        return f", and by the margin of {next(iter(texts.values()))}"
    return f", and by the margins of {', '.join(f'{text} ({name})' for name, text in texts.items())}"


def label_texts(columns: Columns, name: str, options: TableOptions) -> list[str]:
    """Return the texts of a column of labels. Models have their letters behind their names, if there are letters."""
    texts = [*map(label_text, columns[name])]
    if name != "model" or not options.shows_letters:
        return texts
    return [f"{text} ({options.verdicts.letter_of(text)})" for text in texts]


def cells_with_verdicts(
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


def _means_table(columns: Columns, segments: Sequence[str], metrics: Sequence[str], options: TableOptions) -> Layout:
    """Return the table of a result of evaluate, or of describe, which has no columns of metrics."""
    names = list(columns)
    layout = Layout()
    described = ("model", *segments, "metric")
    labels = names[: names.index(metrics[0])] if metrics else [name for name in names if name in described]
    layout.add_labels(columns, labels, options)
    means = {name: [number_cell(value, options.digits) for value in columns[name]] for name in metrics}
    means = means or {"mean": estimates(columns, "mean", options)}
    for name in (name for name in names if name not in labels):
        if name in means:
            keys = [name] * len(means[name]) if metrics else columns["metric"]
            layout.add(str(name), cells_with_verdicts(means[name], columns, segments, name, keys, options))
        elif metrics or name not in ("low", "high"):
            layout.add(str(name), [number_cell(value, options.digits) for value in columns[name]])
        elif name == "low" and options.interval == "range":
            layout.add("interval", interval_texts(columns, options.digits))
    layout.notes += options.verdicts.notes(layout.columns, letters=options.shows_letters)
    layout.notes += [] if metrics else interval_notes("mean", "describe", options)
    return layout


def interval_texts(columns: Columns, digits: int) -> list[str]:
    """Return the interval of each row."""
    ends = zip(columns["low"], columns["high"], strict=True)
    return [interval_text(low, high, digits) for low, high in ends]


def estimates(columns: Columns, name: str, options: TableOptions) -> list[Cell]:
    """Return the cells of a column of numbers, with ± half of their intervals if the table shows those."""
    if options.interval != "plus_minus":
        return [number_cell(value, options.digits) for value in columns[name]]
    rows = zip(columns[name], columns["low"], columns["high"], strict=True)
    return [Cell(plus_minus_text(*row, options.digits)) for row in rows]


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
    differences = estimates(columns, "difference", options)
    if not has_means:
        differences = [replace(cell, bold=verdicts[row] == "better") for row, cell in enumerate(differences)]
    layout.add("difference", differences)
    if options.interval == "range":
        layout.add("interval", interval_texts(columns, options.digits))
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


def _open_without_zero(columns: Columns) -> bool:
    """Return whether a verdict is open although its interval excludes 0."""
    rows = zip(columns["verdict"], columns["low"], columns["high"], strict=True)
    return any(verdict == "open" and not is_missing(low) and (low > 0 or high < 0) for verdict, low, high in rows)
