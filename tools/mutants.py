"""Change one place of the code at a time, and see whether a test notices.

``python tools/mutants.py COVERAGE`` changes 300 places of the package, drawn at random, runs for each the
tests that reach its line, at most 500 of them, and prints which test noticed. COVERAGE is the file that this run
writes, of the same sources, in which each test is a context of its own::

    python -m pytest -n 2 --cov=recframe --cov-branch --cov-context=test --cov-report=

It takes hours: a place that is noticed takes seconds, one that is not takes all tests that reach it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coverage import CoverageData

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parent.parent
PACKAGE = Path("src", "recframe")
ROOMS = (
    "metrics", "profiles", "_base", "_call", "_checks", "_cli", "_data", "_display", "_engines", "_inference", "_plan",
    "_integrations",
)  # fmt: skip
LEFT_OUT = ("spark", "worker")
"""Files with such names are run by Spark alone, in a group of tests of its own."""
BATCHES = (20, 150)
"""How many tests run first, and then at a time: most changes are noticed by any of them."""
SECONDS = 600
"""After how long a change of the first tests counts as noticed: it made a loop endless."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
NAMES = {"any": "all", "all": "any", "min": "max", "max": "min"}


class Change(NamedTuple):
    """One place, and what replaces it."""

    line: int
    statement: int
    node: ast.AST
    new: ast.AST

    def __str__(self) -> str:
        return f"{self.line}: {ast.unparse(self.node)[:80]} -> {ast.unparse(self.new)[:80]}"


def changed(node: ast.AST) -> ast.AST | None:
    """Return what replaces a node, or None where it stays."""
    new: Any = copy.deepcopy(node)
    match node:
        case ast.BinOp() | ast.BoolOp() if type(node.op) in SWAPS:
            new.op = SWAPS[type(node.op)]()
        case ast.Compare(ops=[operator]) if type(operator) in SWAPS:
            new.ops = [SWAPS[type(operator)]()]
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub()):
            new = new.operand
        case ast.Constant(value=bool()):
            new.value = not node.value
        case ast.Constant(value=int(value) | float(value)):
            new.value = value + 1
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            new.func.id = NAMES[name]
        case ast.Raise():
            new = ast.Pass()
        case _:
            return None
    return new  # type: ignore[no-any-return]


def changes(node: ast.AST, statement: int = 0) -> Iterator[Change]:
    """Yield the changes below a node, without types, which no run reads, and `strict=True`, which only guards."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns") or (isinstance(node, ast.keyword) and node.arg == "strict"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _is_for_types(child):
                continue
            first = child.lineno if isinstance(child, ast.stmt) else statement
            new = changed(child)
            if new is not None and isinstance(child, ast.expr | ast.stmt):
                yield Change(child.lineno, first, child, new)
            yield from changes(child, first)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


class Replace(ast.NodeTransformer):
    """Replaces one node by another."""

    def __init__(self, node: ast.AST, new: ast.AST) -> None:
        self._node, self._new = node, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the changed node in place of the original."""
        return self._new if node is self._node else self.generic_visit(node)


def places(only: Sequence[str]) -> list[tuple[str, int]]:
    """Return the changes of the rooms, or of the lines FILE:LINE alone: the file, and the number among its changes."""
    lines = [name.rpartition(":") for name in only]
    root = ROOT / PACKAGE
    paths = {
        path for room in ROOMS for path in (root / room).rglob("*.py") if not any(x in path.name for x in LEFT_OUT)
    }
    files = {file for file, _, _ in lines} or {path.relative_to(root).as_posix() for path in paths}
    return [
        (file, number)
        for file in sorted(files)
        for number, change in enumerate(changes(ast.parse((root / file).read_text(encoding="utf-8"))))
        if not only or (file, ":", str(change.line)) in lines
    ]


class Reached:
    """The tests that reach each line of each file."""

    def __init__(self, data: CoverageData) -> None:
        self._lines: dict[str, dict[int, set[str]]] = {}
        for path in data.measured_files():
            file = path.rpartition(f"/{PACKAGE.as_posix()}/")[2]
            by_line = {
                line: {context.rpartition("|")[0] for context in contexts} - {""}
                for line, contexts in data.contexts_by_lineno(path).items()
            }
            self._lines[file] = by_line

    def tests(self, file: str, change: Change) -> list[str]:
        """Return the tests of a line, or of its file where it runs at import or in a thread of polars."""
        lines = self._lines.get(file, {})
        tests = lines.get(change.line) or lines.get(change.statement)
        return sorted(tests or {test for some in lines.values() for test in some})


def spread(tests: Sequence[str], draw: random.Random) -> list[str]:
    """Return tests in random order, the first of each test file before the second of any."""
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in draw.sample(tests, len(tests)):
        by_file[test.partition("::")[0]].append(test)
    return [test for _, _, test in sorted((i, file, test) for file in by_file for i, test in enumerate(by_file[file]))]


class Copy:
    """A copy of the project, in which tests run."""

    def __init__(self, folder: str) -> None:
        self._root = Path(folder, "project")
        shutil.copytree(ROOT, self._root, ignore=shutil.ignore_patterns(".*", "__pycache__", "site", "dist"))
        self._passes: dict[str, bool] = {}

    def noticed_by(self, file: str, change: Change, tree: ast.AST, tests: list[str]) -> str | None:
        """Return the test that fails on a change, and not without it, or why all fail; None where none does."""
        target = self._root / PACKAGE / file
        text = target.read_text(encoding="utf-8")
        code = ast.unparse(Replace(change.node, change.new).visit(tree))
        while True:
            target.write_text(code, encoding="utf-8")
            failed = self._first_failed(tests)
            target.write_text(text, encoding="utf-8")
            if failed in tests and failed not in self._passes:
                self._passes[failed] = self._first_failed([failed]) is None
            if self._passes.get(failed or "", True):
                return failed
            tests = [test for test in tests if test != failed]

    def _first_failed(self, tests: list[str]) -> str | None:
        """Return the test that failed first, or why all did; None where all passed."""
        first, more = BATCHES
        starts = [0, *range(first, len(tests), more)]
        for start, stop in zip(starts, [*starts[1:], len(tests)], strict=True):
            arguments = self._root / "tests.txt"
            arguments.write_text("\n".join(tests[start:stop]), encoding="utf-8")
            command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", "@tests.txt"]
            source = str(self._root / PACKAGE.parent)
            try:
                ended = subprocess.run(  # noqa: S603 - our own command
                    command,
                    cwd=self._root,
                    env={**os.environ, "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"},
                    capture_output=True,
                    text=True,
                    timeout=SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"no answer in {SECONDS} s"
            if ended.returncode:
                failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", ended.stdout, re.MULTILINE)
                return failed[1] if failed else (ended.stdout + ended.stderr)[-200:].replace("\n", " ")
        return None


def say(text: str) -> None:
    """Print a line at once: a run takes hours."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Change places, and print what no test noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("coverage", help="the file of the run with a context for each test")
    parser.add_argument("--sample", type=int, default=300, help="how many places to change (default: 300)")
    parser.add_argument("--seed", type=int, default=0, help="which places (default: 0)")
    parser.add_argument("--most", type=int, default=500, help="how many tests to run for one place (default: 500)")
    parser.add_argument("--part", default="0/1", help="of the sample, one part of several: 0/2 and 1/2")
    parser.add_argument("--at", nargs="+", default=[], metavar="FILE:LINE", help="all changes of these lines instead")
    arguments = parser.parse_args()
    data = CoverageData(arguments.coverage)
    data.read()
    reached = Reached(data)
    draw = random.Random(arguments.seed)  # noqa: S311 - a sample
    sample = places(arguments.at)
    sample = sample if arguments.at else draw.sample(sample, arguments.sample)
    index, parts = map(int, arguments.part.split("/"))
    killed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        project = Copy(folder)
        for file, number in sample[index::parts]:
            tree = ast.parse((ROOT / PACKAGE / file).read_text(encoding="utf-8"))
            change = list(changes(tree))[number]
            tests = spread(reached.tests(file, change), random.Random(arguments.seed))  # noqa: S311 - an order
            test = project.noticed_by(file, change, tree, tests[: arguments.most])
            room = file.split("/")[0]
            total[room] += 1
            killed[room] += test is not None
            by = (
                f"not noticed by {min(arguments.most, len(tests))} of {len(tests)} tests" if test is None else "noticed"
            )
            say(f"{by}: {file}:{change} [{test}]")
    for room, number in total.most_common():
        say(f"{room:14} {killed[room]} of {number}")
    say(f"{'sum':14} {killed.total()} of {total.total()}")


if __name__ == "__main__":
    main()
