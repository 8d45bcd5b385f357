"""A quick look at a data frame that clears most of the common mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from recframe._engines.polars_compat import col

if TYPE_CHECKING:
    from collections.abc import Sequence


def looks_sound(frame: pl.DataFrame, keys: Sequence[str], scores: Sequence[str], item: str | None) -> bool:
    """Return what `Adapter.looks_sound` says."""
    names = [*keys, *scores, *([] if item is None else [item])]
    if any(frame.schema[name].is_nested() or frame.schema[name] == pl.Object for name in names):
        return False
    columns = {name: col(name).fill_nan(None) if frame.schema[name].is_float() else col(name) for name in names}
    follows = pl.all_horizontal(pl.lit(value=True), *(columns[key] == columns[key].shift(1) for key in keys))
    found = [(follows & (columns[name] != columns[name].shift(1))).any().alias(f"{i}") for i, name in enumerate(scores)]
    if item is not None:
        # Equal pairs have equal hashes; unlike ones that share a hash only cost a second look.
        pairs = columns[item].hash()
        for seed, key in enumerate(keys, start=1):
            pairs = pairs ^ columns[key].hash(seed)
        found.append((pairs.n_unique() == pl.len()).alias("items"))
    return all(frame.select(found).row(0))
