"""The demo: one list ranked by two models, then three simple recommenders on generated or given ratings."""

from __future__ import annotations

import textwrap
import time
from typing import TYPE_CHECKING

import polars as pl

from recframe import rec
from recframe._baselines import MAX_ITEMS, MAX_USERS, MIN_ITEMS, MODELS, Split, generate, hold_out, recommend
from recframe._ratings import DEFAULT_MIN_RATING, Ratings, read_ratings
from recframe.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    Say = Callable[[str], None]

__all__ = ["run"]

WIDTH = 88
OBJECT_METRICS = ("precision", "recall", "map", "ndcg", "mrr", "hit_rate")
MODEL_METRICS = ("ndcg", "map", "recall", "precision", "mrr", "hit_rate")

# Object 8 of a metrics tutorial: 30 items, scored by noise and by a nearest-neighbour model.
RELEVANT = "101000010011000010110111000100"
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
        Ratings from here on are positive. None: 4, or every row is positive where the ratings do not differ.
    seed : int
        The seed of all that is random.
    say, progress : callable
        Take a finished text, and a line on what is going on.
    """
    cutoffs = sorted(set(cutoffs))
    for k in cutoffs:
        METRICS["ndcg"](k=k)  # type: ignore[call-arg] # raises for a k that is none, before any work
    if ratings is not None:
        progress(f"reading {ratings.name}")
        data = read_ratings(ratings, min_rating)
        say(_heading(f"Three simple recommenders on {ratings.name}"))
        say(_counts(data))
        _compare(data, cutoffs, seed, say, progress)
        return
    say(_heading("1. One list, two models"))
    _one_list(cutoffs, say)
    data = Ratings.of_positives(generate(seed))
    say(_heading("2. Many lists, three simple recommenders"))
    say(_paragraph(
        f"A small invented world (seed {seed}): {data.n_users:,} users, {data.n_items:,} items, "
        f"{data.n_rows:,} likes. A few items are liked by many, and users have tastes."
    ))  # fmt: skip
    _compare(data, cutoffs, seed, say, progress)
    say("Next: python -m recframe demo --ratings FILE    the same comparison on your ratings")
    say("      python -m recframe metrics                all metrics, formulas and options")


# --- one list ---------------------------------------------------------------------------------------------


def _object8() -> pl.DataFrame:
    """Return the example's frame: object, item, relevant, and the scores of two models."""
    return pl.DataFrame(
        {"item": range(30), "relevant": [int(flag) for flag in RELEVANT], "random": RANDOM, "knn": KNN}
    ).select(pl.lit(8).alias("object"), pl.all())


def _one_list(cutoffs: Sequence[int], say: Say) -> None:
    frame = _object8()
    relevant = frame["relevant"].sum()
    say(f"Object 8: {frame.height} items, {relevant} of them relevant. Relevance in score order, best first:\n")
    for model in ("random", "knn"):
        order = frame.sort(model, "item", descending=[True, False])["relevant"]
        say(f"  {model:<8}{' '.join(map(str, order))}")
    say(f"\n  frame.rec.evaluate([...], k={cutoffs}, by=\"object\", score=[\"random\", \"knn\"])\n")
    result = rec(frame).evaluate(list(OBJECT_METRICS), k=cutoffs, by="object", score=["random", "knn"])
    say(_metric_table(result, ("random", "knn"), len(cutoffs)))
    say(_paragraph("* the best of a line, where the models differ. On such a short list the random order keeps "
                   "up at the very top; the difference shows further down."))  # fmt: skip
    _ties(frame, cutoffs[0], say)


def _ties(frame: pl.DataFrame, k: int, say: Say) -> None:
    """Show what equal scores do to a metric under three policies."""
    shown = {"as printed": pl.col("knn"), "one decimal": pl.col("knn").round(1), "all equal": pl.lit(0.0)}
    frame = frame.with_columns(column.alias(name) for name, column in shown.items())
    pairs = frame.height - frame["knn"].n_unique()
    say(_paragraph(
        f"Equal scores: the knn scores are printed with six decimals, and so {pairs} pairs of items tie. Ties have "
        "no order, so recframe averages over all orders of the tied items, exactly. In each of these pairs both items "
        "have the same relevance, so here nothing depends on it. It does as soon as scores are coarser:"
    ))  # fmt: skip
    policies = ("worst", "average", "best")
    values = [
        rec(frame).evaluate("ndcg", k=k, by="object", score=list(shown), ties=policy)[f"ndcg@{k}"].to_list()
        for policy in policies
    ]
    rows = [[name, *(f"{value:.4f}" for value in line)] for name, line in zip(shown, zip(*values, strict=True), strict=True)]
    say(_table([f"ndcg@{k}, knn scores", *(f'ties="{policy}"' for policy in policies)], rows))
    say(_paragraph(
        "Without a rule for ties a model that scores everything alike may get anything from the worst to the best, "
        "whatever the order of its rows. The average is what you get by default."
    ))  # fmt: skip


# --- many lists -------------------------------------------------------------------------------------------


def _counts(data: Ratings) -> str:
    """Say what a file holds and what of it is used."""
    text = f"{data.n_rows:,} rows: {data.n_users:,} users, {data.n_items:,} items. "
    if data.min_rating is None:
        text += f"Every row is positive, as {data.why_all}."
    else:
        share = len(data.users) / data.n_rows
        text += f"Positive: the {len(data.users):,} ratings from {data.min_rating:g} on ({share:.0%})."
    if data.n_dropped:
        text += f" Left out: {data.n_dropped:,} rows without a user or item, or repeated."
    return _paragraph(text)


def _compare(data: Ratings, cutoffs: Sequence[int], seed: int, say: Say, progress: Say) -> None:
    """Split, recommend, evaluate, and print what comes out."""
    split = hold_out(data.users, data.items, seed)
    data.check_tested(split.n_testable)
    say(_protocol(split))
    start = time.perf_counter()
    recommended = recommend(split, cutoffs[-1], seed, progress)
    learned = time.perf_counter() - start

    held_out = pl.DataFrame({"user": split.test_users, "item": split.test_items})
    held_out = held_out.join(_activity(split), on="user", how="left")
    progress("evaluating")
    start = time.perf_counter()
    result = rec(recommended).evaluate(list(MODEL_METRICS), k=cutoffs, truth=held_out, model="model")
    seconds = time.perf_counter() - start
    progress("")
    say(f'  recommended.rec.evaluate([...], k={cutoffs}, truth=held_out, model="model")\n')
    say(_metric_table(result, MODELS, len(cutoffs)))
    say(_paragraph(f"{_verdict(result, cutoffs[-1])} Recommending took {learned:.2f} s, evaluating {recommended.height:,} "
                   f"recommendations of {len(split.tested):,} users by {len(MODEL_METRICS)} metrics at "
                   f"{len(cutoffs)} cutoffs {seconds:.2f} s."))  # fmt: skip
    _segments(recommended, held_out, cutoffs[-1], say)


def _protocol(split: Split) -> str:
    listed = len(set(split.train_items.tolist()))
    tested = f"{len(split.tested):,} users"
    if split.n_testable > MAX_USERS:
        tested += f" (drawn from {split.n_testable:,})"
    text = (
        f"A fifth of the positive items of each user with at least {MIN_ITEMS} is hidden: {len(split.test_items):,} "
        f"items of {tested}. Each model recommends the items that it finds best among those that the user does not "
        "have yet; the hidden ones are the relevant ones. "
    )
    if listed > MAX_ITEMS:
        text += f"The models choose from the {MAX_ITEMS:,} most popular of {listed:,} items. "
    return _paragraph(
        f"{text}random: any order. popular: the items most users have. neighbours: items that the same users have as the "
        "user's own (cosine)."
    )


def _activity(split: Split) -> pl.DataFrame:
    """Return the third of each tested user by the number of train items, 0 the least active."""
    sizes = pl.Series("size", split.train_sizes)
    low, high = sizes.quantile(1 / 3), sizes.quantile(2 / 3)
    third = (pl.col("size") > low).cast(pl.Int8) + (pl.col("size") > high)
    return pl.DataFrame({"user": split.tested, "size": sizes}).select("user", third.alias("activity"), pl.col("size"))


def _segments(recommended: pl.DataFrame, held_out: pl.DataFrame, k: int, say: Say) -> None:
    """Show a metric by how active the users are."""
    column = f"ndcg@{k}"
    result = rec(recommended).evaluate(column, truth=held_out, model="model", per="activity")
    groups = held_out.group_by("activity").agg(
        pl.col("user").n_unique().alias("users"), pl.col("size").min().alias("from"), pl.col("size").max().alias("to")
    )
    wide = {model: dict(result.filter(pl.col("model") == model).select("activity", column).iter_rows()) for model in MODELS}
    rows = []
    for group in groups.sort("activity").iter_rows(named=True):
        values = [wide[model].get(group["activity"]) for model in MODELS]
        rows.append([f"{group['from']:,} to {group['to']:,}", f"{group['users']:,}", *_marked(values)])
    say(f'  recommended.rec.evaluate("{column}", truth=held_out, model="model", per="activity")\n')
    say(_table(["known items", "users", *(f"{model} " for model in MODELS)], rows))
    say(_paragraph(f"{column} by the number of items that a model knows of a user: thirds of the users."))


def _verdict(result: pl.DataFrame, k: int) -> str:
    """Say in words which model is ahead, and what that means for a user."""
    ordered = result.sort(f"ndcg@{k}", descending=True)
    (first, best, served), (second, next_best, _) = ordered.select("model", f"ndcg@{k}", f"hit_rate@{k}").head(2).rows()
    ahead = f"{best / next_best:.1f} times the {f'ndcg@{k}'} of" if next_best > 0 else f"more {f'ndcg@{k}'} than"
    return (
        f"* the best of a line. {first.capitalize()} is ahead, with {ahead} {second}: {served:.0%} of the users find "
        f"a hidden item among their first {k}."
    )


# --- text -------------------------------------------------------------------------------------------------


def _metric_table(result: pl.DataFrame, models: Iterable[str], n_cutoffs: int) -> str:
    """Return a line for each metric and cutoff, a column for each model."""
    by_model = {row["model"]: row for row in result.iter_rows(named=True)}
    shown = [model for model in models if model in by_model]
    rows: list[list[str]] = []
    for index, name in enumerate(name for name in result.columns if name != "model"):
        if index and index % n_cutoffs == 0 and n_cutoffs > 1:
            rows.append([])
        rows.append([name, *_marked([by_model[model][name] for model in shown])])
    return _table(["", *(f"{model} " for model in shown)], rows)


def _marked(values: Sequence[float | None]) -> list[str]:
    """Return numbers of four digits, the largest with a star unless all are alike."""
    texts = ["-" if value is None else f"{value:.4f}" for value in values]
    numbers = [value for value in values if value is not None]
    best = f"{max(numbers):.4f}" if numbers else ""
    differ = len(set(texts)) > 1
    return [f"{text}*" if differ and text == best else f"{text} " for text in texts]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns, the first to the left, the others to the right; an empty row stays an empty line."""
    cells = [header, *(row for row in rows if row)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        parts = [text.ljust(width) if i == 0 else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths, strict=True))]
        return f"  {'   '.join(parts)}".rstrip()

    rule = "  " + "-" * (sum(widths) + 3 * (len(widths) - 1))
    return "\n".join([line(header), rule, *(line(row) if row else "" for row in rows), ""])


def _heading(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n"


def _paragraph(text: str) -> str:
    return textwrap.fill(text, WIDTH) + "\n"
