"""`from_factors`: its frame says of the full table of users and items all that the metrics ask."""

from __future__ import annotations

import math
import random
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import recframe
from recframe import from_factors
from recframe._base import progress
from recframe.metrics import METRICS
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from strategies import examples

np = pytest.importorskip("numpy")

pytestmark = pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # constant factors tie every score

TIES = ["average", "best", "worst"]
EXTRA = [
    "precision(denominator=list)",
    "recall(capped=True)",
    "map(norm=relevant)",
    "map(norm=hits)",
    "ndcg(gain=exp2)",
    "ndcg(discount=reciprocal)",
    "ndcg(ideal=ranked)",
    "rbp(p=0.5)",
    "err(max_relevance=5)",
    "ndcg(gain=binary)",
    "rbp(gain=linear)",
    "recall(over=ranked)",
    "r_precision(over=ranked)",
    "roc_auc(over=ranked)",
    "pr_auc(over=ranked)",
]
SHOWN = (BeyondAccuracyMetric, ExposureMetric)
READ_ALL = {name for name, kind in METRICS.items() if kind().reads == "all" and not issubclass(kind, SHOWN)}
"""Metrics that read every ranked row, which the compact frame does not hold."""
OWN_TESTS = {"money_recall", "pfound"}
"""Metrics that read prices, or relevance as chances, of which the compact frame holds a part."""
NAMES = [
    name
    for name, kind in METRICS.items()
    if name not in READ_ALL | OWN_TESTS and not issubclass(kind, SHOWN) and not kind.required_inputs
]
NAMES += EXTRA


@pytest.fixture(params=["polars", "pandas", "pandas alone"])
def library(request, monkeypatch):
    """Return how to make a frame, and how to read one as columns."""
    if request.param == "pandas alone":
        monkeypatch.setattr("recframe._engines.pandas.adapter.polars_engine", lambda: None)
    module = pytest.importorskip(request.param.split()[0])
    return module.DataFrame


def plain(frame):
    """Return the columns of a frame as lists, missing values as None."""
    return {name: [_plain(value) for value in frame[name].to_list()] for name in frame.columns}


def _plain(value):
    missing = type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))
    return None if missing else value


@dataclass
class Case:
    """A model, and the sets that it is judged by."""

    a: Any
    b: Any
    bias: Any
    train: dict[str, list[Any]]
    test: dict[str, list[Any]]

    @property
    def users(self):
        return [f"u{number}" for number in range(len(self.a))]

    @property
    def items(self):
        # Their order is not that of the factors' rows.
        return [number * 7 % 31 if len(self.b) < 31 else -number for number in range(len(self.b))]

    def compact(self, make, **given):
        given = {"k": min(5, len(self.b)), "progress": False} | given
        train = make(self.train) if self.train["user"] else None
        return from_factors(
            self.a, self.b, self.bias, users=self.users, items=self.items, train=train, test=make(self.test), **given
        )

    def full(self, make):
        """Return every user of the test set with every item: no score for those in train."""
        scores = self.a @ self.b.T + (0 if self.bias is None else self.bias)
        past = set(zip(self.train["user"], self.train["item"], strict=True))
        relevance = {}
        for user, item, grade in zip(*self.test.values(), strict=True):
            relevance[user, item] = max(relevance.get((user, item), -math.inf), grade)
        rows = []
        for number, user in enumerate(self.users):
            if user not in self.test["user"]:
                continue
            for column, item in enumerate(self.items):
                out = (user, item) in past
                if not out or (user, item) in relevance:
                    score = None if out else float(scores[number, column])
                    rows.append((user, item, float(relevance.get((user, item), 0.0)), score))
            rows += [(u, i, float(g), None) for (u, i), g in relevance.items() if u == user and i not in self.items]
        return make(dict(zip(("user", "item", "relevant", "score"), map(list, zip(*rows, strict=True)), strict=True)))


def case(seed, *, kind="float", n_users=9, n_items=24, graded=True, strangers=True):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((n_users, 3)), rng.standard_normal((n_items, 3))
    bias = rng.standard_normal(n_items)
    if kind == "integer":
        a, b, bias = (rng.integers(-1, 2, array.shape).astype(float) for array in (a, b, bias))
    elif kind == "constant":
        a, b, bias = a * 0, b * 0, None
    elif kind == "bias":
        a, bias = a * 0, bias.round(0)
    made = Case(a, b, bias, {"user": [], "item": []}, {"user": [], "item": [], "relevant": []})
    for user in made.users:
        chosen = rng.permutation(made.items)[: rng.integers(1, 12)].tolist()
        cut = rng.integers(0, len(chosen))
        made.train["user"] += [user] * cut
        made.train["item"] += chosen[:cut]
        held = chosen[cut:] + ([99, 98] if strangers and rng.random() < 0.3 else [])
        grades = rng.integers(-1, 4, len(held)) if graded else np.ones(len(held), dtype=int)
        made.test["user"] += [user] * len(held)
        made.test["item"] += held
        made.test["relevant"] += grades.tolist()
    # A pair that occurs there twice, and one that is in train too.
    for column in made.test:
        made.test[column].append(made.test[column][0])
    if made.train["user"]:
        made.test["user"].append(made.train["user"][0])
        made.test["item"].append(made.train["item"][0])
        made.test["relevant"].append(2)
    return made


def tables(frame, names, k, **given):
    result = recframe.rec(frame).evaluate(names, k=k, per="user", **given)
    return plain(result)


def assert_same(found, expected):
    assert list(found) == list(expected)
    for name in expected:
        if name == "user":
            assert found[name] == expected[name]
        else:
            values, reference = (
                [math.nan if value is None else value for value in side[name]] for side in (found, expected)
            )
            assert values == pytest.approx(reference, abs=1e-12, rel=1e-12, nan_ok=True), name


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("kind", ["float", "integer", "constant", "bias"])
def test_every_metric_is_that_of_the_full_frame(library, kind, ties):
    made = case(0, kind=kind)
    compact, full = made.compact(library, memory=1000), made.full(library)
    cutoffs = [1, 3, 7, None]
    # Thresholds count tied rows together, in no order.
    names = [*NAMES, *(["pr_auc(points=thresholds)"] if ties == "average" else [])]
    assert_same(tables(compact, names, cutoffs, ties=ties), tables(full, names, cutoffs, ties=ties))
    weighted = [recframe.rec(frame).gauc(ties=ties) for frame in (compact, full)]
    assert weighted[0] == pytest.approx(weighted[1], abs=1e-12)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("kind", ["float", "integer", "constant"])
def test_pfound_and_a_threshold(library, kind, ties):
    made = case(3, kind=kind)
    made.test["relevant"] = [0.3 * max(0, grade) for grade in made.test["relevant"]]
    names = ["pfound", "pfound(p_break=0.3)", "ndcg", "map", "mrr"]
    given = {"ties": ties, "min_relevance": 0.5}
    frames = made.compact(library), made.full(library)
    assert_same(*(tables(frame, names, [1, 3, None], **given) for frame in frames))


@pytest.mark.slow
@examples(25)
@example(seed=2330, kind="integer", n_items=36, k=17, memory=1, ties="best")
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["float", "integer", "constant", "bias"]),
    n_items=st.integers(1, 40),
    k=st.integers(1, 40),
    memory=st.sampled_from([1, 500, 10**6]),
    ties=st.sampled_from(TIES),
)
def test_any_model(seed, kind, n_items, k, memory, ties):
    make = pytest.importorskip("polars").DataFrame
    made = case(seed, kind=kind, n_items=n_items, n_users=4)
    compact = made.compact(make, k=min(k, n_items), memory=memory, threads=2)
    names = ["precision", "map", "ndcg", "mrr", "hit_rate", "err", "roc_auc", "pr_auc"]
    full, cutoffs = made.full(make), [*{1, k}, None]
    assert_same(tables(compact, names, cutoffs, ties=ties), tables(full, names, cutoffs, ties=ties))
    top = made.compact(make, k=min(k, n_items), memory=memory, positions="top")
    assert_same(
        tables(top, names[:6], min(k, n_items), ties=ties),
        tables(full, names[:6], min(k, n_items), ties=ties),
    )


@pytest.mark.parametrize("kind", ["float", "integer", "constant"])
@pytest.mark.parametrize("k", [1, 3, 24])
def test_rows_are_the_top_k_by_score_and_item_and_the_test_items(library, kind, k):
    made = case(5, kind=kind)
    result = plain(made.compact(library, k=k))
    full = plain(made.full(library))
    rows = list(zip(*(full[name] for name in ("user", "item", "relevant", "score")), strict=True))
    expected = []
    for user in sorted(set(full["user"])):
        ranked = sorted((-score, item) for owner, item, _, score in rows if owner == user and score is not None)
        own = {(owner, item) for owner, item in zip(made.test["user"], made.test["item"], strict=True)}
        for place, (score, item) in enumerate(ranked, 1):
            start = 1 + sum(other < score for other, _ in ranked)
            tied = sum(other == score for other, _ in ranked)
            if place <= k or (user, item) in own:
                expected.append((user, item, start, tied, len(ranked)))
        missing = sorted(item for owner, item, _, score in rows if owner == user and score is None)
        expected += [(user, item, None, None, len(ranked)) for item in missing]
    names = ("user", "item", "rank", "recframe_tied", "recframe_candidates")
    assert sorted(zip(*(result[name] for name in names), strict=True), key=str) == sorted(expected, key=str)


@pytest.mark.parametrize("seed", range(30))
def test_only_test_items_in_the_top_have_a_position_there(library, seed):
    draw = random.Random(seed)
    k, n_items = draw.randint(1, 3), draw.randint(3, 6)
    made = case(seed, kind="integer", n_items=n_items, n_users=5)
    result = plain(made.compact(library, k=k, positions="top"))
    full = plain(made.full(library))
    scores = defaultdict(list)
    for user, item, score in zip(full["user"], full["item"], full["score"], strict=True):
        scores[user].append((item, score))
    for user, item, rank, tied in zip(
        *(result[name] for name in ("user", "item", "rank", "recframe_tied")), strict=True
    ):
        score = dict(scores[user])[item]
        ranked = [other for _, other in scores[user] if other is not None]
        start = None if score is None else 1 + sum(other > score for other in ranked)
        assert (rank, tied) == ((None, None) if start is None or start > k else (start, ranked.count(score)))


def test_only_the_top_is_the_same_there(library):
    made = case(6, kind="integer")
    top, full = made.compact(library, positions="top"), made.full(library)
    names = ["precision", "recall", "map", "ndcg", "mrr", "hit_rate", "rbp", "err"]
    assert "recframe_candidates" not in top.columns
    assert_same(tables(top, names, [1, 5]), tables(full, names, [1, 5]))
    for metric in ("roc_auc", "coverage", "personalization"):
        with pytest.raises(recframe.OptionError, match=f"{metric} needs the number of ranked rows"):
            top.rec.evaluate(metric)
    assert top.rec.coverage(5, catalog=100) == full.rec.coverage(5, catalog=100)


def test_float32_and_other_arrays(library):
    made = case(7, kind="integer")

    class Tensor:
        def __init__(self, values):
            self.values = values

        def detach(self):
            return self

        def cpu(self):
            return self

        def numpy(self):
            return self.values

    class Matrix:
        def __init__(self, values):
            self.values = values

        def to_numpy(self):
            return self.values

    expected = plain(made.compact(library))
    roles = {"users": made.users, "items": made.items, "k": 5}
    roles |= {"train": library(made.train), "test": library(made.test)}
    for convert in (
        lambda x: x.astype(np.float32),
        lambda x: x.astype(np.int64),
        np.asfortranarray,
        Tensor,
        Matrix,
        list,
    ):
        result = from_factors(convert(made.a), convert(made.b), convert(made.bias), **roles)
        assert plain(result) == expected


def test_bias_alone_and_the_sets_as_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    pl = pytest.importorskip("polars")
    made = case(8, kind="bias", strangers=False)

    def matrix(pairs, values):
        rows = [made.users.index(user) for user in pairs["user"]]
        columns = [made.items.index(item) for item in pairs["item"]]
        result = np.full((len(made.users), len(made.items)), -np.inf)
        np.maximum.at(result, (rows, columns), values)
        return sparse.csr_array(sparse.coo_array(np.where(result == -np.inf, 0, result)))

    made.test["relevant"] = [abs(grade) + 1 for grade in made.test["relevant"]]
    given = {"users": made.users, "items": made.items, "k": 5}
    train, test = matrix(made.train, 1.0), matrix(made.test, made.test["relevant"])
    result = from_factors(None, None, made.bias, train=train, test=test, **given)
    assert plain(result) == plain(made.compact(pl.DataFrame))


def test_many_equal_scores_are_one_block(library):
    # 60 items share the first score: more than is sorted with the scores of other lists.
    bias, users = np.repeat([1.0, 0.0], [60, 40]), ["ann", "bob"]
    test = library({"user": users, "item": [70, 3]})
    train = library({"user": ["ann", "ann"], "item": [0, 99]})
    result = plain(from_factors(None, None, bias, users=users, items=range(100), train=train, test=test, k=5))
    assert result["item"] == [1, 2, 3, 4, 5, 70, 0, 1, 2, 3, 4]
    assert result["relevant"] == [0.0] * 5 + [1.0] + [0.0] * 3 + [1.0, 0.0]
    assert result["rank"] == [1] * 5 + [60] + [1] * 5
    assert result["recframe_tied"] == [59] * 5 + [39] + [60] * 5
    assert result["recframe_candidates"] == [98] * 6 + [100] * 5


def test_a_sparse_matrix_has_the_shape_of_users_and_items():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(
        recframe.InputError, match=r"(?s)test has the shape \(2, 2\), but there are 2 users and 3 items.*one row"
    ):
        from_factors(np.eye(2), np.ones((3, 2)), users=[1, 2], items=[1, 2, 3], test=sparse.csr_array(np.eye(2)), k=1)


def test_without_a_test_set_everybody_is_served(library):
    made = case(9)
    result = plain(from_factors(made.a, made.b, users=made.users, items=made.items, train=library(made.train), k=3))
    assert result["user"] == [user for user in made.users for _ in range(3)]
    assert set(result["relevant"]) == {0.0}


def test_a_list_has_ten_items_by_default(library):
    served = plain(
        from_factors(np.ones((1, 2)), np.arange(24.0).reshape(12, 2), train=library({"user": [0], "item": [11]}))
    )
    assert served["item"] == [*range(10, 0, -1)]


@pytest.mark.parametrize("ids", ["category", "int32", "str"])
def test_ids_of_other_types_are_found(ids):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    a, b = np.array([[1.0], [2.0]]), np.array([[1.0], [3.0], [2.0]])
    items = [3, 1, 2] if ids == "int32" else ["c", "a", "b"]
    test = pd.DataFrame({"user": [0, 1], "item": pd.Series([items[0], items[2]], dtype=ids if ids != "str" else None)})
    result = plain(from_factors(a, b, users=range(2), items=items, test=test, k=1))
    assert plain(from_factors(a, b, users=pl.Series([0, 1]), items=np.array(items), test=test, k=1)) == result
    assert plain(from_factors(a, b, users=range(2), items=items, test=pl.from_pandas(test), k=1)) == result
    assert result["item"] == [items[1], items[0], items[1], items[2]]
    assert result["rank"] == [1, 3, 1, 2]


def ranked_items(a=((1.0, 0.0), (0.0, 1.0)), **given):
    """Return two users' best of three items and their relevant ones, as (user, item, relevant, rank, candidates)."""
    result = plain(from_factors(np.array(a), np.array([[1.0, 3], [3, 2], [2, 1]]), k=1, **(IDS | given)))
    return [*zip(*(result[name] for name in ("user", "item", "relevant", "rank", "recframe_candidates")), strict=True)]


RANKED = [(1, "b", 0.0, 1, 3), (1, "a", 1.0, 3, 3), (2, "a", 0.0, 1, 3), (2, "b", 1.0, 2, 3)]
NO_HITS = [(*row[:2], 0.0, *row[3:]) for row in RANKED]


def test_ids_of_polars_match_by_value():
    pl = pytest.importorskip("polars")
    test = pl.DataFrame({"user": pl.Series([1, 2], dtype=pl.Int16), "item": ["a", "b"]})
    for users in ([1, 2], pl.Series([1, 2], dtype=pl.UInt8), pl.Series([1, 2], dtype=pl.Int64)):
        assert ranked_items(users=users, test=test) == RANKED
        assert from_factors(A, B, **IDS | {"users": users}, test=test, k=1).schema["user"] == pl.Int16
    # Ids that the frame's type cannot hold keep their own, and a row of an unknown user changes nothing.
    many = {"users": [1, 2, 70_000], "a": [[1.0, 0], [0, 1], [1, 1]]}
    assert ranked_items(test=test, **many) == RANKED
    wide = pl.DataFrame({"user": [1, 70_000], "item": ["c", "c"]})
    assert ranked_items(test=test, train=wide) == [(1, "b", 0.0, 1, 2), (1, "a", 1.0, 2, 2), *RANKED[2:]]
    for dtype in (pl.Categorical, pl.Enum(["a", "b", "c"])):
        items, some = pl.Series(IDS["items"], dtype=dtype), test.with_columns(pl.col("item").cast(dtype))
        assert ranked_items(items=items, test=test) == ranked_items(test=some) == RANKED
    assert ranked_items(test=test.with_columns(relevant=None)) == NO_HITS
    for wrong, message in (
        ({"test": test, "users": ["1", "2"]}, "'user' has the type Int16, but the ids of the factors are String"),
        ({"test": test, "train": wide.cast({"user": pl.String})}, "'user' has the type String, .* factors are Int16"),
        ({"test": test.with_columns(relevant=pl.lit("x"))}, "'relevant' has the type String, but relevance is bool"),
    ):
        with pytest.raises(recframe.ColumnTypeError, match=message):
            ranked_items(**wrong)


def test_a_series_of_ids_keeps_its_type():
    pl = pytest.importorskip("polars")
    items = pl.Series([3, 1], dtype=pl.UInt8)
    assert from_factors(np.ones((1, 1)), np.ones((2, 1)), items=items, k=1)["item"].dtype == pl.UInt8


def test_ids_of_pandas_match_by_value():
    pd = pytest.importorskip("pandas")
    test = pd.DataFrame({"user": [1, 2], "item": ["a", "b"]})
    for some in (test, test.set_index("user"), test.set_index(["user", "item"]), test.astype({"item": "category"})):
        assert ranked_items(test=some) == RANKED
    for kind in (pd.Categorical, pd.CategoricalIndex, lambda items: pd.Series(items, dtype="category"), pd.Index):
        assert ranked_items(items=kind(IDS["items"]), test=test) == RANKED
    for relevant, expected in (([1, None], [*RANKED[:3], NO_HITS[3]]), ([None, None], NO_HITS), ([True, True], RANKED)):
        some = test.assign(relevant=pd.Series(relevant, dtype=object))
        assert ranked_items(test=some) == expected
    for wrong, message in (
        ({"test": test, "users": ["1", "2"]}, "'user' has the type int64, but the ids of the factors are"),
        ({"test": test.assign(relevant=["x", "y"])}, "'relevant' has the type .*, but relevance is bool"),
    ):
        with pytest.raises(recframe.ColumnTypeError, match=message):
            ranked_items(**wrong)


def test_whole_numbers_as_ids_of_pandas_match_exactly():
    pd, large = pytest.importorskip("pandas"), 2**53
    test = pd.DataFrame({"user": pd.array([1, 2], dtype="UInt64"), "item": pd.Categorical([large, large + 1])})
    items = np.array([large, large + 1, large + 2])
    numbered = {"a": large, "b": large + 1, "c": large + 2}
    expected = [(user, numbered[item], *rest) for user, item, *rest in RANKED]
    for kind in (None, "int64", "uint64", "Int64", "UInt64"):
        some = test if kind is None else test.astype({"item": kind})
        assert ranked_items(items=items, test=some, users=np.array([1, 2])) == expected
    more = test.assign(user=[1, 1], item=np.array([large, 2**63 + 1], dtype="uint64"))
    assert [row[1] for row in ranked_items(items=items, test=more)] == [large + 1, large, 2**63 + 1]
    # A missing id is no id of the factors.
    lacks = test.assign(item=pd.Categorical([large, None]))
    assert [row[1] for row in ranked_items(items=items, test=lacks)] == [large + 1, large, large, None]
    with pytest.raises(recframe.InputError, match="users without factors, in 1 of 2 rows"):
        ranked_items(
            items=items, test=test.assign(user=pd.array([1, None], dtype="Int64")), users=np.array([1, 2], "u8")
        )


IDS = {"users": [1, 2], "items": ["a", "b", "c"]}
A, B = np.eye(2), np.ones((3, 2))


def test_columns_of_any_name(library):
    def columns(**roles):
        train = library({roles["by"]: ["u"], roles["item"]: ["a"], "a": [1]})
        test = library({roles["by"]: ["u", "v"], roles["item"]: ["b", "c"], roles["relevant"]: [2, 1], "a": [1, 1]})
        users, items = (["u", "v"], ["a", "b", "c"])
        result = from_factors(
            np.eye(2), np.ones((3, 2)), users=users, items=items, train=train, test=test, k=1, **roles
        )
        assert list(result.columns)[:3] == list(roles.values())
        return list(plain(result).values())

    roles = {"by": "user", "item": "item", "relevant": "relevant"}
    expected = columns(**roles)
    names = ["*", "^a$", "^.*$", "a\nb", " ", 'a"b', "a'b", "{a}", "ids"]
    for number, name in enumerate(names * 3):
        role = list(roles)[number // len(names)]
        assert columns(**{**roles, role: name}) == expected, (role, name)


@pytest.mark.parametrize(
    ("arguments", "given", "error", "message"),
    [
        ((A, B[:2]), {}, recframe.InputError, "item_factors has 2 rows, but items has 3 ids"),
        ((A[:1], B), {}, recframe.InputError, "user_factors has 1 rows, but users has 2 ids"),
        ((A, B[:, :1]), {}, recframe.InputError, "user_factors has 2 columns, but item_factors 1"),
        ((A, B, [1.0]), {}, recframe.InputError, "item_bias has 1 rows, but items has 3 ids"),
        ((A[0], B), {}, recframe.InputError, r"user_factors has the shape \(2,\)"),
        ((A, np.where(B > 0, math.nan, B)), {}, recframe.InputError, "item_factors holds values that are not finite"),
        ((A * 1e200, B * 1e200), {}, recframe.InputError, "which float64 cannot hold"),
        ((A.astype(str), B), {}, recframe.OptionTypeError, "factors are numbers"),
        ((A, None), {}, recframe.OptionTypeError, "item_factors is None, but user_factors is not"),
        ((None, None), {}, recframe.OptionTypeError, "neither factors nor an item bias"),
        ((A, B), {"k": 4}, recframe.OptionError, "k=4 is more than the 3 items"),
        ((A, B), {"k": 0}, recframe.OptionError, "k=0 is less than 1"),
        ((A, B), {"k": None}, recframe.OptionTypeError, "k=None"),
        ((A, B), {"positions": "some"}, recframe.OptionError, "positions='some'"),
        ((A, B), {"memory": 0}, recframe.OptionError, "memory=0"),
        ((A, B), {"threads": 1.5}, recframe.OptionTypeError, "threads=1.5"),
        ((A, B), {"users": [1, 1]}, recframe.InputError, "users holds 1 more than once"),
        ((A, B), {"relevant": "rank"}, recframe.OptionError, "several columns of the name 'rank'"),
        ((A, B), {"test": {"user": [1, 7, 8], "item": ["a"] * 3}}, recframe.InputError, "without factors, in 2 of 3 rows, such as 7, 8"),
        ((A, B), {"test": {"user": [1, 6, 7, 8, 9], "item": ["a"] * 5}}, recframe.InputError, "in 4 of 5 rows, such as 6, 7, 8\n"),
        ((A, B), {"test": {"user": [1], "item": ["z"]}}, recframe.InputError, "test holds none of the items"),
        ((A, B), {"test": {"user": [1], "item": [5]}}, recframe.ColumnTypeError, "'item' has the type"),
        ((A, B), {"train": {"user": [9], "item": ["a"]}}, recframe.InputError, "train holds none of the users"),
        ((A, B), {"test": {"user": [1], "thing": ["a"]}}, recframe.MissingColumnError, "'item': the frame has no such column"),
        ((A, B), {"test": {"user": [1], "item": ["a"], "relevant": ["x"]}}, recframe.ColumnTypeError, "relevance is bool"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(library, arguments, given, error, message):
    given = {"test": {"user": [1, 2], "item": ["a", "b"]}, "k": 2} | IDS | given
    given |= {name: library(given[name]) for name in ("test", "train") if name in given}
    with pytest.raises(error, match=message):
        from_factors(*arguments, **given)


@pytest.mark.parametrize(
    ("users", "odd"),
    [([1, "a"], '"a"'), ([1, 2**200], str(2**200)), ([None, 1, 2.5], "2.5")],
)
def test_ids_without_a_common_type_are_named(users, odd):
    test = pytest.importorskip("polars").DataFrame({"user": ["a"], "item": ["a"]})
    with pytest.raises(recframe.InputError, match=f"the ids of 'user' are no column of polars: .*{odd}"):
        from_factors(A, B, **IDS | {"users": users}, test=test, k=1)


def test_objects_are_no_ids_of_polars():
    pytest.importorskip("polars")
    with pytest.raises(recframe.InputError, match="(?s)the ids of 'user' are objects.*Hint: give all of them as text"):
        from_factors(A, B, users=[object() for _ in IDS["users"]], items=IDS["items"], k=1)


@pytest.mark.parametrize("kind", [set, frozenset])
def test_a_set_of_ids_has_no_order(library, kind):
    test = library({"user": [1], "item": ["a"]})
    for name, ids in IDS.items():
        with pytest.raises(
            recframe.OptionTypeError, match=rf"(?s){name}=.* is neither a frame nor a sequence.*{name}=\[\.\.\.\]"
        ):
            from_factors(A, B, **IDS | {name: kind(ids)}, test=test, k=1)


def test_an_empty_test_set_and_frames_of_another_kind(library):
    test = library({"user": [1], "item": ["a"]})
    with pytest.raises(recframe.InputError, match="test has no rows"):
        from_factors(A, B, **IDS, test=test[:0], k=1)
    with pytest.raises(recframe.OptionTypeError, match="train is a dict"):
        from_factors(A, B, **IDS, test=test, train={"user": [1]}, k=1)
    with pytest.raises(recframe.OptionTypeError, match="collect it first"):
        from_factors(A, B, **IDS, test=pytest.importorskip("polars").LazyFrame({"user": [1], "item": ["a"]}), k=1)


def test_frames_of_two_libraries_are_an_error():
    sets = [pytest.importorskip(name).DataFrame({"user": [1], "item": ["a"]}) for name in ("pandas", "polars")]
    for train, test in (sets, sets[::-1]):
        with pytest.raises(recframe.OptionTypeError, match="of pandas and polars"):
            from_factors(A, B, **IDS, train=train, test=test, k=1)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"truth": True}, "and truth= might call others relevant"),
        ({"min_relevance": 0}, "and min_relevance=0 would call the others relevant"),
        ({"ties": "item"}, "ties='item' cannot order the others"),
        ({"ties": "first"}, "ties='first' cannot order the others"),
        ({"rank": ["rank", "item"]}, "of one model, and rank="),
    ],
)
def test_roles_that_absent_rows_do_not_bear(library, roles, message):
    frame = case(0).compact(library)
    given = {name: frame if name == "truth" else value for name, value in roles.items()}
    with pytest.raises(recframe.OptionError, match=re.escape(message)):
        frame.rec.evaluate(["ndcg@3"], **given)


def test_metrics_that_read_absent_rows_are_refused_by_name(library):
    frame = case(0).compact(library, k=5)
    pfound = recframe.metrics.PFound(probability={0: 0.1, 1: 0.5})
    for metric in (*READ_ALL - {"money_precision"}, "ndcg(ideal=ones)", pfound):
        with pytest.raises(recframe.InputError, match="reads every ranked row") as caught:
            frame.rec.evaluate(metric)
        assert str(caught.value).startswith(str(metric))


def test_negative_relevance_has_no_place_in_the_ideal_of_a_frame_that_omits_rows(polars_engine):
    some = {"user": [1, 1], "relevant": [-1, 2], "rank": [2, 3], "recframe_candidates": [5, 5], "recframe_tied": [1, 1]}
    frame = polars_engine.frame(some)
    without = polars_engine.frame({**some, "relevant": [0, 2]})
    for label in ("ndcg(grades=signed)@2", "ndcg(grades=signed,ideal=ranked)"):
        for some in (frame, frame.drop("recframe_candidates")):
            with pytest.raises(
                recframe.OptionError, match=re.escape(f"{label} puts negative relevance") + ".* holds -1"
            ):
                some.rec.evaluate([label])
        result, expected = (polars_engine.value(without, each) for each in (label, label.replace("signed", "all")))
        assert result == expected
    assert frame.rec.ndcg(gain="binary", grades="signed") == pytest.approx(0.5)


def test_what_lists_show_is_what_the_full_frame_shows(library):
    made = case(10, kind="integer")
    made.bias = None
    compact, full = made.compact(library, k=4), made.full(library)
    names, train = ["coverage", "gini", "novelty", "personalization"], library(made.train)
    given = {"k": [1, 4], "train": train, "catalog": made.items}
    result, expected = (plain(frame.rec.evaluate(names, **given)) for frame in (compact, full))
    assert_same(result, expected)
    with pytest.raises(recframe.InputError, match="coverage@5 reads the first 5 rows of each list"):
        compact.rec.coverage(5)


def test_metrics_that_read_all_rows_work_where_the_frame_holds_them(library):
    made = case(0)
    whole, full = made.compact(library, k=24), made.full(library)
    names = ["spearman", "kendall", "ndcg(ideal=ones)"]
    assert_same(tables(whole, names, None), tables(full, names, None))


@pytest.mark.parametrize("kind", ["float", "integer"])
def test_money(library, kind):
    made = case(11, kind=kind)
    full = plain(made.full(library))
    prices = [float(item % 5) for item in full["item"]]
    full = library(full | {"price": prices})
    compact = plain(made.compact(library, k=5))
    compact = library(compact | {"price": [float(item % 5) for item in compact["item"]]})
    for names, k in ((["money_recall"], [1, 5, 20, None]), (["money_precision"], [1, 3])):
        if kind == "float" or names == ["money_recall"]:
            assert_same(tables(compact, names, k), tables(full, names, k))
    with pytest.raises(recframe.InputError, match="money_precision@9 reads each of the first 9 rows"):
        compact.rec.money_precision(9)


@pytest.mark.parametrize("name", ["tied", "candidates", "recframe_tied"])
def test_the_counts_are_no_arguments(library, name):
    frame = case(0).compact(library)
    for call in (frame.rec.mrr, partial(frame.rec.evaluate, "mrr"), frame.rec, recframe.Config):
        with pytest.raises(recframe.OptionTypeError, match=name):
            call(**{name: name})


def test_a_rank_of_another_name_and_columns_of_the_user(library):
    made = case(2, kind="integer")
    compact, full = made.compact(library), made.full(library)
    renamed = library({"place" if name == "rank" else name: values for name, values in plain(compact).items()})
    expected = tables(full, ["mrr", "roc_auc"], None)
    assert_same(tables(renamed, ["mrr", "roc_auc"], None, rank="place"), expected)
    # A user's own columns of these names count nothing.
    own = library({"user": [1, 1], "relevant": [0, 1], "rank": [1, 2], "tied": [9, 9], "candidates": [50, 50]})
    assert own.rec.mrr() == 0.5
    assert own.rec.roc_auc() == 0


def test_a_lazy_frame_and_models_below_each_other():
    pl = pytest.importorskip("polars")
    one, other = case(12, kind="integer"), case(12, kind="float")
    other.train, other.test = one.train, one.test
    names = ["ndcg@3", "roc_auc", "map", "mrr", "err"]
    frames = [made.compact(pl.DataFrame) for made in (one, other)]
    alone = [frame.rec.evaluate(names) for frame in frames]
    models = [frame.with_columns(model=pl.lit(name)) for frame, name in zip(frames, "ab", strict=True)]
    together = pl.concat(models).rec.evaluate(names, model="model")
    assert together["model"].to_list() == ["a", "b"]
    for row, expected in zip(together.drop("model").rows(), alone, strict=True):
        assert row == pytest.approx(expected.row(0), abs=1e-12)
    lazy = frames[0].lazy().rec.evaluate(names, rank="rank").collect()
    assert lazy.row(0) == pytest.approx(alone[0].row(0), abs=1e-12)
    with pytest.raises(recframe.RecError) as eager:
        frames[0].rec.spearman(rank="rank")
    pytest.importorskip("polars", minversion="1.35")  # before, polars makes its own error of ours
    with pytest.raises(recframe.RecError) as result:
        frames[0].lazy().rec.spearman(rank="rank").collect()
    assert str(result.value).startswith(str(eager.value))


def test_memory_is_bounded_by_a_block(monkeypatch):
    pl = pytest.importorskip("polars")
    from recframe._data.factors import positions

    shapes = []
    scores = positions.Model.scores

    def seen(self, rows, out):
        shapes.append(out.nbytes)
        scores(self, rows, out)

    monkeypatch.setattr(positions.Model, "scores", seen)
    made = case(13, n_users=20)
    expected = made.compact(pl.DataFrame)
    assert shapes == [20 * 24 * 8]
    for memory, most in ((1, 24 * 8), (3 * 24 * 8, 3 * 24 * 8)):
        shapes.clear()
        assert made.compact(pl.DataFrame, memory=memory).equals(expected)
        assert max(shapes) == most


def test_the_bar_is_printed_on_request(capsys):
    pl = pytest.importorskip("polars")
    pytest.importorskip("tqdm")
    case(14).compact(pl.DataFrame)
    assert capsys.readouterr().err == ""
    case(14).compact(pl.DataFrame, progress=True, memory=1)
    printed = capsys.readouterr().err
    assert printed.endswith("\n") and "9/9" in printed and "users" in printed and "\r" in printed
    case(14).compact(pl.DataFrame, progress=None)
    assert capsys.readouterr().err == ""


def test_a_bar_that_is_not_installed_is_named(monkeypatch, capsys):
    pl = pytest.importorskip("polars")
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    with pytest.raises(recframe.MissingExtraError, match=r"(?s)progress=True.*tqdm.*extra 'factors'"):
        case(14).compact(pl.DataFrame, progress=True)
    for show in (None, False):
        case(14).compact(pl.DataFrame, progress=show)
    assert capsys.readouterr().err == ""


def test_the_bar_of_a_terminal_waits_a_moment(monkeypatch, capsys):
    pl = pytest.importorskip("polars")
    pytest.importorskip("tqdm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    case(14).compact(pl.DataFrame, progress=None)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "QUIET", 0)
    case(14).compact(pl.DataFrame, progress=None)
    assert "9/9" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["rating", "Relevance", "label"])
def test_a_test_set_whose_relevance_has_another_name_is_refused(library, name):
    """Each pair counted as relevant, those with a 0 too."""
    test = library({"user": ["u", "u", "v"], "item": ["a", "b", "c"], name: [0, 2, 1]})
    hint = f"Hint: relevant='{name}', or drop that column of test, if each row is relevant"
    given = {"users": ["u", "v"], "items": ["a", "b", "c"], "k": 2}
    with pytest.raises(recframe.MissingColumnError, match=f"(?s)relevant='relevant': test has no such.*{hint}"):
        recframe.from_factors(np.eye(2), np.eye(3, 2), test=test, **given)
    frame = plain(recframe.from_factors(np.eye(2), np.eye(3, 2), test=test, relevant=name, **given))
    grades = {row[:2]: row[2] for row in zip(frame["user"], frame["item"], frame[name], strict=True)}
    assert [grades["u", "a"], grades["u", "b"], grades["v", "c"]] == [0.0, 2.0, 1.0]


def test_a_test_set_with_zeros_in_a_column_without_a_role_is_warned_of(library):
    test = {"user": ["u", "u", "v"], "item": ["a", "b", "c"]}
    given = {"users": ["u", "v"], "items": ["a", "b", "c"], "k": 2}
    with pytest.warns(
        recframe.DataWarning, match="(?s)labels may mean nothing.*test has no column 'relevant'.*'stars'"
    ):
        recframe.from_factors(np.eye(2), np.eye(3, 2), test=library(test | {"stars": [0, 2, 1]}), **given)
    # Times and prices are no grades.
    recframe.from_factors(np.eye(2), np.eye(3, 2), test=library(test | {"time": [7, 8, 9]}), **given)
