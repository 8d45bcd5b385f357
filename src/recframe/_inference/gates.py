"""Gates: values that must not be too low or too high, in Python and on the command line."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import narwhals as nw

from recframe._base.signatures import checked_call
from recframe._base.values import choice, number
from recframe._engines.base import values_of
from recframe._engines.registry import adapter_of, is_frame, is_lazy
from recframe._inference.lists.claims import Claims, Demand, correction_factor, rows_of
from recframe._inference.lists.result_notes import claims_of
from recframe.errors import (
    MissingColumnError,
    OptionError,
    OptionTypeError,
    RecError,
    ThresholdError,
    closest,
    quoted,
)
from recframe.profiles._spec import spec_of

ROUNDING_SHARE = 1e-13
"""A value passes if it misses its bound by at most this share of the bound: 0.56 may be 0.5599999999999999."""
ENDS = {"mean": "{}", "low": "the lower end of {}", "high": "the upper end of {}"}
"""How messages refer to the columns that `by` may name."""
NOT_DESCRIBED = "by={!r} is a column of describe, but the result is no frame of it"
SUFFICIENT = {"not worse": ("better", "equivalent", "not worse"), "better": ("better",)}
"""The verdicts that meet each demand. For "not worse", each of them rules out a loss of more than the margin."""
COMPARED = "require(df.rec.compare('ndcg@10', margin=0.01), verdict='not worse')"
DESCRIBED = "require(df.rec.describe('ndcg@10'), {'ndcg@10': 0.3}, by='high')"


@checked_call
def require(
    result: Any,
    least: float | Mapping[str, float] | None = None,
    *,
    most: float | Mapping[str, float] | None = None,
    by: Literal["mean", "low", "high"] | None = None,
    verdict: Demand | None = None,
) -> None:
    """Raise if a value is below what it must at least be, above what it may be, or missing; or a verdict falls short.

    A value suffices that misses its limit by rounding, at most 1e-13 of the limit.

    Parameters
    ----------
    result : float or frame
        What a metric's method, `evaluate`, or with `by` `describe`, or with `verdict` `compare` returned.
    least : float or mapping, optional
        What the value must at least be: a number for a float, ``{"ndcg@10": 0.30, "map": 0.2}`` for a frame.
    most : float or mapping, optional
        What the value may at most be, of metrics where lower is better, such as ``{"gini@10": 0.4}``.
    by : {"mean", "low", "high"}, default None
        Of a result of `describe`: which of its columns is judged. ``least=`` with ``"high"`` raises only if the whole
        interval of the mean is below, with ``"low"`` unless the whole interval is above; ``most=`` the other way round.
    verdict : {"not worse", "better"}, default None
        Of a result of `compare`: what each row must show. ``"not worse"`` is met by the verdicts ``"not worse"``,
        ``"equivalent"`` and ``"better"``: give `compare` a ``margin=``. All rows of a model must pass, so their
        p-values are corrected for the number of models only, not for the number of rows. A changed copy of a result
        has lost them: there, the column ``verdict`` decides, which is corrected for all rows.

    Raises
    ------
    ThresholdError
        A value is beyond its limit. The message has one line, which names each of them, and the model or segment.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "old": [0.9, 0.1], "new": [0.2, 0.7]})
    >>> recframe.require(df.rec.mrr(score="new"), 0.5)
    >>> recframe.require(df.rec.evaluate("mrr", score=["old", "new"]), {"mrr": 0.6})
    Traceback (most recent call last):
        ...
    recframe.errors.ThresholdError: mrr of model 'old' is 0.5, below 0.6
    >>> recframe.require(df.rec.describe("mrr", score="new"), {"mrr": 0.6}, by="mean")
    >>> recframe.require(df.rec.evaluate("rbp_residual", score="new"), most={"rbp_residual": 0.9})
    """
    if verdict is None:
        failures = values_out_of_bounds(result, least, most, by)
    else:
        if any(each is not None for each in (least, most, by)):
            msg = f"verdict={verdict!r} judges verdicts, so it does not go with least=, most= and by="
            raise OptionError(msg, "call require twice")
        failures = verdict_failures(result, verdict)
    if failures:
        raise ThresholdError("; ".join(failures))


def verdict_failures(result: Any, demand: Demand) -> list[str]:
    """Return a phrase for each row of a result of `compare` that falls short of a demand.

    Parameters
    ----------
    result : frame
        What `compare` returned.
    demand : {"not worse", "better"}
        What each row must show.
    """
    choice("verdict", demand, tuple(SUFFICIENT))
    _refuse_lazy(result)
    frame = adapter_of(result).as_result(result) if is_frame(result) else None
    if frame is None or not {"metric", "difference", "p_adjusted", "verdict"} <= {*frame.columns}:
        msg = f"verdict={demand!r} judges a result of compare, but the result is no frame of it"
        raise OptionTypeError(msg, COMPARED)
    if not len(frame):
        return [f"the result has no rows, but each must be {demand!r}"]
    segments = frame.columns[: frame.columns.index("metric")]
    models = [name for name in ("model", "baseline") if name in frame.columns]
    names = (*segments, *models, "metric", "difference", "p_adjusted", "verdict")
    rows = [dict(zip(names, row, strict=True)) for row in zip(*(values_of(frame[name]) for name in names), strict=True)]
    claims = claims_of(result)
    if claims is None or rows_of(frame) != claims.rows:
        failed = [row for row in rows if row["verdict"] not in SUFFICIENT[demand]]
        return [_shortfall_text(row, segments, demand, None, _p_adjusted(row)) for row in failed]
    return _failed_claims(rows, segments, demand, claims)


def _failed_claims(
    rows: Sequence[Mapping[Any, Any]], segments: Sequence[Any], demand: Demand, claims: Claims
) -> list[str]:
    """Return a phrase for each row whose p-value is too large for a demand."""
    p_values = claims.p_values[demand]
    models = [row.get("model") for row in rows]
    times = correction_factor(p_values, models, claims.correction, claims.level)
    adjusted = f", adjusted for {len({*models})} models," if times > 1 else ""
    phrases = []
    margins = claims.margins if demand == "not worse" else [None] * len(rows)
    for row, p, margin in zip(rows, p_values, margins, strict=True):
        if row["verdict"] in SUFFICIENT[demand] or p * times < claims.level:
            continue
        what = "of no gain" if margin is None else f"of a loss of {margin}"
        decided = f"the p-value {what}{adjusted} is {min(p * times, 1.0):.3g}, and {claims.level:.3g} or more fails"
        phrases.append(_shortfall_text(row, segments, demand, margin, "" if math.isnan(p) else decided))
    return phrases


def _p_adjusted(row: Mapping[Any, Any]) -> str:
    """Return the adjusted p-value of a row as text, or "" if it has none."""
    p = row["p_adjusted"]
    return "" if p is None or math.isnan(p) else f"its p-value, adjusted for all rows, is {p:.3g}"


def _shortfall_text(
    row: Mapping[Any, Any], segments: Sequence[Any], demand: Demand, margin: str | None, decided: str
) -> str:
    """Return the phrase about a row that falls short of a demand. `decided` names the p-value that decided."""
    labels = [(name, row[name]) for name in (*(["model"] if "model" in row else []), *segments)]
    of = _labels_text(labels)
    baseline = _label_text(row["baseline"]) if "baseline" in row else "the baseline"
    what = f"{row['metric']} of {of}" if of else row["metric"]
    if not decided:
        return f"{what} has no p-value (nan) of its difference to {baseline}"
    by = "" if margin is None else f" by more than {margin}"
    doubts = {"not worse": f"may be worse than {baseline}{by}", "better": f"is not shown to be better than {baseline}"}
    reason = f"the verdict is {row['verdict']!r}, the difference {row['difference']:+.4g}"
    return f"{what} {doubts[demand]}: {reason}, {decided}"


def values_out_of_bounds(result: Any, least: Any, most: Any = None, by: Any = None) -> list[str]:
    """Return a phrase for each value that is beyond its limit."""
    if by is not None:
        choice("by", by, tuple(ENDS))
    limits = {name: limit for name, limit in {"least": least, "most": most}.items() if limit is not None}
    if not limits:
        msg = "no limit is given"
        raise OptionTypeError(msg, "require(result, 0.3), or require(result, most=0.3)")
    judge = _frame_failures if is_frame(result) else _number_failures
    return [phrase for which, limit in limits.items() for phrase in judge(result, which, limit, by)]


def _number_failures(result: Any, which: str, limit: Any, by: str | None) -> list[str]:
    """Return a phrase in a list if a number is beyond its limit, otherwise an empty list."""
    if by is not None:
        raise OptionTypeError(NOT_DESCRIBED.format(by), DESCRIBED)
    if result is not None and (not isinstance(result, Real) or isinstance(result, bool)):
        msg = f"result={quoted(result)} is neither a number nor a frame"
        raise OptionTypeError(
            msg, "require(df.rec.ndcg(10), 0.3), or require(df.rec.evaluate('ndcg@10'), {'ndcg@10': 0.3})"
        )
    what = "the value"
    if isinstance(limit, Mapping):
        if len(limit) != 1:
            msg = f"{which}={quoted(limit)} names {len(limit)} metrics, but the result is one number"
            raise OptionError(msg, "give one number")
        ((what, limit),) = limit.items()
        what = _metric_name(what)
    phrase = _failure_text(what, result, which, number(which, limit))
    return [phrase] if phrase else []


def _refuse_lazy(result: Any) -> None:
    """Raise for a lazy result, whose values are not computed yet."""
    if is_lazy(result):
        msg = "result is lazy, but a gate needs its values"
        raise OptionTypeError(msg, f"{adapter_of(result).remedy}, then require(rows, ...)")


def _frame_failures(result: Any, which: str, limits: Any, by: str | None) -> list[str]:
    """Return a phrase for each value beyond its limit in a result of `evaluate`, or of `describe` with `by`."""
    _refuse_lazy(result)
    if not isinstance(limits, Mapping) or not limits:
        msg = f"{which}={quoted(limits)} names no metric, but the result is a frame"
        raise OptionTypeError(msg, _verdict_hint(limits) or "give {'ndcg@10': 0.3}")
    frame = adapter_of(result).as_result(result)
    names = frame.columns
    if by is not None:
        return _interval_failures(frame, which, limits, by)
    bounds = {_column(names, name): number(f"{which}[{quoted(name)}]", value) for name, value in limits.items()}
    # Columns of models and segments come before the metrics, and columns of counts after them.
    keys = [index for index in range(min(map(names.index, bounds))) if not frame.schema[names[index]].is_float()]
    if not len(frame):
        return [
            f"{name} has no value, but must be at {which} {bound:g}: the result has no rows"
            for name, bound in bounds.items()
        ]
    # Select by position, because a label of pandas need not be text.
    columns = {name: frame[:, [*keys, names.index(name)]] for name in bounds}
    phrases = (
        phrase for name, bound in bounds.items() for phrase in _column_failures(columns[name], name, which, bound)
    )
    return [phrase for phrase in phrases if phrase]


def _verdict_hint(limit: Any) -> str:
    """Return the hint if a verdict was passed as a limit, otherwise ""."""
    return (
        f"require(result, verdict={limit!r}) judges a result of compare"
        if isinstance(limit, str) and limit in SUFFICIENT
        else ""
    )


def _interval_failures(frame: nw.DataFrame[Any], which: str, limits: Mapping[str, Any], by: str) -> list[str]:
    """Return a phrase for each mean or end of an interval beyond its limit in a result of `describe`."""
    if not {"metric", by} <= {*frame.columns}:
        raise OptionError(NOT_DESCRIBED.format(by), DESCRIBED)
    metrics = frame["metric"].unique().to_list()
    names = frame.columns
    # The columns of segments are before the metric, and the model is after it.
    keys = [number for number, name in enumerate(names) if number < names.index("metric") or name == "model"]
    phrases: list[str] = []
    for name, value in limits.items():
        metric = _column(metrics, name, "metric")
        bound = number(f"{which}[{quoted(name)}]", value)
        rows = frame.filter(nw.col("metric") == metric)[:, [*keys, names.index(by)]]
        phrases += filter(None, _column_failures(rows, ENDS[by].format(metric), which, bound))
    return phrases


def _column_failures(rows: nw.DataFrame[Any], name: str, which: str, bound: float) -> Iterator[str]:
    """Yield a phrase for each row of labels and a value, "" if the value passes."""
    keys = rows.columns[:-1]
    for *labels, value in zip(*map(values_of, rows.iter_columns()), strict=True):
        of = _labels_text(zip(keys, labels, strict=True))
        yield _failure_text(f"{name} of {of}" if of else name, value, which, bound)


def _labels_text(labels: Iterable[tuple[Any, Any]]) -> str:
    """Return the model and the segment of a row as text."""
    return " and ".join(f"{key} {_label_text(label)}" for key, label in labels)


def _label_text(label: Any) -> str:
    """Return a label as messages show it: text in quotes, a date as it is read."""
    return str(label) if isinstance(label, dt.date) else repr(label)


def _failure_text(what: str, value: Any, which: str, bound: float) -> str:
    """Return the phrase about a value beyond its bound, or "" if it passes. A missing value never passes."""
    if value is None or (isinstance(value, Real) and value != value):  # noqa: PLR0124 - only NaN differs from itself
        return f"{what} has no value (nan), but must be at {which} {bound:g}"
    value = number(what, value)
    side = "below" if which == "least" else "above"
    if (value >= bound if which == "least" else value <= bound) or math.isclose(value, bound, rel_tol=ROUNDING_SHARE):
        return ""
    texts = [f"{each:.6g}" for each in (value, bound)]
    texts = texts if len(set(texts)) > 1 else [repr(value), repr(bound)]
    return f"{what} is {texts[0]}, {side} {texts[1]}"


def _column(names: Sequence[Any], name: Any, kind: str = "column") -> str:
    """Return the column, or the value of the column `metric`, that belongs to a metric in any spelling."""
    text = _metric_name(name)
    if text in names:
        return text
    try:
        spelled = spec_of(text).metric.label
    except RecError:
        spelled = text
    if spelled in names:
        return spelled
    listed = ", ".join(map(repr, names))
    msg = f"the result has no {kind} {text!r}; it has {listed}"
    hint = (
        "by='mean', 'low' or 'high' reads a result of describe"
        if {"low", "std"} <= {*names}
        else "name a computed metric"
    )
    hint = f"verdict='not worse' judges a result of compare: {COMPARED}" if "verdict" in names else hint
    raise MissingColumnError(msg, closest(spelled, map(str, names)) or hint)


def _metric_name(name: Any) -> str:
    """Return the name of a metric, or raise if it is not text."""
    if not isinstance(name, str):
        msg = f"{quoted(name)} is not the name of a metric"
        raise OptionTypeError(msg, "give {'ndcg@10': 0.3}")
    return name
