"""Expressions of polars in place of the names of columns: each becomes a column of the frames that a call reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from polars import selectors as cs

from recframe._base.defaults import BY, ITEM, RELEVANT, SCORE, current
from recframe._engines.base import WithExpressions
from recframe.errors import MissingColumnError, OptionError, OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from recframe._engines.base import ExpressionCall

NAMES_IN_RESULTS = frozenset({"by", "item", "per", "per_item", "score", "rank", "model", "group"})
"""The roles whose columns name something in results, so that the expression's own name counts."""
ROLES_IN_TRUTH = frozenset({"by", "item"})
"""The roles whose columns a truth has too, so that an expression of the frame is not enough."""
ROLES_NOT_IN_TRUTH = frozenset({"score", "rank", "model"})
"""The roles whose columns no truth has."""
JUDGMENTS = ("truth", "judge")
"""The frames of judgments that a call may read in addition."""
OTHER_READERS = frozenset({"cluster", "strata", "time"})
"""The arguments of calls that name columns and are no roles."""
DEFAULT_COLUMNS = {"by": str(BY), "item": str(ITEM), "relevant": str(RELEVANT), "score": str(SCORE)}
RETURNS_ROWS = frozenset({"fuse", "top", "label", "add_random", "add_popular", "add_propensity", "split"})
"""The calls that return rows of the frame with all of their columns."""
DROPPED_NAME = "expression of {} {}"
"""The name of a column that a call reads, and that the rows it returns do not have."""


def with_expressions(
    frame: Any, arguments: Mapping[str, Any], bound: Mapping[str, Any], call: ExpressionCall
) -> WithExpressions:
    """Return the frame of a call with a column for each expression among the arguments.

    All expressions read the columns as they are, whatever the order of the arguments. Judgments that have all columns
    of an expression get the new column too. If there are judgments, only they get the column of the relevance.
    """
    expressions = {name: value for name, value in arguments.items() if name in call.roles and _has_expression(value)}
    if not expressions:
        return WithExpressions(frame, arguments, [])
    accepted = {*arguments, *call.accepted}
    others = {name: each for name, each in {**bound, **arguments}.items() if name in JUDGMENTS and name in accepted}
    columns = _Columns(frame, {**bound, **arguments}, others, call)
    named = {name: columns.add_columns(name, value) for name, value in expressions.items()}
    return WithExpressions(columns.frame, {**arguments, **named, **columns.judgments}, columns.dropped)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)))


def _has_expression(value: Any) -> bool:
    """Return whether an argument is an expression or a list that holds one."""
    several = isinstance(value, list | tuple)
    return any(isinstance(each, pl.Expr) for each in value) if several else isinstance(value, pl.Expr)


class _Columns:
    """The frames of a call, and the columns that its expressions make of them."""

    def __init__(
        self, frame: Any, arguments: Mapping[str, Any], judgments: Mapping[str, Any], call: ExpressionCall
    ) -> None:
        self._frame = frame
        self._arguments = arguments
        self._call = call.name
        self._readers = {*call.roles, *OTHER_READERS}
        self._judgments = {
            name: each for name, each in judgments.items() if isinstance(each, pl.DataFrame | pl.LazyFrame)
        }
        self._made: dict[str, dict[str, pl.Expr]] = {name: {} for name in ("frame", *self._judgments)}
        self.dropped: list[str] = []

    @property
    def frame(self) -> Any:
        """The frame with its new columns."""
        return self._frame.with_columns(**self._made["frame"]) if self._made["frame"] else self._frame

    @property
    def judgments(self) -> dict[str, Any]:
        """The judgments that have new columns."""
        made = {name: self._made[name] for name in self._judgments if self._made[name]}
        return {name: self._judgments[name].with_columns(**columns) for name, columns in made.items()}

    def add_columns(self, role: str, value: Any) -> Any:
        """Add a column for each expression in an argument, and return the argument with the columns' names instead."""
        if not isinstance(value, list | tuple):
            return (
                list(cs.expand_selector(self._frame, value))
                if cs.is_selector(value)
                else self._add_expression(role, value)
            )
        names: list[Any] = []
        for each in value:
            if cs.is_selector(each):
                names += cs.expand_selector(self._frame, each)
            else:
                names.append(self._add_expression(role, each) if isinstance(each, pl.Expr) else each)
        return names

    def _add_expression(self, role: str, value: pl.Expr) -> str:
        """Add the column that an expression makes, and return its name."""
        if value.meta.has_multiple_outputs():
            msg = f"`{role}=` is an expression of several columns"
            raise OptionTypeError(msg, f"`{role}=cs.starts_with('score_')`, a selector, or a list of expressions")
        if self._call in RETURNS_ROWS:
            return self._add_expression_of_row_call(role, value)
        if role in ROLES_IN_TRUTH and self._judgments:
            msg = f"`{role}=` is an expression, but the truth has this column too"
            raise OptionError(msg, "add the column to both frames with with_columns, and name it")
        output_name = value.meta.output_name()
        has_alias = output_name != value.meta.undo_aliases().meta.output_name()
        name = output_name if has_alias or role in NAMES_IN_RESULTS else role
        if name in self._read_by_others(role) or any(name in made for made in self._made.values()):
            msg = f"the expression of `{role}=` has the name {name!r}, which another role names"
            raise OptionError(msg, f"give it another one, with .alias('{role}')")
        self._add(role, name, value)
        return name

    def _add_expression_of_row_call(self, role: str, value: pl.Expr) -> str:
        """Add the column that an expression makes in a call that returns rows of the frame, and return its name.

        The column is dropped from the answer, except the relevance of `label`, which the call returns.
        """
        if role not in ("score", "rank") and not (role == "relevant" and self._call == "label"):
            msg = f"`{role}=` is an expression, but {self._call} returns the columns of the frame as they are"
            raise OptionTypeError(msg, "add the column to the frame first, with with_columns, and name it")
        if role == "relevant":
            self._add(role, role, value)
            return role
        name = DROPPED_NAME.format(role, len(self.dropped) + 1)
        self._add(role, name, value)
        self.dropped.append(name)
        return name

    def _add(self, role: str, name: str, value: pl.Expr) -> None:
        """Add a column to the frames that have all columns of its expression, or raise if none has."""
        roots = set(value.meta.root_names())
        judgments = {} if role in ROLES_NOT_IN_TRUTH else self._judgments
        with_judgments = {each: {*frame.collect_schema().names()} for each, frame in judgments.items()}
        having = [each for each, names in with_judgments.items() if roots and roots <= names]
        for each in having:
            self._made[each][name] = value
        if role == "relevant" and with_judgments:
            if not having:
                first, names = next(iter(with_judgments.items()))
                msg = f"`relevant=` is an expression of {_listed(roots)}, but {first} has the columns {_listed(names)}"
                raise MissingColumnError(msg, "name columns of the judgments")
            return
        if other := next((each for each, names in with_judgments.items() if each not in having and name in names), ""):
            msg = f"`{role}=` is an expression with the name {name!r}, which `{other}=` has as another column"
            raise OptionError(msg, f"give it another one, with .alias('{role}')")
        reads_schema = isinstance(self._frame, pl.DataFrame) or with_judgments
        missing = roots - {*self._frame.collect_schema().names()} if reads_schema else set()
        if not missing:
            self._made["frame"][name] = value
        elif not having:
            msg = f"`{role}=` is an expression of {_listed(missing)}, but the frame has no such column"
            hint = "give `truth=` in the same call or binding" if role == "relevant" else "name columns of the frame"
            raise MissingColumnError(msg, hint)

    def _read_by_others(self, role: str) -> set[str]:
        """Return the columns that other arguments name, given or by default."""
        arguments = {**DEFAULT_COLUMNS, **current(), **self._arguments}
        if arguments.get("rank") is not None:
            del arguments["score"]
        names: set[str] = set()
        for other, value in arguments.items():
            if other in self._readers and other != role:
                several = value if isinstance(value, list | tuple) else [value]
                names.update(each for each in several if isinstance(each, str))
        return names
