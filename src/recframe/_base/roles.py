"""Roles name columns and set policies. Everything else is derived from the table `Roles`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar, Literal, Protocol, get_args

from recframe._base.values import (
    Labels,
    check_names,
    choice,
    column_name,
    column_names,
    column_or_none,
    finite_number_or_word,
    flag,
    number,
    pair_of_numbers,
    share_or_word,
    whole_number,
)

Columns = str | Sequence[str] | None
"""Names of columns: one or several."""
Undefined = float | Literal["skip", "raise", "raise_all"]
"""What replaces a list without a value: nothing, a number, an error, or an error if no list has a value."""

TiePolicy = Literal["average", "best", "worst", "item", "item_desc", "first"]
"""How tied items are handled: the expected value over their orders, its bounds, or a fixed order."""
Ties = Literal[TiePolicy, "range"]
"""A tie policy, or the expected value together with its bounds, which only `evaluate` returns."""
TieBound = Literal["best", "worst"]
"""The orders of tied rows that give the bounds under ``ties="range"``."""
Lists = Literal["all", "truth", "ranked", "both"]
"""Which lists are averaged: all, lists in the truth, lists with a ranked row, or lists that are in both."""
MeanKind = Literal["arithmetic", "geometric", "harmonic", "median"]
"""How the values of lists are averaged."""
Estimator = float | Literal["bv", "cls", "rank", "pooled"]
"""How full lists are estimated from samples: by least bias and variance, by least bias, or by the estimated rank."""
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
    "mlflow",
    "llama_index",
    "sentence_transformers",
    "evidently",
]
"""The libraries whose options and policies a call may name."""
FusionMethod = Literal[
    "rrf", "borda", "isr", "sum", "mnz", "min", "max", "median", "anz", "weighted", "gmnz", "wmnz", "mixed", "log_isr",
    "logn_isr", "rbc", "condorcet",
]  # fmt: skip
"""How the scores of several models become one."""
FusionNorm = Literal["min-max", "max", "sum", "zscore", "rank", "borda"]
"""How the scores of a list become comparable between models."""

DEFAULT_SCORE = "score"
CALLS = (
    "evaluate", "contributions", "compare", "rank_models", "sample_size", "describe", "estimate_with_judge",
    "bounds", "exposure", "changes", "state", "report", "fuse", "tune_fusion", "agreement", "check", "label", "top",
    "to_lists", "split", "add_random", "add_popular", "add_propensity", "position_bias",
)  # fmt: skip
"""The calls that accept roles."""
RANKING = frozenset(CALLS) - {"split", "add_random", "add_popular", "add_propensity"}
"""The calls that read how a model orders rows."""
LIKE_METRICS = RANKING - {"bounds", "fuse", "agreement", "check", "label", "top", "to_lists", "position_bias"}
"""The calls that read a ranking as metrics do; `exposure` is one of them, although it has no metric."""
EVALUATED = LIKE_METRICS - {"exposure"}
"""The calls that compute metrics."""
AVERAGED = EVALUATED - {"contributions", "changes"}
"""The calls that average over lists."""
Kind = Literal["column", "policy", "frame", "side information", "parts"]
"""What a role names: columns, a policy, the truth, a frame that only some metrics read, or how lists are read."""


@dataclass(frozen=True)
class Role:
    """The properties of one role, in addition to its name, type, default and explanation in `Roles`.

    Attributes
    ----------
    check : callable
        Takes the role's name, the user's value and the labels of the frames. It returns what the plan reads, or raises.
    calls : frozenset of str
        The calls of the namespace that accept it, except for the metrics, which accept every role but `model`.
    kind : {"column", "policy", "frame", "side information", "parts"}
        What it names. `recframe.Config` accepts all but frames, the command line all but parts.
    metavar : str
        The placeholder of its value in the help of the command line, if its type is not enough.
    holds : {"text", "float", "integer"}
        What its columns hold, in files and in tables of databases.
    """

    check: Callable[[str, Any, Labels], Any]
    calls: frozenset[str] = EVALUATED
    kind: Kind = "column"
    metavar: str = ""
    holds: Literal["text", "float", "integer"] = "text"

    @classmethod
    def of(cls, *args: Any, **keywords: Any) -> Mapping[str, Role]:
        """Return the metadata of a field of `Roles`."""
        return {"role": cls(*args, **keywords)}


UNDEFINED = "`undefined='skip'`, or a value such as `undefined=0`"


def _optional(check: Callable[..., Any]) -> Callable[[str, Any, Labels], Any]:
    """Return a check that accepts None too."""
    return lambda name, value, labels: None if value is None else check(name, value, labels)


def _value(check: Callable[..., Any], *args: Any) -> Callable[[str, Any, Labels], Any]:
    """Return the check of a role that names no column."""
    return lambda name, value, _: check(name, value, *args)


def _word(kind: Any) -> Callable[[str, Any, Labels], Any]:
    """Return the check of a role that accepts certain words."""
    return _value(choice, get_args(kind))


def _words(kind: Any) -> tuple[str, ...]:
    """Return the words that a type accepts in addition to a number."""
    return get_args(get_args(kind)[1])


def _parts(name: str, value: Any) -> int:
    """Return a number of parts, or raise if it is not a whole number from 1."""
    wrong = f"is of type {type(value).__name__}"
    return whole_number(name, value, f"{name} is a whole number from 1, or None", wrong=wrong)


_policy = partial(Role.of, kind="policy")
_number = partial(Role.of, holds="float")
_count = partial(Role.of, holds="integer")
_frame = partial(Role.of, lambda _name, frame, _labels: frame)


@dataclass(frozen=True)
class Roles:
    """The arguments that every metric method accepts, with their defaults.

    Parameters
    ----------
    by : str, sequence of str or None
        The columns of the list key. None: one list.
    item : str
        For ``truth=``, ``ties="item"`` and beyond-accuracy metrics.
    relevant : str
        Bool, integer or float; missing is 0.
    score : str, optional
        Higher is better, missing: not recommended. ``"score"`` unless there is a rank.
    rank : str, optional
        Instead of `score`: the position, from 1. Equal ranks are a tied block that starts there.
    value : str
        The value of an item, such as its price, missing 0; read by the money metrics only.
    truth : frame, optional
        A second frame with key, item and relevance (1 without that column).
    per : str or sequence of str, optional
        Columns to report by. The columns of `by`: one row per list.
    per_item : str or sequence of str, optional
        Columns to report by that describe the item, such as its genre; read from `truth` if there is one.
        Each value is computed over the whole lists, with only the items of this kind counted as relevant.
    ties : {"average", "best", "worst", "item", "item_desc", "first"}
        Items of equal score: the exact expected value over all their orders, its bounds, smaller or larger
        item first, or row order (not in SQL). In `evaluate` also ``"range"``: the expected value and its bounds.
    min_relevance : float, optional
        A row is relevant from this relevance on; without it: above 0. Lower grades still gain in metrics that read
        grades: ``"ndcg(grades=relevant)"`` ends that.
    undefined : "skip", float, "raise" or "raise_all"
        A list without relevant items: left out of the mean, given this value, or an error. ``"raise_all"`` is an error
        only if no list at all has a value. Errors are for eager frames only.
    train : frame, optional
        Past interactions, with the key and the item: who had what. Read by beyond-accuracy metrics and by `check`.
    catalog : int, collection or frame, optional
        The items that could be recommended: how many, the items, or a frame of them. Default: the items in the frame.
    features : frame, optional
        The item and one numeric column a feature, or one column of lists.
    lists : {"all", "truth", "ranked", "both"}
        Which lists are averaged: all, lists in the truth, lists with a recommended item, or lists in both.
    subtopic : str, optional
        The column of subtopics in `truth`, which has a row for each subtopic of an item. Read by `alpha_ndcg`,
        `err_ia` and `subtopic_recall`; without it: all relevant items have one subtopic.
    group : str, optional
        The column that names the group of an item, such as its seller, in `features`, the frame or `truth`. Read by
        `awrf`; without it: each item is a group.
    condensed : bool
        Whether unjudged rows are left out before the rest is ranked. A row is judged if the truth holds its
        item with a relevance of 0 or more; without ``truth=``, if its relevance is 0 or more.
    mean : {"arithmetic", "geometric", "harmonic", "median"}
        How the values of lists are averaged.
    like : str, optional
        The library whose options and policies are the defaults of this call, such as ``"trec_eval"``, ``"sklearn"`` or
        ``"rectools"``: see `explain`.
    partitions : int, optional
        Lazy polars frames: read the lists in that many parts, one after the other, by a hash of their key. The rows are
        read once and written to temporary files, and memory holds the ranking of one part. The values stay the same.
    weight : str, optional
        The weight of a list in every mean over lists, 0 or more, the same in all rows of a list; missing counts as 0.
        Read from `truth` if it has the column, otherwise from the frame.
    propensity : str, optional
        The probability, above 0 and up to 1, that the relevance of a row was observed. Each relevant item then counts
        as 1 / propensity items. Read from `truth` if there is one, otherwise from the frame.
    sampled : tuple of int, optional
        ``(m, n)``: each list holds one relevant item and a random sample of m items out of the other n - 1. The values
        estimate the metric on the full lists of n items.
    estimator : float or {"bv", "cls", "rank", "pooled"}
        Of `sampled`: the least squares of bias and, as much as the number says, variance (``"bv"``: 0.1); the least
        squares of bias that do not grow with the rank; or the value at the estimated rank. Of `propensity`:
        ``"pooled"`` divides sums over all lists, where shares of single lists are averaged by default.
    model : str, optional
        The column that names the model of each row, in long format.
    """

    by: Columns = field(default="user", metadata=Role.of(column_names, frozenset(CALLS)))
    item: str = field(default="item", metadata=Role.of(column_name, frozenset(CALLS)))
    relevant: str = field(
        default="relevant", metadata=_number(column_name, LIKE_METRICS | {"bounds", "check", "label", "position_bias"})
    )
    score: str | Sequence[str] | None = field(default=None, metadata=_number(column_names, RANKING))
    rank: str | Sequence[str] | None = field(default=None, metadata=_count(column_names, RANKING))
    value: str = field(default="price", metadata=_number(column_name, EVALUATED | {"label"}))
    truth: Any = field(default=None, metadata=_frame(LIKE_METRICS | {"bounds", "check"}, "frame", "FILE"))
    per: Columns = field(
        default=None, metadata=Role.of(column_names, AVERAGED - {"tune_fusion"} | {"bounds", "agreement", "check"})
    )
    per_item: Columns = field(
        default=None, metadata=Role.of(column_names, frozenset({"evaluate", "describe", "compare"}))
    )
    ties: Ties = field(default="average", metadata=_policy(_word(TiePolicy), LIKE_METRICS))
    min_relevance: float | None = field(
        default=None, metadata=_policy(_optional(_value(number)), LIKE_METRICS | {"bounds", "check"})
    )
    undefined: Undefined = field(
        default="skip", metadata=_policy(_value(finite_number_or_word, _words(Undefined), UNDEFINED), AVERAGED)
    )
    train: Any = field(default=None, metadata=_frame(EVALUATED | {"check"}, "side information", "FILE"))
    catalog: Any = field(default=None, metadata=_frame(LIKE_METRICS, "side information", "FILE|NUMBER"))
    features: Any = field(default=None, metadata=_frame(LIKE_METRICS, "side information", "FILE"))
    lists: Lists = field(default="all", metadata=_policy(_word(Lists), AVERAGED))
    subtopic: str | None = field(default=None, metadata=Role.of(column_or_none))
    group: str | None = field(default=None, metadata=Role.of(column_or_none, (AVERAGED - {"state"}) | {"exposure"}))
    condensed: bool = field(default=False, metadata=_policy(_value(flag)))
    mean: MeanKind = field(default="arithmetic", metadata=_policy(_word(MeanKind), frozenset({"evaluate"})))
    like: Like | None = field(default=None, metadata=_policy(_optional(_word(Like))))
    partitions: int | None = field(
        default=None, metadata=Role.of(_optional(_value(_parts)), frozenset({"evaluate"}), "parts")
    )
    weight: str | None = field(default=None, metadata=_number(column_or_none, AVERAGED))
    propensity: str | None = field(default=None, metadata=_number(column_or_none))
    sampled: tuple[int, int] | None = field(
        default=None, metadata=_policy(_optional(_value(pair_of_numbers)), metavar="M,N")
    )
    estimator: Estimator = field(default="bv", metadata=_policy(_value(share_or_word, _words(Estimator))))
    model: str | None = field(default=None, metadata=Role.of(column_or_none, RANKING - {"bounds", "position_bias"}))

    omission_columns: tuple[str, ...] = ()
    """Not a role: the columns of `from_factors` that count the rows which the frame omits."""


ROLES: Mapping[str, Role] = {each.name: each.metadata["role"] for each in fields(Roles) if "role" in each.metadata}
"""The properties of each role, by name."""
ALL_ROLES = tuple(ROLES)
"""What `evaluate` accepts."""
SIDE_INFORMATION = tuple(name for name, role in ROLES.items() if role.kind == "side information")
"""The roles of frames that only some metrics read."""
COLUMN_ROLES = frozenset(name for name, role in ROLES.items() if role.kind == "column")
"""The roles that name columns, where a polars expression is accepted too."""
FRAMES = frozenset({"truth", *SIDE_INFORMATION})
CONFIG_ROLES = tuple(name for name in ROLES if name not in FRAMES)
"""What `recframe.Config` accepts: all but the frames."""
POLICIES = ("ties", "min_relevance", "undefined", "lists")
"""What a profile sets for every metric."""
EXPLAINED = (*POLICIES, "condensed", "propensity", "sampled", "estimator", "mean", "weight")
"""What `explain` accepts in addition to `like`: what changes the numbers of a metric."""
CALL_ROLES: Mapping[str, tuple[str, ...]] = {
    call: tuple(name for name, role in ROLES.items() if call in role.calls) for call in CALLS
}
"""The roles that each call of the namespace accepts, except for the metrics."""


class ReadsTables(Protocol):
    """A metric's record, which names the tables of side information that it reads."""

    required_inputs: ClassVar[tuple[str, ...]]
    optional_inputs: ClassVar[tuple[str, ...]]


def roles_of(kind: type[ReadsTables] | None = None) -> tuple[str, ...]:
    """Return the roles that a metric's method accepts; without a metric: those that every metric accepts."""
    inputs = () if kind is None else (*kind.required_inputs, *kind.optional_inputs)
    return tuple(name for name in ALL_ROLES if name != "model" and (name in inputs or name not in SIDE_INFORMATION))


def layered(layers: Sequence[Mapping[str, Any]], allowed: Sequence[str], labels: Labels = None) -> Roles:
    """Return the defaults, overridden by each of the layers in turn, each role as its check returns it."""
    checked: dict[str, Any] = {}
    for layer in layers:
        check_names(layer, allowed)
        for role, other in (("rank", "score"), ("score", "rank")):
            if role in layer and layer.get(other) is None:
                checked.pop(other, None)
        checked.update(layer)
    return Roles(**{name: ROLES[name].check(name, value, labels) for name, value in checked.items()})
