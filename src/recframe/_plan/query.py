"""The checked query of a call: the roles and policies as the plan reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from recframe._base.columns import LIST_COUNTS
from recframe._base.roles import DEFAULT_SCORE, FRAMES, Lists, Roles, Undefined
from recframe._base.values import as_tuple
from recframe.errors import OptionError, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from recframe._base.strata import Strata


DEFAULT_RANK = "rank"
Ordered = Literal["as given", "by chance", "by relevance"]
TIED_ROWS = "recframe_tied"
"""The column of `recframe.from_factors` that counts the rows of a tied block, omitted ones included."""
RANKED_ROWS = "recframe_candidates"
"""The column of `recframe.from_factors` that counts the rows of a list, omitted ones included."""
GUESSED = frozenset({DEFAULT_SCORE, DEFAULT_RANK, TIED_ROWS, RANKED_ROWS})
"""The columns of a frame whose presence says how to rank it."""


@dataclass(frozen=True)
class Averaging:
    """How the values of one metric become their mean, and what the mean is called."""

    undefined: Undefined
    lists: Lists
    name: str
    least: float | None = None
    """The least relevance that the library of the profile accepts; None: any."""


@dataclass(frozen=True)
class Query(Roles):
    """Roles after their checks, as the plan reads them; it holds no frame."""

    by: tuple[str, ...] = ()
    per: tuple[str, ...] = ()
    """What results are reported by, the columns that describe items at the end."""
    per_item: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    """The columns that rank the rows, one a model."""
    by_rank: bool = False
    several: bool = False
    """Whether results name the model."""
    named: frozenset[str] = frozenset()
    """The roles that the user gave or bound: their columns must exist."""
    in_call: frozenset[str] = frozenset()
    """The roles that the call itself gave: their columns must exist even if nothing reads them."""
    floor: float = 0.0
    """What counts for lower values of lists in a geometric mean."""
    cluster: str | None = None
    """The column of clusters of lists that are drawn together, for `compare` and `describe`."""
    strata: Strata | None = None
    """The column of strata whose means are averaged, and their weights."""
    every_list: bool = False
    """Whether lists without any value are counted too."""
    counts: bool = False
    """Whether results say how many lists have a value."""
    ordered: Ordered = "as given"
    """How the rows are ranked: as the call says, by chance, or in the best order."""
    averagings: Mapping[str, Averaging] = field(default_factory=dict)
    """How metrics are averaged that differ from the call, by their labels."""

    @cached_property
    def cached(self) -> dict[Hashable, Any]:
        """A cache of objects that depend only on the query and on their key here. Equal calls share a query."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields to pickle; a worker process computes the rest again."""
        return {name: value for name, value in vars(self).items() if name != "cached"}

    def model_name(self, index: int) -> str:
        """Return what results call a model; the label of its column need not be text."""
        return str(self.orders[index])

    def averaging(self, label: str) -> Averaging:
        """Return how a metric is averaged."""
        key = "averaging", label
        if key not in self.cached:
            self.cached[key] = self.averagings.get(label, Averaging(self.undefined, self.lists, label))
        averaging: Averaging = self.cached[key]
        return averaging

    def called(self, label: str) -> str:
        """Return what a message calls a metric: as the user wrote it, and what a profile makes of it."""
        name = self.averaging(label).name
        return name if name == label or self.like is None else f"{name}, which is {label} under `like={self.like!r}`,"

    @property
    def count_columns(self) -> tuple[str, ...]:
        """What the plan calls the numbers of lists, if results have them."""
        return tuple(LIST_COUNTS) if self.counts else ()

    @classmethod
    def of(cls, roles: Roles, named: Collection[str] = ()) -> Query:
        """Check how roles go together; `named` holds the roles that the user gave."""
        if roles.score is not None and roles.rank is not None:
            msg = f"`score={roles.score!r}` and `rank={roles.rank!r}` exclude each other"
            raise OptionError(msg, "give only one of them")
        role = "rank" if roles.rank is not None else "score"
        ordering = DEFAULT_SCORE if (column := getattr(roles, role)) is None else column
        orders = as_tuple(ordering)
        if not orders:
            msg = f"`{role}={ordering!r}` names no column"
            raise OptionError(msg)
        if len(set(orders)) < len(orders):
            msg = f"`{role}={ordering!r}` names a column twice, but each model has one row in the result"
            raise OptionError(msg)
        if roles.model is not None and len(orders) > 1:
            msg = f"`{role}={ordering!r}` names several models, and so does `model={roles.model!r}`"
            raise OptionError(msg, "give one of them")
        by = as_tuple(roles.by)
        if roles.by is not None and not by:
            msg = f"`by={roles.by!r}` names no column"
            raise OptionError(msg, "`by=None` makes the whole frame one list")
        per_item = tuple(dict.fromkeys(as_tuple(roles.per_item)))
        _check_omissions(roles, orders)
        _check_per_item(roles, by, per_item)
        _check_median(roles)
        _check_prerequisites(roles, named)
        return cls(
            **{name: value for name, value in vars(roles).items() if name not in FRAMES | {"by", "per", "per_item"}},
            by=tuple(dict.fromkeys(by)),
            per=tuple(dict.fromkeys((*as_tuple(roles.per), *per_item))),
            per_item=per_item,
            orders=orders,
            by_rank=role == "rank",
            several=isinstance(ordering, list) or roles.model is not None,
            named=frozenset(named),
        )


def _check_prerequisites(roles: Roles, named: Collection[str]) -> None:
    """Raise if a named role means something only together with another role, which is not given."""
    if roles.estimator == "pooled":
        _check_pooled(roles, named)
    elif roles.sampled is None and "estimator" in named:
        msg = f"`estimator={roles.estimator!r}` is about sampled lists, but there is no `sampled=`"
        raise OptionError(msg, "`sampled=(99, 10_000)`: 99 items drawn from 10,000")
    if roles.subtopic is not None and roles.truth is None and "subtopic" in named:
        msg = f"`subtopic={roles.subtopic!r}` is a column of the truth, but there is no `truth=`"
        raise OptionError(msg, "`truth=intents`, a frame with a row for each subtopic of an item")


def _check_per_item(roles: Roles, by: Collection[str], per_item: Collection[str]) -> None:
    """Raise if `per_item` names a key of lists, or if items of relevance 0 would be relevant."""
    both = next((column for column in per_item if column in by), None)
    if both is not None:
        msg = f"`per_item={both!r}` describes items, but `by=` has it as a key of lists"
        raise OptionError(msg, f"`per={both!r}` reports by a key")
    if per_item and roles.min_relevance is not None and not roles.min_relevance > 0:
        others = f"`per_item={roles.per_item!r}` gives other items the relevance 0"
        msg = f"{others}, which `min_relevance={roles.min_relevance:g}` would call relevant"
        raise OptionError(msg, "a min_relevance above 0")


def _check_pooled(roles: Roles, named: Collection[str]) -> None:
    """Raise for roles and policies that do not go with the pooled estimator."""
    if roles.propensity is None and ("estimator" in named or roles.sampled is not None):
        msg = "`estimator='pooled'` is about propensities, but there is no `propensity=`"
        raise OptionError(msg, "`propensity='p'`, the probability that the relevance was observed")
    if roles.propensity is not None and roles.mean != "arithmetic":
        msg = f"`estimator='pooled'` divides sums over all lists, so that `mean={roles.mean!r}` has no values of lists"
        raise OptionError(msg, "leave one of them out")


def _check_median(roles: Roles) -> None:
    """Raise for roles that do not go with a median."""
    if roles.mean != "median":
        return
    if roles.weight is not None:
        msg = f"`mean='median'` has no weights, but `weight={roles.weight!r}` weights the lists"
        raise OptionError(msg, "leave `weight=` out, or use another mean")
    if roles.partitions is not None:
        msg = (
            f"`mean='median'` needs all lists together, but `partitions={quoted(roles.partitions)}` reads them in parts"
        )
        raise OptionError(msg, "leave `partitions=` out, or use another mean")


def _check_omissions(roles: Roles, orders: Sequence[str]) -> None:
    """Raise for roles and policies that need the ranked rows which a frame of `from_factors` omits."""
    if not roles.omission_columns:
        return
    if len(orders) > 1:
        why = f"of one model, and `rank={roles.rank!r}` names several"
        dropped = " and ".join(roles.omission_columns)
        remedy = f"stack the models' frames and name their column by `model=`, or drop {dropped}"
    elif roles.condensed:
        why = "and `condensed=True` cannot tell which of the others are judged"
        remedy = "a frame with all ranked rows"
    elif roles.truth is not None:
        why = "and `truth=` might call others relevant"
        remedy = "leave `truth=` out: the frame itself holds every relevant row and its relevance"
    elif roles.min_relevance is not None and not roles.min_relevance > 0:
        why = f"and `min_relevance={roles.min_relevance:g}` would call the others relevant"
        remedy = "a min_relevance above 0"
    elif roles.ties in ("item", "item_desc", "first"):
        why = f"and `ties={roles.ties!r}` cannot order the others"
        remedy = "`ties='average'`, 'best' or 'worst'"
    else:
        return
    msg = f"the frame comes from from_factors and holds only some of the ranked rows, {why}"
    raise OptionError(msg, remedy)


OTHER_CLUSTER = "leave `cluster=` out, or name the column whose lists are alike, such as the user of sessions"


def check_cluster(cluster: str | None, per: Sequence[str]) -> None:
    """Raise if the column of clusters is also a column of `per`: each segment would be a single cluster."""
    if cluster is not None and cluster in per:
        msg = (
            f"`cluster={cluster!r}` is also a column of `per=`, so each segment is a single cluster and has no interval"
        )
        raise OptionError(msg, OTHER_CLUSTER)


APART = "rename the column of the frame, or name each metric, cutoff and column of `per` once"


def check_apart(names: Sequence[Any], remedy: str = APART) -> None:
    """Raise if a result would have several columns of one name."""
    twice = sorted({name for name in names if names.count(name) > 1}, key=str)
    if twice:
        msg = f"the result would have several columns of the name {', '.join(map(repr, twice))}"
        raise OptionError(msg, remedy)
