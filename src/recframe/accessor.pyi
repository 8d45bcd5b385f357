"""Written by tools/stubs.py: change the metric records, the roles or the accessor, then run it.

A metric is a float on an eager frame, and a frame where `per` is given. So each metric has two overloads, which differ
in their roles: without `per` (`MeanRoles`) or with it (`SegmentRoles`). A lazy frame gives frames for both.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, Literal, Protocol, Required, Self, TypeAlias, TypedDict, TypeVar, Unpack, overload

import altair as alt
import pandas as pd
import polars as pl

from recframe._base.roles import Columns, Estimator, FusionMethod, FusionNorm, Like, Lists, MeanKind, Ties, Undefined
from recframe.metrics import Metric
from recframe.metrics._gain import Gain, Grades
from recframe.metrics._weights import Discount
from recframe.metrics.accuracy import Denominator, Over, Points
from recframe.metrics.auc import WeighBy
from recframe.metrics.average_precision import Norm
from recframe.metrics.awrf import GroupDistance, GroupTarget
from recframe.metrics.cascade import Probability
from recframe.metrics.dcg import Ideal
from recframe.metrics.diversity import Distance
from recframe.metrics.expected_exposure import Browsing
from recframe.metrics.exposure import GiniDenominator
from recframe.metrics.novelty import Unit, Unseen
from recframe.metrics.partial_auc import Positives
from recframe.metrics.rbp import HitGain
from recframe.metrics.serendipity import Unexpected

class PolarsFrame(Protocol):
    def write_ipc(self, *args: Any, **kwargs: Any) -> Any: ...

class PolarsLazyFrame(Protocol):
    def sink_ipc(self, *args: Any, **kwargs: Any) -> Any: ...

class PandasFrame(Protocol):
    def to_stata(self, *args: Any, **kwargs: Any) -> Any: ...

Column: TypeAlias = str | pl.Expr
E = TypeVar("E")
L = TypeVar("L")
Same_co = TypeVar("Same_co", covariant=True)

class LazyFrameLike(Protocol[Same_co]):
    def limit(self, *args: Any, **kwargs: Any) -> Same_co: ...

class TableLike(Protocol[Same_co]):
    def slice(self, *args: Any, **kwargs: Any) -> Same_co: ...

class ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

Frame = TypeVar("Frame")
Mean = TypeVar("Mean")

class SharedRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    value: Column
    truth: Any
    per_item: Column | Sequence[Column] | None
    ties: Ties
    min_relevance: float | None
    undefined: Undefined
    lists: Lists
    subtopic: Column | None
    group: Column | None
    condensed: bool
    mean: MeanKind
    like: Like | None
    partitions: int | None
    weight: Column | None
    propensity: Column | None
    sampled: tuple[int, int] | None
    estimator: Estimator
    score: Column | None
    rank: Column | None

class MeanRoles(SharedRoles, total=False):
    per: None

class SegmentRoles(SharedRoles):
    per: Required[Column | Sequence[Column]]

class EvaluateRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    value: Column
    truth: Any
    per: Column | Sequence[Column] | None
    per_item: Column | Sequence[Column] | None
    ties: Ties
    min_relevance: float | None
    undefined: Undefined
    train: Any
    catalog: Any
    features: Any
    lists: Lists
    subtopic: Column | None
    group: Column | None
    condensed: bool
    mean: MeanKind
    like: Like | None
    partitions: int | None
    weight: Column | None
    propensity: Column | None
    sampled: tuple[int, int] | None
    estimator: Estimator
    model: Column | None

class ContributionsRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column | None
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    value: Column
    truth: Any
    ties: Ties
    min_relevance: float | None
    train: Any
    catalog: Any
    features: Any
    subtopic: Column | None
    condensed: bool
    like: Like | None
    propensity: Column | None
    sampled: tuple[int, int] | None
    estimator: Estimator
    model: Column | None

class CompareRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    value: Column
    truth: Any
    per: Column | Sequence[Column] | None
    per_item: Column | Sequence[Column] | None
    ties: Ties
    min_relevance: float | None
    undefined: Undefined
    train: Any
    catalog: Any
    features: Any
    lists: Lists
    subtopic: Column | None
    group: Column | None
    condensed: bool
    like: Like | None
    weight: Column | None
    propensity: Column | None
    sampled: tuple[int, int] | None
    estimator: Estimator
    model: Column | None

class RankModelsRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    value: Column
    truth: Any
    per: Column | Sequence[Column] | None
    ties: Ties
    min_relevance: float | None
    undefined: Undefined
    train: Any
    catalog: Any
    features: Any
    lists: Lists
    subtopic: Column | None
    group: Column | None
    condensed: bool
    like: Like | None
    weight: Column | None
    propensity: Column | None
    sampled: tuple[int, int] | None
    estimator: Estimator
    model: Column | None

class BoundsRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    truth: Any
    per: Column | Sequence[Column] | None
    min_relevance: float | None

class ExposureRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    truth: Any
    ties: Ties
    min_relevance: float | None
    catalog: Any
    features: Any
    group: Column | None
    model: Column | None

class StateRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    value: Column
    truth: Any
    per: Column | Sequence[Column] | None
    ties: Ties
    min_relevance: float | None
    undefined: Undefined
    train: Any
    catalog: Any
    features: Any
    lists: Lists
    subtopic: Column | None
    condensed: bool
    like: Like | None
    weight: Column | None
    propensity: Column | None
    sampled: tuple[int, int] | None
    estimator: Estimator
    model: Column | None

class FuseRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    model: Column | None

class TuneFusionRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    value: Column
    truth: Any
    ties: Ties
    min_relevance: float | None
    undefined: Undefined
    train: Any
    catalog: Any
    features: Any
    lists: Lists
    subtopic: Column | None
    group: Column | None
    condensed: bool
    like: Like | None
    weight: Column | None
    propensity: Column | None
    sampled: tuple[int, int] | None
    estimator: Estimator
    model: Column | None

class AgreementRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    per: Column | Sequence[Column] | None
    model: Column | None

class CheckRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    truth: Any
    per: Column | Sequence[Column] | None
    min_relevance: float | None
    train: Any
    model: Column | None

class LabelRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    value: Column
    model: Column | None

class SplitRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column

class PositionBiasRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None

class ChartRoles(TypedDict, total=False):
    by: Column | Sequence[Column] | None
    item: Column
    relevant: Column
    score: Column | Sequence[Column] | None
    rank: Column | Sequence[Column] | None
    value: Column
    truth: Any
    ties: Ties
    min_relevance: float | None
    undefined: Undefined
    train: Any
    catalog: Any
    features: Any
    lists: Lists
    subtopic: Column | None
    group: Column | None
    condensed: bool
    like: Like | None
    weight: Column | None
    propensity: Column | None
    sampled: tuple[int, int] | None
    estimator: Estimator
    model: Column | None

class Plot:
    def curve(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: Sequence[int] = range(1, 21),
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        **roles: Unpack[ChartRoles],
    ) -> alt.LayerChart | alt.ConcatChart: ...
    def distribution(
        self, metric: str | Metric, k: int | None = None, **roles: Unpack[ChartRoles]
    ) -> alt.LayerChart | alt.VConcatChart: ...
    def differences(
        self, metric: str | Metric, k: int | None = None, **roles: Unpack[ChartRoles]
    ) -> alt.LayerChart: ...
    def power(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        difference: float | str,
        power: float = 0.8,
        tests: int | None = None,
        confidence: float = 0.95,
        baseline: str | None = None,
        cluster: str | None = None,
        **roles: Unpack[ChartRoles],
    ) -> alt.LayerChart: ...
    def ranks(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        **roles: Unpack[ChartRoles],
    ) -> alt.LayerChart: ...
    def segments(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        most: int = 30,
        confidence: float = 0.95,
        cluster: str | None = None,
        **roles: Unpack[RankModelsRoles],
    ) -> alt.LayerChart: ...
    def trend(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        **roles: Unpack[RankModelsRoles],
    ) -> alt.LayerChart: ...
    def tradeoff(
        self,
        x: str | Metric,
        y: str | Metric,
        k: int | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        **roles: Unpack[ChartRoles],
    ) -> alt.LayerChart: ...

class Rec(Generic[Mean, Frame]):
    def __init__(self, frame: Frame, bound: dict[str, Any] | None = None) -> None: ...
    @property
    def plot(self) -> Plot: ...
    def __call__(self, **roles: Unpack[EvaluateRoles]) -> Self: ...
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
        **roles: Unpack[EvaluateRoles],
    ) -> Frame: ...
    def contributions(
        self, metric: str | Metric, k: int | None = None, **roles: Unpack[ContributionsRoles]
    ) -> Frame: ...
    def compare(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        baseline: Any = None,
        test: Literal["t", "randomization", "bootstrap", "wilcoxon", "anytime", "anytime-bounded"] = "t",
        confidence: float = 0.95,
        correction: Literal["holm", "bonferroni", "bh", "none", "maxt", "romano-wolf", "dunnett"] = "holm",
        cluster: str | None = None,
        strata: str | None = None,
        strata_weights: Mapping[Any, float] | None = None,
        runs: str | None = None,
        resamples: int = 10000,
        seed: int = 0,
        interval: Literal["percentile", "bca"] = "percentile",
        margin: float | str | Mapping[str, float | str] | None = None,
        planned: int = 10000,
        relative: bool = False,
        changed: Literal["leave_out", "refuse"] | None = None,
        details: bool = False,
        **roles: Unpack[CompareRoles],
    ) -> Frame: ...
    def rank_models(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        runs: str | None = None,
        resamples: int = 10000,
        seed: int = 0,
        details: bool = False,
        **roles: Unpack[RankModelsRoles],
    ) -> Frame: ...
    def sample_size(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        difference: float | str,
        power: float = 0.8,
        tests: int | None = None,
        confidence: float = 0.95,
        baseline: str | None = None,
        cluster: str | None = None,
        **roles: Unpack[RankModelsRoles],
    ) -> Frame: ...
    def describe(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        strata: str | None = None,
        strata_weights: Mapping[Any, float] | None = None,
        runs: str | None = None,
        details: bool = False,
        **roles: Unpack[CompareRoles],
    ) -> Frame: ...
    def estimate_with_judge(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        judge: Any,
        confidence: float = 0.95,
        **roles: Unpack[RankModelsRoles],
    ) -> Frame: ...
    def bounds(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        grade: float | None = None,
        **roles: Unpack[BoundsRoles],
    ) -> Frame: ...
    def exposure(
        self,
        k: int | None = None,
        *,
        p: float = 0.5,
        browsing: Browsing = "geometric",
        stop: float = 0.5,
        target: GroupTarget = "equal",
        **roles: Unpack[ExposureRoles],
    ) -> Frame: ...
    def changes(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        most: int | None = 20,
        items: bool = True,
        baseline: Any = None,
        **roles: Unpack[ContributionsRoles],
    ) -> Frame: ...
    def state(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        baseline: Any = None,
        cluster: str | None = None,
        items: bool = False,
        runs: str | None = None,
        **roles: Unpack[StateRoles],
    ) -> Frame: ...
    def report(
        self,
        path: Any,
        metrics: str | Metric | Sequence[str | Metric],
        k: int | Sequence[int | None] | None = None,
        *,
        title: str | None = None,
        baseline: Any = None,
        confidence: float = 0.95,
        correction: Literal["holm", "bonferroni", "bh", "none", "maxt", "romano-wolf", "dunnett"] = "holm",
        cluster: str | None = None,
        margin: float | str | Mapping[str, float | str] | None = None,
        runs: str | None = None,
        **roles: Unpack[RankModelsRoles],
    ) -> None: ...
    def fuse(
        self,
        method: FusionMethod = "rrf",
        *,
        name: str = "fused",
        weights: Sequence[float] | Mapping[str, float] | None = None,
        normalize: FusionNorm | None = None,
        k: float = 60,
        gamma: float = 0.5,
        sigma: float = 0.01,
        p: float = 0.8,
        **roles: Unpack[FuseRoles],
    ) -> Frame: ...
    def tune_fusion(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        methods: FusionMethod | Sequence[FusionMethod] = ("rrf", "weighted"),
        normalize: FusionNorm | Sequence[FusionNorm | None] | None = "min-max",
        grid: Mapping[str, Sequence[Any]] | None = None,
        folds: int = 5,
        confidence: float = 0.95,
        cluster: str | None = None,
        seed: int = 0,
        progress: bool | None = None,
        **roles: Unpack[ChartRoles],
    ) -> Frame: ...
    def agreement(
        self,
        k: int = 10,
        *,
        measures: str | Sequence[str] | None = None,
        p: float = 0.9,
        confidence: float | None = None,
        cluster: str | None = None,
        **roles: Unpack[AgreementRoles],
    ) -> Frame: ...
    def check(
        self, k: int | None = None, *, strict: bool = False, all: bool = False, **roles: Unpack[CheckRoles]
    ) -> Frame: ...
    def label(self, truth: Frame, *, seen: Frame | None = None, **roles: Unpack[LabelRoles]) -> Frame: ...
    def top(self, k: int | None = None, *, name: str = "rank", **roles: Unpack[FuseRoles]) -> Frame: ...
    def to_lists(self, k: int | None = None, *, scores: bool = False, **roles: Unpack[FuseRoles]) -> Frame: ...
    def split(
        self,
        *,
        fraction: float | None = None,
        count: int | None = None,
        last: int | None = None,
        since: Any = None,
        time: str | None = None,
        users: float | None = None,
        min_items: int = 1,
        seed: int = 0,
        **roles: Unpack[SplitRoles],
    ) -> tuple[Frame, Frame]: ...
    def add_random(self, name: str = "random", *, seed: int = 0, **roles: Unpack[SplitRoles]) -> Frame: ...
    def add_popular(
        self,
        train: Frame,
        name: str = "popular",
        *,
        per: Columns = None,
        time: str | None = None,
        half_life: timedelta | float | None = None,
        window: timedelta | float | None = None,
        **roles: Unpack[SplitRoles],
    ) -> Frame: ...
    def add_propensity(
        self,
        train: Frame,
        name: str = "propensity",
        *,
        power: float | None = None,
        shown: Frame | None = None,
        unit: Unit = "users",
        least: float | None = None,
        **roles: Unpack[SplitRoles],
    ) -> Frame: ...
    def position_bias(self, k: int | None = None, **roles: Unpack[PositionBiasRoles]) -> Frame: ...
    @overload
    def precision(
        self, k: int | None = None, *, denominator: Denominator = "k", **roles: Unpack[MeanRoles]
    ) -> Mean: ...
    @overload
    def precision(
        self, k: int | None = None, *, denominator: Denominator = "k", **roles: Unpack[SegmentRoles]
    ) -> Frame: ...
    @overload
    def recall(
        self, k: int | None = None, *, capped: bool = False, over: Over = "all", **roles: Unpack[MeanRoles]
    ) -> Mean: ...
    @overload
    def recall(
        self, k: int | None = None, *, capped: bool = False, over: Over = "all", **roles: Unpack[SegmentRoles]
    ) -> Frame: ...
    @overload
    def f1(self, k: int | None = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def f1(self, k: int | None = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def fbeta(self, k: int | None = None, *, beta: float = 2.0, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def fbeta(self, k: int | None = None, *, beta: float = 2.0, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def r_precision(self, *, over: Over = "all", **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def r_precision(self, *, over: Over = "all", **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def num_rel(self, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def num_rel(self, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def num_ret(self, k: int | None = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def num_ret(self, k: int | None = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def num_rel_ret(self, k: int | None = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def num_rel_ret(self, k: int | None = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def hit_rate(self, k: int | None = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def hit_rate(self, k: int | None = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def full_recall(self, k: int | None = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def full_recall(self, k: int | None = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def mrr(self, k: int | None = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def mrr(self, k: int | None = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def first_rank(self, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def first_rank(self, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def last_rank(self, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def last_rank(self, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def map(
        self, k: int | None = None, *, norm: Norm = "capped", over: Over = "all", **roles: Unpack[MeanRoles]
    ) -> Mean: ...
    @overload
    def map(
        self, k: int | None = None, *, norm: Norm = "capped", over: Over = "all", **roles: Unpack[SegmentRoles]
    ) -> Frame: ...
    @overload
    def iprec(self, *, recall: float | None = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def iprec(self, *, recall: float | None = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def bpref(self, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def bpref(self, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def inf_ap(self, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def inf_ap(self, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def judged(self, k: int | None = None, *, denominator: Denominator = "k", **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def judged(
        self, k: int | None = None, *, denominator: Denominator = "k", **roles: Unpack[SegmentRoles]
    ) -> Frame: ...
    @overload
    def dcg(
        self,
        k: int | None = None,
        *,
        gain: Gain = "linear",
        discount: Discount = "log2",
        grades: Grades = "all",
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def dcg(
        self,
        k: int | None = None,
        *,
        gain: Gain = "linear",
        discount: Discount = "log2",
        grades: Grades = "all",
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def ndcg(
        self,
        k: int | None = None,
        *,
        gain: Gain = "linear",
        discount: Discount = "log2",
        grades: Grades = "all",
        ideal: Ideal = "all",
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def ndcg(
        self,
        k: int | None = None,
        *,
        gain: Gain = "linear",
        discount: Discount = "log2",
        grades: Grades = "all",
        ideal: Ideal = "all",
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def rbp(
        self, k: int | None = None, *, p: float = 0.8, gain: HitGain = "binary", **roles: Unpack[MeanRoles]
    ) -> Mean: ...
    @overload
    def rbp(
        self, k: int | None = None, *, p: float = 0.8, gain: HitGain = "binary", **roles: Unpack[SegmentRoles]
    ) -> Frame: ...
    @overload
    def rbp_residual(self, k: int | None = None, *, p: float = 0.8, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def rbp_residual(self, k: int | None = None, *, p: float = 0.8, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def eed(
        self,
        k: int | None = None,
        *,
        p: float = 0.5,
        browsing: Browsing = "geometric",
        stop: float = 0.5,
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def eed(
        self,
        k: int | None = None,
        *,
        p: float = 0.5,
        browsing: Browsing = "geometric",
        stop: float = 0.5,
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def eer(
        self,
        k: int | None = None,
        *,
        p: float = 0.5,
        browsing: Browsing = "geometric",
        stop: float = 0.5,
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def eer(
        self,
        k: int | None = None,
        *,
        p: float = 0.5,
        browsing: Browsing = "geometric",
        stop: float = 0.5,
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def eel(
        self,
        k: int | None = None,
        *,
        p: float = 0.5,
        browsing: Browsing = "geometric",
        stop: float = 0.5,
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def eel(
        self,
        k: int | None = None,
        *,
        p: float = 0.5,
        browsing: Browsing = "geometric",
        stop: float = 0.5,
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def awrf(
        self,
        k: int | None = None,
        *,
        p: float = 0.5,
        browsing: Browsing = "geometric",
        stop: float = 0.5,
        target: GroupTarget = "equal",
        distance: GroupDistance = "tv",
        catalog: Any = None,
        features: Any = None,
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def awrf(
        self,
        k: int | None = None,
        *,
        p: float = 0.5,
        browsing: Browsing = "geometric",
        stop: float = 0.5,
        target: GroupTarget = "equal",
        distance: GroupDistance = "tv",
        catalog: Any = None,
        features: Any = None,
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def err(
        self,
        k: int | None = None,
        *,
        max_relevance: float | None = None,
        probability: Probability | Literal["relevance"] | None = None,
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def err(
        self,
        k: int | None = None,
        *,
        max_relevance: float | None = None,
        probability: Probability | Literal["relevance"] | None = None,
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def pfound(
        self,
        k: int | None = None,
        *,
        p_break: float = 0.15,
        probability: Probability | None = None,
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def pfound(
        self,
        k: int | None = None,
        *,
        p_break: float = 0.15,
        probability: Probability | None = None,
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def alpha_ndcg(self, k: int | None = None, *, alpha: float = 0.5, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def alpha_ndcg(self, k: int | None = None, *, alpha: float = 0.5, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def err_ia(
        self, k: int | None = None, *, alpha: float = 0.5, normalized: bool = False, **roles: Unpack[MeanRoles]
    ) -> Mean: ...
    @overload
    def err_ia(
        self, k: int | None = None, *, alpha: float = 0.5, normalized: bool = False, **roles: Unpack[SegmentRoles]
    ) -> Frame: ...
    @overload
    def subtopic_recall(self, k: int | None = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def subtopic_recall(self, k: int | None = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def roc_auc(self, k: int | None = None, *, over: Over = "all", **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def roc_auc(self, k: int | None = None, *, over: Over = "all", **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def partial_auc(
        self,
        *,
        max_fpr: float = 0.1,
        points: Points = "positions",
        negatives: int | None = None,
        positives: Positives = "all",
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def partial_auc(
        self,
        *,
        max_fpr: float = 0.1,
        points: Points = "positions",
        negatives: int | None = None,
        positives: Positives = "all",
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def gauc(self, *, weigh_by: WeighBy = "rows", **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def gauc(self, *, weigh_by: WeighBy = "rows", **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def pr_auc(self, *, points: Points = "positions", over: Over = "all", **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def pr_auc(self, *, points: Points = "positions", over: Over = "all", **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def money_precision(self, k: int | None = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def money_precision(self, k: int | None = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def money_recall(self, k: int | None = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def money_recall(self, k: int | None = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def spearman(self, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def spearman(self, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def kendall(self, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def kendall(self, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def opa(self, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def opa(self, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def coverage(self, k: int | None = None, *, catalog: Any = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def coverage(self, k: int | None = None, *, catalog: Any = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def user_coverage(self, k: int | None = None, *, filled: bool = False, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def user_coverage(self, k: int | None = None, *, filled: bool = False, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def novelty(
        self,
        k: int | None = None,
        *,
        denominator: Denominator = "k",
        unseen: Unseen = "one_user",
        unit: Unit = "users",
        train: Any = None,
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def novelty(
        self,
        k: int | None = None,
        *,
        denominator: Denominator = "k",
        unseen: Unseen = "one_user",
        unit: Unit = "users",
        train: Any = None,
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def arp(
        self, k: int | None = None, *, unit: Unit = "users", train: Any = None, **roles: Unpack[MeanRoles]
    ) -> Mean: ...
    @overload
    def arp(
        self, k: int | None = None, *, unit: Unit = "users", train: Any = None, **roles: Unpack[SegmentRoles]
    ) -> Frame: ...
    @overload
    def long_tail(
        self, k: int | None = None, *, head: float = 0.2, train: Any = None, **roles: Unpack[MeanRoles]
    ) -> Mean: ...
    @overload
    def long_tail(
        self, k: int | None = None, *, head: float = 0.2, train: Any = None, **roles: Unpack[SegmentRoles]
    ) -> Frame: ...
    @overload
    def diversity(
        self, k: int | None = None, *, distance: Distance = "cosine", features: Any = None, **roles: Unpack[MeanRoles]
    ) -> Mean: ...
    @overload
    def diversity(
        self,
        k: int | None = None,
        *,
        distance: Distance = "cosine",
        features: Any = None,
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def category_entropy(
        self, k: int | None = None, *, smoothing: float = 0, features: Any = None, **roles: Unpack[MeanRoles]
    ) -> Mean: ...
    @overload
    def category_entropy(
        self, k: int | None = None, *, smoothing: float = 0, features: Any = None, **roles: Unpack[SegmentRoles]
    ) -> Frame: ...
    @overload
    def personalization(self, k: int | None = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def personalization(self, k: int | None = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def gini(
        self,
        k: int | None = None,
        *,
        denominator: GiniDenominator = "n",
        catalog: Any = None,
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def gini(
        self,
        k: int | None = None,
        *,
        denominator: GiniDenominator = "n",
        catalog: Any = None,
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def entropy(self, k: int | None = None, *, catalog: Any = None, **roles: Unpack[MeanRoles]) -> Mean: ...
    @overload
    def entropy(self, k: int | None = None, *, catalog: Any = None, **roles: Unpack[SegmentRoles]) -> Frame: ...
    @overload
    def serendipity(
        self,
        k: int | None = None,
        *,
        expected: int | None = None,
        denominator: Denominator = "k",
        unexpected: Unexpected = "popular",
        train: Any = None,
        catalog: Any = None,
        features: Any = None,
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def serendipity(
        self,
        k: int | None = None,
        *,
        expected: int | None = None,
        denominator: Denominator = "k",
        unexpected: Unexpected = "popular",
        train: Any = None,
        catalog: Any = None,
        features: Any = None,
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...
    @overload
    def calibration(
        self,
        k: int | None = None,
        *,
        alpha: float = 0.01,
        train: Any = None,
        features: Any = None,
        **roles: Unpack[MeanRoles],
    ) -> Mean: ...
    @overload
    def calibration(
        self,
        k: int | None = None,
        *,
        alpha: float = 0.01,
        train: Any = None,
        features: Any = None,
        **roles: Unpack[SegmentRoles],
    ) -> Frame: ...

class EagerRec(Rec[float, E], Generic[E]): ...
class LazyRec(Rec[L, L], Generic[L]): ...

@overload
def rec(frame: PolarsFrame, *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> EagerRec[pl.DataFrame]: ...
@overload
def rec(frame: PolarsLazyFrame, *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> LazyRec[pl.LazyFrame]: ...
@overload
def rec(frame: PandasFrame, *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> EagerRec[pd.DataFrame]: ...
@overload
def rec(frame: LazyFrameLike[L], *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> LazyRec[L]: ...
@overload
def rec(frame: TableLike[E], *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> EagerRec[E]: ...
@overload
def rec(frame: Mapping[str, Any], *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> Rec[Any, Any]: ...
@overload
def rec(frame: ArrowStream, *, validate: bool = False, **roles: Unpack[EvaluateRoles]) -> EagerRec[Any]: ...
