"""NumPy's sort of packed integers ranks rows exactly, whatever the scores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import ANY_SCORE, examples, leave_rows_out, ranked_rows

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

from recframe._engines import packing  # noqa: E402 - needs NumPy
from recframe._engines.pandas import sort as pandas_sort  # noqa: E402 - needs NumPy

KINDS = {
    "floats": lambda rng, many: rng.random(many),
    "ties": lambda rng, many: rng.integers(0, 4, many).astype(float),
    "integers": lambda rng, many: rng.integers(-(2**62), 2**62, many),
    "close": lambda rng, many: 1.0 + rng.integers(0, 4, many) * 2.0**-52,
    "far apart": lambda rng, many: rng.choice([-1, 1], many) * 10.0 ** rng.integers(-300, 300, many),
    "constant": lambda rng, many: np.full(many, 0.25),
    "zeros": lambda rng, many: rng.choice([0.0, -0.0], many),
}
DO_NOT_FIT = {
    "endless": lambda rng, many: rng.choice([np.inf, -np.inf, 0.0], many),
    "tiny": lambda rng, many: rng.integers(0, 6, many) * 5e-324,
    "missing": lambda rng, many: np.where(rng.random(many) < 0.5, np.nan, 1.0),
}


def check(users, scores, upto):
    result = pandas_sort.rank_rows([users], scores, upto)
    if result is None:
        return None
    frame = pd.DataFrame({"user": users, "score": scores})
    start = frame.groupby("user")["score"].rank("min", ascending=False).astype("int64")
    size = frame.groupby(["user", "score"])["score"].transform("size")
    expected = pd.DataFrame({"user": users, "start": start, "size": size})
    expected = expected if upto is None else expected[expected["start"] <= upto]
    assert sorted(result.rows) == [*expected.index]
    expected = expected.loc[result.rows]
    assert [*expected["start"]] == [*result.start]
    assert [*expected["size"]] == [*result.size]
    by_list = expected.sort_values("user", kind="stable", ignore_index=True)
    assert by_list.equals(expected.sort_values(["user", "start"], kind="stable", ignore_index=True))
    return result


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [0, -7, 10**12])
@pytest.mark.parametrize("upto", [1, 3, 90, None])
def test_rows_stand_where_their_rank_is(kind, first, upto):
    rng = np.random.default_rng(3)
    assert check(first + rng.integers(0, 6, 400), KINDS[kind](rng, 400), upto) is not None


@pytest.mark.parametrize("kind", DO_NOT_FIT)
def test_scores_that_do_not_fit_are_left_to_windows(kind):
    rng = np.random.default_rng(3)
    assert check(rng.integers(0, 6, 400), DO_NOT_FIT[kind](rng, 400), 3) is None


@pytest.mark.parametrize("keys", [[], ["text"], [2**62, -(2**62)]])
def test_keys_that_do_not_fit_are_left_to_windows(keys):
    assert pandas_sort.rank_rows([np.array(keys)], np.arange(len(keys), dtype=float), None) is None


def test_keys_that_do_not_fit_together_are_left_to_windows():
    # One of 2⁶³ lists or more is no whole number of NumPy's.
    keys = [np.array([1, 2, 1]), np.array([2**62, -(2**62), 0])]
    assert pandas_sort.rank_rows(keys, np.arange(3.0), 2) is None
    assert pandas_sort.numbered(keys, np.arange(3.0), descending=True) is None


@pytest.mark.parametrize("values", [[0.5, np.nan, 1.5], [np.nan] * 3, ["a", "b", "c"]])
def test_values_without_an_order_are_left_to_windows(values):
    assert pandas_sort.numbered([np.array([1, 1, 2])], np.array(values), descending=False) is None


@examples(200)
@given(rows=ranked_rows(ANY_SCORE), upto=st.integers(1, 4) | st.none())
def test_whatever_the_scores(rows, upto):
    users, scores = zip(*rows, strict=True)
    check(np.array(users), np.array(scores), upto)


@pytest.mark.parametrize("scale", [0, 1])
@pytest.mark.parametrize("gaps", [1, 3])
@pytest.mark.parametrize("kind", ["floats", "ties", "constant"])
def test_rows_of_low_scores_need_no_sort(kind, gaps, scale, monkeypatch):
    for name, value in {"MANY_ROWS": 0, "SAMPLE": 700, "FEWEST_LISTS": 5}.items():
        monkeypatch.setattr(packing, name, value)
    sorts, ordered = [], pandas_sort._ordered
    monkeypatch.setattr(
        pandas_sort, "_ordered", lambda *args, **kwargs: sorts.append(len(args[0])) or ordered(*args, **kwargs)
    )
    rng = np.random.default_rng(5)
    users = gaps * np.append(rng.integers(0, 21, 1500), [30, 30])
    users = rng.permutation(users)
    assert check(users, KINDS[kind](rng, len(users)) + scale * users, 3) is not None
    assert (max(sorts) < 0.4 * len(users)) == (kind != "constant" and not scale)


def test_a_missing_score_is_left_to_windows_where_rows_of_low_scores_are_left_out(monkeypatch):
    leave_rows_out(monkeypatch)
    users, scores = np.repeat([1, 2, 3], 5), np.arange(15.0) % 5
    assert check(users, scores, 2) is not None
    scores[5] = np.nan
    assert pandas_sort.rank_rows([users], scores, 2) is None


@examples(200)
@given(rows=ranked_rows(st.integers(0, 9)), upto=st.integers(1, 3))
def test_leaving_rows_out_changes_nothing(rows, upto):
    users, scores = zip(*rows, strict=True)
    with pytest.MonkeyPatch.context() as patch:
        leave_rows_out(patch)
        assert check(np.array(users), np.array(scores), upto) is not None


@pytest.mark.parametrize("bits", [1, 3, 8])
@pytest.mark.parametrize("descending", [True, False])
def test_scores_may_fall_together(bits, descending, monkeypatch):
    monkeypatch.setattr(pandas_sort, "MOST_BITS", bits)
    monkeypatch.setattr(pandas_sort, "FEWEST_BITS", 1)
    rng = np.random.default_rng(bits)
    users = rng.integers(0, 9, 300)
    for scores in (rng.random(300), rng.integers(0, 40, 300) / 7):
        for upto in (1, 7, None):
            assert check(users, scores, upto) is not None
        rows, position, _ = pandas_sort.numbered([users], scores, descending=descending)
        result = pd.DataFrame({"user": users[rows], "score": scores[rows], "position": position})
        rows, first, size = pandas_sort.numbered([users], scores, descending=descending, tied=True)
        expected = pd.Series(scores).groupby(users).rank("min", ascending=not descending)
        assert [*first] == [*expected[rows]]
        assert [*size] == [*pd.Series(scores).groupby([users, scores]).transform("size")[rows]]
        for _, one in result.groupby("user"):
            assert [*one["position"]] == [*range(1, len(one) + 1)]
            assert one["score"].is_monotonic_decreasing if descending else one["score"].is_monotonic_increasing


def test_several_keys():
    rng = np.random.default_rng(7)
    users, days, scores = rng.integers(-2, 3, 500), rng.integers(10, 13, 500), rng.integers(0, 10, 500)
    both = pandas_sort.rank_rows([users, days], scores, 4)
    one = pandas_sort.rank_rows([users * 3 + days - 10], scores, 4)
    assert all(map(np.array_equal, both, one))
