"""Draws the pictures of the documentation's concepts.

``python tools/pictures.py`` writes ``docs/pictures``; ``--check`` fails if a picture is out of date.
"""

from __future__ import annotations

import math
import sys
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
INK, SOFT, HIT, MISS, EMPTY, WARN = "#1f2430", "#5b6475", "#1a7f5a", "#d5dae3", "#ffffff", "#b45309"
"""Text, remarks, relevant, irrelevant, not there, and what to beware of."""
CELL, ROW = 62, 34
"""The width of an item and the height of a row."""


def text(x: float, y: float, words: str, *, colour: str = INK, size: int = 15, anchor: str = "start") -> str:
    """Return words at a point of their base line."""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="{anchor}">{words}</text>'


def line(x: float, y: float, x2: float, y2: float, *, colour: str = SOFT) -> str:
    """Return a line."""
    ends = f'x1="{x:g}" y1="{y:g}" x2="{x2:g}" y2="{y2:g}"'
    return f'<line {ends} stroke="{colour}" stroke-width="2"/>'


def item(x: float, y: float, name: str, kind: str) -> str:
    """Return an item of a list: a hit, a miss, or a relevant one that was not recommended."""
    fill, ink = {"hit": (HIT, "#ffffff"), "miss": (MISS, INK), "lost": (EMPTY, HIT)}[kind]
    edge = ' stroke-dasharray="4 3"' if kind == "lost" else ""
    stroke = MISS if kind == "miss" else HIT
    place = f'x="{x:g}" y="{y:g}" width="{CELL - 8}" height="26" rx="5"'
    box = f'<rect {place} fill="{fill}" stroke="{stroke}" stroke-width="2"{edge}/>'
    return box + text(x + (CELL - 8) / 2, y + 18, name, colour=ink, anchor="middle")


def items(x: float, y: float, listed: str) -> str:
    """Return a list of items, such as ``"tea+ jam ?nut"``: + is a hit, ? a relevant item not recommended."""
    parts = []
    for place, name in enumerate(listed.split()):
        kind = "hit" if name.endswith("+") else "lost" if name.startswith("?") else "miss"
        parts.append(item(x + place * CELL, y, name.strip("+?"), kind))
    return "".join(parts)


def picture(height: int, title: str, *parts: str, width: int | None = None) -> str:
    """Return the picture, on a light ground that is readable on dark pages too.

    A picture with a `width` fits on a phone: it keeps this width where there is room. Others fill the page.
    """
    size = f'width="{width}" height="{height}" ' if width else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}viewBox="0 0 {width or 720} {height}" role="img" '
        f'font-family="Helvetica, Arial, sans-serif">\n<title>{title}</title>\n'
        f'<rect width="{width or 720}" height="{height}" rx="10" fill="#f6f7f9"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def legend(y: float, lost: tuple[float, float] | None = None) -> str:
    """Return what the colours mean; `lost` is the place of the entry for relevant items that were not recommended."""
    names = [("relevant", "hit", 24.0, y), ("not relevant", "miss", 176.0, y)]
    names += [("relevant, not recommended", "lost", *lost)] if lost else []
    return "".join(item(x, y, "", kind) + text(x + CELL, y + 18, words, colour=SOFT) for words, kind, x, y in names)


def long_frame() -> str:
    """Return how rows of a frame become lists, with the pieces that are missing."""
    rows = [("ann", "tea", "1", "0.9"), ("ann", "jam", "0", "0.8"), ("ann", "nut", "1", "missing"),
            ("bob", "jam", "1", "0.7"), ("bob", "tea", "0", "0.3"), ("dee", "rye", "1", "missing")]  # fmt: skip
    parts = [
        text(x, 40, head, colour=SOFT) for x, head in ((24, "user"), (84, "item"), (144, "relevant"), (226, "score"))
    ]
    for number, row in enumerate(rows):
        y = 70 + number * ROW
        parts += [
            text(x, y, words, colour=WARN if words == "missing" else INK)
            for x, words in zip((24, 84, 144, 226), row, strict=True)
        ]
    parts.append(line(320, 24, 320, 256))
    for y, user, listed, remark in (
        (60, "ann", "tea+ jam ?nut", "2 relevant items, 1 was found"),
        (140, "bob", "jam+ tea", "1 relevant item, 1 was found"),
        (220, "dee", "?rye", "nothing recommended: scores 0"),
    ):
        parts += [text(340, y + 18, user), items(390, y, listed), text(390, y + 46, remark, colour=SOFT, size=14)]
    return picture(330, "Rows of a long frame and the lists that they form", *parts, legend(290, lost=(352, 290)))


def ndcg(order: tuple[int, ...], k: int) -> float:
    """Return NDCG with binary relevance."""

    def dcg(values: list[int] | tuple[int, ...]) -> float:
        return sum(value / math.log2(place + 2) for place, value in enumerate(values[:k]))

    return dcg(order) / dcg(sorted(order, reverse=True))


def ties() -> str:
    """Return the values of a constant model's list in every order, and their mean."""
    relevance = {"tea": 1, "jam": 0, "rye": 0}
    orders = [("tea", "jam", "rye"), ("jam", "tea", "rye"), ("jam", "rye", "tea")]
    parts = [text(24, 40, "A constant model: all three scores are 0.5. Which order is it?")]
    values = []
    for number, order in enumerate(orders):
        y = 64 + number * 44
        values.append(ndcg(tuple(relevance[name] for name in order), 3))
        parts += [items(24, y, " ".join(name + "+" * relevance[name] for name in order)),
                  text(230, y + 18, f"NDCG {values[-1]:.4f}")]  # fmt: skip
    remarks = ("by luck of the row order: what a sort returns here", "", "")
    parts += [text(350, 82 + number * 44, words, colour=WARN, size=14) for number, words in enumerate(remarks) if words]
    mean = sum(ndcg(order, 3) for order in permutations(relevance.values())) / math.factorial(3)
    parts += [
        line(24, 206, 340, 206),
        text(24, 234, "all orders are equally likely"),
        text(230, 234, f"mean {mean:.4f}", colour=HIT),
    ]
    parts.append(text(350, 234, 'ties="average": what recframe returns', colour=HIT, size=14))
    return picture(256, "A constant model has NDCG 1.0 in one order and 0.7103 on average", *parts)


def undefined() -> str:
    """Return three lists: with a value, with 0, and without a value."""
    parts = []
    for y, user, listed, value, remark in (
        (30, "ann", "tea+ jam", "recall 1.0", "a relevant item was found"),
        (80, "bob", "jam ?tea", "recall 0.0", "a relevant item was not found"),
        (130, "cid", "jam tea", "undefined", "no relevant item: 0 / 0"),
    ):
        parts += [text(24, y + 18, user), items(80, y, listed)]
        parts += [text(230, y + 18, value, colour=WARN if value == "undefined" else INK),
                  text(350, y + 18, remark, colour=SOFT, size=14)]  # fmt: skip
    parts += [
        text(24, 200, 'undefined="skip", the default: (1 + 0) / 2 = 0.5'),
        text(24, 228, "undefined=0.0: (1 + 0 + 0) / 3 = 0.333"),
    ]
    return picture(292, "Lists with a value, with 0, and without a value", *parts, legend(250, lost=(352, 250)))


def cutoff() -> str:
    """Return a list with a cutoff, and a tied block that straddles it."""
    parts = [text(24 + place * CELL + 27, 34, str(place + 1), colour=SOFT, anchor="middle") for place in range(6)]
    parts += [
        items(24, 46, "tea jam+ rye oat+ fig nut"),
        line(24 + 3 * CELL - 4, 24, 24 + 3 * CELL - 4, 84, colour=WARN),
    ]
    parts += [text(410, 64, "k = 3: only positions 1 to 3 count", size=14), text(24, 112, "precision@3 = 1 / 3")]
    parts += [
        items(24, 140, "tea jam+ rye oat+ fig nut"),
        line(24 + 3 * CELL - 4, 130, 24 + 3 * CELL - 4, 178, colour=WARN),
    ]
    parts += [
        line(24 + 2 * CELL, 176, 24 + 4 * CELL - 8, 176, colour=HIT),
        text(410, 158, "rye and oat have the same score", size=14),
    ]
    parts += [text(24, 206, "oat is at position 3 in half of the orders: precision@3 = (1 + 0.5) / 3 = 0.5")]
    return picture(230, "A cutoff, and a tied block that straddles it", *parts)


def averages() -> str:
    """Return a mean over lists, over rows, and with weights."""
    parts = [
        text(24, 36, "user", colour=SOFT),
        text(90, 36, "top 3", colour=SOFT),
        text(300, 36, "precision@3", colour=SOFT),
        text(430, 36, "revenue", colour=SOFT),
    ]
    for y, user, listed, value, revenue in (
        (52, "ann", "tea+ jam+ rye+", "1.000", "10"),
        (92, "bob", "jam tea rye", "0.000", "80"),
        (132, "cid", "tea+ rye jam", "0.333", "10"),
    ):
        parts += [text(24, y + 18, user), items(90, y, listed), text(300, y + 18, value), text(430, y + 18, revenue)]
    parts += [line(24, 174, 500, 174), text(24, 202, "each user counts the same: (1 + 0 + 0.333) / 3 = 0.444"),
              text(24, 230, 'weight="revenue": (10 · 1 + 80 · 0 + 10 · 0.333) / 100 = 0.133', colour=WARN)]  # fmt: skip
    return picture(254, "The plain mean over users and the mean weighted by revenue", *parts)


def traps() -> str:
    """Return what a random split knows of the future, and what sampled negatives hide."""

    def dots(y: float, kinds: str) -> str:
        return "".join(
            f'<circle cx="{200 + place * 46}" cy="{y}" r="9" fill="{HIT if kind == "T" else SOFT}"/>'
            for place, kind in enumerate(kinds)
        )

    parts = [
        text(24, 40, "a random split", colour=WARN),
        dots(35, "aTaaTaaTaa"),
        text(200, 68, "the model trains on days after the test: it knows the future", size=14, colour=SOFT),
    ]
    parts += [
        text(24, 110, "a split by time", colour=HIT),
        dots(105, "aaaaaaaTTT"),
        text(200, 138, "the model trains on the past and is tested on what follows", size=14, colour=SOFT),
    ]
    parts += [line(200, 160, 640, 160), text(640, 180, "time", anchor="end", colour=SOFT, size=14)]
    parts.append(
        f'<circle cx="209" cy="176" r="7" fill="{SOFT}"/>'
        + text(224, 181, "train", size=14)
        + f'<circle cx="289" cy="176" r="7" fill="{HIT}"/>'
        + text(304, 181, "test", size=14)
    )
    return picture(200, "A random split trains on the future, a split by time does not", *parts)


def graded(y: float, grades: str) -> str:
    """Return the relevance of each item below a list."""
    return "".join(
        text(80 + place * CELL + 27, y, grade, colour=SOFT, size=14, anchor="middle")
        for place, grade in enumerate(grades.split())
    )


def metric_list() -> str:
    """Return the list of the examples of metrics that read the relevance."""
    parts = [text(80 + place * CELL + 27, 30, str(place + 1), colour=SOFT, anchor="middle") for place in range(5)]
    parts += [text(24, 60, "ann"), items(80, 42, "tea+ jam rye+ oat fig ?nut"), graded(90, "2 0 1 0 0 1")]
    parts.append(text(12, 90, "relevance", colour=SOFT, size=14))
    title = "A list of five items, two of them relevant, and a relevant one not recommended"
    return picture(184, title, *parts, legend(108, lost=(24, 144)), width=470)


def metric_lists() -> str:
    """Return the lists of the examples of metrics that read which items are recommended."""
    parts = []
    for y, user, listed in ((24, "ann", "tea+ jam"), (64, "bob", "tea cola+")):
        parts += [text(24, y + 18, user), items(80, y, listed)]
    return picture(146, "Two lists of two items, each with one relevant item", *parts, legend(106), width=346)


PICTURES: dict[str, Callable[[], str]] = {
    "long-frame": long_frame,
    "ties": ties,
    "undefined": undefined,
    "cutoff": cutoff,
    "averages": averages,
    "traps": traps,
    "metric-list": metric_list,
    "metric-lists": metric_lists,
}


def main() -> int:
    """Write the pictures, or with --check compare them."""
    drawn = {FOLDER / f"{name}.svg": draw() for name, draw in PICTURES.items()}
    if "--check" in sys.argv:
        old = [path.name for path, svg in drawn.items() if not path.exists() or path.read_text(encoding="utf-8") != svg]
        if old:
            sys.stderr.write(f"{', '.join(old)} out of date\n\nHint: python tools/pictures.py\n")
        return 1 if old else 0
    FOLDER.mkdir(exist_ok=True)
    for path, svg in drawn.items():
        path.write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
