"""Rows of one frame that another frame matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import LISTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine


def matched(engine: Engine, rows: Frame, others: Frame, on: Sequence[str]) -> Frame:
    """Return each row once for each other one with the same key, with the columns of both."""
    return marked(engine, rows, others, on).filter(is_matched()).drop(LISTED)


def unmatched(engine: Engine, rows: Frame, others: Frame, on: Sequence[str]) -> Frame:
    """Return the rows whose key no other one has."""
    return marked(engine, rows, others.select(*on).unique(), on).filter(~is_matched()).drop(LISTED)


def marked(engine: Engine, rows: Frame, others: Frame, on: Sequence[str]) -> Frame:
    """Return each row once for each other one with the same key, or once without; `is_matched` says which."""
    return engine.join(rows, others.with_columns(nw.lit(1.0).alias(LISTED)), on)


def is_matched() -> nw.Expr:
    """Return whether a marked row has an other one."""
    return ~nw.col(LISTED).is_null()
