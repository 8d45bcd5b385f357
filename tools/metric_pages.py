"""Writes the documentation's pages on metrics from their records and ``metric_notes.toml``, and the table of roles.

``python tools/metric_pages.py`` writes ``docs/metrics``, a page for each metric. ``--check`` fails if one is out of
date.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import polars as pl
from mathml import mathml
from metric_table import NOTES, family_of, interval

import recframe
from recframe.errors import python_text
from recframe.metrics import METRICS, CutMetric, Metric
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from recframe.metrics._families import FAMILIES
from recframe.metrics._options import options_of
from recframe.profiles import PROFILES

DOCS = Path(__file__).parent.parent / "docs"
SITE = DOCS.parent / "zensical.toml"
TIES = DOCS / "concepts" / "ties.md"
FACTORS = DOCS / "factors.md"
ACCESSOR = DOCS / "api" / "measure.md"
CALLS = "<!-- roles: written by tools/metric_pages.py -->", "<!-- end of roles -->"
INEXACT = "<!-- inexact: written by tools/metric_pages.py -->", "<!-- end of inexact -->"
WHOLE = "<!-- whole: written by tools/metric_pages.py -->", "<!-- end of whole -->"
START, END = "    # Written by tools/metric_pages.py:\n", "    # Until here.\n"
BEYOND = BeyondAccuracyMetric | ExposureMetric

ONE = """one = pl.DataFrame({
    "user":     ["ann"] * 6,
    "item":     ["tea", "jam", "rye", "oat", "fig", "nut"],
    "relevant": [2, 0, 1, 0, 0, 1],
    "score":    [0.9, 0.8, 0.7, 0.6, 0.5, None],     # nut was not recommended
})
"""
PRICES = """one["price"] = [10, 30, 5, 20, 15, 25]
"""
LISTS = """lists = pl.DataFrame({
    "user":     ["ann", "ann", "bob", "bob"],
    "item":     ["tea", "jam", "tea", "cola"],
    "relevant": [1, 0, 0, 1],
    "score":    [0.9, 0.8, 0.9, 0.8],
})
"""
TRAIN = """train = pl.DataFrame({
    "user": ["ann", "ann", "bob", "bob", "cid", "cid", "dee"],
    "item": ["tea", "jam", "tea", "cola", "tea", "jam", "tea"],
})
"""
FEATURES = """features = pl.DataFrame({
    "item":  ["tea", "jam", "cola"],
    "drink": [1, 0, 1],
    "food":  [0, 1, 0],
})
"""

ROLES = """Calls of `.rec` share these arguments. Each call reads those that it has use for. Bind them with
`df.rec(...)`, or name them for all calls with [`recframe.Config`](#recframe.Config). What they mean in full:
[the contract](../contract.md).

| argument | type | what it is |
| --- | --- | --- |
"""

PAGE = """# {title}

<!-- Written by tools/metric_pages.py from the metric's record and tools/metric_notes.toml. -->

`{name}`: {summary}.{inexact}

{tells}
{math}
| property | value |
| --- | --- |
| range | {range} |
| cutoff | {cutoff} |
| call | `df.rec.{method}`; in `evaluate`, `compare`, `describe`: {spellings} |
{rows}| reference | {references} |

[What the letters mean](../metrics.md#letters-in-formulas). `recframe.explain("{spelled}")` prints the definition that
is in force.

## When to use it

- **When:** {use}
- **Not when:** {avoid}

## By hand

![{picture}](../pictures/{file}.svg)

{frames}

{hand}

```python
>>> {statement}
{value}

```
{options}{notes}
## Other libraries

{libraries}
"""
PICTURES = {
    "one": ("metric-list", "A list of five items: tea and rye are relevant, and nut was not recommended"),
    "lists": ("metric-lists", "Two lists of two items: ann's tea and bob's cola are relevant"),
}
"""The pictures of the examples' frames, and what they show."""


def prose(text: str) -> str:
    """Return text of a docstring as Markdown: its lines joined, its roles and quotes as code."""
    text = re.sub(r":math:`([^`]*)`", r"`\1`", " ".join(text.split()))
    return text.replace("``", "`").replace("|", "\\|")


def sections(kind: type[Metric]) -> dict[str, str]:
    """Return the sections of a docstring by their titles; the text before them as an empty title."""
    parts = re.split(r"^(\w[\w ]*)\n-+\n", inspect.getdoc(kind) or "", flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def option_table(kind: type[Metric], parameters: str) -> str:
    """Return the options with what the docstring says of them."""
    described = dict(re.findall(r"^(\w+) : .*\n((?:    .*\n?|\n)+)", parameters, flags=re.MULTILINE))
    rows = []
    for option in (each for each in options_of(kind) if each.name != "k"):
        default, *others = [f'"{value}"' if value in option.words else value for value in option.values]
        values = ", ".join([f"`{default}`", *(f"`{other}`" for other in others)])
        rows.append(f"| `{option.name}` | {values} | {linked(prose(described.get(option.name, '')), kind.name)} |")
    if not rows:
        return ""
    head = ["", "## Options", "", "| option | values, default first | what it does |", "| --- | --- | --- |"]
    return "\n".join([*head, *rows, ""])


def linked(text: str, own: str) -> str:
    """Return text with links to the pages of the metrics that it names, except the page that holds it."""
    return re.sub(
        r"`(\w+)`(?!\])",
        lambda found: f"[{found[0]}]({found[1]}.md)" if found[1] in METRICS and found[1] != own else found[0],
        text,
    )


def exactly(notes: str) -> str:
    """Return the section with what the docstring adds to the range that the table shows; nothing if it adds nothing."""
    return "" if notes == "In [0, 1], higher is better." else f"\n## Exactly\n\n{notes}\n"


def library_table(name: str) -> str:
    """Return who computes the same, under which name and with which options."""
    rows = []
    for profile in PROFILES.values():
        found = profile.metrics.get(name)
        if found:
            options = ", ".join(f"{key}={value}" for key, value in found.options.items())
            rows.append(
                f'| {profile.title} | {found.calls} | `like="{profile.name}"`{f": `{options}`" if options else ""} '
                f"| {prose(found.variants)} |"
            )
        elif name in profile.refused:
            rows.append(f"| {profile.title} | | none | {prose(python_text(profile.refused[name]))} |")
    if not rows:
        return "No library with a profile computes it. [Profiles](../coming-from.md) are what `like=` accepts."
    head = ["| library | calls it | here | remarks |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows])


def inexact(kind: type[Metric]) -> tuple[str, str]:
    """Return which option makes values of tied rows not exact, or none, and what the record says of them."""
    cut = {"k": 10} if issubclass(kind, CutMetric) else {}
    if words := kind(**cut).inexact:
        return "", words
    choices = [(option.name, word) for option in options_of(kind) for word in option.words]
    found = ((f'{name}="{word}"', kind(**cut, **{name: word}).inexact) for name, word in choices)
    return next(((option, words) for option, words in found if words), ("", ""))


def first_paragraph(kind: type[Metric]) -> str:
    """Return what the first paragraph says of ties, after a space; nothing if all values are exact."""
    option, words = inexact(kind)
    return f" Under ties {f'`{option}`' if option else 'it'} is {words}." if words else ""


def ties_page() -> str:
    """Return the page on ties with the list of accuracy metrics that are not exact."""
    lines = []
    for name, kind in METRICS.items():
        option, words = inexact(kind)
        if words and not issubclass(kind, BEYOND):
            called = f"{name}({option})" if option else name
            lines.append(f"- [`{called}`](../metrics/{name}.md): {words}.")
    return replaced(TIES, INEXACT, lines)


def replaced(page: Path, marks: tuple[str, str], lines: list[str]) -> str:
    """Return a page with these lines between two marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(marks[0])
    return before + marks[0] + "\n\n" + "\n".join(lines) + "\n\n" + marks[1] + rest.partition(marks[1])[2]


def factors_page() -> str:
    """Return the page on factors with the accuracy metrics that read rows which its frame omits."""
    whole = [name for name, kind in METRICS.items() if kind().reads == "all" and not issubclass(kind, BEYOND)]
    cut = [name for name in whole if issubclass(METRICS[name], CutMetric)]
    names = [", ".join(f"`{name}`" for name in whole if (name in cut) == has_k) for has_k in (False, True)]
    lines = [
        f'- metrics that read every row: {names[0]}, `ndcg(ideal="ones")` without a cutoff,',
        "  and `pfound` with a chance for relevance 0;",
        f"- metrics that read every row up to k, beyond the k that was kept, or where scores tie there: {names[1]};",
    ]
    return replaced(FACTORS, WHOLE, lines)


def formula(said: str) -> str:
    """Return the formula of a docstring as MathML, which needs no script, or nothing if it has none."""
    found = re.search(r"^\.\. math::(.*?)(?=\n\S|\Z)", said, flags=re.DOTALL | re.MULTILINE)
    if not found:
        return ""
    math = mathml(" ".join(found[1].split()))
    return f'\n<div class="formula" tabindex="0">{math}</div>\n'


def frames_of(kinds: list[type[Metric]]) -> list[str]:
    """Return the code that makes the frames of these metrics' examples."""
    calls = [NOTES[kind.name]["call"] for kind in kinds]
    return [
        *dict.fromkeys(LISTS if frame_name(kind) == "lists" else ONE for kind in kinds),
        *([PRICES] if any(kind.name.startswith("money") for kind in kinds) else []),
        *([TRAIN] if any("train=" in call for call in calls) else []),
        *([FEATURES] if any("features=" in call for call in calls) else []),
    ]


def frame_name(kind: type[Metric]) -> str:
    """Return the name of the frame of a metric's example."""
    return "lists" if issubclass(kind, BEYOND) or kind.name == "serendipity" else "one"


def block(frames: list[str]) -> str:
    """Return the code that makes frames of pandas, as a block."""
    lines = [
        (">>> " if number == 0 or line[0] not in " }" else "... ") + line
        for frame in frames
        for number, line in enumerate(frame.replace("pl.DataFrame", "pd.DataFrame").splitlines())
    ]
    return "\n".join(["```python", ">>> import pandas as pd", ">>> import recframe", *lines, "", "```"])


def example(kind: type[Metric], call: str, hand: str) -> tuple[str, Any]:
    """Return the example's statement and its value, which must be that of the calculation by hand."""
    scope: dict[str, Any] = {"pl": pl, "recframe": recframe}
    for frame in frames_of([kind]):
        # The examples are checked where pandas is missing too.
        if frame == PRICES:
            scope["one"] = scope["one"].with_columns(price=pl.Series([10, 30, 5, 20, 15, 25]))
            continue
        exec(frame, scope)  # noqa: S102 - the lines that the page shows
    statement = f"round({frame_name(kind)}.rec.{call}, 4)"
    value = eval(statement, scope)  # noqa: S307 - as above
    if not hand.rstrip(".").endswith(f" {value}"):
        msg = f"{kind.name} is {value}, not what is said: {hand}"
        raise SystemExit(msg)
    return statement, value


def page(kind: type[Metric]) -> str:
    """Return the page of one metric."""
    note, said = NOTES[kind.name], sections(kind)
    cut = issubclass(kind, CutMetric)
    rows = [
        f"| {verb} | {', '.join(f'`{name}=`' for name in names)} |\n"
        for verb, names in (("needs", kind.required_inputs), ("reads", kind.optional_inputs))
        if names
    ]
    spelled = f"{kind.name}@10" if cut else kind.name
    statement, value = example(kind, note["call"], note["hand"])
    file, picture = PICTURES[frame_name(kind)]
    return PAGE.format(
        title=note["title"],
        tells=linked(note["tells"], kind.name),
        picture=picture,
        file=file,
        frames=block(frames_of([kind])),
        spelled=spelled,
        name=kind.name,
        summary=kind.summary,
        inexact=first_paragraph(kind),
        math=formula(said[""]),
        range=interval(kind),
        cutoff="`k`; without it, the whole list" if cut else "accepts no k",
        rows="".join(rows),
        method=f"{kind.name}({'k=10' if cut else ''})",
        spellings=", ".join(f'`"{name}"`' for name in (spelled, *kind.aliases)),
        hand=note["hand"],
        statement=statement,
        value=value,
        use=linked(note["use"], kind.name),
        avoid=linked(note["avoid"], kind.name),
        options=option_table(kind, said.get("Parameters", "")),
        notes=exactly(prose(said["Notes"])),
        libraries=library_table(kind.name),
        references=prose(said["References"]),
    )


def navigation() -> str:
    """Return the site's settings with all pages of metrics in the navigation."""
    before, _, rest = SITE.read_text(encoding="utf-8").partition(START)
    lines = []
    for family, (title, _) in FAMILIES.items():
        kinds = [kind for kind in METRICS.values() if family_of(kind) == family]
        pages = [f'      {{ "{NOTES[kind.name]["title"]}" = "metrics/{kind.name}.md" }},' for kind in kinds]
        lines += [f'    {{ "{title}" = [', *pages, "    ] },"]
    return before + START + "\n".join(lines) + "\n" + END + rest.partition(END)[2]


def roles() -> str:
    """Return the page of the namespace with the arguments that all calls share."""
    said = inspect.getdoc(recframe.EagerRec.__call__) or ""
    found = re.findall(r"^(\w+) : (.*)\n((?:    .*\n?)+)", said, flags=re.MULTILINE)
    rows = [f"| `{name}` | {prose(kind)} | {prose(words)} |" for name, kind, words in found]
    return replaced(ACCESSOR, CALLS, [ROLES + "\n".join(rows)])


def main() -> int:
    """Write the pages, or with --check compare them."""
    pages = {DOCS / "metrics" / f"{name}.md": page(kind) for name, kind in METRICS.items()}
    pages[ACCESSOR] = roles()
    pages[SITE] = navigation()
    pages[TIES] = ties_page()
    pages[FACTORS] = factors_page()
    if "--check" in sys.argv:
        present = set((DOCS / "metrics").glob("*.md"))
        old = [
            path.name for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text
        ]
        old += [path.name for path in sorted(present - set(pages))]
        if old:
            sys.stderr.write(f"{', '.join(old)} out of date\n\nHint: python tools/metric_pages.py\n")
        return 1 if old else 0
    for path, text in pages.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
