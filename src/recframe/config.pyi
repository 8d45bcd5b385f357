"""Written by tools/stubs.py: change the roles or the class, then run it."""

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Self, TypedDict, TypeVar, Unpack

from recframe._arguments import Columns, Like, Lists, MeanKind, Ties, Undefined

P = ParamSpec("P")
R = TypeVar("R")

class ConfigRoles(TypedDict, total=False):
    by: Columns
    item: str
    relevant: str
    score: str | Sequence[str] | None
    rank: str | Sequence[str] | None
    value: str
    per: Columns
    ties: Ties
    min_relevance: float | None
    undefined: Undefined
    lists: Lists
    subtopic: str | None
    condensed: bool
    mean: MeanKind
    like: Like | None
    partitions: int | None
    candidates: str | None
    tied: str | None
    weight: str | None
    propensity: str | None
    model: str | None

class Config:
    def __init__(
        self,
        *,
        restore_defaults: bool = False,
        apply_on_context_enter: bool = False,
        **roles: Unpack[ConfigRoles],
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *raised: object) -> None: ...
    def __call__(self, function: Callable[P, R]) -> Callable[P, R]: ...
    @classmethod
    def restore_defaults(cls) -> type[Config]: ...
    @classmethod
    def state(cls) -> dict[str, Any]: ...
    @classmethod
    def set_by(cls, value: Columns) -> type[Config]: ...
    @classmethod
    def set_item(cls, value: str) -> type[Config]: ...
    @classmethod
    def set_relevant(cls, value: str) -> type[Config]: ...
    @classmethod
    def set_score(cls, value: str | Sequence[str] | None) -> type[Config]: ...
    @classmethod
    def set_rank(cls, value: str | Sequence[str] | None) -> type[Config]: ...
    @classmethod
    def set_value(cls, value: str) -> type[Config]: ...
    @classmethod
    def set_per(cls, value: Columns) -> type[Config]: ...
    @classmethod
    def set_ties(cls, value: Ties) -> type[Config]: ...
    @classmethod
    def set_min_relevance(cls, value: float | None) -> type[Config]: ...
    @classmethod
    def set_undefined(cls, value: Undefined) -> type[Config]: ...
    @classmethod
    def set_lists(cls, value: Lists) -> type[Config]: ...
    @classmethod
    def set_subtopic(cls, value: str | None) -> type[Config]: ...
    @classmethod
    def set_condensed(cls, value: bool) -> type[Config]: ...
    @classmethod
    def set_mean(cls, value: MeanKind) -> type[Config]: ...
    @classmethod
    def set_like(cls, value: Like | None) -> type[Config]: ...
    @classmethod
    def set_partitions(cls, value: int | None) -> type[Config]: ...
    @classmethod
    def set_candidates(cls, value: str | None) -> type[Config]: ...
    @classmethod
    def set_tied(cls, value: str | None) -> type[Config]: ...
    @classmethod
    def set_weight(cls, value: str | None) -> type[Config]: ...
    @classmethod
    def set_propensity(cls, value: str | None) -> type[Config]: ...
    @classmethod
    def set_model(cls, value: str | None) -> type[Config]: ...
