"""What changed between two models: the lists that lost and gained most, and the items that caused it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._base.columns import CONTRIBUTION, HIT, ITEM, LIST_VALUE, POSITION, RELEVANCE, TIED
from recframe._base.values import ROUNDING, flag, whole_number
from recframe._inference.lists.keys import rows_of
from recframe._inference.lists.paired_sums import model_pairs
from recframe._inference.lists.results import INTERNAL
from recframe._inference.lists.values import is_model, model_names, sorted_by_key
from recframe._plan.matches import matched
from recframe._plan.query import check_apart
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine
    from recframe._plan.contributions import Contributions

    Table = nw.DataFrame[Any]

BEFORE = "before"
AFTER = "after"
DIFFERENCE = "difference"
LIST_COLUMNS = (BEFORE, AFTER, DIFFERENCE, "first_before", "first_after")
"""The columns of a list, after its key."""
ITEM_COLUMNS = ("change", ITEM, RELEVANCE, "position_before", "position_after", "top_before", "top_after", "part")
"""The columns of a changed item, after the columns of its list."""
LIST = "number of list"
SIDE = "side"
FIRST = "first"
ORDER = "order"
NO_DIFFERENCE = 1e308
"""A difference that no list has."""
ORDERING_DIGITS = 12
"""Numbers are sorted by these digits only, because sums differ in their last bits if the order of rows does."""
SLACK = 1e-9
"""How much a difference may change when a database computes it again, because it adds up in any order."""


@dataclass(frozen=True)
class Options:
    """The checked options of `changes`."""

    most: int | None
    items: bool
    baseline: Any

    @classmethod
    def of(cls, most: Any, items: Any, baseline: Any) -> Options:
        """Return checked options, or raise for what can be checked without a frame."""
        if most is not None:
            most = whole_number("most", most, "`most=20`, or None for all lists", least=1, most=None)
        return cls(most, flag("items", items), baseline)


def changes(rows: Contributions, k: int | None, options: Options) -> Any:
    """Return the changes as a frame of the user's kind."""
    context = rows.context
    query = rows.context.query
    if not context.keys.long:
        _sides_of(query.orders, options.baseline)
    columns = (*LIST_COLUMNS, *(ITEM_COLUMNS if options.items else ()))
    users = {ITEM: query.item, RELEVANCE: query.relevant}
    names = context.keys.key_names | {
        name if name in users else INTERNAL.format(name): users.get(name, name) for name in columns
    }
    check_apart(list(names.values()))
    sort = [LIST, *([ORDER, ITEM] if options.items else [])]
    extra = [name for name in sort if name not in names]

    def table() -> Table:
        return _table(rows, k, options).select(*names, *extra)

    def finished() -> Any:
        # Sort under the plan's names, because a user's column may have the name of a column that only sorts.
        native = context.session.finish(table().lazy(), {}, sort)
        return nw.from_native(native).drop(extra).rename(names).to_native()

    def schema() -> Any:
        types = rows.frame().collect_schema()
        of_users = {name: types[name] for name in (*context.keys.key_names.values(), *users.values())}
        return type(types)({name: of_users.get(name, str if name == "change" else float) for name in names.values()})

    answer = context.engine.computed(finished, schema)
    return table().drop(extra).rename(names).to_native() if answer is None else answer


def _sides_of(models: Sequence[Any], baseline: Any) -> tuple[int, int]:
    """Return the numbers of the models before and after, or raise unless there are two."""
    if len(models) != 2:  # noqa: PLR2004
        msg = f"changes looks at two models, but {len(models)} are named: {', '.join(map(repr, models))}"
        raise OptionError(msg, "`score=['old', 'new']`, or `model='model'` of a frame with the rows of two")
    ((after, before),) = model_pairs(models, baseline)
    return before, after


def _both_sides(rows: Contributions, frames: Sequence[Frame], baseline: Any) -> list[Frame]:
    """Return the rows of the model before, then of the model after, from frames of all rankings."""
    context = rows.context
    models: Sequence[Any] = context.query.orders
    if context.keys.long:
        frame = context.engine.collect_once(frames[0])
        codes, models = model_names(context.session, context.models)
        frames = [frame.filter(is_model(code)) for code in codes]
    return [frames[number] for number in _sides_of(models, baseline)]


def _table(rows: Contributions, k: int | None, options: Options) -> Table:
    """Return the rows of the result, with the number of the list in the order of the result."""
    context = rows.context
    engine = rows.context.engine
    keys = rows.context.keys.key
    rankings = rows.by_ranking() if options.most is None else []
    lists_of_models = [lists for _, lists in rankings] or rows.list_values()
    before, after, difference = (INTERNAL.format(name) for name in (BEFORE, AFTER, DIFFERENCE))
    first, second = (
        lists.select(*keys, nw.col(LIST_VALUE).alias(name))
        for lists, name in zip(_both_sides(rows, lists_of_models, options.baseline), (before, after), strict=True)
    )
    both = engine.join(first, second, keys)
    both = both.with_columns((nw.col(after) - nw.col(before)).alias(difference))
    both = engine.collect_once(both.filter(~nw.col(difference).is_null()))
    lists = sorted_by_key(engine.collected(both.select(*keys, before, after, difference)), context, context.keys.key)
    differences = lists[difference].to_numpy()
    chosen = _chosen(differences, options.most)
    lists = lists[chosen.tolist()]
    differences = differences[chosen]
    lost = differences[differences < -ROUNDING]
    gained = differences[differences > ROUNDING]
    if options.most is not None:
        # Items and positions of all other lists are not computed.
        falls = nw.col(difference) <= float(lost.max(initial=-NO_DIFFERENCE)) + SLACK
        both = both.filter(falls | (nw.col(difference) >= float(gained.min(initial=NO_DIFFERENCE)) - SLACK))
        rankings = rows.of_lists(both).by_ranking()
    sides = _both_sides(rows, [items for items, _ in rankings], options.baseline)
    return _with_items(lists, _rows_of_lists(engine, sides, both, keys), keys, k, options)


def _with_items(lists: Table, ranked: Table, keys: Sequence[str], k: int | None, options: Options) -> Table:
    """Return the lists with their numbers and first positions, and with `items=True` a row for each changed item."""
    number_of = {key: number for number, key in enumerate(rows_of(lists, keys))}
    numbers = [number_of.get(key, -1) for key in rows_of(ranked, keys)]
    ranked = _with_column(ranked, LIST, numbers, nw.Int64()).filter(nw.col(LIST) >= 0)
    lists = _with_column(lists, LIST, list(range(len(lists))), nw.Int64())
    for name, values in zip(LIST_COLUMNS[3:], _first_positions(ranked, len(lists)), strict=True):
        lists = _with_column(lists, INTERNAL.format(name), values, nw.Float64())
    if not options.items:
        return lists
    joined = lists.join(_changed_items(ranked, k), on=LIST, how="left")
    joined = joined.with_columns(nw.col(INTERNAL.format("part")).round(ORDERING_DIGITS).alias(ORDER))
    return joined.sort(LIST, ORDER, ITEM, nulls_last=True)


def _chosen(differences: Any, most: int | None) -> Any:
    """Return the row numbers of the lists to show, sorted by difference. Ties stay in the order of their keys."""
    rounded = np.round(differences, ORDERING_DIGITS)
    if most is None:
        return np.argsort(rounded, kind="stable")
    down, up = (np.argsort(sign * rounded, kind="stable")[:most] for sign in (1, -1))
    chosen = np.sort(np.concatenate([down[differences[down] < -ROUNDING], up[differences[up] > ROUNDING]]))
    return chosen[np.argsort(rounded[chosen], kind="stable")]


def _rows_of_lists(engine: Engine, sides: Sequence[Frame], lists: Frame, keys: Sequence[str]) -> Table:
    """Return the ranked rows of both models in some lists."""
    columns = (*keys, ITEM, RELEVANCE, HIT, POSITION, TIED, CONTRIBUTION)
    stacked = engine.stack([rows.select(*columns, nw.lit(side).alias(SIDE)) for side, rows in enumerate(sides)])
    return engine.collected(matched(engine, stacked, lists.select(*keys), keys))


def _with_column(table: Table, name: str, values: Sequence[Any], dtype: Any) -> Table:
    """Return a table with one more column."""
    return table.with_columns(nw.new_series(name, values, dtype, backend=nw.get_native_namespace(table)))


def _first_positions(rows: Table, count: int) -> list[list[float | None]]:
    """Return the expected position of the first relevant item of each list, before and after.

    It is None if no relevant item is ranked. In a tied block of t rows with m relevant rows, the first relevant row is
    expected at position (t + 1) / (m + 1) of the block.
    """
    hits = rows.filter(nw.col(HIT) > 0, ~nw.col(POSITION).is_null())
    blocks = hits.group_by(LIST, SIDE, POSITION).agg(nw.col(HIT).sum(), nw.col(TIED).max())
    position = nw.col(POSITION) - 1 + (nw.col(TIED) + 1) / (nw.col(HIT) + 1)
    first = blocks.select(LIST, SIDE, position.alias(FIRST)).group_by(LIST, SIDE).agg(nw.col(FIRST).min())
    positions: list[list[float | None]] = [[None] * count, [None] * count]
    for number, side, value in zip(*(first[name].to_list() for name in (LIST, SIDE, FIRST)), strict=True):
        positions[side][number] = value
    return positions


def _changed_items(rows: Table, k: int | None) -> Table:
    """Return the items whose chance to be in the top k changed, or whose contribution to the value of their list."""
    # If a tied block crosses k, each of its rows is in the top k with the same probability.
    share = nw.lit(1.0) if k is None else (k + 1 - nw.col(POSITION)) / nw.col(TIED)
    inside = nw.when(share < 1).then(share).otherwise(1.0)
    inside = nw.when(nw.col(POSITION).is_null() | (share < 0)).then(0.0).otherwise(inside)
    expected = nw.col(POSITION) + (nw.col(TIED) - 1) / 2
    columns = [
        nw.when(nw.col(SIDE) == 1).then(nw.col(CONTRIBUTION)).otherwise(0.0 - nw.col(CONTRIBUTION)).alias("part")
    ]
    for side, name in enumerate((BEFORE, AFTER)):
        is_side = nw.col(SIDE) == side
        columns.append(nw.when(is_side).then(expected).alias(f"position_{name}"))
        columns.append(nw.when(is_side).then(inside).otherwise(0.0).alias(f"top_{name}"))
    sums = ("part", "top_before", "top_after")
    least = ("position_before", "position_after")
    items = (
        rows.select(LIST, ITEM, RELEVANCE, *columns)
        .group_by(LIST, ITEM)
        .agg(nw.col(RELEVANCE).max(), *(nw.col(name).sum() for name in sums), *(nw.col(name).min() for name in least))
    )
    moved = nw.col("top_after") - nw.col("top_before")
    items = items.filter((moved.abs() > ROUNDING) | (nw.col("part").abs() > ROUNDING))
    left_or_stayed = nw.when(moved < -ROUNDING).then(nw.lit("left")).otherwise(nw.lit("stayed"))
    items = items.with_columns(
        nw.when(moved > ROUNDING).then(nw.lit("entered")).otherwise(left_or_stayed).alias("change")
    )
    return items.rename({name: INTERNAL.format(name) for name in ITEM_COLUMNS if name not in (ITEM, RELEVANCE)})
