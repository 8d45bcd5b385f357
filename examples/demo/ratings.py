"""Reading a file of ratings for the demo, and saying what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
from polars import selectors as cs

from examples.demo.baselines import MIN_ITEMS
from recframe._cli.csv import read_csv
from recframe.errors import ColumnTypeError, InputError, MissingColumnError, OptionError, closest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEFAULT_MIN_RATING = 4.0
OPTIONS = {"user": "by", "item": "item", "rating": "relevant"}
"""The columns, and the options that name them."""
FORMATS = {".parquet": "Parquet", ".csv": "CSV"}


@dataclass(frozen=True)
class Ratings:
    """Positive pairs of users and items, and where they come from."""

    likes: pl.DataFrame
    """The columns user and item as numbers from 0, each pair once."""
    n_rows: int
    """The rows that were read, positive or not, without those dropped."""
    n_users: int
    n_items: int
    n_dropped: int = 0
    """Rows without a user or an item, and repeated ones."""
    min_rating: float | None = None
    """From where on a rating is positive; None: every row is."""
    why_all: str = ""
    """Why every row is positive."""

    @classmethod
    def of_positives(cls, frame: pl.DataFrame) -> Ratings:
        """Return the ratings of a frame in which every row is positive and each pair occurs once."""
        return cls(_numbered(frame), frame.height, frame["user"].n_unique(), frame["item"].n_unique())


def read_ratings(path: Path, min_rating: float | None, names: Mapping[str, str]) -> Ratings:
    """Read a file with the columns user, item and maybe rating.

    Parameters
    ----------
    path : Path
        A Parquet or CSV file.
    min_rating : float, optional
        Ratings from here on are positive. None: from 4 on, but all rows if there is no rating column or
        all ratings are the same.
    names : mapping of str to str
        What the file calls these columns, where it differs.

    Raises
    ------
    RecError
        The file cannot be read or does not hold what is needed.
    """
    frame = _read(path, names)
    n_read, rated = frame.height, "rating" in frame.columns
    frame = frame.drop_nulls(["user", "item"])
    frame = frame.group_by("user", "item").agg(pl.col("rating").max()) if rated else frame.unique()
    n_users, n_items, n_rows = frame["user"].n_unique(), frame["item"].n_unique(), frame.height
    if n_rows == 0:
        msg = f"{path.name!r} has no row with a user and an item ({n_read:,} rows in all)"
        raise InputError(msg)
    why_all = ""
    if not rated:
        why_all = "the file has no column 'rating'"
        if min_rating is not None:
            msg = f"--min-rating {min_rating:g}: {why_all}"
            raise OptionError(msg, "leave it out, and every row is positive")
    elif min_rating is None and frame["rating"].drop_nulls().n_unique() <= 1:
        why_all = "all ratings are the same"
    else:
        min_rating = DEFAULT_MIN_RATING if min_rating is None else min_rating
        frame = _positive(path, frame, min_rating)
    likes = _numbered(frame)
    most = likes["user"].unique_counts().max()
    assert isinstance(most, int)  # noqa: S101 - for the type checker
    if most < MIN_ITEMS:
        msg = f"no user in {path.name!r} has {MIN_ITEMS} positive items, which a test needs; the most are {most}"
        raise InputError(msg, "" if why_all else f"--min-rating is {min_rating:g}; a lower one finds more")
    return Ratings(likes, n_rows, n_users, n_items, n_read - n_rows, None if why_all else min_rating, why_all)


def _positive(path: Path, frame: pl.DataFrame, min_rating: float) -> pl.DataFrame:
    """Return the rows whose rating is high enough."""
    positive = frame.filter(pl.col("rating") >= min_rating)
    if positive.is_empty():
        span = f"they go from {frame['rating'].min()!r} to {frame['rating'].max()!r}"
        msg = f"no rating in {path.name!r} reaches {min_rating:g}: {span}"
        raise InputError(msg, "--min-rating says from where on a rating is positive")
    return positive


def _read(path: Path, names: Mapping[str, str]) -> pl.DataFrame:
    """Return the columns user, item and, if present, rating, as a float."""
    kind = _kind(path)
    try:
        if kind == "Parquet":
            frame = _picked(pl.scan_parquet(path, glob=False), path, names).collect()
        else:
            ids = [names.get(name, name) for name in ("user", "item")]
            frame = read_csv(path, ids, lambda lazy: _picked(lazy, path, names), infer_schema_length=None)
        frame = frame.select(
            pl.col(own).alias(name) for name in OPTIONS if (own := names.get(name, name)) in frame.columns
        )
    except pl.exceptions.NoDataError:
        msg = f"{path.name!r} is empty"
        raise InputError(msg, "the first line of a CSV file names the columns: user,item,rating") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        msg = f"{path.name!r} cannot be read as {kind}: {reason}"
        raise InputError(msg) from None
    if frame.is_empty():
        msg = f"{path.name!r} has no rows"
        raise InputError(msg)
    _check_types(path, frame)
    if "rating" in frame.columns:
        frame = frame.with_columns(pl.col("rating").cast(pl.Float64))
    return frame.with_columns(cs.float().fill_nan(None))


def _picked(lazy: pl.LazyFrame, path: Path, names: Mapping[str, str]) -> pl.LazyFrame:
    """Return the columns that are read, by the names that the file gives them."""
    columns = lazy.collect_schema().names()
    for name in ("user", "item", *names):
        if (own := names.get(name, name)) not in columns:
            there = ", ".join(map(repr, columns))
            msg = f"{path.name!r} has no column {own!r}; it has {there}"
            raise MissingColumnError(msg, closest(own, columns) or f"name the column: --{OPTIONS[name]} COLUMN")
    read = {names.get(name, name) for name in OPTIONS}
    return lazy.select(name for name in columns if name in read)


def _kind(path: Path) -> str:
    """Return the format that a file's name promises."""
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        what = f"ends in {path.suffix!r}" if path.suffix else "has no ending"
        msg = f"--ratings {str(path)!r}: the name {what}, but a ratings file is one of {', '.join(FORMATS)}"
        raise OptionError(msg)
    if not path.is_file():
        what = "is a directory" if path.is_dir() else "does not exist"
        msg = f"--ratings {str(path)!r}: the file {what}"
        raise OptionError(msg, "give a Parquet or CSV file with the columns user, item and rating")
    return kind


def _check_types(path: Path, frame: pl.DataFrame) -> None:
    """Raise for columns that cannot play their role."""
    for name in ("user", "item"):
        if frame.schema[name].is_nested():
            msg = f"{path.name!r}: the column {name!r} has the type {frame.schema[name]}, but a {name} is one value"
            raise ColumnTypeError(msg, "one user and one item a row, as numbers or text")
    dtype = frame.schema.get("rating", pl.Null())
    if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
        msg = f"{path.name!r}: the column 'rating' has the type {dtype}, but a rating is a number"
        raise ColumnTypeError(msg, "cast it, or drop it: without ratings every row is positive")


def _numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """Return users and items as numbers from 0 in their own order, whatever the order of the rows."""
    ids = frame.select("user", "item").with_columns(cs.by_dtype(pl.Categorical, pl.Enum).cast(pl.String))
    return ids.select(pl.all().rank("dense").cast(pl.Int64) - 1)
