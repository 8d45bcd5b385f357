"""What the workers of a cluster compute: one function, called for each part of the lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True)
class WorkerTask:
    """A function of polars frames, what it reads and what it returns; the record must pickle.

    Attributes
    ----------
    evaluate : callable
        From the polars frames of one part, and the constant, to a polars frame.
    names : dict of str to dict of str to str
        Of each frame, the user's names of its columns by those that the function reads.
    kept : sequence of str
        The columns of the frames that the result holds unchanged.
    columns : dict of str to type
        The other columns of the result, each ``int`` or ``float``.
    constant : str, optional
        A further column of the frames, with one value.
    """

    evaluate: Callable[[Mapping[str, Any], float | None], Any]
    names: Mapping[str, Mapping[str, str]]
    kept: Sequence[str]
    columns: Mapping[str, type]
    constant: str | None
