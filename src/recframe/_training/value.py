"""One metric of labels and predictions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recframe._data.arrays import columns_of_arrays, from_arrays
from recframe._evaluate import measure
from recframe.errors import OptionTypeError, quoted
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics import Metric


@dataclass(frozen=True)
class Value:
    """A metric with its policies, of arrays."""

    metric: str | Metric
    policies: Mapping[str, Any]

    @classmethod
    def of(cls, metric: str | Metric, policies: Mapping[str, Any]) -> Value:
        """Check the metric and the policies, before anything is trained."""
        checked = cls(metric, policies)
        if several := [name for name in ("per", "per_item") if policies.get(name) is not None]:
            msg = f"{several[0]}={quoted(policies[several[0]])} reports several values, but this is one number"
            raise OptionTypeError(msg, "leave it out")
        spec_of(metric)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            checked(relevant=[1, 0], score=[1.0, 0.0], group=None)
        return checked

    @property
    def name(self) -> str:
        """What the metric is called."""
        return spec_of(self.metric).name

    @property
    def higher_is_better(self) -> bool:
        """The direction."""
        return bool(spec_of(self.metric).metric.higher_is_better)

    def __call__(self, relevant: Any, score: Any, group: Any) -> float:
        """Return the value."""
        frame = from_arrays(relevant, score, group=group)
        return float(measure(frame, {}, self.metric, {**columns_of_arrays(), **self.policies}))
