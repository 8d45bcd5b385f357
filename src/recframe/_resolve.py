"""Who names a role: the call, the bound accessor, `recframe.Config`, the columns of the frame, or nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe import _defaults
from recframe._arguments import DEFAULT_SCORE, POLICIES, Roles
from recframe._engines.registry import adapter_of, is_frame, labels_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RANKED = "rank"
COMPACT = ("tied", "candidates")
"""What `recframe.from_factors` adds to ranks."""


def resolved(
    frames: Sequence[object], bound: Mapping[str, Any], given: Mapping[str, Any], allowed: Sequence[str]
) -> Roles:
    """Return the roles of a call: the given ones, else the bound ones, else those of Config, else the defaults.

    The first of the frames is the one that the call is about.
    """
    configured = {name: value for name, value in _defaults.current().items() if name in allowed}
    named = {**bound, **given}
    if named.get("score") is not None:
        # Config's roles of ranked frames mean nothing to scores, nor does its long format to several columns.
        several = isinstance(named["score"], list) and len(named["score"]) > 1
        unread = (*COMPACT, "model") if several else COMPACT
        configured = {name: value for name, value in configured.items() if name not in unread}
    if "partitions" in configured and is_frame(frames[0]) and adapter_of(frames[0]).partitions is None:
        del configured["partitions"]
    if not any({**configured, **named}.get(role) is not None for role in ("score", RANKED)):
        configured = {**_ranks_of(frames[0], allowed), **configured}
    return Roles.of([configured, bound, given], allowed, labels_of(*frames))


def _ranks_of(frame: object, allowed: Sequence[str]) -> dict[str, Any]:
    """Return the roles that columns of an eager frame play where it holds ranks, and no scores."""
    if RANKED not in allowed or not is_frame(frame) or not adapter_of(frame).eager:
        return {}
    there = adapter_of(frame).names(frame)
    if DEFAULT_SCORE in there or RANKED not in there:
        return {}
    return {name: name for name in (RANKED, *COMPACT) if name in there and name in allowed}


def policies_named(bound: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Return the roles that a user named, and the policies of Config that win over those of a profile.

    They yield to a profile that a call names, but not to one that Config itself names. What is relevant is a matter of
    the data, so `min_relevance` never yields.
    """
    named = [*bound, *given]
    own = ("min_relevance",) if "like" in named else POLICIES
    return [*named, *(name for name in own if name in _defaults.current())]
