"""Read docstrings, for help and explanations."""

from __future__ import annotations

import ast
import sys
from contextlib import suppress
from inspect import cleandoc, getsource
from textwrap import dedent
from typing import Any


def doc_of(documented: Any) -> str:
    """Return the docstring of a class or a function, read from the source if ``python -OO`` removed it."""
    if sys.flags.optimize < 2:  # noqa: PLR2004 - OO
        return str(documented.__doc__ or "")
    with suppress(OSError, SyntaxError, TypeError):  # what was typed at a prompt has no source
        definition: Any = ast.parse(dedent(getsource(documented))).body[0]
        return ast.get_docstring(definition, clean=False) or ""
    return ""


def entries_of(doc: str) -> dict[str, str]:
    """Return the docstring entry of each argument: an unindented line ``name : type``, and the lines below it."""
    entries: dict[str, str] = {}
    name = ""
    for line in cleandoc(doc).splitlines():
        if not line.startswith(" "):
            head, is_entry, _ = line.partition(" : ")
            name = head if is_entry and head not in entries else ""
        if name:
            entries[name] = f"{entries.get(name, '')}{line}\n"
    return entries
