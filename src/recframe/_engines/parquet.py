"""Parquet files of plain columns, read with an installed library."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAGIC = b"PAR1"
"""How a file of Parquet starts and ends."""


def _library() -> Any:
    """Return the installed library that reads and writes Parquet."""
    if find_spec("polars"):
        import polars as pl

        return pl
    if find_spec("pandas") and (find_spec("pyarrow") or find_spec("fastparquet")):
        import pandas as pd

        return pd
    what = "Parquet files"
    raise MissingExtraError.of(what, "arrow")


def to_parquet(columns: Mapping[str, Any], types: Mapping[str, Any]) -> bytes:
    """Return columns of these types as the bytes of a Parquet file."""
    file = BytesIO()
    nw.from_dict(dict(columns), schema=dict(types), backend=_library()).write_parquet(file)
    return file.getvalue()


def from_parquet(data: bytes, name: str, remedy: str) -> nw.DataFrame[Any]:
    """Return the rows of a Parquet file from its bytes.

    Raises
    ------
    InputError
        The data is not a Parquet file, or the file is incomplete.
    """
    library = _library()
    if not data.startswith(MAGIC):
        msg = f"{name!r} is no Parquet file"
        raise InputError(msg, remedy)
    # A panic of polars' Rust code is not a subclass of Exception.
    panics = (library.exceptions.PanicException,) if library.__name__ == "polars" else ()
    try:
        rows: nw.DataFrame[Any] = nw.from_native(library.read_parquet(BytesIO(data)), eager_only=True)
        if not panics:
            # Arrow accepts bytes that are not valid text, and raises only when the text is read.
            rows.select(nw.selectors.string()).rows()
    except (Exception, *panics) as error:
        msg = f"{name!r} cannot be read as Parquet: {(str(error).splitlines() or ['it is cut off'])[0]}"
        raise InputError(msg, remedy) from error
    return rows
