"""How metrics are written in strings: a name, options in parentheses, a cutoff."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from recframe.errors import OptionError, quoted

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

LONGEST_SPELLING = 1000
"""Characters of a string that names a metric."""
_SPELLING = re.compile(
    r"\s*(?P<name>\w[\w.]*(?:-(?!l\d)[a-zA-Z]\w*)*)\s*(?:\((?P<options>[^()]*)\))?\s*(?:@\s*(?P<k>[^@\s]+))?\s*"
)
_OPTION = re.compile(r"(?:{[^{}]*}|[^,])+")
"""One option; the commas of a mapping do not end it."""
_CUTOFF = re.compile(r"(?P<name>\w+?)(?:_at_k|(?:_at_|[_.])(?P<k>\d+))", re.IGNORECASE)
"""A name with its cutoff as trec_eval writes it, ``P_5``, or as functions are called, ``map_at_k``."""
_RECALL = re.compile(r"(?P<name>\w+)_(?P<recall>[01]\.\d+)")
"""A name with a recall, as trec_eval writes ``iprec_at_recall_0.10``."""
_DECIMALS = re.compile(r"(?P<name>\w+)\.(?P<decimals>\d+)")
"""A name with the decimals of an option below 1, as ranx writes ``rbp.90``."""
_BETWEEN = re.compile(r"[,;](?![^()]*\))")
"""A comma or semicolon outside of parentheses."""
_SPACES = re.compile(r"(?<=\w)\s+(?=\w)")
"""Separators between two words."""
_LEVEL = re.compile(r"-l(?P<level>\d+)\b")
"""The least relevance as ranx writes it."""


def plain(name: str) -> str:
    """Return a name as names are compared: without case, underscores and hyphens."""
    return name.lower().replace("_", "").replace("-", "")


def split(text: str, names: Container[str] = ()) -> tuple[str, dict[str, Any]]:
    """Return the name that a string holds, and the options that it spells, k among them; `names` are for a hint."""
    match = _SPELLING.fullmatch(text) if len(text) <= LONGEST_SPELLING else None
    if match is None:
        raise _unreadable(text, names)
    options: dict[str, Any] = {}
    for part in filter(None, map(str.strip, _OPTION.findall(match["options"] or ""))):
        option, separator, value = (piece.strip() for piece in part.partition("="))
        if not separator or not value:
            msg = f"{text!r}: option {part!r} has no value"
            raise OptionError(msg, f"write '{match['name']}{f'@{option}' if option.isdigit() else f'({option}=...)'}'")
        if option in options:
            msg = f"{text!r} gives the option {option!r} twice"
            raise OptionError(msg, f"write '{match['name']}({option}={value})'")
        options[option] = _literal(value)
    if match["k"] is not None:
        if match["k"].rstrip("-").isdigit() and match["k"].endswith("-"):
            raise _unreadable(text)
        cutoffs = match["k"].split(",")
        if len(cutoffs) > 1:
            raise _several_cutoffs(text, match["name"], cutoffs) if "".join(cutoffs).isdigit() else _unreadable(text)
        if "k" in options:
            raise two_cutoffs(text, match["name"], match["k"])
        options["k"] = _literal(match["k"])
    return match["name"], options


def two_cutoffs(text: str, name: str, k: object) -> OptionError:
    """Return the error for a string that names two cutoffs."""
    return OptionError(f"{text!r} names two cutoffs", f"write '{name}@{k}'")


def _several_cutoffs(text: str, name: str, cutoffs: Sequence[str]) -> OptionError:
    """Return the error for a string that names several cutoffs."""
    several = [k for k in cutoffs if k]
    each = [f"{name}@{k}" for k in several]
    return OptionError(
        f"{text!r} names several cutoffs", f"`metrics={each}`, or {name!r} and `k=[{', '.join(several)}]`"
    )


def without_decimals(name: str) -> tuple[str, float] | None:
    """Return a name without the decimals that are part of it, and the number below 1; None if there are none."""
    match = _DECIMALS.fullmatch(name)
    return None if match is None else (match["name"], float(f"0.{match['decimals']}"))


def without_cutoff(name: str) -> tuple[str, int | None] | None:
    """Return a name without the cutoff that is part of it, and the cutoff, None for ``map_at_k``.

    The result is None if the name has no such part.
    """
    match = _CUTOFF.fullmatch(name)
    return None if match is None else (match["name"], None if match["k"] is None else int(match["k"]))


def without_recall(name: str) -> tuple[str, float] | None:
    """Return a name without the recall that is part of it, and the recall; None if there is none."""
    match = _RECALL.fullmatch(name)
    return None if match is None else (match["name"], float(match["recall"]))


def _unreadable(text: str, metrics: Container[str] = ()) -> OptionError:
    """Return the error for a string of another form, which may be a known name with spaces."""
    hint = "write 'ndcg@10' or 'ndcg(gain=exp2)@10'"
    if len(text) > LONGEST_SPELLING:
        return OptionError(
            f"{quoted(text)} has {len(text)} characters, but the name of a metric up to {LONGEST_SPELLING}", hint
        )
    level = _LEVEL.search(text)
    if level is not None:
        hint = f"{_LEVEL.sub('', text)!r}, and `min_relevance={level['level']}` for all metrics of the call"
    elif text.endswith("-"):
        hint = f"{text.rstrip('-')!r}, and `undefined=0.0` to score lists without a relevant item 0"
    elif len(names := [name.strip() for name in _BETWEEN.split(text)]) > 1 and all(map(_SPELLING.fullmatch, names)):
        hint = f"`metrics={names}`"
    elif (spaced := _SPELLING.fullmatch(joined := _SPACES.sub("_", text.strip().lower()))) is not None:
        name, _ = without_cutoff(spaced["name"]) or (spaced["name"], None)
        hint = f"did you mean {joined!r}?" if plain(name) in metrics else hint
    return OptionError(f"{text!r} is not the name of a metric", hint)


def _literal(text: str) -> object:
    """Return the Python literal that a text spells, such as a number, a truth value or a dict; otherwise the text."""
    try:
        return ast.literal_eval({"true": "True", "false": "False", "none": "None"}.get(text.lower(), text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
