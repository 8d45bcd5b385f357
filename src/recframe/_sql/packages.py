"""The packages that write queries, by name, so that type checkers do without them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from recframe.errors import MissingExtraError

try:
    ibis: Any = import_module("ibis")
    exp: Any = import_module("sqlglot.expressions")
except ImportError as error:
    what, extra = "queries of SQL", "sql"
    raise MissingExtraError.of(what, extra) from error
ops: Any = import_module("ibis.expr.operations")
