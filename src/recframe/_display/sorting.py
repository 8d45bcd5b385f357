"""The rows of a result in the order of its first metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._display.cells import is_missing, label_text
from recframe._display.layout import IS_COMPARE, Columns
from recframe._display.model_verdicts import record_of
from recframe._display.result_tables import labels_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics import Metric


def best_first(columns: Columns, records: Mapping[str, Metric]) -> Columns:
    """Return a result with the best model, in a comparison the best difference, of the first metric first.

    Segments, and in long results metrics, keep their order.
    """
    segments, metrics = labels_of(columns, records)
    count = len(next(iter(columns.values())))
    if not count:
        return columns
    compared = columns.keys() >= IS_COMPARE
    first = metrics[0] if metrics else columns["metric"][0]
    values = columns[first] if metrics else columns["difference" if compared else "mean"]
    record = record_of(str(first), records)
    sign = 1 if record is None or record.higher_is_better else -1
    names = [name for name in ("model", "baseline") if name in columns]
    segment_keys = [tuple(label_text(columns[name][row]) for name in segments) for row in range(count)]
    model_keys = [tuple(label_text(columns[name][row]) for name in names) for row in range(count)]
    metric = ["" if metrics else columns["metric"][row] for row in range(count)]
    sort_values = {
        (segment_keys[row], model_keys[row]): values[row]
        for row in range(count)
        if (metrics or metric[row] == first) and not is_missing(values[row])
    }

    segment_order, metric_order = (
        {key: number for number, key in enumerate(dict.fromkeys(keys))} for keys in (segment_keys, metric)
    )

    def sort_key(row: int) -> tuple[Any, ...]:
        """Return the order of a row's segment and metric, then its value with the best first and missing ones last."""
        value = sort_values.get((segment_keys[row], model_keys[row]))
        rank = (1, 0.0) if value is None else (0, -sign * value)
        return segment_order[segment_keys[row]], metric_order[metric[row]], *rank

    order = sorted(range(count), key=sort_key)
    return {name: [column[row] for row in order] for name, column in columns.items()}
