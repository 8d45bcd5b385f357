"""CSV files as polars frames whose ids are those that the file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path


def read_csv(
    source: Path | bytes, ids: Collection[str], pick: Callable[[pl.LazyFrame], pl.LazyFrame], **options: Any
) -> pl.DataFrame:
    """Return what is picked of a CSV file.

    Parameters
    ----------
    source : Path or bytes
        The file, or what it holds.
    ids : collection of str
        The columns of ids. Where two of them would be one number, such as 007 and 7, they stay text.
    pick : callable
        Returns the columns to read, of the scanned file.
    **options
        What polars reads the file with.
    """
    scanned = pl.scan_csv(source, glob=False, **options)
    numbers = {name: kind for name, kind in scanned.collect_schema().items() if name in ids and kind.is_numeric()}
    if numbers:
        scanned = pl.scan_csv(source, glob=False, schema_overrides=dict.fromkeys(numbers, pl.String), **options)
    frame = pick(scanned).collect()
    return frame.with_columns(_as_number(frame[name], kind) for name, kind in numbers.items() if name in frame.columns)


def _as_number(ids: pl.Series, kind: pl.DataType) -> pl.Series:
    """Return ids as numbers, if none is lost by that: whole numbers print back the same, others stay distinct."""
    numbers = ids.cast(kind, strict=False)
    if numbers.null_count() > ids.null_count():
        return ids
    same = (numbers.cast(pl.String) == ids).all() if kind.is_integer() else numbers.n_unique() == ids.n_unique()
    return numbers if same else ids


def with_ids_alike(frames: Sequence[pl.DataFrame], ids: Iterable[str]) -> list[pl.DataFrame]:
    """Return frames in which the ids that are text in one of them are text in all."""
    texts = [name for name in ids if any(_is_text(frame.schema.get(name)) for frame in frames)]
    return [frame.with_columns(pl.col(_other(frame, texts)).cast(pl.String)) for frame in frames]


def _other(frame: pl.DataFrame, columns: Iterable[str]) -> list[str]:
    """Return which columns are no text yet; floats stay, as their text would be another one's id."""
    kinds = {name: frame.schema[name] for name in columns if name in frame.columns}
    stay = (pl.Null, pl.Categorical, pl.Enum)
    return [name for name, kind in kinds.items() if not (kind.is_float() or kind.is_nested() or kind in stay)]


def _is_text(kind: pl.DataType | None) -> bool:
    return kind in (pl.String, pl.Categorical, pl.Enum)
