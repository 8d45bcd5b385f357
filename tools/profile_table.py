"""Writes what the pages on other libraries take from their profiles, and where other pages count or list them.

``python tools/profile_table.py`` writes these pages; ``--check`` fails if one of them is out of date.
"""

from __future__ import annotations

import math
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from recframe.profiles import PROFILES

if TYPE_CHECKING:
    from recframe.profiles import Profile

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "coming-from.md"
"""The page with the tables, and with the libraries that have no page of their own."""
PAGES = (PAGE, *sorted(PAGE.with_suffix("").glob("*.md")))
ASSISTANTS = ROOT / "tools" / "assistants.md"
TENS = ("twenty", "thirty", "forty", "fifty")
UNITS = ("", "-one", "-two", "-three", "-four", "-five", "-six", "-seven", "-eight", "-nine")
PLACES = {
    "README.md": (r"(?<=\[)[\w-]+(?= libraries\]\(docs/coming-from)",),
    "docs/index.md": (r"(?<=\[)[\w-]+(?= libraries\]\(coming-from)",),
}
"""Where the number of libraries stands in pages that are written by hand."""
COUNT = re.compile(r"(?<=sets the definitions of )[\w-]+(?= of them)")
NAMES = re.compile(r"(?<=Another library's definition: )`like=.*?(?=\.\n)", re.DOTALL)
"""Where the rules for assistants list them."""

SECTION = re.compile(
    r"(<!-- profile (\w+), written by tools/profile_table.py -->\n).*?(?=<!-- end of profile -->)", re.DOTALL
)
"""Where a page has what the record of a library says."""
TABLES = "<!-- tables: written by tools/profile_table.py -->", "<!-- end of tables -->"
HEAD = """## What each computes

- Other metrics than these are refused. Each metric's page, such as [NDCG](metrics/ndcg.md), has what the libraries
  call it, their variants, and what they do if it is refused.
- `ndcg@k`: a cutoff is needed. `f1` (no k): there is none. The others accept both.

| `like=` | as here | with these options |
| --- | --- | --- |
"""
POLICIES = """
## Policies

- labels: every row of the truth is relevant, whatever its value. Without `truth=`, a value above 0 is.
- `ranked`: the mean is over the lists that were recommended something. `truth`: over the lists of the truth.
  `both`: over the lists in both. `all`: over the lists in either. Under `truth` and `all`, a list that was recommended
  nothing scores 0.

| `like=` | ties | relevant from | a list without relevant items | `lists` |
| --- | --- | --- | --- | --- |
"""


def definitions(profile: Profile) -> str:
    """Return the row with what a library computes: our definitions, and those with other options."""
    same: list[str] = []
    other: list[str] = []
    for name, found in profile.metrics.items():
        options = ",".join(f"{option}={value}" for option, value in found.options.items())
        shown = f"`{name}{f'({options})' if options else ''}{'@k' if found.cut == 'needed' else ''}`"
        (other if options else same).append(shown + (" (no k)" if found.cut == "none" else ""))
    return f"| `{profile.name}` | {', '.join(same)} | {', '.join(other)} |"


def policies(profile: Profile) -> str:
    """Return the row of a profile's policies."""
    ties = f"`{profile.ties}`" if profile.ties else "`ties=`, by default `average`"
    least = {None: "above 0", -math.inf: "labels"}.get(profile.min_relevance, f"{profile.min_relevance or 0:g}")

    def note_on(name: str) -> str:
        own = [(metric, getattr(found, name)) for metric, found in profile.metrics.items()]
        return "".join(f"; `{metric}`: {_undefined_or_lists(value)}" for metric, value in own if value is not None)

    return (
        f"| `{profile.name}` | {ties}: {profile.ties_note} | {least} "
        f"| {_undefined_or_lists(profile.undefined)}{note_on('undefined')} "
        f"| {_undefined_or_lists(profile.lists)}{note_on('lists')} |"
    )


def _undefined_or_lists(value: object) -> str:
    return "left out" if value == "skip" else f"`{value}`" if isinstance(value, str) else f"counts {value}"


def section(profile: Profile, page: Path) -> str:
    """Return what the record of one library says; what the pages of metrics have too, only a page of its own has."""
    names = [f"`{name}`: {found.calls}" for name, found in profile.metrics.items() if found.calls != name]
    if len(names) < len(profile.metrics):
        names.append("other names are as here")
    lines = [f'**`like="{profile.name}"`** and its own names: {"; ".join(names)}.']
    if profile.refused:
        metrics = "metrics" if page == PAGE else "../metrics"
        refused = [f"[`{name}`]({metrics}/{name}.md)" for name in profile.refused]
        lines += ["", f"Refused, and the metric's page says why: {', '.join(refused)}."]
    variants = [f"`{name}`: {found.variants}" for name, found in profile.metrics.items() if found.variants]
    departs = [f"`{name}`: {found.departs}" for name, found in profile.metrics.items() if found.departs]
    for heading, entries in (
        ("Variants", variants if page != PAGE else ()),
        ("Departures", [*departs, *profile.departs]),
    ):
        if entries:
            lines += ["", f"{heading}:", "", *(f"- {entry}" for entry in entries)]
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Return the pages with the sections and the tables of all libraries."""
    texts = {path: path.read_text(encoding="utf-8") for path in PAGES}
    described = sorted(found[2] for text in texts.values() for found in SECTION.finditer(text))
    assert described == sorted(PROFILES), set(PROFILES) ^ set(described)
    for path, text in texts.items():
        for found in SECTION.finditer(text):
            written = f"{found[1]}\n{section(PROFILES[found[2]], path)}\n"
            texts[path] = texts[path].replace(found[0], written)
    rows = [[write(profile) for profile in PROFILES.values()] for write in (definitions, policies)]
    tables = HEAD + "\n".join(rows[0]) + "\n" + POLICIES + "\n".join(rows[1])
    before, _, rest = texts[PAGE].partition(TABLES[0])
    text = before + TABLES[0] + "\n\n" + tables + "\n\n" + TABLES[1] + rest.partition(TABLES[1])[2]
    return {**texts, PAGE: COUNT.sub(number_word(), text)}


def number_word() -> str:
    """Return the number of libraries as a word."""
    ten, unit = divmod(len(PROFILES), 10)
    return TENS[ten - 2] + UNITS[unit]


def counted() -> dict[Path, str]:
    """Return the pages that say how many libraries there are."""
    pages = {}
    for name, places in PLACES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for place in places:
            text, count = re.subn(place, number_word(), text)
            assert count == 1, (name, place)
        pages[ROOT / name] = text
    return pages


def listed() -> str:
    """Return the rules for assistants, which list the libraries."""
    *names, last = (f'`"{name}"`' for name in PROFILES)
    text = f"{', '.join(names)} or {last}".replace("`", "`like=", 1)
    lines = textwrap.wrap(text, 150, initial_indent=" " * 34)
    found = "\n  ".join(lines).strip()
    return NAMES.sub(found, ASSISTANTS.read_text(encoding="utf-8"))


def main() -> int:
    """Write the pages, or with --check compare them."""
    written = {**pages(), **counted(), ASSISTANTS: listed()}
    if "--check" in sys.argv:
        old = [path.name for path, text in written.items() if path.read_text(encoding="utf-8") != text]
        if old:
            sys.stderr.write(f"{', '.join(old)} is out of date\n\nHint: python tools/profile_table.py\n")
        return 1 if old else 0
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
