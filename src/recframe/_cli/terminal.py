"""What is printed, whatever the terminal knows and whoever watches."""

from __future__ import annotations

import errno
import os
import re
import sys
import textwrap
import unicodedata
import warnings
from contextlib import contextmanager
from itertools import filterfalse
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from recframe.errors import RecWarning, visible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

_ASCII = str.maketrans({
    "Σ": "sum", "Π": "product", "√": "sqrt", "τ": "tau", "≤": "<=", "≥": ">=", "·": "*", "−": "-",
    "₀": "_0", "₁": "_1", "₂": "_2", "ᵢ": "_i", "ᵣ": "_r", "ᵤ": "_u", "ⱼ": "_j", "²": "^2",
    "∩": "and", "α": "alpha", "β": "beta", "ε": "epsilon", "⁻": "-", "…": "...",
})  # fmt: skip
"""What replaces the signs of a formula where the terminal does not know them."""


def say(text: str) -> None:
    """Print a text, also where the terminal lacks some of its letters or the reader has seen enough.

    A terminal would obey control characters of the data, so it shows signs for them. What is not a terminal gets them.
    """
    progress("")
    if sys.stdout is None:
        raise OSError(errno.EBADF, "the output is closed")
    text = visible(text, keep="\n\t") if sys.stdout.isatty() else text
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        letters = unicodedata.normalize("NFKD", text.translate(_ASCII))
        text = "".join(filterfalse(unicodedata.combining, letters)).encode(encoding, "replace").decode(encoding)
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # `| head` closes the pipe; a gate must still be judged.
        discard_output()


def discard_output() -> None:
    """Throw away what is left in the buffer of the output, so that it does not fail again at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def width() -> int | None:
    """Return how many letters a line of the terminal holds; None: the output goes elsewhere."""
    return get_terminal_size().columns if _is_terminal(sys.stdout) else None


def fitted(text: str) -> str:
    """Return a text in which the lines that a terminal cannot hold continue below their own start."""
    limit = width()
    if limit is None:
        return text
    lines: list[str] = []
    for line in text.splitlines():
        start = re.match(r" *(\S+ {2,})?", line)
        below = " " * min(start.end() if start else 0, limit // 2)
        lines += [line] if len(line) <= limit else textwrap.wrap(line, limit, subsequent_indent=below)
    return "\n".join(lines)


def complain(program: str, text: str) -> None:
    """Print what is wrong, below a line of progress that is wiped."""
    progress("")
    if sys.stderr is not None:
        sys.stderr.write(f"{program}: {visible(text, keep=chr(10))}\n")


def as_options(text: str) -> str:
    """Return a message in which the arguments of Python, ``by='user'``, are options: ``--by user``."""
    from recframe._arguments import Roles
    from recframe._cli.options import own_arguments

    own = (*Roles.names(), *own_arguments("compare"), "save")

    def option(match: re.Match[str]) -> str:
        name, value = match[1], match[2] or match[3]
        return f"--{name.replace('_', '-')} {value}" if name in own else match[0]

    def options(match: re.Match[str]) -> str:
        name = "-m" if match[1] == "metrics" else f"--{match[1].replace('_', '-')}"
        known = match[1] in (*Roles.names(), "metrics")
        return " ".join(f"{name} {value}" for value in re.findall(r"'([^']*)'", match[2])) if known else match[0]

    text = re.sub(r"\bleave (\w+)= out", lambda match: f"leave --{match[1].replace('_', '-')} out", text)
    text = re.sub(r"(?<![\w(])(\w+)=\[('[^\]]*')\]", options, text)
    text = re.sub(r"(?<![\w(])sampled=[\[(]([\d_, -]*)[\])]", _pair, text)
    text = re.sub(r"\buse (\w+)=$", lambda match: f"use --{match[1]}", text)
    return re.sub(r"(?<![\w(])(\w+)=(?:'([^' ]+)'|([\w.+-]+\b))", option, text)


def _pair(match: re.Match[str]) -> str:
    return f"--sampled {re.sub('[_ ]', '', match[1])}"


def progress(text: str) -> None:
    """Show what is going on in a line that the next one replaces, if somebody is watching."""
    if _is_terminal(sys.stderr):
        sys.stderr.write(f"\r\x1b[K{visible(text)}")
        sys.stderr.flush()


def _is_terminal(stream: TextIO | None) -> bool:
    """Return whether somebody watches; a stream that the shell has closed is None."""
    return stream is not None and stream.isatty()


@contextmanager
def warnings_as_lines(program: str) -> Iterator[None]:
    """Print our warnings as lines that name no line of code."""
    show = warnings.showwarning

    def line(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, RecWarning):
            complain(program, f"warning: {as_options(str(message))}")
        else:
            show(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=RecWarning)
        warnings.showwarning = line
        yield
