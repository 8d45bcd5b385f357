"""Draws the forest plot of README and documentation from its example: ``python tools/forest.py``."""

from __future__ import annotations

from pathlib import Path

import recframe

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Write ``docs/pictures/forest.svg``."""
    visits = recframe.datasets.visits(library="polars")
    rec = recframe.rec(visits)(score=["old", "new", "deep", "popular"])
    chart = recframe.forest(rec.compare("ndcg@5", baseline="old"))
    chart.configure(background="white", padding=12).save(ROOT / "docs" / "pictures" / "forest.svg")


if __name__ == "__main__":
    main()
