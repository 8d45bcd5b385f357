"""Draws the plan's frames, and the columns that each adds, from ``src/recframe/_base/columns.py``.

``python tools/plan_frames.py`` writes the drawing into ``DEVELOPING.md``.
``--check`` fails if it is out of date.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from recframe._base.columns import FRAMES

if TYPE_CHECKING:
    from recframe._base.columns import FrameSpec

PAGE = Path(__file__).parent.parent / "DEVELOPING.md"
START, END = "<!-- frames: written by tools/plan_frames.py -->", "<!-- end of frames -->"
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


def main() -> None:
    """Write the drawing, or fail if the written one differs."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    new = f"{before}{START}\n\n{drawing()}\n{END}{rest.partition(END)[2]}"
    if "--check" not in sys.argv:
        PAGE.write_text(new, encoding="utf-8")
    elif text != new:
        sys.exit(f"{PAGE.name} is out of date: run python tools/plan_frames.py")


if __name__ == "__main__":
    main()
