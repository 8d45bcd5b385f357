"""The texts of charts: titles, counts, and names that are too long for a chart."""

from __future__ import annotations

import math
import re
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from recframe._display.labels import text_width
from recframe._display.packages import package
from recframe.errors import OptionTypeError, quoted, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recframe.metrics import Metric

LONGEST_NAME = 32
"""The most letters of a name in a chart: names of models may hold a whole configuration."""
NAME_HEAD = LONGEST_NAME // 2
NAME_TAIL = LONGEST_NAME // 2 - 1
SHORT_LABEL = (
    f"length(datum.label) > {LONGEST_NAME} ? "
    f"slice(datum.label, 0, {NAME_HEAD}) + '…' + slice(datum.label, -{NAME_TAIL}) : datum.label"
)
"""The same as `short`, as a Vega expression, so the data and the tooltip keep the whole name."""
LABEL_WIDTH = 240
"""The width of the longest name in a chart, in pixels."""


Parameters = ParamSpec("Parameters")
Chart = TypeVar("Chart")
_ENDS_SCRIPT = re.compile("<(?=[/!])")
"""What starts a closing tag or a comment, which would end the script that Altair puts a chart into."""


def safe_in_html(make: Callable[Parameters, Chart]) -> Callable[Parameters, Chart]:
    """Return a function that makes the same chart, whose names stay text when the chart is saved as HTML.

    Altair writes the chart into a page as it is. With a hair space after ``<``, a browser reads no tag.
    """

    @wraps(make)
    def made(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Chart:
        chart: Chart = _without_tags(make(*args, **kwargs), package("altair", "charts").SchemaBase)
        return chart

    return made


def _without_tags(value: Any, schema: type) -> Any:
    """Return a value of a chart, with no text that a browser reads as the end of a script."""
    if isinstance(value, str):
        return _ENDS_SCRIPT.sub("<\u200a", value)
    if isinstance(value, dict):
        return {_without_tags(key, schema): _without_tags(each, schema) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_without_tags(each, schema) for each in value)
    if isinstance(value, schema):
        parts = vars(value)
        parts["_args"], parts["_kwds"] = (_without_tags(parts[name], schema) for name in ("_args", "_kwds"))
    return value


def check_title(title: object) -> None:
    """Raise if the title is not text."""
    if title is not None and not isinstance(title, str):
        msg = f"title={quoted(title)} is not text"
        raise OptionTypeError(msg, "title='Models of May'")


def name_of(model: object) -> str:
    """Return the name of a model as text, without characters that charts cannot draw."""
    return visible(str(model))


def short(name: str) -> str:
    """Return a name, shortened in the middle if it is long, because both ends help to tell names apart."""
    return name if len(name) <= LONGEST_NAME else f"{name[:NAME_HEAD]}…{name[-NAME_TAIL:]}"


def pair_texts(pairs: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the names of pairs of models, shortened unless two pairs would get the same name."""
    names = [" − ".join(map(short, pair)) for pair in pairs]
    return names if len({*names}) == len({*pairs}) else [" − ".join(pair) for pair in pairs]


def lies_flat(names: Iterable[str], width: float) -> bool:
    """Return whether names fit side by side below an axis."""
    texts = list(map(short, names))
    return max((text_width(text, 10) for text in texts), default=0) + 6 < width / max(len(texts), 1)


def axis_title(name: str) -> str:
    """Return a column name as an axis title, with its backslashes replaced because Vega reads them as escapes."""
    return short(name).replace("\\", "∖")


def direction(metric: Metric | None) -> str:
    """Return the text that says which values of a metric are better, or nothing for a metric that is not known."""
    if metric is None:
        return ""
    return "higher is better" if metric.higher_is_better else "lower is better"


def lists_text(count: int) -> str:
    """Return a number of lists."""
    return f"{count:,} list" if count == 1 else f"{count:,} lists"


def range_text(counts: Sequence[int]) -> str:
    """Return the least and the greatest number of lists, in words."""
    least, most = min(counts), max(counts)
    return f"{least:,} to {lists_text(most)}" if least < most else lists_text(most)


def relative_text(share: float | None) -> str:
    """Return a relative difference in percent, or nothing."""
    if share is None or not math.isfinite(share):
        return ""
    text = f"{share:+.0%}" if abs(share) >= 0.1 else f"{share:+.1%}"  # noqa: PLR2004
    return text if text.strip("+-0.%") else "0%"


def means_text(counts: Sequence[int], confidence: float | None, *, intervals: bool = True) -> str:
    """Return the number of lists behind the means, and the confidence of their intervals, as text."""
    lists = range_text(counts or [0])
    return f"means over {lists}" + (f", with {intervals_text(confidence)}" if intervals else "")


def intervals_text(confidence: float | None) -> str:
    """Return what intervals are called: by their confidence, if it is known."""
    return "intervals" if confidence is None else f"{percent(confidence)} intervals"


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.6g}%"


def segment_texts(segments: Sequence[tuple[Any, ...]]) -> list[str]:
    """Return the names of segments; values of text are quoted where two segments would have one name."""
    names = [_segment_text(segment, str) for segment in segments]
    if len({*names}) == len({tuple(map(repr, segment)) for segment in segments}):
        return names
    return [_segment_text(segment, repr) for segment in segments]


def _segment_text(segment: tuple[Any, ...], of_text: Callable[[str], str]) -> str:
    names = (of_text(value) if isinstance(value, str) else str(value) for value in segment if value is not None)
    return visible(" · ".join("missing" if value is None else next(names) for value in segment))
