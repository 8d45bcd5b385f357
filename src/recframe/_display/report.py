"""The content of a report: verdicts, data, means and charts; folded: quantiles, findings and definitions."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.defaults import current
from recframe._base.roles import CALL_ROLES, EXPLAINED
from recframe._base.values import as_tuple, check_names, choice
from recframe._call.evaluate import expand
from recframe._checks.findings import meaning_of
from recframe._data.files.paths import as_path, check_directory, write_atomically
from recframe._display import chart_texts, charts, page, report_charts, verdict_charts, verdicts
from recframe._display.cells import number_text
from recframe._display.data import MEANS
from recframe._display.forest import chart_of
from recframe._display.frames import eager_result, grouped, rows_of
from recframe._display.layout import Layout
from recframe._display.model_verdicts import record_of
from recframe._display.report_query import ReportQuery, options_of
from recframe._display.report_runs import ReportRuns
from recframe._engines.postponed import is_dry
from recframe._engines.sharing import sharing
from recframe._inference.comparison.options import SIMULTANEOUS
from recframe._inference.lists.paired_sums import model_number
from recframe.errors import OptionError
from recframe.profiles import explain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._plan.request import Request

ALARMING = ("error", "warning")
"""The findings that are shown above the verdicts, the most severe first."""
SEVERITIES = (*ALARMING, "note")
MOST_NAMED = 4
"""The most models that a finding above the verdicts names."""
HAS_VERDICT = "has a verdict"
FEW_LISTS = 30
"""Segments of fewer lists are marked: one list can move their difference."""
TITLE = "Evaluation of recommendations"


def write_report(
    rec: Any, request: Request, path: Any, metrics: Any, k: Any, title: Any, per: Any, baseline: Any, **how: Any
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
    check_names(request.roles, MEANS)
    options = options_of(request, how["confidence"], how["cluster"])
    runs = None
    if how["runs"] is not None:
        refused = {
            f"`per={per!r}`": per is not None,
            f"`correction={how['correction']!r}`": how["correction"] in SIMULTANEOUS,
        }
        runs = ReportRuns.of(request, how["runs"], refused, options.cluster)
    with sharing() as shared:
        specs = expand(metrics, k, {**current(), **request.named}.get("like"))
        if runs is not None:
            runs.check([spec.metric for spec in specs])
        cutoffs = [spec.metric.cutoff for spec in specs if not spec.metric.cuts_at_relevant]
        shared.upto = None if None in cutoffs else max([report_charts.CURVE, *filter(None, cutoffs)])
        report = ReportQuery(rec, request, specs, per, baseline, how["correction"], how["margin"], options, runs)
        if baseline is not None:
            model_number(report.models, baseline)
        # Altair checks each part of a chart against its schema, which takes longer than the evaluation.
        with altair.utils.schemapi.debug_mode(arg=False):
            text = page.html_of(_page(report, title or TITLE))
    if not is_dry():
        write_atomically(target, text.encode())


def _page(report: ReportQuery, title: str) -> page.Page:
    """Return the content of a report."""
    drawn = [page.chart_svg(chart, number) for number, chart in enumerate(report_charts.charts_of(report))]
    compared = report.compared
    findings = _findings(report)
    sections = []
    if compared is not None:
        sections.append(_verdict_section(report, rows_of(compared)))
        charts_of_pairs = _forest(report, compared, "forest")
        layout = report.layout(compared)
        sections.append(page.Section("comparison", "Comparison", charts=charts_of_pairs, layout=layout))
    means = report.layout(report.means, report.verdicts)
    notes = report.runs.notes if report.runs is not None and compared is None else []
    sections.append(page.Section("means", "Means", notes=notes, layout=means))
    if compared is not None and report.per is not None:
        sections.append(_segment_section(report))
    if drawn:
        sections.append(page.Section("charts", "Charts", charts=drawn))
    if report.list_metrics:
        spread = report.layout(report.spread)
        sections.append(page.Section("spread", "How values of lists spread", layout=spread, folded=True))
    sections.append(_check_section(findings))
    sections.append(page.Section("definitions", "What was computed", texts=_explained(report), folded=True))
    alarms = [finding for finding in findings if finding.severity in ALARMING]
    kinds = {finding.severity for finding in alarms}
    version = sys.modules[__name__.partition(".")[0]].__version__  # the package itself imports this module
    return page.Page(
        title, _facts(report), sections, f"Written by recframe {version}.", _merged(alarms),
        "errors" if "error" in kinds else "warnings", _counted(alarms),
    )  # fmt: skip


def _verdict_section(report: ReportQuery, rows: Sequence[Mapping[str, Any]]) -> page.Section:
    """Return the verdict on each pair of models: first by the first metric, then by the other metrics."""
    pairs = grouped(rows, _pair)
    in_segments = _in_segments(report)
    items = [
        verdicts.item(rows_of_pair, report.options.confidence, in_segments.get(pair))
        for pair, rows_of_pair in pairs.items()
    ]
    notes = [_correction_text(report, sum(row["p_adjusted"] is not None for row in rows), in_segments)]
    if report.margin is not None:
        notes.append(f"Not worse, and equivalent: by a margin of {_margin_text(report.margin)}.")
    notes += [] if report.runs is None else report.runs.notes
    return page.Section("verdict", "Verdict", items=items, notes=notes)


def _correction_text(
    report: ReportQuery, tested: int, in_segments: Mapping[tuple[str, str], verdicts.InSegments]
) -> str:
    """Return a sentence that says how many tests the p-values are adjusted for."""
    segment_tests = sum(len(segments.rows) for segments in in_segments.values())
    if report.correction == "none":
        return "No p-value is adjusted for the number of tests."
    sentence = "There is one test" if tested == 1 else f"The p-values are adjusted for the {tested:,} tests"
    also = f"; those in segments for {segment_tests:,} tests of their own" if segment_tests else ""
    return f"{sentence} of all pairs and metrics{also} (correction={report.correction!r})."


def _margin_text(margin: Any, *, short: bool = False) -> str:
    """Return a margin in words, or one for each of some metrics."""
    if isinstance(margin, Mapping):
        return ", ".join(f"{_margin_text(each, short=short)} for {name}" for name, each in margin.items())
    return f"{margin} of the baseline's mean" if isinstance(margin, str) and not short else str(margin)


def _pair(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the pair of models that a row is about, as text: names may be of types that are no key."""
    return repr(row["model"]), repr(row["baseline"])


def _in_segments(report: ReportQuery) -> dict[tuple[str, str], verdicts.InSegments]:
    """Return the verdict on each pair of models in each segment, by the first metric."""
    if report.compared_segments is None:
        return {}
    rows = rows_of(report.compared_segments)
    names = chart_texts.segment_texts([tuple(row.values())[: list(row).index("metric")] for row in rows])
    per = chart_texts.short(", ".join(map(str, as_tuple(report.per))))
    by_pair = {}
    for pair, named in grouped(zip(names, rows, strict=True), lambda each: _pair(each[1])).items():
        record = record_of(str(named[0][1]["metric"]), report.records)
        rows_of_pair = [row for _, row in named]
        higher = record is None or record.higher_is_better
        by_pair[pair] = verdicts.InSegments(per, [name for name, _ in named], rows_of_pair, higher)
    return by_pair


def _facts(report: ReportQuery) -> list[str]:
    """Return the date and the subject of the report, as short texts."""
    counted = nw.from_native(report.request.frame).select(nw.len().alias("rows"))
    rows = rows_of(eager_result(counted.to_native()))[0]["rows"]
    facts = []
    if report.list_metrics:
        most = max((row["lists"] + row["undefined"] for row in rows_of(report.spread)), default=0)
        facts.append(chart_texts.lists_text(most))
    facts.append(f"{rows:,} {'row' if rows == 1 else 'rows'}")
    if report.models:
        name_of = chart_texts.name_of if report.runs is None else report.runs.named
        facts.append(f"models {', '.join(map(name_of, report.models))}")
    elif report.runs is not None:
        facts.append(report.runs.number_of(None))
    if report.compared is not None:
        facts.append("all pairs" if report.baseline is None else f"against {chart_texts.name_of(report.baseline)}")
    facts += [f"k = {', '.join(map(str, report.cutoffs))}"] if report.cutoffs else []
    facts.append(f"{chart_texts.percent(report.options.confidence)} confidence")
    facts += [f"margin {_margin_text(report.margin, short=True)}"] if report.margin is not None else []
    return [*facts, f"{datetime.now(UTC):%Y-%m-%d}"]


def _forest(report: ReportQuery, compared: nw.DataFrame[Any], name: str) -> list[Any]:
    """Return a forest plot for each metric under which a pair of models has a difference, all with the same zero."""
    differences = (row for row in rows_of(compared) if row["difference"] is not None)
    by_metric = grouped(differences, itemgetter("metric"))
    zero = verdict_charts.zero_of(by_metric.values())
    plots = (chart_of(rows, report.records, zero) for rows in by_metric.values())
    return [page.chart_svg(plot, f"{name}-{number}") for number, plot in enumerate(plots)]


def _segment_section(report: ReportQuery) -> page.Section:
    """Return the differences in each segment under the first metric, the largest first."""
    compared: Any = report.compared_segments
    with_verdicts = compared.with_columns((nw.col("verdict") != "open").fill_null(value=False).alias(HAS_VERDICT))
    by_weight = with_verdicts.sort(HAS_VERDICT, "lists", descending=True, nulls_last=True).drop(HAS_VERDICT)
    shown, rest = (
        part.sort("difference", descending=True, nulls_last=True)
        for part in (by_weight.head(page.MOST_TABLE_ROWS), by_weight[page.MOST_TABLE_ROWS :])
    )
    ordered = nw.concat([shown, rest])
    layout = report.layout(ordered)
    few = [count is not None and count < FEW_LISTS for count in ordered.get_column("lists").to_list()]
    layout.add_daggers("lists", few, f"of fewer than {FEW_LISTS} lists: one list can move the difference")
    some = f"{len(shown)} of {len(ordered):,}: those with a decision first, then those with the most lists."
    drawn = _forest(report, shown, "segments")
    return page.Section("segments", "Segments", notes=[some] if len(rest) else [], charts=drawn, layout=layout)


@dataclass(frozen=True)
class Finding:
    """What `check` found in a model's lists, or in the frame."""

    severity: str
    finding: str
    meaning: str
    where: str
    """How often it was found, with the name of the model if there are several."""
    often: str
    """How often it was found."""
    row: Mapping[str, Any]


def _findings(report: ReportQuery) -> list[Finding]:
    """Return what `check` finds."""
    allowed = CALL_ROLES["check"]
    roles = {name: value for name, value in report.request.roles.items() if name in allowed}
    levels = [spec.min_relevance for spec in report.specs if spec.min_relevance is not None]
    roles |= {"min_relevance": levels[0]} if levels else {}
    rec = report.rec
    if report.runs is not None:
        # A list has the rows of one run.
        frame, roles["model"] = report.runs.frame_of_runs
        rec = type(rec)(frame, report.request.bound)
    rows = rows_of(eager_result(rec.check(min(report.cutoffs, default=None), **roles)))
    findings = []
    for row in rows:
        if row["count"]:
            share = "" if row["share"] is None else f", {row['share']:.0%}"
            often = f"{row['count']:,}{share}"
            where = f"{chart_texts.name_of(row['model'])}: {often}" if "model" in row else often
            meaning = meaning_of(row["finding"])
            findings.append(Finding(row["severity"], row["finding"], meaning, where, often, row))
    return findings


def _merged(findings: Sequence[Finding]) -> list[Finding]:
    """Return one finding of each kind for all models together, errors first."""
    together = grouped(findings, lambda finding: (ALARMING.index(finding.severity), finding.finding))
    merged = []
    for key in sorted(together):
        first, *others = together[key]
        if others and len({finding.often for finding in together[key]}) == 1:
            merged.append(replace(first, where=f"each of {len(others) + 1} models: {first.often}"))
            continue
        where = "; ".join(finding.where for finding in (first, *others[: MOST_NAMED - 1]))
        more = f"; {len(others) - MOST_NAMED + 1} more models" if len(others) >= MOST_NAMED else ""
        merged.append(replace(first, where=where + more))
    return merged


def _counted(findings: Sequence[Finding]) -> str:
    """Return in words how many kinds of findings have each severity. A kind that several models have counts once."""
    severities = [severity for severity, _ in {(finding.severity, finding.finding) for finding in findings}]
    counts = [(severities.count(name), name) for name in SEVERITIES]
    return ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts if count)


def _check_section(findings: Sequence[Finding]) -> page.Section:
    """Return the table of what `check` found."""
    if not findings:
        return page.Section("check", "Check of the data: 0 findings", empty="Nothing was found.", folded=True)
    layout = Layout()
    for name in ("model", "finding", "severity", "count", "share", "meaning"):
        if name in findings[0].row:
            values = [finding.meaning if name == "meaning" else finding.row[name] for finding in findings]
            numeric = name in ("count", "share")
            layout.add(name, [number_text(value, 3) if numeric else str(value) for value in values], numeric=numeric)
    return page.Section("check", f"Check of the data: {_counted(findings)}", layout=layout, folded=True)


def _explained(report: ReportQuery) -> list[str]:
    """Return the definition of each metric."""
    named = report.request.named
    policies = {name: named[name] for name in (*EXPLAINED, "like") if name in named}
    # Cutoffs change a value, not its definition, so a metric is explained once.
    first = {
        spec.at(None).name if report_charts.cuts_each_list(spec.metric) else spec.name: spec
        for spec in reversed(report.specs)
    }
    return [str(explain(spec.as_named, **policies)) for spec in reversed(first.values())]
