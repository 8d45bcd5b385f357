"""Train and test sets as numbers of users and items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._engines.ids import NAMED
from recframe._engines.registry import a_type, adapter_of, constructors_for, is_frame
from recframe.errors import InputError, OptionTypeError

if TYPE_CHECKING:
    from recframe._engines.ids import IdColumns

    Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Ids:
    """The users and items of the factors, and the columns that hold them."""

    columns: IdColumns
    users: Any
    items: Any
    by: str
    item: str
    relevant: str

    def pairs_of(self, frame: Any) -> tuple[Array, Array]:
        """Return the numbers of the users and the items of a frame, -1 for an unknown one."""
        look_up = self.columns.look_up
        return look_up(frame, self.by, self.users), look_up(frame, self.item, self.items)


@dataclass(frozen=True)
class Test:
    """What is relevant, each pair once, in the order of users and items."""

    users: Array
    items: Array
    relevance: Array
    ids: Any
    """The items' ids, those behind them that the model does not know."""


def listed(values: list[Any]) -> str:
    """Return some values as a message names them."""
    return ", ".join(map(repr, values))


def train_of(train: Any, ids: Ids) -> tuple[Array, Array]:
    """Return the pairs of the train set that the model knows, with repetitions."""
    if train is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if hasattr(type(train), "tocoo"):
        users, items, _ = _sparse("train", train, ids)
        return users, items
    users, items = ids.pairs_of(train)
    for role, column, known, known_rows in (("users", ids.by, ids.users, users), ("items", ids.item, ids.items, items)):
        _check_some("train", train, column, known_rows, ids, role, known)
    has_factors = (users >= 0) & (items >= 0)
    return users[has_factors], items[has_factors]


def test_of(test: Any, ids: Ids) -> Test:
    """Return the test set, after its checks."""
    if test is None:
        nothing = np.zeros(0, dtype=np.int64)
        return Test(nothing, nothing, nothing.astype(np.float64), ids.items)
    known = ids.items
    if hasattr(type(test), "tocoo"):
        users, items, relevance = _sparse("test", test, ids)
    else:
        users, items = ids.pairs_of(test)
        has_relevance = ids.relevant in list(test.columns)
        relevance = ids.columns.numbers(test, ids.relevant) if has_relevance else np.ones(len(users))
    if len(users) == 0:
        msg = "test has no rows, so there is nothing to evaluate"
        raise InputError(msg)
    if (users < 0).any():
        rows = np.flatnonzero(users < 0)
        some = listed(ids.columns.some(test, ids.by, rows[: NAMED * 100]))
        msg = f"test holds users without factors, in {len(rows)} of {len(users)} rows, such as {some}"
        raise InputError(msg, "give them factors, or leave them out of test")
    if (items < 0).any():
        _check_some("test", test, ids.item, items, ids, "items", ids.items)
        rows = np.flatnonzero(items < 0)
        known, places = ids.columns.append_unknown_ids(test, ids.item, rows, ids.items)
        items = items.copy()
        items[rows] = places
    order = np.lexsort((items, users))
    users, items, relevance = users[order], items[order], relevance[order]
    first = np.flatnonzero(np.concatenate(([True], (users[1:] != users[:-1]) | (items[1:] != items[:-1]))))
    return Test(users[first], items[first], np.maximum.reduceat(relevance, first), known)


def frame_of(train: Any, test: Any, library: str | None = None) -> Any:
    """Return the frame whose library the answer is of, the test set if it is one; None: neither is a frame."""
    model_frame = None
    for name, pairs in (("train", train), ("test", test)):
        if pairs is None or hasattr(type(pairs), "tocoo"):
            continue
        adapter = adapter_of(pairs) if is_frame(pairs) else None
        if adapter is None or not (adapter.eager and adapter.answers_with_rows):
            msg = f"{name} is {a_type(pairs)}"
            hint = "a polars or pandas DataFrame, or a SciPy sparse matrix"
            raise OptionTypeError(msg, hint if adapter is None or adapter.eager else "collect it first")
        model_frame = pairs
    # It raises where they are of two libraries.
    constructors_for((train, test), library)
    return model_frame


def _check_some(name: str, frame: Any, column: str, found: Array, ids: Ids, role: str, known: Any) -> None:
    """Raise if not one of a column's values is known: then it is another kind of id."""
    if len(found) and (found < 0).all():
        examples = listed(ids.columns.some(frame, column, np.arange(min(len(found), NAMED * 100))))
        msg = f"{name} holds none of the {role} of the factors: {column!r} holds {examples} and so on"
        raise InputError(msg, f"{role}= holds ids such as {listed(ids.columns.first(known))}")


def _sparse(name: str, matrix: Any, ids: Ids) -> tuple[Array, Array, Array]:
    expected = (len(ids.users), len(ids.items))
    if tuple(matrix.shape) != expected:
        msg = f"{name} has the shape {tuple(matrix.shape)}, but there are {expected[0]} users and {expected[1]} items"
        raise InputError(msg, "one row for each user and one column for each item")
    cells = matrix.tocoo()
    relevance = np.nan_to_num(cells.data.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    return cells.row.astype(np.int64), cells.col.astype(np.int64), relevance
