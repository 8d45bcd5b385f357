"""Calls that return expressions of polars: arguments in, checked, an expression out."""

from __future__ import annotations

from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from typing import TYPE_CHECKING, Any

from recframe._base.defaults import current
from recframe._base.roles import ALL_ROLES, DEFAULT_SCORE, Roles
from recframe._base.signatures import role_parameters
from recframe._base.values import check_names, is_label
from recframe._call.cached_calls import Arguments
from recframe._plan.request import Request
from recframe.errors import MissingExtraError, OptionTypeError, quoted
from recframe.metrics import METRICS, Metric, make
from recframe.profiles._spec import Spec, specs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from recframe._call.cached_calls import Call

EXPRESSION_POLICIES = ("ties", "min_relevance", "undefined")
"""The roles that an expression has in addition to the relevance."""
EXPRESSION_ROLES = ("score", "relevant", *EXPRESSION_POLICIES)
"""The roles of an expression."""
EXPRESSION_METRICS = (
    *("precision", "recall", "f1", "fbeta", "r_precision", "hit_rate", "full_recall", "mrr", "map"),
    *("first_rank", "last_rank", "iprec", "bpref", "inf_ap"),
    *("judged", "dcg", "ndcg", "rbp", "rbp_residual", "err", "pfound", "pr_auc", "roc_auc", "partial_auc", "gauc"),
    *("spearman", "kendall", "opa", "eed", "eer", "eel", "num_rel", "num_ret", "num_rel_ret"),
)
"""The metrics that read nothing but the scores and the relevance of one list."""
REPLACED_CALLS = {
    "measure": "call the metric's method, as in pl.col('score').rec.ndcg('clicked', k=10); evaluate accepts names, "
    "aliases and metrics of your own"
}
"""What to use instead of calls that former versions had."""
_COLUMNS = """score : str or Expr, default "score"
    The score, higher is better: a column or an expression. Missing (null, NaN): not recommended.
relevant : str or Expr, default "relevant"
    The relevance: a column or an expression. Missing counts as 0.
"""
_POLICIES = """
Other Parameters
----------------
ties : {"average", "best", "worst"}
    Items of equal score: the exact expected value over all their orders, or its bounds.
min_relevance : float, optional
    A row is relevant from this relevance on; None: above 0.
undefined : "skip" or float
    What a group without a value gets: missing, or this number.
"""
_PARAMETERS = "Parameters\n----------"
_NOTES = "Notes\n-----"


def evaluate(
    *,
    metrics: str | Metric | Sequence[str | Metric],
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | Sequence[int | None] | None = None,
    **roles: Any,
) -> pl.Expr:
    """Return one expression for several metrics and cutoffs: a struct named ``"metrics"``, which ranks each group once.

    Parameters
    ----------
    metrics : str, Metric or sequence of these
        Metrics as ``"ndcg"``, ``"ndcg(gain=exp2)@10"`` or an alias, or objects of `recframe.metrics`.
    score : str or Expr, default "score"
        The score, higher is better: a column or an expression. Missing (null, NaN): not recommended.
    relevant : str or Expr, default "relevant"
        The relevance: a column or an expression. Missing counts as 0.
    k : int or sequence of int, optional
        The cutoffs of the metrics that name none.
    **roles
        `ties`, `min_relevance` and `undefined`.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"query": [1, 1, 2], "clicked": [0, 1, 1], "score": [0.9, 0.8, 0.1]})
    >>> both = pl.col("score").rec.evaluate(["precision", "mrr"], "clicked", k=2)
    >>> df.group_by("query", maintain_order=True).agg(both).unnest("metrics").rows()
    [(1, 0.5, 0.5), (2, 0.5, 1.0)]
    """
    return _expression(("evaluate", metrics, k), lambda: specs_of(metrics, k, ()), score, relevant, roles)


def call_of(kind: type[Metric]) -> Callable[..., Any]:
    """Return the function that gives a metric's expression, with its signature and documentation."""

    def call(*, score: Any = None, relevant: Any = None, **keywords: Any) -> pl.Expr:
        options = {name: value for name, value in keywords.items() if name not in ALL_ROLES}
        roles = {name: value for name, value in keywords.items() if name in ALL_ROLES}

        def specs() -> list[Spec]:
            return [
                Spec(
                    make(kind.name, options, also=EXPRESSION_ROLES),
                    {name: options[name] for name in options if name != "k"},
                )
            ]

        return _expression((kind.name, options), specs, score, relevant, roles)

    call.__name__ = kind.name
    call.__qualname__ = kind.name
    # The metric's own docstring without its examples, which call frames. The columns are the first parameters.
    text = cleandoc(kind.__doc__ or "").partition("Examples\n--------")[0]
    if _PARAMETERS in text:
        text = text.replace(f"{_PARAMETERS}\n", f"{_PARAMETERS}\n{_COLUMNS}", 1)
    else:
        text = text.replace(_NOTES, f"{_PARAMETERS}\n{_COLUMNS}\n{_NOTES}", 1)
    call.__doc__ = text + _POLICIES
    setattr(call, "__signature__", signature_of(kind))  # noqa: B010 - functions declare no such attribute
    return call


def signature_of(kind: type[Metric]) -> Signature:
    """Return the signature of a metric's function: score, relevance, cutoff, options, policies."""
    named = Parameter.KEYWORD_ONLY
    annotation = "str | pl.Expr | None"
    columns = [Parameter(name, named, default=None, annotation=annotation) for name in ("score", "relevant")]
    options = [
        Parameter(field.name, named, default=field.default, annotation=field.type)
        for field in sorted(fields(kind), key=lambda field: field.name != "k")
    ]
    return Signature([*columns, *options, *role_parameters(EXPRESSION_POLICIES)], return_annotation="pl.Expr")


def keyword_only(call: Callable[..., pl.Expr]) -> Callable[..., pl.Expr]:
    """Return the call with errors that show its arguments with their names.

    By position, a score and a relevance in the wrong order would give a wrong number without an error.
    """
    values = {"metrics": "['ndcg', 'map']", "score": "'score'", "relevant": "'clicked'", "k": "5"}
    accepted = signature(call).parameters
    name = call.__name__
    example = ", ".join(f"{each}={value}" for each, value in values.items() if each in accepted)
    required = [
        each.name for each in accepted.values() if each.default is each.empty and each.kind is each.KEYWORD_ONLY
    ]

    @wraps(call)
    def checked(*args: Any, **keywords: Any) -> pl.Expr:
        hint = f"recframe.expr.{name}({example})"
        if args:
            msg = f"recframe.expr.{name} accepts arguments by name only, but {quoted(args[0])} has none"
            raise OptionTypeError(msg, hint)
        if missing := [each for each in required if each not in keywords]:
            msg = f"{name} needs {missing[0]}=, which is not given"
            raise OptionTypeError(msg, hint)
        return call(**keywords)

    return checked


def _expression(
    named: tuple[Any, ...],
    specs: Callable[[], Sequence[Spec]],
    score: Any,
    relevant: Any,
    roles: Mapping[str, Any],
) -> pl.Expr:
    """Return the expression of some metrics; `named` starts with the name of the call, and differs between calls."""
    _check_roles(roles)
    polars = _polars()
    from recframe._integrations.expressions.checks import check_call
    from recframe._integrations.expressions.values import GROUP, values_of_groups

    default = {"score": DEFAULT_SCORE, "relevant": Roles.relevant, **current()}
    named_columns = {"score": score, "relevant": relevant}
    columns = [
        _column(polars, name, default[name] if value is None else value) for name, value in named_columns.items()
    ]
    names = [column.meta.output_name(raise_if_undetermined=False) for column in columns]
    if None in names or names[0] == names[1] or GROUP in names:
        names = ["score", "relevant"]
    group_roles = {"by": GROUP, "per": GROUP, "score": names[0], "relevant": names[1]}
    arguments = Arguments(Request(polars.DataFrame(schema=[GROUP, *names]), {}, {**roles, **group_roles}))

    def make() -> Call:
        compiled = specs()
        checked = arguments.roles((*group_roles, *EXPRESSION_POLICIES))
        check_call(compiled, checked)
        return arguments.call(compiled, checked, every_list=True)

    call = arguments.cached(("expression", *named), make)
    score, relevant = (column.alias(name) for column, name in zip(columns, names, strict=True))
    return values_of_groups(call, score, relevant, as_struct=named[0] == "evaluate")


def _column(polars: Any, role: str, value: Any) -> Any:
    """Return the expression of a role, from the name of a column or an expression of one column."""
    if is_label(value, None):
        return polars.col(value)
    if not isinstance(value, polars.Expr):
        msg = f"{role}={quoted(value)} is neither the name of a column nor an expression of polars"
        cutoff = f"; the cutoff is named: k={value}" if isinstance(value, int) else ""
        raise OptionTypeError(msg, f"{role}={role!r}, or pl.col({role!r}){cutoff}")
    if value.meta.has_multiple_outputs():
        msg = f"{role}={quoted(value)} is several columns, and an expression has one"
        hint = "one expression for each: [pl.col(name).rec.ndcg('clicked').alias(name) for name in ('old', 'new')]"
        raise OptionTypeError(msg, hint)
    return value


def _polars() -> Any:
    """Return polars, or raise if it is not installed."""
    try:
        import polars as pl
    except ImportError:
        what = "expressions of polars"
        raise MissingExtraError.of(what, "polars") from None
    return pl


def _check_roles(keywords: Mapping[str, Any]) -> None:
    """Raise for arguments that mean something to a frame only."""
    for name in keywords:
        if name in ("by", "per", "per_item"):
            msg = f"{name}={quoted(keywords[name])}: an expression computes the group that it is in"
            raise OptionTypeError(msg, "df.group_by('query').agg(...), or the expression's .over('query')")
        if name == "truth":
            msg = "truth= is a second frame, and an expression computes one group of its own"
            hint = "join it first, so that relevant items without a recommendation are rows without a score: "
            raise OptionTypeError(msg, f"{hint}df.join(truth, on=['query', 'item'], how='full', coalesce=True)")
        if name in ALL_ROLES and name not in EXPRESSION_POLICIES:
            msg = f"{name}={quoted(keywords[name])} is an argument of frames, not of expressions"
            raise OptionTypeError(msg, f"df.rec has it; expressions have {', '.join(EXPRESSION_POLICIES)}")
    check_names(list(keywords), EXPRESSION_POLICIES)


_CALLS: Sequence[Callable[..., pl.Expr]] = (evaluate, *(call_of(METRICS[name]) for name in EXPRESSION_METRICS))
CALLS: Mapping[str, Callable[..., pl.Expr]] = {call.__name__: keyword_only(call) for call in _CALLS}
