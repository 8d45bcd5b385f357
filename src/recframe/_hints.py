"""What users may have meant by a name that does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recframe.errors import OptionTypeError, closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MEANT = {
    "by": ("user", "users", "user_id", "group", "groups", "query", "query_id", "qid", "key", "keys", "on"),
    "item": ("items", "item_id", "doc", "document", "docno", "product"),
    "relevant": ("label", "labels", "relevance", "rating", "ratings", "target", "y_true"),
    "score": ("scores", "prediction", "predictions", "pred", "y_score", "y_pred"),
    "rank": ("position", "positions", "order"),
    "value": ("price", "prices", "worth", "revenue"),
    "truth": ("ground_truth", "actual", "qrels", "test", "y"),
    "per": ("segment", "segments", "slice", "groupby"),
    "min_relevance": ("rel", "threshold", "relevance_level", "min_rating", "min_grade"),
    "undefined": ("empty", "zero_division", "nan"),
    "train": ("past", "history", "seen", "interactions"),
    "like": ("profile", "library", "as_in"),
    "k": ("cutoff", "cutoffs", "at", "top_k", "topk", "ks", "n"),
}
"""What other libraries call an argument, for hints."""


def role_meant(name: str, allowed: Iterable[str]) -> str:
    """Return the argument that other libraries call by a name, or nothing."""
    return next((role for role, others in MEANT.items() if name.lower() in others and role in allowed), "")


def check_names(names: Iterable[str], allowed: Sequence[str]) -> None:
    """Raise for an argument that a call does not take."""
    for name in names:
        if name not in allowed:
            role = role_meant(name, allowed)
            msg = f"there is no argument {name!r}; there are {', '.join(allowed)}"
            raise OptionTypeError(msg, f"did you mean {role!r}?" if role else closest(name, allowed))
