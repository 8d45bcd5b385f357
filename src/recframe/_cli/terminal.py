"""Print texts to any terminal, pipe or log."""

from __future__ import annotations

import errno
import os
import shlex
import sys
import textwrap
import unicodedata
import warnings
from ast import literal_eval
from contextlib import contextmanager
from itertools import filterfalse
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from recframe.errors import Bound, Example, RecWarning, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TextIO

    from recframe.errors import Argument, Part

_ASCII = str.maketrans({
    "Σ": "sum", "Π": "product", "√": "sqrt", "τ": "tau", "≤": "<=", "≥": ">=", "·": "*", "−": "-",
    "₀": "_0", "₁": "_1", "₂": "_2", "ᵢ": "_i", "ᵣ": "_r", "ᵤ": "_u", "ⱼ": "_j", "²": "^2",
    "∩": "and", "α": "alpha", "β": "beta", "ε": "epsilon", "⁻": "-", "…": "...",
})  # fmt: skip
"""Replacements for the signs of formulas that the terminal cannot show."""


def print_text(text: str, paint: Callable[[str], str] | None = None) -> None:
    """Print a text, even if the terminal lacks some characters or the reader has closed the pipe.

    A terminal gets the text that `paint` colours, unless its user wants no colours. Control characters of the data
    become visible signs on a terminal, because it would obey them. Files and pipes get them unchanged.
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
    text = paint(text) if paint is not None and shows_colours() else text
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # `| head` closes the pipe; a gate must still be judged.
        discard_output()


def shows_colours() -> bool:
    """Return whether the output is a terminal whose user wants colours: https://no-color.org."""
    return _is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def discard_output() -> None:
    """Discard the rest of the output buffer, so that flushing it at exit does not fail again."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def width() -> int | None:
    """Return the width of the terminal in characters, or None if the output is not a terminal."""
    return get_terminal_size().columns if _is_terminal(sys.stdout) else None


def wrapped(text: str) -> str:
    """Return a text whose lines fit the terminal, unchanged if the output is not a terminal.

    Long lines are wrapped. In a line with a name and a description, the description continues below its start.
    Otherwise, a line continues with its indentation.
    """
    limit = width()
    if limit is None:
        return text
    lines: list[str] = []
    for line in text.splitlines():
        name, gap, description = line.lstrip().partition("  ")
        has_description = gap and " " not in name
        start = line.find(description.lstrip()) if has_description else len(line) - len(line.lstrip())
        below = " " * min(start, limit // 2)
        lines += [line] if len(line) <= limit else textwrap.wrap(line, limit, subsequent_indent=below)
    return "\n".join(lines)


def print_error(program: str, text: str) -> None:
    """Print an error message, and wipe the line of progress first."""
    progress("")
    if sys.stderr is not None:
        sys.stderr.write(f"{program}: {visible(text, keep=chr(10))}\n")


def with_options(parts: Iterable[Part]) -> str:
    """Return a message with its arguments written as command line options."""
    return "".join(part if isinstance(part, str) else option_of(part) for part in parts)


def option_of(part: Argument | Bound | Example) -> str:
    """Return an argument as an option, ``by=['user', 'day']`` as ``--by user --by day``, and bound ones too."""
    if isinstance(part, Example):
        return ""
    if isinstance(part, Bound):
        return " ".join(map(option_of, part.arguments))
    name, value = part
    option = SHORT.get(name, f"--{name.replace('_', '-')}")
    if value in ("", "True"):  # no value, or a flag
        return option
    try:
        content = literal_eval(value)
    except (SyntaxError, ValueError):  # a word that stands for a file, or nan
        return f"{option} {value}"
    if name == "sampled" and isinstance(content, tuple):
        content = ",".join(map(str, content))
    if isinstance(content, dict):
        content = [f"{key}={each}" for key, each in content.items()]
    values = content if isinstance(content, list | tuple) else [content]
    # `--by none` makes all rows one list.
    return " ".join(f"{option} {shlex.quote('none' if each is None else str(each))}" for each in values)


SHORT = {"metrics": "-m", "k": "-k", "types": "--type"}
"""The options whose names differ from their arguments."""


def progress(text: str) -> None:
    """Show the progress on a terminal, in a line that the next call replaces."""
    if _is_terminal(sys.stderr):
        sys.stderr.write(f"\r\x1b[K{visible(text)}")
        sys.stderr.flush()


def _is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal. A stream that the shell has closed is None."""
    return stream is not None and stream.isatty()


@contextmanager
def warnings_as_lines(program: str) -> Iterator[None]:
    """Print recframe's warnings as single lines, without the line of code that caused them."""
    show = warnings.showwarning

    def line(message: Warning | str, category: type[Warning], *source: Any, **more: Any) -> None:
        """Print a warning of recframe as a line, and any other warning as Python does."""
        if issubclass(category, RecWarning):
            print_error(program, f"warning: {with_options(getattr(message, 'parts', (str(message),)))}")
        else:
            show(message, category, *source, **more)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=RecWarning)
        warnings.showwarning = line
        yield
