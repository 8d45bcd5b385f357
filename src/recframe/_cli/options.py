"""The options of the commands, made from the roles and from the signatures of the calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import Parameter, signature, unwrap
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import click

import recframe
from recframe._base.docstrings import doc_of, entries_of
from recframe._base.roles import CALL_ROLES, ROLES, Roles
from recframe._cli.terminal import with_options
from recframe.errors import Argument, OptionError, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

HELP = {
    "by": "The list key: one column or several. none: all rows are one list. Rows without a key are a list too.",
    "score": 'The score, higher is better; "score" unless --rank is given, or the file has "rank" instead. A '
    "missing score: not recommended.",
    "truth": "A second file with the key, the item and, if present, the relevance, else 1.",
    "ties": "Items of equal score: the exact expected value over all their orders, its bounds, smaller or larger "
    "item first, or row order.",
    "undefined": 'A list without relevant items: left out of the mean, given this value, or an error. "raise_all" '
    "is an error only if no list at all has a value.",
    "catalog": "The items that could be recommended: how many, or a file of them. Without it: the items in the files.",
    "like": 'The library whose options and policies are the defaults of this call, such as "trec_eval", "sklearn" '
    'or "rectools": see recframe explain.',
}
"""Help texts for roles whose docstrings also explain lazy frames, collections or functions."""


def role_options(names: Iterable[str]) -> list[click.Option]:
    """Return an option for each role."""
    hints = get_type_hints(Roles)
    texts = argument_texts(doc_of(Roles)) | HELP
    return [_option(name, hints[name], texts[name], getattr(Roles, name)) for name in names]


def call_options(name: str, names: Iterable[str]) -> list[click.Option]:
    """Return an option for each argument of a call."""
    call = getattr(recframe.EagerRec, name)
    # The signature that users see has no types: the method behind it has.
    texts = argument_texts(doc_of(call))
    parameters = signature(unwrap(call)).parameters
    notes = SimpleNamespace(__annotations__={name: parameters[name].annotation for name in names})
    hints = get_type_hints(notes, {"Any": Any, "Literal": Literal, "Mapping": Mapping})
    return [_option(name, hint, texts[name], parameters[name].default) for name, hint in hints.items()]


def non_role_arguments(call: str) -> list[str]:
    """Return the keyword arguments of a call that are not roles."""
    parameters = signature(getattr(recframe.EagerRec, call)).parameters.values()
    return [each.name for each in parameters if each.kind == Parameter.KEYWORD_ONLY and each.name not in ROLES]


def roles_from_options(call: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the roles of a call that the user gave. A single name becomes text, even if the role accepts several."""
    accepted: dict[str, Any] = {}
    for name in roles_of(call):
        value = values.get(name)
        if isinstance(value, tuple):
            value = list(value) if len(value) > 1 else next(iter(value), None)
        if value is not None:
            # `--by none` makes all rows one list.
            accepted[name] = None if name == "by" and str(value).lower() == "none" else value
    return accepted


def roles_of(call: str) -> list[str]:
    """Return the roles that a call accepts from the command line."""
    # Parts need a lazy frame: the command line reads its files at once.
    return [name for name in CALL_ROLES[call] if ROLES[name].kind != "parts"]


def argument_texts(doc: str) -> dict[str, str]:
    """Return the docstring entry of each argument on one line, in the words of the command line."""
    entries = {name: entry for names, entry in entries_of(doc).items() for name in names.split(", ")}
    texts = {name: " ".join(entry.partition("\n")[2].split()) for name, entry in entries.items()}
    return {name: _as_options(text, entries) for name, text in texts.items()}


def _as_options(text: str, names: Collection[str]) -> str:
    """Return a text in which arguments are options and frames are files."""
    text = text.replace("the frame", "the files").replace("frame", "file").replace("``", "`")
    text = with_options(
        part if isinstance(part, Argument) and part.name in names else str(part) for part in parts_of(text)
    )
    parts = text.split("`")
    return "".join(option_name(part) if number % 2 and part in names else part for number, part in enumerate(parts))


def option_name(argument: str) -> str:
    """Return the option of an argument."""
    return f"--{argument.replace('_', '-')}"


BETWEEN_METRICS = re.compile(r",(?![^()]*\))")
"""A comma outside of the parentheses of a metric."""
MOST_WORDS = 4
"""The most words of an option that its placeholder in help shows."""


def _option(name: str, kind: Any, text: str, default: Any) -> click.Option:
    """Return the option of a role or an argument."""
    kinds = set(get_args(kind)) | {kind}
    words = next((get_args(each) for each in kinds if get_origin(each) is Literal), ())
    many = float not in kinds and len(words) > MOST_WORDS
    text = f"{text} One of {', '.join(words)}." if many else text
    settings = _value_settings(name, kinds, words)
    settings |= {"metavar": name.upper()} if many else {}
    if bool in kinds:
        return click.Option([option_name(name)], is_flag=True, default=None, help=text)
    settings |= {"required": True} if default is Parameter.empty else {}
    default_text = "" if default is None or not isinstance(default, str | int | float) else f" [{default}]"
    return click.Option([option_name(name)], help=f"{text}{default_text}", **settings)


def _value_settings(name: str, kinds: set[Any], words: Sequence[str]) -> dict[str, Any]:
    """Return the settings of an option's value for click: its type, and its placeholder in help."""
    metavar = ROLES[name].metavar if name in ROLES else {"judge": "FILE", "baseline": "MODEL|FILE"}.get(name)
    if metavar:
        return {"type": click.Path() if "FILE" in metavar else numbers, "metavar": metavar}
    if name in OPTION_PARSERS:
        reader, metavar = OPTION_PARSERS[name]
        return {"type": reader, "metavar": metavar}
    if words and float not in kinds:
        return {"type": click.Choice(words), "metavar": "|".join(words)}
    if words:
        return {"type": number_or_word, "metavar": "|".join(("NUMBER", *words))}
    if kinds & {int, float}:
        return {"type": int if int in kinds else float, "metavar": "N" if int in kinds else "X"}
    return {"type": str, "metavar": "COLUMN", "multiple": any("Sequence" in str(each) for each in kinds)}


def separator_of(text: str | None) -> str:
    """Return the separator of CSV files."""
    sign = "," if text is None else {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n':
        msg = f"--separator {text} is not one sign"
        raise OptionError(msg, "such as --separator ';', '|' or tab")
    return sign


def parse_column_options(option: str, texts: Sequence[str], what: str, example: str) -> dict[str, str]:
    """Return the value that an option gives each column, or raise if a column is named twice."""
    values_by_column: dict[str, str] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value or name in values_by_column:
            wrong = f"names {name} again" if name in values_by_column and value else f"does not say COLUMN={what}"
            msg = f"{option} {text} {wrong}"
            raise OptionError(msg, f"such as {option} {example}")
        values_by_column[name] = value
    return values_by_column


def numbers(text: str) -> list[int]:
    """Return whole numbers from a text with commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        msg = f"{text!r} is not two whole numbers, such as 99,10000"
        raise click.BadParameter(msg) from None


def margin_or_margins(text: str) -> float | str | dict[str, float | str]:
    """Return a margin, or one for each of the metrics that a text such as ndcg@10=0.01,recall@10=2% names."""
    if "=" not in text:
        return number_or_word(text)
    parts = [part.rpartition("=") for part in BETWEEN_METRICS.split(text)]
    return {name: number_or_word(margin) for name, _, margin in parts}


def weights_by_name(text: str) -> dict[str, float]:
    """Return the weights in a text such as head=0.1,tail=0.9."""
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, weight = part.rpartition("=")
        try:
            weights[name] = float(weight)
        except ValueError:
            msg = f"{part!r} is not a name and a weight, such as head=0.1"
            raise click.BadParameter(msg) from None
    return weights


def number_or_word(text: str) -> float | str:
    """Return a text as a number if it is one."""
    try:
        return float(text)
    except ValueError:
        return text


OPTION_PARSERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "margin": (margin_or_margins, "X|X%"),
    "difference": (number_or_word, "X|X%"),
    "strata_weights": (weights_by_name, "NAME=X,..."),
}
"""The parsers of some options, and their placeholders in help."""
