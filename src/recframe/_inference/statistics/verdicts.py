"""From p-values to a word: what a row of a comparison has decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._inference.statistics.correction import Correction, adjusted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """What the tests of many rows found, an entry of each array for a row; p-values are two-sided.

    Attributes
    ----------
    p : array of float
        That of no difference.
    sign : array of float
        1 where the model is better, -1 where it is worse, 0 where its mean and the test do not agree.
    loss, gain : array of float, optional
        Those of a loss, and of a gain, as large as the margin; 1 where the estimate lies beyond it. None: no margin.
    """

    p: Floats
    sign: Floats
    loss: Floats | None = None
    gain: Floats | None = None

    @classmethod
    def of(cls, p: Floats, direction: Floats, upwards: Floats, ends: Sequence[Floats] = ()) -> Evidence:
        """Return the evidence in the direction of the metrics.

        Parameters
        ----------
        p, direction : array of float
            The p-values, and the signs of the differences.
        upwards : array of float
            1 where higher is better, else -1.
        ends : sequence of array of float
            The p-values of differences as far below 0 as the margin, and as far above; empty: there is no margin.
        """
        if not ends:
            return cls(p, direction * upwards)
        below, above = ends
        return cls(p, direction * upwards, np.where(upwards > 0, below, above), np.where(upwards > 0, above, below))

    @property
    def p_better(self) -> Floats:
        """The p-values of the claim that the model is better, 1 where it is not."""
        return np.where(np.isnan(self.p), np.nan, np.where(self.sign > 0, self.p, 1.0))

    @property
    def p_not_worse(self) -> Floats:
        """The p-values of the claim that the model does not lose more than the margin, or without one, is better."""
        return self.p_better if self.loss is None else np.minimum(self.p_better, self.loss)

    def adjusted(self, correction: Correction) -> Evidence:
        """Return the evidence with p-values that are adjusted for the number of rows."""
        if self.loss is None or self.gain is None:
            return Evidence(adjusted(self.p, correction), self.sign)
        within = np.maximum(self.loss, self.gain)
        if correction == "holm":
            p, loss, within = _stepped_down(self.p, self.loss, within, self.sign)
        else:
            p, loss, within = (adjusted(each, correction) for each in (self.p, self.loss, within))
        return Evidence(p, self.sign, loss, within)

    def verdicts(self, confidence: float) -> NDArray[np.str_]:
        """Return the verdicts from adjusted evidence, where `gain` tests that a difference is within the margin.

        The first that holds is the verdict: "better"; "equivalent", the difference is within the margin on both sides;
        "worse"; "not worse", the model does not lose more than the margin; "open", none of these.
        """
        level = 1 - confidence
        none = np.zeros(self.p.shape, dtype=bool)
        with np.errstate(invalid="ignore"):
            differs = self.p < level
            not_worse = none if self.loss is None else self.loss < level
            within = none if self.gain is None else self.gain < level
        cases: list[Any] = [differs & (self.sign > 0), within, differs & (self.sign < 0), not_worse]
        return np.select(cases, ["better", "equivalent", "worse", "not worse"], "open")


def _stepped_down(p: Floats, loss: Floats, within: Floats, sign: Floats) -> Floats:
    """Return Holm's adjusted p-values for the three claims about each row, a row of the array for each claim.

    At most one of the three claims about a row is at risk to be false.

    Whatever a row's difference is, one two-sided test bounds the probability of a false claim about it. If the
    difference is beyond the margin, one tail of that test is enough. So claims are tested in the order of their
    p-values, and each p-value is multiplied by the number of rows that may still hold a false claim. Once a row's
    difference from 0 is decided, the row counts half, because it may be beyond the margin on that side only. Once that
    is ruled out too, the row no longer counts.
    """
    tested = np.flatnonzero(~np.isnan(p))
    claims = np.stack([p, loss, within])[:, tested]
    order = np.argsort(claims, axis=None, kind="stable")
    rank = np.empty(order.size, dtype=np.intp)
    rank[order] = np.arange(order.size)
    ranks = rank.reshape(claims.shape)
    # What rules out the margin on the side of the estimate.
    beyond = np.where(sign[tested] > 0, ranks[2], ranks[1])
    differs = np.where(sign[tested] == 0, order.size, ranks[0])
    halves = np.sort(np.concatenate([differs, np.maximum(differs, beyond)]))
    at_risk = len(tested) - np.searchsorted(halves, np.arange(order.size), side="left") / 2
    corrected = np.full((3, len(p)), np.nan)
    stepped = np.empty(order.size)
    stepped[order] = np.minimum(np.maximum.accumulate(claims.ravel()[order] * np.maximum(at_risk, 1)), 1.0)
    corrected[:, tested] = stepped.reshape(claims.shape)
    return corrected
