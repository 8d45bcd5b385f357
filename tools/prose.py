"""Counts the words of each page, and symptoms of hard prose per 1,000 words: ``python tools/prose.py``.

Words are tokens with a letter or a digit, without tags, formulas and comments. The symptoms are counted in the prose
outside of code and tables. They show where to read aloud; they are not a goal.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
WORD = re.compile(r"\S*\w\S*")
UNSEEN = re.compile(r"<!--.*?-->|<math.*?</math>|<[a-zA-Z/!][^>\n]*>", re.DOTALL)
HIDDEN = re.compile(r"`[^`]*`|(?<=\])\([^)]*\)")
SYMPTOMS = {
    "that of": re.compile(r"\b(?:that|those) of\b", re.IGNORECASE),
    "you": re.compile(r"\byour?s?\b", re.IGNORECASE),
    "because": re.compile(r"\b(?:because|since|therefore)\b", re.IGNORECASE),
    "it, this": re.compile(r"\b(?:its?|this|that|these|those)\b", re.IGNORECASE),
}


def counted(page: Path) -> Counter[str]:
    """Return the words of a page in prose, tables and code, and the symptoms in its prose."""
    counts: Counter[str] = Counter()
    is_code = False
    for line in UNSEEN.sub(" ", page.read_text(encoding="utf-8")).splitlines():
        if re.match(r"\s*(?:```|~~~)", line):
            is_code = not is_code
            continue
        kind = "code" if is_code else "tables" if re.match(r"\s*\|", line) else "prose"
        counts[kind] += len(WORD.findall(line))
        if kind == "prose":
            text = HIDDEN.sub(" ", line)
            counts.update({name: len(pattern.findall(text)) for name, pattern in SYMPTOMS.items()})
    return counts


def main() -> None:
    """Print a line for each page, and one for all pages, for the contract, the metrics and the rest."""
    pages = {str(path.relative_to(DOCS)): counted(path) for path in sorted(DOCS.rglob("*.md"))}
    parts: dict[str, Counter[str]] = {name: Counter() for name in ("contract", "metrics", "other pages", "all")}
    for name, counts in pages.items():
        part = re.split(r"[/.]", name)[0]
        parts[part if part in parts else "other pages"] += counts
        parts["all"] += counts
    heads = ("prose", "tables", "code")
    sys.stdout.write(f"{'':34}{''.join(f'{head:>9}' for head in (*heads, 'words', *SYMPTOMS))}\n")
    for name, counts in {**pages, **parts}.items():
        words = sum(counts[head] for head in heads)
        shares = "".join(f"{1000 * counts[symptom] / max(counts['prose'], 1):9.1f}" for symptom in SYMPTOMS)
        sys.stdout.write(f"{name:34}{''.join(f'{counts[head]:9}' for head in heads)}{words:9}{shares}\n")


if __name__ == "__main__":
    main()
