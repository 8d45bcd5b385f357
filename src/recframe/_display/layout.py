"""What a result's table holds, before it is HTML, LaTeX or Markdown: texts, which of them are bold, and notes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recframe.errors import InputError, OptionError
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import narwhals as nw

    from recframe.metrics import Metric

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""The marks of adjusted p-values below a level."""
STARS_NOTE = "* adjusted p-value below 0.05, ** below 0.01, *** below 0.001."
VERDICT_NOTE = "Verdict: by the adjusted p-value, in the direction of the metric, and by the margin if there is one."
MISSING_SIGN = "–"
EQUALLY_GOOD = 1e-12
"""Values that differ by less, relative to their size, are equally good."""
LARGE = 1e15
"""From here on numbers are written with an exponent, as a float holds no more digits before the point."""
IS_COMPARE = {"metric", "model", "baseline", "mean", "baseline_mean", "difference", "low", "high", "p_adjusted"}
IS_DESCRIBE = {"metric", "lists", "undefined", "mean", "low", "high", "std", "zeros"}
IS_RANKS = {"metric", "model", "mean", "lists", "rank", "rank_low", "rank_high", "tied_with_best"}
RANKS_NOTE = "Ranks: between these for all models at once, at the confidence given to rank_models (0.95 unless named)."


@dataclass(frozen=True)
class Cell:
    """A text of a table."""

    text: str
    bold: bool = False


@dataclass
class Layout:
    """A table of texts: a header, its rows, which columns hold numbers, and what is said below."""

    header: list[str] = field(default_factory=list)
    columns: list[list[Cell]] = field(default_factory=list)
    numeric: list[bool] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, cells: Iterable[Cell | str], *, numeric: bool = True) -> None:
        """Add a column."""
        self.header.append(name)
        self.columns.append([cell if isinstance(cell, Cell) else Cell(cell) for cell in cells])
        self.numeric.append(numeric)

    def mark(self, name: str, marked: Sequence[bool], note: str) -> None:
        """Mark cells of a column, and say what the mark means if there is one."""
        column = self.columns[self.header.index(name)]
        column[:] = [
            Cell(f"{cell.text} †", cell.bold) if one else cell for cell, one in zip(column, marked, strict=True)
        ]
        self.notes += [f"† {note}."] if any(marked) else []

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """The cells, row by row."""
        return list(zip(*self.columns, strict=True))


def layout_of(
    result: nw.DataFrame[Any], records: Mapping[str, Metric], digits: int, confidence: float | None = None
) -> Layout:
    """Return the table of a result of a call; the confidence of its intervals may be known.

    Raises
    ------
    InputError
        The frame is none of them.
    """
    columns = {name: result.get_column(name).to_list() for name in result.columns}
    if columns.keys() >= IS_COMPARE:
        return _of_compare(columns, digits, confidence)
    if columns.keys() >= IS_DESCRIBE:
        return _of_describe(columns, records, digits, confidence)
    if columns.keys() >= IS_RANKS:
        return _of_ranks(columns, records, digits)
    return _of_evaluate(columns, records, digits)


def record_of(name: str, records: Mapping[str, Metric]) -> Metric | None:
    """Return the metric that a column is named after, or nothing."""
    # Of a metric that is given without a cutoff, a result may have several.
    for known in (name, name.rpartition("@")[0]):
        if known in records:
            return records[known]
    try:
        return spec_of(name).metric
    except OptionError:
        return None


def number_text(value: Any, digits: int) -> str:
    """Return a number as tables show it."""
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return MISSING_SIGN
    # The sign of a zero, `z`, is left out: a value that is rounded to 0 is neither above nor below.
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:z.{digits}f}" if abs(value) < LARGE else f"{value:.{digits}e}"


def _of_evaluate(columns: dict[str, list[Any]], records: Mapping[str, Metric], digits: int) -> Layout:
    by_column = {name: record for name in columns if (record := record_of(str(name), records)) is not None}
    if not by_column:
        msg = f"the frame has the columns {', '.join(map(repr, columns))}, and none of them is named after a metric"
        raise InputError(msg, "give the result of evaluate, describe or compare; metrics= names metrics of your own")
    names = list(columns)
    labels = names[: names.index(next(iter(by_column)))]
    groups = list(zip(*(columns[name] for name in labels if name != "model"), strict=True))
    groups = groups or [()] * len(columns[names[0]])
    layout = Layout()
    for name in labels:
        layout.add(str(name), map(_label_text, columns[name]), numeric=False)
    for name in names[len(labels) :]:
        values = columns[name]
        best = _best(values, groups, by_column[name]) if name in by_column and "model" in labels else set()
        layout.add(name, [Cell(number_text(value, digits), row in best) for row, value in enumerate(values)])
    if any(cell.bold for column in layout.columns for cell in column):
        layout.notes.append(_best_note(by_column.values(), within=len(labels) > 1))
    return layout


def _of_describe(
    columns: dict[str, list[Any]], records: Mapping[str, Metric], digits: int, confidence: float | None
) -> Layout:
    layout = Layout()
    names = list(columns)
    labels = names[: names.index("metric") + 1]
    for name in labels:
        layout.add(str(name), map(_label_text, columns[name]), numeric=False)
    best: set[int] = set()
    if "model" in labels:
        best = _best_by_metric(columns, [name for name in labels if name not in ("model", "metric")], records)
    for name in names[len(labels) :]:
        if name == "high":
            continue
        if name == "low":
            layout.add("interval", _intervals(columns, digits))
            continue
        cells = [
            Cell(number_text(value, digits), name == "mean" and row in best) for row, value in enumerate(columns[name])
        ]
        layout.add(name, cells)
    if best:
        layout.notes.append(_best_note(_records(columns, records), within=len(labels) > 2))  # noqa: PLR2004
    layout.notes.append(_interval_note("mean", "describe", confidence))
    return layout


def _of_compare(columns: dict[str, list[Any]], digits: int, confidence: float | None) -> Layout:
    layout = Layout()
    per = list(columns)[: list(columns).index("metric")]
    for name in (*per, "metric", "model", "baseline"):
        layout.add(str(name), map(_label_text, columns[name]), numeric=False)
    better = _winners(columns)
    layout.add("lists", [number_text(value, digits) for value in columns["lists"]])
    for name in ("mean", "baseline_mean"):
        cells = [Cell(number_text(value, digits), (name, row) in better) for row, value in enumerate(columns[name])]
        layout.add(name.replace("_", " "), cells)
    layout.add("difference", [number_text(value, digits) for value in columns["difference"]])
    layout.add("interval", _intervals(columns, digits))
    layout.add("adjusted p", [_p_text(value) for value in columns["p_adjusted"]])
    if "verdict" in columns:
        layout.add("verdict", columns["verdict"], numeric=False)
    if columns.keys() >= {"wins", "ties", "losses"}:
        counts = zip(*(columns[name] for name in ("wins", "ties", "losses")), strict=True)
        layout.add("wins/ties/losses", ["/".join(number_text(value, 0) for value in row) for row in counts])
    if better:
        layout.notes.append("Bold: the mean that the verdict finds better.")
    layout.notes.append(_interval_note("difference", "compare", confidence))
    layout.notes.append(STARS_NOTE)
    if "verdict" in columns:
        layout.notes.append(VERDICT_NOTE)
    return layout


def _of_ranks(columns: dict[str, list[Any]], records: Mapping[str, Metric], digits: int) -> Layout:
    layout = Layout()
    per = list(columns)[: list(columns).index("metric")]
    for name in (*per, "metric", "model"):
        layout.add(str(name), map(_label_text, columns[name]), numeric=False)
    best = _best_by_metric(columns, per, records)
    layout.add("lists", [number_text(value, digits) for value in columns["lists"]])
    means = enumerate(columns["mean"])
    layout.add("mean", [Cell(number_text(value, digits), row in best) for row, value in means])
    layout.add("rank", [number_text(value, 0) for value in columns["rank"]])
    ends = zip(columns["rank_low"], columns["rank_high"], strict=True)
    layout.add("ranks", [f"{number_text(low, 0)} to {number_text(high, 0)}" for low, high in ends])
    layout.add("tied with the best", ["yes" if tied else "no" for tied in columns["tied_with_best"]], numeric=False)
    if best:
        layout.notes.append(_best_note(_records(columns, records), within=bool(per)))
    layout.notes.append(RANKS_NOTE)
    return layout


def _winners(columns: dict[str, list[Any]]) -> set[tuple[str, int]]:
    """Return where the means are that verdicts find better than the other."""
    better = {"better": "mean", "worse": "baseline_mean"}
    return {(better[verdict], row) for row, verdict in enumerate(columns.get("verdict", ())) if verdict in better}


def _interval_note(of: str, call: str, confidence: float | None) -> str:
    used = f"the confidence given to {call} (0.95 unless named)" if confidence is None else f"{100 * confidence:.6g}%"
    return f"Interval: of the {of}, at {used}."


def _label_text(value: Any) -> str:
    return MISSING_SIGN if value is None or value != value else str(value)  # noqa: PLR0124 - NaN


def _intervals(columns: dict[str, list[Any]], digits: int) -> list[str]:
    ends = zip(columns["low"], columns["high"], strict=True)
    texts = [(number_text(low, digits), number_text(high, digits)) for low, high in ends]
    return [MISSING_SIGN if MISSING_SIGN in each else "[{}, {}]".format(*each) for each in texts]


def _p_text(value: Any) -> str:
    text = number_text(value, 3)
    if text == MISSING_SIGN:
        return text
    text = "<0.001" if value < STARS[0][0] else text
    stars = next((stars for level, stars in STARS if value < level), "")
    return f"{text} {stars}".strip()


def _records(columns: dict[str, list[Any]], records: Mapping[str, Metric]) -> list[Metric]:
    metrics = (record_of(name, records) for name in dict.fromkeys(columns["metric"]))
    return [record for record in metrics if record is not None]


def _best(values: Sequence[Any], groups: Sequence[Any], record: Metric) -> set[int]:
    """Return the rows of the best values within each group that has a better and a worse one."""
    rows: dict[Any, list[int]] = {}
    for row, value in enumerate(values):
        if value is not None and value == value:  # noqa: PLR0124 - NaN
            rows.setdefault(groups[row], []).append(row)
    best_rows: set[int] = set()
    for members in rows.values():
        best = (max if record.higher_is_better else min)(values[row] for row in members)
        close = {row for row in members if math.isclose(values[row], best, rel_tol=EQUALLY_GOOD, abs_tol=EQUALLY_GOOD)}
        best_rows |= close if len(close) < len(members) else set()
    return best_rows


def _best_by_metric(columns: dict[str, list[Any]], per: Sequence[str], records: Mapping[str, Metric]) -> set[int]:
    """Return the rows of the best means of each metric and segment."""
    keys = list(zip(*(columns[name] for name in (*per, "metric")), strict=True))
    rows: set[int] = set()
    for metric in dict.fromkeys(columns["metric"]):
        record = record_of(metric, records)
        if record is not None:
            of_metric = [value if key[-1] == metric else None for value, key in zip(columns["mean"], keys, strict=True)]
            rows |= _best(of_metric, keys, record)
    return rows


def _best_note(records: Iterable[Metric], *, within: bool) -> str:
    lower = [record.label for record in records if not record.higher_is_better]
    note = "Bold: the best value of each metric" + (", segment by segment" if within else "")
    note += f"; lower is better for {', '.join(lower)}" if lower else ""
    return f"{note}. Bold says nothing of significance."
