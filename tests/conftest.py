"""The options of the test run: which engines run how many tests, how many random examples there are, what is slow."""

from __future__ import annotations

import gc
import sys
import zlib
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from changed import changed_files
from engines import ENGINES, Pandas, Polars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engines.base import Engine

ROOT = Path(__file__).resolve().parents[1]
PEERS = Path(__file__).parent / "peers"

# An example runs on a whole engine, so its time says nothing. Examples are the same in each run, and a failure prints
# the decorator that repeats it alone.
EXAMPLES = {
    "deadline": None,
    "derandomize": True,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
OTHERS = 20
"""The share of the tests with parameters that name no engine, such as each metric: by default one in this many."""
settings.register_profile("engines", max_examples=100, **EXAMPLES)
settings.register_profile("all", max_examples=25, **EXAMPLES)
settings.register_profile("default", max_examples=8, **EXAMPLES)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what CI requests beyond the default, and what finds a fault of one engine."""
    group = parser.getgroup("recframe")
    group.addoption(
        "--all", action="store_true", help="what CI runs: more of each engine, more random examples, slow tests"
    )
    group.addoption(
        "--engines",
        metavar="NAMES",
        type=lambda names: names.split(","),
        help=f"these engines alone, each with all of its tests and examples: 'all', or some of {','.join(ENGINES)}",
    )
    group.addoption(
        "--sample",
        metavar="N",
        type=int,
        default=1,
        help="of the tests that would run, one in N",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the random examples before a test module reads their number."""
    names = config.getoption("engines")
    whole = names and config.getoption("sample") == 1
    settings.load_profile("engines" if whole else "all" if config.getoption("all") else "default")
    for name in chosen(config) if whole else ():
        ENGINES[name].engine.share = 1


def chosen(config: pytest.Config) -> list[str]:
    """Return the names of the engines of this run."""
    names = config.getoption("engines")
    if names is None or names == ["all"]:
        return list(ENGINES)
    unknown = [name for name in names if name not in ENGINES]
    if unknown:
        msg = f"--engines={','.join(unknown)}: installed here are {','.join(ENGINES)}"
        raise pytest.UsageError(msg)
    return names


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Run a test that has an argument `engine` on each engine in turn, and make no test that is not in a share.

    Three in four are not, and to make them takes each process longer than to choose. Where pytest has no `_calls`, and for
    a test that is named by its parameters, `pytest_collection_modifyitems` chooses alone.
    """
    if "engine" in metafunc.fixturenames:
        of_spark = pytest.mark.spark
        metafunc.parametrize(
            "engine",
            [
                pytest.param(one, id=name, marks=of_spark if one.library == "spark" else ())
                for name, one in ((name, ENGINES[name].engine) for name in chosen(metafunc.config))
            ],
            scope="session",
        )
    yield
    made = getattr(metafunc, "_calls", [])
    if made and not any("[" in arg for arg in metafunc.config.args):
        of_test = {"path": metafunc.definition.path, "function": metafunc.function}
        names = [f"{metafunc.definition.name}[{call.id}]" for call in made]
        items = [SimpleNamespace(name=name, callspec=call, **of_test) for name, call in zip(names, made, strict=True)]
        kept = [item.callspec for item in items if in_share(metafunc.config, item)]
        made[:] = kept or made[:1]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the peers' folder out unless it is requested: it imports them, which alone takes seconds."""
    if collection_path != PEERS or config.getoption("all") or config.getoption("markexpr") or is_whole(config, PEERS):
        return None
    return True


@pytest.hookimpl(tryfirst=True)  # pytest sorts what is left
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep of each engine what it can do and its share of that, and slow tests where they are requested."""
    kept, rest = [], []
    for item in items:
        if item.path.is_relative_to(PEERS):
            item.add_marker("slow")
        (kept if in_share(config, item) and in_time(config, item) else rest).append(item)
    if rest:
        config.hook.pytest_deselected(items=rest)
        items[:] = kept


def pytest_collection_finish() -> None:
    """Leave what lives as long as the run, such as the tests, out of each garbage collection: they are most of the heap."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say before the last line what the run left out."""
    if config.getoption("sample") > 1:
        line = f"Ran one in {config.getoption('sample')} of the tests."
    elif config.getoption("all") or config.getoption("engines"):
        return
    else:
        line = (
            "Ran the quick tests: most of polars, a share of the other engines and of the cases of each test, and all of the "
            "files that are changed or named. `pytest --all -n 2` runs the slow ones too, about an hour of CPU."
        )
    terminalreporter.write_line(line)


def in_share(config: pytest.Config, item: pytest.Item) -> bool:
    """Return whether a test belongs to its engine's share; a parameter `library` names an engine too.

    The first engine runs all tests of a file that runs whole.
    """
    params = item.callspec.params if hasattr(item, "callspec") else {}
    engine: Engine | None = params.get("engine")
    name = params.get("library") if engine is None else engine.name
    sample = config.getoption("sample")
    if name not in ENGINES:
        widely = not params or config.getoption("all") or config.getoption("engines")
        return is_whole(config, item.path) or lot(item.name) % (sample * (1 if widely else OTHERS)) == 0
    if engine is not None and not engine.answers_with_rows and item.path.parent.name == "_data":
        return False
    entry = ENGINES[name]
    share = 1 if config.getoption("engines") else entry.ci if config.getoption("all") else entry.default
    if name == next(iter(ENGINES)) and is_whole(config, item.path):
        return True
    if entry.every and is_single(item):
        share = min(share, entry.every)
    # Engines of one share run different tests, so that together they run all.
    number = lot(item.name.replace(name, "", 1)) + [*ENGINES].index(name)
    return number % (share * sample) == 0


def lot(test: str) -> int:
    """Return a number of a test: the same in each process, another on each Python, so that these draw other tests."""
    return zlib.crc32(test.encode()) + sys.version_info.minor - 11


def is_single(item: pytest.Item) -> bool:
    """Return whether an engine has no other test like it: of a function without more parameters, or of one message."""
    params = item.callspec.params
    return (len(params) == 1 or not {"message", "match"}.isdisjoint(params)) and not hasattr(
        item.function, "hypothesis"
    )


def in_time(config: pytest.Config, item: pytest.Item) -> bool:
    """Return whether a test is quick, or slow and requested: by an option, by a mark, or as its file runs whole."""
    if item.get_closest_marker("slow") is None or config.getoption("all") or config.getoption("markexpr"):
        return True
    return is_whole(config, item.path)


def is_whole(config: pytest.Config, path: Path) -> bool:
    """Return whether a test file runs whole, or one in the peers' folder: named on the command line, or changed."""
    if config.getoption("sample") > 1:
        return False
    files = whole_files(config.invocation_params.dir, tuple(config.args))
    return path in files or (path == PEERS and any(one.is_relative_to(PEERS) for one in files))


@cache
def whole_files(directory: Path, args: tuple[str, ...]) -> frozenset[Path]:
    """Return the files that run whole: those that a command line in a directory names, and those that are changed."""
    named = {Path(directory, arg.split("::")[0]).resolve() for arg in args}
    if PEERS in named:
        named.update(PEERS.glob("*.py"))
    return changed_files(ROOT).union(named)


@pytest.fixture(params=["pandas", "pandas alone"])
def pandas_engine(request: pytest.FixtureRequest) -> Engine:
    """Pandas both ways, for what only its frames can hold."""
    pytest.importorskip("pandas")
    return Pandas(request.param, alone=request.param == "pandas alone")


@pytest.fixture
def polars_engine() -> Engine:
    """Eager polars, for what only its frames can hold."""
    pytest.importorskip("polars")
    return Polars("polars", lazy=False)
