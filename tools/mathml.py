"""Turns the formulas of docstrings, written in a part of LaTeX, into MathML, which browsers show without a script."""

from __future__ import annotations

import re
from html import escape

LETTERS = {
    "Delta": "Δ",
    "alpha": "α",
    "beta": "β",
    "delta": "δ",
    "epsilon": "ϵ",
    "gamma": "γ",
    "lambda": "λ",
    "mu": "μ",
    "rho": "ρ",
    "tau": "τ",
    "varepsilon": "ε",
}
FUNCTIONS = {name: name for name in ("cos", "ln", "log", "max", "min")}
OPERATORS = {
    "bigcup": "⋃",
    "cap": "∩",
    "cdot": "·",
    "cup": "∪",
    "ge": "≥",
    "in": "∈",
    "int": "∫",
    "le": "≤",
    "ni": "∋",
    "notin": "∉",
    "prod": "∏",
    "sum": "∑",
    "times": "×",
}
SPACES = {",": "0.17em", ":": "0.22em", " ": "0.3em", "quad": "1em", "qquad": "2em"}
ACCENTS = {"bar": "¯", "hat": "^", "tilde": "~"}
FENCES = {"(": "(", ")": ")", "[": "[", "]": "]", "|": "|"}
FENCES |= {"\\{": "{", "\\}": "}", "\\|": "‖", "\\lVert": "‖", "\\rVert": "‖"}
"""Signs as high as a letter, but after a name of `SIZES` as high as what they hold."""
LIMITS = {"sum", "prod", "bigcup", "max"}
"""Names that have what is below and above them as limits."""
SIGNS = (
    (SPACES, '<mspace width="{}"/>'),
    (OPERATORS, "<mo>{}</mo>"),
    (LETTERS, "<mi>{}</mi>"),
    (FUNCTIONS, '<mo lspace="0.1em" rspace="0.1em">{}</mo>'),
)
SIZES = {"Big", "Bigl", "Bigr", "bigl", "bigr", "left", "right"}
TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|rel|look|value|break|max|PM|[a-zA-Z]|\d+(?:\.\d+)?|\S")


class Reader:
    """Reads a formula from left to right; each method returns MathML and moves on."""

    def __init__(self, latex: str) -> None:
        self.latex, self.place = latex, 0

    def peek(self) -> str:
        """Return the next token, or nothing at the end."""
        token = TOKEN.search(self.latex, self.place)
        return token[0] if token else ""

    def take(self) -> str:
        """Return the next token and move past it."""
        token = TOKEN.search(self.latex, self.place)
        self.place = token.end() if token else len(self.latex)
        return token[0] if token else ""

    def words(self) -> str:
        """Read the text of a group as it is written."""
        start, end = self.latex.index("{", self.place) + 1, self.latex.index("}", self.place)
        self.place = end + 1
        plain_text = self.latex[start:end].replace(r"\_", "_").replace("\\ ", " ").replace(" ", "\N{NO-BREAK SPACE}")
        if "\\" in plain_text:
            msg = f"a command within the text {plain_text!r}: the reader takes text as it is written"
            raise ValueError(msg)
        return f"<mtext>{escape(plain_text)}</mtext>"

    def row(self, end: str = "") -> str:
        """Read up to a token, or to the end of the formula."""
        parts = []
        while self.peek() not in {end, ""}:
            parts.append(self.scripted())
        self.take()
        return f"<mrow>{''.join(parts)}</mrow>"

    def argument(self) -> str:
        """Read a group in braces, a command or one character."""
        token = self.peek()
        if token[:1].isdigit():
            self.place = self.latex.index(token, self.place) + 1
            return f"<mn>{token[0]}</mn>"
        return self.atom()

    def scripted(self) -> str:
        """Read an atom with what is below and above it."""
        limits = self.peek().removeprefix("\\") in LIMITS
        base, scripts = self.atom(), {}
        while self.peek() in {"_", "^"}:
            kind = self.take()
            scripts[kind] = self.argument()
        if not scripts:
            return base
        below, above = ("under", "over") if limits else ("sub", "sup")
        name = "m" + below * ("_" in scripts) + above * ("^" in scripts)
        return f"<{name}>{base}{scripts.get('_', '')}{scripts.get('^', '')}</{name}>"

    def atom(self) -> str:
        """Read a group, a command or a character."""
        text = self.take()
        if text == "{":
            return self.row("}")
        if text in FENCES:
            return f'<mo stretchy="false">{FENCES[text]}</mo>'
        if text.startswith("\\"):
            return self.command(text[1:])
        kind = "mi" if text.isalpha() else "mn" if text[:1].isdigit() else "mo"
        return f"<{kind}>{escape(text.replace('-', '−'))}</{kind}>"

    def command(self, name: str) -> str:
        """Read what belongs to a command."""
        if name in SIZES and self.peek() in FENCES:
            return f"<mo>{FENCES[self.take()]}</mo>"
        if name in {*SIZES, "textstyle"}:
            return self.atom()
        if name in {"mathrm", "text"}:
            return self.words()
        if name in {"frac", "sqrt"}:
            inner = self.argument() + (self.argument() if name == "frac" else "")
            return f"<m{name}>{inner}</m{name}>"
        if name in ACCENTS:
            return f'<mover accent="true">{self.argument()}<mo>{ACCENTS[name]}</mo></mover>'
        for known, pattern in SIGNS:
            if name in known:
                return pattern.format(known[name])
        msg = f"the reader of formulas does not know \\{name}"
        raise ValueError(msg)


def mathml(latex: str) -> str:
    """Return a formula as MathML on a line of its own."""
    return f'<math display="block">{Reader(latex).row()}</math>'
