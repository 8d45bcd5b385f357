"""Profiles: ``like="trec_eval"`` and others, and the explanation of a metric under a profile.

>>> from recframe import profiles
>>> profiles.PROFILES["rectools"].title
'RecTools'
>>> profiles.PROFILES["rectools"].metrics["ndcg"].options
{'gain': 'binary', 'ideal': 'ones'}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe.profiles._builtin import PROFILES
from recframe.profiles._record import Definition, Profile

if TYPE_CHECKING:
    from recframe.profiles._explain import explain

__all__ = ["PROFILES", "Definition", "Profile", "explain"]


def __dir__() -> list[str]:
    return list(__all__)


def __getattr__(name: str) -> Any:
    # Most programs only measure: what explains is imported by the first call that needs it.
    if name == "explain":
        from recframe.profiles._explain import explain

        return explain
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
