"""Written by tools/stubs.py: change the metric records or the roles, then run it."""

from collections.abc import Sequence
from typing import Literal, TypedDict, Unpack

import polars as pl

from recframe._base.roles import Undefined
from recframe._integrations.expressions.checks import ExpressionTies
from recframe.metrics import Metric
from recframe.metrics._gain import Gain, Grades
from recframe.metrics._weights import Discount
from recframe.metrics.accuracy import Denominator, Over, Points
from recframe.metrics.auc import WeighBy
from recframe.metrics.average_precision import Norm
from recframe.metrics.cascade import Probability
from recframe.metrics.dcg import Ideal
from recframe.metrics.expected_exposure import Browsing
from recframe.metrics.partial_auc import Positives
from recframe.metrics.rbp import HitGain

class ExpressionRoles(TypedDict, total=False):
    ties: ExpressionTies
    min_relevance: float | None
    undefined: Undefined

def evaluate(
    *,
    metrics: str | Metric | Sequence[str | Metric],
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | Sequence[int | None] | None = None,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def precision(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    denominator: Denominator = "k",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def recall(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    capped: bool = False,
    over: Over = "all",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def f1(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def fbeta(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    beta: float = 2.0,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def r_precision(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    over: Over = "all",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def hit_rate(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def full_recall(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def mrr(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def map(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    norm: Norm = "capped",
    over: Over = "all",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def first_rank(
    *, score: str | pl.Expr | None = None, relevant: str | pl.Expr | None = None, **roles: Unpack[ExpressionRoles]
) -> pl.Expr: ...
def last_rank(
    *, score: str | pl.Expr | None = None, relevant: str | pl.Expr | None = None, **roles: Unpack[ExpressionRoles]
) -> pl.Expr: ...
def iprec(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    recall: float | None = None,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def bpref(
    *, score: str | pl.Expr | None = None, relevant: str | pl.Expr | None = None, **roles: Unpack[ExpressionRoles]
) -> pl.Expr: ...
def inf_ap(
    *, score: str | pl.Expr | None = None, relevant: str | pl.Expr | None = None, **roles: Unpack[ExpressionRoles]
) -> pl.Expr: ...
def judged(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    denominator: Denominator = "k",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def dcg(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    grades: Grades = "all",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def ndcg(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    grades: Grades = "all",
    ideal: Ideal = "all",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def rbp(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    p: float = 0.8,
    gain: HitGain = "binary",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def rbp_residual(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    p: float = 0.8,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def err(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    max_relevance: float | None = None,
    probability: Probability | Literal["relevance"] | None = None,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def pfound(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    p_break: float = 0.15,
    probability: Probability | None = None,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def pr_auc(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    points: Points = "positions",
    over: Over = "all",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def roc_auc(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    over: Over = "all",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def partial_auc(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    max_fpr: float = 0.1,
    points: Points = "positions",
    negatives: int | None = None,
    positives: Positives = "all",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def gauc(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    weigh_by: WeighBy = "rows",
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def spearman(
    *, score: str | pl.Expr | None = None, relevant: str | pl.Expr | None = None, **roles: Unpack[ExpressionRoles]
) -> pl.Expr: ...
def kendall(
    *, score: str | pl.Expr | None = None, relevant: str | pl.Expr | None = None, **roles: Unpack[ExpressionRoles]
) -> pl.Expr: ...
def opa(
    *, score: str | pl.Expr | None = None, relevant: str | pl.Expr | None = None, **roles: Unpack[ExpressionRoles]
) -> pl.Expr: ...
def eed(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    p: float = 0.5,
    browsing: Browsing = "geometric",
    stop: float = 0.5,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def eer(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    p: float = 0.5,
    browsing: Browsing = "geometric",
    stop: float = 0.5,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def eel(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    p: float = 0.5,
    browsing: Browsing = "geometric",
    stop: float = 0.5,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def num_rel(
    *, score: str | pl.Expr | None = None, relevant: str | pl.Expr | None = None, **roles: Unpack[ExpressionRoles]
) -> pl.Expr: ...
def num_ret(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
def num_rel_ret(
    *,
    score: str | pl.Expr | None = None,
    relevant: str | pl.Expr | None = None,
    k: int | None = None,
    **roles: Unpack[ExpressionRoles],
) -> pl.Expr: ...
