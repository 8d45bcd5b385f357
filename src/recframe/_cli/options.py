"""The options of the commands, made from the roles and from the signatures of the calls."""

from __future__ import annotations

import re
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import click

from recframe._arguments import CALL_ROLES, EXPLAINED, FRAMES, ROLES, Roles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_ENTRY = re.compile(r"( *)(\w+(?:, \w+)*) : ")
_IN_PYTHON = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r" (?:Errors are|row order) ?\(?for eager frames only\.?\)?| \(eager frames only\)", ""),
        (r" See `recframe\.\w+`\.", ""),
        (r"1 - `confidence`", "1 - confidence"),
        (r"see `explain`", "see recframe explain"),
        (r"``(\w+)=``", r"--\1"),
        (r"``(\w+)=\"(\w+)\"``", r"--\1 \2"),
        (r"`([a-z]+)`(?!`)", r"--\1"),
        (r"None: the whole frame is one list", "none: all rows are one list"),
        (r"how many, the items, or a frame of them", "how many, or a file of them"),
        (r"A second frame of the same kind", "A second file"),
        (r"None: ", "without it: "),
        (r"an eager frame", "the file"),
        (r"\ba frame\b", "a file"),
        (r"\bthe frame\b", "the files"),
    )
)
"""What docstrings say to those who write Python, and what help says instead."""


def role_options(call: str) -> list[click.Option]:
    """Return the roles that a call accepts, an option each."""
    hints, texts = get_type_hints(Roles), described(Roles.__doc__)
    return [_option(name, hints[name], texts[name], getattr(Roles, name)) for name in _roles_of(call)]


def policy_options() -> list[click.Option]:
    """Return the policies that `explain` reads."""
    hints, texts = get_type_hints(Roles), described(Roles.__doc__)
    return [_option(name, hints[name], texts[name], getattr(Roles, name)) for name in (*EXPLAINED, "like")]


def call_options(call: Callable[..., Any], names: Iterable[str]) -> list[click.Option]:
    """Return arguments of a call, an option each."""
    texts, parameters = described(call.__doc__), signature(call).parameters
    return [_option(name, _kind(parameters[name]), texts[name], parameters[name].default) for name in names]


def given_roles(call: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the roles of a call that were given; one name of several that could be given is text, not a list."""
    accepted: dict[str, Any] = {}
    for name in _roles_of(call):
        value = values.get(name)
        if isinstance(value, tuple):
            value = None if not value else value[0] if len(value) == 1 else list(value)
        if value is not None:
            # The word for what is no key, as help says it.
            accepted[name] = None if name == "by" and str(value).lower() == "none" else value
    return accepted


def _roles_of(call: str) -> list[str]:
    # Parts need a lazy frame: the command line reads its files at once.
    return [name for name in CALL_ROLES[call] if ROLES[name].kind != "parts"]


def described(doc: str | None) -> dict[str, str]:
    """Return what a docstring says of each parameter, on one line."""
    found: dict[str, str] = {}
    names: list[str] = []
    margin = 0
    for line in (doc or "").splitlines():
        head = _ENTRY.match(line)
        if head:
            margin, names = len(head[1]), [name for name in head[2].split(", ") if name not in found]
        elif len(line) - len(line.lstrip()) > margin:
            found |= {name: f"{found.get(name, '')} {line.strip()}" for name in names}
        else:
            names = []
    return {name: _plain(text) for name, text in found.items()}


def _plain(text: str) -> str:
    """Return a text of a docstring as the terminal shows it."""
    text = " ".join(text.split())
    for pattern, words in _IN_PYTHON:
        text = pattern.sub(words, text)
    text = re.sub(r"\. without", ". Without", text)
    return text.replace("``", "").replace("`", "")


SHORT = 4
"""How many words of an option help shows in its place."""


def _kind(parameter: Parameter) -> Any:
    """Return the type of a parameter whose annotation is text."""
    note = str(parameter.annotation)
    if "Literal[" in note:
        return Literal[tuple(re.findall(r"[\"']([^\"']*)[\"']", note))]
    return {"int": int, "float": float}.get(note.partition(" | ")[0], str)


def _option(name: str, kind: Any, text: str, default: Any) -> click.Option:
    """Return the option of a role or an argument."""
    kinds = set(get_args(kind)) | {kind}
    words = next((get_args(each) for each in kinds if get_origin(each) is Literal), ())
    many = float not in kinds and len(words) > SHORT
    text = f"{text} One of {', '.join(words)}." if many else text
    given = _value_of(name, kinds, words)
    given |= {"metavar": name.upper()} if many else {}
    if bool in kinds:
        return click.Option([f"--{name.replace('_', '-')}"], is_flag=True, default=None, help=text)
    default_text = "" if default is None or not isinstance(default, str | int | float) else f" [{default}]"
    return click.Option([f"--{name.replace('_', '-')}"], help=f"{text}{default_text}", **given)


def _value_of(name: str, kinds: set[Any], words: Sequence[str]) -> dict[str, Any]:
    """Return what the value of an option is, for the parser and for help."""
    if name in ROLES and ROLES[name].metavar:
        return {"type": click.Path() if name in FRAMES else numbers, "metavar": ROLES[name].metavar}
    if words and float not in kinds:
        return {"type": click.Choice(words), "metavar": "|".join(words)}
    if words:
        return {"type": number_or_word, "metavar": "|".join(("NUMBER", *words))}
    if kinds & {int, float}:
        return {"type": int if int in kinds else float, "metavar": "N" if int in kinds else "X"}
    several = any("Sequence" in str(each) for each in kinds)
    return {"type": str, "metavar": "MODEL" if name == "baseline" else "COLUMN", "multiple": several}


def numbers(text: str) -> list[int]:
    """Return whole numbers that are written with commas between them."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        msg = f"{text!r} is not two whole numbers, such as 99,10000"
        raise click.BadParameter(msg) from None


def number_or_word(text: str) -> float | str:
    """Return a number where the text is one."""
    try:
        return float(text)
    except ValueError:
        return text
