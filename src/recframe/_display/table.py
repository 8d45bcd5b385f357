"""Results as tables: in notebooks and terminals, as HTML, LaTeX, Markdown, an image and a sheet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw

from recframe._base.signatures import checked_call
from recframe._base.values import choice, flag, whole_number
from recframe._data.files.paths import as_path, check_directory, write_atomically
from recframe._display.cells import RAISED, label_text, with_letters
from recframe._display.chart_texts import check_title
from recframe._display.frames import columns_of, eager_result, margins_of
from recframe._display.layout import (
    IS_COMPARE,
    IS_PAIRED,
    IS_RANKS,
    Columns,
    Layout,
)
from recframe._display.markdown import escaped, one_line, table_of_cells
from recframe._display.model_verdicts import ModelVerdicts, model_verdicts, records_by_name
from recframe._display.packages import package
from recframe._display.result_tables import labels_of, layout_of
from recframe._display.sorting import best_first
from recframe._display.table_image import png
from recframe._display.table_options import TableOptions
from recframe._display.table_sheet import xlsx
from recframe._inference.lists.result_notes import confidence_of
from recframe.errors import InputError, MissingExtraError, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recframe.metrics import Metric

MOST_DECIMALS = 15
ALARMING = ("error", "warning")
"""The findings that a note names, the most severe first."""
STAR = re.compile(r"(\\\\\s*\n\s*)(?=\*)")
"""A line break of LaTeX before a line that starts with a star, which it would read as its own."""
FLAT = {raised: letter for letter, raised in RAISED.items()}
MINUS = re.compile(r"(?<![\w}-])-(?=\d)")
"""The sign of a number, which is no hyphen of a name or a date."""
RAISED_TEXT = re.compile(f"[{''.join(map(chr, FLAT))}]+")


class Table:
    """A result as a table for people, which `recframe.table` returns.

    Notebooks show it as HTML, or as Markdown if great_tables is not installed, and ``print`` shows Markdown. The
    methods return the table as text, and `save` writes it to a file in the format that its ending names. Numbers are
    rounded for display only: the result that you passed keeps all digits.

    See Also
    --------
    recframe.table : Make a table of a result.
    """

    def __init__(self, layout: Layout, backend: Any, title: str | None, digits: int) -> None:
        self._layout, self._backend, self._title, self._digits = layout, backend, title, digits

    @property
    def gt(self) -> Any:
        """The table as an object of great_tables, which you can style further.

        Use it for colours, column groups or footnotes that `recframe.table` has no option for, as in
        ``table.gt.tab_options(table_font_size="12px")``. The cells are texts, already rounded, and the columns are
        named ``"column 0"``, ``"column 1"`` and so on, because headers may repeat.

        Raises
        ------
        MissingExtraError
            great_tables is not installed.
        """
        great_tables = package("great_tables", "tables in HTML and LaTeX", "tables")
        layout = self._layout
        # Two headers may be equal, so columns are named by their numbers.
        names = [f"column {number}" for number in range(len(layout.header))]
        texts = {
            name: [with_letters(cell, f"**{cell.text}**" if cell.bold else cell.text) for cell in column]
            for name, column in zip(names, layout.columns, strict=True)
        }
        native = nw.from_dict(texts, {name: nw.String() for name in names}, backend=self._backend).to_native()
        table = great_tables.GT(native).cols_label(dict(zip(names, layout.header, strict=True)))
        for name, column, numeric in zip(names, layout.columns, layout.numeric, strict=True):
            table = table.cols_align("right" if numeric else "left", columns=name)
            bold = [row for row, cell in enumerate(column) if cell.bold]
            # Bold by Markdown, as great_tables leaves styles out of LaTeX.
            table = table.fmt_markdown(columns=name, rows=bold) if bold else table
        if self._title is not None:
            table = table.tab_header(self._title)
        for note in layout.notes:
            table = table.tab_source_note(note)
        return table

    def to_html(self) -> str:
        """Return the table as a piece of HTML that brings its own style.

        Paste it into a page, a mail or a notebook of another tool: it loads no script, font or style from elsewhere.
        Numbers are aligned at the right, a number that a test found best is bold, and the notes stand below the table.
        `save` writes the same HTML to a file.

        Raises
        ------
        MissingExtraError
            great_tables is not installed.
        """
        text: str = self.gt.as_raw_html()
        return text

    def to_latex(self) -> str:
        """Return the table as LaTeX, for a paper.

        The document needs the package booktabs, and caption if the table has a title. Names with special characters are
        escaped, and a number that a test found best is bold. Letters that mark significant differences are
        superscripts. `save` writes the same text to a file that ends in ``.tex``.

        Raises
        ------
        MissingExtraError
            great_tables is not installed.
        """
        text: str = STAR.sub(r"\1{}", self.gt.as_latex())
        text = MINUS.sub("$-$", text)
        text = text.replace("±", r"$\pm$").replace("†", r"\dag{}").replace("–", "--")
        return RAISED_TEXT.sub(lambda raised: rf"\textsuperscript{{{raised[0].translate(FLAT)}}}", text)

    def to_markdown(self) -> str:
        """Return the table as Markdown, with aligned columns.

        It needs no package besides recframe, so it works in any job. Use it for a comment in a pull request, a README
        or a log. Characters that Markdown would read as formatting are escaped, so model names such as ``a_b|c`` are
        shown unchanged. A number that a test found best is bold.

        Returns
        -------
        str
            The title if there is one, the table, and its notes.
        """
        return self._text(escaped, "  \n")

    def __repr__(self) -> str:
        # As Markdown, without the marks that keep names from being read as Markdown.
        return self._text(one_line, "\n")

    def _text(self, shown: Callable[[str], str], line_end: str) -> str:
        """Return the title, the table and the notes as Markdown: `shown` formats each text, `line_end` joins notes."""
        layout = self._layout
        rows = [
            [with_letters(cell, f"**{shown(cell.text)}**" if cell.bold else shown(cell.text)) for cell in row]
            for row in layout.rows
        ]
        table = table_of_cells(list(map(shown, layout.header)), rows, layout.numeric)
        title = [] if self._title is None else [f"**{shown(self._title)}**"]
        notes = [line_end.join(map(shown, layout.notes))] if layout.notes else []
        return "\n\n".join([*title, table, *notes]) + "\n"

    def save(self, path: Any) -> None:
        """Write the table to a file, in the format of its ending.

        Parameters
        ----------
        path : str or path
            A file that ends in ``.html``, ``.tex``, ``.md``, ``.png`` or ``.xlsx``; an existing file is replaced. An
            Excel sheet holds numbers with all digits.

        Raises
        ------
        OptionError
            The file has another ending.
        MissingExtraError
            A package is not installed: for HTML and LaTeX great_tables, for Excel XlsxWriter, for images vl-convert.
        """
        target = as_path(path)
        writers = {
            ".html": lambda: self.to_html().encode(),
            ".tex": lambda: self.to_latex().encode(),
            ".md": lambda: self.to_markdown().encode(),
            ".png": lambda: png(self._layout, self._title, package("vl_convert", "tables as images")),
            ".xlsx": lambda: xlsx(
                self._layout, self._title, self._digits, package("xlsxwriter", "tables in Excel", "tables")
            ),
        }
        ending = target.suffix.lower()
        if ending not in writers:
            msg = f"{str(path)!r} ends in {ending!r}, but a table is saved as {', '.join(writers)}"
            raise OptionError(msg, f"table.save({str(target.with_suffix('.html'))!r})")
        check_directory(target)
        write_atomically(target, writers[ending]())

    def _repr_html_(self) -> str | None:
        # Notebooks fall back on Markdown where there is no HTML.
        try:
            return self.to_html()
        except MissingExtraError:
            return None

    _repr_markdown_ = to_markdown


@checked_call
def table(
    result: Any,
    *,
    metrics: str | Metric | Sequence[str | Metric] = (),
    title: str | None = None,
    digits: int = 4,
    compared: Any = None,
    checked: Any = None,
    columns: Literal["metric", "segment"] | None = None,
    interval: Literal["range", "plus_minus", "none"] = "range",
    sort: bool = False,
    confidence: float | None = None,
) -> Table:
    """Return a result as a table for people.

    A comparison has the verdict first, and a baseline that is the same in all rows as a note. A number is bold if a
    test says so, never for its size: in a result of `compare` the difference, or with details the mean, that the
    verdict finds better, in one of `rank_models` the models that may be the best. Means of `evaluate` and `describe`
    are bold by `compared`. Results of other calls, such as `check` and `bounds`, keep their columns. Notes below the
    table explain intervals and marks.

    Parameters
    ----------
    result : frame
        What a call returned; lazy frames are collected.
    metrics : str, Metric or sequence of them
        Metrics of your own that the result holds: they say whether higher is better.
    title : str, optional
        The title.
    digits : int
        The decimal places, from 0 to 15.
    compared : frame, optional
        What `compare` returned for the same models, metrics and segments. For each metric, the best mean is bold, and
        so is every mean that `compare` does not find worse. Up to 25 models get letters, and each mean shows the
        letters of the models that it beats.
    checked : frame, optional
        What `check` returned for the same data. Its errors and warnings are the first note.
    columns : {"metric", "segment"}, default None
        A column for each metric, or for each value of `per` with its number of lists. Comparisons show differences.
    interval : {"range", "plus_minus", "none"}
        Intervals by their two ends, as ± half their width, or not at all. An interval whose halves differ has both.
    sort : bool
        Whether the best model of the first metric comes first, within each segment.
    confidence : float, optional
        The confidence of the intervals, for the notes, if the frame was changed after the call that made it.

    Returns
    -------
    Table
        With the methods `to_html`, `to_latex`, `to_markdown` and `save`, and with `gt`, the object of great_tables.
        Notebooks show it.

    Raises
    ------
    InputError
        The frame has more than 10,000 rows, `sort` or `columns` need values of metrics, or `compared` is no result of
        `compare` for the same models, or `checked` none of `check`.
    OptionError
        There are no segments to be columns, or the confidence is not between 0.5 and 1.
    OptionTypeError
        It is no frame, or an option has a value that it cannot have.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "old": [0.9, 0.1], "new": [0.2, 0.7]})
    >>> values = df.rec.evaluate(["ndcg", "mrr"], k=2, score=["old", "new"])
    >>> recframe.table(values, digits=3, sort=True)
    | model | ndcg@2 | mrr@2 |
    | ----- | -----: | ----: |
    | new   |  1.000 | 1.000 |
    | old   |  0.631 | 0.500 |
    <BLANKLINE>
    """
    frame = eager_result(result)
    check_title(title)
    digits = whole_number("digits", digits, "digits=4", least=0, most=MOST_DECIMALS)
    if columns is not None:
        choice("columns", columns, ("metric", "segment"))
    choice("interval", interval, ("range", "plus_minus", "none"))
    if confidence is None:
        confidence = confidence_of(result)
    else:
        from recframe._inference.statistics.student import check_confidence

        confidence = check_confidence(confidence)
    records = records_by_name(metrics)
    values = columns_of(frame)
    values = best_first(values, records) if flag("sort", sort) else values
    verdicts = ModelVerdicts() if compared is None else _verdicts_of(values, compared, records)
    options = TableOptions(digits, verdicts, confidence, interval, margins=margins_of(result))
    layout = layout_of(values, records, options, columns)
    if checked is not None:
        layout.notes.insert(0, _note_of_check(checked))
    return Table(layout, nw.get_native_namespace(frame).__name__, title, digits)


def _note_of_check(checked: Any) -> str:
    """Return the note about the errors and warnings that `check` found."""
    findings = eager_result(checked, "checked")
    if not {"finding", "severity", "count"} <= {*findings.columns}:
        msg = f"checked= is no result of check: it has the columns {', '.join(map(repr, findings.columns))}"
        raise InputError(msg, "recframe.table(result, checked=rec.check(k=10))")
    rows = columns_of(findings.filter(nw.col("count") > 0))
    kinds = dict.fromkeys(zip(rows["severity"], rows["finding"], strict=True))
    names = {level: [name for severity, name in kinds if severity == level] for level in ALARMING}
    texts = [
        f"{len(kinds)} {level}{'' if len(kinds) == 1 else 's'} ({', '.join(kinds)})"
        for level, kinds in names.items()
        if kinds
    ]
    return f"Check of the data: {' and '.join(texts) or 'no errors or warnings'}."


def _verdicts_of(values: Columns, compared: Any, records: Mapping[str, Metric]) -> ModelVerdicts:
    """Return the verdicts of a comparison on the models of a table."""
    tested = eager_result(compared, "compared")
    if not {*tested.columns} >= IS_PAIRED:
        msg = f"compared= is no result of compare: it has the columns {', '.join(map(repr, tested.columns))}"
        raise InputError(msg, "recframe.table(values, compared=rec.compare('ndcg', k=10))")
    segments, metrics = labels_of(values, records)
    if "model" not in values or values.keys() >= IS_COMPARE or values.keys() >= IS_RANKS:
        msg = "compared= decides about the means of several models, which the result does not hold"
        raise InputError(msg, "recframe.table(rec.evaluate('ndcg', k=10), compared=compared)")
    models = list(dict.fromkeys(map(label_text, values["model"])))
    rows = columns_of(tested.filter(nw.col("metric").is_in([*map(str, metrics or values["metric"])])))
    segments_compared = list(rows)[: list(rows).index("metric")]
    unknown_models = {label_text(name) for role in ("model", "baseline") for name in rows[role]} - {*models}
    if segments_compared != segments or unknown_models or not rows["metric"]:
        msg = "compared= is of other models, metrics or segments than the result"
        raise InputError(msg, "call compare with the same models, metrics, k= and per=")
    return model_verdicts(rows, models, records)
