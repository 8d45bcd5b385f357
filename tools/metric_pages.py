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
from metric_table import FRAMES, NOTES, family_of

import recframe
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
COUNTED = [DOCS.parent / "README.md", DOCS / "index.md", DOCS.parent / "CHANGELOG.md"]
"""The pages that say how many metrics there are."""
COUNT = re.compile(r"\d+(?= metrics,\s+honest| ranking, rating)")
CALLS = "<!-- roles: written by tools/metric_pages.py -->", "<!-- end of roles -->"
INEXACT = "<!-- inexact: written by tools/metric_pages.py -->", "<!-- end of inexact -->"
WHOLE_LISTS = "<!-- whole: written by tools/metric_pages.py -->", "<!-- end of whole -->"
START, END = "    # Written by tools/metric_pages.py:\n", "    # Until here.\n"
BEYOND = BeyondAccuracyMetric | ExposureMetric

ROLES = """Calls of `.rec` share these arguments. Each call reads those that it has use for. Bind them with
`df.rec(...)`, or name them for all calls with [`recframe.Config`](#recframe.Config). What they mean in full:
[the contract](../contract.md).

| argument | type | what it is |
| --- | --- | --- |
"""

PAGE = """# {title}

<!-- Written by tools/metric_pages.py from the metric's record and tools/metric_notes.toml. -->

{tells}
{math}{letters}
- **Call:** {call}
- **Range:** {range}
{more}- **Source:** {references}

## When to use it

- **When:** {use}
- **Not when:** {avoid}

## By hand

![{picture}](../pictures/{file}.svg)

{hand}

```python
>>> {statement}
{value}

```

{frames}
{options}{details}
## Other libraries

{libraries}
"""
PICTURES = {
    "one": ("metric-list", "Relevance: tea 2, jam 0, rye 1, oat 0, fig 0; unranked: nut 1"),
    "lists": ("metric-lists", "ann: tea 1, jam 0; bob: tea 0, cola 1"),
}
"""The pictures of the examples' frames, and what they show."""
EXAMPLES = "../metrics.md#the-examples"
INEXACT_VALUES = "../concepts/ties.md#what-is-not-exact"
HOW_FAR = re.compile(r", up to (\d\.\d+)(?: off| too low)? in lists of up to 7 rows")
"""The part of a record's text on ties that the page on ties says."""


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
    head = ["", "## Options", "", "| option | values, default first | effect |", "| --- | --- | --- |"]
    return "\n".join([*head, *rows, ""])


def linked(text: str, this_page: str) -> str:
    """Return text with links to the pages of the metrics that it names, except the page that holds it."""
    return re.sub(
        r"`(\w+)`(?!\])",
        lambda match: f"[{match[0]}]({match[1]}.md)" if match[1] in METRICS and match[1] != this_page else match[0],
        text,
    )


def notes_of(kind: type[Metric], notes: str) -> tuple[str, str]:
    """Return the sentence of a docstring's notes that names the range, and the section with the rest, if any."""
    first, *others = [prose(paragraph) for paragraph in notes.strip().split("\n\n")]
    scale, dot, rest = first.partition(". ")
    paragraphs = [linked(paragraph, kind.name) for paragraph in (rest, *others) if paragraph]
    section = "\n\n".join(["\n## Details", *paragraphs]) + "\n" if paragraphs else ""
    return scale + dot.strip(), section


def library_table(name: str) -> str:
    """Return who computes the same, under which name and with which options, and who does not."""
    rows, others = [], []
    for profile in PROFILES.values():
        definition = profile.metrics.get(name)
        if definition:
            # Each option is code of its own, so that a row can break between them.
            options = ", ".join(f"`{key}={value}`" for key, value in definition.options.items())
            rows.append((f"`{profile.name}`", definition.calls, options, prose(definition.variants)))
        elif name in profile.refused:
            others.append(f"- {profile.title}: {prose(profile.refused[name])}")
    if not rows and not others:
        return "No library with a [profile](../coming-from.md) has it."
    titles = ("`like=`", "its name", "options it sets", "remarks")
    shown = [number for number in range(len(titles)) if number == 0 or any(row[number] for row in rows)]
    table = [titles, ("---",) * len(titles), *rows] if rows else []
    lines = [f"| {' | '.join(row[number] for number in shown)} |" for row in table]
    return "\n".join(
        [*lines, *(["", "No `like=` for:", ""] if rows else ["No `like=` for:", ""]), *others] if others else lines
    )


def inexact(kind: type[Metric]) -> tuple[str, str]:
    """Return which option makes values of tied rows not exact, or none, and what the record says of them."""
    cut = {"k": 10} if issubclass(kind, CutMetric) else {}
    if words := kind(**cut).inexact:
        return "", words
    choices = [(option.name, word) for option in options_of(kind) for word in option.words]
    inexact = ((f'{name}="{word}"', kind(**cut, **{name: word}).inexact) for name, word in choices)
    return next(((option, words) for option, words in inexact if words), ("", ""))


def facts(kind: type[Metric]) -> str:
    """Return the lines on what a metric needs, and on ties if some values are not exact."""
    option, words = inexact(kind)
    needed, optional = (
        ", ".join(f"`{name}=`" for name in names) for names in (kind.required_inputs, kind.optional_inputs)
    )
    lines = [f"- **{title}:** {names}\n" for title, names in (("Needs", needed), ("Optional", optional)) if names]
    if issubclass(kind, BEYOND) and words:
        lines.append("- **Under ties:** it reads one order, the smaller item first\n")
    elif words:
        cause = HOW_FAR.sub("", words)
        subject = f"`{option}` is " if option else ""
        lines.append(f"- **Under ties:** {subject}{cause} ([by how much]({INEXACT_VALUES}))\n")
    return "".join(lines)


def ties_page() -> str:
    """Return the page on ties with the list of accuracy metrics that are not exact."""
    names = []
    for name, kind in METRICS.items():
        option, words = inexact(kind)
        if words and not issubclass(kind, BEYOND):
            called = f"{name}({option})" if option else name
            (most,) = HOW_FAR.findall(words)
            names.append(f"[`{called}`](../metrics/{name}.md) {most}")
    return replaced(TIES, INEXACT, [", ".join(names) + "."])


def replaced(page: Path, marks: tuple[str, str], lines: list[str]) -> str:
    """Return a page with these lines between two marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(marks[0])
    return before + marks[0] + "\n\n" + "\n".join(lines) + "\n\n" + marks[1] + rest.partition(marks[1])[2]


def factors_page() -> str:
    """Return the page on factors with the accuracy metrics that read rows which its frame omits."""
    whole_list = [name for name, kind in METRICS.items() if kind().reads == "all" and not issubclass(kind, BEYOND)]
    cut = [name for name in whole_list if issubclass(METRICS[name], CutMetric)]
    names = [", ".join(f"`{name}`" for name in whole_list if (name in cut) == has_k) for has_k in (False, True)]
    lines = [
        f'- metrics that read every row: {names[0]}, `ndcg(ideal="ones")` without a cutoff,',
        "  and `pfound` with a chance for relevance 0;",
        f"- metrics that read every row up to k, beyond the k that was kept, or where scores tie there: {names[1]};",
    ]
    return replaced(FACTORS, WHOLE_LISTS, lines)


def formula(docstring: str) -> str:
    """Return the formula of a docstring as MathML, which needs no script, or nothing if it has none."""
    block = re.search(r"^\.\. math::(.*?)(?=\n\S|\Z)", docstring, flags=re.DOTALL | re.MULTILINE)
    if not block:
        return ""
    math = mathml(" ".join(block[1].split()))
    return f'\n<div class="formula" tabindex="0">{math}</div>\n'


def frame_name(kind: type[Metric]) -> str:
    """Return the name of the frame of a metric's example."""
    return "lists" if issubclass(kind, BEYOND) or kind.name == "serendipity" else "one"


def example(kind: type[Metric], call: str, hand: str) -> tuple[str, Any]:
    """Return the example's statement and its value, which must equal the calculation by hand."""
    scope: dict[str, Any] = {"pl": pl, "recframe": recframe}
    for frame in FRAMES:
        # The examples are checked where pandas is missing too.
        exec(frame, scope)  # noqa: S102 - the lines that the overview shows
    statement = f"round({frame_name(kind)}.rec.{call}, 4)"
    value = eval(statement, scope)  # noqa: S307 - as above
    if not hand.rstrip(".").endswith(f" {value}"):
        msg = f"{kind.name} is {value}, but the docstring says {hand}"
        raise SystemExit(msg)
    return statement, value


def call_of(kind: type[Metric]) -> str:
    """Return how a metric is called, by method and by name."""
    cut = issubclass(kind, CutMetric)
    spelled = f"{kind.name}@10" if cut else kind.name
    aliases = ", ".join(f'`"{name}"`' for name in kind.aliases)
    also = f"; also named {aliases}" if aliases else ""
    return f'`df.rec.{kind.name}({"k=10" if cut else ""})` or `"{spelled}"`{also}'


def letters_of(text: str) -> str:
    """Return what a docstring says after its formula: the meaning of the letters."""
    _, marker, rest = text.partition(".. math::")
    paragraphs = re.split(r"\n(?=\S)", rest, maxsplit=1) if marker else []
    return f"\n{linked(prose(paragraphs[1]), '')}\n" if len(paragraphs) > 1 else ""


def page(kind: type[Metric]) -> str:
    """Return the page of one metric."""
    note, parts = NOTES[kind.name], sections(kind)
    statement, value = example(kind, note["call"], note["hand"])
    file, picture = PICTURES[frame_name(kind)]
    scale, details = notes_of(kind, parts["Notes"])
    names = [frame_name(kind), *(name for name in ("train", "features") if f"{name}=" in note["call"])]
    *first, last = [f"`{name}`" for name in names]
    frames = f"{', '.join(first)} and {last}" if first else last
    return PAGE.format(
        title=note["title"],
        tells=linked(note["tells"], kind.name),
        math=formula(parts[""]),
        letters=letters_of(parts[""]),
        call=call_of(kind),
        range=scale,
        more=facts(kind),
        references=prose(kind.reference),
        use=linked(note["use"], kind.name),
        avoid=linked(note["avoid"], kind.name),
        picture=picture,
        file=file,
        hand=note["hand"],
        statement=statement,
        value=value,
        frames=f"[Data: {frames}]({EXAMPLES}).",
        options=option_table(kind, parts.get("Parameters", "")),
        details=details,
        libraries=library_table(kind.name),
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
    docstring = inspect.getdoc(recframe.EagerRec.__call__) or ""
    roles = re.findall(r"^(\w+) : (.*)\n((?:    .*\n?)+)", docstring, flags=re.MULTILINE)
    rows = [f"| `{name}` | {prose(kind)} | {prose(words)} |" for name, kind, words in roles]
    return replaced(ACCESSOR, CALLS, [ROLES + "\n".join(rows)])


def main() -> int:
    """Write the pages, or with --check compare them."""
    pages = {DOCS / "metrics" / f"{name}.md": page(kind) for name, kind in METRICS.items()}
    pages[ACCESSOR] = roles()
    pages[SITE] = navigation()
    pages[TIES] = ties_page()
    pages[FACTORS] = factors_page()
    pages |= {path: COUNT.sub(str(len(METRICS)), path.read_text(encoding="utf-8")) for path in COUNTED}
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
