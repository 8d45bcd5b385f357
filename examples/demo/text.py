"""The texts of the demo: tables, paragraphs, and what to do next."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

WIDTH = 80
EXAMPLE = """\
import polars as pl
import recframe

frame = pl.DataFrame({
    "user": ["ann", "ann", "ann", "bob", "bob", "bob"],
    "item": ["tea", "jam", "rye", "tea", "jam", "rye"],
    "relevant": [1, 0, 1, 0, 1, 0],
    "old": [0.1, 0.8, 0.9, 0.2, 0.1, 0.7],
    "new": [0.9, 0.8, 0.1, 0.4, 0.6, 0.2],
})
print(frame.rec.evaluate(["ndcg", "map"], k=[1, 2], score=["old", "new"]))
"""
NEXT = """\
Or from files, without any code:

  python -m examples.demo --ratings ratings.csv --by userId --item movieId
  recframe evaluate old=old.csv new=new.csv --truth test.csv -m ndcg@10 -m map
  recframe metrics

docs/ratings.md goes on from here, with your own data.
"""
"""What to do after the demo. The tests run the code, and find the options."""


def aligned(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Align columns, the first to the left, the others to the right; an empty row stays an empty line."""
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*filter(None, lines), strict=True)]
    rule = "-" * (sum(widths) + 3 * (len(widths) - 1))
    first, *others = widths
    header, *rows = (
        "   ".join([row[0].ljust(first), *map(str.rjust, row[1:], others)]).rstrip() if row else "" for row in lines
    )
    return textwrap.indent("\n".join([header, rule, *rows, ""]), "  ")


def metric_table(result: pl.DataFrame, models: Iterable[str], n_cutoffs: int) -> str:
    """Return a line for each metric and cutoff, a column for each model."""
    by_model = {row["model"]: row for row in result.iter_rows(named=True)}
    names = list(models)
    rows: list[list[str]] = []
    for index, name in enumerate(name for name in result.columns if name != "model"):
        if index and index % n_cutoffs == 0 and n_cutoffs > 1:
            rows.append([])
        rows.append([name, *marked([by_model.get(model, {}).get(name) for model in names])])
    return aligned(["", *(f"{model} " for model in names)], rows)


def marked(values: Sequence[float | None]) -> list[str]:
    """Return numbers of four digits, the largest with a star unless all are alike."""
    texts = ["-" if value is None else rounded(value) for value in values]
    numbers = [value for value in values if value is not None]
    best = rounded(max(numbers)) if numbers else ""
    differ = len({*texts} - {"-"}) > 1
    return [f"{text}*" if differ and text == best else f"{text} " for text in texts]


def rounded(value: float) -> str:
    """Return a number with four digits."""
    # The last bits depend on the order of a sum, which would show where the fifth digit is an exact 5.
    return f"{round(value, 12):.4f}"


def listed(names: Sequence[str]) -> str:
    """Return names as code that can be copied."""
    return f"[{', '.join(f'{chr(34)}{name}{chr(34)}' for name in names)}]"


def count(number: int, noun: str) -> str:
    """Return a number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def heading(text: str) -> str:
    """Return a text that is underlined."""
    return f"{text}\n{'=' * len(text)}\n"


def paragraph(text: str) -> str:
    """Return a text in lines of `WIDTH` letters."""
    return textwrap.fill(text, WIDTH) + "\n"
