"""Runs and qrels as dicts, the format of many libraries of information retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.defaults import BY, ITEM, SCORE, columns_or_defaults
from recframe._base.signatures import checked_call
from recframe._base.values import column_name
from recframe._data.common import check_frame, check_roles
from recframe._data.files.trec import check_columns
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import adapter_of, constructors_for, is_lazy, labels_of
from recframe.errors import ColumnTypeError, InputError, OptionError, OptionTypeError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator


@checked_call
def from_dict(
    lists: Any,
    *,
    by: str = BY,
    item: str = ITEM,
    score: str | None = None,
    relevant: str | None = None,
    model: str | None = None,
    library: str | None = None,
) -> Any:
    """Return ``{query: {document: score}}`` as a frame with one row per document.

    Parameters
    ----------
    lists : mapping
        A run, ``{query: {document: score}}``, or qrels, ``{query: {document: relevance}}``. A missing value is None.
    by, item : str
        The names of the columns of queries and documents; by default the columns in `Config`.
    score : str, optional
        The name of the column of scores; by default the column in `Config`, or ``"score"``.
    relevant : str, optional
        The name of the column of relevances, instead of `score`, if the numbers are relevances.
    model : str, optional
        The name of a column of models, if `lists` holds several: ``{name: {query: {document: score}}}``.
    library : {"polars", "pandas"}, default None
        The library of the frame; None: polars if it is installed, pandas otherwise.

    Returns
    -------
    frame
        The columns `by`, `item` and `score` or `relevant`, after `model` if there is one. A query without documents
        has no row, but still counts if ``truth=`` has it.

    Raises
    ------
    RecError
        The dict has another shape, or a value is not a number.

    Examples
    --------
    >>> import recframe
    >>> run = recframe.from_dict({"q1": {"d7": 12.5, "d3": 11.0}}, library="polars")
    >>> qrels = recframe.from_dict({"q1": {"d3": 1}}, relevant="relevant", library="polars")
    >>> run.rec.mrr(truth=qrels)
    0.5
    """
    by, item = columns_or_defaults(by=by, item=item).values()
    value = _number_role(score, relevant)
    models = {"model": model} if model is not None else {}
    check_columns(by=by, item=item, **value, **models)
    make = constructors_for((), library)
    shape = "{model: {query: {document: number}}}"
    runs = [((), lists)] if model is None else [((name,), run) for name, run in _entries(lists, shape, "lists")]
    columns: dict[str, list[Any]] = {name: [] for name in (*models.values(), by, item, *value.values())}
    for path, run in runs:
        for query, documents in _queries(run, [*columns][-1], path):
            parts = (*([key] * len(documents) for key in (*path, query)), documents, documents.values())
            for column, part in zip(columns.values(), parts, strict=True):
                column.extend(part)
    return make.table(columns)


@checked_call
def to_dict(
    frame: Any,
    *,
    by: str = BY,
    item: str = ITEM,
    score: str | None = None,
    relevant: str | None = None,
    model: str | None = None,
) -> dict[Any, Any]:
    """Return a frame as ``{query: {document: score}}``, the opposite of `from_dict`.

    Parameters
    ----------
    frame : frame
        An eager frame of polars or pandas.
    by, item : str
        The columns of queries and documents; by default the columns in `Config`.
    score : str, optional
        The column of scores; by default the column in `Config`, or ``"score"``.
    relevant : str, optional
        The column of relevances, instead of `score`.
    model : str, optional
        The column of models; the result is then ``{name: {query: {document: score}}}``.

    Returns
    -------
    dict
        Queries and documents with the values of the frame. Rows without a number are left out.

    Raises
    ------
    RecError
        A list holds a document twice, or the frame lacks a column.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> recframe.to_dict(pl.DataFrame({"user": ["q1", "q1"], "item": ["d7", "d3"], "score": [12.5, 11.0]}))
    {'q1': {'d7': 12.5, 'd3': 11.0}}
    """
    by, item = columns_or_defaults(by=by, item=item).values()
    value = _number_role(score, relevant)
    roles = {"by": by, "item": item, **value, **({} if model is None else {"model": model})}
    check_frame("frame", frame)
    labels = labels_of(frame)
    check_roles(**{name: [column_name(name, column, labels)] for name, column in roles.items()})
    if is_lazy(frame):
        msg = "frame is lazy, but a dict holds its rows"
        raise OptionTypeError(msg, "to_dict(frame.collect())")
    specs = {name: ColumnSpec(column, name, "key") for name, column in roles.items()}
    adapter_of(frame).check_names({"frame": Source(frame, specs)})
    keys = (by, item) if model is None else (model, by, item)
    data = nw.from_native(constructors_for((frame,), None).reorder(frame, [*keys, *value.values()]), eager_only=True)
    columns = [column.to_list() for column in data.drop_nulls([*value.values()]).iter_columns()]
    try:
        return _nested(columns, item)
    except TypeError as error:
        msg = f"{' or '.join(map(repr, keys))} holds values that cannot be keys of a dict: {error}"
        raise ColumnTypeError(msg, "cast the column to text first") from error


def _nested(columns: list[list[Any]], item: str) -> dict[Any, Any]:
    """Return rows as nested dicts: the last column holds the values, and the columns before it are keys."""
    lists: dict[Any, Any] = {}
    for *outer, document, number in zip(*columns, strict=True):
        if number != number:  # noqa: PLR0124 - only NaN differs from itself
            continue
        level = lists
        for key in outer:
            level = level.setdefault(key, {})
        if document in level:
            msg = f"{item} {quoted(document)} is repeated in the list of {quoted(outer[-1])}"
            raise InputError(msg, "keep one row of each list and item")
        level[document] = number
    return lists


def _number_role(score: Any, relevant: Any) -> dict[str, Any]:
    """Return the role and the name of the column of numbers, as a dict with one entry."""
    if score is not None and relevant is not None:
        msg = f"score={quoted(score)} and relevant={quoted(relevant)} exclude each other"
        raise OptionError(msg, "a run has scores, qrels have relevances")
    if relevant is not None:
        return {"relevant": relevant}
    return columns_or_defaults(score=SCORE) if score is None else {"score": score}


def _queries(run: Any, value: str, path: tuple[Any, ...]) -> Iterator[tuple[Any, Mapping[Any, Any]]]:
    """Yield the queries of one run or qrels, each with its documents and their numbers."""
    subject = " of ".join(map(quoted, ("lists", *path)[::-1])) if path else "lists"
    for query, documents in _entries(run, "{query: {document: number}}", subject):
        list_name = f"the list of {quoted(query)}"
        for document, number in _entries(documents, "{document: number}", list_name):
            if number is not None and not isinstance(number, Real):
                msg = f"the {value} of {quoted(document)} in {list_name} is {quoted(number)}, not a number"
                hint = "; several models need model='model'" if isinstance(number, Mapping) else ""
                raise OptionTypeError(msg, "give {query: {document: number}}" + hint)
        yield query, documents


def _entries(mapping: Any, shape: str, subject: str) -> Any:
    """Return the entries of a mapping, or raise for another type."""
    if not isinstance(mapping, Mapping):
        msg = f"{subject} is {quoted(mapping)}, not a mapping"
        raise OptionTypeError(msg, f"give {shape}")
    return mapping.items()
