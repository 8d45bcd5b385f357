"""What lists show: a million lists of ten, against the bare window rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import recframe  # noqa: F401 - registers .rec
from benchmarks.data import Shape, arrays, polars_frame
from benchmarks.shapes import yardstick
from benchmarks.timing import in_turn, slower

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.timing import Row

K = 10
ITEMS = 10_000
"""Of the catalogue."""
FEATURES = 16
EACH = ["coverage", "novelty", "arp", "gini", "entropy"]


def list_rows(shape: Shape, repeats: int) -> Iterator[Row]:
    """Measure metrics of items and popularity, of features, and of pairs of lists."""
    columns = arrays(shape)
    rng = np.random.default_rng(2)
    # Steps through the catalogue, so that no list shows an item twice.
    columns["item"] = (columns["user"] * 7919 + columns["item"] * 997) % ITEMS
    frame = polars_frame(columns)
    train = polars_frame(
        {"user": rng.integers(0, shape.lists, shape.lists), "item": rng.integers(0, ITEMS, shape.lists)}
    )
    values = {f"feature{index}": rng.random(ITEMS) for index in range(FEATURES)}
    features = polars_frame({"item": np.arange(ITEMS), **values})
    times = in_turn(
        {
            "yardstick": lambda: yardstick(frame),
            "each": lambda: frame.rec.evaluate(EACH, k=K, train=train, catalog=ITEMS),
            "pairs": lambda: frame.rec.evaluate(["personalization"], k=K),
            "features": lambda: frame.rec.evaluate(["diversity"], k=K, features=features),
        },
        repeats,
    )
    for name, what in (
        ("each", f"{', '.join(EACH)}@{K} / bare window rank"),
        ("pairs", f"personalization@{K} (all pairs of lists) / bare window rank"),
        ("features", f"diversity@{K} of {FEATURES} features / bare window rank"),
    ):
        yield slower(what, shape, times[name], times["yardstick"], None)
