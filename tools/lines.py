"""Count the lines of code of each room: without docstrings, comments, imports and blank lines.

``python tools/lines.py [DIRECTORY]`` prints a row for each room of ``src/recframe`` and their sum.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "recframe"


def lines_of_code(path: Path) -> int:
    """Return how many lines of a file hold code."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.stmt) and (is_text or isinstance(node, ast.Import | ast.ImportFrom)):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in left_out
        for number, line in enumerate(text.splitlines(), start=1)
    )


def rooms(source: Path = SOURCE) -> Counter[str]:
    """Return the lines of code of each folder of the package, and of the files beside them as ``root``."""
    found: Counter[str] = Counter()
    for path in source.rglob("*.py"):
        inside = path.relative_to(source).parts
        found[inside[0] if len(inside) > 1 else "root"] += lines_of_code(path)
    return found


def main() -> None:
    """Print the rooms, largest first, and their sum."""
    counted = rooms(Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE)
    for room, lines in counted.most_common():
        sys.stdout.write(f"{room:14} {lines:6,}\n")
    sys.stdout.write(f"{'sum':14} {counted.total():6,}\n")


if __name__ == "__main__":
    main()
