"""The keys of a call: the columns that identify lists, models and rows of the result."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from recframe._base.columns import CLUSTER, LIST_COUNTS, MODEL, STRATUM, key_column
from recframe._plan import sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._plan.query import Query
    from recframe.metrics._record import Metric


class Keys:
    """The keys of a call, by the plan's names of columns; `keys_of` caches them for equal calls.

    Attributes
    ----------
    of_user : list of str
        The key of a list in the user's frames; empty if a frame is a single list.
    of_items : list of str
        The columns of `per_item`, which are keys too.
    of_list : list of str
        The key of a list without the columns of `per_item`.
    key : list of str
        The key of a list in the plan, the columns of `per_item` included.
    group : list of str
        The key of one model's list: `key`, and the model in long format.
    of_rows : list of str
        The key of one model's list in the user's frame: `of_user`, and the model in long format.
    long : bool
        Whether the frame is in long format: models stacked, with a column that names them.
    key_names, attribute_names, list_columns : dict of str to str
        The user's names of three kinds of columns: keys, columns of `per` outside the key, and other columns that
        describe lists.
    """

    def __init__(self, query: Query) -> None:
        self._query = query
        keys = sources.key_names(query)
        values_of_items = sources.item_names(query)
        self.key_names = keys | values_of_items
        self.attribute_names = sources.attribute_names(query)
        self.list_columns = sources.list_columns(query)
        self.of_user = list(keys)
        self.of_items = list(values_of_items)
        self.of_list = self.of_user or [key_column(0)]
        self.key = [*self.of_list, *self.of_items]
        self.long = query.model is not None
        self.group = [*self.key, *([MODEL] if self.long else [])]
        self.of_rows = [*self.of_user, *([MODEL] if self.long else [])]

    @cached_property
    def per(self) -> Sequence[str]:
        """The columns of `per` by the plan's names, in the order of the call."""
        plans = {column: name for name, column in (self.key_names | self.attribute_names).items()}
        return [plans[column] for column in self._query.per]

    @cached_property
    def cluster(self) -> str | None:
        """The column that names the cluster of a list, a key or another column; None without clusters."""
        return self._named(self._query.cluster, CLUSTER)

    @cached_property
    def strata(self) -> list[str]:
        """The column that names the stratum of a list, a key or another column; empty without strata."""
        name = None if self._query.strata is None else self._named(self._query.strata.column, STRATUM)
        return [] if name is None else [name]

    def _named(self, column: str | None, other: str) -> str | None:
        """Return the key that is this column of the user's, or the name of a column outside the key."""
        if column is None:
            return None
        return next((name for name, key in self.key_names.items() if key == column), other)

    @cached_property
    def reported(self) -> Sequence[str]:
        """The columns that identify a mean of one model, or of models in long format."""
        return [*self.per, *self.strata, *([MODEL] if self.long else [])]

    @cached_property
    def of_result(self) -> Sequence[str]:
        """The columns that identify a mean of all models. Means of strata are averaged afterwards."""
        return [*self.per, *self.strata, *([MODEL] if self._query.several else [])]

    @cached_property
    def reports_lists(self) -> bool:
        """Whether the caller asked for one row per list (`per=by`)."""
        return bool(self.per) and set(self.per) == set(self.key) and not self.attribute_names

    @cached_property
    def reports_attributes(self) -> bool:
        """Whether every column of `per` describes lists without being a key."""
        return bool(self.per) and set(self.per) <= self.attribute_names.keys()

    def names(self, metrics: Sequence[Metric]) -> dict[str, str]:
        """Return the names that the user sees for the result's columns, by the plan's names."""
        names = self.key_names | self.attribute_names
        columns = {name: column for name, column in names.items() if column in self._query.per}
        labels = {metric.column: self._query.averaging(metric.label).name for metric in metrics}
        renamed = {column: name for column, name in labels.items() if column != name}
        return columns | renamed | {column: LIST_COUNTS[column] for column in self._query.count_columns}


@sources.cached_by_query
def keys_of(query: Query) -> Keys:
    """Return the keys of a call; equal calls share them."""
    return Keys(query)
