"""Results as tables: HTML, LaTeX and Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._display.frames import eager_result
from recframe._display.layout import layout_of
from recframe._values import whole_number
from recframe.errors import MissingExtraError, OptionTypeError, quoted, visible
from recframe.metrics import Metric
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_DECIMALS = 15
STAR = re.compile(r"(\\\\\s*\n\s*)(?=\*)")
"""A line break of LaTeX before a line that starts with a star, which it would read as its own."""

MARKS = re.compile(r"[\\|*_`<~$]|\](?=\()|&(?=[#\w]+;)")
"""What Markdown would read as its own: marks, the middle of a link, the start of a character's name."""


class Table:
    """A result as a table; notebooks show it. Made by `recframe.table`."""

    def __init__(
        self, result: nw.DataFrame[Any], records: Mapping[str, Metric], title: str | None, digits: int
    ) -> None:
        self._layout = layout_of(result, records, digits)
        self._backend = nw.get_native_namespace(result).__name__
        self._title = title

    @property
    def gt(self) -> Any:
        """The table as an object of great_tables, to style further; its cells are texts."""
        great_tables = _great_tables()
        layout = self._layout
        # Headers may repeat in other words only, so columns have numbers for names.
        names = [f"column {number}" for number in range(len(layout.header))]
        texts = {
            name: [f"**{cell.text}**" if cell.bold else cell.text for cell in column]
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
        """Return the table as HTML, with its style.

        Raises
        ------
        MissingExtraError
            great_tables is not installed.
        """
        text: str = self.gt.as_raw_html()
        return text

    def to_latex(self) -> str:
        """Return the table as LaTeX; it needs the package booktabs.

        Raises
        ------
        MissingExtraError
            great_tables is not installed.
        """
        text: str = self.gt.as_latex()
        return STAR.sub(r"\1{}", text)

    def to_markdown(self) -> str:
        """Return the table as Markdown. This needs nothing but recframe."""
        layout = self._layout
        lines = [list(map(_escaped, layout.header)), ["---:" if numeric else "---" for numeric in layout.numeric]]
        lines += [
            [f"**{_escaped(cell.text)}**" if cell.bold else _escaped(cell.text) for cell in row] for row in layout.rows
        ]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        title = [] if self._title is None else [f"**{_escaped(self._title)}**"]
        notes = ["  \n".join(map(_escaped, layout.notes))] if layout.notes else []
        return "\n\n".join([*title, table, *notes]) + "\n"

    def _repr_html_(self) -> str | None:
        # Notebooks fall back on Markdown where there is no HTML.
        try:
            return self.to_html()
        except MissingExtraError:
            return None

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def __repr__(self) -> str:
        return self.to_markdown()


def table(
    result: Any,
    *,
    metrics: str | Metric | Sequence[str | Metric] = (),
    title: str | None = None,
    digits: int = 4,
) -> Table:
    """Return the result of `evaluate`, `describe` or `compare` as a table for people.

    The best value of each metric is bold where there are several models, within each segment if there are any; equal
    values are equally bold. Bold says nothing of significance: only `compare` tests differences. Notes below the table
    explain intervals and marks.

    Parameters
    ----------
    result : frame
        What `evaluate`, `describe` or `compare` returned; lazy frames are collected.
    metrics : str, Metric or sequence of them
        Metrics of your own that the result holds: they say whether higher is better.
    title : str, optional
        The title.
    digits : int
        The decimal places, from 0 to 15.

    Returns
    -------
    Table
        With the methods `to_html`, `to_latex` and `to_markdown`, and with `gt`, the object of great_tables. Notebooks
        show it.

    Raises
    ------
    InputError
        The frame is no result of these calls.
    OptionTypeError
        It is no frame, or an option has a value that it cannot have.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "old": [0.9, 0.1], "new": [0.2, 0.7]})
    >>> recframe.table(df.rec.evaluate(["ndcg", "mrr"], k=2, score=["old", "new"]), digits=3)
    | model | ndcg@2 | mrr@2 |
    | --- | ---: | ---: |
    | old | 0.631 | 0.500 |
    | new | **1.000** | **1.000** |
    <BLANKLINE>
    Bold: the best value of each metric. Bold says nothing of significance.
    <BLANKLINE>
    """
    frame = eager_result(result)
    if title is not None and not isinstance(title, str):
        msg = f"title={quoted(title)} is not text"
        raise OptionTypeError(msg, "title='Models of May'")
    digits = whole_number("digits", digits, "digits=4", least=0, most=MOST_DECIMALS)
    return Table(frame, records_by_name(metrics), title, digits)


def records_by_name(metrics: Any) -> dict[str, Metric]:
    """Return metrics by the names of their columns."""
    several = isinstance(metrics, list | tuple)
    if not several and not isinstance(metrics, str | Metric):
        msg = f"metrics={quoted(metrics)} is no list of metrics"
        raise OptionTypeError(msg, "metrics=[TopHeavy()]")
    records = [spec_of(metric).metric for metric in (metrics if several else [metrics])]
    return {record.label: record for record in records}


def _escaped(text: str) -> str:
    """Return a text that means itself in a cell of Markdown."""
    text = MARKS.sub(r"\\\g<0>", text)
    return visible(" ".join(text.split()))


def _great_tables() -> Any:
    try:
        import great_tables
    except ImportError:
        what = "tables in HTML and LaTeX"
        raise MissingExtraError.of(what, "tables") from None
    return great_tables
