"""Small invented data, to try recframe on: a table of visits to a bookshop, and files of TREC.

>>> from recframe import datasets
>>> datasets.visits(library="polars").shape
(6000, 11)
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import narwhals as nw

from recframe._base.signatures import checked_call
from recframe._engines.registry import constructors_for

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["TrecFiles", "trec", "visits"]

FOLDER = Path(__file__).parent


def __dir__() -> list[str]:
    return list(__all__)


@overload
def visits(*, library: Literal["polars"]) -> pl.DataFrame: ...
@overload
def visits(*, library: Literal["pandas"]) -> pd.DataFrame: ...
@overload
def visits(*, library: str | None = None) -> Any: ...


@checked_call
def visits(*, library: str | None = None) -> Any:
    """Return the books that 200 users of a shop were shown, what they bought, and the scores of four models.

    Each of the 200 users visited once and was shown 30 of the shop's 90 books, so the frame has 6,000 rows. The models
    `old`, `new` and `deep` score each user's books differently. `popular` gives a book the same score for everybody.

    Parameters
    ----------
    library : {"polars", "pandas"}, default None
        The library that makes the frame. None: polars if it is installed, otherwise pandas.

    Returns
    -------
    frame
        ``user``, ``item``, ``relevant`` (1 if the user bought the book, otherwise 0); ``country`` and ``week`` of the
        visit; ``price`` and ``genre`` of the book; and the scores ``old``, ``new``, ``deep`` and ``popular``. Higher
        is better, and no two books of a user have equal scores.

    Raises
    ------
    MissingExtraError
        Neither polars nor pandas is installed, or `library` names a library that is not installed.

    Examples
    --------
    >>> import recframe
    >>> visits = recframe.datasets.visits(library="polars")
    >>> visits.rec.evaluate("ndcg@5", score=["old", "new"])
    shape: (2, 2)
    ┌───────┬──────────┐
    │ model ┆ ndcg@5   │
    │ ---   ┆ ---      │
    │ str   ┆ f64      │
    ╞═══════╪══════════╡
    │ old   ┆ 0.518938 │
    │ new   ┆ 0.641597 │
    └───────┴──────────┘

    See Also
    --------
    trec : Files of a search experiment.

    Notes
    -----
    The data are invented: ``tools/datasets.py`` writes them from a seed.
    """
    make = constructors_for((), library)
    data = json.loads(gzip.decompress((FOLDER / "visits.json.gz").read_bytes()))
    items = data["items"]
    users = data["users"]
    pairs = data["pairs"]
    shown = pairs["item"]
    n = len(pairs["item"]) // len(users["week"])
    columns = {
        "user": [row // n + 1 for row in range(len(shown))],
        "item": [items["name"][item] for item in shown],
        "relevant": pairs["relevant"],
        **{name: [values[row // n] for row in range(len(shown))] for name, values in users.items()},
        "price": [items["price"][item] / 100 for item in shown],
        "genre": [items["genre"][item] for item in shown],
        **{model: [score / 1000 for score in pairs[model]] for model in ("old", "new", "deep")},
        "popular": [items["popular"][item] / 1000 for item in shown],
    }
    frame = nw.from_native(make.table(columns), eager_only=True)
    week = nw.col("week").str.to_datetime(format="%Y-%m-%d")
    # Without PyArrow, pandas has no dates: it holds them as times at midnight.
    return frame.with_columns(week.cast(nw.Date()) if frame.implementation.is_polars() else week).to_native()


@dataclass(frozen=True)
class TrecFiles:
    """The files of a search experiment: the judgments, and one run for each system.

    `recframe.datasets.trec` returns it. The files come with the package and are plain text in the formats of TREC, so
    trec_eval and other tools read them too. Both attributes can be passed on as they are: `recframe.read_run` accepts
    the dict, and names each system by its key.

    Parameters
    ----------
    qrels : Path
        The judgments, for `recframe.read_qrels`: 0, 1 or 2 for each document that was judged.
    runs : dict of str to Path
        The run of each system by its name, for `recframe.read_run`.
    """

    qrels: Path
    runs: dict[str, Path]


def trec() -> TrecFiles:
    """Return the paths of a small search experiment in the formats of TREC: 30 queries, three systems.

    Each system returns 20 documents for a query. The ten best documents of `bm25` and `dense` were judged, as in a pool
    of TREC, so `hybrid` has a few documents without a judgment among its ten best.

    Returns
    -------
    TrecFiles
        ``qrels``, the path of the judgments, and ``runs``, the path of each system's run by its name: ``bm25``,
        ``dense`` and ``hybrid``. The command line reads the same files.

    Examples
    --------
    >>> import recframe
    >>> files = recframe.datasets.trec()
    >>> runs = recframe.read_run(files.runs, library="polars")
    >>> qrels = recframe.read_qrels(files.qrels, library="polars")
    >>> runs.rec(model="model", truth=qrels).evaluate("ndcg@10")
    shape: (3, 2)
    ┌────────┬──────────┐
    │ model  ┆ ndcg@10  │
    │ ---    ┆ ---      │
    │ str    ┆ f64      │
    ╞════════╪══════════╡
    │ bm25   ┆ 0.665787 │
    │ dense  ┆ 0.642581 │
    │ hybrid ┆ 0.755002 │
    └────────┴──────────┘

    See Also
    --------
    recframe.read_run : Read run files as a frame.
    recframe.read_qrels : Read judgments as a frame.
    """
    folder = FOLDER / "trec"
    return TrecFiles(folder / "test.qrels", {name: folder / f"{name}.run" for name in ("bm25", "dense", "hybrid")})
