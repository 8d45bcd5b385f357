"""The numbers that the project's source documents print, reproduced through the public API.

Each test names its document. Where a document's own number is wrong, the test holds the right one and says why.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pytest

import recframe
from compare import item
from recframe import metrics

if TYPE_CHECKING:
    from collections.abc import Callable

    Columns = dict[str, list[Any]]
    Make = Callable[[Columns], Any]


@pytest.fixture(params=["polars", "polars lazy", "pandas"])
def make(request: pytest.FixtureRequest) -> Make:
    """Return what makes a frame out of columns."""
    library = pytest.importorskip(request.param.split()[0])
    return library.LazyFrame if request.param == "polars lazy" else library.DataFrame


def number(result: Any) -> float:
    """Return the value of a call, which may be a frame of one row and one column."""
    return result if isinstance(result, float) else float(item(result))


def rows(result: Any) -> list[dict[str, Any]]:
    """Return the rows of a frame of whatever kind."""
    result = result.collect() if hasattr(result, "collect") else result
    return result.to_dicts() if hasattr(result, "to_dicts") else result.to_dict("records")


def recommended(lists: dict[Any, list[int]]) -> Columns:
    """Return lists in long format, with the place of each item."""
    long = [(user, item, place) for user, items in lists.items() for place, item in enumerate(items, start=1)]
    return dict(zip(("user", "item", "place"), map(list, zip(*long, strict=True)), strict=True))


def bought(baskets: dict[Any, list[int]]) -> Columns:
    """Return what each user bought in long format."""
    long = [(user, item) for user, items in baskets.items() for item in items]
    return dict(zip(("user", "item"), map(list, zip(*long, strict=True)), strict=True))


def in_order(relevance: list[float]) -> Columns:
    """Return one list in the order of its scores."""
    n = len(relevance)
    return {"user": [1] * n, "item": [*range(n)], "relevant": relevance, "score": [float(n - i) for i in range(n)]}


# --- metrics page: objects and items ----------------------------------------------------------------------

OBJECT8: Columns = {
    "object": [8] * 30,
    "item": [*range(30)],
    "relevant": [1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0],
    "random": [
        -2.017719, 0.540541, -1.442299, -1.608850, -1.006569, -0.257534, 0.730507, -1.698401, 1.674076, 1.163724,
        -0.132574, -0.290246, -0.953532, 0.588041, 0.068801, 1.412064, -0.686216, 0.547944, -0.036383, -0.847016,
        1.902304, 0.279605, 0.620255, -1.068568, -0.722621, 0.084140, -0.584455, 0.602022, 0.438365, -0.782343,
    ],
    "knn": [
        0.911927, 0.360036, 0.563100, 0.763004, 0.638666, 0.253009, 0.348827, 0.563100, 0.673895, 0.638666,
        0.653047, 0.430756, 0.186026, 0.350962, 0.771011, 0.454776, 0.737111, 0.350962, 0.555094, 0.552959,
        0.738984, 0.172943, 0.537218, 0.631957, 0.272497, 0.462782, 0.443032, 0.642905, 0.354960, 0.644799,
    ],
}  # fmt: skip
"""The frame that the page prints for object 8."""
SORTED = {
    "random": [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1],
    "knn": [1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
}
"""The relevance in the order of each score, as the page prints it."""


@pytest.mark.parametrize("ties", ["average", "best", "worst"])
@pytest.mark.parametrize("score", ["random", "knn"])
def test_metrics_page_relevance_in_score_order(make: Make, score: str, ties: str) -> None:
    # Rounded to six digits, knn has ties that the page breaks silently. Both rows of each tied pair are equally
    # relevant, so every policy reads the printed order.
    table = make(OBJECT8).rec.evaluate(["precision"], k=[*range(1, 31)], by="object", score=score, ties=ties)
    (row,) = rows(table)
    hits = [0.0, *(row[f"precision@{k}"] * k for k in range(1, 31))]
    assert [hits[k] - hits[k - 1] for k in range(1, 31)] == pytest.approx(SORTED[score], abs=1e-12)


OF_OBJECT8 = {
    "precision@5": lambda r: sum(r[:5]) / 5,
    "recall@5": lambda r: sum(r[:5]) / sum(r),
    "f1@5": lambda r: 2 * sum(r[:5]) / (5 + sum(r)),
    "r_precision": lambda r: sum(r[: sum(r)]) / sum(r),
    "hit_rate@5": lambda r: float(any(r[:5])),
    "mrr": lambda r: 1 / (r.index(1) + 1),
    "map": lambda r: sum(sum(r[: i + 1]) / (i + 1) for i in range(30) if r[i]) / sum(r),
    "map@5": lambda r: sum(sum(r[: i + 1]) / (i + 1) for i in range(5) if r[i]) / 5,
    "dcg@5": lambda r: sum(r[i] / math.log2(i + 2) for i in range(5)),
    "ndcg@5": lambda r: sum(r[i] / math.log2(i + 2) for i in range(5)) / sum(1 / math.log2(i + 2) for i in range(5)),
    "rbp": lambda r: 0.2 * sum(r[i] * 0.8**i for i in range(30)),
}
"""The definitions once more, on a list of 0 and 1 in order."""


def test_metrics_page_both_models_in_one_table(make: Make) -> None:
    table = rows(make(OBJECT8).rec.evaluate(list(OF_OBJECT8), by="object", score=["random", "knn"]))
    assert sorted(row["model"] for row in table) == ["knn", "random"]
    for row in table:
        for metric, value in OF_OBJECT8.items():
            assert row[metric] == pytest.approx(value(SORTED[row["model"]]), abs=1e-12), metric


def test_metrics_page_object8_values(make: Make) -> None:
    # The same as plain numbers, for whoever recomputes them by hand.
    frame = make(OBJECT8)
    assert number(frame.rec.ndcg(5, by="object", score="random")) == pytest.approx(0.5531464700081437, abs=1e-12)
    assert number(frame.rec.ndcg(5, by="object", score="knn")) == pytest.approx(0.6164336326286644, abs=1e-12)
    assert number(frame.rec.precision(5, by="object", score="random")) == pytest.approx(0.4, abs=1e-12)
    assert number(frame.rec.precision(5, by="object", score="knn")) == pytest.approx(0.6, abs=1e-12)


def test_metrics_page_graded(make: Make) -> None:
    frame = make(in_order([10, 20, 3, 7, 10]))
    assert number(frame.rec.dcg(3)) == pytest.approx(24.1186, abs=5e-5)
    assert number(frame.rec.dcg(3)) / number(frame.rec.ndcg(3)) == pytest.approx(31.3093, abs=5e-5)
    # The page prints 0.7705: its code divides by 31.3039, its own ideal 31.3093 mistyped.
    assert number(frame.rec.ndcg(3)) == pytest.approx(24.1186 / 31.3093, abs=5e-6)
    assert number(frame.rec.ndcg(3)) == pytest.approx(0.7703, abs=5e-5)


# --- retail lesson: recommended list against bought list --------------------------------------------------

RECOMMENDED = [143, 156, 1134, 991, 27, 1543, 3345, 533, 11, 43]
BASKET = [521, 32, 143, 991]


def lesson_code(position: nw.Expr) -> nw.Expr:
    """Return 1, 1/2, then 1/log2(r): what the lesson's code computes."""
    return nw.when(position > 2).then(math.log(2) / position.log()).otherwise(1 / position)


def lesson_text(position: nw.Expr) -> nw.Expr:
    """Return 1, 1/2, then 1/log2(r + 1): what the lesson's text defines."""
    return nw.when(position > 2).then(math.log(2) / (position + 1).log()).otherwise(1 / position)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (metrics.HitRate(), 1),
        (metrics.Precision(), 0.2),
        (metrics.Precision(5), 0.4),
        (metrics.Recall(), 0.5),
        (metrics.Recall(10), 0.5),
        (metrics.MAP(5, norm="hits"), 0.75),
        # The lesson divides both sums by k = 5.
        (metrics.DCG(5, discount=lesson_code), 0.3 * 5),
        # The lesson prints 0.0979877781342908: it divides the ratio by k once more.
        (metrics.NDCG(5, discount=lesson_code, ideal="ones"), 0.3 / 0.6123212623289701),
        (metrics.DCG(5, discount=lesson_text), 1 + 1 / math.log2(5)),
        (
            metrics.NDCG(5, discount=lesson_text, ideal="ones"),
            (1 + 1 / math.log2(5)) / (1 + 1 / 2 + 1 / math.log2(4) + 1 / math.log2(5) + 1 / math.log2(6)),
        ),
    ],
    ids=str,
)
def test_retail_lesson_one_list(make: Make, metric: recframe.Metric, expected: float) -> None:
    frame, truth = make(recommended({1: RECOMMENDED})), make(bought({1: BASKET}))
    assert number(frame.rec.evaluate(metric, rank="place", truth=truth)) == pytest.approx(expected, abs=1e-12)


def test_retail_lesson_ideal(make: Make) -> None:
    # The lesson's ideal is five hits although the basket holds four items: ideal="ones".
    roles = {"rank": "place", "truth": make(bought({1: BASKET}))}
    rec = make(recommended({1: RECOMMENDED})).rec(**roles)
    ratio = number(rec.ndcg(5, discount=lesson_code, ideal="ones"))
    assert number(rec.dcg(5, discount=lesson_code)) / ratio / 5 == pytest.approx(0.6123212623289701, abs=1e-12)
    assert ratio == pytest.approx(0.48994, abs=5e-6)


def test_retail_lesson_rank_and_score_agree(make: Make) -> None:
    columns = recommended({1: RECOMMENDED})
    truth = make(bought({1: BASKET}))
    by_rank = make(columns).rec.map(5, norm="hits", rank="place", truth=truth)
    by_score = make(columns | {"score": [-place for place in columns["place"]]}).rec.map(5, norm="hits", truth=truth)
    assert number(by_rank) == number(by_score)


def test_retail_lesson_three_users(make: Make) -> None:
    frame = make(
        recommended(
            {
                1: RECOMMENDED,
                2: [1134, 533, 14, 4, 15, 1543, 1, 99, 27, 3345],
                3: [991, 3345, 27, 533, 43, 143, 1543, 156, 1134, 11],
            }
        )
    )
    truth = make(bought({1: [521, 32, 143], 2: [143, 156, 991, 43, 11], 3: [1, 2]}))
    assert number(frame.rec.map(5, norm="hits", rank="place", truth=truth)) == pytest.approx(1 / 3, abs=1e-12)
    assert number(frame.rec.mrr(10, rank="place", truth=truth)) == pytest.approx(1 / 3, abs=1e-12)


RETAIL_RELEVANCE = [1.0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
"""The lesson's list against its basket."""


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # Of the 2 hits, the first is before 8 misses and the second before 6; within the top 5 before 3 and 1.
        (metrics.ROCAUC(10), 14 / 16),
        (metrics.ROCAUC(5), 4 / 6),
        # 14 concordant and 2 discordant of 45 pairs, 29 of which are tied in relevance.
        (metrics.Kendall(), 12 / math.sqrt(16 * 45)),
        # Average ranks 9.5 of hits and 4.5 of misses, against 10 … 1.
        (metrics.Spearman(), 30 / math.sqrt(40 * 82.5)),
        # P = 1/2 for a hit: 1/1 · 1/2 + 1/4 · 1/2 · 1/2.
        (metrics.ERR(10), 1 / 2 + 1 / 16),
        # look(4) = (1 − 0.4) · 0.85³.
        (metrics.PFound(10, probability={1: 0.4}), 0.4 + 0.6 * 0.85**3 * 0.4),
    ],
    ids=str,
)
def test_retail_lesson_by_formula(make: Make, metric: recframe.Metric, expected: float) -> None:
    frame = make(in_order(RETAIL_RELEVANCE))
    assert number(frame.rec.evaluate(metric)) == pytest.approx(expected, abs=1e-12)


# --- implicit-feedback notebook: MovieLens 100K -----------------------------------------------------------


@pytest.mark.parametrize(("k", "relevant", "expected"), [(2, [1, 2, 3, 4, 5], 0.25), (5, [1, 2], 0.325)])
def test_implicit_feedback_notebook_average_precision(make: Make, k: int, relevant: list[int], expected: float) -> None:
    frame, truth = make(recommended({1: [6, 4, 7, 1, 2]})), make(bought({1: relevant}))
    assert number(frame.rec.map(k, rank="place", truth=truth)) == pytest.approx(expected, abs=1e-12)


def test_implicit_feedback_notebook_dcg(make: Make) -> None:
    frame = make(in_order([2, 0, 3, 2]))
    assert number(frame.rec.dcg()) == pytest.approx(4.361353116146786, abs=1e-12)
    assert number(frame.rec.dcg(gain="exp2")) == pytest.approx(7.79202967422018, abs=1e-12)
    assert number(frame.rec.ndcg(gain="exp2")) == pytest.approx(0.7497534568197889, abs=1e-12)


@pytest.mark.slow
def test_implicit_feedback_notebook_values_of_its_factorisation() -> None:
    # Its loop over films ends at the number of users, so 739 films keep their random start. So does this one.
    np, pl = pytest.importorskip("numpy"), pytest.importorskip("polars")
    path = Path(__file__).resolve().parents[2] / "shared" / "data" / "ml-100k" / "ratings.parquet"
    if not path.is_file():
        pytest.skip("needs ../shared/data next to the checkout")
    ratings = pl.read_parquet(path).sort("user", "item")
    random, held_out = np.random.RandomState(1234), []
    for (user,), own in ratings.group_by("user", maintain_order=True):
        drawn = random.choice(own["item"], size=math.ceil(0.2 * own.height), replace=False)
        held_out.append(pl.DataFrame({"user": user, "item": drawn}))
    pairs = pl.concat(held_out)
    test = ratings.join(pairs, on=["user", "item"], how="semi")
    train = ratings.join(pairs, on=["user", "item"], how="anti")
    users, items = ratings["user"].unique().sort(), ratings["item"].unique().sort()
    weights = np.zeros((len(users), len(items)))
    weights[users.search_sorted(train["user"]), items.search_sorted(train["item"])] = 15 * train["rating"].to_numpy()
    random = np.random.RandomState(1234)
    factors = random.normal(size=(len(users), 20)), random.normal(size=(len(items), 20))
    for _ in range(15):
        for (solved, fixed), confidence in ((factors, weights), (factors[::-1], weights.T)):
            square = fixed.T @ fixed + 0.01 * np.eye(20)
            for row in range(len(users)):
                rated = np.flatnonzero(confidence[row])
                near, weight = fixed[rated], confidence[row, rated, None]
                solved[row] = np.linalg.solve(square + near.T @ (weight * near), (near * (1 + weight)).sum(axis=0))
    for truth, expected in ((train, (0.2004, 0.2959)), (test, (0.0592, 0.1123))):
        frame = recframe.from_factors(*factors, users=users, items=items, test=truth.select("user", "item"), k=5)
        result = frame.rec.evaluate(["map", "ndcg(gain=exp2)"], k=5)
        assert result.row(0) == pytest.approx(expected, abs=5e-5)


# --- recometrics vignette ---------------------------------------------------------------------------------

VIGNETTE: Columns = {
    # User 1: hits at 1 and 3 of four positives, the others at 6 and 7. User 2: a dislike on top.
    "user": [1] * 7 + [2] * 3,
    "item": [*range(7), *range(3)],
    "relevant": [5, 0, 4, 0, 0, 3, 2, -1, 2, 0],
    "score": [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0],
    "worse": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 3.0, 1.0, 2.0],
}
"""The vignette prints definitions, not lists: a small frame of graded ratings, with a negative one."""
VIGNETTE_METRICS = {
    "precision": [2 / 5, 1 / 5],
    "recall(capped=True)": [2 / 4, 1.0],  # its TP@K: divided by min(k, R)
    "recall": [2 / 4, 1.0],
    "map(norm=relevant)": [(1 + 2 / 3) / 4, 1 / 2],  # its AP@K
    "map": [(1 + 2 / 3) / 4, 1 / 2],  # its TAP@K: divided by min(k, R)
    # A dislike lowers the DCG and is no part of the ideal, which sums positive gains only.
    "ndcg": [
        (5 + 4 / 2) / (5 + 4 / math.log2(3) + 3 / 2 + 2 / math.log2(5)),
        (-1 + 2 / math.log2(3)) / 2,
    ],
    "hit_rate": [1.0, 1.0],
    "mrr": [1.0, 1 / 2],
}


def test_recometrics_vignette_one_row_per_user(make: Make) -> None:
    table = rows(make(VIGNETTE).rec.evaluate(list(VIGNETTE_METRICS), k=5, per="user"))
    table.sort(key=lambda row: row["user"])  # lazy frames have no order
    assert [row["user"] for row in table] == [1, 2]
    for metric, values in VIGNETTE_METRICS.items():
        assert [row[f"{metric}@5"] for row in table] == pytest.approx(values, abs=1e-12), metric


def test_recometrics_vignette_models_by_metrics(make: Make) -> None:
    table = rows(make(VIGNETTE).rec.evaluate(list(VIGNETTE_METRICS), k=5, score=["score", "worse"]))
    table.sort(key=lambda row: row["model"])
    assert [row["model"] for row in table] == ["score", "worse"]
    for metric, values in VIGNETTE_METRICS.items():
        assert table[0][f"{metric}@5"] == pytest.approx(sum(values) / 2, abs=1e-12), metric
    # The second model shows 2 3 0 0 4 to user 1, and -1 0 2 to user 2.
    assert table[1]["precision@5"] == pytest.approx((3 / 5 + 1 / 5) / 2, abs=1e-12)
    assert table[1]["map(norm=relevant)@5"] == pytest.approx(((1 + 1 + 3 / 5) / 4 + 1 / 3) / 2, abs=1e-12)
    assert table[1]["mrr@5"] == pytest.approx((1 + 1 / 3) / 2, abs=1e-12)


def test_recometrics_vignette_cap_differs_where_the_list_is_cut(make: Make) -> None:
    rec = make(VIGNETTE).rec(by=["user"], undefined="skip")
    per = {row["user"]: row for row in rows(rec.evaluate(["recall", "recall(capped=True)"], k=3, per="user"))}
    assert per[1]["recall@3"] == pytest.approx(2 / 4, abs=1e-12)
    assert per[1]["recall(capped=True)@3"] == pytest.approx(2 / 3, abs=1e-12)


# --- CAPRI documentation ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # items repeat on purpose
def test_capri_repeated_items_count_once(make: Make) -> None:
    # An item that a list shows twice is a hit where it comes first, and only there.
    frame = make(recommended({1: [7, 7, 8, 9]}))
    rec = frame.rec(rank="place", truth=make(bought({1: [7, 8]})))
    assert number(rec.map(4)) == pytest.approx((1 + 2 / 3) / 2, abs=1e-12)
    assert number(rec.precision(4)) == pytest.approx(2 / 4, abs=1e-12)
    assert number(rec.recall(4)) == pytest.approx(1.0, abs=1e-12)


def test_capri_map_divides_by_what_fits(make: Make) -> None:
    frame, truth = make(recommended({1: [1, 2, 3]})), make(bought({1: [1, 3, 5, 6]}))
    assert number(frame.rec.map(3, rank="place", truth=truth)) == pytest.approx((1 + 2 / 3) / 3, abs=1e-12)


def test_capri_ndcg_exponential_gain(make: Make) -> None:
    frame = make(in_order([3, 1, 2]))
    expected = (7 + 1 / math.log2(3) + 3 / 2) / (7 + 3 / math.log2(3) + 1 / 2)
    # CAPRI prints four places.
    assert round(number(frame.rec.ndcg(gain="exp2")), 4) == round(expected, 4)
    # Its code sums the ideal over all relevant items, however small k is, so that a perfect list of five stays
    # below 1 for a user with more than five: the ideal of the definition is cut at k.
    perfect = make(in_order([1] * 20))
    assert number(perfect.rec.ndcg(5, gain="exp2")) == pytest.approx(1.0, abs=1e-12)


CAPRI_LISTS = {1: [1, 2, 3], 2: [2, 3, 4], 3: [1, 5, 9]}
CAPRI_HISTORY = {1: [1, 2], 2: [2, 5], 3: [2, 3], 4: [1, 4]}


def test_capri_novelty(make: Make) -> None:
    # −log2 of the item's share of the training users, unseen items (here 9) add 0, divided by k.
    share = {item: sum(item in had for had in CAPRI_HISTORY.values()) / 4 for item in range(10)}
    value = number(
        make(recommended(CAPRI_LISTS)).rec.novelty(3, unseen="zero", rank="place", train=make(bought(CAPRI_HISTORY)))
    )
    per_user = [sum(-math.log2(share[item]) for item in items if share[item]) / 3 for items in CAPRI_LISTS.values()]
    assert value == pytest.approx(sum(per_user) / 3, abs=1e-12)


def test_capri_catalogue_coverage(make: Make) -> None:
    # Percent of the training items: 1 to 5; what was never trained on does not count.
    train = make(bought(CAPRI_HISTORY))
    assert number(make(recommended(CAPRI_LISTS)).rec.coverage(3, rank="place", catalog=train)) * 100 == 100.0
    assert number(make(recommended(CAPRI_LISTS)).rec.coverage(1, rank="place", catalog=train)) * 100 == 40.0


def test_capri_personalization(make: Make) -> None:
    # One minus the mean cosine between the users' lists: overlaps 2, 1 and 0 of 3.
    value = number(make(recommended(CAPRI_LISTS)).rec.personalization(3, rank="place"))
    assert value == pytest.approx(1 - (2 / 3 + 1 / 3 + 0) / 3, abs=1e-12)


def test_capri_list_diversity(make: Make) -> None:
    # The mean over pairs of a similarity matrix, subtracted from 1.
    vectors = {1: (1.0, 0.0), 2: (1.0, 1.0), 3: (0.0, 2.0), 4: (3.0, 4.0), 5: (0.0, 0.0), 9: (1.0, 0.5)}

    def similarity(a: int, b: int) -> float:
        lengths = math.hypot(*vectors[a]) * math.hypot(*vectors[b])
        return sum(x * y for x, y in zip(vectors[a], vectors[b], strict=True)) / lengths if lengths else 0.0

    pairs = [[(items[0], items[1]), (items[0], items[2]), (items[1], items[2])] for items in CAPRI_LISTS.values()]
    expected = 1 - sum(similarity(*pair) for list_ in pairs for pair in list_) / 9
    features = {"item": [*vectors], "x": [v[0] for v in vectors.values()], "y": [v[1] for v in vectors.values()]}
    value = number(make(recommended(CAPRI_LISTS)).rec.diversity(3, rank="place", features=make(features)))
    assert value == pytest.approx(expected, abs=1e-12)
