"""The same work by other libraries, each in an environment of its own: NDCG@10 alone, and in a bundle where it has one.

What a library computes from the frame that its users have is first converted to what it takes; both are timed apart.
"""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.data import Shape, arrays, pandas_frame, polars_frame, spark_frame
from benchmarks.process import ask
from benchmarks.timing import Missing, Row, faster, in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.isolated import Interpreter

    Convert = Callable[[Any], tuple[Any, ...]]
    Compute = Callable[..., list[float]]

K = 10
RELEVANT = "map(norm=relevant)"


@dataclass(frozen=True)
class Library:
    """How a library does the work."""

    distribution: str
    tasks: Callable[[], tuple[Convert, Mapping[str, Compute]]]
    """Returns what converts a frame, and what computes NDCG and the bundle from that."""
    ours: Mapping[str, Sequence[str]]
    """Our names of the same numbers."""
    frame: Callable[[dict[str, Any]], Any] = pandas_frame
    module: str | None = None
    """What its environment is found by, where that is not its name here."""
    binary: bool = False
    """Whether it knows only relevant and not relevant."""
    fewer: int = 1
    """How many times fewer lists it is given, as it is slow."""
    digits: float = 1e-9
    """What its values may differ by, as it computes with fewer digits."""


# --- one function a library: the same names as in `LIBRARIES` ---------------------------------------------


def ranx() -> tuple[Convert, Mapping[str, Compute]]:
    import ranx

    def convert(frame: Any) -> tuple[Any, ...]:
        text = frame[["user", "item"]].astype(str).astype(object)
        judged = frame.loc[frame["relevant"] > 0, ["relevant"]].join(text)
        names = {"q_id_col": "user", "doc_id_col": "item"}
        run = ranx.Run.from_df(frame[["score"]].join(text), score_col="score", **names)
        return ranx.Qrels.from_df(judged, score_col="relevant", **names), run

    def computed(*names: str) -> Compute:
        def compute(qrels: Any, run: Any) -> list[float]:
            values = ranx.evaluate(qrels, run, list(names))
            return [float(values[name]) for name in names] if len(names) > 1 else [float(values)]

        return compute

    return convert, {"ndcg": computed("ndcg@10"), "four": computed("precision@10", "recall@10", "map@10", "ndcg@10")}


def pytrec_eval() -> tuple[Convert, Mapping[str, Compute]]:
    import pytrec_eval

    def nested(rows: Any, value: str) -> dict[str, dict[str, Any]]:
        lists: dict[str, dict[str, Any]] = {user: {} for user in rows["user"].unique().astype(str)}
        users, items = rows["user"].astype(str).tolist(), rows["item"].astype(str).tolist()
        for user, item, number in zip(users, items, rows[value].tolist(), strict=True):
            lists[user][item] = number
        return lists

    def convert(frame: Any) -> tuple[Any, ...]:
        return nested(frame[frame["relevant"] > 0], "relevant"), nested(frame, "score")

    def computed(*names: str) -> Compute:
        def compute(qrels: Any, run: Any) -> list[float]:
            by_user = pytrec_eval.RelevanceEvaluator(qrels, {f"{name}.{K}" for name in names}).evaluate(run)
            return [math.fsum(values[f"{name}_{K}"] for values in by_user.values()) / len(by_user) for name in names]

        return compute

    return convert, {"ndcg": computed("ndcg_cut"), "four": computed("P", "recall", "map_cut", "ndcg_cut")}


def sklearn() -> tuple[Convert, Mapping[str, Compute]]:
    from sklearn.metrics import ndcg_score

    def convert(frame: Any) -> tuple[Any, ...]:
        dense = frame.sort("user", "item")  # all lists have the same items here, else it could not take them
        lists = dense["user"].n_unique()
        return tuple(dense[name].to_numpy().reshape(lists, -1) for name in ("relevant", "score"))

    return convert, {"ndcg": lambda *dense: [float(ndcg_score(*dense, k=K))]}


def rectools() -> tuple[Convert, Mapping[str, Compute]]:
    from rectools import metrics

    def convert(frame: Any) -> tuple[Any, ...]:
        names = {"user": "user_id", "item": "item_id"}
        rank = frame.groupby("user")["score"].rank("first", ascending=False).astype("int64")
        recommended = frame[["user", "item"]].assign(rank=rank).rename(columns=names)
        return recommended, frame.loc[frame["relevant"] > 0, ["user", "item"]].rename(columns=names)

    ndcg = metrics.NDCG(k=K, divide_by_achievable=True)
    four = {"p": metrics.Precision(k=K), "r": metrics.Recall(k=K), "map": metrics.MAP(k=K), "ndcg": ndcg}

    def bundle(recommended: Any, bought: Any) -> list[float]:
        values = metrics.calc_metrics(four, recommended, bought)
        return [values[name] for name in four]

    return convert, {"ndcg": lambda *frames: [ndcg.calc(*frames)], "four": bundle}


def recommenders() -> tuple[Convert, Mapping[str, Compute]]:
    from recommenders.evaluation import python_evaluation as theirs

    def convert(frame: Any) -> tuple[Any, ...]:
        names = {"user": "userID", "item": "itemID", "relevant": "rating", "score": "prediction"}
        truth = frame.loc[frame["relevant"] > 0, ["user", "item", "relevant"]].rename(columns=names)
        return truth, frame[["user", "item", "score"]].rename(columns=names)

    def computed(*names: str) -> Compute:
        def compute(truth: Any, recommended: Any) -> list[float]:
            return [float(getattr(theirs, name)(truth, recommended, k=K)) for name in names]

        return compute

    four = computed("precision_at_k", "recall_at_k", "map_at_k", "ndcg_at_k")
    return convert, {"ndcg": computed("ndcg_at_k"), "four": four}


def replay() -> tuple[Convert, Mapping[str, Compute]]:
    def convert(frame: Any) -> tuple[Any, ...]:
        recommended = frame.rename({"user": "query_id", "item": "item_id", "score": "rating"})
        bought = recommended.filter(recommended["relevant"] > 0)
        return recommended.select("query_id", "item_id", "rating"), bought.select("query_id", "item_id")

    return convert, _replay_tasks()


def replay_on_spark() -> tuple[Convert, Mapping[str, Compute]]:
    def convert(frame: Any) -> tuple[Any, ...]:
        recommended = frame.withColumnsRenamed({"user": "query_id", "item": "item_id", "score": "rating"})
        bought = recommended.filter("relevant > 0")
        return recommended.select("query_id", "item_id", "rating"), bought.select("query_id", "item_id")

    return convert, _replay_tasks()


def _replay_tasks() -> Mapping[str, Compute]:
    from replay import metrics

    def computed(*kinds: Any) -> Compute:
        def compute(recommended: Any, bought: Any) -> list[float]:
            values = metrics.OfflineMetrics([kind(K) for kind in kinds])(recommended, bought)
            return [float(values[f"{kind.__name__}@{K}"]) for kind in kinds]

        return compute

    four = computed(metrics.Precision, metrics.Recall, metrics.MAP, metrics.NDCG)
    return {"ndcg": computed(metrics.NDCG), "four": four}


def torchmetrics() -> tuple[Convert, Mapping[str, Compute]]:
    import torch
    from torchmetrics import retrieval

    def convert(frame: Any) -> tuple[Any, ...]:
        return tuple(torch.tensor(frame[name].to_numpy()) for name in ("score", "relevant", "user"))

    def ndcg(scores: Any, relevant: Any, user: Any) -> float:
        return float(retrieval.RetrievalNormalizedDCG(top_k=K)(scores, relevant, indexes=user))

    def bundle(scores: Any, relevant: Any, user: Any) -> list[float]:
        hits = (relevant > 0).long()
        kinds = (retrieval.RetrievalPrecision, retrieval.RetrievalRecall, retrieval.RetrievalMAP)
        return [*(float(kind(top_k=K)(scores, hits, indexes=user)) for kind in kinds), ndcg(scores, relevant, user)]

    return convert, {"ndcg": lambda *tensors: [ndcg(*tensors)], "four": bundle}


def lenskit() -> tuple[Convert, Mapping[str, Compute]]:
    from lenskit import metrics
    from lenskit.data import ItemList, ItemListCollection
    from lenskit.metrics import RunAnalysis
    from lenskit.metrics.ranking import AveragePrecision, LogRankWeight

    def lists(rows: Any, field: str) -> Any:
        collection = ItemListCollection.empty(["user_id"])
        for user, user_rows in rows.groupby("user"):
            more = {"scores": user_rows[field].to_numpy(), "ordered": True} if field == "score" else {}
            more |= {"rating": user_rows[field].to_numpy()} if field == "relevant" else {}
            collection.add(ItemList(item_ids=user_rows["item"].to_numpy(), **more), user_id=user)
        return collection

    def convert(frame: Any) -> tuple[Any, ...]:
        recommended = frame.sort_values("score", ascending=False)
        return lists(recommended, "score"), lists(frame[frame["relevant"] > 0], "relevant")

    # Its own discount is 1 at the first two positions.
    ndcg = metrics.NDCG(K, weight=LogRankWeight(offset=1), gain="rating")
    four = (metrics.Precision(K), metrics.Recall(K), AveragePrecision(K), ndcg)

    def computed(*requested: Any) -> Compute:
        def compute(recommended: Any, judged: Any) -> list[float]:
            means = RunAnalysis(*requested).measure(recommended, judged).list_summary()["mean"]
            return [float(means[metric.label]) for metric in requested]

        return compute

    return convert, {"ndcg": computed(ndcg), "four": computed(*four)}


def names(*, precision: str = "precision", recall: str = "recall", average: str = RELEVANT) -> dict[str, list[str]]:
    """Return our names of what a library computes."""
    return {"ndcg": ["ndcg"], "four": [precision, recall, average, "ndcg"]}


LIBRARIES = {
    "ranx": Library("ranx", ranx, names()),
    "pytrec_eval": Library("pytrec_eval-terrier", pytrec_eval, names()),
    "sklearn": Library("scikit-learn", sklearn, names(), frame=polars_frame),
    "rectools": Library("RecTools", rectools, names(), binary=True),
    "recommenders": Library("recommenders", recommenders, names(average="map"), binary=True),
    "replay": Library("replay-rec", replay, names(average="map"), frame=polars_frame, binary=True),
    "replay_on_spark": Library(
        "replay-rec", replay_on_spark, names(average="map"), frame=spark_frame, module="replay", binary=True
    ),
    "torchmetrics": Library(
        "torchmetrics", torchmetrics, names(average="map(norm=hits)"), frame=polars_frame, fewer=10, digits=1e-5
    ),
    "lenskit": Library("lenskit", lenskit, names(recall="recall(capped=True)", average="map"), fewer=10),
}
KINDS = {pandas_frame: "pandas", polars_frame: "polars", spark_frame: "pyspark"}
"""The library of a frame."""
WHAT = {"ndcg": f"ndcg@{K}", "four": f"precision, recall, map, ndcg@{K}"}


def measured(library: str, lists: int, length: int, repeats: int, *, large: bool = False) -> dict[str, Any]:
    """Time a library in this process, whose environment has it; ours on the frame from which it converts.

    Parameters
    ----------
    library : str
        A name in `LIBRARIES`.
    lists, length, repeats : int
        The frame, and how often each side runs.
    large : bool
        Only NDCG, once, without ours: for the chart.
    """
    import recframe

    peer = LIBRARIES[library]
    columns = arrays(Shape(lists, length))
    # Whole numbers that no library rounds, none twice.
    columns["score"] = np.random.default_rng(1).permutation(len(columns["score"])).astype(float)
    if peer.binary:
        columns["relevant"] = (columns["relevant"] > 0).astype(np.int64)
    frame = peer.frame(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        convert, tasks = peer.tasks()
        if large:
            return {"ndcg": in_turn({"all": lambda: tasks["ndcg"](*convert(frame))}, repeats)["all"]}
        converted = convert(frame)
        holds = KINDS[peer.frame]
        measured: dict[str, Any] = {"version": f"{version(peer.distribution)} ({holds} {version(holds)})"}
        for task, compute in tasks.items():

            def ours(labels: Sequence[str] = peer.ours[task]) -> Any:
                result = recframe.rec(frame).evaluate(list(labels), k=K)
                return result.toPandas() if holds == "pyspark" else result

            def theirs(compute: Compute = compute) -> list[float]:
                return compute(*converted)

            numbers = [float(ours()[f"{label}@{K}"][0]) for label in peer.ours[task]]
            for label, mine, other in zip(peer.ours[task], numbers, theirs(), strict=True):
                if not math.isclose(mine, other, rel_tol=peer.digits):
                    msg = f"{label}@{K}: recframe says {mine!r}, but {library} {other!r}"
                    raise RuntimeError(msg)
            measured[task] = in_turn({"ours": ours, "theirs": theirs, "conversion": lambda: convert(frame)}, repeats)
    return measured


def library_rows(shape: Shape, repeats: int, interpreters: Mapping[str, Interpreter]) -> Iterator[Row | Missing]:
    """Measure each library by the interpreter that has it."""
    for name, peer in LIBRARIES.items():
        size = Shape(max(1, shape.lists // peer.fewer), shape.length)
        where = interpreters[peer.module or name]
        what = f"{WHAT['ndcg']}, {peer.distribution}"
        if where.python is None:
            yield Missing(what, str(size), where.why)
            continue
        try:
            arguments = {"library": name, "lists": size.lists, "length": size.length, "repeats": repeats}
            measured = ask("library", python=where.python, **arguments)
        except subprocess.CalledProcessError as error:
            sys.stderr.write(f"{name}: {error}\n")
            yield Missing(what, str(size), "failed, see above")
            continue
        peer_version = measured.pop("version")
        for task, times in measured.items():
            title = f"{WHAT[task]} on {KINDS[peer.frame]}, against {peer.distribution} {peer_version}"
            converted = _duration(median(times["conversion"]))
            yield faster(f"{title}, after {converted} of conversion", size, times["ours"], times["theirs"], None)


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
