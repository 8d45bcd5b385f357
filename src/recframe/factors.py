"""From user and item factors straight to what the metrics need, without a score for every user and item."""

from __future__ import annotations

from typing import Any, Literal

from recframe._base.defaults import BY, ITEM, RELEVANT, columns_or_defaults
from recframe._base.signatures import checked_call
from recframe.errors import check_packages

__all__ = ["from_factors"]

Positions = Literal["all", "top"]
"""Which test items get their position: all, or only those among the first k."""

MEMORY = 2**26
"""Bytes of scores to hold at a time: enough for a fast matrix product."""


def __dir__() -> list[str]:
    return list(__all__)


@checked_call
def from_factors(
    user_factors: Any,
    item_factors: Any,
    item_bias: Any = None,
    *,
    users: Any = None,
    items: Any = None,
    train: Any = None,
    test: Any = None,
    k: int = 10,
    positions: Positions = "all",
    by: str = BY,
    item: str = ITEM,
    relevant: str = RELEVANT,
    memory: int = MEMORY,
    threads: int | None = None,
    progress: bool | None = None,
    library: str | None = None,
) -> Any:
    """Evaluate a factor model: rank all items for the users of a test set, and keep what the metrics need.

    The score of an item is the product of the user's factors and the item's, plus the item's bias. Items that the user
    has in `train` are not ranked. For each user the frame keeps the top k and every test item, with their positions
    among all ranked items, so every metric has the same value as on the full table of users and items.

    Parameters
    ----------
    user_factors, item_factors : array-like
        One row each; NumPy arrays, PyTorch tensors, the matrices of implicit. Both None: the bias is the score.
    item_bias : array-like, optional
        What each item gets from every user.
    users, items : array-like, optional
        The ids of the rows, as in the frames. None: their numbers, from 0.
    train : frame or sparse matrix, optional
        Pairs of user and item that are not ranked; a SciPy matrix has one row for each of `users` and one column for
        each of `items`.
    test : frame or sparse matrix, optional
        What is relevant: user, item and maybe the relevance, else 1. Its users are evaluated; pairs that occur there
        several times count once, with the largest relevance. None: all users are served, and nothing is relevant.
    k : int
        How many of the first rows of each list to keep; where scores tie, the smaller items.
    positions : {"all", "top"}
        The position of every test item, or, for metrics with a cutoff up to k, only of those in the top k or tied with
        its last row.
    by, item, relevant : str
        The columns of the frames.
    memory : int
        About how many bytes of scores to hold at a time; at least one user's.
    threads : int, optional
        How many threads rank. None: one for each core. The matrix product uses the threads of NumPy's BLAS.
    progress : bool, optional
        Whether to show tqdm's bar on standard error. None: in a terminal, when it takes longer than a moment and tqdm
        is installed.
    library : {"polars", "pandas"}, default None
        What makes the frame where neither `test` nor `train` is one; None: polars where it is installed, else pandas.

    Returns
    -------
    frame
        Of the kind of `test` or `train` if one is a frame, with the columns `by`, `item`, `relevant`, ``rank`` (where
        the row's tied block starts), ``recframe_tied`` (the number of rows in that block) and, unless
        ``positions="top"``, ``recframe_candidates`` (the number of rows that the list ranks). Metrics find these
        columns by their names, so do not rename them. If you make the frame lazy, pass ``rank="rank"``.

    Raises
    ------
    InputError
        Shapes that do not fit, factors that are not finite, ids that occur twice, users of the test set without
        factors, an empty test set, or no id in common.
    OptionError
        An option outside its values, such as a k above the number of items.

    Notes
    -----
    A test item that the model does not know, or that is in `train`, has no rank: it counts as relevant and never
    recommended. Other ids of `train` that the model does not know have no effect.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from recframe import from_factors
    >>> test = pl.DataFrame({"user": ["ann", "bob"], "item": ["tea", "rye"]})
    >>> train = pl.DataFrame({"user": ["ann"], "item": ["jam"]})
    >>> frame = from_factors(
    ...     np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 1.0]]),
    ...     users=["ann", "bob"], items=["jam", "rye", "tea"], train=train, test=test, k=1,
    ... )
    >>> frame
    shape: (2, 6)
    ┌──────┬──────┬──────────┬──────┬───────────────┬─────────────────────┐
    │ user ┆ item ┆ relevant ┆ rank ┆ recframe_tied ┆ recframe_candidates │
    │ ---  ┆ ---  ┆ ---      ┆ ---  ┆ ---           ┆ ---                 │
    │ str  ┆ str  ┆ f64      ┆ i64  ┆ i64           ┆ i64                 │
    ╞══════╪══════╪══════════╪══════╪═══════════════╪═════════════════════╡
    │ ann  ┆ tea  ┆ 1.0      ┆ 1    ┆ 1             ┆ 2                   │
    │ bob  ┆ rye  ┆ 1.0      ┆ 1    ┆ 1             ┆ 3                   │
    └──────┴──────┴──────────┴──────┴───────────────┴─────────────────────┘
    """
    check_packages("from_factors", "factors", "numpy")
    from recframe._data.factors.factors import evaluate
    from recframe._data.factors.settings import Settings

    settings = Settings.of(k=k, positions=positions, memory=memory, threads=threads, progress=progress)
    roles = columns_or_defaults(by=by, item=item, relevant=relevant)
    factors = (user_factors, item_factors, item_bias)
    return evaluate(factors, users, items, train, test, roles, settings, library)
