"""The content of a result's table before it becomes HTML, LaTeX or Markdown: texts, bold cells and notes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from recframe._display.cells import (
    Cell,
    label_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe._display.table_options import TableOptions

STARS_NOTE = "* adjusted p-value below 0.05, ** below 0.01, *** below 0.001."
VERDICT_NOTE = "Verdict: by the adjusted p-value, in the direction of the metric{}."
OPEN_NOTE = "Open although an interval leaves out 0: p-values are adjusted for all tests, intervals are not."
IS_COMPARE = {"metric", "difference", "low", "high", "p_adjusted"}
IS_PAIRED = {*IS_COMPARE, "model", "baseline", "verdict"}
"""The columns of a comparison of named models. A comparison of two states of unnamed models lacks the names."""
IS_DESCRIBE = {"metric", "lists", "mean", "low", "high", "std"}
IS_CHECK = {"finding", "severity", "count", "meaning"}
IS_RANKS = {"metric", "model", "mean", "lists", "rank", "rank_low", "rank_high", "tied_with_best"}
COUNTED_LISTS = ("lists", "baseline_lists")
COUNTS = {*COUNTED_LISTS, "count", "clusters", "seen", "tests", "items", "human_lists", "judge_lists", "undefined"}
"""The columns of whole numbers that are counts. Other whole numbers may be ids."""
Columns = dict[str, list[Any]]
"""A result: the values of each column."""


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


def interval_notes(number: str, call: str, options: TableOptions) -> list[str]:
    """Return the note about the intervals of a number, such as the mean, and their confidence, if they are shown."""
    name = "±" if options.interval == "plus_minus" else "Interval"
    return [] if options.interval == "none" else [f"{name}: of the {number}, at {confidence_text(call, options)}."]


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
