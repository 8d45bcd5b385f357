"""Runs the scripts of ``docs/tutorials`` and writes their pages, what they print included.

``python tools/tutorials.py --ratings ml-100k/u.data`` writes ``docs/tutorial-*.md``, with names of scripts
ahead only theirs, as they need different packages. A script is cells: ``# %%`` starts one of code, ``# %% [text]`` one
whose comment lines are the page's text.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCS = Path(__file__).parent.parent / "docs"
CELL = re.compile(r"^# %%( \[text\])?\n", re.MULTILINE)


def cells(source: str) -> list[tuple[bool, str]]:
    """Return the cells of a script: whether each is text, and what it holds."""
    parts = CELL.split(source)
    return [(bool(kind), body.strip("\n")) for kind, body in zip(parts[1::2], parts[2::2], strict=True)]


def run(script: Path) -> tuple[str, dict[str, Any]]:
    """Return the page that a script writes, and what its names hold in the end."""
    names: dict[str, Any] = {"__name__": script.stem}
    page = []
    for is_text, body in cells(script.read_text(encoding="utf-8")):
        if is_text:
            page.append("\n".join(line.removeprefix("#").removeprefix(" ") for line in body.splitlines()))
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(body, str(script), "exec"), names)  # noqa: S102 - the documentation's own script
        # Not ``python``, whose blocks the tests of the documentation run one by one.
        page.append(f"```py\n{body}\n```")
        if printed.getvalue():
            page.append(f"```text\n{printed.getvalue().rstrip()}\n```")
    return "\n\n".join(page) + "\n", names


def scripts(folder: Path = DOCS / "tutorials", names: Sequence[str] = ()) -> list[Path]:
    """Return the scripts of a folder, all or those that are named; exit where one is not there."""
    by_name = {script.stem: script for script in sorted(folder.glob("*.py"))}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        sys.exit(f"there is no script {unknown[0]!r}; there are {', '.join(by_name)}")
    return [script for name, script in by_name.items() if not names or name in names]


def main() -> int:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ratings", type=Path, required=True, help="u.data of MovieLens 100K, or the same as Parquet")
    parser.add_argument("names", nargs="*", help="the scripts to run; without one, all")
    arguments = parser.parse_args()
    os.environ["RATINGS"] = str(arguments.ratings)
    for script in scripts(names=arguments.names):
        page, _ = run(script)
        target = DOCS / f"tutorial-{script.stem.replace('_', '-')}.md"
        target.write_text(page, encoding="utf-8")
        sys.stderr.write(f"{target.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
