"""What an expression refuses: it reads the scores and the relevance of each group, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from recframe._plan.collect_terms import requirements_of
from recframe._plan.query import Query
from recframe.errors import OptionError
from recframe.metrics._beyond_accuracy import RecommendedMetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.roles import Roles
    from recframe.metrics import Metric
    from recframe.profiles._spec import Spec


ExpressionTies = Literal["average", "best", "worst"]
"""The policies that read nothing but the relevance of tied rows."""


def check_call(specs: Sequence[Spec], roles: Roles) -> None:
    """Raise for metrics and policies that read more than the scores and the relevance of one group."""
    query = Query.of(roles)
    metrics = [spec.metric for spec in specs]
    for metric in metrics:
        if _reads_more(metric, query):
            msg = f"{metric.label} reads more than the scores and the relevance of one group"
            raise OptionError(msg, _frame_call(metric))
        if metric.reads_greatest:
            msg = f"{metric.label} divides by the largest relevance of the frame, and an expression sees one group"
            raise OptionError(msg, "name the largest grade of the scale, such as max_relevance=4")
    if query.ties not in get_args(ExpressionTies):
        msg = f"ties={query.ties!r} orders tied rows by more than the relevance, which is all that an expression reads"
        hint = f", or {_frame_call(metrics[0])}" if metrics else ""
        raise OptionError(msg, f"ties='average', 'best' or 'worst'{hint}")
    for policies in ({"undefined": query.undefined}, *(spec.policies for spec in specs)):
        if policies.get("undefined") in ("raise", "raise_all"):
            undefined = f"undefined={policies['undefined']!r}"
            msg = f"{undefined} would name the groups without a value, but an expression has no names"
            raise OptionError(msg, "undefined='skip', or a number such as undefined=0")
        if "lists" in policies:
            msg = f"lists={policies['lists']!r} tells lists apart, and an expression sees one group"
            raise OptionError(msg, f"leave it out, or {_frame_call(metrics[0])}")


def _reads_more(metric: Metric, query: Query) -> bool:
    """Return whether a metric reads more than the scores and the relevance of one group."""
    if isinstance(metric, RecommendedMetric) or metric.required_inputs or metric.optional_inputs:
        return True
    requirements = requirements_of([metric], query, 0, truth=False)
    read = requirements.columns_read
    return requirements.reads_items or read.value or read.subtopics


def _frame_call(metric: Metric) -> str:
    """Return the call of the frame that has a value for each list."""
    return f"df.rec.evaluate([{metric.label!r}], by='query', per='query')"
