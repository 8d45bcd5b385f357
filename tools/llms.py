"""Writes ``docs/llms.txt``, the site's rules and pages for language models, and the pages as Markdown.

``python tools/llms.py`` writes it from the navigation and the pages; ``--check`` fails if it is out of date.
``--site site`` writes each page as Markdown into a built site, where ``llms.txt`` links to it, and all of them as
``llms-full.txt``.
"""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recframe.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGE = DOCS / "llms.txt"
FULL = "llms-full.txt"
SNIPPET = re.compile(r'^--8<-- "(.+)"$', re.MULTILINE)
NAMED = re.compile(r"^::: (?P<name>\S+)\n(?P<options>(?:[ ]+\S.*\n)*)", re.MULTILINE)
"""What the site replaces by the description of a name, and how."""
LONGEST = 160
"""Letters of a description that search engines show."""


def pages(entries: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the title and the path of each page of the navigation, in its order."""
    for entry in entries:
        for title, target in entry.items():
            if isinstance(target, str):
                yield title, target
            else:
                yield from pages(target)


def rules() -> list[str]:
    """Return the rules for assistants, a line each; a rule may go on in lines that are set in."""
    lines = (ROOT / "tools" / "assistants.md").read_text(encoding="utf-8").splitlines()
    texts: list[str] = []
    for line in lines:
        if line.startswith("- "):
            texts.append(line)
        elif line.startswith("  ") and texts:
            texts[-1] += f" {line.strip()}"
    return texts


def summary(path: Path) -> str:
    """Return what a page is about: the description at its top, what its metric is, or the sentences it begins with."""
    if path.parent.name == "metrics":
        return f"`{path.stem}`, {METRICS[path.stem].summary}"
    page = path.read_text(encoding="utf-8")
    written = re.match(r"---\n.*?^description: (.*?)\n.*?^---\n", page, re.DOTALL | re.MULTILINE)
    return written[1] if written else description(page)


def description(text: str) -> str:
    """Return the sentences with which a page begins, or else its title and its sections."""
    text = re.sub(r"<!--.*?-->|^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    top = re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0]
    prose = [part for part in top.split("\n\n") if re.match(r"[`\w]", part) and not part.startswith("--8<--")]
    sentence = (
        " ".join(prose[0].split())
        if prose
        else ": ".join(
            [*re.findall(r"^# (.*)$", top, re.MULTILINE), ", ".join(re.findall(r"^## (.*)$", text, re.MULTILINE))]
        )
    )
    sentence = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", sentence).replace("`", "").replace("*", "").replace('"', "'")
    while len(sentence) > LONGEST and ". " in sentence[:-1]:
        sentence = sentence[: sentence[:-1].rindex(". ") + 1]
    return sentence


def text() -> str:
    """Return the whole file."""
    site = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    lines = [
        f"# {site['site_name']}",
        "",
        f"> {site['site_description']}",
        "",
        "## Rules",
        "",
        *rules(),
        "",
        "## Pages",
        "",
        f"- [All pages in one file]({FULL})",
    ]
    for title, target in pages(site["nav"]):
        lines.append(f"- [{title}]({target}): {summary(DOCS / target)}")
    return "\n".join(lines) + "\n"


def described(named: re.Match[str]) -> str:
    """Return the signature and the text of a name of the package, and of the members that its options choose."""
    name = named["name"]
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value: Any = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            value = getattr(value, part)
        break
    members = re.findall(r"^ {8}- (\w+)$", named["options"], re.MULTILINE)
    if inspect.isclass(value) and not members and "members: false" not in named["options"]:
        members = [member for member, each in vars(value).items() if member[0] != "_" and inspect.getdoc(each)]
    entries = [(parts[-1], value), *((member, getattr(value, member)) for member in members)]
    return "\n".join(
        f"## {title}\n\n{_signature(title, call)}{inspect.getdoc(call) or ''}\n" for title, call in entries
    )


def _signature(name: str, value: Any) -> str:
    try:
        return f"```python\n{name}{inspect.signature(value)}\n```\n\n"
    except (TypeError, ValueError):  # a module, a property
        return ""


def markdown(path: Path) -> str:
    """Return a page as Markdown that needs no other file."""
    text = re.sub(r"\A---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = SNIPPET.sub(lambda snippet: (ROOT / snippet[1]).read_text(encoding="utf-8"), text)
    return NAMED.sub(described, text)


def write_site(site: Path) -> None:
    """Write the Markdown of each page, and of all pages in one file."""
    nav = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    texts = {target: markdown(DOCS / target) for _, target in pages(nav)}
    for target, page in texts.items():
        (site / target).parent.mkdir(parents=True, exist_ok=True)
        (site / target).write_text(page, encoding="utf-8")
    with_targets = (f"<!-- {target} -->\n\n{page.strip()}\n" for target, page in texts.items())
    (site / FULL).write_text("\n".join(with_targets), encoding="utf-8")


def main() -> int:
    """Write the file or, as the arguments say, compare it or write the pages."""
    if "--check" in sys.argv:
        current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text()
        if not current:
            sys.stderr.write(f"{PAGE.name} is out of date\n\nHint: python tools/llms.py\n")
        return 0 if current else 1
    if "--site" in sys.argv:
        write_site(Path(sys.argv[sys.argv.index("--site") + 1]))
        return 0
    PAGE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
