"""Train and test sets as pairs of numbers, for the users and the items of the factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recframe._base.roles import Roles
from recframe._engines.column_errors import missing_columns
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.ids import EXAMPLES
from recframe._engines.registry import a_type, adapter_of, constructors_for, is_frame
from recframe._plan.query import Query
from recframe.errors import DataWarning, InputError, OptionTypeError, warn

if TYPE_CHECKING:
    from recframe._engines.ids import IdColumns

    Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Ids:
    """The ids of the factors' users and items, and the names of the columns that hold such ids."""

    columns: IdColumns
    users: Any
    items: Any
    by: str
    item: str
    relevant: str

    def pairs_of(self, frame: Any) -> tuple[Array, Array]:
        """Return the numbers of a frame's users and items, -1 for an unknown id."""
        look_up = self.columns.look_up
        return look_up(frame, self.by, self.users), look_up(frame, self.item, self.items)


@dataclass(frozen=True)
class Test:
    """The relevant pairs, each once, sorted by user and item."""

    users: Array
    items: Array
    relevance: Array
    ids: Any
    """The ids of the model's items, and after them the ids of test items that the model does not know."""


def listed(values: list[Any]) -> str:
    """Return values as text for a message."""
    return ", ".join(map(repr, values))


def train_of(train: Any, ids: Ids) -> tuple[Array, Array]:
    """Return the users and items of the train set that the model knows. Pairs may repeat."""
    if train is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if hasattr(type(train), "tocoo"):
        pairs = _pairs_of_matrix("train", train, ids)
        return pairs.users, pairs.items
    users, items = ids.pairs_of(train)
    _check_some_known("train", train, ids.by, users, ids, "users", ids.users)
    _check_some_known("train", train, ids.item, items, ids, "items", ids.items)
    has_factors = (users >= 0) & (items >= 0)
    return users[has_factors], items[has_factors]


def test_of(test: Any, ids: Ids) -> Test:
    """Return the test set, or raise if it is empty or holds users without factors."""
    if test is None:
        no_pairs = np.zeros(0, dtype=np.int64)
        return Test(no_pairs, no_pairs, no_pairs.astype(np.float64), ids.items)
    item_ids = ids.items
    if hasattr(type(test), "tocoo"):
        users, items, relevance = _pairs_of_matrix("test", test, ids)
    else:
        users, items = ids.pairs_of(test)
        if ids.relevant in list(test.columns):
            relevance = ids.columns.numbers(test, ids.relevant)
        else:
            _check_relevance(test, ids)
            relevance = np.ones(len(users))
    if len(users) == 0:
        msg = "test has no rows, so there is nothing to evaluate"
        raise InputError(msg)
    if (users < 0).any():
        rows = np.flatnonzero(users < 0)
        some = listed(ids.columns.some(test, ids.by, rows[: EXAMPLES * 100]))
        msg = f"test holds users without factors, in {len(rows)} of {len(users)} rows, such as {some}"
        raise InputError(msg, "give them factors, or leave them out of test")
    if (items < 0).any():
        _check_some_known("test", test, ids.item, items, ids, "items", ids.items)
        rows = np.flatnonzero(items < 0)
        item_ids, numbers = ids.columns.append_unknown_ids(test, ids.item, rows, ids.items)
        items = items.copy()
        items[rows] = numbers
    order = np.lexsort((items, users))
    users = users[order]
    items = items[order]
    relevance = relevance[order]
    # A repeated pair counts once, with its largest relevance.
    first = np.flatnonzero(np.concatenate(([True], (users[1:] != users[:-1]) | (items[1:] != items[:-1]))))
    return Test(users[first], items[first], np.maximum.reduceat(relevance, first), item_ids)


def _check_relevance(test: Any, ids: Ids) -> None:
    """Raise or warn if a test set without relevance probably has it under another name."""
    remedy = "drop that column of test, if each row is relevant"
    specs = {
        "by": ColumnSpec(ids.by, "by", "key"),
        "item": ColumnSpec(ids.item, "item", "key"),
        "relevant": ColumnSpec(ids.relevant, "relevant", "relevance", 1.0, remedy=remedy, refuses_other_names=True),
    }
    error = missing_columns({"test": Source(test, specs)}, {"test": adapter_of(test).names(test)}, "")
    if error is not None:
        raise error
    from recframe._checks.truth_warnings import assumed_relevance

    query = Query.of(Roles(by=ids.by, item=ids.item, relevant=ids.relevant))
    for text in assumed_relevance(test, query, "test"):
        warn(f"the labels may mean nothing:\n- {text}", DataWarning)


def frame_of(train: Any, test: Any, library: str | None = None) -> Any:
    """Return the frame whose library the result uses: the test set, or the train set; None if neither is a frame."""
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
    # This raises if the two frames are of different libraries.
    constructors_for((train, test), library)
    return model_frame


def _check_some_known(name: str, frame: Any, column: str, numbers: Array, ids: Ids, role: str, known: Any) -> None:
    """Raise if no id of a column is known, because then the column holds another kind of id."""
    if len(numbers) and (numbers < 0).all():
        examples = listed(ids.columns.some(frame, column, np.arange(min(len(numbers), EXAMPLES * 100))))
        msg = f"{name} holds none of the {role} of the factors: {column!r} holds {examples} and so on"
        raise InputError(msg, f"{role}= holds ids such as {listed(ids.columns.first(known))}")


class _Pairs(NamedTuple):
    """Pairs of a user and an item with their relevance."""

    users: Array
    items: Array
    relevance: Array


def _pairs_of_matrix(name: str, matrix: Any, ids: Ids) -> _Pairs:
    """Return the pairs in a sparse matrix, or raise if its shape does not fit the ids."""
    expected = (len(ids.users), len(ids.items))
    if tuple(matrix.shape) != expected:
        msg = f"{name} has the shape {tuple(matrix.shape)}, but there are {expected[0]} users and {expected[1]} items"
        raise InputError(msg, "one row for each user and one column for each item")
    cells = matrix.tocoo()
    relevance = np.nan_to_num(cells.data.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    return _Pairs(cells.row.astype(np.int64), cells.col.astype(np.int64), relevance)
