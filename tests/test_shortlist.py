"""The short way to the rows that matter leaves out none of them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pl = pytest.importorskip("polars")

from recframe._frames import _shortlist  # noqa: E402 - needs polars

KINDS = {
    "floats": lambda rng: rng.random(),
    "ties": lambda rng: float(rng.randint(0, 3)),
    "integers": lambda rng: rng.randint(-(2**62), 2**62),
    "close": lambda rng: 1.0 + rng.randint(0, 3) * 2.0**-52,
    "far apart": lambda rng: rng.choice([-1, 1]) * 10.0 ** rng.randint(-300, 300),
    "endless": lambda rng: rng.choice([float("inf"), -float("inf"), 0.0, 1.0]),
    "tiny": lambda rng: rng.randint(0, 5) * 5e-324,
    "constant": lambda rng: 0.25,
    "zeros": lambda rng: rng.choice([0.0, -0.0]),
}


def first_places(frame, upto):
    ranked = frame.with_columns(pl.col("score").rank("min", descending=True).over("user").alias("place"))
    return ranked.filter(pl.col("place") <= upto).sort("row")


def check(users, scores, upto):
    frame = pl.DataFrame({"user": users, "score": scores, "row": range(len(users))})
    placed, rest = _shortlist.shortlist(frame, "user", "score", upto)
    expected = first_places(frame, upto)
    if placed is None:
        assert rest is frame
        return frame
    assert not set(placed["user"]) & set(rest["user"])
    both = pl.concat(
        [placed.with_columns(pl.col("start").alias("place")).drop("start"), first_places(rest, upto)],
        how="vertical_relaxed",
    )
    assert both.sort("row").equals(expected.with_columns(pl.col("place").cast(pl.Int64)))
    return pl.concat([placed.drop("start"), rest])


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("first", [0, -7, 10**12])
@pytest.mark.parametrize("upto", [1, 3])
def test_it_keeps_every_row_that_can_matter(kind, first, upto):
    rng = random.Random(f"{kind} {first} {upto}")
    users = [first + rng.randint(0, 5) for _ in range(400)]
    check(users, [KINDS[kind](rng) for _ in users], upto)


@settings(deadline=None, max_examples=200)
@given(
    rows=st.lists(st.tuples(st.integers(-2, 2), st.floats(allow_nan=False)), min_size=1, max_size=60),
    upto=st.integers(1, 4),
)
def test_it_keeps_them_whatever_the_scores(rows, upto):
    users, scores = zip(*rows, strict=True)
    check(users, scores, upto)


def test_it_leaves_out_the_rest():
    rng = random.Random(1)
    users = [number % 50 for number in range(5000)]
    assert check(users, [rng.random() for _ in users], 2).height == 100


def test_numpy_changes_nothing(monkeypatch):
    rng = random.Random(4)
    users = [rng.randint(0, 5) for _ in range(400)]
    scores = [rng.random() for _ in users]
    pytest.importorskip("numpy")
    check(users, scores, 3)
    monkeypatch.setattr(_shortlist, "MANY_CORES", 0)
    check(users, scores, 3)


def test_categories_have_codes():
    rng = random.Random(3)
    users = pl.Series([f"user {number % 20}" for number in range(1000)]).cast(pl.Categorical)
    assert check(users, [rng.random() for _ in users], 2).height == 40


@pytest.mark.parametrize("different", [1, 20, 40, 1000])
def test_text_is_encoded_where_it_repeats_and_comes_back_as_text(different, monkeypatch):

    monkeypatch.setattr(_shortlist, "SAMPLE", 100)
    rng = random.Random(5)
    rows = [(f"user {n % different}", rng.random() < 0.2, rng.random(), f"group {n % 3}") for n in range(2000)]
    frame = pl.DataFrame(
        [*rows, (None, True, 0.5, "group 1")], schema=["user", "relevant", "score", "group"], orient="row"
    )
    assert _shortlist.pays_to_encode(frame["user"]) == (different <= 60)
    by_text = frame.rec.ndcg(2, per="user")
    assert by_text.schema["user"] == pl.String
    assert by_text["user"].to_list() == [*sorted(set(frame["user"]) - {None}), None]
    codes = {user: code for code, user in enumerate(by_text["user"])}
    by_code = frame.with_columns(pl.col("user").replace_strict(codes)).rec.ndcg(2, per="user")
    assert by_text["ndcg@2"].to_list() == pytest.approx(by_code["ndcg@2"].to_list(), abs=1e-12, nan_ok=True)
    both = frame.rec.map(2, per=["group", "user"])
    assert both.columns == ["group", "user", "map@2"]
    assert (
        both.select("group", "user").rows()
        == both.select("group", "user").sort("group", "user", nulls_last=True).rows()
    )


@pytest.mark.parametrize("users", [[f"{n}" for n in range(400)], [None, *[1] * 399], [1.5] * 400])
def test_other_keys_go_the_long_way(users):
    frame = pl.DataFrame({"user": users, "score": [float(number) for number in range(400)]})
    placed, rest = _shortlist.shortlist(frame, "user", "score", 1)
    assert placed is None
    assert rest is frame


def test_the_whole_metric_is_the_same_either_way(monkeypatch):
    import recframe

    rng = random.Random(2)
    rows = [(user, rng.choice([0, 0, 0, 1, 2]), rng.randint(0, 30) / 10) for user in range(20) for _ in range(60)]
    frame = pl.DataFrame(rows, schema=["user", "relevant", "score"], orient="row")
    names = ["ndcg", "map", "mrr", "hit_rate", "precision(denominator=list)", "rbp", "r_precision"]
    for ties in ("average", "best", "worst", "first"):
        short = recframe.rec(frame).evaluate(names, k=[1, 3], ties=ties, per="user")
        with monkeypatch.context() as patch:
            patch.setattr(_shortlist, "WORTH_IT", 10**9)
            long = recframe.rec(frame).evaluate(names, k=[1, 3], ties=ties, per="user")
        for name in short.columns:
            assert short[name].to_list() == pytest.approx(long[name].to_list(), abs=1e-12), name
