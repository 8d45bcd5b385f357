"""Written by tools/stubs.py: change the metric records or the roles, then run it."""

from collections.abc import Sequence
from typing import Any, Generic, Protocol, Self, TypeVar, overload

from recframe._rank import Ties
from recframe._roles import Undefined
from recframe.metrics import Metric
from recframe.metrics.accuracy import Denominator
from recframe.metrics.average_precision import Norm
from recframe.metrics.dcg import Discount, Gain, Ideal

class DataFrameLike(Protocol):
    @property
    def shape(self) -> tuple[int, int]: ...

class LazyFrameLike(Protocol):
    def collect(self, *args: Any, **kwargs: Any) -> Any: ...

E = TypeVar("E", bound=DataFrameLike)
L = TypeVar("L", bound=LazyFrameLike)

class Rec:
    def __init__(self, frame: Any, bound: dict[str, Any] | None = None) -> None: ...
    def __call__(
        self,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | Sequence[str] | None = None,
        rank: str | Sequence[str] | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
        model: str | None = None,
    ) -> Self: ...

class EagerRec(Rec, Generic[E]):
    @overload
    def measure(
        self,
        metric: str | Metric,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> float: ...
    @overload
    def measure(
        self,
        metric: str | Metric,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str],
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> E: ...
    def evaluate(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | Sequence[str] | None = None,
        rank: str | Sequence[str] | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
        model: str | None = None,
    ) -> E: ...
    @overload
    def precision(
        self,
        k: int | None = None,
        *,
        denominator: Denominator = "k",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> float: ...
    @overload
    def precision(
        self,
        k: int | None = None,
        *,
        denominator: Denominator = "k",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str],
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> E: ...
    @overload
    def recall(
        self,
        k: int | None = None,
        *,
        capped: bool = False,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> float: ...
    @overload
    def recall(
        self,
        k: int | None = None,
        *,
        capped: bool = False,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str],
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> E: ...
    @overload
    def f1(
        self,
        k: int | None = None,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> float: ...
    @overload
    def f1(
        self,
        k: int | None = None,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str],
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> E: ...
    @overload
    def r_precision(
        self,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> float: ...
    @overload
    def r_precision(
        self,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str],
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> E: ...
    @overload
    def hit_rate(
        self,
        k: int | None = None,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> float: ...
    @overload
    def hit_rate(
        self,
        k: int | None = None,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str],
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> E: ...
    @overload
    def mrr(
        self,
        k: int | None = None,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> float: ...
    @overload
    def mrr(
        self,
        k: int | None = None,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str],
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> E: ...
    @overload
    def map(
        self,
        k: int | None = None,
        *,
        norm: Norm = "capped",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> float: ...
    @overload
    def map(
        self,
        k: int | None = None,
        *,
        norm: Norm = "capped",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str],
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> E: ...
    @overload
    def dcg(
        self,
        k: int | None = None,
        *,
        gain: Gain = "linear",
        discount: Discount = "log2",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> float: ...
    @overload
    def dcg(
        self,
        k: int | None = None,
        *,
        gain: Gain = "linear",
        discount: Discount = "log2",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str],
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> E: ...
    @overload
    def ndcg(
        self,
        k: int | None = None,
        *,
        gain: Gain = "linear",
        discount: Discount = "log2",
        ideal: Ideal = "all",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> float: ...
    @overload
    def ndcg(
        self,
        k: int | None = None,
        *,
        gain: Gain = "linear",
        discount: Discount = "log2",
        ideal: Ideal = "all",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str],
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> E: ...
    @overload
    def rbp(
        self,
        k: int | None = None,
        *,
        p: float = 0.8,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> float: ...
    @overload
    def rbp(
        self,
        k: int | None = None,
        *,
        p: float = 0.8,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str],
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> E: ...

class LazyRec(Rec, Generic[L]):
    def measure(
        self,
        metric: str | Metric,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> L: ...
    def evaluate(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | Sequence[str] | None = None,
        rank: str | Sequence[str] | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
        model: str | None = None,
    ) -> L: ...
    def precision(
        self,
        k: int | None = None,
        *,
        denominator: Denominator = "k",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> L: ...
    def recall(
        self,
        k: int | None = None,
        *,
        capped: bool = False,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> L: ...
    def f1(
        self,
        k: int | None = None,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> L: ...
    def r_precision(
        self,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> L: ...
    def hit_rate(
        self,
        k: int | None = None,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> L: ...
    def mrr(
        self,
        k: int | None = None,
        *,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> L: ...
    def map(
        self,
        k: int | None = None,
        *,
        norm: Norm = "capped",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> L: ...
    def dcg(
        self,
        k: int | None = None,
        *,
        gain: Gain = "linear",
        discount: Discount = "log2",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> L: ...
    def ndcg(
        self,
        k: int | None = None,
        *,
        gain: Gain = "linear",
        discount: Discount = "log2",
        ideal: Ideal = "all",
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> L: ...
    def rbp(
        self,
        k: int | None = None,
        *,
        p: float = 0.8,
        by: str | Sequence[str] | None = "user",
        item: str = "item",
        relevant: str = "relevant",
        score: str | None = None,
        rank: str | None = None,
        truth: Any = None,
        per: str | Sequence[str] | None = None,
        ties: Ties = "average",
        min_relevance: float | None = None,
        undefined: Undefined = "skip",
    ) -> L: ...

@overload
def rec(frame: L) -> LazyRec[L]: ...
@overload
def rec(frame: E) -> EagerRec[E]: ...
