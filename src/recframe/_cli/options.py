"""The options of the commands, made from the roles and from the signatures of the calls."""

from __future__ import annotations

import re
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import click

import recframe
from recframe._arguments import CALL_ROLES, EXPLAINED, ROLES, Roles
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ENTRY = re.compile(r"( *)(\w+(?:, \w+)*) : ")
HELP = {
    "by": "The list key: one column or several. none: all rows are one list. Rows without a key are a list too.",
    "item": "The item; read only for --truth, --ties item and the beyond-accuracy metrics.",
    "score": 'The score, higher is better; "score" unless --rank is given, or the file has "rank" instead. A '
    "missing score: not recommended.",
    "rank": "Instead of --score: the position, from 1. Equal ranks are a tied block that starts there.",
    "truth": "A second file with the key, the item and, if present, the relevance, else 1.",
    "per": "Columns to report by, with one value in each list; the value is the mean over the lists within each. "
    "The columns of --by: one value for each list.",
    "per_item": "Columns to report by that describe the item, such as its genre; read from --truth if there is one. "
    "The value is that of the whole lists in which only the items with this value are relevant.",
    "ties": "Items of equal score: the exact expected value over all their orders, its bounds, smaller or larger "
    "item first, or row order.",
    "min_relevance": "A row is relevant from this relevance on; without it: above 0. Lower grades still gain in "
    'metrics that read grades: "ndcg(grades=relevant)" ends that.',
    "undefined": 'A list without relevant items: left out of the mean, given this value, or an error. "raise_all" '
    "is an error only if no list at all has a value.",
    "catalog": "The items that could be recommended: how many, or a file of them; without it: those of the files.",
    "subtopic": "The column of subtopics in --truth, which has a row for each subtopic of an item. Read by "
    "alpha_ndcg and err_ia; without it: all relevant items have one subtopic.",
    "group": "The column that names the group of an item, such as its seller, in --features, the files or --truth. "
    "Read by awrf; without it: each item is a group.",
    "condensed": "Whether rows that nobody judged are left out before the rest is ranked. A row is judged if the "
    "truth holds its item with a relevance of 0 or more; without --truth, if its relevance is that.",
    "like": 'The library whose options and policies are the defaults of this call, such as "trec_eval", "sklearn" '
    'or "rectools": see recframe explain.',
    "candidates": "With --rank, of a file that holds only some of the ranked rows, but every relevant one: the "
    "number of ranked rows of the list.",
    "weight": "The weight of a list in every mean over lists, 0 or more, the same in all rows of a list; missing "
    "counts as 0. Read from --truth where it has the column, else from the files.",
    "propensity": "The probability, above 0 and up to 1, that the relevance of a row was observed. Each relevant "
    "item then counts as 1 / propensity items. Read from --truth if there is one, else from the files.",
    "estimator": 'Of --sampled: the least squares of bias and, as much as the number says, variance ("bv": 0.1); '
    "the least squares of bias that do not grow with the rank; or the value at the estimated rank. Of --propensity: "
    '"pooled" divides sums over all lists, where shares of single lists are averaged by default.',
    "tied": "With --rank, of such a file: the number of rows of the row's tied block.",
}
"""What help says of roles whose docstring speaks of Python: of frames, None and quotes."""


def role_options(call: str) -> list[click.Option]:
    """Return the roles that a call accepts, an option each."""
    return _of_roles(_roles_of(call))


def policy_options() -> list[click.Option]:
    """Return the policies that `explain` reads."""
    return _of_roles((*EXPLAINED, "like"))


def _of_roles(names: Iterable[str]) -> list[click.Option]:
    hints, texts = get_type_hints(Roles), described(Roles.__doc__) | HELP
    return [_option(name, hints[name], texts[name], getattr(Roles, name)) for name in names]


def call_options(name: str, names: Iterable[str]) -> list[click.Option]:
    """Return arguments of a call, an option each."""
    call = getattr(recframe.EagerRec, name)
    texts, parameters = described(call.__doc__), signature(call).parameters
    return [_option(name, _kind(parameters[name]), texts[name], parameters[name].default) for name in names]


def own_arguments(call: str) -> list[str]:
    """Return the named arguments of a call that are no roles."""
    parameters = signature(getattr(recframe.EagerRec, call)).parameters.values()
    return [each.name for each in parameters if each.kind == Parameter.KEYWORD_ONLY and each.name not in ROLES]


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
    texts: dict[str, str] = {}
    names: list[str] = []
    margin = 0
    for line in (doc or "").splitlines():
        head = _ENTRY.match(line)
        if head:
            margin, names = len(head[1]), [name for name in head[2].split(", ") if name not in texts]
        elif len(line) - len(line.lstrip()) > margin:
            texts |= {name: f"{texts.get(name, '')} {line.strip()}" for name in names}
        else:
            names = []
    return {name: text.strip().replace("`", "") for name, text in texts.items()}


MOST_WORDS = 4
"""How many words of an option help shows in its place."""


def _kind(parameter: Parameter) -> Any:
    """Return the type of a parameter whose annotation is text."""
    note = str(parameter.annotation)
    if "Literal[" in note:
        return Literal[tuple(re.findall(r"[\"']([^\"']*)[\"']", note))]
    return {"int": int, "float": float, "bool": bool}.get(note.partition(" | ")[0], str)


def _option(name: str, kind: Any, text: str, default: Any) -> click.Option:
    """Return the option of a role or an argument."""
    kinds = set(get_args(kind)) | {kind}
    words = next((get_args(each) for each in kinds if get_origin(each) is Literal), ())
    many = float not in kinds and len(words) > MOST_WORDS
    text = f"{text} One of {', '.join(words)}." if many else text
    settings = _value_of(name, kinds, words)
    settings |= {"metavar": name.upper()} if many else {}
    if bool in kinds:
        return click.Option([f"--{name.replace('_', '-')}"], is_flag=True, default=None, help=text)
    settings |= {"required": True} if default is Parameter.empty else {}
    default_text = "" if default is None or not isinstance(default, str | int | float) else f" [{default}]"
    return click.Option([f"--{name.replace('_', '-')}"], help=f"{text}{default_text}", **settings)


def _value_of(name: str, kinds: set[Any], words: Sequence[str]) -> dict[str, Any]:
    """Return what the value of an option is, for the parser and for help."""
    metavar = "FILE" if name == "judge" else ROLES[name].metavar if name in ROLES else None
    if metavar:
        return {"type": click.Path() if metavar.startswith("FILE") else numbers, "metavar": metavar}
    if name in ("margin", "difference"):
        return {"type": number_or_word, "metavar": "X|X%"}
    if words and float not in kinds:
        return {"type": click.Choice(words), "metavar": "|".join(words)}
    if words:
        return {"type": number_or_word, "metavar": "|".join(("NUMBER", *words))}
    if kinds & {int, float}:
        return {"type": int if int in kinds else float, "metavar": "N" if int in kinds else "X"}
    several = any("Sequence" in str(each) for each in kinds)
    return {"type": str, "metavar": "MODEL|FILE" if name == "baseline" else "COLUMN", "multiple": several}


def separator_of(text: str | None) -> str:
    """Return what is between the values of CSV files."""
    sign = "," if text is None else {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(sign.encode()) != 1 or sign in '"\r\n':
        msg = f"--separator {text} is not one sign"
        raise OptionError(msg, "such as --separator ';', '|' or tab")
    return sign


def constants_of(texts: Sequence[str]) -> dict[str, str]:
    """Return the columns of ``--with COLUMN=VALUE``."""
    return _said_of_columns("--with", texts, "VALUE", "day=2026-11-23")


def types_of(texts: Sequence[str]) -> dict[str, str]:
    """Return the columns of ``--type COLUMN=TYPE``."""
    return _said_of_columns("--type", texts, "TYPE", "clicked=boolean")


def _said_of_columns(option: str, texts: Sequence[str], what: str, example: str) -> dict[str, str]:
    """Return what an option says of each column, once."""
    said: dict[str, str] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value or name in said:
            wrong = f"names {name} again" if name in said and value else f"does not say COLUMN={what}"
            msg = f"{option} {text} {wrong}"
            raise OptionError(msg, f"such as {option} {example}")
        said[name] = value
    return said


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
