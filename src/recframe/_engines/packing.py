"""What the packed sorts of polars and of NumPy share: the bits of an integer, and how scores are scaled to them."""

from __future__ import annotations

import math

BITS = 62
"""The bits of a signed integer without its sign and one for the end of the last list."""
FEWEST_BITS = 8
"""The bits of a score below which too many different scores would be equal."""
MOST_BITS = 50
"""The bits of a score that a float can tell apart, rounding included."""


def scale(most: float, least: float, bits: int) -> float | None:
    """Return what makes the distances of scores whole numbers of some bits; None where they are infinite or tiny."""
    spread = most - least
    if not spread < math.inf:
        return None
    factor = (2.0**bits - 1) / spread if spread else 0.0
    return factor if factor < math.inf else None
