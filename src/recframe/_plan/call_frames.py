"""The frames of a call: the user's own, and the side information that its metrics read."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import GROUP, feature_column, target_column
from recframe._base.values import ids
from recframe._engines.registry import is_frame, of_another_kind
from recframe.errors import ColumnTypeError, InputError, MissingColumnError, OptionError
from recframe.metrics._gain import looked_up
from recframe.metrics._record import check_k

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recframe._base.roles import Roles
    from recframe._engines.base import Adapter
    from recframe.metrics import Metric
    from recframe.metrics._gain import Table

PAIR = ("other", "similarity")
"""The columns of a frame of pairs of items, beside the item."""
PAIR_REMEDY = "`features=pairs`, a frame of the item, 'other' and 'similarity', one row for each pair"
PAIR_FRAMES = ("features", "others")
"""The frames that are one frame of the user, which is read once for each of the two items."""
REMEDIES = {
    "train": "`train=past`, a frame of who had which item",
    "features": "`features=genres`, a frame of the item and one numeric column a feature",
}


@dataclass(frozen=True)
class CallFrames:
    """The user's own frames of one call."""

    frame: Any
    truth: Any = None
    train: Any = None
    features: Any = None
    feature_names: Sequence[str] = ()
    """The columns of `features` that are numbers."""
    others: Any = None
    """The same frame again for the other items, if it holds pairs of items."""
    catalog: Any = None
    target: Any = None
    """The groups that tables of targets name, and the numbers that each table gives them."""
    target_tables: Sequence[Table] = ()
    """The tables of targets, as the metrics hold them."""
    catalog_size: int | None = None
    """The size of a catalogue that is given as a number."""
    greatest: float | None = None
    """The largest relevance of all rows, if the frames hold only a part of the rows."""
    models: Any = None
    """A frame of all models in long format, if `frame` holds only a part of the rows."""
    items: Any = None
    """A frame of all items and their groups, if `frame` holds only a part of the rows."""

    @property
    def by_name(self) -> dict[str, Any]:
        """The frames that are given, by their names."""
        names = ("frame", "truth", "train", "features", "others", "catalog", "models", "items", "target")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


def inputs_of(roles: Roles, metrics: Sequence[Metric]) -> frozenset[str]:
    """Return the side information that metrics read, or raise if a metric needs some that the call lacks."""
    for metric in metrics:
        for name in metric.needed_inputs:
            if getattr(roles, name) is None:
                msg = f"{metric.label} needs `{name}=`, which is not given"
                raise OptionError(msg, PAIR_REMEDY if metric.reads_pairs and name == "features" else REMEDIES[name])
    read = (name for metric in metrics for name in (*metric.required_inputs, *metric.optional_inputs))
    return frozenset(name for name in read if getattr(roles, name) is not None)


def frames_of_call(
    frame: Any, roles: Roles, read: Collection[str], adapter: Adapter, metrics: Sequence[Metric]
) -> CallFrames:
    """Return the frames of a call: the user's own, and the side information that its metrics read."""
    tables = tuple(dict.fromkeys(metric.targets for metric in metrics if metric.targets))
    target = _targets_frame(adapter, tables) if tables else None
    for name in {"train", "features"}.intersection(read):
        if not is_frame(getattr(roles, name)):
            raise of_another_kind(name, getattr(roles, name), frame)
    train = adapter.side_frame(roles.train) if "train" in read else None
    features: tuple[Any, list[str]] = (None, [])
    if "features" in read:
        describing = [metric for metric in metrics if "features" in metric.needed_inputs]
        side = adapter.side_frame(roles.features)
        if any(metric.reads_pairs for metric in describing):
            features = _pair_columns(adapter, side, roles, describing)
        else:
            features = _feature_columns(adapter, side, roles, describes=bool(describing))
    catalog = roles.catalog if "catalog" in read else None
    size = None
    if isinstance(catalog, Integral) and not isinstance(catalog, bool):
        size = check_k(catalog, "catalog")
        catalog = None
    elif catalog is not None:
        catalog = adapter.side_frame(catalog) if is_frame(catalog) else _items_frame(adapter, roles.item, catalog)
    others = features[0] if any(metric.reads_pairs for metric in metrics) else None
    return CallFrames(frame, roles.truth, train, *features, others, catalog, target, tables, size)


def _pair_columns(adapter: Adapter, native: Any, roles: Roles, metrics: Sequence[Metric]) -> tuple[Any, list[str]]:
    """Return a frame of pairs of items and the name of its similarities, or raise if it cannot be one."""
    reading = next(metric.label for metric in metrics if metric.reads_pairs)
    for metric in metrics:
        if not metric.reads_pairs:
            msg = f"{reading} reads `features=` as pairs of items, but {metric.label} reads a row for each item"
            raise OptionError(msg, "evaluate each of the two in a call of its own")
    names = adapter.as_narwhals(native).collect_schema().names()
    if not adapter.eager:
        msg = f"{reading} reads pairs of items, which is for eager frames and lazy polars frames"
        raise OptionError(msg, adapter.remedy)
    if missing := [name for name in (roles.item, *PAIR) if name not in names]:
        msg = f"features has no column {missing[0]!r}, but {reading} reads pairs of items; it has {_listed(names)}"
        raise MissingColumnError(msg, f"rename its columns to {roles.item!r}, {PAIR[0]!r} and {PAIR[1]!r}")
    return native, [PAIR[1]]


def _listed(names: Sequence[str]) -> str:
    """Return names as text for a message."""
    return ", ".join(map(repr, names)) or "none"


def _feature_columns(adapter: Adapter, native: Any, roles: Roles, *, describes: bool) -> tuple[Any, list[str]]:
    """Return a frame of the item and one column a feature, and the names of those; none, if no metric needs one.

    A column of lists becomes a column for each position in the lists. Only the schema of a lazy frame is read.
    """
    frame = adapter.as_narwhals(native)
    item = roles.item
    if not describes:
        return native, []
    names = [name for name in frame.collect_schema().names() if name not in (item, roles.group)]
    if {*names} == {*PAIR}:
        msg = "features holds pairs of items, but no metric of the call reads pairs"
        raise InputError(msg, "'diversity(distance=pairs)@10' reads them; other metrics read a row for each item")
    if len(names) == 1 and _holds_lists(frame, names[0]):
        return _spread(adapter, frame, item, names[0])
    features = [name for name in adapter.number_columns(native) if name in names]
    if not features:
        msg = f"features has no column of numbers other than {item!r}; it has {_listed(names)}"
        raise ColumnTypeError(msg, "give one numeric column per feature, or one column of lists")
    return native, features


def _holds_lists(frame: Any, column: str) -> bool:
    """Return whether a column holds lists or arrays, judging by its first value if it holds Python objects."""
    dtype = frame.collect_schema()[column]
    if dtype != nw.Object or isinstance(frame, nw.LazyFrame):
        return isinstance(dtype, nw.List | nw.Array)
    values = [value for value in frame.get_column(column).to_list() if not (value is None or isinstance(value, float))]
    return bool(values) and not isinstance(values[0], str) and hasattr(values[0], "__len__")


def _spread(adapter: Adapter, frame: Any, item: str, column: str) -> tuple[Any, list[str]]:
    """Return a frame of the item and a column for each position in a column of lists."""
    if isinstance(frame, nw.LazyFrame):
        dtype = frame.collect_schema()[column]
        names = [feature_column(index) for index in range(dtype.size)] if isinstance(dtype, nw.Array) else []
        return adapter.spread_arrays(frame.to_native(), item, column, names), names
    lists, width = _lists_of(frame, column)
    backend = nw.get_native_namespace(frame)
    columns = {}
    for index in range(width):
        values = [None if each is None else each[index] for each in lists]
        columns[feature_column(index)] = nw.new_series(feature_column(index), values, backend=backend)
    return nw.from_dict({item: frame.get_column(item), **columns}).to_native(), list(columns)


def _lists_of(frame: Any, column: str) -> tuple[list[Any], int]:
    """Return the lists of a column, None for a missing one, and their length; raise if they cannot be features."""
    lists = [None if each is None or isinstance(each, float) else each for each in frame.get_column(column).to_list()]
    if any(isinstance(value, str) for each in lists if each is not None for value in each):
        msg = f"features[{column!r}] holds lists of text, but features are numbers"
        raise ColumnTypeError(msg, "make a column of 0 and 1 for each text, such as for each genre")
    widths = {len(each) for each in lists if each is not None}
    if len(widths) != 1 or widths == {0}:
        what = "different lengths" if len(widths) > 1 else "no numbers"
        msg = f"features[{column!r}] holds lists of {what}: {sorted(widths)}"
        raise InputError(msg, "each item has one number for each feature")
    (width,) = widths
    return lists, width


def _targets_frame(adapter: Adapter, tables: Sequence[Table]) -> Any:
    """Return a frame of the groups that tables name, with a column of numbers for each table."""
    named = list(dict.fromkeys(group for table in tables for group, _ in table))
    frame = adapter.as_narwhals(adapter.items_frame(GROUP, named))
    numbers = (looked_up(nw.col(GROUP), table).alias(target_column(number)) for number, table in enumerate(tables))
    return frame.with_columns(*numbers).to_native()


def _items_frame(adapter: Adapter, item: str, items: Any) -> Any:
    """Return a frame of the given items."""
    listed = ids("catalog", items, "give len(items), a list of items, or a frame that holds them")
    if not listed:
        msg = "catalog is an empty collection"
        raise OptionError(
            msg, "give the items that could be recommended, or leave it out to use the items of the frame"
        )
    return adapter.items_frame(item, listed)
