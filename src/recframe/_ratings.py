"""Reading a file of ratings for the demo, and saying what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from recframe._baselines import MIN_ITEMS
from recframe.errors import ColumnTypeError, InputError, MissingColumnError, OptionError, closest

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["DEFAULT_MIN_RATING", "Ratings", "read_ratings"]

DEFAULT_MIN_RATING = 4.0
FORMATS = {".parquet": "Parquet", ".csv": "CSV"}


@dataclass(frozen=True)
class Ratings:
    """Positive pairs of users and items as numbers from 0, and where they come from."""

    users: NDArray[np.int64]
    items: NDArray[np.int64]
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
        """Return the ratings of a frame in which every row is positive and each pair stands once."""
        users, items = _numbers(frame["user"]), _numbers(frame["item"])
        return cls(users, items, frame.height, frame["user"].n_unique(), frame["item"].n_unique())

    def check_tested(self, n_testable: int) -> None:
        """Raise if there is nobody to test the models on."""
        if n_testable == 0:
            what = f"of {MIN_ITEMS} or more positive items, so nothing can be held out"
            hint = "" if self.min_rating is None else f"\n\nHint: --min-rating, which is {self.min_rating:g} now"
            msg = f"none of the {self.n_users:,} users has a list {what}{hint}"
            raise InputError(msg)


def read_ratings(path: Path, min_rating: float | None) -> Ratings:
    """Read a file with the columns user, item and maybe rating.

    Parameters
    ----------
    path : Path
        A Parquet or CSV file.
    min_rating : float, optional
        Ratings from here on are positive. None: from 4 on, but all rows if there is no rating column or
        all ratings are the same.

    Raises
    ------
    RecError
        The file cannot be read or does not hold what is needed.
    """
    frame = _read(path)
    n_read = frame.height
    frame = frame.drop_nulls(["user", "item"])
    if "rating" in frame.columns:
        frame = frame.group_by("user", "item").agg(pl.col("rating").max())
    else:
        frame = frame.unique()
    if frame.is_empty():
        msg = f"{path.name!r} has no row with a user and an item ({n_read:,} rows in all)"
        raise InputError(msg)
    n_users, n_items, n_rows = frame["user"].n_unique(), frame["item"].n_unique(), frame.height
    why_all = ""
    if "rating" not in frame.columns:
        why_all = "the file has no column 'rating'"
        if min_rating is not None:
            msg = f"--min-rating {min_rating:g}: {why_all}\n\nHint: without --min-rating every row is positive"
            raise OptionError(msg)
    elif min_rating is None and frame["rating"].drop_nulls().n_unique() <= 1:
        why_all = "all ratings are the same"
    if not why_all:
        min_rating = DEFAULT_MIN_RATING if min_rating is None else min_rating
        least, most = frame["rating"].min(), frame["rating"].max()
        frame = frame.filter(pl.col("rating") >= min_rating)
        if frame.is_empty():
            msg = f"no rating in {path.name!r} reaches {min_rating:g}: they go from {least} to {most}"
            raise InputError(f"{msg}\n\nHint: --min-rating says from where on a rating is positive")
    return Ratings(
        _numbers(frame["user"]),
        _numbers(frame["item"]),
        n_rows,
        n_users,
        n_items,
        n_read - n_rows,
        None if why_all else min_rating,
        why_all,
    )


def _read(path: Path) -> pl.DataFrame:
    """Return the columns user, item and, if present, rating, as a float."""
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        msg = f"--ratings {str(path)!r}: the name ends in {path.suffix!r}, but a ratings file is one of {', '.join(FORMATS)}"
        raise OptionError(f"{msg}\n\nHint: write the ratings to a Parquet or CSV file")
    if not path.is_file():
        what = "is a directory" if path.is_dir() else "does not exist"
        msg = f"--ratings {str(path)!r}: the file {what}"
        raise OptionError(f"{msg}\n\nHint: give a Parquet or CSV file with the columns user, item and rating")
    try:
        if kind == "Parquet":
            lazy = pl.scan_parquet(path, glob=False)
        else:
            lazy = pl.scan_csv(path, glob=False, infer_schema_length=None)
        columns = lazy.collect_schema().names()
        for name in ("user", "item"):
            if name not in columns:
                there = ", ".join(map(repr, columns))
                msg = f"{path.name!r} has no column {name!r}; it has {there}{closest(name, columns)}"
                raise MissingColumnError(msg)
        frame = lazy.select(name for name in ("user", "item", "rating") if name in columns).collect()
    except pl.exceptions.NoDataError:
        msg = f"{path.name!r} is empty"
        raise InputError(f"{msg}\n\nHint: the first line of a CSV file names the columns: user,item,rating") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        msg = f"{path.name!r} cannot be read as {kind}: {reason}"
        raise InputError(msg) from None
    if frame.is_empty():
        msg = f"{path.name!r} has no rows"
        raise InputError(msg)
    if "rating" in frame.columns:
        dtype = frame.schema["rating"]
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            msg = f"{path.name!r}: the column 'rating' has the type {dtype}, but a rating is a number"
            raise ColumnTypeError(f"{msg}\n\nHint: cast it, or drop it: without ratings every row is positive")
        frame = frame.with_columns(pl.col("rating").cast(pl.Float64).fill_nan(None))
    return frame


def _numbers(ids: pl.Series) -> NDArray[np.int64]:
    """Number the values of a column from 0 in their own order, so that the order of rows does not matter."""
    distinct = ids.unique().sort()
    codes = pl.DataFrame({"id": distinct, "code": pl.int_range(distinct.len(), eager=True)})
    found = ids.rename("id").to_frame().join(codes, on="id", how="left", maintain_order="left")["code"]
    return found.cast(pl.Int64).to_numpy()
