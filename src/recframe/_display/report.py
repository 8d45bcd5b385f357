"""What a report says: what is decided, of what data, means, charts; folded: quantiles, findings, definitions."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._arguments import CALL_ROLES, EXPLAINED
from recframe._display import chart_texts, charts, page, report_charts, verdicts
from recframe._display.cells import number_text
from recframe._display.forest import chart_of
from recframe._display.frames import eager_result, grouped, rows_of
from recframe._display.layout import Layout
from recframe._display.report_query import ReportQuery
from recframe._engines.postponed import is_dry
from recframe._evaluate import expand
from recframe._files.paths import as_path, check_directory, write_whole
from recframe._lists.paired_sums import model_number
from recframe._values import choice
from recframe.errors import OptionError
from recframe.profiles import explain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recframe._display.data import Call

MOST_VERDICTS = 12
"""The most pairs of models whose verdicts are shown at once."""
DECIDED = "decided by the verdict"
FEW_LISTS = 30
"""Segments of fewer lists are marked: one list can move their difference."""
TITLE = "Evaluation of recommendations"


def write_report(
    rec: Any, call: Call, path: Any, metrics: Any, k: Any, title: Any, per: Any, baseline: Any, **how: Any
) -> None:
    """Write a report; see `Rec.report`."""
    altair = charts.altair()
    target = as_path(path)
    if target.suffix.lower() not in ("", ".html", ".htm"):
        msg = f"{str(path)!r} ends in {target.suffix!r}, but a report is HTML"
        raise OptionError(msg, f"end it in .html: {str(target.with_suffix('.html'))!r}")
    check_directory(target)  # before all work, not after it
    chart_texts.check_title(title)
    choice("correction", how["correction"], ("holm", "bonferroni", "bh", "none", "maxt", "romano-wolf", "dunnett"))
    options = call.options(how["confidence"], how["cluster"])
    plan = call.plan(metrics, k, options)
    specs = expand(metrics, k, {**call.bound, **call.keywords}.get("like"))
    report = ReportQuery(rec, call, specs, per, baseline, how["correction"], options, plan)
    if baseline is not None:
        model_number(report.models, baseline)
    # Altair checks each part of a chart against its schema, which takes longer than the evaluation; these are our own.
    with altair.utils.schemapi.debug_mode(arg=False):
        text = page.page(title or TITLE, list(_sections(report)), "Written by recframe.")
    if not is_dry():
        write_whole(target, text.encode())


def _sections(report: ReportQuery) -> Iterator[str]:
    drawn = [page.chart_html(chart, number) for number, chart in enumerate(report_charts.charts_of(report))]
    compared = report.compared
    if compared is not None:
        yield page.section("Verdict", _verdicts(report, rows_of(compared)))
    yield page.section("Data", _data(report))
    if compared is not None:
        yield page.section("Comparison", _forest(report, compared, "forest") + page.table_html(report.layout(compared)))
    yield page.section("Means", page.table_html(report.layout(report.values, report.decided)))
    if compared is not None and report.per is not None:
        yield page.section("Segments", _segments(report))
    if drawn:
        yield page.section("Charts", page.figures_html(drawn))
    if report.by_list:
        yield page.section("How values of lists spread", page.table_html(report.layout(report.spread)), folded=True)
    count, found = _check(report)
    yield page.section(f"Check of the data: {count} finding{'' if count == 1 else 's'}", found, folded=True)
    yield page.section("What was computed", _explained(report), folded=True)


def _verdicts(report: ReportQuery, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what is decided about each pair of models: in the first metric, and below it in the others."""
    drawn = []
    for first, *others in grouped(rows, lambda row: (repr(row["model"]), repr(row["baseline"]))).values():
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
    counted = nw.from_native(report.call.frame).select(nw.len().alias("rows"))
    facts = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "recframe": sys.modules[__name__.partition(".")[0]].__version__,  # the package itself imports this module
        "rows": f"{rows_of(eager_result(counted.to_native()))[0]['rows']:,}",
    }
    if report.by_list:
        most = max((row["lists"] + row["undefined"] for row in rows_of(report.spread)), default=0)
        facts["lists"] = f"{most:,}"
    if report.models:
        facts["models"] = ", ".join(map(chart_texts.name_of, report.models))
    if report.compared is not None:
        facts["baseline"] = "all pairs" if report.baseline is None else chart_texts.name_of(report.baseline)
    cutoffs = sorted({metric.cutoff for metric in report.plan.metrics if metric.cutoff is not None})
    facts |= {"cutoffs": ", ".join(map(str, cutoffs))} if cutoffs else {}
    facts |= {"confidence": chart_texts.percent(report.options.confidence)}
    return page.facts_html(facts)


def _forest(report: ReportQuery, compared: nw.DataFrame[Any], name: str) -> str:
    """Return the forest plot of each metric under which a pair of models has a difference."""
    differences = (row for row in rows_of(compared) if row["difference"] is not None)
    by_metric = grouped(differences, itemgetter("metric"))
    plots = (chart_of(rows, report.records) for rows in by_metric.values())
    return page.figures_html([page.chart_html(plot, f"{name}-{number}") for number, plot in enumerate(plots)])


def _segments(report: ReportQuery) -> str:
    """Return the differences in each segment under the first metric, the largest first."""
    compared = report.compare(report.by_list[:1], per=report.per)
    decided = compared.with_columns((nw.col("verdict") != "open").fill_null(value=False).alias(DECIDED))
    by_weight = decided.sort(DECIDED, "lists", descending=True, nulls_last=True).drop(DECIDED)
    shown, rest = (
        part.sort("difference", descending=True, nulls_last=True)
        for part in (by_weight.head(page.MOST_TABLE_ROWS), by_weight[page.MOST_TABLE_ROWS :])
    )
    ordered = nw.concat([shown, rest])
    layout = report.layout(ordered)
    few = [count is not None and count < FEW_LISTS for count in ordered.get_column("lists").to_list()]
    layout.mark("lists", few, f"of fewer than {FEW_LISTS} lists: one list can move the difference")
    some = f"{len(shown)} of {len(ordered):,}: those with a decision first, then those with the most lists."
    note = page.note(some) if len(rest) else ""
    return note + _forest(report, shown, "segments") + page.table_html(layout)


def _check(report: ReportQuery) -> tuple[int, str]:
    """Return how many findings there are, and their table."""
    allowed = CALL_ROLES["check"]
    roles = {name: value for name, value in report.call.keywords.items() if name in allowed}
    cutoffs = {metric.cutoff for metric in report.plan.metrics if metric.cutoff is not None}
    if any(spec.min_relevance is not None for spec in report.specs):
        roles["min_relevance"] = report.plan.context.query.min_relevance
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
    every = {**report.call.bound, **report.call.keywords}
    policies = {name: every[name] for name in (*EXPLAINED, "like") if name in every}
    # Cutoffs change a value, not its definition, so a metric is explained once.
    first = {
        spec.at(None).name if report_charts.has_cutoff(spec.metric) else spec.name: spec
        for spec in reversed(report.specs)
    }
    texts = [str(explain(spec.as_named, **policies)) for spec in reversed(first.values())]
    return "\n".join(map(page.text_html, texts))
