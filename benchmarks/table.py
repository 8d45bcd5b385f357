"""The table as text."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.timing import Missing, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD = ("what", "shape", "ours", "other", "ratio", "min–max", "limit", "verdict")
RIGHT = {2, 3, 4, 5, 6}
OF_THE_PROJECT = HEAD.index("limit")
"""The first column of those that mean something to the project alone, which pages leave out."""
PACKAGES = (
    "recframe",
    "narwhals",
    "polars",
    "pandas",
    "numpy",
    "ranx",
    "pytrec_eval-terrier",
    "scikit-learn",
    "recometrics",
)


def render(rows: Sequence[Row | Missing], *, markdown: bool) -> str:
    """Return the rows as aligned text, or as a Markdown table that is aligned as well."""
    shown = OF_THE_PROJECT if markdown else len(HEAD)
    table = [cells[:shown] for cells in (HEAD, *map(_cells, rows))]
    widths = [max(len(line[column]) for line in table) for column in range(shown)]
    lines = [
        [cell.rjust(width) if column in RIGHT else cell.ljust(width) for column, (cell, width) in enumerate(pairs)]
        for pairs in (list(zip(line, widths, strict=True)) for line in table)
    ]
    if markdown:
        rule = [f"{'-' * (width - 1)}:" if column in RIGHT else "-" * width for column, width in enumerate(widths)]
        return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], rule, *lines[1:]])
    rule = ["─" * width for width in widths]
    return "\n".join("  ".join(line).rstrip() for line in [lines[0], rule, *lines[1:]])


def _cells(row: Row | Missing) -> tuple[str, ...]:
    if isinstance(row, Missing):
        return (row.what, row.shape, "", "", "", row.why, "", "")
    limit = "" if row.limit is None else f"{'≤' if row.side == 'at most' else '≥'} {row.limit:g}"
    return (
        row.what,
        row.shape,
        _amount(row.ours, row.unit),
        _amount(row.other, row.unit),
        _number(row.ratio),
        f"{_number(min(row.ratios))}–{_number(max(row.ratios))}",
        limit,
        row.verdict,
    )


def _number(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}"


def _amount(amount: float, unit: str) -> str:
    if unit == "MB":
        return f"{amount:.0f} MB"
    return f"{amount:.2f} s" if amount >= 1 else f"{amount * 1000:.0f} ms"


def machine() -> str:
    """Return what the numbers depend on."""
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}\n{versions}"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "–"


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
