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


def summary(path: Path) -> str:
    """Return what a metric's page says the metric is; nothing for other pages, whose titles say enough."""
    found = re.search(r"^`\w+`: (.*)\.$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return found[1] if found and path.parent.name == "metrics" else ""


def text() -> str:
    """Return the whole file."""
    site = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    rules = [
        line for line in (DOCS / "assistants.md").read_text(encoding="utf-8").splitlines() if line.startswith("- ")
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
        said = summary(DOCS / target)
        lines.append(f"- [{title}]({target})" + (f": {said}" if said else ""))
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
