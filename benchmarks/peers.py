"""Against the libraries that compute the same numbers. Each row first checks that they are the same."""

from __future__ import annotations

import math
import subprocess
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import recframe  # noqa: F401 - registers .rec
from benchmarks.data import Shape, arrays, pandas_frame, polars_frame
from benchmarks.process import ask
from benchmarks.timing import Missing, Row, faster, in_turn, slower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from benchmarks.isolated import Interpreter

K = 10


def agree(values: Sequence[float]) -> None:
    """Stop where the calls of a row, ours first, do not compute the same."""
    ours, *others = map(float, values)
    for theirs in others:
        if not math.isclose(ours, theirs, rel_tol=1e-9):
            msg = f"recframe says {ours!r}, but the peer {theirs!r}"
            raise RuntimeError(msg)


# --- ranx -------------------------------------------------------------------------------------------------


def ranx_rows(shape: Shape, repeats: int) -> Iterator[Row | Missing]:
    """Measure ranx with its conversion from the frame, and its evaluation alone."""
    with_conversion, evaluation = (
        f"ndcg@{K} on pandas, against ranx from the frame",
        f"ndcg@{K} on pandas, against ranx evaluate",
    )
    if find_spec("ranx") is None:
        yield from (Missing(what, str(shape), "not installed") for what in (with_conversion, evaluation))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its libraries' deprecations, and Numba's remarks while it compiles
        import ranx

        frame = pandas_frame(arrays(shape))

        def convert() -> tuple[Any, Any]:
            text = frame[["user", "item"]].astype(str).astype(object)
            run = frame[["score"]].join(text)
            judged = frame.loc[frame["relevant"] > 0, ["relevant"]].join(text)
            names = {"q_id_col": "user", "doc_id_col": "item"}
            return (
                ranx.Qrels.from_df(judged, score_col="relevant", **names),
                ranx.Run.from_df(run, score_col="score", **names),
            )

        converted = convert()
        times = in_turn(
            {
                "ours": lambda: frame.rec.ndcg(K),
                "evaluation": lambda: ranx.evaluate(*converted, f"ndcg@{K}"),
                "with_conversion": lambda: ranx.evaluate(*convert(), f"ndcg@{K}"),
            },
            repeats,
            check=agree,
        )
    yield faster(with_conversion, shape, times["ours"], times["with_conversion"], 25.0)
    yield faster(evaluation, shape, times["ours"], times["evaluation"], 8.0)


# --- pytrec_eval ------------------------------------------------------------------------------------------


def pytrec_eval_rows(shape: Shape, repeats: int) -> Iterator[Row | Missing]:
    """Measure pytrec_eval with the conversion to its dictionaries."""
    what = f"ndcg@{K} on pandas, against pytrec_eval from the frame"
    if find_spec("pytrec_eval") is None:
        yield Missing(what, str(shape), "not installed")
        return
    import pytrec_eval

    frame = pandas_frame(arrays(shape))
    # It keeps scores as float32, in which whole numbers up to 2^24 do not tie.
    frame["score"] = frame["score"].rank(method="first")

    def nested(rows: pd.DataFrame, value: str) -> dict[str, dict[str, Any]]:
        # The fastest way that its users have measured: columns to lists, no pass over rows of the frame.
        lists: dict[str, dict[str, Any]] = {user: {} for user in rows["user"].unique().astype(str)}
        users, items = rows["user"].astype(str).tolist(), rows["item"].astype(str).tolist()
        for user, item, number in zip(users, items, rows[value].tolist(), strict=True):
            lists[user][item] = number
        return lists

    def theirs() -> float:
        qrels = nested(frame[frame["relevant"] > 0], "relevant")
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{K}"})
        by_user = evaluator.evaluate(nested(frame, "score"))
        return sum(values[f"ndcg_cut_{K}"] for values in by_user.values()) / len(by_user)

    times = in_turn({"ours": lambda: frame.rec.ndcg(K), "theirs": theirs}, repeats, check=agree)
    yield faster(what, shape, times["ours"], times["theirs"], 25.0)


# --- scikit-learn -----------------------------------------------------------------------------------------


def sklearn_rows(shape: Shape, repeats: int) -> Iterator[Row | Missing]:
    """Measure scikit-learn on dense arrays that are there already."""
    averaged = f"ndcg@{K} on polars, against scikit-learn, ties averaged"
    ignored = f"ndcg@{K} on polars / scikit-learn, ties ignored"
    if find_spec("sklearn") is None:
        yield from (Missing(what, str(shape), "not installed") for what in (averaged, ignored))
        return
    from sklearn.metrics import ndcg_score

    columns = arrays(shape)
    frame = polars_frame(columns)
    size = (shape.lists, shape.length)
    place = columns["user"] * shape.length + columns["item"]
    dense = [columns[name][place.argsort()].reshape(size) for name in ("relevant", "score")]
    times = in_turn(
        {
            "ours": lambda: frame.rec.ndcg(K),
            "ignored": lambda: ndcg_score(*dense, k=K, ignore_ties=True),
            "averaged": lambda: ndcg_score(*dense, k=K),
        },
        repeats,
        check=agree,
    )
    yield faster(averaged, shape, times["ours"], times["averaged"], 15.0)
    yield slower(ignored, shape, times["ours"], times["ignored"], 1.5)


# --- SciPy ------------------------------------------------------------------------------------------------


def scipy_rows(shape: Shape, repeats: int) -> Iterator[Row | Missing]:
    """Measure a loop over SciPy's correlations on arrays that are cut into lists already."""
    what = "{} on polars / a loop over scipy.stats.{}"
    names = {"kendall": "kendalltau", "spearman": "spearmanr"}
    if find_spec("scipy") is None:
        yield from (Missing(what.format(*pair), str(shape), "not installed") for pair in names.items())
        return
    from scipy import stats

    columns = arrays(shape)
    frame = polars_frame(columns)
    place = (columns["user"] * shape.length + columns["item"]).argsort()
    dense = [columns[name][place].reshape(shape.lists, shape.length) for name in ("relevant", "score")]
    for name, theirs in names.items():
        correlation = getattr(stats, theirs)

        def ours(name: str = name) -> float:
            return frame.rec.evaluate(name).item()

        def loop(correlation: Callable[..., Any] = correlation) -> float:
            return math.fsum(correlation(*both).statistic for both in zip(*dense, strict=True)) / shape.lists

        times = in_turn({"ours": ours, "theirs": loop}, repeats, check=agree)
        yield slower(what.format(name, theirs), shape, times["ours"], times["theirs"], 0.2)


# --- RecTools ---------------------------------------------------------------------------------------------


def rectools_rows(shape: Shape, repeats: int, where: Interpreter) -> Iterator[Row | Missing]:
    """Measure RecTools by the Python of an environment that has it, recframe, polars and a pandas older than 3."""
    with_conversion, evaluation = (
        f"ndcg@{K} on pandas, against RecTools from the frame",
        f"ndcg@{K} of ranks, against RecTools of ranks",
    )
    if where.python is None:
        yield from (Missing(what, str(shape), where.why) for what in (with_conversion, evaluation))
        return
    try:
        measured = ask("rectools", python=where.python, lists=shape.lists, length=shape.length, repeats=repeats)
    except subprocess.CalledProcessError:
        yield from (Missing(what, str(shape), "failed, see above") for what in (with_conversion, evaluation))
        return
    times, note = measured["times"], f" ({measured['versions']})"
    yield faster(with_conversion + note, shape, times["ours"], times["with_conversion"], 8.0)
    # For whoever has ranks already; the limit is for the frame that both can start from.
    yield faster(evaluation + note, shape, times["ours of ranks"], times["evaluation"], None)


def rectools_times(lists: int, length: int, repeats: int) -> dict[str, Any]:
    """Time RecTools in this process, whose environment has it."""
    from rectools.metrics import NDCG

    frame = pandas_frame(arrays(Shape(lists, length), extra=["bought"]))
    # Its truth is what was bought, its lists have ranks, and the ideal of what can be achieved is an option.
    metric = NDCG(k=K, divide_by_achievable=True)

    names = {"user": "user_id", "item": "item_id"}

    def convert() -> tuple[pd.DataFrame, pd.DataFrame]:
        bought = frame.loc[frame["bought"] > 0, ["user", "item"]]
        rank = frame.groupby("user")["score"].rank("first", ascending=False).astype("int64")
        recommended = frame[["user", "item"]].assign(rank=rank)
        return recommended.rename(columns=names), bought.rename(columns=names)

    recommended, bought = convert()
    ranked = frame.assign(rank=recommended["rank"])
    times = in_turn(
        {
            "ours": lambda: frame.rec.ndcg(K, relevant="bought"),
            "ours of ranks": lambda: ranked.rec.ndcg(K, relevant="bought", rank="rank"),
            "evaluation": lambda: metric.calc(recommended, bought),
            "with_conversion": lambda: metric.calc(*convert()),
        },
        repeats,
        check=agree,
    )
    versions = ", ".join(f"{name} {version(name)}" for name in ("rectools", "pandas"))
    return {"times": times, "versions": versions}
