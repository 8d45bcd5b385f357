"""Estimate a metric on the full list from a rank among sampled items: the estimators of Krichene and Rendle, KDD 2020.

A list of n items has one relevant item, at rank r. With m of the other n - 1 items it is ranked again, at rank q. A
table gives an estimate of the metric, f(r), for each q from 1 to m + 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from recframe._base.progress import progress_bar
from recframe.errors import OptionError, check_packages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from recframe._base.roles import Estimator

    Floats = NDArray[Any]

OfRank = Callable[[float], float]
"""The value of a list whose only relevant item has a rank."""

GAMMA = 0.1
"""How much variance counts against bias in the estimator "bv"."""
MOST_ITEMS = 100_000_000
"""With this many items the estimates take minutes and about a gigabyte."""
RANKS_AT_ONCE = 20_000
"""The number of ranks to compute at a time."""


def table(value: OfRank, m: int, n: int, estimator: Estimator) -> tuple[float, ...]:
    """Return the estimates of a metric for each rank among m sampled items; a full list has n items."""
    if estimator == "rank":
        return tuple(value(1 + (n - 1) * (rank - 1) / m) for rank in range(1, m + 2))
    needed = ("numpy", "scipy") if estimator == "cls" else ("numpy",)
    if n > MOST_ITEMS:
        msg = f"`sampled={(m, n)}`: `estimator={estimator!r}` looks at each of {n:,} ranks, at most {MOST_ITEMS:,}"
        raise OptionError(msg, "`estimator='rank'`, which takes no time, or a smaller catalogue")
    check_packages(f"`estimator={estimator!r}`", "stats", *needed)
    blocks = _blocks(value, m, n)
    if estimator == "cls":
        return tuple(_falling_estimates(blocks, m))
    return tuple(_bias_variance_estimates(blocks, m, n, GAMMA if isinstance(estimator, str) else estimator))


def _blocks(value: OfRank, m: int, n: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield the ranks of the whole list in blocks: the probability of each sampled rank, and the metric's values."""
    import numpy as np

    logarithms = np.arange(n + 1, dtype=float)
    logarithms[0] = 1
    np.cumsum(np.log(logarithms, out=logarithms), out=logarithms)
    with progress_bar(n, "ranks", show=None) as step:
        for start in range(1, n + 1, RANKS_AT_ONCE):
            ranks = np.arange(start, min(start + RANKS_AT_ONCE, n + 1))
            yield _probabilities(ranks, m, n, logarithms), np.array([value(float(rank)) for rank in ranks])
            step(int(ranks[-1]))


def _probabilities(ranks: Floats, m: int, n: int, logarithms: Floats) -> Floats:
    """Return the probability of each rank among the sampled items, for each rank of the whole list."""
    import numpy as np

    def choose(of: Floats, some: Floats) -> Floats:
        """Return the logarithm of the number of ways to choose some of a number of items."""
        possible = (some >= 0) & (some <= of)
        some = np.where(possible, some, 0)
        return np.where(possible, logarithms[of] - logarithms[some] - logarithms[of - some], -np.inf)

    better = (ranks - 1)[:, None]
    ahead = np.arange(m + 1)[None, :]
    chances: Floats = np.exp(
        choose(better, ahead) + choose(n - 1 - better, m - ahead) - choose(np.array(n - 1), np.array(m))
    )
    return chances


def _bias_variance_estimates(blocks: Iterator[tuple[Floats, Floats]], m: int, n: int, gamma: float) -> Iterator[float]:
    """Return the estimates with the least squared bias plus gamma times variance, averaged over all ranks equally."""
    import numpy as np

    # If all ranks in the full list are equally likely, so are all sampled ranks.
    matrix = gamma * np.eye(m + 1) * (n / (m + 1))
    right_side = np.zeros(m + 1)
    for chances, values in blocks:
        matrix += (1 - gamma) * chances.T @ chances
        right_side += chances.T @ values
    return map(float, np.linalg.solve(matrix, right_side))


def _falling_estimates(blocks: Iterator[tuple[Floats, Floats]], m: int) -> Iterator[float]:
    """Return the estimates with the least squared bias that do not grow with the rank."""
    import numpy as np
    from scipy.optimize import nnls

    # The triangle of a QR decomposition has the same least squares, and fits into memory.
    triangle: Any = np.empty((0, m + 2))
    for chances, values in blocks:
        triangle = np.linalg.qr(np.vstack([triangle, np.column_stack([chances, values])]), mode="r")
    steps, _ = nnls(np.cumsum(triangle[:, :-1], axis=1), triangle[:, -1], maxiter=100 * (m + 1))
    return map(float, np.cumsum(steps[::-1])[::-1])
