"""The verdict of each row of a comparison, from its p-values."""

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
    """The results of the tests of many rows: each array has an entry per row, and p-values are two-sided.

    Attributes
    ----------
    p : array of float
        The p-value of no difference.
    sign : array of float
        1 if the model is better, -1 if it is worse, 0 if its mean and the test do not agree.
    loss : array of float, optional
        The p-value of a loss as large as the margin; 1 if the estimate is a larger loss. None without a margin.
    gain : array of float, optional
        The p-value of a gain as large as the margin; 1 if the estimate is a larger gain. None without a margin.
    equivalence : array of float, optional
        The p-value of equivalence, the larger p-value of a loss and a gain. Adjusted evidence has it instead of `gain`.
    """

    p: Floats
    sign: Floats
    loss: Floats | None = None
    gain: Floats | None = None
    equivalence: Floats | None = None

    @classmethod
    def of(cls, p: Floats, direction: Floats, upwards: Floats, ends: Sequence[Floats] = ()) -> Evidence:
        """Return the evidence in the direction of the metrics.

        Parameters
        ----------
        p, direction : array of float
            The p-values, and the signs of the differences.
        upwards : array of float
            1 if higher is better, otherwise -1.
        ends : sequence of array of float
            The p-values of a difference of minus the margin, and of plus the margin. Empty without a margin.
        """
        if not ends:
            return cls(p, direction * upwards)
        below, above = ends
        return cls(p, direction * upwards, np.where(upwards > 0, below, above), np.where(upwards > 0, above, below))

    @property
    def p_better(self) -> Floats:
        """The p-values of the claim that the model is better, 1 if its mean is not."""
        return np.where(np.isnan(self.p), np.nan, np.where(self.sign > 0, self.p, 1.0))

    @property
    def p_not_worse(self) -> Floats:
        """The p-values of the claim that the model is better, or loses less than the margin if there is a margin."""
        return self.p_better if self.loss is None else np.minimum(self.p_better, self.loss)

    def adjusted(self, correction: Correction) -> Evidence:
        """Return the evidence with p-values that are adjusted for the number of rows, for `verdicts`."""
        if self.loss is None or self.gain is None:
            return Evidence(adjusted(self.p, correction), self.sign)
        within = np.maximum(self.loss, self.gain)
        if correction == "holm":
            p, loss, within = _stepped_down(self.p, self.loss, within, self.sign)
        else:
            p, loss, within = (adjusted(each, correction) for each in (self.p, self.loss, within))
        return Evidence(p, self.sign, loss, equivalence=within)

    def verdicts(self, confidence: float) -> NDArray[np.str_]:
        """Return the verdict of each row from adjusted evidence.

        The verdict is the first word that holds: "better"; "equivalent", the difference is within the margin on both
        sides; "worse"; "not worse", the model loses less than the margin; "open", none of these. Rows without a test,
        whose p-values are NaN, are open.
        """
        level = 1 - confidence
        none = np.zeros(self.p.shape, dtype=bool)
        with np.errstate(invalid="ignore"):
            differs = self.p < level
            not_worse = none if self.loss is None else self.loss < level
            within = none if self.equivalence is None else self.equivalence < level
        cases: list[Any] = [differs & (self.sign > 0), within, differs & (self.sign < 0), not_worse]
        return np.select(cases, ["better", "equivalent", "worse", "not worse"], "open")


def _stepped_down(p: Floats, loss: Floats, within: Floats, sign: Floats) -> Floats:
    """Return Holm's adjusted p-values for the three claims about each row, as an array of claims × rows.

    The claims are a difference from 0 (`p`), a loss below the margin, and a difference within the margin. Whatever a
    row's difference is, one two-sided test bounds the probability of a false claim about it. If the difference is
    beyond the margin, one tail of that test is enough. So claims are tested in the order of their p-values, and each
    p-value is multiplied by the number of rows that may still hold a false claim. Once a row's difference from 0 is
    decided, the row counts half, because it may be beyond the margin on that side only. Once that is ruled out too, the
    row no longer counts.
    """
    tested = np.flatnonzero(~np.isnan(p))
    claims = np.stack([p, loss, within])[:, tested]
    order = np.argsort(claims, axis=None, kind="stable")
    rank = np.empty(order.size, dtype=np.intp)
    rank[order] = np.arange(order.size)
    ranks = rank.reshape(claims.shape)
    # The claim that rules out a difference beyond the margin, on the side of the estimate.
    beyond = np.where(sign[tested] > 0, ranks[2], ranks[1])
    differs = np.where(sign[tested] == 0, order.size, ranks[0])
    halves = np.sort(np.concatenate([differs, np.maximum(differs, beyond)]))
    at_risk = len(tested) - np.searchsorted(halves, np.arange(order.size), side="left") / 2
    corrected = np.full((3, len(p)), np.nan)
    stepped = np.empty(order.size)
    stepped[order] = np.minimum(np.maximum.accumulate(claims.ravel()[order] * np.maximum(at_risk, 1)), 1.0)
    corrected[:, tested] = stepped.reshape(claims.shape)
    return corrected
