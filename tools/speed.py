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
MARKS = "<!-- results: written by tools/speed.py -->", "<!-- end of results -->"
FIELDS = ("what", "shape", "ours", "other", "ratio", "min–max")
PEERS = ("ranx", "pytrec_eval", "RecTools")
"""The libraries that README names, in its order."""
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


def page() -> str:
    """Return the page on benchmarks with the table."""
    rows = [f"| {' | '.join(row[name] for name in FIELDS)} |" for row in results()]
    table = [f"| {' | '.join(FIELDS)} |", "| --- | --- | ---: | ---: | ---: | ---: |", *rows]
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    return before + MARKS[0] + "\n\n" + "\n".join(table) + "\n\n" + MARKS[1] + rest.partition(MARKS[1])[2]


def readme() -> str:
    """Return README with its sentence on speed."""
    found = {
        peer: row
        for peer in PEERS
        for row in results()
        if row["what"].startswith(f"ndcg@10 on pandas, against {peer} from the frame")
    }
    ours = max(seconds(row["ours"]) for row in found.values())
    others = [f"in {peer} {seconds(found[peer]['other']):.2f} s" for peer in PEERS]
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
    pages = {PAGE: page(), README: readme()}
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
