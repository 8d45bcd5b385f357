"""What is printed, whatever the terminal knows and whoever watches."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
import textwrap
import unicodedata
import warnings
from contextlib import contextmanager
from itertools import filterfalse
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from recframe.errors import RecWarning, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
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
        head, gap, text = line.lstrip().partition("  ")
        start = line.find(text.lstrip()) if gap and " " not in head else len(line) - len(line.lstrip())
        below = " " * min(start, limit // 2)
        lines += [line] if len(line) <= limit else textwrap.wrap(line, limit, subsequent_indent=below)
    return "\n".join(lines)


def complain(program: str, text: str) -> None:
    """Print what is wrong, below a line of progress that is wiped."""
    progress("")
    if sys.stderr is not None:
        sys.stderr.write(f"{program}: {visible(text, keep=chr(10))}\n")


def as_options(text: str) -> str:
    """Return a message in which the arguments of Python, ``by='user'``, are options: ``--by user``."""
    from recframe._arguments import ROLES
    from recframe._cli.options import own_arguments

    text = _BOUND.sub(lambda call: _NEXT.sub(" ", call[1]), text)
    text = text.replace(ONE_MODEL, f"old.csv new.csv; in one file, {ONE_MODEL}")
    arguments = {*ROLES, *own_arguments("compare"), "metrics", "judge", "save", "counts", "chance"}
    return "\n".join(" ".join(_with_options(iter(line.split(" ")), arguments)) for line in text.split("\n"))


_BOUND = re.compile(r"df\.rec\(([^()]*)\)(?=;|$)", re.MULTILINE)
"""The call that binds roles, in a hint."""
_NEXT = re.compile(r", (?=\w+=)")
ONE_MODEL = "score=['old', 'new'], or model='model'"
"""The hint where a call needs two models: on the command line, files are models too."""
CLOSING = {"'": "'", "[": "]", "(": ")"}
"""What ends a value of several words, by how it starts."""


def _with_options(words: Iterator[str], arguments: Collection[str]) -> Iterator[str]:
    """Yield the words of a line, those that are arguments as options."""
    for word in words:
        name, is_argument, value = word.partition("=")
        if not is_argument or name not in arguments or "..." in value:
            yield word
            continue
        option = "-m" if name == "metrics" else f"--{name.replace('_', '-')}"
        if value[:1] in CLOSING:
            closing = CLOSING[value[0]]
            while closing not in value[1:]:
                value += f" {next(words, closing)}"
            inside, _, after = value[1:].partition(closing)
            parts = [inside] if closing == "'" else [part.strip("'") for part in inside.split(", ")]
            parts = [",".join(parts).replace("_", "")] if name == "sampled" else parts
            yield " ".join(f"{option} {shlex.quote(part)}" for part in parts) + after
        else:
            value = value.removeprefix("True")  # of a flag
            yield f"{option}{value}" if value[:1] in ("", *",;:.)") else f"{option} {value}"


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

    def line(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, RecWarning):
            complain(program, f"warning: {as_options(str(message))}")
        else:
            show(message, category, *place, **more)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=RecWarning)
        warnings.showwarning = line
        yield
