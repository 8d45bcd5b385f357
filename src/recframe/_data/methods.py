"""The namespace's methods that make frames of frames. What they do is imported by the first call that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._base.methods import Methods
from recframe._plan.request import Request

if TYPE_CHECKING:
    from datetime import timedelta

    from recframe._base.roles import Columns

Frame = Any
"""A frame of the same kind as the user's."""


class DataMethods(Methods):
    """From raw data to a frame: the methods of `Rec` that prepare data."""

    __slots__ = ()

    def label(self, truth: Frame, *, seen: Frame | None = None, **roles: Any) -> Frame:
        """Return recommendations together with what happened, ready for every metric.

        Each row gets the relevance that `truth` gives its key and item, or 0 if `truth` has none. Items of `truth` that
        were not recommended are added below, with a missing score. Then ``df.rec.label(truth).rec.ndcg(10)`` equals
        ``df.rec.ndcg(10, truth=truth)``, and so does every metric.

        Parameters
        ----------
        truth : frame
            What happened: the key, the item and, if present, the relevance, otherwise 1. Repeated pairs of key and item
            count once, with the largest relevance. Missing keys and items match missing ones.
        seen : frame, optional
            Pairs of key and item that users already had: they are left out of the recommendations and of `truth`.
        **roles
            `by`, `item`, `relevant`, `score` or `rank`, `value` and `model`, as for the metrics. A score is
            needed only where recommendations repeat. The value of an item is read from `truth` where both frames
            have the column `value`.

        Returns
        -------
        frame
            A frame of the same kind, with all its columns; the column `relevant` is replaced or added. An item that a
            list repeats is relevant once, where it comes first.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> recommended = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [0.9, 0.1]})
        >>> bought = pl.DataFrame({"user": [1, 1], "item": ["b", "c"]})
        >>> recommended.rec.label(bought).rows()
        [(1, 'a', 0.9, 0), (1, 'b', 0.1, 1), (1, 'c', None, 1)]
        """
        from recframe._data import label

        return label.label(Request(self._frame, self._bound, roles), truth, seen)

    def top(self, k: int | None = None, *, name: str = "rank", **roles: Any) -> Frame:
        """Return the first k rows of each list, with their rank.

        Rows with equal scores are sorted by item. Rows without a score are not recommended, so they have
        no rank and are left out.

        Parameters
        ----------
        k : int, optional
            How many rows; None: the whole list.
        name : str, default ``"rank"``
            The column of the rank, from 1. It replaces a column of this name, but never the key, the item, the
            relevance or the score.
        **roles
            `by`, `item`, `score` or `rank`, and `model`, as for the metrics.

        Returns
        -------
        frame
            A frame of the same kind, with all its columns; an eager frame is sorted by key and rank.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [0.1, 0.9, 0.9]})
        >>> df.rec.top(2).rows()
        [(1, 'b', 0.9, 1), (1, 'c', 0.9, 2)]
        """
        from recframe._data import top

        return top.top(Request(self._frame, self._bound, roles), k, name)

    def to_lists(self, k: int | None = None, *, scores: bool = False, **roles: Any) -> Frame:
        """Return one row for each list, with its items in order, the best first.

        Parameters
        ----------
        k : int, optional
            How many items at most; None: all that are ranked.
        scores : bool, default False
            Whether to give their scores (or ranks) as a second column of lists.
        **roles
            `by`, `item`, `score` or `rank`, and `model`, as for the metrics.

        Returns
        -------
        frame
            A frame of the same kind: the key, and the items as a list, which is empty if nothing is ranked.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "c"], "score": [0.1, 0.9, None]})
        >>> df.rec.to_lists().rows()
        [(1, ['b', 'a']), (2, [])]
        """
        from recframe._data import lists

        return lists.to_lists(Request(self._frame, self._bound, roles), k, scores=scores)

    def split(
        self,
        *,
        fraction: float | None = None,
        count: int | None = None,
        last: int | None = None,
        since: Any = None,
        time: str | None = None,
        users: float | None = None,
        min_items: int = 1,
        seed: int = 0,
        **roles: Any,
    ) -> tuple[Frame, Frame]:
        """Return interactions in two parts, train and test: no row is lost, none is in both.

        One argument says what goes to the test: `fraction` or `count` draws items of each user at random, `last` takes
        each user's latest items, `since` all from a point in time on, and `fraction` with `time` the latest rows of all
        users.

        Parameters
        ----------
        fraction : float, optional
            The share of each user's distinct items, between 0 and 1, rounded up. With `time`, the latest share of all
            rows: rows with the same time stay together, so the share may be larger.
        count : int, optional
            How many of each user's distinct items, or all items of a user who has no more.
        last : int, optional
            How many of each user's latest distinct items. If times are equal, the larger item is later.
        since : date, datetime, str or number, optional
            The first point in time of the test, in the unit of the column; a text is an ISO date.
        time : str, optional
            The column of time, for `last`, `since` and `fraction`. A missing time is the earliest.
        users : int or float, optional
            Test only so many users, or this share of them, drawn at random; all rows of other users go to train.
        min_items : int, default 1
            Test only users with at least this many distinct items.
        seed : int, default 0
            The same seed gives the same split of the same rows: in any order, on every engine and version.
        **roles
            `by` and `item`, as for the metrics.

        Returns
        -------
        tuple of two frames
            Train and test, frames of the same kind with all columns; rows of eager frames keep their order.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> ratings = pl.DataFrame({"user": [1, 1, 1, 2, 2], "item": list("abcab"), "day": [3, 1, 2, 1, 2]})
        >>> train, test = ratings.rec.split(last=1, time="day")
        >>> test.rows()
        [(1, 'a', 3), (2, 'b', 2)]
        >>> train, test = ratings.rec.split(fraction=0.4, seed=1)
        >>> train.height, test.height
        (2, 3)
        """
        options = {
            "fraction": fraction, "count": count, "last": last, "since": since,
            "time": time, "users": users, "min_items": min_items, "seed": seed,
        }  # fmt: skip
        from recframe._data import split

        return split.split(Request(self._frame, self._bound, roles), options)

    def add_random(self, name: str = "random", *, seed: int = 0, **roles: Any) -> Frame:
        """Return the frame with a column of random scores: the model to beat.

        Parameters
        ----------
        name : str, default ``"random"``
            The new column. It replaces a column of this name, but never the key, the item or the relevance.
        seed : int, default 0
            The same seed gives the same scores for the same keys and items, in any order, on every engine and version.
        **roles
            `by` and `item`, as for the metrics.

        Returns
        -------
        frame
            A frame of the same kind. Scores lie between 0 and 1; rows with the same key and item get the same score.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "relevant": [1, 0, 0]})
        >>> df.rec.add_random(seed=1).rec.mrr(score="random") > 0
        True
        """
        from recframe._data import baselines

        return baselines.add_random(Request(self._frame, self._bound, roles), name, seed)

    def add_popular(
        self,
        train: Frame,
        name: str = "popular",
        *,
        per: Columns = None,
        time: str | None = None,
        half_life: timedelta | float | None = None,
        window: timedelta | float | None = None,
        **roles: Any,
    ) -> Frame:
        """Return the frame with a column of how popular its items are: the model that is hard to beat.

        The score of an item is the number of users who have it in `train`, 0 if nobody has.

        Parameters
        ----------
        train : frame
            Past interactions: the key and the item. A user counts once for an item.
        name : str, default ``"popular"``
            The new column. It replaces a column of this name, but never the key, the item or the relevance.
        per : str or sequence of str, optional
            Columns of both frames: popularity is counted within each of their values, such as a country.
        time : str, optional
            The column of `train` that says when, for `half_life` and `window`. Rows without a time stay out.
        half_life : timedelta or number, optional
            After this much time a user counts half, after twice as much a quarter, back from the latest time in
            `train`.
        window : timedelta or number, optional
            Count only the last part of `train`, of this length up to its latest time.
        **roles
            `by` and `item`, as for the metrics.

        Returns
        -------
        frame
            A frame of the same kind.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> train = pl.DataFrame({"user": [1, 2, 2], "item": ["a", "a", "b"]})
        >>> pl.DataFrame({"user": [3, 3], "item": ["a", "c"]}).rec.add_popular(train).rows()
        [(3, 'a', 2.0), (3, 'c', 0.0)]
        """
        options = {"per": per, "time": time, "half_life": half_life, "window": window}
        from recframe._data import baselines

        return baselines.add_popular(Request(self._frame, self._bound, roles), train, name, options)
