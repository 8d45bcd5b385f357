"""Side information in the form that metrics read: popularity, features, the users' history, the catalogue."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    CATALOG_SIZE,
    CATEGORISED,
    COUNT,
    DESCRIBED,
    EVERYTHING,
    FAMILIAR,
    FEATURE_SUM,
    GREATEST,
    INTERACTIONS,
    ITEM,
    LEAST,
    LISTED,
    MOST,
    NORM,
    OTHER,
    POPULAR,
    POPULAR_LEVEL,
    POPULARITY,
    ROW,
    SCORE,
    SIMILARITY,
    START,
    TRAIN_ROWS,
    TRAIN_USERS,
    UNIT,
    USERS,
    direction_column,
    feature_column,
    numbered,
    share_column,
)
from recframe._plan import ranks
from recframe._plan.matches import is_matched, marked, matched
from recframe._plan.sources import with_list_key
from recframe._plan.sum_columns import constant
from recframe.errors import InputError
from recframe.metrics._sums import quotient, sum_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Session
    from recframe._plan.keys import Keys
    from recframe._plan.requirements import Requirements


ROUNDED_BY = 1e-6
"""How far a similarity may be beyond 1, and from the other order of its pair: as far as floats of 32 bits round."""
GREATEST_FEATURE = 1e100
"""The largest feature. Squares of larger numbers could be infinite."""


class SideTables:
    """Tables of items, users and lists, computed once for all models.

    Parameters
    ----------
    session : Session
        The frames, opened.
    requirements : Requirements
        What the metrics read.
    keys : Keys
        The keys of the call. The key of a list identifies a user.
    catalog_size : int, optional
        The number of items, if `catalog=` is a number.
    """

    def __init__(self, session: Session, requirements: Requirements, keys: Keys, catalog_size: int | None) -> None:
        self._session = session
        self._requirements = requirements
        self._keys = keys
        self._catalog_size = catalog_size

    @cached_property
    def _had(self) -> Frame:
        """The distinct pairs of a user and an item in the training data."""
        train, _ = with_list_key(self._session.frames["train"], self._keys.of_user)
        return self._session.engine.collect_once(self._session.engine.distinct(train, [*self._keys.of_list, ITEM]))

    @cached_property
    def popularity(self) -> Frame:
        """The items of the training data with their numbers of users, and their ranks by it, ties broken by item."""
        counts = self._had.group_by(ITEM).agg(nw.len().alias(USERS))
        counts = counts.with_columns(nw.col(USERS).cast(nw.Float64()), nw.lit(0).alias(EVERYTHING))
        scored = counts.with_columns(nw.col(USERS).alias(SCORE))
        placed = self._session.engine.rank_rows(scored, [EVERYTHING], SCORE, None, None)
        placed = ranks.split_ties(placed, [EVERYTHING], ITEM, None, descending=False)
        popular = nw.col(START).cast(nw.Float64()).alias(POPULAR)
        level = nw.col(USERS).rank("dense", descending=True).over(EVERYTHING).cast(nw.Float64()).alias(POPULAR_LEVEL)
        return self._session.engine.collect_once(placed.select(ITEM, USERS, popular, level))

    def known(self, column: str) -> Frame:
        """Return the items of the training data with a measure of popularity: users, interactions or relative rank."""
        if column == INTERACTIONS:
            counts = self._session.frames["train"].group_by(ITEM).agg(nw.len().alias(INTERACTIONS))
            return counts.with_columns(nw.col(INTERACTIONS).cast(nw.Float64()))
        if column == USERS:
            return self.popularity.select(ITEM, USERS)
        ranked = self.popularity.select(ITEM, POPULAR, nw.lit(0).alias(EVERYTHING))
        return ranked.select(ITEM, quotient(nw.col(POPULAR), nw.col(POPULAR).max().over(EVERYTHING)).alias(POPULARITY))

    def with_popularity(self, rows: Frame, item: str) -> Frame:
        """Add each item's two ranks by popularity. An item that the training data lack gets an infinite POPULAR."""
        rows = self._session.engine.join(rows, self.popularity.select(item, POPULAR, POPULAR_LEVEL), [item])
        return rows.with_columns(nw.col(POPULAR).fill_null(math.inf))

    @cached_property
    def _train_users(self) -> Frame:
        """One row with the number of users in the training data."""
        users = self._session.engine.distinct(self._had, self._keys.of_list)
        return self._session.engine.collect_once(users.select(nw.len().cast(nw.Float64()).alias(TRAIN_USERS)))

    @cached_property
    def described(self) -> Frame:
        """The items that have features, with two scalings of them: to length 1, and to a sum of 1."""
        self.check_features()
        names = numbered(self._requirements.feature_count, feature_column)
        frame = self._session.frames["features"].select(ITEM, *names)
        frame = frame.with_columns(nw.col(*names).cast(nw.Float64()).fill_nan(None))
        has_feature = nw.any_horizontal(*(~nw.col(name).is_null() for name in names), ignore_nulls=True)
        frame = frame.filter(has_feature).with_columns(nw.col(*names).fill_null(0.0))
        frame = self._one_row_per_item(frame)
        length = sum_of(nw.col(name) * nw.col(name) for name in names).sqrt()
        # Spark has the least and the greatest of two columns or more.
        total = (
            nw.when(nw.min_horizontal(nw.lit(0.0), *names) < 0)
            .then(nw.lit(math.nan))
            .otherwise(sum_of(map(nw.col, names)))
        )
        frame = frame.with_columns(length.alias(NORM), total.alias(FEATURE_SUM))
        scaled = [
            nw.when(nw.col(size) == 0).then(0.0).otherwise(nw.col(name) / nw.col(size)).alias(column(index))
            for size, column in ((NORM, direction_column), (FEATURE_SUM, share_column))
            for index, name in enumerate(names)
        ]
        sizes = {UNIT: NORM, CATEGORISED: FEATURE_SUM}
        flags = ((nw.col(size) != 0).cast(nw.Float64()).alias(name) for name, size in sizes.items())
        return self._session.engine.collect_once(frame.select(ITEM, *scaled, nw.lit(1.0).alias(DESCRIBED), *flags))

    def _one_row_per_item(self, frame: Frame) -> Frame:
        """Return one row per item, or raise for items with different rows.

        In lazy frames, features that differ or are too large become NaN.
        """
        names = numbered(self._requirements.feature_count, feature_column)
        frame = self._session.engine.collect_once(frame.unique())
        items = frame.group_by(ITEM).agg(nw.col(*names).max(), nw.len().alias(COUNT))
        count = self._session.engine.value_now(items.filter(nw.col(COUNT) > 1).select(nw.len()))
        if count:
            msg = f"features has different rows for the same item, for {count} item{'s' if count > 1 else ''}"
            raise InputError(msg, "keep one row per item")
        largest = nw.max_horizontal(nw.lit(0.0), *(nw.col(name).abs() for name in names))
        usable = nw.when((nw.col(COUNT) == 1) & (largest <= GREATEST_FEATURE))
        return items.with_columns(
            *(usable.then(nw.col(name)).otherwise(nw.lit(math.nan)).alias(name) for name in names)
        )

    @cached_property
    def similarities(self) -> Frame:
        """The pairs of different items in both orders, each with its similarity."""
        frames = self._session.frames
        engine = self._session.engine
        others = frames["others"].select(ROW, nw.col(ITEM).alias(OTHER))
        rows = frames["features"].select(ROW, ITEM, nw.col(feature_column(0)).cast(nw.Float64()).alias(SIMILARITY))
        rows = rows.join(others, on=ROW, how="inner")
        similarity = nw.col(SIMILARITY)
        rows = rows.filter(nw.col(ITEM) != nw.col(OTHER), ~similarity.is_null(), ~similarity.is_nan())
        turned = rows.select(nw.col(OTHER).alias(ITEM), nw.col(ITEM).alias(OTHER), SIMILARITY)
        both = engine.stack([rows.select(ITEM, OTHER, SIMILARITY), turned])
        pairs = both.group_by(ITEM, OTHER).agg(similarity.min().alias(LEAST), similarity.max().alias(MOST))
        pairs = engine.collect_once(pairs)
        for extreme in (nw.col(LEAST).min(), nw.col(MOST).max()):
            extreme_value = engine.scalar(pairs.select(extreme))
            if extreme_value is not None and abs(extreme_value) > 1 + ROUNDED_BY:
                msg = f"features holds the similarity {extreme_value:g}, but a similarity is a number from -1 to 1"
                raise InputError(msg, "divide the similarities by the largest, or turn distances into similarities")
        count = engine.scalar(pairs.filter(nw.col(MOST) - nw.col(LEAST) > ROUNDED_BY).select(nw.len()))
        if count:
            some = "1 pair" if count == 2 else f"{count // 2} pairs"  # noqa: PLR2004 - both orders
            msg = f"features holds {some} of items with different similarities, but a pair is the same in both orders"
            raise InputError(msg, "keep one row per pair, such as the mean of both orders")
        mean = (nw.col(LEAST) + nw.col(MOST)) / 2
        return pairs.select(ITEM, OTHER, mean.clip(-1.0, 1.0).alias(SIMILARITY))

    def history(self, lists: Frame, group: Sequence[str]) -> Frame:
        """Return the items with features in the history of each list's user, by the key of the list."""
        had = matched(self._session.engine, self._had, self.described, [ITEM])
        on = self._keys.of_list
        users = lists.select(*group).unique()
        if not self._keys.of_user:
            return users.join(had.drop(*on), how="cross")
        # An inner join: users without a list must not add lists, and users without a history add nothing.
        return matched(self._session.engine, users, had, on)

    def with_familiarity(self, rows: Frame) -> Frame:
        """Add each item's mean cosine with the items that the list's user had. The cosine with a zero vector is 0."""
        names = numbered(self._requirements.feature_count, direction_column)
        users = self._keys.of_list
        profiles = {name: f"{FAMILIAR} {name}" for name in names}
        described = self.described.select(ITEM, *names)
        had = self._session.engine.join(self._had, described, [ITEM]).with_columns(nw.lit(1.0).alias(COUNT))
        had = had.with_columns(nw.col(*names).fill_null(0.0))
        sums = self._session.engine.sum_exactly(had, users, [*names, COUNT])
        means = sums.select(*users, *((nw.col(name) / nw.col(COUNT)).alias(profiles[name]) for name in names))
        rows = self._session.engine.join(self._session.engine.join(rows, described, [ITEM]), means, users)
        products = (nw.col(name) * nw.col(profiles[name]) for name in names)
        cosine = sum_of(products).fill_null(0.0).alias(FAMILIAR)
        return rows.with_columns(cosine).drop(*names, *profiles.values())

    def check_categories(self, label: str) -> None:
        """Raise for negative features in an eager frame, because they are no shares of categories."""
        if not self._session.engine.eager:
            return
        names = numbered(self._requirements.feature_count, feature_column)
        least = self._session.frames["features"].select(nw.min_horizontal(*names).alias(LEAST))
        lowest = self._session.engine.scalar(least.select(nw.col(LEAST).min()))
        if lowest is not None and lowest < 0:
            msg = f"features holds {lowest}, but {label} reads each column as a category's share, from 0"
            raise InputError(msg, "give one column per category, such as 0 and 1 for genres")

    @property
    def frame_of_items(self) -> Frame:
        """A frame with every item of the user's frame, also if the user's frame is read part by part."""
        return self._session.frames.get("items", self._session.frames["frame"])

    def catalog(self) -> Frame | None:
        """Return the items of `catalog=`, or None if it is left out or is a number."""
        return self._session.frames["catalog"].select(ITEM).unique() if "catalog" in self._session.frames else None

    def counted(self, items: Frame) -> Frame:
        """Return the items with sums of 0 outside the catalogue, for metrics that count only catalogue items."""
        catalog = self.catalog()
        sums = self._requirements.catalog_sums
        if catalog is None or not sums:
            return items
        items = marked(self._session.engine, items, catalog, [ITEM])
        counted = (nw.when(is_matched()).then(nw.col(name)).otherwise(0.0).alias(name) for name in sums)
        return items.with_columns(*counted).drop(LISTED)

    def check_features(self) -> None:
        """Raise for features in an eager frame that are too large to be squared."""
        if not self._session.engine.eager:
            return
        names = numbered(self._requirements.feature_count, feature_column)
        numbers = (nw.col(name).cast(nw.Float64()).fill_nan(None) for name in names)
        table = self._session.frames["features"].select(*numbers)
        ends = table.select(nw.min_horizontal(*names).alias(LEAST), nw.max_horizontal(*names).alias(GREATEST))
        extremes = (nw.col(LEAST).min(), nw.col(GREATEST).max())
        for feature in (self._session.engine.scalar(ends.select(extreme)) for extreme in extremes):
            if feature is not None and abs(feature) > GREATEST_FEATURE:
                limit = f"from {-GREATEST_FEATURE:g} to {GREATEST_FEATURE:g}"
                msg = f"features holds {feature:g}, but a feature is a number {limit}"
                raise InputError(msg, "scale the features, such as to a mean of 0 and a deviation of 1")

    def with_users(self, lists: Frame) -> Frame:
        """Add the numbers of rows and users in the training data, if a metric reads them."""
        if TRAIN_ROWS in self._requirements.requested:
            train = self._session.frames["train"]
            lists = lists.join(train.select(nw.len().cast(nw.Float64()).alias(TRAIN_ROWS)), how="cross")
        return lists.join(self._train_users, how="cross") if TRAIN_USERS in self._requirements.requested else lists

    def with_unchecked_catalog_size(self, rows: Frame) -> Frame:
        """Add the number of catalogue items, even a number below the count of recommended items."""
        if self._catalog_size is not None:
            return rows.with_columns(constant(CATALOG_SIZE, float(self._catalog_size)))
        catalog = self.catalog()
        items = self.frame_of_items.select(ITEM).unique() if catalog is None else catalog
        return rows.join(items.select(nw.len().cast(nw.Float64()).alias(CATALOG_SIZE)), how="cross")

    def with_catalog_size(self, groups: Frame, recommended: Frame) -> Frame:
        """Add the number of catalogue items, if a metric reads it.

        A number below the count of recommended items raises; on lazy frames it becomes NaN.
        """
        if CATALOG_SIZE not in self._requirements.requested:
            return groups
        size = self._catalog_size
        if size is None:
            return self.with_unchecked_catalog_size(groups)
        served = recommended.select(nw.col(ITEM).n_unique().cast(nw.Int64()).alias(COUNT))
        count = self._session.engine.value_now(served)
        if count is not None and count > size:
            msg = f"`catalog={size}` is less than the {count} items that lists recommend"
            raise InputError(msg, "count all items that could be recommended, or give the items themselves")
        # In SQL, the count of no rows is missing.
        number = nw.when(nw.col(COUNT).fill_null(0) <= size).then(nw.lit(float(size))).otherwise(nw.lit(math.nan))
        return groups.join(served.select(number.alias(CATALOG_SIZE)), how="cross")
