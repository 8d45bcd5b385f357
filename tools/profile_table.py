"""Writes the documentation's page on profiles from their records, and where other pages count or list them.

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
PAGE = ROOT / "docs" / "profiles.md"
ASSISTANTS = ROOT / "docs" / "assistants.md"
TENS = ("twenty", "thirty", "forty", "fifty")
UNITS = ("", "-one", "-two", "-three", "-four", "-five", "-six", "-seven", "-eight", "-nine")
PLACES = {
    "README.md": (r"(?<=\[)[\w-]+(?= libraries\]\(docs/profiles)", r"(?<=\[profiles of )[\w-]+(?= libraries\])"),
    "docs/index.md": (r"(?<=\[)[\w-]+(?= libraries\]\(profiles)",),
    "docs/coming-from.md": (r"(?<=sets the definitions of )[\w-]+(?= of them)",),
}
"""Where the number of libraries stands in pages that are written by hand."""
NAMES = re.compile(r"(?<=Another library's definition: )`like=.*?(?=\.\n)", re.DOTALL)
"""Where the page for assistants lists them."""

HEAD = """# Profiles

Libraries define the same metric differently. `like=` names a library and gives its numbers. It sets the options of the
metrics and the policies of that library.

=== "pandas"

    ```python
    >>> import pandas as pd
    >>> import recframe
    >>> one = pd.DataFrame({
    ...     "item":  ["a", "x", "b", "y", "z", "c", "d"],
    ...     "grade": [3, 0, 1, 0, 0, 2, 1],                          # c and d are relevant, but were not recommended
    ...     "score": [10, 9, 8, 7, 6, None, None],
    ... })
    >>> for like in ("rectools", "recommenders", "trec_eval", "sklearn"):
    ...     print(f"{like:12} {one.rec.ndcg(10, by=None, relevant='grade', like=like):.4f}")
    rectools     0.3301
    recommenders 0.5856
    trec_eval    0.6740
    sklearn      0.9639

    ```

=== "polars"

    ```python
    >>> import polars as pl
    >>> import recframe
    >>> one = pl.DataFrame({
    ...     "item":  ["a", "x", "b", "y", "z", "c", "d"],
    ...     "grade": [3, 0, 1, 0, 0, 2, 1],                          # c and d are relevant, but were not recommended
    ...     "score": [10, 9, 8, 7, 6, None, None],
    ... })
    >>> for like in ("rectools", "recommenders", "trec_eval", "sklearn"):
    ...     print(f"{like:12} {one.rec.ndcg(10, by=None, relevant='grade', like=like):.4f}")
    rectools     0.3301
    recommenders 0.5856
    trec_eval    0.6740
    sklearn      0.9639

    ```

`explain` says in words what a library computes:

```python
>>> print(recframe.explain("ndcg@10", like="sklearn"))
ndcg@10 like scikit-learn, which calls it ndcg_score
<BLANKLINE>
  DCG@10 / IDCG@10
  DCG@10 = Σ r≤10 of gain(r)·discount(r)
  IDCG@10 = the same sum with the ranked rows in their best order; unranked ones do not exist
  gain(r) = relevance, of the row at position r
  discount(r) = 1 / log2(r + 1)
<BLANKLINE>
r          position, from 1
relevant   a relevance above 0
ties       exact expected value over all orders of the rows of equal score (scikit-learn: exact
           expected value in ndcg_score and dcg_score, tied pairs one half in roc_auc_score;
           average_precision_score counts tied rows as one threshold)
undefined  a list without relevant rows, or whose ideal is 0: counts as 0.0
lists      the lists that were recommended something
departs    ndcg_score raises for a list of one row, which has a value here.
spelled    ndcg(ideal=ranked)@10, ties='average', undefined=0.0, lists='ranked'
reference  Järvelin, Kekäläinen, ACM TOIS 2002; trec_eval `ndcg_cut`

```

- Every metric's method, `measure` and `evaluate` have `like=`. `df.rec(like="trec_eval")` binds it.
- What you give yourself wins: `df.rec.ndcg(10, like="rectools", ideal="all")`, `"ndcg(ideal=all)@10"`,
  `undefined="skip"`, and bound roles and policies. The options of a metric object count as given if they differ from
  their defaults.
- Result columns have the names that you wrote, such as `ndcg@10`. So the results of several libraries can be stacked
  in one table. `explain` says what a name means, and how to write the same call without a profile.
- A metric is refused if the library does not have it, or if no option expresses its definition. The error says what
  the library does. If the library has no cutoff, `evaluate(..., k=[5, 10])` gives one column.
- Some data is refused too, on eager frames. With `truth=`, these are items that are repeated in a list or in the
  truth: libraries refuse them or count them each time. If the library has no negative relevance, negative relevance
  is refused.
- `min_relevance=` with a profile is the library's own level, if it has one (trec_eval's `-l`, `-l2` of ranx). For
  libraries that read labels, it says which rows are labelled. For libraries that count every row, it says which rows
  of the truth they get. A metric that reads grades and has no level refuses it. The `ndcg` of trec_eval ignores it,
  as the library does.
- If a library departs from its own documentation, the profile follows the documentation. The departures are listed
  below.
- `python -m recframe explain "ndcg@10" --like rectools` prints the text of `explain`.

Every profile is tested against the library itself (`tests/peers`). The tests use 10,000 random lists without a
relevance level and 10,000 with one. These have ties, negative grades, missing truth, no relevant items or only
relevant items, one row, or no recommendations. Installed libraries run live, in CI all but RecBole and TensorFlow
Ranking, which take gigabytes. The recorded values of all are compared everywhere. `tools/profile_table.py` writes the
tables below from the records that the calls use.

## What each computes

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
    """Return what there is to say of one library."""
    lines = [f'### {profile.title}: `like="{profile.name}"`', ""]
    names = [f"`{name}`: {found.calls}" for name, found in profile.metrics.items()]
    lines += [f"What it calls them: {'; '.join(names)}."]
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
    """Return the whole page."""
    names = [name for name in METRICS if any(name in profile.metrics for profile in PROFILES.values())]
    table = ["| metric | " + " | ".join(f"`{name}`" for name in PROFILES) + " |", "| --- |" + " --- |" * len(PROFILES)]
    table += [
        f"| `{name}` | " + " | ".join(cell(profile.metrics.get(name)) for profile in PROFILES.values()) + " |"
        for name in names
    ]
    rows = [policies(profile) for profile in PROFILES.values()]
    sections = [section(profile) for profile in PROFILES.values()]
    return HEAD + "\n".join(table) + "\n" + POLICIES + "\n".join(rows) + "\n\n## Libraries\n\n" + "\n".join(sections)


def counted() -> dict[Path, str]:
    """Return the pages that say how many libraries there are."""
    ten, unit = divmod(len(PROFILES), 10)
    pages = {}
    for name, places in PLACES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for place in places:
            text, count = re.subn(place, TENS[ten - 2] + UNITS[unit], text)
            assert count == 1, (name, place)
        pages[ROOT / name] = text
    return pages


def listed() -> str:
    """Return the page for assistants, which lists the libraries."""
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
