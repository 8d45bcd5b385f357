"""What a library does not take, or takes as nobody means it: refused under its profile, where the data can be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import ITEM, MODEL, RELEVANCE, score_column
from recframe._plan.relevance import fill_missing
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._plan.context import CallContext


def check_profile(context: CallContext) -> None:
    """Raise for relevance and repeated items that the library of a profile does not take."""
    _check_relevance(context)
    if context.truth is None or context.truth_lists is None:
        return
    scores = [score_column(index) for index in range(len(context.query.orders))]
    ranked = context.frame.filter(nw.any_horizontal(*(~nw.col(name).is_null() for name in scores), ignore_nulls=True))
    _check_repeats(context, ranked, context.group, "the frame", "df")
    _check_repeats(context, context.truth_lists, context.keys, "truth=", "truth")


def _check_relevance(context: CallContext) -> None:
    query = context.query
    for terms in context.requirements.accuracy:
        how = query.averaging(terms.metric.label)
        if how.least is None:
            continue
        source = context.frame if context.truth is None else context.truth
        least = context.engine.scalar(
            fill_missing(source.select(RELEVANCE), [RELEVANCE]).select(nw.col(RELEVANCE).min())
        )
        if least is not None and least < how.least:
            msg = (
                f"relevant={query.relevant!r} holds {least:g}, but under like={query.like!r} {how.name} takes no "
                f"relevance below {how.least:g}"
            )
            raise InputError(msg, "leave out like=, or make negative relevance 0")


def _check_repeats(context: CallContext, frame: Frame, keys: Sequence[str], where: str, name: str) -> None:
    """Raise for items that stand in a list twice: libraries refuse them, or count them each time."""
    pairs = frame.select(*keys, ITEM)
    repeated = context.engine.scalar(pairs.select(nw.len())) - context.engine.scalar(pairs.unique().select(nw.len()))
    if repeated:
        query = context.query
        key = [*query.by, *([query.model] if MODEL in keys else []), query.item]
        msg = f"{where} repeats {repeated} items of their lists, which like={query.like!r} refuses"
        raise InputError(msg, f"{name}.unique({key!r}), or leave out like=: then they count once")
