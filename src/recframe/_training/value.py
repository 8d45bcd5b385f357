"""One metric of labels and predictions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recframe._arguments import ALL_ROLES, ROLES
from recframe._data.arrays import columns_of_arrays, from_arrays
from recframe._evaluate import value_of_metric
from recframe._guesses import role_meant
from recframe.errors import MissingColumnError, OptionError, OptionTypeError, quoted
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics import Metric


POLICIES = tuple(name for name, role in ROLES.items() if role.kind == "policy")


@dataclass(frozen=True)
class Value:
    """A metric with its policies, of arrays."""

    metric: str | Metric
    policies: Mapping[str, Any]

    @classmethod
    def of(cls, metric: str | Metric, policies: Mapping[str, Any], also: Sequence[str] = ()) -> Value:
        """Check the metric and the policies, before anything is trained; `also` names the caller's own arguments."""
        checked = cls(metric, policies)
        if of_frames := [name for name in policies if name in ALL_ROLES and name not in POLICIES]:
            msg = f"{of_frames[0]}={quoted(policies[of_frames[0]])} is about frames, and this is one number of arrays"
            own = role_meant(of_frames[0], also)
            hint = f"did you mean {own!r}?" if own else f"leave it out; there are {', '.join(POLICIES)}"
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
                msg = f"{checked.name} reads more than relevance and scores, but arrays hold no more"
                raise OptionError(msg, "df.rec has it, of a frame with such columns") from error
        return checked

    @property
    def name(self) -> str:
        """What the metric is called."""
        return spec_of(self.metric).name

    @property
    def higher_is_better(self) -> bool:
        """The direction."""
        return bool(spec_of(self.metric).metric.higher_is_better)

    def __call__(self, relevant: Any, score: Any, by: Any) -> float:
        """Return the value."""
        frame = from_arrays(relevant, score, by=by)
        return value_of_metric(frame, self.metric, {**columns_of_arrays(), **self.policies})
