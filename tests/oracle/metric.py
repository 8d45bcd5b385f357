"""What the name of a metric says."""

from __future__ import annotations

import math
import re
from ast import literal_eval
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

GAINS: dict[str, Callable[[float], float]] = {
    "linear": lambda rel: rel,
    "exp2": lambda rel: 2.0**rel - 1,
    # What tests hand over as a function, known by its name.
    "falling": lambda rel: 10.0 - rel if rel > 0 else 0.0,
}


@dataclass(frozen=True)
class Metric:
    """What a metric string says."""

    label: str
    name: str
    k: int | None
    options: Mapping[str, str] = field(hash=False)

    @cached_property
    def last(self) -> float:
        return math.inf if self.k is None else self.k

    def gain(self, relevance: float, *, hit: bool) -> float:
        kind, grades = self.options.get("gain", "linear"), self.options.get("grades", "all")
        if kind == "binary":
            return float(hit)
        if grades in ("positive", "relevant") and (relevance < 0 or (grades == "relevant" and not hit)):
            return 0.0
        if kind.startswith("{"):
            return float(literal_eval(kind).get(relevance, 0))
        return GAINS[kind](relevance)

    @property
    def signed(self) -> bool:
        """Whether the ideal holds negative relevance."""
        return self.options.get("grades") == "signed" and self.options.get("gain") != "binary"

    @property
    def discount(self) -> str:
        return self.options.get("discount", "log2")


@cache
def parse(label: str) -> Metric:
    name, options, k = re.fullmatch(r"(\w+)(?:\((.*)\))?(?:@(\d+))?", label).groups()
    pairs = dict(pair.split("=") for pair in re.split(r",(?![^{]*})", options)) if options else {}
    return Metric(label, name, None if k is None else int(k), pairs)
