"""The query of a report, and the results of the calls that answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from recframe._display.cells import label_text
from recframe._display.data import values_of
from recframe._display.described import described
from recframe._display.frames import columns_of, eager_result, margins_of
from recframe._display.model_verdicts import ModelVerdicts, model_verdicts
from recframe._display.result_tables import layout_of
from recframe._display.table_options import TableOptions
from recframe._inference.statistics import check_installed
from recframe.metrics import CutMetric
from recframe.metrics._beyond_accuracy import ExposureMetric
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from recframe._display.data import Values
    from recframe._display.described import Described
    from recframe._display.layout import Layout
    from recframe._display.report_runs import ReportRuns
    from recframe._inference.comparison.describe import Options
    from recframe._plan.request import Request
    from recframe.metrics import Metric
    from recframe.profiles._spec import Spec

DIGITS = 4


def options_of(request: Request, confidence: Any, cluster: Any) -> Options:
    """Return the checked options of the calls with intervals."""
    check_installed()
    from recframe._inference.comparison.describe import Options

    return Options.of(request.labels, confidence=confidence, cluster=cluster)


@dataclass(frozen=True)
class ReportQuery:
    """The query of a report. Its results are about all lists; only `compared_segments` is about the values of `per`."""

    rec: Any
    request: Request
    """The frame with its roles."""
    specs: Sequence[Spec]
    per: Any
    baseline: Any
    correction: Any
    margin: Any
    options: Options
    runs: ReportRuns | None

    @property
    def records(self) -> dict[str, Metric]:
        """The metrics by the names of their columns."""
        records = {spec.name: spec.metric for spec in self.specs}
        # Without a cutoff, a record names the metric at every cutoff.
        return records | {spec.at(None).name: spec.metric for spec in self.specs if isinstance(spec.metric, CutMetric)}

    @property
    def metrics(self) -> list[str | Metric]:
        """The metrics as calls accept them, each with its cutoff."""
        return [spec.as_named for spec in self.specs]

    @property
    def list_metrics(self) -> list[str | Metric]:
        """The metrics that have a value per list."""
        return [spec.as_named for spec in self.specs if not isinstance(spec.metric, ExposureMetric)]

    @property
    def interval_options(self) -> dict[str, Any]:
        """The arguments of calls with intervals: the confidence, the cluster and the runs."""
        runs = {} if self.runs is None else {"runs": self.runs.column}
        return {"confidence": self.options.confidence, "cluster": self.options.cluster, **runs}

    def means_of(self, metrics: Sequence[str | Metric], k: Any = None, **roles: Any) -> Described:
        """Return the means of some metrics at some cutoffs, with their intervals."""
        result = self.rec.describe(metrics, k, **self.interval_options, **self.request.roles, **roles)
        return described(eager_result(result), self.records, "report")

    def list_values(self, metric: str | Metric) -> Values:
        """Return the values of lists under one metric."""
        if self.runs is not None:
            return self.runs.values(metric)
        return values_of(self.request, metric, None)

    @cached_property
    def means(self) -> nw.DataFrame[Any]:
        """The means of all metrics, with the number of lists if a metric has a value per list."""
        if self.runs is not None:
            return self.runs.table(self.spread)
        counts = {"counts": True} if self.list_metrics else {}
        return eager_result(self.rec.evaluate(self.metrics, **counts, **self.request.roles))

    @cached_property
    def models(self) -> list[Any]:
        """The names of the models if there are several; empty for a single model."""
        return list(dict.fromkeys(columns_of(self.means).get("model", ())))

    @property
    def cutoffs(self) -> list[int]:
        """The cutoffs of the metrics that have one."""
        return sorted({spec.metric.cutoff for spec in self.specs if spec.metric.cutoff is not None})

    @cached_property
    def spread(self) -> nw.DataFrame[Any]:
        """The distribution of the values of lists."""
        result = self.rec.describe(self.list_metrics, details=True, **self.interval_options, **self.request.roles)
        return eager_result(result)

    @cached_property
    def compared(self) -> nw.DataFrame[Any] | None:
        """The comparison of the models, or None if there is only one."""
        return self.compare(self.list_metrics, self.margin) if self.list_metrics and len(self.models) > 1 else None

    @cached_property
    def compared_segments(self) -> nw.DataFrame[Any] | None:
        """The comparison of the models in each segment under the first metric, if there are segments."""
        if self.compared is None or self.per is None:
            return None
        first = self.list_metrics[:1]
        margin = self.margin
        if isinstance(margin, Mapping):
            names = {spec_of(metric).name for metric in first}
            margin = {name: value for name, value in margin.items() if spec_of(name).name in names}
        return self.compare(first, margin, per=self.per)

    def compare(self, metrics: Sequence[str | Metric], margin: Any, **roles: Any) -> nw.DataFrame[Any]:
        """Return the comparison of some metrics."""
        options = {"baseline": self.baseline, "correction": self.correction, "margin": margin, "details": True}
        return eager_result(
            self.rec.compare(metrics, **options, **self.interval_options, **self.request.roles, **roles)
        )

    def layout(self, result: nw.DataFrame[Any], verdicts: ModelVerdicts | None = None) -> Layout:
        """Return a result as a table, with the best means bold according to the comparison."""
        margins = margins_of(result.to_native())
        if margins is None and self.margin is None:
            margins = {}  # a sorted frame is not remembered, but the report knows that there is no margin
        verdicts = verdicts or ModelVerdicts()
        options = TableOptions(DIGITS, verdicts, self.options.confidence, letters=False, margins=margins)
        return layout_of(columns_of(result), self.records, options)

    @property
    def verdicts(self) -> ModelVerdicts:
        """The verdicts of the comparison on the models."""
        if self.compared is None:
            return ModelVerdicts()
        return model_verdicts(columns_of(self.compared), list(map(label_text, self.models)), self.records)

    def metrics_with_means(self, metrics: Sequence[str | Metric]) -> list[str | Metric]:
        """Return the metrics that have a mean for at least one model. The charts of other metrics would be empty."""
        return [metric for metric in metrics if self.means.get_column(spec_of(metric).name).fill_nan(None).count()]
