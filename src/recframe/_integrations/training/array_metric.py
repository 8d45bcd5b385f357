"""One metric as a function of labels and predictions, for training libraries."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recframe._base.guesses import role_meant
from recframe._base.roles import ALL_ROLES, ROLES
from recframe._call.evaluate import value_of_metric
from recframe._data.arrays import columns_of_arrays, from_arrays
from recframe.errors import MissingColumnError, OptionError, OptionTypeError, quoted
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics import Metric


POLICIES = tuple(name for name, role in ROLES.items() if role.kind == "policy")


@dataclass(frozen=True)
class ArrayMetric:
    """A metric with its policies, which is called with arrays."""

    metric: str | Metric
    policies: Mapping[str, Any]

    @classmethod
    def of(cls, metric: str | Metric, policies: Mapping[str, Any], also: Sequence[str] = ()) -> ArrayMetric:
        """Return a metric that was checked before training starts; `also` names arguments of the caller, for hints."""
        checked = cls(metric, policies)
        if frame_roles := [name for name in policies if name in ALL_ROLES and name not in POLICIES]:
            role = frame_roles[0]
            msg = f"{role}={quoted(policies[role])} is about frames, but this metric reads arrays"
            meant = role_meant(role, also)
            hint = f"did you mean {meant!r}?" if meant else f"leave it out; there are {', '.join(POLICIES)}"
            raise OptionTypeError(msg, hint)
        if isinstance(metric, list | tuple) and len(metric) > 1:
            msg = f"{quoted([*metric])} are several metrics, but this is one number"
            raise OptionTypeError(msg, f"make one for each: {quoted(metric[0])}, then {quoted(metric[1])}")
        spec_of(metric)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                checked(relevant=[1, 0], score=[1.0, 0.0], by=None)
            except MissingColumnError as error:
                msg = f"{checked.name} reads more than relevance and scores, but arrays hold only these"
                raise OptionError(msg, "use df.rec with a frame that has the columns") from error
        return checked

    @property
    def name(self) -> str:
        """The name of the metric."""
        return spec_of(self.metric).name

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better."""
        return bool(spec_of(self.metric).metric.higher_is_better)

    def __call__(self, relevant: Any, score: Any, by: Any) -> float:
        """Return the metric's value; `by` holds the list of each row, or the sizes of the lists."""
        frame = from_arrays(relevant, score, by=by)
        return value_of_metric(frame, self.metric, {**columns_of_arrays(), **self.policies})
