"""Wilson's interval of a share: of values that are 0 or 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._statistics.student import UNBOUNDED, Sums, scipy_stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def wilson(sums: Sums, confidence: float, bounds: Sequence[Any] = UNBOUNDED) -> tuple[Floats, Floats]:  # noqa: ARG001 - as `student.interval`
    """Return the ends of Wilson's interval of a share, NaN below two units.

    The number of lists n is the effective one. Clusters whose lists are alike tell less: then n is that of lists with
    the same standard error, between the effective numbers of clusters and of lists. It is lowered by the square of the
    normal quantile over that of t, as few clusters do not know their error well.

    References
    ----------
    Wilson, *Probable inference, the law of succession, and statistical inference*, JASA 22, 1927; Korn, Graubard,
    *Confidence intervals for proportions with small expected number of positive counts estimated from survey data*,
    Survey Methodology 24, 1998.
    """
    stats, share = scipy_stats(), np.clip(sums.mean, 0.0, 1.0)
    z = stats.norm.ppf(0.5 + confidence / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        certainty = np.square(z / stats.t.ppf(0.5 + confidence / 2, sums.degrees))
        alike = share * (1 - share) / np.square(sums.standard_error) * certainty
        # Where all values are the same, nothing says how much clusters matter: as much as they can.
        lists = np.clip(np.where(np.isnan(alike), 0.0, alike), sums.units, np.fmax(sums.units, sums.effective_lists))
        odds = z**2 / lists
        middle, half = share + odds / 2, np.sqrt(odds * (share * (1 - share) + odds / 4))
        # Rounding may carry an end past 0, 1 or the share.
        return np.clip((middle - half) / (1 + odds), 0.0, share), np.clip((middle + half) / (1 + odds), share, 1.0)
