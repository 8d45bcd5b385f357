"""Roles: which column is what, which policy holds, and the checks of both."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, get_args

from recframe._values import (
    Labels,
    check_names,
    choice,
    column_name,
    column_names,
    finite_or,
    flag,
    number,
    pair_of_numbers,
    share_or,
)
from recframe.errors import OptionTypeError

if TYPE_CHECKING:
    from recframe.metrics import Metric

Columns = str | Sequence[str] | None
"""Names of columns: one or several."""
Undefined = float | Literal["skip", "raise", "raise_all"]
"""What replaces a list without a value: nothing, a number, an error, or an error if no list has a value."""

Ties = Literal["average", "best", "worst", "item", "item_desc", "first"]
"""What becomes of items of equal score: the expected value over their orders, its bounds, or a fixed order."""
Lists = Literal["all", "truth", "ranked", "both"]
"""Which lists are averaged: all, those of the truth, those with a ranked row, or those that are both."""
MeanKind = Literal["arithmetic", "geometric", "harmonic", "median"]
"""What the values of lists become together."""
Estimator = float | Literal["bv", "cls", "rank", "pooled"]
"""How sampled lists tell of whole ones: by least bias and variance, by least bias, or by the estimated rank."""
Like = Literal[
    "trec_eval",
    "sklearn",
    "ranx",
    "rectools",
    "recommenders",
    "spark",
    "torchmetrics",
    "recometrics",
    "lightgbm",
    "xgboost",
    "catboost",
    "ir_measures",
    "recbole",
    "replay",
    "tensorflow_ranking",
    "lenskit",
]
"""The libraries whose options and policies a call may name."""

DEFAULT_SCORE = "score"
SIDE_INFORMATION = ("train", "catalog", "features")
"""The roles of frames that only some metrics read."""


@dataclass(frozen=True)
class Roles:
    """The arguments that every metric method accepts, with their defaults.

    Parameters
    ----------
    by : str, sequence of str or None
        The list key: one column or several. None: the whole frame is one list. Rows without a key
        are a list too.
    item : str
        The item; read only for ``truth=``, ``ties="item"`` and the beyond-accuracy metrics.
    relevant : str
        The relevance: bool, integer or float; missing counts as 0.
    score : str, optional
        The score, higher is better; ``"score"`` unless `rank` is given, or an eager frame has ``"rank"`` instead. A
        missing score: not recommended.
    rank : str, optional
        Instead of `score`: the position, from 1. Equal ranks are a tied block that starts there.
    value : str
        The value of a hit, such as a price, missing 0; read by the money metrics only.
    truth : frame, optional
        A second frame of the same kind with the key, the item and, if present, the relevance, else 1.
    per : str or sequence of str, optional
        Columns to report by, with one value in each list; the value is the mean over the lists within each.
        The columns of `by`: one value for each list.
    ties : {"average", "best", "worst", "item", "item_desc", "first"}
        Items of equal score: the exact expected value over all their orders, its bounds, smaller or larger
        item first, or row order (eager frames only).
    min_relevance : float, optional
        A row is relevant from this relevance on; None: above 0. Lower grades still gain in metrics that read grades:
        ``"ndcg(grades=relevant)"`` ends that.
    undefined : "skip", float, "raise" or "raise_all"
        A list without relevant items: left out of the mean, given this value, or an error. ``"raise_all"`` is an error
        only if no list at all has a value. Errors are for eager frames only.
    train : frame, optional
        Past interactions, with the key and the item: who had what. Read by beyond-accuracy metrics.
    catalog : int, collection or frame, optional
        The items that could be recommended: how many, the items, or a frame of them; None: those of the frame.
    features : frame, optional
        The item and one numeric column a feature, or one column of lists.
    lists : {"all", "truth", "ranked", "both"}
        Which lists are averaged: all, those that the truth knows, those that were recommended something, or both.
    subtopic : str, optional
        The column of subtopics in `truth`, which has a row for each subtopic of an item. Read by `alpha_ndcg` and
        `err_ia`; None: all relevant items have one subtopic.
    condensed : bool
        Whether rows that nobody judged are left out before the rest is ranked. A row is judged if the truth holds its
        item with a relevance of 0 or more; without ``truth=``, if its relevance is that.
    mean : {"arithmetic", "geometric", "harmonic", "median"}
        What the values of lists become together.
    like : str, optional
        The library whose options and policies are the defaults of this call, such as ``"trec_eval"``, ``"sklearn"`` or
        ``"rectools"``: see `explain`.
    partitions : int, optional
        Lazy polars frames: read the lists in that many parts, one after the other, by a hash of their key. Files are
        scanned once for each, and memory holds the ranking of one part. Spark: let polars evaluate the lists on the
        workers, in that many partitions. The values stay the same.
    candidates : str, optional
        With `rank`, of a frame that holds only some of the ranked rows, but every relevant one: the number of ranked
        rows of the list. See `recframe.from_factors`.
    weight : str, optional
        The weight of a list in every mean over lists, 0 or more, the same in all rows of a list; missing counts as 0.
        Read from `truth` where it has the column, else from the frame.
    propensity : str, optional
        The probability, above 0 and up to 1, that the relevance of a row was observed. Each relevant item then counts
        as 1 / propensity items. Read from `truth` if there is one, else from the frame.
    sampled : tuple of int, optional
        ``(m, n)``: each list holds one relevant item and m of the other n - 1 items that it would rank in full, drawn
        at random. The values are estimates of those of the full lists.
    estimator : float or {"bv", "cls", "rank", "pooled"}
        Of `sampled`: the least squares of bias and, as much as the number says, variance (``"bv"``: 0.1); the least
        squares of bias that do not grow with the rank; or the value at the estimated rank. Of `propensity`:
        ``"pooled"`` divides sums over all lists, where shares of single lists are averaged by default.
    tied : str, optional
        With `rank`, of such a frame: the number of rows of the row's tied block.
    model : str, optional
        The column that names the model of each row, in long format.
    """

    by: Columns = "user"
    item: str = "item"
    relevant: str = "relevant"
    score: str | Sequence[str] | None = None
    rank: str | Sequence[str] | None = None
    value: str = "price"
    truth: Any = None
    per: Columns = None
    ties: Ties = "average"
    min_relevance: float | None = None
    undefined: Undefined = "skip"
    train: Any = None
    catalog: Any = None
    features: Any = None
    lists: Lists = "all"
    subtopic: str | None = None
    condensed: bool = False
    mean: MeanKind = "arithmetic"
    like: Like | None = None
    partitions: int | None = None
    candidates: str | None = None
    tied: str | None = None
    weight: str | None = None
    propensity: str | None = None
    sampled: tuple[int, int] | None = None
    estimator: Estimator = "bv"
    model: str | None = None

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the arguments."""
        return [field.name for field in fields(cls)]

    @classmethod
    def of(cls, layers: Sequence[Mapping[str, Any]], allowed: Sequence[str], labels: Labels = None) -> Roles:
        """Return the defaults, overridden by each of the layers in turn, each role of its type."""
        found: dict[str, Any] = {}
        for layer in layers:
            check_names(layer, allowed)
            for role, other in (("rank", "score"), ("score", "rank")):
                if role in layer and layer.get(other) is None:
                    found.pop(other, None)
            found.update(layer)
        return replace(cls(), **found).checked(labels)

    def checked(self, labels: Labels) -> Roles:
        """Return the same after the checks of each argument alone; a list of columns is a list, a label is not."""
        several = ("by", "per", "score", "rank")
        columns: dict[str, Any] = {name: column_names(name, getattr(self, name), labels) for name in several}
        for name in ("item", "relevant", "value"):
            columns[name] = column_name(name, getattr(self, name), labels)
        for name in ("model", "candidates", "tied", "weight", "subtopic", "propensity"):
            if (given := getattr(self, name)) is not None:
                columns[name] = column_name(name, given, labels)
        choice("ties", self.ties, get_args(Ties))
        choice("lists", self.lists, get_args(Lists))
        choice("mean", self.mean, get_args(MeanKind))
        flag("condensed", self.condensed)
        words = get_args(get_args(Estimator)[1])
        columns["sampled"] = None if self.sampled is None else pair_of_numbers("sampled", self.sampled)
        columns["estimator"] = share_or("estimator", self.estimator, words)
        least = None if self.min_relevance is None else number("min_relevance", self.min_relevance)
        words = get_args(get_args(Undefined)[1])
        undefined = finite_or("undefined", self.undefined, words, "undefined='skip', or a value such as undefined=0")
        return replace(self, min_relevance=least, undefined=undefined, **columns)


ALL_ROLES = tuple(Roles.names())
"""What `evaluate` accepts."""
CONFIG_ROLES = tuple(name for name in ALL_ROLES if name not in ("truth", *SIDE_INFORMATION))
"""What `recframe.Config` accepts: all but the frames."""
POLICIES = ("ties", "min_relevance", "undefined", "lists")
"""What a profile sets for every metric."""
EXPLAINED = (*POLICIES, "condensed", "propensity", "sampled", "estimator", "mean", "weight")
"""What `explain` accepts in addition to `like`: what changes the numbers of a metric."""
COMPARISON_ROLES = tuple(name for name in ALL_ROLES if name not in ("partitions", "mean"))
"""What calls accept that look at the values of lists; their intervals and tests are those of arithmetic means."""
CALL_ROLES: Mapping[str, tuple[str, ...]] = {
    "measure": tuple(name for name in ALL_ROLES if name != "model"),
    "evaluate": ALL_ROLES,
    "contributions": tuple(
        name for name in ALL_ROLES if name not in ("per", "undefined", "lists", "partitions", "weight", "mean")
    ),
    "compare": COMPARISON_ROLES,
    "describe": COMPARISON_ROLES,
    "report": COMPARISON_ROLES,
    "fuse": ("by", "item", "score", "rank", "model"),
    "agreement": ("by", "item", "score", "rank", "per", "model"),
    "check": ("by", "item", "relevant", "score", "rank", "truth", "per", "min_relevance", "model"),
    "label": ("by", "item", "relevant", "score", "rank", "value", "model"),
    "top": ("by", "item", "score", "rank", "model"),
    "to_lists": ("by", "item", "score", "rank", "model"),
    "split": ("by", "item"),
    "add_random": ("by", "item"),
    "add_popular": ("by", "item"),
}
"""The roles that each call of the namespace accepts, the metrics aside."""


def roles_of(kind: type[Metric] | None = None) -> tuple[str, ...]:
    """Return the roles that a metric's method accepts; without a metric: those that every metric accepts."""
    own = () if kind is None else (*kind.required_inputs, *kind.optional_inputs)
    return tuple(name for name in ALL_ROLES if name in own or name not in ("model", *SIDE_INFORMATION))


def role_parameters(names: Iterable[str]) -> list[Parameter]:
    """Return roles as the parameters of a signature."""
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for field in fields(Roles)
        if field.name in names
    ]


def roles_doc(names: Iterable[str], title: str = "Other Parameters") -> str:
    """Return the section of a docstring that says what roles are."""
    text = (Roles.__doc__ or "").split("----------\n", 1)[-1].rstrip()
    entries = [entry for entry in re.split(r"\n(?=    \w)", text) if entry.split(":", 1)[0].strip() in names]
    return f"\n    {title}\n    {'-' * len(title)}\n" + "\n".join(entries) + "\n    "


def show_roles(call: Callable[..., Any], names: Iterable[str]) -> None:
    """Write the roles that a call accepts as ``**roles`` into its signature and its documentation."""
    names = tuple(names)
    found = signature(call)
    several = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    own = [parameter for parameter in found.parameters.values() if parameter.kind not in several]
    full = found.replace(parameters=[*own, *role_parameters(names)])
    setattr(call, "__signature__", full)  # noqa: B010 - functions declare no such attribute
    call.__doc__ = f"{(call.__doc__ or '').rstrip()}\n{roles_doc(names)}"


FEW_ROLES = 5
"""Up to how many roles a hint shows."""


def checked_call(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that raises an error of this package for arguments that it does not accept."""
    found = signature(call)
    own = [parameter for parameter in found.parameters.values() if parameter.name not in ("self", "roles")]
    shown = [f"{each.name}=..." if each.kind == Parameter.KEYWORD_ONLY else each.name for each in own]
    roles = CALL_ROLES.get(call.__name__, ALL_ROLES)
    shown += [f"{name}=..." for name in roles] if len(roles) <= FEW_ROLES else []

    @wraps(call)
    def checked(self: Any, *args: Any, **given: Any) -> Any:
        try:
            found.bind(self, *args, **given)
        except TypeError as error:
            msg = f"{call.__name__}: {error}"
            raise OptionTypeError(msg, f"{call.__name__}({', '.join(shown)})") from None
        return call(self, *args, **given)

    return checked
