"""Writes what the page on other libraries takes from their profiles, and where other pages count or list them.

``python tools/profile_table.py`` writes these pages; ``--check`` fails if one of them is out of date.
"""

from __future__ import annotations

import math
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from recframe.metrics import METRICS
from recframe.profiles import PROFILES

if TYPE_CHECKING:
    from recframe.profiles import Definition, Profile

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "coming-from.md"
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
"""Where the page has what the record of a library says."""
TABLES = "<!-- tables: written by tools/profile_table.py -->", "<!-- end of tables -->"
HEAD = """## What each computes

- An empty cell: refused.
- `✓`: our definition, without options.
- Otherwise the options that differ.
- `k`: a cutoff is needed. `no k`: there is none.

"""
POLICIES = """
## Policies

| `like=` | ties | relevant from | a list without relevant items | lists averaged |
| --- | --- | --- | --- | --- |
"""

LISTS = {
    "all": "all; nothing recommended scores 0",
    "truth": "those of the truth; nothing recommended scores 0",
    "ranked": "those that were recommended something",
    "both": "those of the truth that were recommended something",
}


def cell(definition: Definition | None) -> str:
    """Return what a library computes, in short."""
    if definition is None:
        return ""
    options = [f"{name}={value}" for name, value in definition.options.items()]
    cut = {"needed": "k", "none": "no k", "any": ""}[definition.cut]
    return ", ".join(filter(None, [f"`{','.join(options)}`" if options else "✓", cut]))


def policies(profile: Profile) -> str:
    """Return the row of a profile's policies."""
    ties = f"`{profile.ties}`" if profile.ties else "as given, else `average`"
    least = {None: "above 0", -math.inf: "every row of the truth, whatever its value; without `truth=`, above 0"}.get(
        profile.min_relevance, f"{profile.min_relevance or 0:g}"
    )

    def note_on(name: str) -> str:
        own = [(metric, getattr(found, name)) for metric, found in profile.metrics.items()]
        return "".join(f"; `{metric}`: {_undefined_or_lists(value)}" for metric, value in own if value is not None)

    return (
        f"| `{profile.name}` | {ties}: {profile.ties_note} | {least} "
        f"| {_undefined_or_lists(profile.undefined)}{note_on('undefined')} "
        f"| {_undefined_or_lists(profile.lists)}{note_on('lists')} |"
    )


def _undefined_or_lists(value: object) -> str:
    return "left out" if value == "skip" else LISTS.get(str(value), f"counts {value}")


def section(profile: Profile) -> str:
    """Return what the record of one library says."""
    lines = [f'**`like="{profile.name}"`**']
    names = [f"`{name}`: {found.calls}" for name, found in profile.metrics.items()]
    lines[0] += f": what it calls them: {'; '.join(names)}."
    variants = [f"`{name}`: {found.variants}" for name, found in profile.metrics.items() if found.variants]
    refused = [f"`{name}`: {does}" for name, does in profile.refused.items()]
    departs = [f"`{name}`: {found.departs}" for name, found in profile.metrics.items() if found.departs]
    for heading, entries in (
        ("Variants", variants),
        ("Refused, as no option expresses it", refused),
        ("Departures", [*departs, *profile.departs]),
    ):
        if entries:
            lines += ["", f"{heading}:", "", *(f"- {entry}" for entry in entries)]
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return the page with the sections and the tables of all libraries."""
    names = [name for name in METRICS if any(name in profile.metrics for profile in PROFILES.values())]
    table = ["| metric | " + " | ".join(f"`{name}`" for name in PROFILES) + " |", "| --- |" + " --- |" * len(PROFILES)]
    table += [
        f"| `{name}` | " + " | ".join(cell(profile.metrics.get(name)) for profile in PROFILES.values()) + " |"
        for name in names
    ]
    rows = [policies(profile) for profile in PROFILES.values()]
    tables = "\n".join([HEAD + "\n".join(table), POLICIES + "\n".join(rows)])
    text = PAGE.read_text(encoding="utf-8")
    described = sorted(found[2] for found in SECTION.finditer(text))
    assert described == sorted(PROFILES), set(PROFILES) ^ set(described)
    text = SECTION.sub(lambda found: f"{found[1]}\n{section(PROFILES[found[2]])}\n", text)
    before, _, rest = text.partition(TABLES[0])
    text = before + TABLES[0] + "\n\n" + tables + "\n\n" + TABLES[1] + rest.partition(TABLES[1])[2]
    return COUNT.sub(number_word(), text)


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
    """Write the pages, or with --check compare it."""
    pages = {PAGE: page(), **counted(), ASSISTANTS: listed()}
    if "--check" in sys.argv:
        old = [path.name for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
        if old:
            sys.stderr.write(f"{', '.join(old)} is out of date\n\nHint: python tools/profile_table.py\n")
        return 1 if old else 0
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
