"""Side information as the metrics read it: popularity, features, the users' history, the catalogue."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import (
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
    NORM,
    POPULAR,
    POPULAR_LEVEL,
    POPULARITY,
    SCORE,
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
from recframe.errors import InputError
from recframe.metrics._sums import quotient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Session
    from recframe._plan.keys import Keys
    from recframe._plan.requirements import Requirements


GREATEST_FEATURE = 1e100
"""Lengths of features are roots of sums of squares."""


class SideTables:
    """Tables of items, users and lists, made once for all models.

    Parameters
    ----------
    session : Session
        The frames, opened.
    requirements : Requirements
        What the metrics read.
    keys : Keys
        The keys of the call: that of the lists names a user.
    catalog_size : int, optional
        The items of a catalogue that is only counted.
    """

    def __init__(self, session: Session, requirements: Requirements, keys: Keys, catalog_size: int | None) -> None:
        self._session = session
        self._requirements = requirements
        self._keys = keys
        self._catalog_size = catalog_size

    @cached_property
    def _had(self) -> Frame:
        """The users and their items of the training data, each pair once."""
        train, _ = with_list_key(self._session.frames["train"], self._keys.of_user)
        return self._session.engine.collect_once(train.select(*self._keys.of_list, ITEM).unique())

    @cached_property
    def popularity(self) -> Frame:
        """The items of the training data with how many users each has, and its rank by that, ties by item."""
        counts = self._had.group_by(ITEM).agg(nw.len().alias(USERS))
        counts = counts.with_columns(nw.col(USERS).cast(nw.Float64()), nw.lit(0).alias(EVERYTHING))
        scored = counts.with_columns(nw.col(USERS).alias(SCORE))
        placed = self._session.engine.rank_rows(scored, [EVERYTHING], SCORE, None, None)
        placed = ranks.split_ties(placed, [EVERYTHING], ITEM, None, descending=False)
        popular = nw.col(START).cast(nw.Float64()).alias(POPULAR)
        level = nw.col(USERS).rank("dense", descending=True).over(EVERYTHING).cast(nw.Float64()).alias(POPULAR_LEVEL)
        return self._session.engine.collect_once(placed.select(ITEM, USERS, popular, level))

    def known(self, column: str) -> Frame:
        """Return the items of the training data with one of the numbers that say how well known each is."""
        if column == INTERACTIONS:
            counts = self._session.frames["train"].group_by(ITEM).agg(nw.len().alias(INTERACTIONS))
            return counts.with_columns(nw.col(INTERACTIONS).cast(nw.Float64()))
        if column == USERS:
            return self.popularity.select(ITEM, USERS)
        ranked = self.popularity.select(ITEM, POPULAR, nw.lit(0).alias(EVERYTHING))
        return ranked.select(ITEM, quotient(nw.col(POPULAR), nw.col(POPULAR).max().over(EVERYTHING)).alias(POPULARITY))

    def with_popularity(self, rows: Frame, item: str) -> Frame:
        """Add each item's ranks by popularity, the first infinite for one that the training data lack."""
        rows = self._session.engine.join(rows, self.popularity.select(item, POPULAR, POPULAR_LEVEL), [item])
        return rows.with_columns(nw.col(POPULAR).fill_null(math.inf))

    @cached_property
    def _train_users(self) -> Frame:
        users = self._had.select(*self._keys.of_list).unique()
        return self._session.engine.collect_once(users.select(nw.len().cast(nw.Float64()).alias(TRAIN_USERS)))

    @cached_property
    def described(self) -> Frame:
        """The items that have features: scaled to length 1, and to a sum of 1."""
        self.check_features()
        names = numbered(self._requirements.feature_count, feature_column)
        frame = self._session.frames["features"].select(ITEM, *names)
        frame = frame.with_columns(nw.col(*names).cast(nw.Float64()).fill_nan(None))
        has_feature = nw.any_horizontal(*(~nw.col(name).is_null() for name in names), ignore_nulls=True)
        frame = frame.filter(has_feature).with_columns(nw.col(*names).fill_null(0.0))
        frame = self._once(frame)
        length = nw.sum_horizontal(*(nw.col(name) * nw.col(name) for name in names)).sqrt()
        whole = nw.when(nw.min_horizontal(*names) < 0).then(nw.lit(math.nan)).otherwise(nw.sum_horizontal(*names))
        frame = frame.with_columns(length.alias(NORM), whole.alias(FEATURE_SUM))
        scaled = [
            nw.when(nw.col(size) == 0).then(0.0).otherwise(nw.col(name) / nw.col(size)).alias(column(index))
            for size, column in ((NORM, direction_column), (FEATURE_SUM, share_column))
            for index, name in enumerate(names)
        ]
        sizes = {UNIT: NORM, CATEGORISED: FEATURE_SUM}
        flags = ((nw.col(size) != 0).cast(nw.Float64()).alias(name) for name, size in sizes.items())
        return self._session.engine.collect_once(frame.select(ITEM, *scaled, nw.lit(1.0).alias(DESCRIBED), *flags))

    def _once(self, frame: Frame) -> Frame:
        """Take each item's features once; those that disagree or are too large raise, or are NaN in lazy frames."""
        names = numbered(self._requirements.feature_count, feature_column)
        frame = self._session.engine.collect_once(frame.unique())
        items = frame.group_by(ITEM).agg(nw.col(*names).max(), nw.len().alias(COUNT))
        count = self._session.engine.value_now(items.filter(nw.col(COUNT) > 1).select(nw.len()))
        if count:
            msg = f"features has different rows for the same item, for {count} item{'s' if count > 1 else ''}"
            raise InputError(msg, "keep one row per item")
        largest = nw.max_horizontal(*(nw.col(name).abs() for name in names))
        usable = nw.when((nw.col(COUNT) == 1) & (largest <= GREATEST_FEATURE))
        return items.with_columns(
            *(usable.then(nw.col(name)).otherwise(nw.lit(math.nan)).alias(name) for name in names)
        )

    def history(self, lists: Frame, group: Sequence[str]) -> Frame:
        """Return the described items that the users of lists had, by the keys of the lists."""
        had, on = matched(self._session.engine, self._had, self.described, [ITEM]), self._keys.of_list
        users = lists.select(*group).unique()
        # Users without a list would add lists that the frame does not have; those without a past add nothing.
        return (
            matched(self._session.engine, users, had, on)
            if self._keys.of_user
            else users.join(had.drop(*on), how="cross")
        )

    def with_familiarity(self, rows: Frame) -> Frame:
        """Add the mean cosine of each item with those that the list's user had; of a zero vector it is 0."""
        names, users = numbered(self._requirements.feature_count, direction_column), self._keys.of_list
        profiles = {name: f"{FAMILIAR} {name}" for name in names}
        described = self.described.select(ITEM, *names)
        had = self._session.engine.join(self._had, described, [ITEM]).with_columns(nw.lit(1.0).alias(COUNT))
        had = had.with_columns(nw.col(*names).fill_null(0.0))
        sums = self._session.engine.sum_exactly(had, users, [*names, COUNT])
        means = sums.select(*users, *((nw.col(name) / nw.col(COUNT)).alias(profiles[name]) for name in names))
        rows = self._session.engine.join(self._session.engine.join(rows, described, [ITEM]), means, users)
        products = (nw.col(name) * nw.col(profiles[name]) for name in names)
        cosine = nw.sum_horizontal(*products).fill_null(0.0).alias(FAMILIAR)
        return rows.with_columns(cosine).drop(*names, *profiles.values())

    def check_categories(self, label: str) -> None:
        """Raise for features that are no shares of categories, where the data can be seen."""
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
        """The frame that holds every item of the user's frame, which may hold a part of its rows."""
        return self._session.frames.get("items", self._session.frames["frame"])

    def catalog(self) -> Frame | None:
        """Return the items of a catalogue that names them."""
        return self._session.frames["catalog"].select(ITEM).unique() if "catalog" in self._session.frames else None

    def counted(self, items: Frame) -> Frame:
        """Set sums of the items that a given catalogue lacks to 0: those of the metrics that count its items alone."""
        catalog, sums = self.catalog(), self._requirements.catalog_sums
        if catalog is None or not sums:
            return items
        named = nw.when(is_matched()).then
        items = marked(self._session.engine, items, catalog, [ITEM])
        return items.with_columns(*(named(nw.col(name)).otherwise(0.0).alias(name) for name in sums)).drop(LISTED)

    def check_features(self) -> None:
        """Raise for features whose squares are infinite, where the data can be seen."""
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
        """Add the number of users and of rows of the training data, where a metric reads it."""
        if TRAIN_ROWS in self._requirements.requested:
            train = self._session.frames["train"]
            lists = lists.join(train.select(nw.len().cast(nw.Float64()).alias(TRAIN_ROWS)), how="cross")
        return lists.join(self._train_users, how="cross") if TRAIN_USERS in self._requirements.requested else lists

    def with_catalog_size(self, groups: Frame, recommended: Frame) -> Frame:
        """Add the number of items of the catalogue, where a metric reads it.

        One that is less than what is recommended is an error, and NaN where the data cannot be seen.
        """
        if CATALOG_SIZE not in self._requirements.requested:
            return groups
        size, catalog = self._catalog_size, self.catalog()
        if size is None:
            items = self.frame_of_items.select(ITEM).unique() if catalog is None else catalog
            return groups.join(items.select(nw.len().cast(nw.Float64()).alias(CATALOG_SIZE)), how="cross")
        served = recommended.select(nw.col(ITEM).n_unique().cast(nw.Int64()).alias(COUNT))
        count = self._session.engine.value_now(served)
        if count is not None and count > size:
            msg = f"`catalog={size}` is less than the {count} items that lists recommend"
            raise InputError(msg, "count all items that could be recommended, or give the items themselves")
        # SQL has no number where there is no row.
        number = nw.when(nw.col(COUNT).fill_null(0) <= size).then(nw.lit(float(size))).otherwise(nw.lit(math.nan))
        return groups.join(served.select(number.alias(CATALOG_SIZE)), how="cross")
