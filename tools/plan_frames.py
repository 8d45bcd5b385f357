"""Draws the plan's frames, and the columns that each adds, from ``src/recframe/_columns.py``.

``python tools/plan_frames.py`` writes the drawing as ``docs/plan-frames.md``; ``--check`` fails if it is out of date.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from recframe._columns import FRAMES

if TYPE_CHECKING:
    from recframe._columns import FrameSpec

PAGE = Path(__file__).parent.parent / "docs" / "plan-frames.md"
HEAD = """\
# The plan's frames

From the user's frame to the answer: each box is a frame of the plan, the module that makes it, what a row of it is, and
the columns that it adds to those of the frames before it. `src/recframe/_columns.py` declares them, and
`tools/plan_frames.py` writes this page. Where the drawing shows as text, `f0 --> f4` says that f4 is made of f0.

"""
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
    """Write the page, or fail if the written one differs."""
    text = HEAD + drawing()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE.name} is out of date: run python tools/plan_frames.py")


if __name__ == "__main__":
    main()
