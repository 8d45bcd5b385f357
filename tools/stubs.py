"""Writes what type checkers see of the namespace, `Config` and expressions, from what makes them at run time.

``python tools/stubs.py`` writes ``accessor.pyi``, ``config.pyi`` and ``expr.pyi`` in ``src/recframe``; ``--check``
fails if one is out of date.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from recframe._base.roles import CALL_ROLES, COLUMN_ROLES, CONFIG_ROLES, Roles, roles_of
from recframe._display.data import MEANS
from recframe._display.plot import PLOTS, Plot
from recframe._integrations.expressions.calls import CALLS, EXPRESSION_METRICS, EXPRESSION_POLICIES
from recframe.accessor import Rec
from recframe.metrics import METRICS, CutMetric

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH = 121
"""The longest line, with its end."""
CHARTS = "ChartRoles"
"""The keyword arguments of charts without segments."""
STUB = Path(__file__).parent.parent / "src" / "recframe" / "accessor.pyi"

WITH_EXPRESSIONS = {
    "str": "Column",
    "str | None": "Column | None",
    "Columns": "Column | Sequence[Column] | None",
    "str | Sequence[str] | None": "Column | Sequence[Column] | None",
}
"""The types of roles that name columns, by the types of the names alone."""

HEAD = '''"""Written by tools/stubs.py: change the metric records, the roles or the accessor, then run it.

A metric is a float on an eager frame, and a frame where `per` is given. So each metric has two overloads, which differ
in their roles: without `per` (`MeanRoles`) or with it (`SegmentRoles`). A lazy frame gives frames for both.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, Literal, Protocol, Required, Self, TypeAlias, TypedDict, TypeVar, Unpack, overload

import altair as alt
import pandas as pd
import polars as pl

from recframe._base.roles import Columns, Estimator, FusionMethod, FusionNorm, Like, Lists, MeanKind, Ties, Undefined
from recframe.metrics import Metric
{imports}

class PolarsFrame(Protocol):
    def write_ipc(self, *args: Any, **kwargs: Any) -> Any: ...

class PolarsLazyFrame(Protocol):
    def sink_ipc(self, *args: Any, **kwargs: Any) -> Any: ...

class PandasFrame(Protocol):
    def to_stata(self, *args: Any, **kwargs: Any) -> Any: ...

Column: TypeAlias = str | pl.Expr
E = TypeVar("E")
L = TypeVar("L")
Same_co = TypeVar("Same_co", covariant=True)

class LazyFrameLike(Protocol[Same_co]):
    def limit(self, *args: Any, **kwargs: Any) -> Same_co: ...

class TableLike(Protocol[Same_co]):
    def slice(self, *args: Any, **kwargs: Any) -> Same_co: ...

class ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

Frame = TypeVar("Frame")
Mean = TypeVar("Mean")

{roles}

{plot}
class Rec(Generic[Mean, Frame]):
    def __init__(self, frame: Frame, bound: dict[str, Any] | None = None) -> None: ...
    @property
    def plot(self) -> Plot: ...
    def __call__(self, **roles: Unpack[EvaluateRoles]) -> Self: ...
'''

# Not every type checker solves a bounded type variable behind `frame.pipe(rec)`, so no overload has one. Frames are
# known by a method, as the name of a library that is not installed would match every frame. Those of DuckDB, Ibis,
# Spark and Arrow have a method that returns such a frame.
TAIL = """class EagerRec(Rec[float, E], Generic[E]): ...
class LazyRec(Rec[L, L], Generic[L]): ...

@overload
def rec(frame: PolarsFrame, *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> EagerRec[pl.DataFrame]: ...
@overload
def rec(frame: PolarsLazyFrame, *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> LazyRec[pl.LazyFrame]: ...
@overload
def rec(frame: PandasFrame, *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> EagerRec[pd.DataFrame]: ...
@overload
def rec(frame: LazyFrameLike[L], *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> LazyRec[L]: ...
@overload
def rec(frame: TableLike[E], *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> EagerRec[E]: ...
@overload
def rec(frame: Mapping[str, Any], *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> Rec[Any, Any]: ...
@overload
def rec(frame: ArrowStream, *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> EagerRec[Any]: ...
"""

CONFIG = '''"""Written by tools/stubs.py: change the roles or the class, then run it."""

from collections.abc import Sequence
from typing import Any, Literal, Self, TypedDict, Unpack

from recframe._base.roles import Columns, Estimator, Like, Lists, MeanKind, Ties, Undefined

{roles}
class Config:
    def __init__(self, *, library: Literal["polars", "pandas"] | None = None, **roles: Unpack[ConfigRoles]) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *raised: object) -> None: ...
    @classmethod
    def set(
        cls, *, library: Literal["polars", "pandas"] | None = None, **roles: Unpack[ConfigRoles]
    ) -> type[Config]: ...
    @classmethod
    def restore_defaults(cls) -> type[Config]: ...
    @classmethod
    def state(cls) -> dict[str, Any]: ...
'''


EXPR = '''"""Written by tools/stubs.py: change the metric records or the roles, then run it."""

from collections.abc import Sequence
from typing import Literal, TypedDict, Unpack

import polars as pl

from recframe._base.roles import Undefined
from recframe._integrations.expressions.checks import ExpressionTies
from recframe.metrics import Metric
{imports}

{roles}
'''


def role_types(names: Iterable[str], *, expressions: bool = True) -> dict[str, str]:
    """Return the types of roles; with `expressions`, expressions of polars may stand for the names of columns."""
    types = {field.name: str(field.type) for field in fields(Roles) if field.name in names}
    return {
        name: WITH_EXPRESSIONS[kind] if expressions and name in COLUMN_ROLES else kind for name, kind in types.items()
    }


def typed_dict(name: str, types: dict[str, str], base: str = "TypedDict, total=False") -> str:
    """Return the declaration of the keyword arguments of a call."""
    return f"class {name}({base}):\n" + "".join(f"    {role}: {kind}\n" for role, kind in types.items())


def role_dicts() -> str:
    """Return the keyword arguments of metrics, and of the other calls."""
    mean = [name for name in roles_of() if name not in ("per", "score", "rank")]
    single = {"score": "Column | None", "rank": "Column | None"}
    shared = typed_dict("SharedRoles", role_types(mean) | single)
    classes = [
        shared,
        typed_dict("MeanRoles", {"per": "None"}, "SharedRoles, total=False"),
        typed_dict("SegmentRoles", {"per": "Required[Column | Sequence[Column]]"}, "SharedRoles"),
    ]
    for names in dict.fromkeys(CALL_ROLES.values()):
        types = role_types(names)
        if names == CALL_ROLES["contributions"]:
            types["item"] = "Column | None"
        classes.append(typed_dict(dict_of(names), types))
    classes.append(typed_dict(CHARTS, role_types(MEANS)))
    return "\n".join(classes)


def dict_of(names: tuple[str, ...]) -> str:
    """Return the name of the keyword arguments for some roles, after the first call that accepts these roles."""
    call = next(call for call, roles in CALL_ROLES.items() if roles == names)
    return f"{call.title().replace('_', '')}Roles"


def declaration(name: str, arguments: list[str], result: str, margin: str = "    ") -> str:
    """Return a method's declaration, in lines as the formatter of the project breaks them."""
    quoted = [argument.replace("'", '"') for argument in arguments]
    line = f"{margin}def {name}({', '.join(quoted)}) -> {result}: ...\n"
    if len(line) <= WIDTH:
        return line
    inner = f"{margin}    {', '.join(quoted)}\n"
    if len(inner) > WIDTH:
        inner = "".join(f"{margin}    {argument},\n" for argument in quoted)
    return f"{margin}def {name}(\n{inner}{margin}) -> {result}: ...\n"


def overloads(name: str, arguments: list[str], side: Iterable[str] = ()) -> str:
    """Return a metric's two declarations: its mean, and its values by `per`."""
    parameters = [*arguments, *(f"{role}: {kind} = None" for role, kind in role_types(side).items())]
    return "".join(
        "    @overload\n" + declaration(name, ["self", *parameters, f"**roles: Unpack[{roles}]"], result)
        for roles, result in (("MeanRoles", "Mean"), ("SegmentRoles", "Frame"))
    )


def metric(kind: type) -> str:
    """Return the declarations of one metric's method."""
    cut = ["k: int | None = None"] if issubclass(kind, CutMetric) else []
    options = [f"{field.name}: {field.type} = {field.default!r}" for field in fields(kind) if field.name != "k"]
    side = [name for name in roles_of(kind) if name not in roles_of()]
    star = ["*"] if options or side else []
    return overloads(kind.name, [*cut, *star, *options], side)  # type: ignore[attr-defined]


def call(name: str, owner: type = Rec) -> str:
    """Return the declaration of a call that is no metric's, from its signature."""
    # The signature that users see has no types: the method behind it has.
    signature = inspect.signature(inspect.unwrap(getattr(owner, name)))
    roles = PLOTS[name] if owner is Plot else CALL_ROLES[name]
    parameters, star = ["self"], False
    for parameter in list(signature.parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parameters, star = [*parameters, "*"], True
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        parameters.append(f"{parameter.name}: {parameter.annotation}{default}")
    parameters.append(f"**roles: Unpack[{CHARTS if roles == MEANS else dict_of(roles)}]")
    return declaration(name, parameters, signature.return_annotation)


def plot() -> str:
    """Return the declaration of the charts."""
    return "class Plot:\n" + "".join(call(name, Plot) for name in PLOTS)


def expr_stub() -> str:
    """Return the whole stub of the functions that give expressions."""
    types = role_types(EXPRESSION_POLICIES) | {"ties": "ExpressionTies"}
    text = EXPR.format(
        imports=imports_of(METRICS[name] for name in EXPRESSION_METRICS), roles=typed_dict("ExpressionRoles", types)
    )
    for name, function in CALLS.items():
        parameters: list[str] = []
        star = False
        for each in inspect.signature(function).parameters.values():
            if each.kind is each.VAR_KEYWORD or each.name in EXPRESSION_POLICIES:
                continue
            if each.kind is each.KEYWORD_ONLY and not star:
                parameters, star = [*parameters, "*"], True
            default = "" if each.default is each.empty else f" = {each.default!r}"
            parameters.append(f"{each.name}: {each.annotation}{default}")
        text += declaration(name, [*parameters, "**roles: Unpack[ExpressionRoles]"], "pl.Expr", margin="")
    return text


def home_of(name: str, module: str) -> str:
    """Return the module that defines a name of a module of metrics."""
    kind = getattr(sys.modules[module], name)
    homes = (home for home in sorted(sys.modules) if home.startswith("recframe.metrics."))
    sharing = (home for home in homes if getattr(sys.modules[home], name, None) is kind)
    return next(home for home in sharing if f"\n{name} = " in inspect.getsource(sys.modules[home]))


def imports_of(kinds: Iterable[type]) -> str:
    """Return the lines that import the types of the options of metrics."""
    aliases: dict[str, str] = {}
    for kind in kinds:
        for field in fields(kind):
            for name in str(field.type).split(" | "):
                if hasattr(sys.modules[kind.__module__], name):
                    aliases.setdefault(name, home_of(name, kind.__module__))
    return "\n".join(
        f"from {module} import {', '.join(sorted(name for name, home in aliases.items() if home == module))}"
        for module in sorted(set(aliases.values()))
    )


def stub() -> str:
    """Return the whole stub."""
    text = HEAD.format(imports=imports_of(METRICS.values()), roles=role_dicts().rstrip(), plot=plot())
    text += "".join(call(name) for name in CALL_ROLES)
    text += "".join(metric(kind) for kind in METRICS.values()) + "\n" + TAIL
    return text


def config_stub() -> str:
    """Return the whole stub of `Config`."""
    return CONFIG.format(roles=typed_dict("ConfigRoles", role_types(CONFIG_ROLES, expressions=False)))


def main() -> int:
    """Write the stubs, or with --check compare them."""
    out_of_date = 0
    made = {"accessor.pyi": stub(), "config.pyi": config_stub(), "expr.pyi": expr_stub()}
    for name, text in made.items():
        path = STUB.with_name(name)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{path.name} is out of date\n\nHint: python tools/stubs.py\n")
            out_of_date = 1
    return out_of_date


if __name__ == "__main__":
    sys.exit(main())
