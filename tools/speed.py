"""Writes the times of README and documentation from ``benchmarks/results.csv``: ``python tools/speed.py``.

``--check`` fails if a page is out of date. ``--read FILE`` replaces the results by a table of
``python -m benchmarks --markdown`` first.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results.csv"
PAGE, README = ROOT / "docs" / "benchmarks.md", ROOT / "README.md"
ALL_ROWS = ROOT / "benchmarks" / "RESULTS.md"
"""The page of all rows, which the site does not have."""
MARKS = "<!-- results: written by tools/speed.py -->", "<!-- end of results -->"
FIELDS = ("what", "shape", "ours", "other", "ratio", "min–max")
PEERS = ("ranx", "pytrec_eval", "RecTools")
"""The libraries that README names, in its order."""
SHOWN = (
    ("ndcg@5 / bare window rank", "100k × 50"),
    ("8 metrics × 4 cutoffs / bare window rank", "100k × 50"),
    ("17 metrics × 4 cutoffs / bare window rank", "100k × 50"),
    ("ndcg@5 of two models / of one", "100k × 50"),
    ("ndcg@5, pandas alone / groupby rank", "100k × 50"),
    ("ndcg@5, ten times the rows / the rows", "1M × 50 / 100k × 50"),
    ("ndcg@10 on pandas, against ranx from the frame", "20k × 100"),
    ("ndcg@10 on pandas, against ranx evaluate", "20k × 100"),
    ("ndcg@10 on pandas, against pytrec_eval from the frame", "20k × 100"),
    ("ndcg@10 on pandas, against RecTools from the frame", "20k × 100"),
    ("ndcg@10 on polars, against scikit-learn, ties averaged", "20k × 100"),
    ("ndcg@5 on polars, peak / columns read", "100k × 50"),
    ("8 metrics × 4 cutoffs on polars, peak / columns read", "100k × 50"),
)
"""The rows of the page, by the beginning of their name and their shape."""
SENTENCE = re.compile(r"(?<=from a pandas frame: at most ).*?(?=, on 2 cores)", re.DOTALL)
UNITS = {"ms": 1e-3, "s": 1.0}


def results() -> list[dict[str, str]]:
    """Return the rows of the results."""
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def seconds(time: str) -> float:
    """Return a time such as ``"936 ms"`` in seconds."""
    number, unit = time.split()
    return float(number) * UNITS[unit]


def shown() -> list[dict[str, str]]:
    """Return the rows of the page, in its order."""
    rows = results()
    return [
        next(row for row in rows if row["what"].startswith(what) and row["shape"] == shape) for what, shape in SHOWN
    ]


def with_table(path: Path, rows: list[dict[str, str]]) -> str:
    """Return a page with its table of these rows."""
    lines = [f"| {' | '.join(row[name] for name in FIELDS)} |" for row in rows]
    table = [f"| {' | '.join(FIELDS)} |", "| --- | --- | ---: | ---: | ---: | ---: |", *lines]
    before, _, rest = path.read_text(encoding="utf-8").partition(MARKS[0])
    return before + MARKS[0] + "\n\n" + "\n".join(table) + "\n\n" + MARKS[1] + rest.partition(MARKS[1])[2]


def readme() -> str:
    """Return README with its sentence on speed."""
    rows = {
        peer: row
        for peer in PEERS
        for row in results()
        if row["what"].startswith(f"ndcg@10 on pandas, against {peer} from the frame")
    }
    ours = max(seconds(row["ours"]) for row in rows.values())
    others = [f"in {peer} {seconds(rows[peer]['other']):.2f} s" for peer in PEERS]
    text, count = SENTENCE.subn(", ".join([f"{1000 * ours:.0f} ms", *others]), README.read_text(encoding="utf-8"))
    assert count == 1
    return text


def read(path: Path) -> None:
    """Replace the results by those of a printed table."""
    lines = [line.strip("| \n").split(" | ") for line in path.read_text(encoding="utf-8").splitlines() if "|" in line]
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([FIELDS, *lines[2:]])


def main() -> int:
    """Write the pages, or with --check compare them."""
    if "--read" in sys.argv:
        read(Path(sys.argv[-1]))
    pages = {PAGE: with_table(PAGE, shown()), ALL_ROWS: with_table(ALL_ROWS, results()), README: readme()}
    old = [path.name for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        if old:
            sys.stderr.write(f"{', '.join(old)} out of date\n\nHint: python tools/speed.py\n")
        return 1 if old else 0
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
