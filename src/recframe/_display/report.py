"""What a report says: what is decided, of what data, means, charts; folded: quantiles, findings, definitions."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._arguments import CALL_ROLES, EXPLAINED
from recframe._display import chart_dates, chart_texts, charts, page, verdicts
from recframe._display.cells import label_text, number_text
from recframe._display.data import BY_SEGMENT, MEANS, Call, histogram, means, sorted_differences, values_of
from recframe._display.decided import Decided, decided_of
from recframe._display.forest import chart_of
from recframe._display.frames import columns_of, eager_result, rows_of
from recframe._display.layout import Layout, Look, layout_of
from recframe._display.segment_charts import by_segment, segments_of, trend_of
from recframe._evaluate import expand
from recframe._files.paths import as_path, check_directory, write_whole
from recframe._values import choice
from recframe.errors import OptionError, OptionTypeError, closest, quoted, visible
from recframe.metrics import CutMetric
from recframe.metrics._beyond_accuracy import ExposureMetric
from recframe.profiles import explain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recframe._comparison.describe import Options
    from recframe._display.data import Mean
    from recframe._plan.plan import Plan
    from recframe.metrics import Metric
    from recframe.profiles._spec import Spec

DIGITS = 4
CURVE = 20
"""The last cutoff of curves, where no metric has a later one."""
MOST_CHARTS = 5
"""The most charts of pairs of models."""
MOST_VERDICTS = 12
"""The most pairs of models whose verdicts are shown at once."""
FEW_LISTS = 30
"""Segments of fewer lists are marked: one list can move their difference."""
TITLE = "Evaluation of recommendations"


@dataclass(frozen=True)
class ReportQuery:
    """The query of a report, without `per`."""

    rec: Any
    frame: Any
    bound: Mapping[str, Any]
    specs: Sequence[Spec]
    given: Mapping[str, Any]
    per: Any
    baseline: Any
    correction: Any
    options: Options
    plan: Plan

    @property
    def records(self) -> dict[str, Metric]:
        """The metrics by the names of their columns."""
        query = self.plan.context.query
        return {query.averaging(metric.label).name: metric for metric in self.plan.metrics}

    @property
    def metrics(self) -> list[str | Metric]:
        """The metrics as calls accept them, each with its cutoff."""
        return [spec.as_given for spec in self.specs]

    @property
    def by_list(self) -> list[str | Metric]:
        """The metrics that have a value per list."""
        return [spec.as_given for spec in self.specs if not isinstance(spec.metric, ExposureMetric)]

    @property
    def confidence(self) -> dict[str, Any]:
        """What the calls with intervals accept."""
        return {"confidence": self.options.confidence, "cluster": self.options.cluster}

    @cached_property
    def values(self) -> nw.DataFrame[Any]:
        """The means of all metrics, with the numbers of lists where there are some."""
        counts = {"counts": True} if self.by_list else {}
        return eager_result(self.rec.evaluate(self.metrics, **counts, **self.given))

    @cached_property
    def models(self) -> list[Any]:
        """The names of the models, of which there are several; none of one model alone."""
        if not self.plan.context.query.several:
            return []
        return list(dict.fromkeys(row["model"] for row in rows_of(self.values)))

    @cached_property
    def spread(self) -> nw.DataFrame[Any]:
        """How the values of lists spread."""
        return eager_result(self.rec.describe(self.by_list, **self.confidence, **self.given))

    @cached_property
    def compared(self) -> nw.DataFrame[Any] | None:
        """The comparison of the models, of which there are several."""
        return self.compare(self.by_list) if self.by_list and len(self.models) > 1 else None

    def compare(self, metrics: Sequence[str | Metric], **roles: Any) -> nw.DataFrame[Any]:
        """Return the comparison of some metrics."""
        how = {"baseline": self.baseline, "correction": self.correction}
        return eager_result(self.rec.compare(metrics, **how, **self.confidence, **self.given, **roles))

    def layout(self, result: nw.DataFrame[Any], decided: Decided | None = None) -> Layout:
        """Return a result as a table, whose means are bold by what was decided."""
        look = Look(DIGITS, self.options.confidence, decided=decided or Decided(), letters=False)
        return layout_of(columns_of(result), self.records, look)

    @property
    def decided(self) -> Decided:
        """What the comparison decides about the models."""
        if self.compared is None:
            return Decided()
        return decided_of(columns_of(self.compared), list(map(label_text, self.models)), self.records)

    def with_means(self, metrics: Sequence[str | Metric]) -> list[str | Metric]:
        """Return the metrics that have a mean, of one model at least: charts of others would be empty."""
        columns = {metric: metric if isinstance(metric, str) else metric.label for metric in metrics}
        return [metric for metric in metrics if self.values.get_column(columns[metric]).fill_nan(None).count()]

    def call(self) -> Call:
        """Return the frame with its roles, for the data of charts."""
        return Call(self.frame, self.bound, self.given, MEANS)


def write_report(
    rec: Any, frame: Any, bound: Mapping[str, Any], path: Any, metrics: Any, k: Any, title: Any, **roles: Any
) -> None:
    """Write a report; see `Rec.report`."""
    charts.altair()
    target = as_path(path)
    if target.suffix.lower() not in ("", ".html", ".htm"):
        msg = f"{str(path)!r} ends in {target.suffix!r}, but a report is HTML"
        raise OptionError(msg, f"end it in .html: {str(target.with_suffix('.html'))!r}")
    check_directory(target)  # before all work, not after it
    if title is not None and not isinstance(title, str):
        msg = f"title={quoted(title)} is not text"
        raise OptionTypeError(msg, "title='Models of May'")
    own = {name: roles.pop(name) for name in ("baseline", "correction", "confidence", "cluster")}
    choice("correction", own["correction"], ("holm", "bonferroni", "bh", "none", "maxt", "romano-wolf", "dunnett"))
    per = roles.pop("per", None)
    call = Call(frame, bound, roles, MEANS)
    options = call.options(own["confidence"], own["cluster"])
    plan = call.plan(metrics, k, options)
    specs = expand(metrics, k, {**bound, **roles}.get("like"))
    report = ReportQuery(rec, frame, bound, specs, roles, per, own["baseline"], own["correction"], options, plan)
    models = report.models
    baseline = own["baseline"]
    if baseline is not None and not any(type(model) is type(baseline) and model == baseline for model in models):
        msg = f"baseline={quoted(baseline)} is not one of the models {', '.join(map(repr, models))}"
        raise OptionError(msg, closest(baseline, map(str, models)))
    text = page.page(title or TITLE, list(_sections(report)), "Written by recframe.")
    write_whole(target, text.encode())


def _sections(report: ReportQuery) -> Iterator[page.Section]:
    drawn = [page.chart_html(chart, number) for number, chart in enumerate(_charts(report))]
    compared = report.compared
    if compared is not None:
        yield page.Section("Verdict", _verdicts(report, rows_of(compared)))
    yield page.Section("Data", _data(report))
    if compared is not None:
        yield page.Section("Comparison", _forest(report, compared, "forest") + page.table_html(report.layout(compared)))
    yield page.Section("Means", page.table_html(report.layout(report.values, report.decided)))
    if compared is not None and report.per is not None:
        yield page.Section("Segments", _segments(report))
    if drawn:
        yield page.Section("Charts", page.figures_html(drawn))
    if report.by_list:
        yield page.Section("How values of lists spread", page.table_html(report.layout(report.spread)), folded=True)
    count, found = _check(report)
    yield page.Section(f"Check of the data: {count} finding{'' if count == 1 else 's'}", found, folded=True)
    yield page.Section("What was computed", _explained(report), folded=True)


def _verdicts(report: ReportQuery, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what is decided about each pair of models: in the first metric, and below it in the others."""
    drawn = []
    for first, *others in verdicts.by_pair(rows):
        confidence = report.options.confidence
        lines = [page.paragraph(verdicts.numbers(first, confidence))]
        lines += [page.note(f"{row['verdict']}: {verdicts.numbers(row, confidence)}") for row in others]
        kind = str(first["verdict"]).replace(" ", "-")
        drawn.append(page.item_html(kind, verdicts.sentence(first), "\n".join(lines)))
    shown, rest = drawn[:MOST_VERDICTS], drawn[MOST_VERDICTS:]
    more = page.folded(f"{len(rest):,} more pairs of models", "\n".join(rest)) if rest else ""
    return "\n".join(shown) + more


def _data(report: ReportQuery) -> str:
    """Return when and of what the report is."""
    counted = nw.from_native(report.frame).select(nw.len().alias("rows"))
    facts = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "recframe": sys.modules[__name__.partition(".")[0]].__version__,  # the package itself imports this module
        "rows": f"{rows_of(eager_result(counted.to_native()))[0]['rows']:,}",
    }
    if report.by_list:
        rows = rows_of(report.spread)
        facts["lists"] = f"{max(row['lists'] + row['undefined'] for row in rows):,}"
    if report.models:
        facts["models"] = ", ".join(visible(str(model)) for model in report.models)
    if report.compared is not None:
        facts["baseline"] = "all pairs" if report.baseline is None else visible(str(report.baseline))
    cutoffs = sorted({metric.cutoff for metric in report.plan.metrics if metric.cutoff is not None})
    facts |= {"cutoffs": ", ".join(map(str, cutoffs))} if cutoffs else {}
    facts |= {"confidence": chart_texts.percent(report.options.confidence)}
    return page.facts_html(facts)


def _forest(report: ReportQuery, compared: nw.DataFrame[Any], name: str) -> str:
    """Return the forest plot of each metric under which a pair of models has a difference."""
    by_metric: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows_of(compared):
        if row["difference"] is not None:
            by_metric.setdefault(row["metric"], []).append(row)
    plots = (chart_of(rows, report.records, report.models) for rows in by_metric.values())
    return page.figures_html([page.chart_html(plot, f"{name}-{number}") for number, plot in enumerate(plots)])


def _segments(report: ReportQuery) -> str:
    """Return the differences in each segment under the first metric, the largest first."""
    compared = report.compare(report.by_list[:1], per=report.per)
    ordered = compared.sort("difference", descending=True, nulls_last=True)
    layout = report.layout(ordered)
    few = [count is not None and count < FEW_LISTS for count in ordered.get_column("lists").to_list()]
    layout.mark("lists", few, f"of fewer than {FEW_LISTS} lists: one list can move the difference")
    return _forest(report, ordered, "segments") + page.table_html(layout)


def _charts(report: ReportQuery) -> Iterator[Any]:
    """Return the charts: of the first metric that has a value per list, and over cutoffs of all that accept one."""
    from recframe._display.plot import Plot

    plot, roles = Plot(report.frame, report.bound), dict(report.given)
    yield from _of_cutoffs(report)
    by_list = report.with_means(report.by_list)
    if not by_list:
        return
    first = by_list[0]
    yield from _of_lists(report, first)
    if report.per is not None:
        call = Call(report.frame, report.bound, {**roles, "per": report.per}, BY_SEGMENT)
        averages, name = by_segment("segments", call, first, None, report.options)
        yield segments_of(averages, name, report.options)
        if _is_time(averages):
            yield trend_of(averages, name, report.options)
    others = [metric for metric in report.with_means(report.metrics) if metric != first]
    if others and len(report.models) > 1:
        together = [metric for metric in others if metric not in report.by_list]
        yield plot.tradeoff(first, (together or others)[0], **report.confidence, **roles)


def _of_cutoffs(report: ReportQuery) -> Iterator[Any]:
    """Return the chart over cutoffs, if a metric has one."""
    cut = [spec for spec in report.specs if _has_cutoff(spec.metric)]
    if cut:
        last = max(CURVE, *(spec.metric.cutoff or 1 for spec in cut))
        cutoffs = sorted({round(1 + step * (last - 1) / (CURVE - 1)) for step in range(CURVE)})
        without = {spec.at(None).name: spec.at(None).as_given for spec in cut}
        plan = report.call().plan(list(without.values()), cutoffs, report.options)
        averages = means(plan, report.options)
        if any(mean.mean is not None for mean in averages):
            yield charts.curves(averages, report.options.confidence, columns=1)


def _has_cutoff(metric: Metric) -> bool:
    return isinstance(metric, CutMetric) and not isinstance(metric, ExposureMetric)


def _of_lists(report: ReportQuery, metric: str | Metric) -> Iterator[Any]:
    """Return the charts of the values of lists: their distribution, and differences to the baseline."""
    by_model = values_of(report.call().one("report", metric, None))
    metric = by_model.metric
    if by_model.lists == 0:
        return
    yield charts.distribution(histogram(by_model), metric, by_model.lists, by_model.means)
    baseline = 0 if report.baseline is None else by_model.models.index(str(report.baseline))
    others = [number for number in range(len(by_model.models)) if number != baseline]
    for number in others[:MOST_CHARTS]:
        pair = by_model.of([baseline, number])
        if pair.shared:
            yield charts.differences(sorted_differences(pair), metric, by_model.models)


def _is_time(averages: Sequence[Mean]) -> bool:
    """Return whether segments are values of one column of dates or times."""
    return (
        all(len(mean.segment) == 1 for mean in averages)
        and chart_dates.places([mean.segment[0] for mean in averages])[0] == "T"
    )


def _check(report: ReportQuery) -> tuple[int, str]:
    """Return how many findings there are, and their table."""
    allowed = CALL_ROLES["check"]
    roles = {name: value for name, value in report.given.items() if name in allowed}
    cutoffs = {metric.cutoff for metric in report.plan.metrics if metric.cutoff is not None}
    rows = rows_of(eager_result(report.rec.check(min(cutoffs, default=None), **roles)))
    findings = [row for row in rows if row["count"]]
    if not findings:
        return 0, page.paragraph("Nothing was found.")
    layout = Layout()
    for name in ("model", "finding", "severity", "count", "share", "meaning"):
        if name in findings[0]:
            cells = [number_text(row[name], 3) if name in ("count", "share") else str(row[name]) for row in findings]
            layout.add(name, cells, numeric=name in ("count", "share"))
    return len(findings), page.table_html(layout)


def _explained(report: ReportQuery) -> str:
    every = {**report.bound, **report.given}
    policies = {name: every[name] for name in EXPLAINED if name in every}
    like = {"like": every["like"]} if every.get("like") is not None else {}
    # Cutoffs change a value, not its definition, so a metric is explained once.
    first = {spec.at(None).name if _has_cutoff(spec.metric) else spec.name: spec for spec in reversed(report.specs)}
    texts = [str(explain(spec.as_given, **like, **policies)) for spec in reversed(first.values())]
    return "\n".join(map(page.text_html, texts))
