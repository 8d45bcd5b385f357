"""Estimates from sampled lists, from every sample that there is and by least squares of all ranks."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


def probabilities(m: int, n: int) -> np.ndarray:
    """Return how often an item of each rank among n items has each rank among m of the others."""
    result = np.zeros((n, m + 1))
    for rank in range(1, n + 1):
        others = [other for other in range(1, n + 1) if other != rank]
        for sample in combinations(others, m):
            result[rank - 1, sum(other < rank for other in sample)] += 1
    return result / result.sum(axis=1, keepdims=True)


def least_squares(value: Callable[[float], float], m: int, n: int, gamma: float) -> np.ndarray:
    """Return the table of the least squared bias plus gamma times the variance."""
    chance, expected = probabilities(m, n), np.array([value(rank) for rank in range(1, n + 1)])
    # bias² + γ·variance = (1 - γ)·bias² + γ·(what the values differ from the expected one, squared), but for a constant.
    rows = [np.sqrt(1 - gamma) * chance]
    goal = [np.sqrt(1 - gamma) * expected]
    for rank in range(n):
        rows.append(np.diag(np.sqrt(gamma * chance[rank])))
        goal.append(np.sqrt(gamma * chance[rank]) * expected[rank])
    return np.linalg.lstsq(np.vstack(rows), np.concatenate(goal), rcond=None)[0]
