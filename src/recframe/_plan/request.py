"""What a user asks of a frame, and who names each role: the call, the accessor, Config or nobody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recframe._base.defaults import current
from recframe._base.roles import DEFAULT_SCORE, POLICIES, Roles, layered
from recframe._engines.postponed import RERUN
from recframe._engines.registry import adapter_of, is_frame, labels_of
from recframe._plan.query import DEFAULT_RANK, RANKED_ROWS, TIED_ROWS, Query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.values import Labels


@dataclass(frozen=True)
class Request:
    """A frame and the roles that a user named for it."""

    frame: Any
    """The frame that the call is about."""
    bound: Mapping[str, Any]
    """The roles that are bound to the frame's accessor."""
    roles: Mapping[str, Any]
    """The roles of the call itself, which win over bound ones."""

    @property
    def named(self) -> dict[str, Any]:
        """All roles that the user named."""
        return {**self.bound, **self.roles}

    @property
    def labels(self) -> Labels:
        """The column labels of the frame and of its truth, None if all labels must be text."""
        return labels_of(self.frame, self.named.get("truth"))

    def with_bound_roles(self, allowed: Sequence[str]) -> Request:
        """Return the request with the bound roles that a call accepts; the others are for other calls."""
        return replace(self, bound={name: value for name, value in self.bound.items() if name in allowed})

    def without(self, *names: str) -> Request:
        """Return the request without some roles, whether they are bound or in the call."""
        bound = {name: value for name, value in self.bound.items() if name not in names}
        roles = {name: value for name, value in self.roles.items() if name not in names}
        return replace(self, bound=bound, roles=roles)

    def resolved(self, allowed: Sequence[str], *others: object) -> Roles:
        """Return the roles of the call: from the call, otherwise as bound, otherwise from Config, otherwise defaults.

        `others` are the further frames of the call, whose labels may be names of columns.
        """
        configured = {name: value for name, value in current().items() if name in allowed}
        named = self.named
        if isinstance(named.get("score"), list) and len(named["score"]) > 1:
            configured.pop("model", None)  # Config's long format means nothing to several columns
        reads_at_once = is_frame(self.frame) and not adapter_of(self.frame).reads_parts and RERUN.get() is None
        if reads_at_once and "partitions" in configured:
            del configured["partitions"]
        if not any({**configured, **named}.get(role) is not None for role in ("score", DEFAULT_RANK)):
            configured = {**_ranks_of(self.frame, allowed), **configured}
        roles = layered([configured, self.bound, self.roles], allowed, labels_of(self.frame, *others))
        return roles if roles.rank is None else replace(roles, omission_columns=_omission_columns(self.frame))

    def query(self, allowed: Sequence[str], *others: object) -> Query:
        """Return the checked roles of a call that accepts only some, and may read further frames."""
        accepted = self.with_bound_roles(allowed)
        return Query.of(accepted.resolved(allowed, *others), {*accepted.named})

    def policies_named(self) -> list[str]:
        """Return the roles that the user named, and Config's policies that win over the policies of a profile.

        A profile that the call names wins over Config's policies, but a profile that Config names does not. Config's
        `min_relevance` always wins, because it depends on the data.
        """
        named = [*self.bound, *self.roles]
        yielding = ("min_relevance",) if "like" in named else POLICIES
        return [*named, *(name for name in yielding if name in current())]


def _ranks_of(frame: object, allowed: Sequence[str]) -> dict[str, Any]:
    """Return the rank of an eager frame that holds ranks, and no scores."""
    if DEFAULT_RANK not in allowed or not is_frame(frame) or not adapter_of(frame).eager:
        return {}
    columns = adapter_of(frame).names(frame)
    return {DEFAULT_RANK: DEFAULT_RANK} if DEFAULT_RANK in columns and DEFAULT_SCORE not in columns else {}


def _omission_columns(frame: object) -> tuple[str, ...]:
    """Return the columns of `from_factors` that a frame has."""
    columns = adapter_of(frame).names(frame) if is_frame(frame) and not adapter_of(frame).postpones else ()
    return tuple(name for name in (TIED_ROWS, RANKED_ROWS) if name in columns)
