"""The demo: one list ranked by two models, then three simple recommenders on generated or given ratings."""

from __future__ import annotations

import textwrap
import time
import warnings
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from examples.demo.baselines import (
    MAX_ITEMS,
    MAX_USERS,
    MIN_ITEMS,
    MODELS,
    NEIGHBOURS,
    generate,
    hold_out,
    recommend,
)
from examples.demo.ratings import OPTIONS, Ratings, read_ratings
from examples.demo.text import EXAMPLE, NEXT, aligned, count, heading, listed, marked, metric_table, paragraph, rounded
from recframe import rec
from recframe.errors import DataWarning, InputError, OptionError
from recframe.metrics import NDCG

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    Say = Callable[[str], None]

OBJECT_METRICS = ("precision", "recall", "map", "ndcg", "mrr", "hit_rate")
TIE_CUTOFF = 10
MODEL_METRICS = ("ndcg", "map", "recall", "precision", "mrr", "hit_rate")

# Object 8 of a metrics tutorial: 30 items, scored by noise and by a nearest-neighbour model.
RELEVANT = "101000011011000010111011000100"
RANDOM = (
    -2.017719, 0.540541, -1.442299, -1.608850, -1.006569, -0.257534, 0.730507, -1.698401, 1.674076, 1.163724,
    -0.132574, -0.290246, -0.953532, 0.588041, 0.068801, 1.412064, -0.686216, 0.547944, -0.036383, -0.847016,
    1.902304, 0.279605, 0.620255, -1.068568, -0.722621, 0.084140, -0.584455, 0.602022, 0.438365, -0.782343,
)  # fmt: skip
KNN = (
    0.911927, 0.360036, 0.563100, 0.763004, 0.638666, 0.253009, 0.348827, 0.563100, 0.673895, 0.638666,
    0.653047, 0.430756, 0.186026, 0.350962, 0.771011, 0.454776, 0.737111, 0.350962, 0.555094, 0.552959,
    0.738984, 0.172943, 0.537218, 0.631957, 0.272497, 0.462782, 0.443032, 0.642905, 0.354960, 0.644799,
)  # fmt: skip


def run(
    ratings: Path | None = None,
    *,
    cutoffs: Sequence[int] = (5, 10),
    min_rating: float | None = None,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    say: Say = print,
    progress: Say = lambda _: None,
) -> None:
    """Show the demo.

    Parameters
    ----------
    ratings : Path, optional
        A Parquet or CSV file with the columns user, item and maybe rating, for the comparison of three
        recommenders. None: the example of one list, then the comparison on a generated data set.
    cutoffs : sequence of int
        The cutoffs of the metrics.
    min_rating : float, optional
        Ratings from here on are positive. None: 4; if all ratings are equal, every row is positive.
    seed : int
        The seed of all that is random.
    columns : mapping of str to str, optional
        What the file calls the columns user, item and rating, where it differs.
    say, progress : callable
        Take a finished text, and a line on what is going on.
    """
    cutoffs = sorted(set(cutoffs))
    for k in cutoffs:
        NDCG(k=k)  # raises for a k that is none, before any work
    if ratings is None and min_rating is not None:
        msg = f"--min-rating {min_rating:g} without --ratings: the generated data has no ratings"
        raise OptionError(msg, "give a file, --ratings FILE")
    if ratings is None and columns:
        msg = f"--{' and --'.join(OPTIONS[name] for name in columns)} without --ratings: the generated data has no file"
        raise OptionError(msg, "give a file, --ratings FILE")
    if ratings is not None:
        progress(f"reading {ratings.name}")
        data = read_ratings(ratings, min_rating, columns or {})
        progress("")
        say(heading(f"Three simple recommenders on {ratings.name}"))
        say(_counts(data))
        _compare(data, cutoffs, seed, say, progress)
        return
    say(heading("1. One list, two models"))
    _one_list(cutoffs, say)
    data = Ratings.of_positives(generate(seed))
    say(heading("2. Many lists, three simple recommenders"))
    size = f"{count(data.n_users, 'user')}, {count(data.n_items, 'item')}, {data.n_rows:,} likes"
    say(paragraph(f"A small invented world (seed {seed}): {size}. Some items are popular, and users have tastes."))
    _compare(data, cutoffs, seed, say, progress)
    say(f"\n{heading('3. Your turn')}")
    say(paragraph("A frame of your own needs one row for each user and item. Copy this, and put your data in:"))
    say(textwrap.indent(EXAMPLE, "  "))
    say(NEXT.rstrip())


# --- one list ---------------------------------------------------------------------------------------------


def _object8() -> pl.DataFrame:
    """Return the example's frame: object, item, relevant, and the scores of two models."""
    return pl.DataFrame(
        {"item": range(30), "relevant": [int(flag) for flag in RELEVANT], "random": RANDOM, "knn": KNN}
    ).select(pl.lit(8).alias("object"), pl.all())


def _one_list(cutoffs: Sequence[int], say: Say) -> None:
    frame = _object8()
    relevant = frame["relevant"].sum()
    text = (
        f"One list, object 8 of a metrics tutorial: {frame.height} items, {relevant} of them relevant, scored by noise "
        "and by a nearest-neighbour model. Relevance in score order, best first:"
    )
    say(paragraph(text))
    for model in ("random", "knn"):
        order = frame.sort(model, "item", descending=[True, False])["relevant"]
        say(f"  {model:<8}{' '.join(map(str, order))}")
    say(f"\n  metrics = {listed(OBJECT_METRICS)}")
    say(f'  frame.rec.evaluate(metrics, k={cutoffs}, by="object", score=["random", "knn"])\n')
    result = _evaluate(frame, list(OBJECT_METRICS), k=cutoffs, by="object", score=["random", "knn"])
    say(metric_table(result, ("random", "knn"), len(cutoffs)))
    text = "The random order happens to start with two relevant items, so it keeps up at the very top."
    say(paragraph(f"* the best of a line, where the models differ. {text}"))
    _ties(frame, TIE_CUTOFF, say)


def _ties(frame: pl.DataFrame, k: int, say: Say) -> None:
    """Show what equal scores do to a metric under three policies."""
    scores = {"as printed": pl.col("knn"), "one decimal": pl.col("knn").round(1), "all equal": pl.lit(0.0)}
    frame = frame.with_columns(column.alias(name) for name, column in scores.items())
    pairs = frame.height - frame["knn"].n_unique()
    text = (
        f"Equal scores: the knn scores are printed with six decimals, and so {pairs} pairs of items tie. Ties have "
        "no order, so recframe averages over all orders of the tied items, exactly. In each of these pairs both items "
        "have the same relevance, so here nothing depends on it. It does where scores are coarser:"
    )
    say(paragraph(text))
    policies: tuple[Literal["worst", "average", "best"], ...] = ("worst", "average", "best")
    by_policy = [
        _evaluate(frame, "ndcg", k=k, by="object", score=list(scores), ties=policy)[f"ndcg@{k}"].to_list()
        for policy in policies
    ]
    by_score = zip(scores, zip(*by_policy, strict=True), strict=True)
    rows = [[name, *map(rounded, values)] for name, values in by_score]
    say(aligned([f"ndcg@{k}, knn scores", *(f'ties="{policy}"' for policy in policies)], rows))
    text = (
        "Without a rule for ties, a model that scores everything alike gets anything from the worst to the best, as "
        "the rows happen to stand. The average is what you get by default."
    )
    say(paragraph(text))


# --- many lists -------------------------------------------------------------------------------------------


def _counts(data: Ratings) -> str:
    """Say what a file holds and what of it is used."""
    text = f"{count(data.n_rows, 'row')}: {count(data.n_users, 'user')}, {count(data.n_items, 'item')}. "
    if data.min_rating is None:
        text += f"Every row is positive, as {data.why_all}."
    else:
        share = data.likes.height / data.n_rows
        text += f"Positive: the {data.likes.height:,} ratings from {data.min_rating:g} on ({share:.0%})."
    if data.n_dropped:
        text += f" Left out: {data.n_dropped:,} rows without a user or item, or repeated."
    return paragraph(text)


def _compare(data: Ratings, cutoffs: Sequence[int], seed: int, say: Say, progress: Say) -> None:
    """Split, recommend, evaluate, and print what comes out."""
    train, held_out = hold_out(data.likes, seed)
    say(_protocol(data.likes, train, held_out))
    start = time.perf_counter()
    recommended = recommend(train, held_out, cutoffs[-1], seed, progress)
    learned = time.perf_counter() - start
    if recommended.is_empty():
        msg = "the models have nothing to recommend: the tested users have every item that is not hidden"
        raise InputError(msg, "give ratings of more users")

    held_out = held_out.join(_activity(train, held_out), on="user", how="left")
    progress("evaluating")
    start = time.perf_counter()
    result = _evaluate(recommended, list(MODEL_METRICS), k=cutoffs, truth=held_out, model="model")
    seconds = time.perf_counter() - start
    progress("")
    say(f"  metrics = {listed(MODEL_METRICS)}")
    say(f'  recommended.rec.evaluate(metrics, k={cutoffs}, truth=held_out, model="model")\n')
    say(metric_table(result, MODELS, len(cutoffs)))
    size = f"{recommended.height:,} recommendations by {len(MODEL_METRICS)} metrics at {count(len(cutoffs), 'cutoff')}"
    times = f"Recommending took {learned:.2f} s, evaluating {size} {seconds:.2f} s."
    say(paragraph(f"* the best of a line. {_verdict(result, cutoffs[-1])} {times}"))
    _segments(recommended, held_out, cutoffs[-1], say)


def _protocol(likes: pl.DataFrame, train: pl.DataFrame, held_out: pl.DataFrame) -> str:
    """Say how the models are tested, and what they are."""
    tested = count(held_out["user"].n_unique(), "user")
    testable = (likes["user"].unique_counts() >= MIN_ITEMS).sum()
    if testable > MAX_USERS:
        tested += f" (drawn from {testable:,})"
    text = (
        f"A fifth of the positive items of each user with at least {MIN_ITEMS}, rounded up, is hidden: "
        f"{held_out.height:,} items of {tested}. The models learn from the others and recommend what the user "
        "does not have among them; the hidden items are the relevant ones, recommended or not."
    )
    listed = train["item"].n_unique()
    if listed > MAX_ITEMS:
        text += f" The models choose from the {MAX_ITEMS:,} most popular of {listed:,} items."
    models = {
        "random": "any order",
        "popular": "the items that most users have",
        "neighbours": f"the items most similar to the user's own (cosine, {NEIGHBOURS} neighbours)",
    }
    lines = [f"  {model:<{max(map(len, models))}}   {what}" for model, what in models.items()]
    return "\n".join([paragraph(text), *lines, ""])


def _activity(train: pl.DataFrame, held_out: pl.DataFrame) -> pl.DataFrame:
    """Return the third of each tested user by the number of train items, 0 the least active."""
    sizes = train.join(held_out, on="user", how="semi").group_by("user").agg(pl.len().alias("size"))
    size = pl.col("size")
    third = (size > size.quantile(1 / 3)).cast(pl.Int8) + (size > size.quantile(2 / 3))
    return sizes.select("user", third.alias("activity"), "size")


def _segments(recommended: pl.DataFrame, held_out: pl.DataFrame, k: int, say: Say) -> None:
    """Show a metric by how active the users are."""
    column = f"ndcg@{k}"
    result = _evaluate(recommended, column, truth=held_out, model="model", per="activity")
    found = {(model, third): value for model, third, value in result.select("model", "activity", column).rows()}
    users = pl.col("user").n_unique().alias("users")
    size = pl.col("size")
    thirds = held_out.group_by("activity").agg(users, size.min().alias("least"), size.max().alias("most"))
    rows = []
    for third in thirds.sort("activity").iter_rows(named=True):
        least, most = third["least"], third["most"]
        span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        values = [found.get((model, third["activity"])) for model in MODELS]
        rows.append([span, f"{third['users']:,}", *marked(values)])
    say(f'  recommended.rec.evaluate("{column}", truth=held_out, model="model",\n      per="activity")\n')
    say(aligned(["known items", "users", *(f"{model} " for model in MODELS)], rows))
    text = f"{column} by how many items the models know of a user: thirds of the users, as far as equal numbers allow."
    say(paragraph(text).rstrip())


def _verdict(result: pl.DataFrame, k: int) -> str:
    """Say in words which model is ahead, and what that means for a user."""
    metric = f"ndcg@{k}"
    ordered = result.sort(metric, descending=True).select("model", metric, f"hit_rate@{k}")
    (first, best, served), (second, other, _) = ordered.head(2).rows()
    finds = f"{served:.0%} of its users find a hidden item among their first {k}."
    if best == other:
        return f"By {metric}, {first} and {second} are level. With {first}, {finds}"
    if other == 0:
        by = f"by {metric}, where {second} has 0"
    elif best < 2 * other:
        by = f"with {best / other - 1:.0%} more {metric} than {second}"
    else:
        by = f"with {best / other:.1f} times the {metric} of {second}"
    return f"{first.capitalize()} is ahead, {by}; {finds}"


def _evaluate(frame: pl.DataFrame, *args: Any, **roles: Any) -> pl.DataFrame:
    """Return what `evaluate` does, of scores that tie on purpose and models that may know nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        result: pl.DataFrame = rec(frame).evaluate(*args, **roles)
    return result
