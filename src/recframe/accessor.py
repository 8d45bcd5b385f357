"""The namespace: ``df.rec``, and ``rec(df)`` for the same with types.

What type checkers see of this module is in ``accessor.pyi``, which ``python tools/stubs.py`` writes from the
same records that give the classes their methods here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from recframe._base.defaults import MODEL, current, only_these_roles
from recframe._base.guesses import METHOD_HINTS, OTHER_METHOD_NAMES, new_name
from recframe._base.roles import CALL_ROLES, FRAMES
from recframe._base.signatures import checked_call, show_roles
from recframe._base.values import flag
from recframe._call import evaluate as _evaluate
from recframe._call.cached_calls import text_of, with_expressions
from recframe._data.methods import DataMethods
from recframe._data.propensity_methods import PropensityMethods
from recframe._display.bound_calls import ShownMethod
from recframe._display.methods import DisplayMethods
from recframe._engines.registry import (
    adapter_of,
    as_supported_frame,
    frames_of_models,
    is_lazy,
    sides_as_supported_frames,
    stack_frames_of_models,
)
from recframe._inference.agreement.methods import AgreementMethods
from recframe._inference.comparison.methods import ComparisonMethods
from recframe._inference.fusion.methods import FusionMethods
from recframe._inference.judgments.methods import JudgmentMethods
from recframe._inference.lists import calls
from recframe._inference.lists.result_notes import remember
from recframe._inference.ranks.methods import RankMethods
from recframe._inference.states.methods import StateMethods
from recframe._plan.request import Request
from recframe.errors import no_attribute
from recframe.metrics import AWRF, METRICS, metric_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recframe._data.methods import Frame
    from recframe.metrics import Metric
    from recframe.metrics.awrf import GroupTarget
    from recframe.metrics.expected_exposure import Browsing

__all__ = ["EagerRec", "LazyRec", "Rec", "rec"]


def __dir__() -> list[str]:
    return list(__all__)


class Rec(
    DataMethods,
    PropensityMethods,
    ComparisonMethods,
    RankMethods,
    JudgmentMethods,
    StateMethods,
    FusionMethods,
    AgreementMethods,
    DisplayMethods,
):
    """The namespace ``.rec`` of a frame: metrics and comparisons of its rankings.

    The frame has one row for each list and item, with a relevance and a score. Call the namespace to bind roles for the
    calls that follow, as in ``rec = df.rec(by="user_id", score=["old", "new"])``. Its methods are the metrics, such as
    ``rec.ndcg(10)``, and calls such as `evaluate`, `compare` and `check`.
    """

    __slots__ = ("_bound", "_frame")

    def __init__(self, frame: Any, bound: dict[str, Any] | None = None) -> None:
        self._frame = frame
        self._bound = bound or {}

    def __call__(self, *unnamed: object, **roles: Any) -> Rec:
        """Return the accessor with these roles bound."""
        frame, roles_read, _ = with_expressions(self._frame, roles, self._bound)
        return type(self)(frame, _evaluate.bind(Request(frame, self._bound, roles_read), unnamed))

    def __getattr__(self, name: str) -> NoReturn:
        """Raise, and name the method that was meant."""
        names = dir(type(self))
        hint = new_name(name, names) or METHOD_HINTS.get(name.lower()) or metric_hint(name, exactly=True)
        hint = f"did you mean {OTHER_METHOD_NAMES[name.lower()]!r}?" if name.lower() in OTHER_METHOD_NAMES else hint
        raise no_attribute(name, "the namespace has no method {!r}", names, hint)

    def __repr__(self) -> str:
        from recframe._display.overview import as_text

        return as_text(self._frame, self._bound)

    def _repr_html_(self) -> str:
        from recframe._display.overview import as_html

        return as_html(self._frame, self._bound)

    def __dir__(self) -> list[str]:
        return [name for name in dir(type(self)) if not name.startswith("_")]

    def evaluate(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        counts: bool = False,
        chance: bool = False,
        strata: str | None = None,
        strata_weights: Mapping[Any, float] | None = None,
        save: Any = None,
        **roles: Any,
    ) -> Frame:
        """Return many metrics, cutoffs and models in one pass, as a frame.

        Parameters
        ----------
        metrics : str, Metric, or sequence of them
            Names (``"ndcg"``, ``"ndcg@10"``, ``"ndcg(gain=exp2)@10"``) and metric objects, mixed.
        k : int or sequence of int, optional
            The cutoffs of those metrics that name none; None: the whole list.
        score : str or sequence of str
            One model a column; a sequence gives one row each, under ``model``.
        model : str, optional
            The column with the model of each row, for models in rows. Without ``truth=``, a list counts if any model
            has a relevant row in it.
        counts : bool, default False
            Add ``lists``, how many have a value under every metric with one per list, and ``undefined``, how many have
            not. `describe` counts for each metric alone.
        chance : bool, default False
            Add two columns per metric: ``"ndcg@10 chance"``, the exact mean over all orders of the rows, and ``"ndcg@10
            skill"``, (value - chance) / (best - chance), with the rows ordered by relevance as the best.
        strata : str, optional
            A column with one value per list, such as the task. Each of its values then counts the same, however many
            lists it has.
        strata_weights : mapping, optional
            How much each value of `strata` counts, such as ``{"head": 0.1, "tail": 0.9}``.
        save : str or path, optional
            Write the lists' values to this Parquet file, for a later ``compare(baseline=...)``. One model, eager frames
            only.
        **roles
            The roles and policies that every metric accepts.

        Returns
        -------
        frame
            Of the kind given: the columns of `per`, ``model`` if there are several, one column per metric and cutoff.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "old": [0.9, 0.1], "new": [0.2, 0.7]})
        >>> df.rec.evaluate(["ndcg", "mrr"], k=[1, 2], score=["old", "new"])
        shape: (2, 5)
        ┌───────┬────────┬─────────┬───────┬───────┐
        │ model ┆ ndcg@1 ┆ ndcg@2  ┆ mrr@1 ┆ mrr@2 │
        │ ---   ┆ ---    ┆ ---     ┆ ---   ┆ ---   │
        │ str   ┆ f64    ┆ f64     ┆ f64   ┆ f64   │
        ╞═══════╪════════╪═════════╪═══════╪═══════╡
        │ old   ┆ 0.0    ┆ 0.63093 ┆ 0.0   ┆ 0.5   │
        │ new   ┆ 1.0    ┆ 1.0     ┆ 1.0   ┆ 1.0   │
        └───────┴────────┴─────────┴───────┴───────┘
        >>> df.rec.evaluate("mrr", score=["old", "new"], chance=True).rows()
        [('old', 0.5, 0.75, -1.0), ('new', 1.0, 0.75, 1.0)]
        """
        path = None if save is None else calls.check_save(save)
        if path is not None:
            calls.check_eager(self._frame, path)
        options = {"counts": counts, "chance": chance, "strata": strata, "strata_weights": strata_weights}
        request = Request(self._frame, self._bound, roles)
        result = _evaluate.evaluate(request, metrics, k, **options)
        if path is not None:
            calls.save(request, metrics, k, path)
        return result

    def contributions(self, metric: str | Metric, k: int | None = None, **roles: Any) -> Frame:
        """Return the ranked rows with what each adds to its list's value, to see where a number comes from.

        Parameters
        ----------
        metric : str or Metric
            Such as ``"ndcg"``, ``"map(norm=relevant)@10"`` or a metric of your own; not `kendall`, which counts pairs.
        k : int, optional
            The cutoff, if the metric names none. Rows of tied blocks that start after it are left out.
        **roles
            As for every metric, and `model`, without `per` and `undefined`. ``item=None`` shows no item.

        Returns
        -------
        frame
            Of the kind given: ``model`` if there are several, the key, the item if the frame has it, the relevance,
            ``position`` (where the row's tied block starts), ``tied`` (how many rows it has), ``contribution``, and the
            list's value under the metric's name. The contributions of a list sum to its value; a row of a tied block
            has its expected share. Missing in a list without a value.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [7, 8, 9], "relevant": [0, 1, 1], "score": [0.9, 0.8, 0.1]})
        >>> for row in df.rec.contributions("precision", k=2).rows():
        ...     print(*row)
        1 7 0.0 1 1 0.0 0.5
        1 8 1.0 2 1 0.5 0.5
        """
        return _evaluate.contributions(Request(self._frame, self._bound, roles), metric, k)

    def exposure(
        self, k: int | None = None, *, p: float = 0.5, browsing: Browsing = "geometric", stop: float = 0.5,
        target: GroupTarget = "equal",
        **roles: Any,
    ) -> Frame:  # fmt: skip
        """Return how much attention each group of items gets in all lists together, and how much it should get.

        Parameters
        ----------
        k : int, optional
            The cutoff. None: the whole lists.
        p, browsing, stop, target
            The attention at a position, and the share that each group should get, as for `awrf`.
        **roles
            `by`, `item`, `relevant`, `score`, `rank`, `truth`, `ties`, `min_relevance`, `features`, `catalog`, `group`
            and `model`, as for `awrf`. Without `group`, each item is a group.

        Returns
        -------
        frame
            Of the kind given, with one row per group: ``model`` if there are several, the group, ``items`` (in the
            catalogue), ``relevance`` (of its relevant items, summed over lists), ``exposure`` (expected attention,
            summed over lists), ``share`` (of all exposure) and ``target`` (the share that it should get). Three ratios
            follow, and the mean of all groups is 1 in each: ``parity`` is ``share`` / share of items, ``treatment`` is
            ``share`` / share of relevance, and ``impact`` is share of attention to relevant items, weighted by
            relevance, / share of relevance. A ratio is missing if its divisor is 0, and the last two if nothing is
            relevant. A negative relevance counts as 0. To compare two groups, divide their rows.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "seller": ["a", "b", "a"], "score": [3, 2, 1]})
        >>> for row in df.rec.exposure(group="seller", target="catalog").select("seller", "exposure", "parity").rows():
        ...     print(*row)
        a 1.25 1.0714285714285716
        b 0.5 0.8571428571428571
        """
        request = Request(self._frame, self._bound, roles)
        return _evaluate.exposure(request, AWRF(k, p, browsing, stop, target))

    def check(
        self,
        k: int | None = None,
        *,
        strict: bool = False,
        all: bool = False,
        **roles: Any,
    ) -> Frame:
        """Return what is wrong or remarkable in the frame: one row per finding, the severe first.

        No rows: nothing was found.

        Parameters
        ----------
        k : int, optional
            The cutoff that tied blocks are to be compared with.
        strict : bool, default False
            Raise `InputError` if there are findings of severity ``"error"`` (eager frames only).
        all : bool, default False
            Return a row for every possible finding and model, with the count 0 if it was not found, so the rows depend
            on the call alone.
        **roles
            `by`, `item`, `relevant`, `score`, `rank`, `truth`, `per`, `min_relevance`, `train` and `model`, as metrics
            accept them. With `train`, ranked items that their user already has are counted. If the frame has no column
            ``"item"`` or ``"relevant"`` and you name no other, findings that need it are left out.

        Returns
        -------
        frame
            Of the kind given: ``model`` if there are several, ``finding``, ``severity`` (``"error"``, ``"warning"``,
            ``"note"``), ``share`` of all rows or lists, ``count`` and ``meaning``. Errors come first, then warnings,
            then notes. `recframe.table` of the result says more about each finding.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 2], "relevant": [0, 1, 0], "score": [0.5, 0.5, float("nan")]})
        >>> result = df.rec.check(k=1)
        >>> for row in result.select("finding", "severity", "count", "share").rows():
        ...     print(*row)
        nan_scores error 1 0.3333333333333333
        nothing_ordered error 1 0.5
        lists_without_relevant warning 1 0.5
        lists_without_ranked warning 1 0.5
        constant_lists warning 1 0.5
        ties_across_k warning 1 0.5
        high_chance note 1 0.5
        """
        from recframe._checks.check import check

        return check(Request(self._frame, self._bound, roles), k, strict=strict, absent=all)


class _ReadArguments(NamedTuple):
    """A frame and the arguments of a call, in which columns have replaced expressions."""

    frame: Any
    args: tuple[Any, ...]
    keywords: Mapping[str, Any]
    dropped: list[str]
    """The columns to drop from the result."""


def _read_expressions(
    name: str, frame: Any, bound: Mapping[str, Any], args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> _ReadArguments:
    """Return the frame with a column for each expression, and the arguments that name these columns."""
    call = name if name in CALL_ROLES else ""
    if name != "label" or not args:
        frame, keywords, dropped = with_expressions(frame, keywords, bound, call)
        return _ReadArguments(frame, args, keywords, dropped)
    # The truth is the first argument of `label`, and may need the column of an expression too.
    truth, *others = args
    frame, keywords, dropped = with_expressions(frame, {"truth": truth, **keywords}, bound, call)
    args = (keywords["truth"], *others)
    return _ReadArguments(frame, args, {key: keywords[key] for key in keywords if key != "truth"}, dropped)


def _accepting_expressions(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of the namespace that accepts expressions in place of columns, where the frame has them."""

    @wraps(method)
    def call(self: Rec, *args: Any, **keywords: Any) -> Any:
        read = _read_expressions(name, self._frame, self._bound, args, keywords)
        namespace = self if read.frame is self._frame else type(self)(read.frame, self._bound)
        answer = method(namespace, *read.args, **read.keywords)
        return answer.drop(read.dropped) if read.dropped else answer

    return call


for _name, _roles in CALL_ROLES.items():
    # The error of bounds for models in rows says how to make columns of them.
    _accepted = (*_roles, "model") if _name == "bounds" else _roles
    _checked = checked_call(getattr(Rec, _name), _accepted, _evaluate.refuse_options)
    setattr(Rec, _name, ShownMethod(_accepting_expressions(_name, _checked)))
    show_roles(getattr(Rec, _name), _roles)
show_roles(Rec.__call__, CALL_ROLES["evaluate"], every=True)
for _kind in METRICS.values():
    setattr(Rec, _kind.name, ShownMethod(_evaluate.method(_kind)))


class EagerRec(Rec):
    """The namespace of a frame that holds its data: metrics are floats, or frames where `per` is given."""

    __slots__ = ()


class LazyRec(Rec):
    """The namespace of a lazy frame: metrics are lazy frames of one row, or of one row per value of `per`."""

    __slots__ = ()
    _validate = False


class ValidatedRec(LazyRec):
    """The namespace of a lazy frame whose calls check columns and their types before they return."""

    __slots__ = ()
    _validate = True


def _call(
    name: str,
    frame: Any,
    bound: dict[str, Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    config: Mapping[str, Any],
) -> Any:
    """Return the result of a namespace method under the roles and policies of `Config`."""
    with only_these_roles(config):
        return getattr(Rec, name)(EagerRec(frame, bound), *args, **keywords)


def _lazy_method(name: str) -> Callable[..., Any]:
    """Return a method of the namespace of lazy frames."""
    confidence = signature(getattr(Rec, name)).parameters.get("confidence")

    @wraps(getattr(Rec, name))
    def method(self: LazyRec, *args: Any, **keywords: Any) -> Any:
        if not FRAMES.isdisjoint(keywords):
            keywords = sides_as_supported_frames(self._frame, keywords, FRAMES)
        adapter = adapter_of(self._frame)
        # On data frames, metrics read expressions where they read all arguments.
        read = _read_expressions(name, self._frame, self._bound, args, keywords)
        call = (name, read.frame, self._bound, read.args, read.keywords, current())
        if name in RUN_AT_ONCE:
            return adapter.made_now(_call, *call)
        options = {"results": RESULT_COUNTS.get(name, 1), "validate": self._validate, "text_of": text_of}
        answer = adapter.postpone(_call, *call, **options)
        answer = answer.drop(read.dropped) if read.dropped else answer
        # Tables name the confidence of intervals.
        return answer if confidence is None else remember(answer, keywords.get("confidence", confidence.default))

    return method


RUN_AT_ONCE = {"report"}
"""The calls that write a file, and so do not wait for `collect`."""
RESULT_COUNTS = {"split": 2}
"""How many frames a call returns, if it is not one."""
for _name in (*CALL_ROLES, *METRICS):
    setattr(LazyRec, _name, ShownMethod(_lazy_method(_name)))


@checked_call
def rec(frame: Any, *unnamed: object, validate: bool = False, **roles: Any) -> Rec:
    """Return the namespace of a frame, visible to type checkers.

    Parameters
    ----------
    frame : polars.DataFrame, polars.LazyFrame, pandas.DataFrame or another frame
        One row per list and item. A PyArrow table gives tables; a DuckDB relation, an Ibis table and a Spark DataFrame
        give lazy results of their own kind: nothing runs before their rows are read. Any other frame with
        ``__arrow_c_stream__``, such as one of Daft or DataFusion, is read once, into polars where it is installed.
        A mapping of names to frames of the same columns is a frame of several models, with the names as `model`.
    validate : bool
        Raise for missing columns and wrong types when a method is called, also where that needs the schema of a
        `polars.LazyFrame`, which is resolved only then. All other frames are always checked at the call.
    **roles
        Roles and policies to bind, as ``frame.rec(by="user_id")`` binds them.

    Returns
    -------
    EagerRec or LazyRec
        What ``frame.rec`` is.

    Raises
    ------
    OptionTypeError
        It is no supported frame, there is no such role, or `validate` is no bool.

    Examples
    --------
    >>> import polars as pl
    >>> from recframe import rec
    >>> rec(pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [0.9, 0.1]})).mrr()
    0.5
    >>> old = pl.DataFrame({"user": [1, 1], "item": [7, 8], "score": [0.9, 0.1]})
    >>> new = pl.DataFrame({"user": [1, 1], "item": [8, 9], "score": [0.9, 0.1]})
    >>> truth = pl.DataFrame({"user": [1], "item": [8]})
    >>> rec({"old": old, "new": new}, truth=truth).evaluate("mrr").rows()
    [('old', 0.5), ('new', 1.0)]
    >>> pl.DataFrame({"user_id": [1, 1], "relevant": [0, 1], "score": [0.9, 0.1]}).pipe(rec, by="user_id").mrr()
    0.5
    """
    frame = as_supported_frame(frame)
    if isinstance(frame, Mapping) and (models := frames_of_models(frame)):
        column = roles.get("model") or current().get("model") or str(MODEL)
        frame = stack_frames_of_models(models, column)
        roles = {**roles, "model": column}
    # It raises for what is no supported frame.
    frame, roles_read, _ = with_expressions(frame, roles, {})
    bound = _evaluate.bind(Request(frame, {}, roles_read), unnamed)
    lazy_class = ValidatedRec if flag("validate", validate) else LazyRec
    return (lazy_class if is_lazy(frame) else EagerRec)(frame, bound)


show_roles(rec, CALL_ROLES["evaluate"], every=True)
