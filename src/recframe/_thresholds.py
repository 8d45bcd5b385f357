"""Gates: values that must not fall short, in Python and on the command line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import narwhals as nw

from recframe._engines.base import values_of
from recframe._engines.registry import adapter_of, is_frame, is_lazy
from recframe._signatures import checked_call
from recframe._values import choice, number
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

LAST_BITS = 1e-13
"""The share of a bound by which a value below it still suffices: a mean of 0.56 may be 0.5599999999999999."""
ENDS = {"mean": "{}", "low": "the lower end of {}", "high": "the upper end of {}"}
"""What `by` names, and what a message calls it."""
NOT_DESCRIBED = "by={!r} is a column of describe, but the result is no frame of it"
DESCRIBED = "require(df.rec.describe('ndcg@10'), {'ndcg@10': 0.3}, by='high')"


@checked_call
def require(
    result: Any, least: float | Mapping[str, float], *, by: Literal["mean", "low", "high"] | None = None
) -> None:
    """Raise where a value is below what it must at least be; a value that is missing or nan is too.

    A value suffices that is below by rounding, at most 1e-13 of the limit. Limits are from below, also of metrics where
    lower is better. An upper limit is that of the negative value: ``require(-df.rec.gini(10), -0.4)``.

    Parameters
    ----------
    result : float or frame
        What a metric's method, `evaluate` or, with `by`, `describe` returned.
    least : float or mapping
        What the value must at least be: a number for a float, ``{"ndcg@10": 0.30, "map": 0.2}`` for a frame.
    by : {"mean", "low", "high"}, optional
        Of a result of `describe`: which of its columns must be so large. ``"high"`` raises only if the whole interval
        of the mean is below, ``"low"`` unless the whole interval is above.

    Raises
    ------
    ThresholdError
        A value falls short. The message has one line, which names each of them, and the model or segment.

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
    """
    short = shortfalls(result, least, by)
    if short:
        raise ThresholdError("; ".join(short))


def shortfalls(result: Any, least: Any, by: Any = None) -> list[str]:
    """Return what falls short, a phrase each."""
    if by is not None:
        choice("by", by, tuple(ENDS))
    if is_frame(result):
        return _of_frame(result, least, by)
    if by is not None:
        raise OptionTypeError(NOT_DESCRIBED.format(by), DESCRIBED)
    if result is not None and (not isinstance(result, Real) or isinstance(result, bool)):
        msg = f"result={quoted(result)} is neither a number nor a frame"
        raise OptionTypeError(
            msg, "require(df.rec.ndcg(10), 0.3), or require(df.rec.evaluate('ndcg@10'), {'ndcg@10': 0.3})"
        )
    what = "the value"
    if isinstance(least, Mapping):
        if len(least) != 1:
            msg = f"least={quoted(least)} names {len(least)} metrics, but the result is one number"
            raise OptionError(msg, "give one number")
        ((what, least),) = least.items()
        what = _text(what)
    phrase = shortfall(what, result, number("least", least))
    return [phrase] if phrase else []


def _of_frame(result: Any, least: Any, by: str | None) -> list[str]:
    """Return what falls short in a frame of `evaluate`, or of `describe`."""
    if is_lazy(result):
        msg = "result is lazy, but a gate needs its values"
        raise OptionTypeError(msg, f"{adapter_of(result).remedy}, then require(rows, ...)")
    if not isinstance(least, Mapping) or not least:
        msg = f"least={quoted(least)} names no metric, but the result is a frame"
        raise OptionTypeError(msg, "give {'ndcg@10': 0.3}")
    frame = adapter_of(result).as_result(result)
    names = frame.columns
    if by is not None:
        return _of_intervals(frame, least, by)
    bounds = {_column(names, name): number(f"least[{quoted(name)}]", value) for name, value in least.items()}
    # Columns of models and segments are ahead of metrics, those of counts behind them.
    keys = [index for index in range(min(map(names.index, bounds))) if not frame.schema[names[index]].is_float()]
    if not len(frame):
        return [
            f"{name} has no value, but must be at least {bound:g}: the result has no rows"
            for name, bound in bounds.items()
        ]
    # By place: a label of pandas need not be text.
    columns = {name: frame[:, [*keys, names.index(name)]] for name in bounds}
    phrases = (phrase for name, bound in bounds.items() for phrase in _of_column(columns[name], name, bound))
    return [phrase for phrase in phrases if phrase]


def _of_intervals(frame: nw.DataFrame[Any], least: Mapping[str, Any], by: str) -> list[str]:
    """Return what falls short in a frame of `describe`."""
    if not {"metric", by} <= {*frame.columns}:
        raise OptionError(NOT_DESCRIBED.format(by), DESCRIBED)
    metrics, names = frame["metric"].unique().to_list(), frame.columns
    phrases: list[str] = []
    for name, value in least.items():
        metric, bound = _column(metrics, name, "metric"), number(f"least[{quoted(name)}]", value)
        rows = frame.filter(nw.col("metric") == metric)[:, [*range(names.index("metric")), names.index(by)]]
        phrases += filter(None, _of_column(rows, ENDS[by].format(metric), bound))
    return phrases


def _of_column(rows: nw.DataFrame[Any], name: str, bound: float) -> Iterator[str]:
    """Yield a phrase, or nothing, for each row of labels and a value."""
    keys = rows.columns[:-1]
    for *labels, value in zip(*map(values_of, rows.iter_columns()), strict=True):
        of = " and ".join(f"{key} {label!r}" for key, label in zip(keys, labels, strict=True))
        yield shortfall(f"{name} of {of}" if of else name, value, bound)


def shortfall(what: str, value: Any, least: float) -> str:
    """Return the phrase that says that a value is below its bound, or nothing; no value never passes."""
    if value is None or (isinstance(value, Real) and value != value):  # noqa: PLR0124 - only NaN differs from itself
        return f"{what} has no value (nan), but must be at least {least:g}"
    value = number(what, value)
    if value >= least or math.isclose(value, least, rel_tol=LAST_BITS):
        return ""
    texts = [f"{each:.6g}" for each in (value, least)]
    texts = texts if len(set(texts)) > 1 else [repr(value), repr(least)]
    return f"{what} is {texts[0]}, below {texts[1]}"


def _column(names: Sequence[Any], name: Any, kind: str = "column") -> str:
    """Return the column or the row of a metric, however its name is spelled."""
    text = _text(name)
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
    hint = "by='mean', 'low' or 'high' reads a result of describe" if "p50" in names else "name a computed metric"
    raise MissingColumnError(msg, closest(spelled, map(str, names)) or hint)


def _text(name: Any) -> str:
    if not isinstance(name, str):
        msg = f"{quoted(name)} is not the name of a metric"
        raise OptionTypeError(msg, "give {'ndcg@10': 0.3}")
    return name
