"""Terms that several metrics of a call sum only once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn

import narwhals as nw
from narwhals.exceptions import InvalidOperationError

from recframe._base.columns import RELEVANCE
from recframe.errors import OptionError, OptionTypeError, no_attribute, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


Term = Callable[..., nw.Expr]
Key = tuple[Term, tuple[Hashable, ...]]


class Reader:
    """Remembers which columns a metric requests, in addition to the columns that every row has."""

    def __init__(self) -> None:
        self.requested: set[str] = set()

    def __getattr__(self, name: str) -> NoReturn:
        """Raise, and name what was meant."""
        raise no_attribute(name, "a metric reads {!r}, but rows and lists have no such expression", dir(self))

    def _column(self, name: str) -> nw.Expr:
        self.requested.add(name)
        return nw.col(name)


class RequestedColumn:
    """A column that rows or lists offer to metrics: reading it requests it, and those that it is made of."""

    def __init__(self, name: str, *made_of: str) -> None:
        self._name = name
        self._requested = {name, *made_of}

    def __get__(self, reader: Reader, kind: type) -> nw.Expr:
        reader.requested |= self._requested
        return nw.col(self._name)


class SharedTerms(Reader):
    """The base of all kinds of rows. Shared terms are identified by the function that computes them."""

    def __init__(self) -> None:
        super().__init__()
        self._shared: dict[Key, nw.Expr] = {}

    def shared(self, term: Term, *arguments: Any) -> nw.Expr:
        """Return ``term(row, *arguments)``, which metrics with the same function and arguments sum only once.

        The function sees the row and the arguments and nothing else, so no option can be missing from the key.
        """
        key = term, tuple(map(_typed, arguments))
        try:
            is_shared = key in self._shared
        except TypeError:
            # An argument without a hash: each metric sums the term by itself.
            return term(self, *arguments)
        if not is_shared:
            self._shared[key] = term(self, *arguments)
        return self._shared[key]

    def key_of(self, expression: nw.Expr) -> Key | None:
        """Return what computes a shared term; None for any other expression."""
        return next((key for key, term in self._shared.items() if term is expression), None)


def _typed(argument: Any) -> Hashable:
    """Return an argument with its type, because 1 and True are equal, but a function may treat them differently."""
    return type(argument), tuple(map(_typed, argument)) if isinstance(argument, tuple) else argument


@dataclass(frozen=True)
class Terms:
    """The terms that rows of one kind add to sums."""

    by_column: Mapping[str, nw.Expr] = field(default_factory=dict)
    """The terms by the columns that hold their sums."""
    requested: frozenset[str] = frozenset()
    """The columns that the terms read beyond those that every row of the kind has."""
    upto: Mapping[str, int] = field(default_factory=dict)
    """The last positions at which the terms of metrics with a cutoff add something, by the same columns."""

    @cached_property
    def summands(self) -> Mapping[str, nw.Expr]:
        """The terms as floats, by the columns that hold their sums, and with these names."""
        return {column: term.cast(nw.Float64()).alias(column) for column, term in self.by_column.items()}

    def times(self, factor: nw.Expr) -> Terms:
        """Return the terms, each times a factor of the row."""
        return Terms({column: term * factor for column, term in self.by_column.items()}, self.requested, self.upto)

    @staticmethod
    def union(parts: Iterable[Terms]) -> Terms:
        """Return the terms of several metrics, each shared term once."""
        parts = list(parts)
        by_column = {column: term for part in parts for column, term in part.by_column.items()}
        upto = {column: k for part in parts for column, k in part.upto.items()}
        return Terms(by_column, frozenset(chain.from_iterable(part.requested for part in parts)), upto)


class TermColumns:
    """Gives each term a column, and terms of several metrics that compute the same over the same rows a common one."""

    def __init__(self, name: Callable[[object], str]) -> None:
        self._name = name
        self._by_label: dict[str, dict[str, str]] = {}
        self._by_key: dict[object, str] = {}

    @property
    def all(self) -> tuple[str, ...]:
        """The columns of all terms."""
        return tuple(self._by_key.values())

    def of(self, label: str) -> Mapping[str, str]:
        """Return the columns of a metric's terms by their names."""
        return self._by_label.get(label, {})

    def known(self, label: str, terms: Mapping[str, nw.Expr], requested: Iterable[str] = ()) -> Terms:
        """Return a metric's terms of other rows, such as places in tied blocks, under the columns of its own terms.

        `requested` are the columns that these terms read.
        """
        return Terms({self._by_label[label][name]: term for name, term in terms.items()}, frozenset(requested))

    def add(self, label: str, terms: Mapping[str, nw.Expr], row: SharedTerms, over: str) -> Terms:
        """Return a metric's terms by column; terms that another metric has too share its column."""
        columns = self._by_label.setdefault(label, {})
        by_column = {}
        check_terms(label, terms)
        check_names(label, terms, columns)
        for name, term in terms.items():
            if wrong := what_is_wrong(term):
                msg = f"term {name!r} of metric {label!r} is {quoted(term)}, which {wrong}"
                raise OptionTypeError(msg, "return expressions of the row, such as {'hits': row.hit}")
            computed = row.key_of(term)
            key = (label, name) if computed is None else (computed, over)
            columns[name] = self._by_key.setdefault(key, self._name(len(self._by_key)))
            by_column[columns[name]] = term
        return Terms(by_column, frozenset(row.requested))


def what_is_wrong(term: object) -> str:
    """Return why a term is not an expression of a single row, or an empty string if it is."""
    if not isinstance(term, nw.Expr):
        return "is not a Narwhals expression"
    # What Narwhals computes over groups reads other rows, and the plan chooses which of them it has.
    with suppress(InvalidOperationError):
        (0.0 * nw.col(RELEVANCE) + term).over(RELEVANCE)
        return "reads other rows than its own, as a maximum or a rank does"
    return ""


def check_terms(label: str, terms: object) -> None:
    """Raise for terms that have no names."""
    if not isinstance(terms, Mapping):
        msg = f"the terms of metric {label!r} are {quoted(terms)}, which is not a mapping"
        raise OptionTypeError(msg, "return expressions of the row by their names, such as {'hits': row.hit}")


def check_names(label: str, terms: Iterable[str], others: Collection[str]) -> None:
    """Raise if two terms of a metric have the same name, because both would add to one sum."""
    for name in terms:
        if name in others:
            msg = f"metric {label!r} has two terms of the name {name!r}"
            raise OptionError(msg, "give its terms, best_terms and share_terms names that differ")
