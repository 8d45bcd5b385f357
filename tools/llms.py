"""Writes ``docs/llms.txt``, the site's pages in one file for language models.

``python tools/llms.py`` writes it from the navigation and the pages; ``--check`` fails if it is out of date.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGE = DOCS / "llms.txt"


def pages(entries: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the title and the path of each page of the navigation, in its order."""
    for entry in entries:
        for title, target in entry.items():
            if isinstance(target, str):
                yield title, target
            else:
                yield from pages(target)


def metrics(path: Path) -> list[str]:
    """Return the metrics of a page, with what it says that they are."""
    if path.parent.name != "metrics":
        return []
    found = re.findall(r"^`(\w+)`: (.*)\.$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [f"  - [{name}](metrics/{path.name}#{name}): {said}" for name, said in found]


def text() -> str:
    """Return the whole file."""
    site = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    rules = [
        line
        for line in (ROOT / "tools" / "assistants.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("- ")
    ]
    lines = [
        f"# {site['site_name']}",
        "",
        f"> {site['site_description']}",
        "",
        "## Rules",
        "",
        *rules,
        "",
        "## Pages",
        "",
    ]
    for title, target in pages(site["nav"]):
        lines += [f"- [{title}]({target})", *metrics(DOCS / target)]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the file, or with --check compare it."""
    if "--check" in sys.argv:
        current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text()
        if not current:
            sys.stderr.write(f"{PAGE.name} is out of date\n\nHint: python tools/llms.py\n")
        return 0 if current else 1
    PAGE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
