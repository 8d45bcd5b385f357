"""Written by tools/stubs.py: change the roles or the class, then run it."""

from collections.abc import Sequence
from typing import Any, Literal, Self, TypedDict, Unpack

from recframe._base.roles import Columns, Estimator, Like, Lists, MeanKind, Ties, Undefined

class ConfigRoles(TypedDict, total=False):
    by: Columns
    item: str
    relevant: str
    score: str | Sequence[str] | None
    rank: str | Sequence[str] | None
    value: str
    per: Columns
    per_item: Columns
    ties: Ties
    min_relevance: float | None
    undefined: Undefined
    lists: Lists
    subtopic: str | None
    group: str | None
    condensed: bool
    mean: MeanKind
    like: Like | None
    partitions: int | None
    weight: str | None
    propensity: str | None
    sampled: tuple[int, int] | None
    estimator: Estimator
    model: str | None

class Config:
    def __init__(self, *, library: Literal["polars", "pandas"] | None = None, **roles: Unpack[ConfigRoles]) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *raised: object) -> None: ...
    @classmethod
    def set(
        cls, *, library: Literal["polars", "pandas"] | None = None, **roles: Unpack[ConfigRoles]
    ) -> type[Config]: ...
    @classmethod
    def restore_defaults(cls) -> type[Config]: ...
    @classmethod
    def state(cls) -> dict[str, Any]: ...
