"""Metrics as polars expressions, with types: ``recframe.expr.ndcg(score="score", relevant="clicked", k=5)``.

All arguments have names. ``pl.col("score").rec.ndcg("clicked", k=5)`` is the same expression, which type checkers do
not know. They read ``expr.pyi``, which ``python tools/stubs.py`` writes.

>>> import polars as pl
>>> from recframe import expr
>>> df = pl.DataFrame({"query": [1, 1, 2], "clicked": [0, 1, 1], "score": [0.9, 0.8, 0.1]})
>>> df.group_by("query", maintain_order=True).agg(expr.mrr(relevant="clicked")).rows()
[(1, 0.5), (2, 1.0)]
"""

from __future__ import annotations

from typing import NoReturn

from recframe._integrations.expressions.calls import CALLS, REPLACED_CALLS
from recframe.errors import no_attribute

globals().update(CALLS)


def __dir__() -> list[str]:
    return list(CALLS)


def __getattr__(name: str) -> NoReturn:
    raise no_attribute(name, "recframe.expr has no {!r}", CALLS, REPLACED_CALLS.get(name, ""))
