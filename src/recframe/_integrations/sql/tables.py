"""Tables of Ibis without rows, with the columns that a call reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from recframe._base.roles import DEFAULT_SCORE, ROLES
from recframe._base.values import as_tuple, column_name
from recframe._integrations.sql.packages import ibis, ops
from recframe._plan.query import RANKED_ROWS, TIED_ROWS
from recframe.errors import OptionError, OptionTypeError, closest, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recframe._base.roles import Roles

ColumnType = Literal["boolean", "integer", "float", "text"]
"""The type of a table's column, as far as the query depends on it."""
TYPES: dict[str, str] = {"boolean": "boolean", "integer": "int64", "float": "float64", "text": "string"}
"""The names of these types in Ibis."""
TABLE_NAMES = {name: f"recframe_{name}" for name in ("table", "truth", "train", "features", "catalog")}
"""Placeholder names of the user's tables, which the text of the query replaces."""


class TextBackend:
    """A stand-in for a database connection of Ibis, for queries that are only written and never run."""

    def __init__(self, dialect: str) -> None:
        self.name = f"{dialect}, as text"  # the adapter of Ibis recognises this name


def checked_types(types: Any) -> dict[str, str]:
    """Return the types of columns in `types=`, or raise if one is not a type."""
    if types is not None and not isinstance(types, Mapping):
        msg = f"`types={quoted(types)}` is not a mapping of columns to types"
        raise OptionTypeError(msg, "`types={'clicked': 'boolean'}`")
    for column, kind in (types or {}).items():
        column_name("types", column)
        if kind not in TYPES:
            msg = f"`types={quoted({column: kind})}` is not one of {', '.join(map(repr, TYPES))}"
            raise OptionError(msg, closest(kind, TYPES))
    return dict(types or {})


class Tables:
    """Makes tables of Ibis without rows, with the columns of a call.

    Parameters
    ----------
    roles : Roles
        The roles of the call.
    named : collection of str
        The roles that the call names explicitly.
    types : dict
        The types of columns, if they differ from the types of their roles.
    dialect : str
        The database.
    """

    def __init__(self, roles: Roles, named: Collection[str], types: Mapping[str, str], dialect: str) -> None:
        self._roles = roles
        self._named = named
        self._types = types
        self._dialect = dialect
        self._keys = self._columns("by")

    def table(self, in_truth: Collection[str], *, truth: bool) -> Any:
        """Return the table of recommendations. `in_truth` names its columns that a truth holds instead."""
        more = {} if truth else self._columns("relevant", "propensity", "per_item")
        lists = {name: kind for name, kind in self._list_columns().items() if name not in in_truth}
        order = self._columns("rank") or self._columns("score") or {DEFAULT_SCORE: "float"}
        others = self._columns("item") | order | self._columns("model")
        # The table may hold a frame of `from_factors`, whose counts of omitted rows belong to no role.
        counts = {name: "integer" for name in (TIED_ROWS, RANKED_ROWS) if name in self._types}
        columns = self._columns("value") | more | self._columns("group") | lists | counts | others | self._keys
        return self._build("table", columns)

    def truth(self, in_truth: Collection[str]) -> Any:
        """Return the table of the ground truth. `in_truth` names columns of `per` and `weight` that it holds."""
        relevance = self._columns("relevant", "propensity")
        if "relevant" not in self._named:
            del relevance[self._roles.relevant]
        lists = {name: kind for name, kind in self._list_columns().items() if name in in_truth}
        items = self._columns("per_item", "subtopic", "item")
        return self._build("truth", self._columns("value") | relevance | lists | items | self._keys)

    def train(self) -> Any:
        """Return the table of past interactions."""
        return self._build("train", self._columns("item") | self._keys)

    def features(self, columns: Sequence[str]) -> Any:
        """Return the table of features of items."""
        if not columns:
            msg = "`features=` names a table, but not which of its columns are features"
            raise OptionError(msg, "feature_columns=['drama', 'comedy']")
        return self._build("features", dict.fromkeys(columns, "float") | self._columns("item"))

    def catalog(self) -> Any:
        """Return the table of the items that could be recommended."""
        return self._build("catalog", self._columns("item"))

    def _columns(self, *roles: str) -> dict[str, str]:
        """Return the columns of some roles with their types."""
        return {column: ROLES[role].holds for role in roles for column in as_tuple(getattr(self._roles, role))}

    def _list_columns(self) -> dict[str, str]:
        """Return the columns that describe lists, with their types."""
        return {name: kind for name, kind in self._columns("per", "weight").items() if name not in self._keys}

    def _build(self, role: str, columns: Mapping[str, str]) -> Any:
        """Return the table of a role with these columns."""
        schema = ibis.schema({name: TYPES[self._types.get(name, kind)] for name, kind in columns.items()})
        name = TABLE_NAMES[role]
        if self._dialect == "duckdb":
            # Only DuckDB can run every query, and an unbound table is treated as one of DuckDB.
            op = ops.UnboundTable(name, schema)
        else:
            op = ops.DatabaseTable(name, schema, TextBackend(self._dialect))
        # Ranks may be stored as floats. They are cast, because no database counts up to a float.
        cast = {name: "int64" for name, kind in columns.items() if kind == "integer" and schema[name].is_integer()}
        if self._dialect == "clickhouse":
            # ClickHouse has no common type for integers and floats in one column.
            cast |= {name: "float64" for name, kind in schema.items() if kind.is_floating()}
        table = op.to_expr()
        # `ops.Cast` is used directly, because `cast()` skips a cast to the type that Ibis assumes.
        return table.mutate(**{name: ops.Cast(table[name].op(), to).to_expr() for name, to in cast.items()})


def check_text(name: str, text: Any) -> str:
    """Return the user's text for a table, or raise if it is not text."""
    if not isinstance(text, str) or not text.strip():
        msg = f"`{name}={quoted(text)}` names no table"
        raise OptionTypeError(msg, f"`{name}='recommendations'`, a table or view as SQL writes it")
    return text
