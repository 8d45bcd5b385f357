"""Wilson's interval of a share, the mean of values that are 0 or 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recframe._inference.statistics.student import scipy_stats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recframe._inference.statistics.student import Sums

    Floats = NDArray[np.float64]

FEW_HITS = 3 + 1e-9
"""Poisson's end is taken up to this number of hits, or misses. The fraction allows for rounding."""


def wilson(sums: Sums, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's interval of a share, NaN below two units.

    Near 0 and 1, Wilson's interval holds the true share too rarely. So with up to three hits the end next to 0 is
    Poisson's, and with up to three misses the end next to 1 is, as Brown, Cai and DasGupta propose.

    The number of lists n is the effective number. Similar lists in a cluster hold less information, so n is the
    number of independent lists with the same standard error. The squared ratio of the normal quantile to the quantile
    of t lowers it, because the standard error from few clusters is uncertain. n is at least the effective number of
    clusters and at most the effective number of lists.

    References
    ----------
    Wilson, *Probable inference, the law of succession, and statistical inference*, JASA 22, 1927; Brown, Cai, DasGupta,
    *Interval estimation for a binomial proportion*, Statistical Science 16, 2001, section 4.1.1; Korn, Graubard,
    *Confidence intervals for proportions with small expected number of positive counts estimated from survey data*,
    Survey Methodology 24, 1998.
    """
    stats = scipy_stats()
    share = np.clip(sums.mean, 0.0, 1.0)
    z = stats.norm.ppf(0.5 + confidence / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        certainty = np.square(z / stats.t.ppf(0.5 + confidence / 2, sums.degrees))
        lists_with_this_error = share * (1 - share) / np.square(sums.standard_error) * certainty
        # If all values are equal, the data cannot tell how similar lists of a cluster are: assume fully similar.
        lists = np.clip(
            np.where(np.isnan(lists_with_this_error), 0.0, lists_with_this_error),
            sums.units,
            np.fmax(sums.units, sums.effective_lists),
        )
        odds = z**2 / lists
        middle = share + odds / 2
        half = np.sqrt(odds * (share * (1 - share) + odds / 4))
        low = (middle - half) / (1 + odds)
        high = (middle + half) / (1 + odds)
        low = _lowered_if_few(low, share, lists, confidence)
        high = 1 - _lowered_if_few(1 - high, 1 - share, lists, confidence)
        # Rounding may carry an end past 0, 1 or the share.
        return np.clip(low, 0.0, share), np.clip(high, share, 1.0)


def _lowered_if_few(low: Floats, share: Floats, lists: Floats, confidence: float) -> Floats:
    """Return the low end, or Poisson's low end if that is smaller and few lists are hits.

    For the high end of hits, pass the low end and the share of misses.
    """
    few = (share > 0) & (2 * share < 1) & (share * lists <= FEW_HITS)
    poisson = scipy_stats().chi2.ppf(1 - confidence, 2 * share * lists) / 2 / lists
    return np.where(few, np.minimum(low, poisson), low)
