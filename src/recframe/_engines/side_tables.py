"""Side information: frames of features and of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._columns import feature_column
from recframe._values import ids
from recframe.errors import ColumnTypeError, InputError, OptionError

if TYPE_CHECKING:
    from recframe._engines.base import Adapter


def feature_columns(adapter: Adapter, native: Any, item: str) -> tuple[Any, list[str]]:
    """Return a frame of the item and one column a feature, and the names of those.

    A column of lists becomes one column for each of their places. Of a lazy frame only the schema is read.
    """
    frame = adapter.as_narwhals(native)
    schema = frame.collect_schema()
    names = [name for name in schema.names() if name != item]
    if len(names) == 1 and _holds_lists(frame, names[0]):
        return _spread(adapter, frame, item, names[0])
    features = [name for name in names if schema[name].is_numeric() or schema[name] == nw.Boolean]
    if not features:
        msg = f"features has no column of numbers other than {item!r}; it has {', '.join(map(repr, names)) or 'none'}"
        raise ColumnTypeError(msg, "give one numeric column per feature, or one column of lists")
    return native, features


def _holds_lists(frame: Any, column: str) -> bool:
    dtype = frame.collect_schema()[column]
    if dtype != nw.Object or isinstance(frame, nw.LazyFrame):
        return isinstance(dtype, nw.List | nw.Array)
    values = [value for value in frame[column].to_list() if not (value is None or isinstance(value, float))]
    return bool(values) and not isinstance(values[0], str) and hasattr(values[0], "__len__")


def _spread(adapter: Adapter, frame: Any, item: str, column: str) -> tuple[Any, list[str]]:
    """Return a frame of the item and a column for each place of a column of lists."""
    if isinstance(frame, nw.LazyFrame):
        dtype = frame.collect_schema()[column]
        names = [feature_column(index) for index in range(dtype.size)] if isinstance(dtype, nw.Array) else []
        return adapter.spread_arrays(frame.to_native(), item, column, names), names
    lists = [None if each is None or isinstance(each, float) else each for each in frame[column].to_list()]
    widths = {len(each) for each in lists if each is not None}
    if len(widths) != 1:
        msg = f"features[{column!r}] holds lists of {'different lengths' if widths else 'no numbers'}: {sorted(widths)}"
        raise InputError(msg, "each item has one number for each feature")
    backend = nw.get_native_namespace(frame)
    columns = {}
    for index in range(*widths):
        values = [None if each is None else each[index] for each in lists]
        columns[feature_column(index)] = nw.new_series(feature_column(index), values, backend=backend)
    return nw.from_dict({item: frame[item], **columns}).to_native(), list(columns)


def items_frame(adapter: Adapter, item: str, items: Any) -> Any:
    """Return a frame of the given items."""
    found = ids("catalog", items, "give len(items), a list of items, or a frame that holds them")
    if not found:
        msg = "catalog is an empty collection"
        raise OptionError(msg, "give the items that could be recommended, or leave it out for those of the frame")
    return adapter.items_frame(item, found)
