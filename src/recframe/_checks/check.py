"""Check a frame before any metric is computed from it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import ITEM, MODEL
from recframe._base.roles import CALL_ROLES
from recframe._base.values import flag
from recframe._checks import rows
from recframe._checks.findings import FINDINGS, HAS_MODEL
from recframe._checks.lists import count_dependent_lists, count_lists
from recframe._checks.opened import FramesToCheck
from recframe._engines.registry import adapter_of, is_lazy
from recframe._plan.sum_columns import literal
from recframe.errors import InputError, OptionError
from recframe.metrics._record import check_k

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._checks.findings import Finding
    from recframe._checks.opened import FindingCounts
    from recframe._plan.request import Request

FINDING = "finding"
SEVERITY = "severity"
COUNT = "count"
SHARE = "share"
MEANING = "meaning"
TOTAL = "total"
ORDER = "order"
PLACE = "place of the finding"


def check(request: Request, k: Any, *, strict: bool, absent: bool = False) -> Any:
    """Return the findings as a frame of the kind given, or raise for the errors among them.

    With `absent`, findings with the count 0 have a row too, and the rows of a model stand together. Otherwise the
    severe findings come first, whatever their model.
    """
    frame = request.frame
    absent = flag("all", absent)
    if flag("strict", strict) and is_lazy(frame) and not adapter_of(frame).postpones:
        msg = "`strict=True` needs the data, which a lazy frame does not have yet"
        raise OptionError(msg, f"`strict=False`, or {adapter_of(frame).remedy}")
    truth = request.named.get("truth")
    query = request.query(CALL_ROLES["check"], truth)
    cutoff = check_k(k)
    opened = FramesToCheck(frame, truth, query, request.named.get("train"))
    table = _findings(opened, cutoff)
    if strict:
        _refuse(opened, table)
    model = [MODEL] if query.several else []
    if not absent:
        table = table.filter(nw.col(COUNT) > 0).with_columns((nw.col(ORDER) % len(FINDINGS)).alias(PLACE))
        table = table.sort(PLACE, *opened.long, ORDER, nulls_last=True)
    # The ends are the answer, because a terminal of 80 columns hides the middle.
    result = table.select(*model, FINDING, SEVERITY, SHARE, COUNT, MEANING)
    return opened.session.finish(result, {}, opened.long if absent else [])


def _findings(opened: FramesToCheck, k: int | None) -> Frame:
    """Return a row for each model and each kind of finding."""
    shared = _parts_of_frame(opened)
    parts = [part for index in range(len(opened.query.orders)) for part in _findings_of_model(opened, index, k, shared)]
    table = opened.engine.stack(parts)
    # A finding without a count needs a column that the frame lacks, so it was not checked.
    table = table.filter(~nw.col(COUNT).is_null())
    share = nw.when(nw.col(TOTAL) > 0).then(nw.col(COUNT) / nw.col(TOTAL)).otherwise(0.0)
    table = table.with_columns(share.alias(SHARE)).with_columns(nw.col(COUNT).cast(nw.Int64()))
    return opened.engine.collect_once(table.sort(*opened.long, ORDER, nulls_last=True))


def _findings_of_model(
    opened: FramesToCheck, index: int, k: int | None, shared: Sequence[FindingCounts]
) -> list[Frame]:
    """Return the findings of one model, each as a frame with one row."""
    parts = {name: part for names, part in (*_parts_of_model(opened, index, k), *shared) for name in names}
    model = MODEL if opened.long else literal(MODEL, opened.query.model_name(index))
    tables = []
    for number, finding in enumerate(FINDINGS):
        if finding.name in parts:
            order = literal(ORDER, index * len(FINDINGS) + number)
            columns = model, *_finding_columns(finding, needy=finding.needs in opened.optional), order
            tables.append(parts[finding.name].select(*columns))
    return tables


@lru_cache(2 * len(FINDINGS))
def _finding_columns(finding: Finding, *, needy: bool) -> list[nw.Expr]:
    """Return the columns of a finding. They are cached, because Narwhals converts each expression only once.

    `needy` says whether the frame may lack a column that the finding needs.
    """
    count = nw.col(finding.name)
    count = nw.when(nw.col(finding.needs) > 0).then(count) if needy else count
    numbers = [count.alias(COUNT), nw.col(finding.of).alias(TOTAL)]
    texts = {FINDING: finding.name, SEVERITY: finding.severity, MEANING: finding.brief}
    return [*numbers, *(literal(name, text) for name, text in texts.items())]


def _parts_of_model(opened: FramesToCheck, index: int, k: int | None) -> list[FindingCounts]:
    """Return the counts of findings that one model has."""
    parts = [rows.count_scores_and_keys(opened, index), count_lists(opened, index, k)]
    return parts if opened.train is None else [*parts, rows.count_seen_items(opened, opened.train, index)]


def _parts_of_frame(opened: FramesToCheck) -> list[FindingCounts]:
    """Return the counts of findings that all models in wide format share."""
    parts = [rows.count_repeats(opened, opened.frame, opened.group, "duplicate_rows")]
    if len(opened.query.by) > 1:
        parts.append(count_dependent_lists(opened))
    if HAS_MODEL in opened.optional:
        parts.append(rows.count_unused_models(opened))
    if opened.query.min_relevance is not None:
        parts.append(rows.count_lower_grades(opened, opened.query.min_relevance))
    else:
        parts.append(rows.count_grades_without_zero(opened))
    if opened.truth is not None:
        parts.append(rows.count_repeats(opened, opened.truth, opened.keys, "duplicate_truth_rows"))
        parts.append(rows.count_unknown(opened, opened.truth, opened.keys, *rows.UNKNOWN["lists"]))
        parts.append(rows.count_unknown(opened, opened.truth, [ITEM], *rows.UNKNOWN["items"]))
        if opened.relevance_candidates is not None:
            parts.append(rows.count_assumed_relevance(opened, opened.truth, opened.relevance_candidates))
    return parts


def _refuse(opened: FramesToCheck, findings: Frame) -> None:
    """Raise if there are errors."""
    lines = []
    for finding in FINDINGS:
        if finding.severity == "error":
            counts = findings.filter(nw.col(FINDING) == finding.name).select(nw.col(COUNT).sum())
            if count := opened.engine.scalar(counts):
                lines.append(f"{finding.name}: {count} ({finding.meaning})")
    if lines:
        msg = "the frame has errors\n" + "\n".join(lines)
        raise InputError(msg, "without `strict=True`, check returns all findings")
