"""Rows of one frame with or without a match in another frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import LISTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine


def matched(engine: Engine, rows: Frame, others: Frame, on: Sequence[str]) -> Frame:
    """Return an inner join: each row with each matching row of the other frame."""
    return marked(engine, rows, others, on).filter(is_matched()).drop(LISTED)


def unmatched(engine: Engine, rows: Frame, others: Frame, on: Sequence[str]) -> Frame:
    """Return the rows whose key the other frame lacks."""
    return marked(engine, rows, others.select(*on).unique(), on).filter(~is_matched()).drop(LISTED)


def marked(engine: Engine, rows: Frame, others: Frame, on: Sequence[str]) -> Frame:
    """Return a left join; `is_matched` says which of its rows have a match."""
    return engine.join(rows, others.with_columns(nw.lit(1.0).alias(LISTED)), on)


def is_matched() -> nw.Expr:
    """Return whether a row of a `marked` frame has a match."""
    return ~nw.col(LISTED).is_null()
