"""How far a judge agrees with humans: on the grades of items, and on the order of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._base.columns import ITEM, RELEVANCE
from recframe._base.values import ROUNDING
from recframe._inference.lists.keys import floats_of, rows_of, texts_of
from recframe._inference.statistics.kappa import Kappa

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from recframe._plan.plan import Plan

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SharedJudgments:
    """The grades that humans and a judge gave to the same items of the same lists."""

    human: Floats
    judge: Floats
    lists: NDArray[np.intp]
    """The number of each item's list among the lists that humans judged."""

    @classmethod
    def of(cls, human: Plan, judge: Plan, number_of: Mapping[str | None, int]) -> SharedJudgments:
        """Return the shared judgments of two plans; `number_of` numbers the lists that humans judged by their keys."""
        by_human, by_judge = (_grades(plan, number_of) for plan in (human, judge))
        shared = sorted((pair for pair in by_human if pair in by_judge), key=str)
        ours, theirs = (
            np.array([grades[pair] for pair in shared], dtype=np.float64) for grades in (by_human, by_judge)
        )
        return cls(ours, theirs, np.array([number for number, _ in shared], dtype=np.intp))

    def kappas(self, segments: Sequence[NDArray[np.bool_]], confidence: float) -> dict[str, Floats]:
        """Return the columns of a result with Cohen's kappa and its interval. A segment is a mask of its lists."""
        kappas_of_rows = []
        for chosen in segments:
            rows = chosen[self.lists]
            _, lists = np.unique(self.lists[rows], return_inverse=True)
            kappas_of_rows.append(Kappa.of(self.human[rows], self.judge[rows], lists, confidence))
        columns = {"kappa": "value", "kappa_low": "low", "kappa_high": "high"}
        return {name: np.array([getattr(each, end) for each in kappas_of_rows]) for name, end in columns.items()}


def _grades(plan: Plan, number_of: Mapping[str | None, int]) -> dict[tuple[int, str | None], float]:
    """Return the grades, 0 or more, of the judged items of some lists, by the list's number and the item."""
    context = plan.context
    keys = list(plan.context.keys.key)
    truth: Any = context.truth_lists
    truth = truth.select(*keys, ITEM, nw.col(RELEVANCE).cast(nw.Float64())).filter(nw.col(RELEVANCE) >= 0)
    judged = context.engine.collected(truth.group_by(*keys, ITEM).agg(nw.col(RELEVANCE).max()))
    known = judged.select(*keys).unique()
    # The judge has many lists that no human judged. Only the items of the others become text, which is slow.
    texts = zip(rows_of(known, keys), texts_of(context, known, keys), strict=True)
    numbers = {row: number_of[text] for row, text in texts if text in number_of}
    of_rows = np.array([numbers.get(row, -1) for row in rows_of(judged, keys)], dtype=np.intp)
    chosen = np.flatnonzero(of_rows >= 0)
    rows = judged[chosen]
    items = zip(of_rows[chosen].tolist(), texts_of(context, rows, [ITEM]), strict=True)
    return dict(zip(items, floats_of(rows[RELEVANCE]).tolist(), strict=True))


def same_orders(human: Floats, judge: Floats) -> NDArray[np.bool_]:
    """Return for each model and segment whether the judge puts all other models on the same side of it as humans do.

    `human` and `judge` hold the means, models × segments. Two models with a missing mean are never on the same side.
    """
    with np.errstate(invalid="ignore"):
        differences = (means[:, None] - means for means in (human, judge))
        ours, theirs = (np.where(np.abs(each) <= ROUNDING, 0.0, np.sign(each)) for each in differences)
    return np.asarray((ours == theirs).all(axis=1))
