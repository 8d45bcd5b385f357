"""Removes checks from Ibis expressions that can never matter: for nulls in columns without nulls, and for log(0).

Narwhals does not know what a column holds, so it guards each rank, sum and logarithm. The Ibis expression shows how a
column is made, and so whether a guard is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ops: Any = import_module("ibis.expr.operations")
"""By name, so that type checkers do without it."""

COUNTS = (ops.Count, ops.CountStar)


class Simpler:
    """Rewrites nodes. Facts about columns are cached, because long expressions read a column often."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Any], bool] = {}

    def simple(self, node: Any) -> Any:
        """Return a simpler node with the same values, or the node itself."""
        if isinstance(node, ops.SearchedCase):
            return self._case(node)
        if isinstance(node, ops.Or) and node.left == node.right:
            return node.left
        # A window sums columns only, not literals.
        if isinstance(node, ops.Add) and node.left.shape.is_columnar() and self._adds_nothing(node.right):
            return node.left
        divides_by_one = isinstance(node, ops.Divide) and _number(node.right) == 1 and node.left.dtype.is_floating()
        return node.left if divides_by_one else node

    def _case(self, case: Any) -> Any:
        """Return the result of a CASE whose conditions always hold, or the CASE itself."""
        if len(case.cases) == 1 and _is_null(case.default):
            (condition,) = case.cases
            (result,) = case.results
            return result if isinstance(condition, ops.NotNull) and self.never_missing(condition.arg) else case
        if isinstance(case.default, ops.Ln) and all(isinstance(each, ops.Less | ops.Equals) for each in case.cases):
            number = case.default.arg
            guards = all(each.left == number and _number(each.right) == 0 for each in case.cases)
            return case.default if guards and self.from_one(number) else case
        return case

    def _adds_nothing(self, node: Any) -> bool:
        """Return whether a node is 0 in each row: a position times 0."""
        zero = isinstance(node, ops.Multiply) and _number(node.right) == 0 and node.left.dtype.is_floating()
        return zero and self.from_one(node.left) and self.never_missing(node.left)

    def never_missing(self, node: Any) -> bool:
        """Return whether a node has a value in each row."""
        if isinstance(node, ops.Field):
            return self._of_column("never missing", node, self.never_missing)
        if isinstance(node, ops.WindowFunction):
            return isinstance(node.func, (ops.RankBase, *COUNTS)) or self._sums_itself(node)
        if isinstance(node, ops.Coalesce):
            return any(self.never_missing(each) for each in node.arg)
        parts: tuple[Any, ...] | None = None
        if isinstance(node, ops.SearchedCase):
            parts = (*node.results, node.default)
        elif isinstance(node, ops.Cast | ops.Alias):
            parts = (node.arg,)
        elif isinstance(node, ops.Add | ops.Subtract | ops.Multiply | ops.Comparison):
            parts = (node.left, node.right)
        if parts is not None:
            return all(self.never_missing(each) for each in parts)
        return isinstance(node, (ops.Unnest, *COUNTS)) or (isinstance(node, ops.Literal) and node.value is not None)

    def _sums_itself(self, window: Any) -> bool:
        """Return whether a window is a sum over rows that include the current row, so that it is never missing."""
        sums = isinstance(window.func, ops.Sum) and self.never_missing(window.func.arg)
        return sums and window.start is None and (window.end is None or _number(window.end.value) == 0)

    def from_one(self, node: Any) -> bool:
        """Return whether a node is 1 or more in each row, or missing."""
        if isinstance(node, ops.Field):
            return self._of_column("from 1", node, self.from_one)
        if isinstance(node, ops.Cast | ops.Alias):
            return node.dtype.is_numeric() and self.from_one(node.arg)
        if isinstance(node, ops.Add):
            return self.from_one(node.right) and (self.from_one(node.left) or _is_rank(node.left))
        if isinstance(node, ops.SearchedCase):
            default = _is_null(node.default) or self.from_one(node.default)
            return default and all(self.from_one(each) for each in node.results)
        if isinstance(node, ops.Unnest):
            return isinstance(node.arg, ops.IntegerRange) and _number(node.arg.start) == 1
        number = _number(node)
        return number is not None and number >= 1

    def _of_column(self, what: str, field: Any, holds: Callable[[Any], bool]) -> bool:
        """Return whether a condition holds for a column, because it holds for all expressions that make the column."""
        is_known = self._known.get((what, field))
        if is_known is None:
            is_known = what == "never missing" and _is_filtered(field)
            if not is_known:
                origins = _origins(field, joined=what != "never missing")
                is_known = bool(origins) and all(holds(origin) for origin in origins)
            self._known[what, field] = is_known
        return is_known


def _origins(field: Any, *, joined: bool) -> list[Any]:
    """Return the expressions that make a column, none for a column of a user's table.

    Columns of a joined table have none without `joined`, because a left join leaves nulls where it finds no row.
    """
    table = field.rel
    name = field.name
    if isinstance(table, ops.Project | ops.DummyTable):
        return [table.values[name]]
    if isinstance(table, ops.JoinChain):
        return _joined_origins(table.values[name], table.first, joined=joined)
    if isinstance(table, ops.Union):
        return [ops.Field(side, name) for side in (table.left, table.right)]
    if isinstance(table, ops.Filter | ops.DropColumns | ops.Sort | ops.Limit | ops.Distinct):
        return [ops.Field(table.parent, name)]
    if isinstance(table, ops.Aggregate):
        return [{**table.groups, **table.metrics}[name]]
    return []


def _joined_origins(value: Any, first: Any, *, joined: bool) -> list[Any]:
    """Return the expression of a join's column in its table. Tables other than the first one need `joined`."""
    if not isinstance(value, ops.Field):
        return [value]
    return [ops.Field(value.rel.parent, value.name)] if joined or value.rel == first else []


def _is_filtered(field: Any) -> bool:
    """Return whether a filter has removed the rows in which a column is missing."""
    if not isinstance(field.rel, ops.Filter):
        return False
    column = ops.Field(field.rel.parent, field.name)
    return any(each in (ops.NotNull(column), ops.Not(ops.IsNull(column))) for each in field.rel.predicates)


def _is_rank(node: Any) -> bool:
    """Return whether a node counts the rows before each row."""
    node = node.arg if isinstance(node, ops.Cast) else node
    return isinstance(node, ops.WindowFunction) and isinstance(node.func, ops.RankBase)


def _is_null(node: Any) -> bool:
    """Return whether a node is a literal NULL."""
    node = node.arg if isinstance(node, ops.Cast) else node
    return isinstance(node, ops.Literal) and node.value is None


def _number(node: Any) -> float | None:
    """Return the number in a literal, or None for any other node."""
    number: Any = node.value if isinstance(node, ops.Literal) and node.dtype.is_numeric() else None
    return None if number is None else float(number)
