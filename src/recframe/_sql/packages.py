"""The packages that write queries, by name, so that type checkers do without them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from recframe.errors import check_packages

# What is there but broken says itself what is wrong.
check_packages("queries of SQL", "sql", "ibis", "packaging", "sqlglot")
ibis: Any = import_module("ibis")
exp: Any = import_module("sqlglot.expressions")
ops: Any = import_module("ibis.expr.operations")
