"""How `from_factors` works: ids to numbers, scores in blocks, places, and back to a frame."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._engines.registry import ids_for, labels_of
from recframe._factors.arrays import model_of
from recframe._factors.pairs import Ids, frame_of, listed, test_of, train_of
from recframe._factors.places import Cells, find, place
from recframe._progress import progress_bar
from recframe._query import DEFAULT_RANK, RANKED_ROWS, TIED_ROWS, check_apart
from recframe._values import column_name, holds_values
from recframe._values import ids as list_of_ids
from recframe.errors import InputError, OptionError

if TYPE_CHECKING:
    from recframe._factors.pairs import Test
    from recframe._factors.places import Model, TestCells, Top
    from recframe._factors.settings import Settings

    Array = np.ndarray[Any, np.dtype[Any]]


def evaluate(
    factors: tuple[Any, Any, Any],
    users: Any,
    items: Any,
    train: Any,
    test: Any,
    roles: dict[str, str],
    how: Settings,
    library: str | None,
) -> Any:
    """Return the compact frame of a model."""
    labels = labels_of(train, test)
    roles = {role: column_name(role, column, labels) for role, column in roles.items()}
    check_apart([*roles.values(), DEFAULT_RANK, TIED_ROWS, RANKED_ROWS], "rename a column of test")
    user_factors, item_factors, bias = factors
    users = _ids("users", _numbers("users", user_factors) if users is None else users)
    items = _ids("items", _numbers("items", bias if item_factors is None else item_factors) if items is None else items)
    frame = frame_of(train, test, library)
    id_columns = ids_for(frame, library)
    by, item = roles["by"], roles["item"]
    ids = Ids(id_columns, id_columns.ids(users, frame, by), id_columns.ids(items, frame, item), **roles)
    for name, values in (("users", ids.users), ("items", ids.items)):
        if twice := id_columns.repeated(values):
            msg = f"{name} holds {listed(twice)} more than once"
            raise InputError(msg, "one id for each row of the factors")
    model = model_of(*factors, len(ids.users), len(ids.items))
    if how.k > model.n_items:
        msg = f"k={how.k} is more than the {model.n_items} items"
        raise OptionError(msg, f"k={model.n_items} keeps the whole list")

    test_pairs = test_of(test, ids)
    rows = np.arange(len(ids.users)) if test is None else np.unique(test_pairs.users)
    # A column's number is its item's place in the order of the ids, so that equal scores are in the order of the items.
    order = id_columns.order(ids.items)
    columns = np.arange(len(test_pairs.ids))
    columns[order] = np.arange(model.n_items)
    lists = np.searchsorted(rows, test_pairs.users)
    test_rows = np.flatnonzero(test_pairs.items < model.n_items)
    test_rows = test_rows[np.lexsort((columns[test_pairs.items[test_rows]], lists[test_rows]))]
    test_cells = Cells.of(lists[test_rows], columns[test_pairs.items[test_rows]], len(rows))
    train_cells = _past(*train_of(train, ids), rows, columns, model)
    with progress_bar(len(rows), "users", show=how.progress) as step:
        top, cells = place(_in_order(model, order), rows, train_cells, test_cells, how, step)
    candidates = model.n_items - np.diff(train_cells.starts)
    of_list, of_item, relevance, starts, sizes = _kept(top, cells, lists, test_pairs, test_rows, columns, order)
    numbers = {roles["relevant"]: relevance, DEFAULT_RANK: starts, TIED_ROWS: sizes}
    if how.everywhere:
        numbers[RANKED_ROWS] = candidates[of_list]
    return id_columns.frame({by: (ids.users, rows[of_list]), item: (test_pairs.ids, of_item)}, numbers)


def _kept(
    top: Top, test_cells: TestCells, lists: Array, test_pairs: Test, test_rows: Array, columns: Array, order: Array
) -> list[Array]:
    """Return the first rows of each list and all test items, each row once, in order.

    Of each its list, item, relevance, and the start and the size of its tied block, -1 for no place.
    """
    cells = lists[test_rows] * len(order) + columns[test_pairs.items[test_rows]]
    in_test = find(top.lists * len(order) + top.columns, cells)
    in_top = in_test >= 0
    relevance = np.zeros(len(in_test))
    relevance[in_top] = test_pairs.relevance[test_rows[in_test[in_top]]]
    starts, sizes = (np.full(len(lists), -1) for _ in range(2))
    ranked = test_cells.starts > 0
    starts[test_rows[ranked]], sizes[test_rows[ranked]] = test_cells.starts[ranked], test_cells.sizes[ranked]
    others = np.ones(len(lists), dtype=bool)
    others[test_rows[in_test[in_top]]] = False
    of_top = top.lists, order[top.columns], relevance, top.starts, top.sizes
    of_test = lists, test_pairs.items, test_pairs.relevance, starts, sizes
    rows: list[Array] = [np.concatenate((first, test[others])) for first, test in zip(of_top, of_test, strict=True)]
    last = np.where(rows[3] < 0, len(order) + 1, rows[3])
    sort = np.lexsort((columns[rows[1]], last, rows[0]))
    return [column[sort] for column in rows]


def _past(users: Array, items: Array, rows: Array, columns: Array, model: Model) -> Cells:
    """Return what is left out of each list, once."""
    lists = np.full(len(users), -1)
    if len(users):
        number = np.full(int(max(users.max(), rows.max())) + 1, -1)
        number[rows] = np.arange(len(rows))
        lists = number[users]
    evaluated = lists >= 0
    cells = np.unique(lists[evaluated] * model.n_items + columns[items[evaluated]])
    return Cells.of(*np.divmod(cells, model.n_items), len(rows))


def _in_order(model: Model, order: Array) -> Model:
    """Return the model with its items in another order."""
    items = None if model.items is None else model.items[order]
    return replace(model, items=items, bias=None if model.bias is None else model.bias[order])


def _numbers(name: str, rows: Any) -> Array:
    """Return the numbers of the rows of factors, as ids."""
    if rows is None or not hasattr(rows, "__len__"):
        msg = f"{name}=None, but no factors say how many {name} there are"
        raise OptionError(msg, f"{name}=[...], one id for each")
    return np.arange(len(rows))


def _ids(name: str, ids: Any) -> Any:
    """Return ids as they are given, if they can be ids."""
    if holds_values(ids) and getattr(ids, "ndim", 1) == 1:
        return ids
    return list_of_ids(name, ids, f"{name}=[...], one id for each row", in_order=True)
