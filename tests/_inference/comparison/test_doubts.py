"""Warnings of verdicts that rest on few lists, and of intervals that a few large values make too short."""

import warnings

import numpy as np
import pytest

pytest.importorskip("scipy")

import recframe
from recframe._inference.statistics.skewness import skewness


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


def lists_of_losses(library, lists, losing):
    """Lists of three relevant items, of which so many lists lose one under the new model."""
    users, items = np.repeat(np.arange(lists), 6), np.tile(np.arange(6), lists)
    new = np.tile([6.0, 5, 4, 3, 2, 1], lists)
    new[(items == 0) & (users < losing)] = 0.5
    old, relevant = np.tile([6.0, 5, 4, 3, 2, 1], lists), (items < 3) * 1
    return library.DataFrame({"user": users, "item": items, "relevant": relevant, "old": old, "new": new})


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(
    ("lists", "losing", "margin", "beginning"),
    [
        (200, 8, None, "few lists differ: recall@3 of 'new' and 'old' have different values in 8 of 200 lists. Below about 20,"),
        (200, 20, None, None),
        (200, 20, 0.2, "few lists differ: recall@3 of 'new' and 'old' have different values in 20 of 200 lists. Below about 100,"),
        (200, 30, None, None),
        (200, 30, 0.2, "few lists differ: recall@3 of 'new' and 'old' have different values in 30 of 200 lists. Below about 100,"),
        (400, 110, 0.2, None),
        (40, 22, 0.5, None),  # more than half of the lists
        (200, 0, 0.2, None),  # equal differences have an interval of their own
        (200, 2, 0.0001, None),  # open
    ],
)  # fmt: skip
def test_verdicts_by_few_lists_warn(library, lists, losing, margin, beginning):
    rec = lists_of_losses(library, lists, losing).rec(score=["old", "new"])
    result = warned(lambda: rec.compare("recall@3", margin=margin))
    assert [text.startswith(beginning or "nothing") for text in result] == [True] * (beginning is not None)
    # Hits have a test of their own.
    assert not warned(lambda: rec.compare("precision@1", margin=margin))


def test_one_warning_names_the_first_row_and_counts_the_others(library):
    rec = lists_of_losses(library, 200, 8).rec(score=["old", "new"])
    (text,) = warned(lambda: rec.compare(["precision@1", "recall@3", "ndcg@3"], margin=0.2))
    assert (
        "recall@3 of 'new' and 'old' have different values in 8 of 200 lists (and in 1 more rows of the result)" in text
    )


def test_long_tails_warn(library):
    random = np.random.default_rng(1)
    lists = 200
    frame = lists_of_losses(library, lists, 0)
    sold = random.lognormal(0, 1.5, lists)
    columns = {name: frame[name].to_numpy() for name in ("user", "item", "old")}
    columns["relevant"] = np.repeat(sold, 6) * (columns["item"] == 0)
    columns["new"] = columns["old"] * np.where(np.repeat(random.random(lists) < 0.5, 6), 1.0, -1.0)
    rec = library.DataFrame(columns).rec(score=["old", "new"])
    (text,) = warned(lambda: rec.describe("dcg@3"))
    skew = ((sold - sold.mean()) ** 3).mean() / sold.std() ** 3
    assert text.startswith(
        f"a few large values decide: the values of dcg@3 of 'old' have a skewness of {skew:.1f}, so 200 lists are too few"
        f" for the interval, and about {np.ceil(11 * skew**2):,.0f} are needed.\nCap the largest values"
    )
    (text,) = warned(lambda: rec.compare("dcg@3"))
    assert text.startswith(
        "a few large values decide: the differences between dcg@3 of 'new' and 'old' have a skewness of -"
    )
    weighted = library.DataFrame({**columns, "weight": np.ones(6 * lists)}).rec(score=["old", "new"], weight="weight")
    assert warned(lambda: weighted.compare("dcg@3")) == [text]
    # Fewer lists say nothing of their skewness, and shares have Wilson's interval.
    few = library.DataFrame({name: column[: 6 * 40] for name, column in columns.items()}).rec(score=["old", "new"])
    assert not warned(lambda: (few.describe("dcg@3"), few.compare("dcg@3"), rec.describe("hit_rate@1")))


def test_skewness_is_scipys():
    from scipy import stats

    values = np.random.default_rng(2).lognormal(size=(3, 400))
    result = skewness(values.mean(axis=1), (values**2).mean(axis=1), (values**3).mean(axis=1))
    assert result == pytest.approx(stats.skew(values, axis=1))
    assert np.isnan(skewness(np.array([0.3]), np.array([0.09]), np.array([0.027]))).all()


def test_lazy_frames_warn_when_they_are_collected():
    pl = pytest.importorskip("polars")
    lazy = lists_of_losses(pl, 200, 8).lazy().rec(score=["old", "new"]).compare("recall@3")
    (text,) = warned(lazy.collect)
    assert "few lists differ" in text


def test_the_data_of_the_first_pages_warn_of_nothing():
    pytest.importorskip("polars")
    visits = recframe.datasets.visits()
    rec = visits.rec(score=["old", "new", "deep", "popular"])
    assert not warned(lambda: rec.compare(["ndcg@5", "mrr", "hit_rate@5", "recall@5"], baseline="old", margin=0.02))
    assert not warned(lambda: rec.describe(["ndcg@5", "mrr", "hit_rate@5", "recall@5"]))


def test_uneven_clusters_and_weights_warn(library):
    """Users of 1 to 60 lists stand for few equal ones; equal users are as many as they are."""
    random, lists = np.random.default_rng(7), []
    for user in range(40):
        lists += [user] * (60 if user < 3 else 1)
    count = len(lists)
    columns = {
        "user": np.repeat(lists, 4), "session": np.repeat(np.arange(count), 4),
        "relevant": np.tile([1, 0, 0, 1], count), "weight": np.repeat(np.where(np.arange(count) < 9, 50.0, 1.0), 4),
        "old": random.normal(size=4 * count), "new": random.normal(size=4 * count),
    }  # fmt: skip
    rec = library.DataFrame(columns).rec(by="session", score=["old", "new"])
    for call in (rec.compare, rec.describe):
        (text,) = warned(lambda call=call: call("ndcg@4", cluster="user"))
        assert text.startswith(
            "few clusters decide: 40 clusters are so uneven that they stand for 4 equal ones. If a model"
        )
        assert "To count every cluster the same, pass a weight= of 1 / the number of its lists" in text
        assert not warned(lambda call=call: call("ndcg@4"))
    (text,) = warned(lambda: rec.compare("ndcg@4", weight="weight"))
    assert text.startswith(
        f"few weighted lists decide: {count} weighted lists are so uneven that they stand for 19 equal ones"
    )
    effective = rec.compare("ndcg@4", cluster="user", details=True)["effective"].to_list()
    assert effective == pytest.approx([count**2 / (3 * 60**2 + 37)])
    assert rec.compare("ndcg@4", details=True)["effective"].to_list() == pytest.approx([count])


def test_only_many_values_that_are_no_rates_may_be_skewed():
    from recframe._inference.comparison import describe

    values = np.linspace(0, 1, describe.LEAST_SKEWED_LISTS)
    assert describe._may_be_skewed(values)
    assert not describe._may_be_skewed(values[1:])
    assert not describe._may_be_skewed(np.round(values))
