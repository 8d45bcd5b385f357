"""What type checkers see of the namespace is what it accepts at run time."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import recframe
from recframe import metrics
from recframe._base.roles import ALL_ROLES, CALL_ROLES, CONFIG_ROLES, roles_of
from recframe._base.signatures import MAIN_ROLES
from recframe._display.plot import PLOTS, Plot

SOURCE = Path(recframe.__file__).parent
STUB = ast.parse((SOURCE / "accessor.pyi").read_text(encoding="utf-8"))
CONFIG = ast.parse((SOURCE / "config.pyi").read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in (*STUB.body, *CONFIG.body) if isinstance(node, ast.ClassDef)}
METHODS: dict[str, list[ast.FunctionDef]] = {}
for node in CLASSES["Rec"].body:
    if isinstance(node, ast.FunctionDef) and node.name != "__init__":
        METHODS.setdefault(node.name, []).append(node)
PROPERTIES = [METHODS.pop("plot")[0].name]
CHARTS = {node.name: node for node in CLASSES["Plot"].body}


def keys(name):
    """Return the keyword arguments that a typed dictionary of the stub declares."""
    node = CLASSES[name]
    inherited = [key for base in node.bases if base.id in CLASSES for key in keys(base.id)]
    return [*inherited, *(item.target.id for item in node.body)]


def declared(node):
    """Return the parameters of a declaration: name to kind and default."""
    own = node.args
    defaults = [None] * (len(own.args) - len(own.defaults)) + own.defaults
    result = {
        arg.arg: ("positional", default and ast.unparse(default))
        for arg, default in zip(own.args, defaults, strict=True)
    }
    for arg, default in zip(own.kwonlyargs, own.kw_defaults, strict=True):
        result[arg.arg] = ("keyword", default and ast.unparse(default))
    return result, keys(own.kwarg.annotation.slice.id)


def test_every_method_is_declared():
    assert set(METHODS) == {"__call__", *CALL_ROLES, *metrics.METRICS}
    public = {name for name in dir(recframe.EagerRec) if not name.startswith("_")}
    assert public == {*METHODS, *PROPERTIES} - {"__call__"}
    assert set(CHARTS) == set(PLOTS) == {name for name in dir(Plot) if not name.startswith("_")}


@pytest.mark.parametrize("name", [*METHODS, *CHARTS])
def test_declarations_are_the_signatures_at_run_time(name):
    signature = inspect.signature(getattr(recframe.EagerRec if name in METHODS else Plot, name))
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional", inspect.Parameter.KEYWORD_ONLY: "keyword"}
    shown = {
        parameter.name: (
            kinds[parameter.kind],
            None if parameter.default is parameter.empty else repr(parameter.default),
        )
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    }
    for node in METHODS.get(name) or [CHARTS[name]]:
        own, roles = declared(node)
        assert own == {parameter: shown[parameter] for parameter in own}
        assert list(own) == [parameter for parameter in shown if parameter in own]
        assert not set(own) & set(roles)
        assert set(shown) == {*own, *set(MAIN_ROLES).intersection(roles)}
        assert ("roles" in signature.parameters) == (not set(roles) <= set(MAIN_ROLES))


WIDTH_OF_A_TERMINAL, LINES_OF_A_SIGNATURE = 80, 7


@pytest.mark.parametrize("name", [*METHODS, *CHARTS])
def test_signatures_fit_a_few_lines_of_a_terminal(name):
    signature = f"{name}{inspect.signature(getattr(recframe.EagerRec if name in METHODS else Plot, name))}"
    assert len(signature) <= WIDTH_OF_A_TERMINAL * LINES_OF_A_SIGNATURE


@pytest.mark.parametrize("name", ["ndcg", "compare", "novelty", "top"])
def test_docstrings_explain_the_main_roles_and_name_the_others(name):
    text = inspect.getdoc(getattr(recframe.EagerRec, name))
    roles = CALL_ROLES.get(name) or roles_of(metrics.METRICS[name])
    explained = {role for role in roles if f"\n{role} : " in text}
    assert explained >= set(MAIN_ROLES).intersection(roles)
    others = text.partition("\n**roles\n    Also ")[2].partition(": see")[0]
    assert set(re.findall(r"`(\w+)`", others)) == set(roles) - explained


@pytest.mark.parametrize("name", ["ndcg", "evaluate", "label", "check"])
def test_bound_accessors_show_every_argument(name):
    pl = pytest.importorskip("polars")
    bound = pl.DataFrame({"user": [1]}).rec(by="user")
    assert "by" in inspect.signature(getattr(bound, name)).parameters
    assert "by : str" in inspect.getdoc(getattr(bound, name))


def test_rec_binds_what_it_is_declared_to_bind():
    declarations = [node for node in STUB.body if isinstance(node, ast.FunctionDef) and node.name == "rec"]
    shown = list(inspect.signature(recframe.rec).parameters)
    assert shown == ["frame", *MAIN_ROLES, "validate", "roles"]
    frames = [ast.unparse(node.args.args[0].annotation) for node in declarations]
    known = ["PolarsFrame", "PolarsLazyFrame", "PandasFrame", "LazyFrameLike[L]", "TableLike[E]"]
    assert frames == [*known, "Mapping[str, Any]", "ArrowStream"]
    for node in declarations:
        own, roles = declared(node)
        assert [*own, *roles] == ["frame", "validate", *ALL_ROLES]
    assert all(f"\n{role} : " in inspect.getdoc(recframe.rec) for role in ALL_ROLES)


def test_config_is_declared_as_it_is_at_run_time():
    result = {node.name: node for node in CLASSES["Config"].body if isinstance(node, ast.FunctionDef)}
    public = {name for name in dir(recframe.Config) if not name.startswith("_")}
    assert public == {name for name in result if not name.startswith("_")}
    for name, call in {"__init__": recframe.Config, "set": recframe.Config.set}.items():
        (_, *own), roles = declared(result[name])
        shown = set(inspect.signature(call).parameters) - {"roles"}
        assert shown == {*own, *set(MAIN_ROLES).intersection(roles)}
        assert roles == list(CONFIG_ROLES)


def test_completion_shows_arguments_after_binding():
    pl = pytest.importorskip("polars")
    bound = pl.DataFrame({"user": [1]}).rec(by="user")
    assert {"ndcg", "evaluate", "compare", "label"} <= set(dir(bound))
    assert {"k", "gain", "truth", "per"} <= set(inspect.signature(bound.ndcg).parameters)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", [name for name in METHODS if name != "__call__"])
def test_completion_in_notebooks_has_all_roles_and_help_the_main_ones(name, lazy):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1]})
    call = getattr((frame.lazy() if lazy else frame).rec(by="user"), name)
    signature, known = inspect.signature(call), inspect.signature(getattr(recframe.EagerRec, name))
    roles = CALL_ROLES.get(name) or roles_of(metrics.METRICS[name])
    assert set(signature.parameters) == {*roles, *known.parameters} - {"self", "roles"}
    assert str(signature).replace("(", "(self, ", 1).replace(", )", ")") == str(known)
