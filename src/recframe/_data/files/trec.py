"""Read runs and qrels of TREC, BEIR and MS MARCO, and write runs."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import narwhals as nw

from recframe._base.defaults import BY, ITEM, MODEL, RELEVANT, SCORE, columns_or_defaults
from recframe._base.roles import CALL_ROLES
from recframe._base.signatures import checked_call
from recframe._data.common import check_frame, check_name, check_roles
from recframe._data.files.fields import BEIR_HEADER, POSITIVES, QRELS, RANKS, RUN, read_fields
from recframe._data.files.paths import as_path, models_of, write_atomically
from recframe._data.top import ranked, unused_rank_column, with_single_order
from recframe._engines.registry import constructors_for, is_lazy
from recframe._plan.request import Request
from recframe.errors import InputError, OptionError, OptionTypeError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd
    import polars as pl

    from recframe._engines.constructors import Constructors

    class _RunNames(TypedDict, total=False):
        by: str
        item: str
        score: str
        model: str

    class _QrelsNames(TypedDict, total=False):
        by: str
        item: str
        relevant: str
        subtopic: str | None


@overload
def read_run(path: Any, *, library: Literal["polars"], **names: Unpack[_RunNames]) -> pl.DataFrame: ...
@overload
def read_run(path: Any, *, library: Literal["pandas"], **names: Unpack[_RunNames]) -> pd.DataFrame: ...
@overload
def read_run(path: Any, *, library: str | None = None, **names: Unpack[_RunNames]) -> Any: ...


@checked_call
def read_run(
    path: Any,
    *,
    by: str = BY,
    item: str = ITEM,
    score: str = SCORE,
    model: str = MODEL,
    library: str | None = None,
) -> Any:
    r"""Return runs as a frame: the documents that systems returned for each query.

    Three formats are read. White space separates the fields of a line.

    - TREC: query, ``Q0``, document, rank, score and tag. As in trec_eval, the score decides the order; the rank and the
      tag are not read.
    - MS MARCO: query, document and rank. The rank is a whole number from 1, and the negative rank becomes the score.
    - BEIR: the header ``query-id corpus-id score``, and these three fields.

    Queries and documents are text. Lines that start with ``#`` and white space are comments. Files may be compressed by
    gzip.

    Parameters
    ----------
    path : path, glob pattern, sequence of paths, or mapping
        One file; or several systems: a pattern such as ``"runs/*.run"``, paths, or ``{name: path}``.
    by, item, score, model : str
        The names of the columns of the result; by default the columns in `Config`.
    library : {"polars", "pandas"}, default None
        The library of the frame; None: polars if it is installed, pandas otherwise.

    Returns
    -------
    frame
        The columns `by`, `item` and `score`. With several systems, `model` is the first column. It holds the names in
        the mapping, or the names of the files without their endings.

    Raises
    ------
    RecError
        A file is missing, or a line cannot be read: the error names both.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import recframe
    >>> path = pathlib.Path(tempfile.mkdtemp(), "bm25.run")
    >>> _ = path.write_text("q1 Q0 d7 1 12.5 bm25\nq1 Q0 d3 2 11.0 bm25\n")
    >>> recframe.read_run(path, library="polars").rows()
    [('q1', 'd7', 12.5), ('q1', 'd3', 11.0)]
    >>> recframe.read_run({"BM25": path}, library="polars").rows()
    [('BM25', 'q1', 'd7', 12.5), ('BM25', 'q1', 'd3', 11.0)]
    """
    paths, several = models_of(path)
    names = columns_or_defaults(by=by, item=item, score=score, **({"model": model} if several else {}))
    check_columns(**names)
    columns = {"query": names["by"], "document": names["item"], "score": names["score"]}
    make = constructors_for((), library)
    frames = {name: _run(file, make, columns) for name, file in paths.items()}
    if not several:
        return next(iter(frames.values()))
    named = [
        nw.from_native(frame).select(nw.lit(name).alias(names["model"]), nw.all()) for name, frame in frames.items()
    ]
    return nw.concat(named, how="vertical").to_native()


@overload
def read_qrels(path: Any, *, library: Literal["polars"], **names: Unpack[_QrelsNames]) -> pl.DataFrame: ...
@overload
def read_qrels(path: Any, *, library: Literal["pandas"], **names: Unpack[_QrelsNames]) -> pd.DataFrame: ...
@overload
def read_qrels(path: Any, *, library: str | None = None, **names: Unpack[_QrelsNames]) -> Any: ...


@checked_call
def read_qrels(
    path: Any,
    *,
    by: str = BY,
    item: str = ITEM,
    relevant: str = RELEVANT,
    subtopic: str | None = None,
    library: str | None = None,
) -> Any:
    r"""Return qrels as a frame: which documents are relevant to each query, for ``truth=``.

    Three formats are read. White space separates the fields of a line.

    - TREC, and MS MARCO: query, iteration, document and relevance. The iteration is read if `subtopic` names a column
      for it, because the files of ndeval hold the subtopic there.
    - MS MARCO: query and document. Each document has relevance 1.
    - BEIR: the header ``query-id corpus-id score``, and these three fields. The score is the relevance.

    Queries, documents and subtopics are text; a relevance is a number, and may be negative. Lines that start with
    ``#`` and white space are comments. The file may be compressed by gzip.

    Parameters
    ----------
    path : path
        The file.
    by, item, relevant : str
        The names of the columns of the result; by default the columns in `Config`.
    subtopic : str, optional
        The name of the column of subtopics, for `alpha_ndcg` and `err_ia`; None: no such column.
    library : {"polars", "pandas"}, default None
        The library of the frame; None: polars if it is installed, pandas otherwise.

    Returns
    -------
    frame
        The columns `by`, `item` and `relevant`, and `subtopic` if it is named.

    Raises
    ------
    RecError
        The file is missing, or a line cannot be read: the error names both.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import recframe
    >>> path = pathlib.Path(tempfile.mkdtemp(), "test.qrels")
    >>> _ = path.write_text("q1\t0\td3\t2\nq1\t0\td7\t-1\n")
    >>> recframe.read_qrels(path, library="polars").rows()
    [('q1', 'd3', 2), ('q1', 'd7', -1)]
    """
    names = columns_or_defaults(by=by, item=item, relevant=relevant)
    names |= {} if subtopic is None else {"subtopic": subtopic}
    check_columns(**names)
    columns = {"query": names["by"], "document": names["item"], "relevance": names["relevant"]}
    columns |= {} if subtopic is None else {"iteration": subtopic}
    path = as_path(path)
    frame, layout = read_fields(path, QRELS, constructors_for((), library), columns)
    if subtopic is not None and "iteration" not in layout.fields:
        msg = f"`subtopic={quoted(subtopic)}`: {str(path)!r} has no subtopics, because a line has {layout}"
        raise OptionError(msg, "leave `subtopic=` out, or read a file of ndeval")
    if layout is POSITIVES:
        frame = nw.from_native(frame).with_columns(nw.lit(1, nw.Int64).alias(names["relevant"])).to_native()
    return frame


@checked_call
def write_run(frame: Any, path: Any, *, tag: str = "recframe", **roles: Any) -> None:
    """Write a frame as a TREC run: the ranked rows of each list, the best first.

    Parameters
    ----------
    frame : frame
        The recommendations of one model, eager.
    path : path
        The file, compressed by gzip if its name ends in ``.gz``. Readers never see an incomplete file.
    tag : str
        The name of the system, the last field of each line.
    **roles
        `by`, `item` and `score` or `rank`, as for every call of the namespace. A rank is written as a negative score,
        because the score decides the order.

    Raises
    ------
    RecError
        The frame cannot be written as a run, such as for ids that contain white space.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars as pl
    >>> import recframe
    >>> path = pathlib.Path(tempfile.mkdtemp(), "mine.run")
    >>> recframe.write_run(pl.DataFrame({"user": [7, 7], "item": [1, 2], "score": [0.2, 0.9]}), path, tag="mine")
    >>> print(path.read_text().strip())
    7 Q0 2 1 0.9 mine
    7 Q0 1 2 0.2 mine
    """
    check_frame("frame", frame)
    if is_lazy(frame):
        msg = "frame is lazy, but a file holds its rows"
        raise OptionTypeError(msg, "write_run(frame.collect(), path)")
    path = as_path(path)
    if not isinstance(tag, str) or not _is_field(tag):
        msg = f"tag={quoted(tag)} is not a word"
        raise OptionTypeError(msg, "give text without white space, such as tag='bm25'")
    allowed = tuple(name for name in CALL_ROLES["top"] if name != "model")
    query = with_single_order(Request(frame, {}, roles).query(allowed), "write_run")
    if len(query.by) != 1:
        msg = f"`by={list(query.by)!r}` names {len(query.by)} columns, but a line of a run has one query"
        raise OptionError(msg, "`by='user'`, or one column made of several")
    order = query.orders[0]
    check_roles(by=query.by, item=[query.item], **{"rank" if query.by_rank else "score": [order]})
    rank_column = unused_rank_column([query.by[0], query.item, order])
    rows = nw.from_native(ranked(frame, query, None, rank_column), eager_only=True)
    queries, items, scores = (rows.get_column(column).to_list() for column in (query.by[0], query.item, order))
    _check_fields(query.by[0], queries)
    _check_fields(query.item, items)
    sign = -1 if query.by_rank else 1
    positions = rows[rank_column].to_list()
    lines = [
        f"{query_id} Q0 {document} {position} {sign * score} {tag}\n"
        for query_id, document, position, score in zip(queries, items, positions, scores, strict=True)
    ]
    data = "".join(lines).encode()
    write_atomically(path, gzip.compress(data) if path.suffix == ".gz" else data)


def _check_fields(name: str, values: list[Any]) -> None:
    """Raise for a value that cannot be a field of a line."""
    for value in dict.fromkeys(values):
        if not isinstance(value, str | int) or isinstance(value, bool) or not _is_field(str(value)):
            msg = f"{name} holds {quoted(value)}, which cannot be a field of a run"
            raise InputError(msg, "give text without white space, or whole numbers")


def _run(path: Path, make: Constructors, columns: Mapping[str, str]) -> Any:
    """Return one run as a frame. Ranks become negative scores, which have the same order."""
    native, layout = read_fields(path, RUN, make, columns)
    if layout is not RANKS:
        return native
    query = columns["query"]
    rank = columns["score"]
    frame = nw.from_native(native, eager_only=True)
    if problem := _problem_of_ranks(frame, query, rank):
        msg = f"{str(path)!r}: the third of three fields is the rank, but {problem}"
        raise InputError(msg, f"if the third field is a score, make the first line {' '.join(BEIR_HEADER)}")
    return frame.with_columns(-nw.col(rank).cast(nw.Float64)).to_native()


def _problem_of_ranks(frame: nw.DataFrame[Any], query: str, rank: str) -> str:
    """Return why numbers cannot be ranks, or "". Scores that are read as ranks would reverse the order."""
    if not frame.schema[rank].is_integer():
        return "it is not always a whole number"
    least = nw.col(rank).min().over(query)
    wrong = frame.filter(least != 1).sort(query, rank)
    if len(wrong):
        return "the smallest one of query {!r} is {}, not 1".format(*wrong.select(query, rank).row(0))
    repeated = frame.filter(frame.select(query, rank).is_duplicated()).select(query, rank)
    return "query {!r} has {} twice".format(*repeated.row(0)) if len(repeated) else ""


def check_columns(**names: Any) -> None:
    """Raise if a column of a result would have an invalid name, or the name of another column."""
    check_roles(**{name: [check_name(name, column)] for name, column in names.items()})


def _is_field(text: str) -> bool:
    """Return whether a text can be written as one field: printable and without white space."""
    return text.split() == [text] and text.isprintable()
