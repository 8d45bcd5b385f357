"""Positions the texts of charts so that they do not overlap, and readers need no legend."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from collections.abc import Sequence

LETTER = 0.56
"""The width of a letter, relative to its height: measured for digits, and nearly the same for letters."""
NARROW, BROAD = frozenset("iljtfrI.,:;|!'()[]/ -1"), frozenset("mwMW%@")
LABEL_SIZE = 13
"""The height of the letters of labels, in pixels."""
LINE_HEIGHT = 15
"""The distance of two labels, one above the other."""
DISTANCE = 9
"""How far a label is from its dot."""


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the approximate width of a text, in pixels."""
    return sum(map(_letter_width, text)) * size * (1.08 if bold else 1)


def _letter_width(letter: str) -> float:
    """Return the approximate width of a letter, relative to its height."""
    if combining(letter):
        return 0
    if east_asian_width(letter) in "WF":
        return 1
    if letter in NARROW:
        return 0.3
    if letter in BROAD:
        return 0.86
    return 0.7 if letter.isupper() else LETTER


def spread(wanted: Sequence[float], gap: float, least: float, most: float) -> list[float]:
    """Return positions that are near the wanted ones, in the same order, within two ends and at least a gap apart.

    If the positions do not fit, the gaps are made as large as possible.
    """
    if not wanted:
        return []
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    gap = min(gap, (most - least) / max(len(wanted) - 1, 1))
    # Positions that touch each other form a group around the mean of the positions that they want.
    groups: list[tuple[float, int]] = []
    for number in order:
        start = min(max(wanted[number], least), most)
        size = 1
        while groups and start < groups[-1][0] + groups[-1][1] * gap:
            before, count = groups.pop()
            start = (before * count + (start - count * gap) * size) / (count + size)
            size += count
            start = min(max(start, least), most - (size - 1) * gap)
        groups.append((start, size))
    moved = [start + number * gap for start, size in groups for number in range(size)]
    spread_out = [0.0] * len(wanted)
    for number, position in zip(order, moved, strict=True):
        spread_out[number] = position
    return spread_out


@dataclass(frozen=True)
class Box:
    """A rectangle of a chart, in pixels from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """Return the area that two rectangles share, in square pixels."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(wide, 0.0) * max(high, 0.0)


@dataclass(frozen=True)
class Label:
    """The position of a text beside its dot."""

    dx: float
    dy: float
    align: str

    def box(self, x: float, y: float, width: float) -> Box:
        """Return the rectangle of the text of a dot."""
        left = x + self.dx - {"left": 0.0, "center": width / 2, "right": width}[self.align]
        middle = y + self.dy
        return Box(left, middle - LABEL_SIZE / 2, left + width, middle + LABEL_SIZE / 2)


SIDES = (
    Label(DISTANCE, -DISTANCE, "left"),
    Label(DISTANCE, DISTANCE, "left"),
    Label(-DISTANCE, -DISTANCE, "right"),
    Label(-DISTANCE, DISTANCE, "right"),
    *(Label(0, dy, "center") for dy in (-16, 16)),
    *(Label(dx, dy, align) for (dx, align), dy in product(((DISTANCE, "left"), (-DISTANCE, "right")), (-24, 24))),
    *(Label(0, dy, "center") for dy in (-31, 31, -46, 46)),
)
"""The positions of a label beside its dot, the preferred ones first."""


def placed(
    dots: Sequence[tuple[float, float]],
    texts: Sequence[str],
    width: float,
    height: float,
    lines: Sequence[Box] = (),
) -> list[Label]:
    """Return positions of the bold texts of dots, where they cover other marks and leave the chart the least."""
    taken = [*(Box(x - 6, y - 6, x + 6, y + 6) for x, y in dots), *lines]
    labels = []
    for (x, y), text in zip(dots, texts, strict=True):
        wide = text_width(text, LABEL_SIZE, bold=True)

        def cost(label: Label, x: float = x, y: float = y, wide: float = wide) -> tuple[float, int]:
            """Return the area that a label covers or that is outside of the chart, then the rank of its position."""
            box = label.box(x, y, wide)
            outside = (box.right - box.left) * (box.bottom - box.top) - box.overlap(Box(0, 0, width, height))
            return round(sum(map(box.overlap, taken)) + outside), SIDES.index(label)

        best = min(SIDES, key=cost)
        taken.append(best.box(x, y, wide))
        labels.append(best)
    return labels
