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
    from recframe.profiles import Definition, Profile

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "coming-from.md"
"""The page with the libraries that have no page of their own."""
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


def definition(name: str, metric: Definition) -> str:
    """Return a metric with the options of the profile, and what the library calls it if nobody would guess."""
    options = ",".join(f"{option}={value}" for option, value in metric.options.items())
    call = f"`{name}{f'({options})' if options else ''}{'@k' if metric.cut == 'needed' else ''}`"
    plain = re.sub(r"@k|_at_k|metric$|at$|_", "", metric.calls.casefold())
    theirs = "" if plain == name.replace("_", "") else metric.calls
    notes = "; ".join(filter(None, (theirs, "no k" if metric.cut == "none" else "")))
    return f"{call} ({notes})" if notes else call


def policies(profile: Profile) -> str:
    """Return the line with the policies that the profile sets, as arguments of a call, and what ties are there."""
    shown = [f'ties="{profile.ties}"'] if profile.ties else []
    if profile.min_relevance not in (None, -math.inf):
        shown.append(f"min_relevance={profile.min_relevance:g}")
    shown += [f"undefined={profile.undefined!r}", f"lists={profile.lists!r}"]
    overrides = [
        f"{option}={value!r}` in `{metric}"
        for metric, definition in profile.metrics.items()
        for option in ("undefined", "lists")
        if (value := getattr(definition, option)) is not None
    ]
    text = ", ".join(f"`{policy}`" for policy in (*shown, *overrides)).replace("'", '"')
    note = profile.ties_note[0].upper() + profile.ties_note[1:]
    least = " Every item of the truth is relevant." if profile.min_relevance == -math.inf else ""
    return f"- **Policies:** {text}.{least}\n- **Ties there:** {note}."


def section(profile: Profile, page: Path) -> str:
    """Return what the record of one library says, except the variants, which the pages of metrics have."""
    shown = ", ".join(definition(name, metric) for name, metric in profile.metrics.items())
    lines = [f'`like="{profile.name}"` has {shown}.', "", policies(profile)]
    if profile.refused:
        metrics = "metrics" if page == PAGE else "../metrics"
        lines.append(f"- **Refused:** {', '.join(f'[`{name}`]({metrics}/{name}.md)' for name in profile.refused)}.")
    departs = [f"`{name}`: {metric.departs}" for name, metric in profile.metrics.items() if metric.departs]
    if departs or profile.departs:
        lines += ["", "Departures:", "", *(f"- {entry}" for entry in (*departs, *profile.departs))]
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Return the pages with the sections of all libraries."""
    texts = {path: path.read_text(encoding="utf-8") for path in PAGES}
    described = sorted(match[2] for text in texts.values() for match in SECTION.finditer(text))
    assert described == sorted(PROFILES), set(PROFILES) ^ set(described)
    for path, text in texts.items():
        for match in SECTION.finditer(text):
            written = f"{match[1]}\n{section(PROFILES[match[2]], path)}\n"
            texts[path] = texts[path].replace(match[0], written)
    return {**texts, PAGE: COUNT.sub(number_word(), texts[PAGE])}


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
    listed_names = "\n  ".join(lines).strip()
    return NAMES.sub(listed_names, ASSISTANTS.read_text(encoding="utf-8"))


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
