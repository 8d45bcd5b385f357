"""Writes the documentation's table of metrics from their records.

``python tools/metric_table.py`` writes ``docs/metrics.md``; ``--check`` fails if that file is out of date.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from recframe.metrics import METRICS, Metric
from recframe.metrics._families import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTES = tomllib.loads((Path(__file__).parent / "metric_notes.toml").read_text(encoding="utf-8"))
PAGE = Path(__file__).parent.parent / "docs" / "metrics.md"

HEAD = """# Metrics

<!-- Written by tools/metric_table.py from the records in src/recframe/metrics and tools/metric_notes.toml. -->

COUNT metrics, by the question that they answer. [Choose a metric](choose.md) helps if you do not know which one you
need. ↓: lower values are better.

Each metric is a method, `df.rec.ndcg(10)`, and a name in `evaluate`, `compare` and `describe`, `"ndcg@10"`. Its page
lists its other names, and `recframe.explain("ndcg@10")` prints the definition that is in force.
"""
FAMILY = """
## {title}

| question | metric |
| --- | --- |
{rows}
"""
EXAMPLES = """
## The examples

Each page computes its metric by hand for these frames:

{frames}

## Letters in formulas

k: cutoff · r: position, from 1 · R: relevant items of the list, ranked or not · N: ranked items · h(r): hits, which are
relevant items, in the first r positions.
"""
ONE_LIST = """one = pl.DataFrame({
    "user":     ["ann"] * 6,
    "item":     ["tea", "jam", "rye", "oat", "fig", "nut"],
    "relevant": [2, 0, 1, 0, 0, 1],
    "score":    [0.9, 0.8, 0.7, 0.6, 0.5, None],     # nut was not recommended
    "price":    [10, 30, 5, 20, 15, 25],
})
"""
LISTS = """lists = pl.DataFrame({
    "user":     ["ann", "ann", "bob", "bob"],
    "item":     ["tea", "jam", "tea", "cola"],
    "relevant": [1, 0, 0, 1],
    "score":    [0.9, 0.8, 0.9, 0.8],
})
"""
TRAIN = """train = pl.DataFrame({
    "user": ["ann", "ann", "bob", "bob", "cid", "cid", "dee"],
    "item": ["tea", "jam", "tea", "cola", "tea", "jam", "tea"],
})
"""
FEATURES = """features = pl.DataFrame({
    "item":  ["tea", "jam", "cola"],
    "drink": [1, 0, 1],
    "food":  [0, 1, 0],
})
"""
FRAMES = (ONE_LIST, LISTS, TRAIN, FEATURES)
"""The frames of all examples."""


def family_of(kind: type[Metric]) -> str:
    """Return the name of the family that holds a metric."""
    module = kind.__module__.rpartition(".")[2]
    for name, (_, modules) in FAMILIES.items():
        if module in modules:
            return name
    msg = f"{kind.name}: name the module {module!r} in recframe/metrics/_families.py"
    raise SystemExit(msg)


def row(kind: type[Metric]) -> str:
    """Return the row of a metric: the question that it answers, and its name, which leads to its page."""
    lower = "" if kind.higher_is_better else " ↓"
    note = NOTES.get(kind.name, {})
    if "asks" not in note:
        msg = f"{kind.name}: tools/metric_notes.toml needs `asks`, the question that the metric answers"
        raise SystemExit(msg)
    return f"| {note['asks']} | [`{kind.name}`](metrics/{kind.name}.md){lower} |"


def block(frames: Sequence[str]) -> str:
    """Return the code that makes frames of pandas, as a block."""
    lines = [
        (">>> " if number == 0 or line[0] not in " }" else "... ") + line
        for frame in frames
        for number, line in enumerate(frame.replace("pl.DataFrame", "pd.DataFrame").splitlines())
    ]
    return "\n".join(["```python", ">>> import pandas as pd", ">>> import recframe", *lines, "", "```"])


def page() -> str:
    """Return the whole page."""
    kinds = [*METRICS.values()]
    families = [
        FAMILY.format(title=title, rows="\n".join(row(kind) for kind in kinds if family_of(kind) == family))
        for family, (title, _) in FAMILIES.items()
    ]
    return HEAD.replace("COUNT", str(len(kinds))) + "".join(families) + EXAMPLES.format(frames=block(FRAMES))


def main() -> int:
    """Write the page, or with --check compare it."""
    if "--check" in sys.argv:
        current = PAGE.read_text(encoding="utf-8") == page()
        if not current:
            sys.stderr.write(f"{PAGE.name} is out of date: run python tools/metric_table.py\n")
        return 0 if current else 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
