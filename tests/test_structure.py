"""The source holds what CONTRIBUTING says of its structure."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import recframe
from recframe._base import columns, values
from recframe._engines.registry import KINDS

SOURCE = Path(recframe.__file__).parent
DECLARED = {column.name: column for frame in columns.FRAMES for column in frame.columns}
NAMERS = {"col", "alias", "with_row_index"}
"""Methods that accept the name of a column."""


def modules(*rooms):
    result = sorted(path for room in rooms for path in SOURCE.glob(room))
    assert result
    return result


@cache
@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def texts_that_name_columns(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in NAMERS:
            for given in node.args:
                if isinstance(given, ast.JoinedStr) or (
                    isinstance(given, ast.Constant) and isinstance(given.value, str)
                ):
                    yield f"{path.name}:{node.lineno}"


LIBRARIES = {kind.module.partition(".")[0] for kind in KINDS}
ADAPTERS = {kind.adapter.partition(":")[0] for kind in KINDS}
"""The libraries of frames, and the modules in which their adapters are."""
ROOMS_THAT_USE_ONE = ("_engines", "_cli", "_integrations")
"""The adapters, the command line, which reads files with polars, the expressions of polars, and the queries of Ibis."""


SHARED_BY_ENGINES = {
    f"recframe._engines.{name}"
    for name in (
        "base",
        "codes",
        "registry",
        "column_spec",
        "column_errors",
        "constructors",
        "exact_sums",
        "ids",
        "parquet",
        "postponed",
        "rows",
        "sharing",
    )
}
"""The modules of the engines that are about no library."""


def module_name(path):
    return ".".join(("recframe", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


IMPORTERS = {"import_module", "call_on_lists"}
"""Functions and methods that import the module whose name they are given."""
PATHS = {module_name(path): path for path in modules("**/*.py")}


@cache
@cache
def imported(path, *, for_types=False):
    """Return what a module imports when it runs, anywhere in it, and if requested what is for type checkers only."""
    names = set()

    def visit(node):
        if not for_types and isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in IMPORTERS:
            names.update(arg.value for arg in node.args if isinstance(arg, ast.Constant))
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree_of(path))
    return names


def own_imports(*, for_types=False):
    """Return the modules of the package that each of them imports."""
    result = {}
    for name, path in PATHS.items():
        targets = imported(path, for_types=for_types)
        result[name] = {target if target in PATHS else target.rpartition(".")[0] for target in targets} & PATHS.keys()
    return result


@pytest.fixture(scope="module")
def imports():
    result = own_imports()
    assert "recframe._engines.base" in result["recframe._engines.polars.adapter"]
    return result


def test_only_adapters_import_a_library_of_frames():
    users = {
        module_name(path)
        for path in modules("**/*.py")
        if LIBRARIES & {name.partition(".")[0] for name in imported(path)}
    }
    assert {f"recframe._engines.{name}" for name in ADAPTERS} <= users
    assert not [name for name in users if name.split(".")[1] not in ROOMS_THAT_USE_ONE]


def test_adapters_import_nothing_of_the_plan_and_the_metrics(imports):
    below = {"recframe._base.columns", "recframe._base.defaults", "recframe._base.values", "recframe.errors"}
    for name, targets in imports.items():
        if name.startswith("recframe._engines"):
            assert not {target for target in targets if not target.startswith("recframe._engines")} - below, name


def test_no_module_outside_the_adapters_imports_that_of_one_library(imports):
    libraries = {module_name(path) for path in modules("_engines/**/*.py")} - SHARED_BY_ENGINES - {"recframe._engines"}
    users = {name for name, targets in imports.items() if targets & libraries and "_engines" not in name}
    assert not users


def test_no_adapter_imports_that_of_another_library(imports):
    # Arrow tables and pandas frames are computed by polars where it is installed, and Spark's workers have polars.
    allowed = {("arrow", "polars"), ("arrow", "pandas"), ("pandas", "polars"), ("sql", "polars")}
    libraries = {"polars", "pandas", "sql", "arrow"}
    for name, targets in imports.items():
        own, *others = (
            other.removeprefix("recframe._engines.").partition(".")[0] for other in (name, *sorted(targets))
        )
        if own in libraries:
            assert {(own, other) for other in libraries & set(others) if other != own} <= allowed, name


@pytest.mark.parametrize("for_types", [False, True], ids=["at run time", "also for types"])
def test_no_module_imports_itself_by_way_of_others(for_types):
    left = own_imports(for_types=for_types)
    while left:
        leaves = [name for name, targets in left.items() if not targets & left.keys() - {name}]
        assert leaves, f"a cycle among {sorted(left)}"
        left = {name: targets for name, targets in left.items() if name not in leaves}


@pytest.mark.parametrize("parent", ["", "_data", "_inference", "_integrations"])
def test_no_room_imports_itself_by_way_of_others(parent):
    left = {}
    for name, targets in own_imports(for_types=True).items():
        room = room_of(name, parent)
        left.setdefault(room, set()).update({room_of(target, parent) for target in targets} - {room})
    assert left.pop("")
    assert len(left) > 1
    while left:
        leaves = [room for room, targets in left.items() if not targets & left.keys()]
        assert leaves, f"a cycle among {sorted(left)}"
        left = {room: targets for room, targets in left.items() if room not in leaves}


def room_of(name, parent=""):
    """Return the folder below the parent that holds a module: an empty text for modules beside the folders."""
    start = f"recframe.{parent}.".replace("..", ".")
    room = name.removeprefix(start).partition(".")[0] if name.startswith(start) else ""
    return room if room and (SOURCE / parent / room).is_dir() else ""


def test_the_first_screen_of_the_tree_is_short():
    entries = [path for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"]
    private = [path for path in SOURCE.glob("_*.py") if not path.name.startswith("__")]
    assert len({*entries, *private}) <= 13


def test_messages_know_the_libraries_of_frames():
    assert values.FRAME_LIBRARIES - {"narwhals", "numpy"} == LIBRARIES


def test_the_package_imports_no_library_of_frames():
    code = f"import sys, recframe; print(*sorted({LIBRARIES!r} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


def test_stops_in_tied_blocks_have_one_door():
    functions = [
        node.name for node in tree_of(SOURCE / "_plan/tied_stops.py").body if isinstance(node, ast.FunctionDef)
    ]
    assert [name for name in functions if not name.startswith("_")] == ["survivals"]


@pytest.mark.parametrize("path", modules("_plan/*.py", "metrics/_*row.py", "_checks/*.py"), ids=lambda path: path.name)
def test_the_plan_names_columns_in_one_file(path):
    assert not list(texts_that_name_columns(path))


def test_a_column_is_declared_once():
    names = [column.name for frame in columns.FRAMES for column in frame.columns]
    assert len(names) == len(set(names))


def test_no_module_defines_a_declared_column_again():
    again = []
    for path in modules("_plan/*.py", "_engines/*.py", "metrics/*.py"):
        for node in tree_of(path).body:
            if isinstance(node, ast.Assign):
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                texts = [value.value for value in values if isinstance(value, ast.Constant)]
                again += [f"{path.name}: {text}" for text in texts if text in DECLARED]
    assert not again


def test_a_column_names_the_module_that_adds_it():
    rooms = {path.stem for path in modules("_plan/*.py")} | {"_engines", "all modules"}
    added_by = {module for column in DECLARED.values() for module in column.added_by.split(", ")}
    assert added_by <= rooms


def test_every_declared_column_is_used():
    paths = (path for path in modules("**/*.py") if path != Path(columns.__file__))
    words = {word for path in paths for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    constants = re.findall(
        r"^(\w+) = [A-Z_]+\.(?:add|family)\(", Path(columns.__file__).read_text("utf-8"), re.MULTILINE
    )
    assert constants
    assert not [name for name in constants if name not in words]


def test_one_alias_names_the_frames():
    texts = {module_name(path): path.read_text(encoding="utf-8") for path in modules("**/*.py")}
    assert [
        name
        for name, text in texts.items()
        if re.search(r"^\s*\w+(: TypeAlias)? = \"?nw.LazyFrame", text, re.MULTILINE)
    ] == ["recframe._base.columns"]


def test_the_plans_frames_hold_declared_columns(monkeypatch):
    pl = pytest.importorskip("polars")
    from recframe._engines.polars.adapter import EagerPolars

    held, collect_once = {}, EagerPolars.collect_once

    def watch(self, frame):
        settled = collect_once(self, frame)
        held.update(settled.collect_schema())
        return settled

    monkeypatch.setattr(EagerPolars, "collect_once", watch)
    frame = pl.DataFrame(
        {
            "user": [1, 1, 1, 2, 2, 2],
            "item": [1, 2, 3, 1, 2, 3],
            "relevant": [2, 0, 1, 0, 1, 1],
            "score": [0.9, 0.9, 0.1, 0.7, 0.6, 0.6],
            "price": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        }
    )
    side = {"train": frame.select("user", "item"), "features": pl.DataFrame({"item": [1, 2], "a": [1, 0], "b": [0, 1]})}
    names = ["ndcg@2", "map", "mrr", "err(max_relevance=2)", "roc_auc", "kendall", "spearman", "money_recall@2"]
    beyond = ["novelty@2", "diversity@2", "calibration@2", "gini@2", "personalization@2"]
    frame.rec.evaluate(names)
    frame.rec.evaluate([*names, *beyond], truth=frame.drop("score"), **side)
    for name in ("mrr", "err(max_relevance=2)"):
        frame.rec.contributions(name)
    known = re.compile("|".join(re.escape(name).replace(r"\{\}", ".+") for name in DECLARED))
    assert len(held) > 30
    assert not [name for name in held if not known.fullmatch(name)]
    wrong = [
        f"{name}: {dtype}"
        for name, dtype in held.items()
        if name in DECLARED and DECLARED[name].kind == "integer" and not dtype.is_integer()
    ]
    assert not wrong


def longest_chain(imports, name):
    chains = [longest_chain(imports, other) for other in imports[name]]
    return [name, *max(chains, key=len, default=[])]


def test_a_chain_of_imports_at_the_top_of_modules_is_short():
    imports = {}
    for name, path in PATHS.items():
        tree = tree_of(path)
        top = {node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.module in PATHS}
        imports[name] = {other for other in top if other != "recframe"}
    assert max(len(longest_chain(imports, name)) for name in PATHS) < 15


def test_only_the_plan_and_the_making_of_data_join_and_group():
    allowed = {"_plan", "_data", "_engines", "_inference", "_checks"}
    users = {
        path.relative_to(SOURCE).parts[0]
        for path in modules("**/*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr in ("group_by", "sum_by")
    }
    assert users <= allowed


def numbers_of(path):
    """Yield the constants of a module that are numbers, or may be: their names and values."""
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = zip(target.elts, node.value.elts, strict=True)
                for name, value in pairs:
                    if isinstance(name, ast.Name) and name.id.isupper():
                        yield name.id, ast.unparse(value)


def test_the_name_of_a_number_has_one_value():
    values = {}
    for path in modules("**/*.py"):
        for name, value in numbers_of(path):
            values.setdefault(name, set()).add(value)
    number = re.compile(r"[\d.e*+_ -]+")
    assert any(map(number.fullmatch, values["ROUNDING"]))
    assert not [name for name, given in values.items() if len(given) > 1 and any(map(number.fullmatch, given))]


def test_no_tracked_file_is_one_that_a_run_leaves_behind_or_names_a_machine():
    root = SOURCE.parent.parent
    if not (root / ".git").exists():
        pytest.skip("not a checkout")

    def tracked(*options):
        listed = ["git", "-c", "core.quotepath=off", "ls-files", *options]
        return subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()

    assert tracked("--cached", "--ignored", "--exclude-standard") == []
    of_machine = re.compile(rb"(?<![\w.])/(?:home|root|Users|work)/\S*")
    there = [root / name for name in tracked() if (root / name).is_file()]
    assert {path.name: result[0] for path in there if (result := of_machine.search(path.read_bytes()))} == {}
