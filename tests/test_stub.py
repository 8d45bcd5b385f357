"""What type checkers see of the namespace is what it takes at run time."""

import ast
import inspect
from pathlib import Path

import pytest

import recframe
from recframe import metrics
from recframe._arguments import CALL_ROLES

STUB = ast.parse((Path(recframe.__file__).parent / "accessor.pyi").read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
METHODS: dict[str, list[ast.FunctionDef]] = {}
for node in CLASSES["Rec"].body:
    if isinstance(node, ast.FunctionDef) and node.name != "__init__":
        METHODS.setdefault(node.name, []).append(node)


def keys(name):
    """Return the keyword arguments that a typed dictionary of the stub declares."""
    node = CLASSES[name]
    inherited = [key for base in node.bases if base.id in CLASSES for key in keys(base.id)]
    return [*inherited, *(item.target.id for item in node.body)]


def declared(node):
    """Return the parameters of a declaration: name to kind and default."""
    own = node.args
    defaults = [None] * (len(own.args) - len(own.defaults)) + own.defaults
    found = {
        arg.arg: ("positional", default and ast.unparse(default))
        for arg, default in zip(own.args, defaults, strict=True)
    }
    for arg, default in zip(own.kwonlyargs, own.kw_defaults, strict=True):
        found[arg.arg] = ("keyword", default and ast.unparse(default))
    return found, keys(own.kwarg.annotation.slice.id)


def test_every_method_is_declared():
    assert set(METHODS) == {"__call__", *CALL_ROLES, *metrics.METRICS}
    public = {name for name in dir(recframe.EagerRec) if not name.startswith("_")}
    assert public == set(METHODS) - {"__call__"}


@pytest.mark.parametrize("name", METHODS)
def test_declarations_are_the_signatures_at_run_time(name):
    signature = inspect.signature(getattr(recframe.EagerRec, name))
    assert not any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values())
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional", inspect.Parameter.KEYWORD_ONLY: "keyword"}
    taken = {
        parameter.name: (
            kinds[parameter.kind],
            None if parameter.default is parameter.empty else repr(parameter.default),
        )
        for parameter in signature.parameters.values()
    }
    for node in METHODS[name]:
        own, roles = declared(node)
        assert own == {parameter: taken[parameter] for parameter in own}
        assert list(own) == [parameter for parameter in taken if parameter in own]
        assert not set(own) & set(roles)
        assert {*own, *roles} == set(taken)


@pytest.mark.parametrize("name", ["ndcg", "evaluate", "label", "check"])
def test_bound_accessors_show_every_argument(name):
    pl = pytest.importorskip("polars")
    bound = pl.DataFrame({"user": [1]}).rec(by="user")
    assert "by" in inspect.signature(getattr(bound, name)).parameters
    assert "by : str" in inspect.getdoc(getattr(bound, name))
