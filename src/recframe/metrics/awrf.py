"""How fairly the attention of a list is shared among groups of items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from recframe.errors import OptionError, OptionTypeError, quoted
from recframe.metrics._options import table
from recframe.metrics._record import RankedListMetric
from recframe.metrics.expected_exposure import STOCHASTIC, BrowsingMetric, attention

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from recframe.metrics._gain import Table
    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums

GroupDistance = Literal["tv", "js"]
"""How far shares are from their targets: half the sum of absolute differences, or the Jensen-Shannon divergence."""
GroupTarget = Literal["equal", "catalog", "relevant"] | Mapping[Any, float] | tuple[tuple[Any, float], ...]
"""The share that each group should get: equal, as in the catalogue, as in the relevant items, or from a table."""


def _checked_target(target: Any) -> Table:
    """Return a table of targets as a metric keeps it, or raise for what gives groups no shares."""
    hint = "target={'a': 0.7, 'b': 0.3}, or 'equal', 'catalog' or 'relevant'"
    try:
        shares = tuple(sorted((group, float(share)) for group, share in dict(target).items()))
        kinds = {type(group) for group, _ in shares}
    except (TypeError, ValueError) as error:
        msg = f"target={quoted(target)} does not map groups of one type to numbers"
        raise OptionTypeError(msg, hint) from error
    if len(kinds) > 1 or not kinds <= {str, int, bool}:
        msg = f"target={quoted(target)} names groups of the types {', '.join(sorted(kind.__name__ for kind in kinds))}"
        raise OptionTypeError(msg, "groups of a table are all text, or all whole numbers")
    total = math.fsum(share for _, share in shares) if all(share >= 0 for _, share in shares) else math.nan
    if not 0 < total < math.inf:
        msg = f"target={quoted(target)} holds no shares"
        raise OptionError(msg, "shares are 0 or more, and at least one is above 0")
    return shares


@dataclass(frozen=True)
class AWRF(RankedListMetric, BrowsingMetric):
    r"""Attention-weighted rank fairness: how far the attention of groups is from a target.

    .. math:: \mathrm{AWRF} = \Delta(\varepsilon, p), \qquad
        \varepsilon_g = \frac{\sum_{d \in g} \varepsilon_d}{\sum_d \varepsilon_d}

    where ε of an item is the expected attention that it gets, and p the target share of each group.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    p : float, default 0.5
        As for `eed`.
    browsing : {"geometric", "log2", "cascade"} or mapping of int to float
        As for `eed`.
    stop : float, default 0.5
        As for `eed`.
    target : {"equal", "catalog", "relevant"} or mapping of group to float
        What each group should get: an equal share, its share of the catalogue or of the list's relevant items, or a
        table's share.
    distance : {"tv", "js"}
        The share of attention with the wrong group, half the sum of absolute differences; or the Jensen-Shannon
        divergence in bits.

    Notes
    -----
    0 to 1, lower is fairer. The role ``group=`` names the column with the group of each item, such as its seller;
    without it each item is a group. Items without a group are ignored. The catalogue is ``catalog=``, otherwise the
    items of the frame that holds the groups. TREC's Fair Ranking track reports 1 − ln 2 · ``"js"``.

    References
    ----------
    Sapiezynski et al., *Quantifying the impact of user attention on fair group representation in ranked lists*, WWW
    Companion 2019; Raj, Ekstrand, *Measuring fairness in ranked results*, SIGIR 2022.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "seller": ["a", "b", "a"], "score": [3, 2, 1]})
    >>> round(df.rec.awrf(group="seller"), 4)
    0.2143
    """

    name: ClassVar[str] = "awrf"
    aliases: ClassVar[tuple[str, ...]] = ("attention_weighted_rank_fairness",)
    formula: ClassVar[str] = "distance of ε from p; ε: shares of the expected attention of groups, p: the target"
    reference: ClassVar[str] = "Sapiezynski et al., WWW 2019; Raj, Ekstrand, SIGIR 2022"
    higher_is_better: ClassVar[bool] = False
    is_additive: ClassVar[bool] = False
    reads_groups: ClassVar[bool] = True
    undefined_if: ClassVar[str] = "without a ranked item of a group, or without a target"
    undefined_without: ClassVar[str] = "ranked item of a group"
    optional_inputs: ClassVar[tuple[str, ...]] = ("features", "catalog")
    inexact: ClassVar[str] = f"{STOCHASTIC}, up to 0.86 in lists of up to 7 rows"

    target: GroupTarget = field(default="equal", metadata=table(_checked_target))
    distance: GroupDistance = "tv"

    @property
    def targets(self) -> Table:  # type: ignore[override]  # depends on an option
        return self.target if isinstance(self.target, tuple) else ()

    @property
    def reads_relevance(self) -> bool:  # type: ignore[override]  # depends on an option
        return self.target == "relevant" or self.browsing == "cascade"

    def explained(self) -> Sequence[str]:
        distance = {"tv": "Σ over groups of |ε − p| / 2", "js": "Jensen-Shannon divergence of ε and p, in bits"}
        target = {
            "equal": "the same for each group",
            "catalog": "the group's share of the items of the catalogue",
            "relevant": "the group's share of the relevant items of the list",
        }
        table = ", ".join(f"{share:g} for {group!r}" for group, share in self.targets)
        return [
            distance[self.distance],
            f"ε: shares of the expected attention {self._model} at r ≤ k",
            f"p: {f'{table}, else 0, over their sum' if self.targets else target[str(self.target)]}",
        ]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"attention": self._shared(row, attention)}

    def value(self, sums: Sums) -> nw.Expr:
        return sums.group_distance("attention", self.distance, self.target)

    def defined(self, sums: Sums) -> nw.Expr:
        return sums.grouped("attention", self.distance, self.target) > 0
