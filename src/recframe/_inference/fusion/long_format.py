"""From long to wide format: one column of scores per model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import ITEM, MODEL, ROWS, SCORE, key_column, score_column
from recframe._engines.column_spec import Source
from recframe._engines.registry import adapter_of, is_lazy, open_frames
from recframe._inference.lists.values import model_names
from recframe._plan.sources import item_spec, key_specs, model_spec, score_specs, with_list_key
from recframe.errors import InputError, OptionError

if TYPE_CHECKING:
    from recframe._plan.query import Query


def in_columns(frame: Any, query: Query, name: str) -> tuple[Any, dict[str, Any]]:
    """Return a frame in wide format, with one row per list and item, and the roles of its columns.

    Models are in the order of the rows. `name` is the column that fusion will add.

    Raises
    ------
    OptionError
        The frame is lazy, so its models are not known, or the new column has the name of a model.
    InputError
        A model scores an item of a list twice, or has the name of another column.
    """
    if is_lazy(frame):
        msg = f"model={query.model!r} needs the data, which a lazy frame does not have yet"
        raise OptionError(msg, f"score=['old', 'new'], a column for each model, or {adapter_of(frame).remedy}")
    keys = key_specs(query)
    specs = {**keys, **item_spec(query), **model_spec(query), **score_specs(query)}
    session = open_frames({"frame": Source(frame, specs)}, {})
    engine = session.engine
    rows, _ = with_list_key(session.frames["frame"], keys)
    pair = [*(keys or [key_column(0)]), ITEM]
    rows = engine.collect_once(rows.select(*pair, MODEL, nw.col(score_column(0)).alias(SCORE)))
    if engine.may_hold(engine.count_rows(rows, [*pair, MODEL], ROWS, {}), nw.col(ROWS) > 1):
        msg = f"a model of {query.model!r} has several rows for an item of a list"
        raise InputError(msg, f"keep one row for each item, list and model: {query.item!r}, {query.by!r}")
    codes, model_labels = model_names(session, rows)
    models = [*map(str, model_labels)]
    _check_names(query, name, models)
    wide = rows.select(*pair).unique()
    for number, code in enumerate(codes):
        scores = rows.filter(nw.col(MODEL) == code).select(*pair, nw.col(SCORE).alias(score_column(number)))
        wide = engine.join(wide, scores, pair)
    names = dict(zip(keys, query.by, strict=True)) | {ITEM: query.item}
    names |= {score_column(number): model for number, model in enumerate(models)}
    order = "rank" if query.by_rank else "score"
    roles = {"by": list(query.by) or None, "item": query.item, order: models}
    return session.finish(wide.select(*names), names, [column for column in pair if column in names]), roles


def _check_names(query: Query, name: str, models: list[str]) -> None:
    """Raise if a model has the name of the new column, of a key column or of the item column."""
    if name in models:
        msg = f"name={name!r} is the name of a model, whose scores would be lost"
        raise OptionError(msg, "give the new column a name of its own")
    repeated = [column for column in (*query.by, query.item) if str(column) in models]
    if repeated:
        msg = f"a model and a column are both called {repeated[0]!r}"
        raise InputError(msg, "rename the column, or the model")
