"""The namespace's methods that say how likely a relevance was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._base.methods import Methods
from recframe._plan.request import Request
from recframe.errors import check_packages

if TYPE_CHECKING:
    from recframe._data.methods import Frame
    from recframe.metrics.novelty import Unit


class PropensityMethods(Methods):
    """From what was recorded to the probability of its record: the methods of `Rec` for `propensity`."""

    __slots__ = ()

    def add_propensity(
        self,
        train: Frame,
        name: str = "propensity",
        *,
        power: float | None = None,
        shown: Frame | None = None,
        unit: Unit = "users",
        least: float | None = None,
        **roles: Any,
    ) -> Frame:
        """Return the frame with a column of how likely its items were observed, by their popularity.

        The propensity of an item with n users in `train` is (n / most) ** power, where most is the largest n. An item
        that nobody has counts as one with a single user.

        Parameters
        ----------
        train : frame
            Past interactions: the key and the item. Never the test data.
        name : str, default ``"propensity"``
            The new column, which may replace one, but never the key, the item or the relevance.
        power : float, optional
            0 or more; None: 0.5 (Saito et al.), unless `shown` is given. Yang et al. call it (γ + 1) / 2.
        shown : frame, optional
            The recommendations of the system that `train` was recorded on, such as each list's first 50 items. They
            estimate γ from how often items with n users are recommended.
        unit : {"users", "interactions"}
            n counts the users of an item, or its rows in `train`.
        least : float, optional
            Smaller propensities are raised to this value. A second column, ``propensity_clipped``, is true for them, so
            its sum counts them.
        **roles
            `by` and `item`, as for the metrics.

        Returns
        -------
        frame
            A frame of the same kind. Where `train` has no row, propensities are missing.

        Notes
        -----
        With `shown`, γ is the least-squares slope of log f by log n over the distinct n, where f is the mean number of
        rows in `shown` of items with n users. Left out are f = 0 and n above the interpolated 99.5 % quantile, so also
        an item with more users than any other. It takes two n.

        References
        ----------
        Yang et al., *Unbiased offline recommender evaluation for missing-not-at-random implicit feedback*, RecSys 2018,
        equation 15.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> train = pl.DataFrame({"user": [1, 2, 3, 4, 1], "item": ["a", "a", "a", "a", "b"]})
        >>> truth = pl.DataFrame({"user": [5, 5, 5], "item": ["a", "b", "c"]})
        >>> truth.rec.add_propensity(train, power=0.5).rows()
        [(5, 'a', 1.0), (5, 'b', 0.5), (5, 'c', 0.5)]
        """
        options = {"power": power, "shown": shown, "unit": unit, "least": least}
        from recframe._data import propensity

        return propensity.add_propensity(Request(self._frame, self._bound, roles), train, name, options)

    def position_bias(self, k: int | None = None, **roles: Any) -> Frame:
        """Return how likely each position is examined, from a log of clicks.

        It uses items that a list showed at different positions: their relevance stays the same, so their clicks differ
        only because of the position. Join the result to the log on the position, and pass ``propensity="propensity"``.

        Parameters
        ----------
        k : int, optional
            The last position that counts; None: all of them.
        **roles
            `by`, what decides the relevance, such as the search query; `item`; `relevant`, the click; and `rank`, the
            position. The log has a row for each time that an item was shown.

        Returns
        -------
        frame
            A row for each position: ``propensity``, scaled to a largest value of 1, and ``pairs``, how often an item
            of a list was shown at this position and at another one. Positions that no clicks link to the first ones
            have no propensity. A lazy frame for a lazy log.

        Raises
        ------
        InputError
            No item of a list is clicked at two positions.
        MissingExtraError
            NumPy is not installed.

        Notes
        -----
        In the position-based model, a click has the probability p(position) · r(list, item). If an item of a list is
        shown at i and at j, a share pᵢ / (pᵢ + pⱼ) of its click rates is expected at i. The propensities maximise the
        sum of cᵢⱼ log(pᵢ / (pᵢ + pⱼ)) over positions i ≠ j, where cᵢⱼ sums the click rates at i of all items that a
        list showed at both. A position has a propensity if a chain of positions with cᵢⱼ > 0 and cⱼᵢ > 0 links it to
        the first.

        References
        ----------
        Agarwal et al., *Estimating position bias without intrusive interventions*, WSDM 2019, there with another
        likelihood of all pairs; Bradley, Terry, Biometrika 39, 1952.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> log = pl.DataFrame({
        ...     "query": ["x"] * 8,
        ...     "item": ["a"] * 8,
        ...     "position": [1, 1, 1, 1, 2, 2, 2, 2],
        ...     "clicked": [1, 1, 1, 1, 1, 0, 0, 1],
        ... })
        >>> bias = log.rec.position_bias(by="query", relevant="clicked", rank="position")
        >>> bias.with_columns(pl.col("propensity").round(6)).rows()
        [(1, 1.0, 1), (2, 0.5, 1)]
        """
        check_packages("position_bias", "stats", "numpy")
        from recframe._data import position_bias

        return position_bias.position_bias(Request(self._frame, self._bound, roles), k)
