"""Draws the plan's frames, and the columns that each adds, from ``src/recframe/_columns.py``.

``python tools/plan_frames.py`` writes the drawing into ``CONTRIBUTING.md``; ``--check`` fails if it is out of date.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from recframe._columns import FRAMES

if TYPE_CHECKING:
    from recframe._columns import FrameSpec

PAGE = Path(__file__).parent.parent / "CONTRIBUTING.md"
START, END = "<!-- plan frames: written by tools/plan_frames.py -->\n", "<!-- end of plan frames -->\n"
A_LINE = 6
"""How many columns a line holds."""


def drawing() -> str:
    """Return the drawing as Mermaid text."""
    lines = ["```mermaid", "flowchart TD"]
    numbers = {frame.name: f"f{index}" for index, frame in enumerate(FRAMES)}
    lines += [f'    {numbers[frame.name]}["{label(frame)}"]' for frame in FRAMES]
    for frame in FRAMES:
        lines += [f"    {numbers[source.name]} --> {numbers[frame.name]}" for source in frame.made_from]
    return "\n".join([*lines, "```", ""])


def label(frame: FrameSpec) -> str:
    """Return the text in the box of a frame: its name and module, what a row is, and the columns that it adds."""
    names = [column.name.replace("{}", "…") for column in frame.columns]
    rows = [", ".join(names[start : start + A_LINE]) for start in range(0, len(names), A_LINE)]
    return "<br>".join([f"<b>{frame.name}</b> ({frame.made_by}): {frame.row}", *(f"+ {row}" for row in rows)])


def written(page: str) -> str:
    """Return a page with the drawing between its two marks."""
    before, rest = page.split(START)
    _, after = rest.split(END)
    return f"{before}{START}{drawing()}{END}{after}"


def main() -> None:
    """Write the drawing, or fail if the written one differs."""
    page = PAGE.read_text(encoding="utf-8")
    if "--check" in sys.argv:
        if page != written(page):
            sys.exit(f"{PAGE.name} is out of date: run python tools/plan_frames.py")
        return
    PAGE.write_text(written(page), encoding="utf-8")


if __name__ == "__main__":
    main()
