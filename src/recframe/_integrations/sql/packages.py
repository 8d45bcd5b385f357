"""The packages that write queries. They are imported by name, so that type checkers do not need them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from recframe.errors import check_packages

# A package that is installed but broken raises its own error below.
check_packages("queries of SQL", "sql", "ibis", "packaging", "sqlglot")
ibis: Any = import_module("ibis")
exp: Any = import_module("sqlglot.expressions")
ops: Any = import_module("ibis.expr.operations")
