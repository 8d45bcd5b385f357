"""Charts of results, which may come from a file: what ``recframe.plot`` holds, and the charts of a frame draw too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from recframe._base.signatures import checked_call
from recframe._base.values import whole_number
from recframe._display import charts, rank_charts
from recframe._display.data import check_means, check_single
from recframe._display.described import described, means_of_largest_segments
from recframe._display.frames import eager_result, grouped, rows_of
from recframe._display.layout import IS_RANKS
from recframe._display.model_verdicts import record_of, records_by_name
from recframe._inference.lists.result_notes import confidence_of
from recframe.errors import InputError, OptionError, closest
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt
    import narwhals as nw

    from recframe._display.described import Described
    from recframe.metrics import Metric

MOST_SEGMENTS = 30
MOST_MOMENTS = 1000


class Hints(NamedTuple):
    """The remedies that errors of a chart name."""

    metric: str
    """How to choose one of several metrics."""
    per: str
    """How to get segments."""
    segment: str
    """How to choose one of several columns of segments."""


HINTS_OF_RESULTS = Hints(
    "recframe.plot.{chart}(result, {metric!r})", "rec.describe('ndcg@10', per={per!r})", "rec.describe(..., per='date')"
)
HINTS_OF_FRAMES = Hints(
    "plot.{chart}({metric!r})", "plot.{chart}('ndcg@10', per={per!r})", "per='date'; filter the frame for one segment"
)


@checked_call
def curve(
    result: Any, metrics: str | Metric | Sequence[str | Metric] | None = None, *, confidence: float | None = None
) -> alt.LayerChart | alt.ConcatChart:
    """Return metrics over the cutoff from a result of `describe`, as ``df.rec.plot.curve`` does.

    Parameters
    ----------
    result : frame
        What `describe` returned for some cutoffs, such as ``describe("ndcg", k=[1, 5, 10])``. It may come from a file.
    metrics : str, Metric or sequence of them, default None
        The metrics to draw, without a cutoff; None: all. A metric of your own says whether higher is better.
    confidence : float, optional
        The confidence of the intervals, for the text below the title, if the frame was changed or read from a file.

    Returns
    -------
    altair.LayerChart or altair.ConcatChart
        The chart.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "score": [0.9, 0.1, 0.8, 0.3]})
    >>> chart = recframe.plot.curve(df.rec.describe("recall", k=[1, 2]))
    >>> chart.to_dict()["title"]["text"]
    'recall by cutoff'
    """
    description = _described(result, "curve", metrics, without_cutoff=True)
    return curve_chart(description, _confidence(result, confidence))


@checked_call
def segments(
    result: Any,
    metric: str | Metric | None = None,
    *,
    most: int = MOST_SEGMENTS,
    confidence: float | None = None,
) -> alt.LayerChart:
    """Return a dot with its interval for each segment and model from a result of `describe` with `per=`.

    Parameters
    ----------
    result : frame
        What `describe` returned with `per=`. It may come from a file.
    metric : str or Metric, default None
        The metric to draw, as the result names it; None: the only one.
    most : int, default 30
        How many segments to show at most: those with the most lists.
    confidence : float, optional
        The confidence of the intervals, for the text below the title, if the frame was changed or read from a file.

    Returns
    -------
    altair.LayerChart
        The chart.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({
    ...     "user": [1, 1, 2, 2], "country": ["at", "at", "be", "be"],
    ...     "relevant": [0, 1, 1, 0], "score": [2, 1, 2, 1],
    ... })
    >>> chart = recframe.plot.segments(df.rec.describe("mrr", per="country"))
    >>> chart.to_dict()["title"]["text"]
    'mrr by country'
    """
    most = whole_number("most", most, f"most={MOST_SEGMENTS}")
    description = _described(result, "segments", metric)
    return segment_chart(description, _confidence(result, confidence), HINTS_OF_RESULTS, most)


@checked_call
def trend(result: Any, metric: str | Metric | None = None, *, confidence: float | None = None) -> alt.LayerChart:
    """Return a metric over time, a line with its interval for each model, from a result of `describe` with `per=`.

    Parameters
    ----------
    result : frame
        What `describe` returned with one column of `per`: dates, times, numbers, or texts in their order. It may come
        from a file.
    metric : str or Metric, default None
        The metric to draw, as the result names it; None: the only one.
    confidence : float, optional
        The confidence of the intervals, for the text below the title, if the frame was changed or read from a file.

    Returns
    -------
    altair.LayerChart
        The chart.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({
    ...     "user": [1, 1, 2, 2], "week": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "score": [2, 1, 2, 1],
    ... })
    >>> chart = recframe.plot.trend(df.rec.describe("mrr", per="week"))
    >>> chart.to_dict()["title"]["text"]
    'mrr by week'
    """
    return trend_chart(_described(result, "trend", metric), _confidence(result, confidence), HINTS_OF_RESULTS)


@checked_call
def tradeoff(
    result: Any,
    x: str | Metric | None = None,
    y: str | Metric | None = None,
    *,
    confidence: float | None = None,
) -> alt.LayerChart:
    """Return two metrics against each other, a dot for each model, from a result of `describe`.

    Parameters
    ----------
    result : frame
        What `describe` returned for two metrics or more. It may come from a file.
    x, y : str or Metric, default None
        The metrics to draw, as the result names them; None: its two metrics, in its order.
    confidence : float, optional
        The confidence of the intervals, for the text below the title, if the frame was changed or read from a file.

    Returns
    -------
    altair.LayerChart
        The chart.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({
    ...     "user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "old": [2, 1, 2, 1], "new": [1, 2, 2, 1],
    ... })
    >>> chart = recframe.plot.tradeoff(df.rec.describe(["mrr", "recall"], k=1, score=["old", "new"]))
    >>> chart.to_dict()["title"]["text"]
    'recall@1 against mrr@1'
    """
    if (x is None) != (y is None):
        msg = "tradeoff shows two metrics, but only one of x= and y= is given"
        raise OptionError(msg, "recframe.plot.tradeoff(result, 'ndcg@10', 'coverage@10')")
    description = _described(result, "tradeoff", None if x is None else [x, y])
    return tradeoff_chart(description, _confidence(result, confidence), "recframe.plot.tradeoff(result, {!r}, {!r})")


@checked_call
def ranks(result: Any, metric: str | Metric | None = None, *, confidence: float | None = None) -> alt.LayerChart:
    """Return the rank of each model with the ranks that it may have from a result of `rank_models`.

    Parameters
    ----------
    result : frame
        What `rank_models` returned. It may come from a file.
    metric : str or Metric, default None
        The metric to draw, as the result names it; None: the only one.
    confidence : float, optional
        The confidence of the intervals, for the text below the title, if the frame was changed or read from a file.

    Returns
    -------
    altair.LayerChart
        The chart.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({
    ...     "user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "old": [2, 1, 2, 1], "new": [1, 2, 2, 1],
    ... })
    >>> chart = recframe.plot.ranks(df.rec.rank_models("mrr", score=["old", "new"]))
    >>> chart.to_dict()["title"]["text"]
    'Ranks by mrr'
    """
    charts.altair()
    frame = eager_result(result)
    if not {*frame.columns} >= IS_RANKS:
        shown = ", ".join(map(repr, frame.columns))
        msg = f"ranks draws a result of rank_models, but the frame has the columns {shown}"
        raise InputError(msg, "recframe.plot.ranks(rec.rank_models('ndcg@10'))")
    rows = rows_of(frame)
    if metric is not None:
        (name,) = _chosen(metric, list(dict.fromkeys(str(row["metric"]) for row in rows)))
        rows = [row for row in rows if row["metric"] == name]
    records = records_by_name(() if metric is None else metric)
    return rank_chart(frame, rows, records, _confidence(result, confidence), HINTS_OF_RESULTS)


def curve_chart(description: Described, confidence: float | None, columns: int = 2) -> alt.LayerChart | alt.ConcatChart:
    """Return the chart of metrics over the cutoff."""
    for mean in description.means:
        if mean.cutoff is None:
            msg = f"curve shows metrics over the cutoff, but {mean.metric} has none"
            raise OptionError(msg, "describe(['ndcg', 'recall'], k=range(1, 21))")
    check_means(
        (mean.mean for mean in description.means), " or ".join(dict.fromkeys(mean.name for mean in description.means))
    )
    return charts.curves(description.means, confidence, columns)


def segment_chart(
    description: Described, confidence: float | None, hints: Hints, most: int = MOST_SEGMENTS
) -> alt.LayerChart:
    """Return the chart of the segments with the most lists."""
    _check_segments(description, "segments", hints)
    means, segment_count = means_of_largest_segments(description.means, most)
    return charts.segments(means, confidence, description.segments, segment_count)


def trend_chart(description: Described, confidence: float | None, hints: Hints) -> alt.LayerChart:
    """Return the chart over time."""
    _check_segments(description, "trend", hints)
    if len(description.per) > 1:
        msg = f"trend shows one column over time, but per= names {description.segments}"
        raise OptionError(msg, hints.segment)
    if len({mean.segment for mean in description.means}) > MOST_MOMENTS:
        msg = f"per={description.segments!r} has more than {MOST_MOMENTS:,} values, too many for a chart"
        raise InputError(msg, "round times to days or weeks first: pl.col('time').dt.truncate('1d')")
    return charts.trend(description.means, confidence, description.segments)


def tradeoff_chart(description: Described, confidence: float | None, hint: str) -> alt.LayerChart:
    """Return the chart of two metrics."""
    names = description.metrics
    if len(names) != 2:  # noqa: PLR2004
        msg = f"tradeoff shows two metrics, but these are {', '.join(names)}"
        raise OptionError(msg, hint.format(*[*names, "ndcg@10", "coverage@10"][:2]))
    if description.per:
        msg = f"tradeoff shows a dot for each model, but the result has the segments of {description.segments}"
        raise OptionError(msg, "describe without per=, or the rows of one segment without its column")
    rows = []
    for model, means in grouped(description.means, lambda mean: mean.model).items():
        row: dict[str, Any] = {"model": model}
        for mean in means:
            name = "xy"[names.index(mean.metric)]
            row |= {name: mean.mean, f"{name}_low": mean.low, f"{name}_high": mean.high}
        rows.append(row)
    for name, metric in zip("xy", names, strict=True):
        check_means((row.get(name) for row in rows), metric)
    x, y = (next(mean for mean in description.means if mean.metric == name) for name in names)
    return charts.tradeoff(rows, x, y, confidence)


def rank_chart(
    frame: nw.DataFrame[Any],
    rows: Sequence[dict[str, Any]],
    records: Mapping[str, Metric],
    confidence: float | None,
    hints: Hints,
) -> alt.LayerChart:
    """Return the chart of the ranks of models, from rows of a result of `rank_models`."""
    names = list(dict.fromkeys(str(row["metric"]) for row in rows))
    _check_single(names, "ranks", hints)
    per = [name for name in frame.columns[: frame.columns.index("metric")] if name != "model"]
    if per:
        msg = f"ranks shows a dot for each model, but the result has the segments of {', '.join(map(str, per))}"
        raise OptionError(msg, "rank_models without per=, or the rows of one segment without its column")
    label = names[0] if names else "a metric"
    check_means((row["rank"] for row in rows), label)
    return rank_charts.ranks(rows, label, record_of(label, records), confidence)


def _check_single(names: Sequence[str], chart: str, hints: Hints) -> None:
    """Raise unless there is exactly one metric, at one cutoff."""
    check_single(names, chart, hints.metric.format(chart=chart, metric=names[0] if names else ""))


def _check_segments(description: Described, chart: str, hints: Hints) -> None:
    """Raise unless there is exactly one metric, which has a value in some segment."""
    _check_single(description.metrics, chart, hints)
    if not description.per:
        msg = f"{chart} shows segments, but per= is not given"
        raise OptionError(msg, hints.per.format(chart=chart, per="date" if chart == "trend" else "country"))
    check_means((mean.mean for mean in description.means), next(iter(description.metrics), "a metric"))


def _described(result: Any, chart: str, metrics: Any, *, without_cutoff: bool = False) -> Described:
    """Return the means of a stored result, of some metrics if they are named."""
    charts.altair()
    description = described(eager_result(result), records_by_name(() if metrics is None else metrics), chart)
    if metrics is None:
        return description
    means = grouped(description.means, lambda mean: mean.name if without_cutoff else mean.metric)
    chosen = _chosen(metrics, list(means))
    return description._replace(means=[mean for name in chosen for mean in means[name]])


def _chosen(metrics: Any, names: Sequence[str]) -> list[str]:
    """Return the names of metrics that a call asks for, which the result must have."""
    chosen = [spec_of(metric).name for metric in (metrics if isinstance(metrics, list | tuple) else [metrics])]
    for name in chosen:
        if name not in names:
            msg = f"the result has no metric {name!r}, but {', '.join(names)}"
            raise InputError(msg, closest(name, names) or "name a metric as the result does")
    return chosen


def _confidence(result: Any, confidence: float | None) -> float | None:
    """Return the confidence of the intervals of a result, or None if it is not known."""
    if confidence is None:
        return confidence_of(result)
    from recframe._inference.statistics.student import check_confidence

    return check_confidence(confidence)
