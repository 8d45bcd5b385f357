"""Means of many models, moved toward their common mean: the best of many is best by luck too.

With the means m of k models, their mean c, and the average error variance σ² of a model (half the variance of a
difference of two), James and Stein's estimate is

    c + (1 − B) (m − c),    B = min((k − 3) σ² / Σ (m − c)², 1)

Errors that all models share, because some lists are hard for all, cancel in the differences. So they are not shrunk.
With fewer than four models, B is 0. All models have the same B, so their order stays.

References
----------
James, Stein, *Estimation with quadratic loss*, Berkeley Symposium, 1961; Efron, Morris, *Stein's estimation rule and
its competitors*, JASA 68, 1973.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LOST = 3
"""How many models the common mean and the spread of the models cost."""


def shrunk(means: Floats, variances: Floats) -> Floats:
    """Return the means of models, moved toward their common mean.

    Parameters
    ----------
    means : array of float
        The means of models.
    variances : array of float, models × models
        The variances of the differences between them; NaN where nothing is known.
    """
    models = len(means)
    if models <= LOST:
        return means
    centre = means.mean()
    error = variances.sum() / (2 * models * (models - 1))
    spread = np.square(means - centre).sum()
    share = min((models - LOST) * error / spread, 1.0) if spread > 0 else 0.0
    # Without an error nothing says how far: min() keeps no NaN.
    return np.asarray(centre + (1 - (share if np.isfinite(error) else np.nan)) * (means - centre))
