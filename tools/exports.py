"""Writes the imports of the metrics in ``recframe/metrics/__init__.py`` that its ``__all__`` lists.

``python tools/exports.py`` writes them; ``--check`` fails if they are out of date. It imports nothing of the package,
which lacks a new metric until then.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

METRICS = Path(__file__).parent.parent / "src" / "recframe" / "metrics"


def homes() -> dict[str, str]:
    """Return the classes of metrics, each with the name of its file."""
    paths = [path for path in sorted(METRICS.glob("*.py")) if not path.stem.startswith("_")]
    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    return {node.name: stem for stem, tree in trees.items() for node in tree.body if isinstance(node, ast.ClassDef)}


def exported(text: str) -> str:
    """Return the text of the module with the imports of its metrics."""
    home = homes()
    listed = {name for name in re.findall(r'^    "(\w+)",$', text, flags=re.MULTILINE) if name in home}
    lines = []
    for stem in sorted({home[name] for name in listed}):
        names = sorted(listed & {name for name in home if home[name] == stem}, key=str.lower)
        # As ruff sorts: acronyms first, then classes.
        lines.append(f"from recframe.metrics.{stem} import {', '.join(sorted(names, key=str.isupper, reverse=True))}\n")
    return re.sub(r"(?:from recframe\.metrics\.[a-z]\w* import .*\n)+", "".join(lines), text)


def main() -> int:
    """Write the imports, or with --check compare them."""
    path = METRICS / "__init__.py"
    old = path.read_text(encoding="utf-8")
    new = exported(old)
    if "--check" not in sys.argv:
        path.write_text(new, encoding="utf-8")
    elif new != old:
        sys.stderr.write(f"the imports of {path.name} are out of date\n\nHint: python tools/exports.py\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
