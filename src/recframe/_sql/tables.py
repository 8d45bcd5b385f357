"""The tables of a call: which columns each must have, by the roles that the call names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from recframe._arguments import DEFAULT_SCORE, ROLES
from recframe._sql.packages import ibis, ops
from recframe._values import as_tuple, column_name
from recframe.errors import OptionError, OptionTypeError, closest, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recframe._arguments import Roles

ColumnType = Literal["boolean", "integer", "float", "text"]
"""What a column of a table holds, as far as SQL depends on it."""
TYPES: dict[str, str] = {"boolean": "boolean", "integer": "int64", "float": "float64", "text": "string"}
"""Of Ibis."""
NAMES = {name: f"recframe_{name}" for name in ("table", "truth", "train", "features", "catalog")}
"""What the user's tables are called until their text is put there."""


class Text:
    """What Ibis takes for the database of tables of which only the text of a query is written."""

    def __init__(self, dialect: str) -> None:
        self.name = f"{dialect}, as text"  # the adapter of Ibis knows such names


def checked_types(types: Any) -> dict[str, str]:
    """Return what columns hold, or raise for what is no type."""
    if types is not None and not isinstance(types, Mapping):
        msg = f"`types={quoted(types)}` does not name columns and what they hold"
        raise OptionTypeError(msg, "`types={'clicked': 'boolean'}`")
    for column, kind in (types or {}).items():
        column_name("types", column)
        if kind not in TYPES:
            msg = f"`types={quoted({column: kind})}` is not one of {', '.join(map(repr, TYPES))}"
            raise OptionError(msg, closest(kind, TYPES))
    return dict(types or {})


class Tables:
    """Makes tables of Ibis that have the columns of a call and no rows.

    Parameters
    ----------
    roles : Roles
        Of the call.
    named : collection of str
        The roles that the call names.
    types : dict
        The types of columns that differ from those of their roles.
    dialect : str
        The database.
    """

    def __init__(self, roles: Roles, named: Collection[str], types: Mapping[str, str], dialect: str) -> None:
        self._roles, self._named, self._types, self._dialect = roles, named, types, dialect
        self._keys = self._columns("by")

    def table(self, in_truth: Collection[str], *, truth: bool) -> Any:
        """Return the table of recommendations."""
        more = {} if truth else self._columns("relevant", "propensity", "per_item")
        lists = {name: kind for name, kind in self._of_lists().items() if name not in in_truth}
        order = self._columns("rank") or self._columns("score") or {DEFAULT_SCORE: "float"}
        others = self._columns("item") | order | self._columns("model")
        return self._made("table", self._columns("value") | more | self._columns("group") | lists | others | self._keys)

    def truth(self, in_truth: Collection[str]) -> Any:
        """Return the table of the ground truth."""
        relevance = self._columns("relevant", "propensity")
        if "relevant" not in self._named:
            del relevance[self._roles.relevant]
        lists = {name: kind for name, kind in self._of_lists().items() if name in in_truth}
        items = self._columns("per_item", "subtopic", "item")
        return self._made("truth", self._columns("value") | relevance | lists | items | self._keys)

    def train(self) -> Any:
        """Return the table of past interactions."""
        return self._made("train", self._columns("item") | self._keys)

    def features(self, columns: Sequence[str]) -> Any:
        """Return the table of features of items."""
        if not columns:
            msg = "`features=` names a table, but not which of its columns are features"
            raise OptionError(msg, "feature_columns=['drama', 'comedy']")
        return self._made("features", dict.fromkeys(columns, "float") | self._columns("item"))

    def catalog(self) -> Any:
        """Return the table of the items that could be recommended."""
        return self._made("catalog", self._columns("item"))

    def _columns(self, *roles: str) -> dict[str, str]:
        """Return the columns of roles and what they hold."""
        return {column: ROLES[role].holds for role in roles for column in as_tuple(getattr(self._roles, role))}

    def _of_lists(self) -> dict[str, str]:
        """Return the columns that describe lists."""
        return {name: kind for name, kind in self._columns("per", "weight").items() if name not in self._keys}

    def _made(self, what: str, columns: Mapping[str, str]) -> Any:
        schema = ibis.schema({name: TYPES[self._types.get(name, kind)] for name, kind in columns.items()})
        # DuckDB alone holds all queries.
        is_duckdb = self._dialect == "duckdb"
        name = NAMES[what]
        op = ops.UnboundTable(name, schema) if is_duckdb else ops.DatabaseTable(name, schema, Text(self._dialect))
        # Ranks may be stored as floats, but they number rows, and no database counts up to a float.
        cast = {name: "int64" for name, kind in columns.items() if kind == "integer" and schema[name].is_integer()}
        if self._dialect == "clickhouse":
            # Whole numbers and floats in one column are of no type there.
            cast |= {name: "float64" for name, kind in schema.items() if kind.is_floating()}
        table = op.to_expr()
        # Ibis itself would leave out a cast to the type that it believes the column has.
        return table.mutate(**{name: ops.Cast(table[name].op(), to).to_expr() for name, to in cast.items()})


def check_text(name: str, text: Any) -> str:
    """Return the text of a table, or raise."""
    if not isinstance(text, str) or not text.strip():
        msg = f"`{name}={quoted(text)}` names no table"
        raise OptionTypeError(msg, f"`{name}='recommendations'`, a table or view as SQL writes it")
    return text
