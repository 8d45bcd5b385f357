"""An extension of Python-Markdown for the site: code and output apart, and a description of each page.

Pages hold examples as doctests, which the tests run. The site shows their code as it can be pasted, and what it prints
in a block of its own. ``zensical.toml`` names this module.
"""

from __future__ import annotations

import re
import textwrap
from importlib import import_module
from typing import TYPE_CHECKING, Any

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from zensical.extensions.context import ContextPreprocessor

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

FENCE = re.compile(r"^(?P<indent> *)```(?:python|py)\n(?P<body>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE)
# By its name: type checkers know the tools as modules without a package.
description = import_module("tools.llms").description
PROMPTS = (">>> ", "... ")
LONGEST_NAME, LONGEST_WORD = 32, 40
"""Letters of code that fit in a line of a phone: of a name beside other words, and of a word alone."""
BREAK = re.compile(r"(?<=[/.,(=])(?=\w)")
"""Where a longer word may go on in the next line."""
RULE = re.compile(r"^(\*\*([A-Z]{1,2}\d+)\.\*\*)(?= )", re.MULTILINE)
"""The number of a rule of the contract, at the start of its paragraph."""


def parts(body: str) -> list[tuple[str, list[str]]]:
    """Return the lines of a doctest in turns: code without prompts, and what it prints."""
    parts: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        kind = "python" if line.startswith(PROMPTS) or line in (">>>", "...") else "text"
        text = re.sub(r" *# doctest: .*", "", line[4:]) if kind == "python" else line.replace("<BLANKLINE>", "")
        if not parts or parts[-1][0] != kind:
            parts.append((kind, []))
        parts[-1][1].append(text)
    return [(kind, lines) for kind, lines in parts if any(lines)]


def split(block: re.Match[str]) -> str:
    """Return the blocks of code and output of a doctest; other code as it is."""
    body = textwrap.dedent(block["body"])
    if not body.startswith(">>>"):
        return block[0]
    blocks = []
    for kind, lines in parts(body):
        text = "\n".join(lines).strip("\n")
        opening = "``` { .text .output }" if kind == "text" else "```python"
        blocks.append(f"{opening}\n{text}\n```")
    return textwrap.indent("\n\n".join(blocks), block["indent"])


def with_anchors(text: str) -> str:
    """Return a page in which each numbered rule has its number as an anchor, so that a link can cite it."""
    return RULE.sub(lambda rule: f"{rule[1]}{{ #{rule[2].lower()} }}", text)


class Pages(Preprocessor):  # type: ignore[misc]
    """Splits the examples of a page, anchors its rules, and describes it."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines of the page with its examples split and its rules as anchors."""
        text = "\n".join(lines)
        context = ContextPreprocessor.from_markdown(self.md)
        page = context.page if context else None
        if page and "description" not in page.meta and (sentence := description(text)):
            page.meta["description"] = sentence
        return with_anchors(FENCE.sub(split, text)).split("\n")


class Names(Treeprocessor):  # type: ignore[misc]
    """Says where code in a sentence may go on in the next line: not at a hyphen, and in long words after a sign."""

    def run(self, root: Element) -> None:
        """Mark short names, such as ``--min-relevance``, and the signs in long words of a page."""
        for code in root.iter("code"):
            name = "".join(code.itertext())
            if "-" in name and " " not in name and len(name) <= LONGEST_NAME:
                code.set("class", "name")
            elif max(map(len, name.split()), default=0) > LONGEST_WORD and len(code) == 0:
                code.text = AtomicString(BREAK.sub(self.md.htmlStash.store("<wbr>"), name))


class PagesExtension(Extension):  # type: ignore[misc]
    """Registers the preprocessor before the one of fenced blocks, and the marks of names after inline code."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's name
        """Register it."""
        md.preprocessors.register(Pages(md), "pages", 34)
        md.treeprocessors.register(Names(md), "names", 5)
        # Tables of notebooks escape "<0.001", as CommonMark and GitHub read it.
        md.ESCAPED_CHARS = [*md.ESCAPED_CHARS, "<"]


def makeExtension(**options: Any) -> PagesExtension:  # noqa: N802 - Markdown's name
    """Return the extension."""
    return PagesExtension(**options)
