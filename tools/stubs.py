"""Writes what type checkers see of the namespace, from the records that make it at run time.

``python tools/stubs.py`` writes ``src/recframe/accessor.pyi``; ``--check`` fails if that file is out of date.
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from recframe import metrics as all_metrics
from recframe._arguments import Roles
from recframe._check import CHECK_ROLES
from recframe._evaluate import ALL_ROLES, CONTRIBUTION_ROLES, roles_of
from recframe.metrics import METRICS, CutMetric

if TYPE_CHECKING:
    from collections.abc import Iterable

STUB = Path(__file__).parent.parent / "src" / "recframe" / "accessor.pyi"

HEAD = '''"""Written by tools/stubs.py: change the metric records or the roles, then run it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, Protocol, Self, TypeVar, overload

from recframe._plan.ranks import Ties
from recframe._arguments import Like, Lists, Undefined
from recframe.metrics import Metric
{imports}

class DataFrameLike(Protocol):
    @property
    def shape(self) -> tuple[int, int]: ...

class LazyFrameLike(Protocol):
    def collect(self, *args: Any, **kwargs: Any) -> Any: ...

class RelationLike(Protocol):
    def fetchall(self) -> Any: ...

class ExpressionLike(Protocol):
    def execute(self, *args: Any, **kwargs: Any) -> Any: ...

E = TypeVar("E", bound=DataFrameLike)
L = TypeVar("L", bound=LazyFrameLike | RelationLike | ExpressionLike)

class Rec:
    def __init__(self, frame: Any, bound: dict[str, Any] | None = None) -> None: ...
    def __call__(
        self,
        *,
{call}
    ) -> Self: ...
'''

TAIL = """
@overload
def rec(frame: L) -> LazyRec[L]: ...
@overload
def rec(frame: E) -> EagerRec[E]: ...
"""

EVALUATE = """
    def evaluate(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
{roles}
    ) -> {result}: ...
"""

CHECK = """
    def check(
        self,
        k: int | None = None,
        *,
        strict: bool = False,
{roles}
    ) -> {result}: ...
"""

CONTRIBUTIONS = """
    def contributions(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
{roles}
    ) -> {result}: ...
"""


def roles(names: Iterable[str], per: str | None = None) -> list[str]:
    """Return the role arguments; `per` says whether the overload has it (given), lacks it (None) or may (any)."""
    lines = []
    for field in fields(Roles):
        if field.name not in names:
            continue
        kind = str(field.type).replace("Columns", "str | Sequence[str] | None")
        if field.name in ("score", "rank") and per is not None:
            kind = "str | None"
        if field.name == "per" and per == "given":
            lines.append("per: str | Sequence[str]")
        elif field.name == "per" and per == "none":
            lines.append("per: None = None")
        else:
            lines.append(f"{field.name}: {kind} = {field.default!r}".replace("'", '"'))
    return lines


def block(lines: Iterable[str], indent: str = "        ") -> str:
    """Return arguments, one a line."""
    return "\n".join(f"{indent}{line}," for line in lines)


def method(kind: type, *, eager: bool) -> str:
    """Return the declarations of one metric's method."""
    cut = ["k: int | None = None"] if issubclass(kind, CutMetric) else []
    options = [
        f"{field.name}: {field.type} = {field.default!r}".replace("'", '"')
        for field in fields(kind)
        if field.name != "k"
    ]
    name = kind.name  # type: ignore[attr-defined]

    def declare(per: str, result: str, decorator: str = "") -> str:
        arguments = block(["self", *cut, "*", *options, *roles(roles_of(kind), per)])
        return f"{decorator}    def {name}(\n{arguments}\n    ) -> {result}: ...\n"

    if not eager:
        return declare("any", "L")
    overload = "    @overload\n"
    return declare("none", "float", overload) + declare("given", "E", overload)


def measure(*, eager: bool) -> str:
    """Return the declarations of `measure`."""
    names = [name for name in ALL_ROLES if name != "model"]

    def declare(per: str, result: str, decorator: str = "") -> str:
        arguments = block(["self", "metric: str | Metric", "*", *roles(names, per)])
        return f"{decorator}    def measure(\n{arguments}\n    ) -> {result}: ...\n"

    if not eager:
        return declare("any", "L")
    return declare("none", "float", "    @overload\n") + declare("given", "E", "    @overload\n")


def data(variable: str) -> str:
    """Return the declarations of the methods that make frames of frames."""
    pair, order = roles(["by", "item"]), roles(["by", "item", "score", "rank", "model"], "any")
    arguments = {
        "label": (
            [f"truth: {variable}", "*", f"seen: {variable} | None = None"],
            roles(["by", "item", "relevant", "score", "rank", "value", "model"]),
        ),
        "top": (["k: int | None = None", "*", 'name: str = "rank"'], order),
        "to_lists": (["k: int | None = None", "*", "scores: bool = False"], order),
        "split": (
            [
                "*",
                "fraction: float | None = None",
                "count: int | None = None",
                "last: int | None = None",
                "since: Any = None",
                "time: str | None = None",
                "users: float | None = None",
                "min_items: int = 1",
                "seed: int = 0",
            ],
            pair,
        ),
        "add_random": (['name: str = "random"', "*", "seed: int = 0"], pair),
        "add_popular": (
            [
                f"train: {variable}",
                'name: str = "popular"',
                "*",
                "segment: str | Sequence[str] | None = None",
                "time: str | None = None",
                "half_life: timedelta | float | None = None",
                "window: timedelta | float | None = None",
            ],
            pair,
        ),
    }
    return "".join(
        f"    def {name}(\n{block(['self', *own, *shared])}\n    ) -> "
        f"{f'tuple[{variable}, {variable}]' if name == 'split' else variable}: ...\n"
        for name, (own, shared) in arguments.items()
    )


def stub() -> str:
    """Return the whole stub."""
    aliases: dict[str, str] = {}
    for kind in METRICS.values():
        module = sys.modules[kind.__module__]
        for field in fields(kind):
            if field.name != "k" and hasattr(module, str(field.type)):
                aliases.setdefault(str(field.type), kind.__module__)
    assert all_metrics.__name__ == "recframe.metrics"
    modules = sorted(set(aliases.values()))
    imports = "\n".join(
        f"from {module} import {', '.join(sorted(name for name, home in aliases.items() if home == module))}"
        for module in modules
    )
    text = HEAD.format(imports=imports, call=block(roles(ALL_ROLES)))
    for name, variable, eager in (("EagerRec", "E", True), ("LazyRec", "L", False)):
        text += f"\nclass {name}(Rec, Generic[{variable}]):\n"
        text += measure(eager=eager)
        text += EVALUATE.format(roles=block(roles(ALL_ROLES)), result=variable).lstrip("\n")
        contribution_roles = block(roles(CONTRIBUTION_ROLES)).replace("item: str =", "item: str | None =")
        text += CONTRIBUTIONS.format(roles=contribution_roles, result=variable).lstrip("\n")
        text += CHECK.format(roles=block(roles(CHECK_ROLES)), result=variable).lstrip("\n")
        text += data(variable)
        text += "".join(method(kind, eager=eager) for kind in METRICS.values())
    return text + TAIL


def main() -> int:
    """Write the stub, or with --check compare it."""
    if "--check" in sys.argv:
        current = STUB.read_text(encoding="utf-8") == stub()
        if not current:
            sys.stderr.write(f"{STUB.name} is out of date\n\nHint: python tools/stubs.py\n")
        return 0 if current else 1
    STUB.write_text(stub(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
