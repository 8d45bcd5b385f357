"""Check that there are enough clusters of lists for an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._plan.query import OTHER_CLUSTER
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_clusters(cluster: str | None, per: Sequence[str], lists: Any, clusters: Any) -> None:
    """Raise if every segment is a single cluster, because then no result has an interval.

    Parameters
    ----------
    cluster : str or None
        The user's column of clusters.
    per : sequence of str
        The user's columns of segments.
    lists, clusters : array of float
        How many lists and clusters each segment has.

    Raises
    ------
    OptionError
        All lists of each segment are in one cluster.
    """
    if cluster is None or np.max(clusters, initial=0) > 1 or np.max(lists, initial=0) <= 1:
        return
    where = f"in each segment of `per={list(per)}`" if per else "in all lists"
    msg = f"`cluster={cluster!r}` has only one value {where}, and a single cluster has no interval"
    raise OptionError(msg, OTHER_CLUSTER)
