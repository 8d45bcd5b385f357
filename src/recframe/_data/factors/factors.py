"""The call `from_factors`: ids become numbers, scores are ranked block by block, and positions become a frame."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recframe._base.progress import progress_bar
from recframe._base.values import column_name, holds_values
from recframe._base.values import ids as list_of_ids
from recframe._data.factors.arrays import model_of
from recframe._data.factors.pairs import Ids, frame_of, listed, test_of, train_of
from recframe._data.factors.positions import Cells, find, rank_in_blocks
from recframe._engines.codes import distinct
from recframe._engines.registry import ids_for, labels_of
from recframe._plan.query import DEFAULT_RANK, RANKED_ROWS, TIED_ROWS, check_apart
from recframe.errors import InputError, OptionError

if TYPE_CHECKING:
    from recframe._data.factors.pairs import Test
    from recframe._data.factors.positions import Model, TestCells, Top
    from recframe._data.factors.settings import Settings

    Array = np.ndarray[Any, np.dtype[Any]]


def evaluate(
    factors: tuple[Any, Any, Any],
    users: Any,
    items: Any,
    train: Any,
    test: Any,
    roles: dict[str, str],
    settings: Settings,
    library: str | None,
) -> Any:
    """Return the frame of a model: the first k rows of each list, and all test items."""
    labels = labels_of(train, test)
    roles = {role: column_name(role, column, labels) for role, column in roles.items()}
    check_apart([*roles.values(), DEFAULT_RANK, TIED_ROWS, RANKED_ROWS], "rename a column of test")
    users, items = _ids_of_factors(factors, users, items)
    frame = frame_of(train, test, library)
    columns = ids_for(frame, library)
    ids = Ids(columns, columns.ids(users, frame, roles["by"]), columns.ids(items, frame, roles["item"]), **roles)
    _check_repeated(ids)
    model = model_of(*factors, len(ids.users), len(ids.items))
    if settings.k > model.n_items:
        msg = f"k={settings.k} is more than the {model.n_items} items"
        raise OptionError(msg, f"k={model.n_items} keeps the whole list")

    test_pairs = test_of(test, ids)
    rows = np.arange(len(ids.users)) if test is None else distinct(test_pairs.users)
    numbering = _Numbering.of(columns.order(ids.items), len(test_pairs.ids))
    test_lists = np.searchsorted(rows, test_pairs.users)
    test_rows, test_cells = _known_test_cells(test_pairs, test_lists, numbering, len(rows))
    train_cells = _train_cells(*train_of(train, ids), rows, numbering, model.n_items)
    with progress_bar(len(rows), "users", show=settings.progress) as step:
        top, cells = rank_in_blocks(_in_order(model, numbering.order), rows, train_cells, test_cells, settings, step)
    result = _result_rows(top, cells, test_lists, test_pairs, test_rows, numbering)
    numbers = {ids.relevant: result.relevance, DEFAULT_RANK: result.starts, TIED_ROWS: result.sizes}
    if settings.everywhere:
        candidates = model.n_items - np.diff(train_cells.starts)
        numbers[RANKED_ROWS] = candidates[result.lists]
    id_numbers = {ids.by: (ids.users, rows[result.lists]), ids.item: (test_pairs.ids, result.items)}
    return columns.frame(id_numbers, numbers)


def _ids_of_factors(factors: tuple[Any, Any, Any], users: Any, items: Any) -> tuple[Any, Any]:
    """Return the ids of users and items. Without ids in the call, they are the numbers of the factors' rows."""
    user_factors, item_factors, bias = factors
    if users is None:
        users = _numbers("users", user_factors)
    users = _ids("users", users)
    if items is None:
        items = _numbers("items", bias if item_factors is None else item_factors)
    return users, _ids("items", items)


class _Numbering(NamedTuple):
    """Numbers of columns for items. The items are in the order of their ids, which breaks ties between equal scores."""

    order: Array
    """The item of each column."""
    columns: Array
    """The column of each item. Items that the model does not know keep their own number."""

    @classmethod
    def of(cls, order: Array, n_ids: int) -> _Numbering:
        """Return the numbering for an order of the model's items."""
        columns = np.arange(n_ids)
        columns[order] = np.arange(len(order))
        return cls(order, columns)


class _ResultRows(NamedTuple):
    """The columns of the result, as numbers."""

    lists: Array
    items: Array
    relevance: Array
    starts: Array
    """Where the row's tied block starts, -1 if the row is not ranked or its position is not known."""
    sizes: Array
    """The size of the row's tied block, or -1."""


def _check_repeated(ids: Ids) -> None:
    """Raise if an id of a user or an item is repeated."""
    for name, values in (("users", ids.users), ("items", ids.items)):
        if repeated := ids.columns.repeated(values):
            msg = f"{name} holds {listed(repeated)} more than once"
            raise InputError(msg, "one id for each row of the factors")


def _known_test_cells(test_pairs: Test, test_lists: Array, numbering: _Numbering, n_lists: int) -> tuple[Array, Cells]:
    """Return the test pairs whose item the model knows, sorted by list and column, and their cells."""
    columns = numbering.columns[test_pairs.items]
    test_rows = np.flatnonzero(test_pairs.items < len(numbering.order))
    test_rows = test_rows[np.lexsort((columns[test_rows], test_lists[test_rows]))]
    return test_rows, Cells.of(test_lists[test_rows], columns[test_rows], n_lists)


def _result_rows(
    top: Top, test_cells: TestCells, test_lists: Array, test_pairs: Test, test_rows: Array, numbering: _Numbering
) -> _ResultRows:
    """Return the first rows of each list and all test items, each row once, sorted by list and position."""
    n_items = len(numbering.order)
    cells = test_lists[test_rows] * n_items + numbering.columns[test_pairs.items[test_rows]]
    in_test = find(top.lists * n_items + top.columns, cells)
    is_test_item = in_test >= 0
    relevance = np.zeros(len(in_test))
    relevance[is_test_item] = test_pairs.relevance[test_rows[in_test[is_test_item]]]
    starts = np.full(len(test_lists), -1)
    sizes = np.full(len(test_lists), -1)
    is_ranked = test_cells.starts > 0
    starts[test_rows[is_ranked]] = test_cells.starts[is_ranked]
    sizes[test_rows[is_ranked]] = test_cells.sizes[is_ranked]
    # Test items that are not among the first rows.
    others = np.ones(len(test_lists), dtype=bool)
    others[test_rows[in_test[is_test_item]]] = False
    rows = _ResultRows(
        lists=np.concatenate((top.lists, test_lists[others])),
        items=np.concatenate((numbering.order[top.columns], test_pairs.items[others])),
        relevance=np.concatenate((relevance, test_pairs.relevance[others])),
        starts=np.concatenate((top.starts, starts[others])),
        sizes=np.concatenate((top.sizes, sizes[others])),
    )
    position = np.where(rows.starts < 0, n_items + 1, rows.starts)
    sort = np.lexsort((numbering.columns[rows.items], position, rows.lists))
    return _ResultRows(*(column[sort] for column in rows))


def _train_cells(users: Array, items: Array, rows: Array, numbering: _Numbering, n_items: int) -> Cells:
    """Return the cells of the train set, which are left out of the lists, each once."""
    lists = np.full(len(users), -1)
    if len(users):
        number = np.full(int(max(users.max(), rows.max())) + 1, -1)
        number[rows] = np.arange(len(rows))
        lists = number[users]
    is_evaluated = lists >= 0
    cells: Array = distinct(lists[is_evaluated] * n_items + numbering.columns[items[is_evaluated]])
    return Cells.of(*np.divmod(cells, n_items), len(rows))


def _in_order(model: Model, order: Array) -> Model:
    """Return the model with its items in another order."""
    items = None if model.items is None else model.items[order]
    return replace(model, items=items, bias=None if model.bias is None else model.bias[order])


def _numbers(name: str, rows: Any) -> Array:
    """Return the numbers of the rows of factors, as ids."""
    try:
        return np.arange(len(rows))
    except TypeError:
        msg = f"{name}=None, but no factors say how many {name} there are"
        raise OptionError(msg, f"{name}=[...], one id for each") from None


def _ids(name: str, ids: Any) -> Any:
    """Return ids unchanged, or raise if they cannot be ids."""
    if holds_values(ids) and getattr(ids, "ndim", 1) == 1:
        return ids
    return list_of_ids(name, ids, f"{name}=[...], one id for each row", in_order=True)
