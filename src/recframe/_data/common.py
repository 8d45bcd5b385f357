"""What the calls that make frames share: their roles, and the key of a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recframe._base.defaults import current
from recframe._base.roles import CALL_ROLES, Roles
from recframe._base.values import choice, is_label, whole_number
from recframe._engines.registry import check_answers_with_rows, is_frame
from recframe.errors import OptionError, OptionTypeError, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from recframe._plan.query import Query
    from recframe._plan.request import Request


def check_frame(what: str, frame: object) -> None:
    """Raise if a value is not a frame of polars or pandas."""
    check_answers_with_rows(frame)
    if not is_frame(frame):
        msg = f"{what} is a {type(frame).__name__}, not a frame"
        raise OptionTypeError(msg, "give a polars DataFrame or LazyFrame, or a pandas DataFrame")


def query_of_frames(call: str, request: Request, **others: Any) -> Query:
    """Return the checked roles of a call that makes a new frame from its frame and others."""
    for what, value in {"the frame": request.frame, **others}.items():
        check_frame(what, value)
    return request.query(CALL_ROLES[call], *others.values())


def count_of(name: str, value: object) -> int:
    """Return an argument that counts something."""
    return whole_number(name, value, "give a whole number from 1 on", least=1)


def check_name(name: str, value: Any) -> str:
    """Return an argument that names a new column."""
    if not isinstance(value, str) or not value or not is_label(value, None):
        msg = f"{name}={quoted(value)} is not the name of a column"
        raise OptionTypeError(msg, f"{name}='name'")
    return value


def check_roles(**roles: Sequence[Any]) -> None:
    """Raise if roles name a column of the result twice."""
    columns = [column for names in roles.values() for column in names]
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        holders = {role: list(names) if len(names) > 1 else names[0] for role, names in roles.items() if twice in names}
        msg = f"{' and '.join(f'{role}={names!r}' for role, names in holders.items())} name the column {twice!r} twice"
        raise OptionError(msg, "give each role a column of its own")


def check_new_column(value: Any, query: Query, bound: Mapping[str, Any], scores: Sequence[Any] = ()) -> str:
    """Return the name of a column that a call adds, or raise if it would replace what a role or `scores` names."""
    name = check_name("name", value)
    named = {**current(), **bound}
    # Bound roles that the call does not read are not checked, so they may hold other values than text and None.
    compared = [role for role in ("relevant", "item", "model") if isinstance(named.get(role), str | None)]
    taken = {named.get(role) or getattr(Roles, role): role for role in compared}
    taken |= {**dict.fromkeys(scores, "score"), query.item: "item", **dict.fromkeys(query.by, "by")}
    if name in taken:
        msg = f"name={name!r} is the column of {taken[name]}=, which would be lost"
        raise OptionError(msg, "give the new column a name of its own")
    return name


def words_of(name: str, value: Any, allowed: Collection[Any], wrong: str, remedy: str) -> list[Any]:
    """Return the words of an option as a list without repeats, or raise for unknown words.

    None is a word if `allowed` holds it.
    """
    words = [value] if value is None or isinstance(value, str) else value
    if not isinstance(words, Sequence) or not words:
        msg = f"{name}={quoted(value)} names {wrong}"
        raise OptionTypeError(msg, remedy)
    for word in words:
        if word is not None or None not in allowed:
            choice(name, word, [value for value in allowed if value is not None])
    return list(dict.fromkeys(words))


def check_several(query: Query, what: str) -> None:
    """Raise if the frame holds one model, but the call compares several."""
    if len(query.orders) == 1 and query.model is None:
        msg = f"{what} several models, but {'rank' if query.by_rank else 'score'}={query.orders[0]!r} is one"
        raise OptionError(msg, "score=['old', 'new'], or model='model' if this column names each row's model")
