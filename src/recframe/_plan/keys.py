"""The keys of a call: what tells lists, models and the rows of a result apart. They follow from the query alone."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from recframe._columns import CLUSTER, LIST_COUNTS, MODEL, key_column
from recframe._plan import sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._query import Query
    from recframe.metrics._record import Metric


class Keys:
    """The keys of a call, by the plan's names of columns; `keys_of` keeps them for equal calls.

    Attributes
    ----------
    of_user : list of str
        The key of a list in the user's frames; empty where a frame is one list.
    of_items : list of str
        The columns of `per_item`, which are keys too.
    of_list : list of str
        The key of a list without the columns of `per_item`.
    key : list of str
        The key of a list of the plan.
    group : list of str
        The key of a list of one model.
    long : bool
        Whether the frame is in long format: models stacked, with a column that names them.
    key_names, attribute_names, list_columns : dict of str to str
        The user's names of the keys, of the columns of `per` that are none, and of the other columns that describe
        lists.
    """

    def __init__(self, query: Query) -> None:
        self._query = query
        keys, values_of_items = sources.key_names(query), sources.item_names(query)
        self.key_names = keys | values_of_items
        self.attribute_names = sources.attribute_names(query)
        self.list_columns = sources.list_columns(query)
        self.of_user, self.of_items = list(keys), list(values_of_items)
        self.of_list = self.of_user or [key_column(0)]
        self.key = [*self.of_list, *self.of_items]
        self.long = query.model is not None
        self.group = [*self.key, *([MODEL] if self.long else [])]

    @cached_property
    def per(self) -> Sequence[str]:
        """The columns of `per`, in the order of the call."""
        plans = {column: name for name, column in (self.key_names | self.attribute_names).items()}
        return [plans[column] for column in self._query.per]

    @cached_property
    def cluster(self) -> str | None:
        """The column of clusters of lists, if they are clustered: one of the key or one of its own."""
        of_key = (name for name, column in self.key_names.items() if column == self._query.cluster)
        return None if self._query.cluster is None else next(of_key, CLUSTER)

    @cached_property
    def reported(self) -> Sequence[str]:
        """What tells the rows of a result apart, for one model or for models in long format."""
        return [*self.per, *([MODEL] if self.long else [])]

    @cached_property
    def of_result(self) -> Sequence[str]:
        """What tells the rows of a result apart."""
        return [*self.per, *([MODEL] if self._query.several else [])]

    @cached_property
    def reports_lists(self) -> bool:
        """Whether the lists themselves are reported."""
        return bool(self.per) and set(self.per) == set(self.key) and not self.attribute_names

    @cached_property
    def reports_attributes(self) -> bool:
        """Whether results are reported by columns that describe lists, none of which is a key."""
        return bool(self.per) and set(self.per) <= self.attribute_names.keys()

    def names(self, metrics: Sequence[Metric]) -> dict[str, str]:
        """Return the user's names of the result's columns by the plan's names."""
        names = self.key_names | self.attribute_names
        columns = {name: column for name, column in names.items() if column in self._query.per}
        labels = {metric.column: self._query.averaging(metric.label).name for metric in metrics}
        renamed = {column: name for column, name in labels.items() if column != name}
        return columns | renamed | {column: LIST_COUNTS[column] for column in self._query.count_columns}


@sources.cached_by_query
def keys_of(query: Query) -> Keys:
    """Return the keys of a call, which equal calls share."""
    return Keys(query)
