"""Terms that several metrics of a call sum only once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import narwhals as nw

Term = Callable[..., nw.Expr]
Key = tuple[Term, tuple[Hashable, ...]]


class SharedTerms:
    """What all kinds of rows offer: terms that are known by what computes them, never by a name."""

    def __init__(self) -> None:
        self._shared: dict[Key, nw.Expr] = {}

    def shared(self, term: Term, *arguments: Any) -> nw.Expr:
        """Return ``term(row, *arguments)``, which metrics that ask for the same function and arguments sum once.

        The function sees the row and the arguments and nothing else, so no option can be missing from the key.
        """
        key = term, arguments
        try:
            known = key in self._shared
        except TypeError:
            # An argument without a hash: each metric sums the term by itself.
            return term(self, *arguments)
        if not known:
            self._shared[key] = term(self, *arguments)
        return self._shared[key]

    def key_of(self, expression: nw.Expr) -> Key | None:
        """Return what computes a shared term; None for any other expression."""
        return next((key for key, found in self._shared.items() if found is expression), None)
