"""Metrics as expressions of polars, with types: ``recframe.expr.ndcg("score", "clicked", k=5)``.

What type checkers see of this module is in ``expr.pyi``, which ``python tools/stubs.py`` writes. Without types the
same is ``pl.col("score").rec.ndcg("clicked", k=5)``.

>>> import polars as pl
>>> from recframe import expr
>>> df = pl.DataFrame({"query": [1, 1, 2], "clicked": [0, 1, 1], "score": [0.9, 0.8, 0.1]})
>>> df.group_by("query", maintain_order=True).agg(expr.mrr("score", "clicked")).rows()
[(1, 0.5), (2, 1.0)]
"""

from __future__ import annotations

from typing import NoReturn

from recframe._expressions.calls import CALLS
from recframe.errors import no_attribute

globals().update(CALLS)


def __getattr__(name: str) -> NoReturn:
    raise no_attribute(name, "recframe.expr has no {!r}", CALLS)
