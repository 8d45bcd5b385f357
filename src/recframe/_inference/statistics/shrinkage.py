"""Means of many models, moved toward their common mean, because the best of many models was lucky too.

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

MODELS_LOST = 3
"""The models that estimating the common mean and the spread costs: B is 0 up to this number."""


def shrunk(means: Floats, variances: Floats) -> Floats:
    """Return the mean to expect of each model on other lists: its mean, moved toward the mean of all models.

    Up to three models keep their means. With more, all results are NaN if a variance is.

    Parameters
    ----------
    means : array of float
        The means of models.
    variances : array of float, models × models
        The variance of each difference between two models, with zeros on the diagonal.
    """
    models = len(means)
    if models <= MODELS_LOST:
        return means
    centre = means.mean()
    error = variances.sum() / (2 * models * (models - 1))
    spread = np.square(means - centre).sum()
    if not np.isfinite(error):
        share = np.nan
    elif spread > 0:
        share = min((models - MODELS_LOST) * error / spread, 1.0)
    else:
        share = 0.0
    return np.asarray(centre + (1 - share) * (means - centre))
