"""Lists that are read in parts give what they give at once."""

from __future__ import annotations

import inspect
import random

import pytest

import recframe

pl = pytest.importorskip("polars")
testing = pytest.importorskip("polars.testing")


NAMES = [
    "ndcg", "map", "mrr", "err", "roc_auc", "gauc", "r_precision", "coverage", "personalization", "gini", "entropy",
    "novelty",
]  # fmt: skip
OLD_NAMES = "atol" in inspect.signature(testing.assert_frame_equal).parameters
pytestmark = pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # random items repeat
TOLERANCE = {"atol": 1e-12, "rtol": 1e-12} if OLD_NAMES else {"abs_tol": 1e-12, "rel_tol": 1e-12}


def sample(seed):
    rng = random.Random(seed)
    rows = [
        {
            "user": user,
            "day": day,
            "country": None if user is None else f"c{user % 3}",
            "item": item,
            "score": rng.choice([None, 1.0, 2.0, 3.0]),
            "other": rng.random(),
            "relevant": rng.choice([0, 0, 1, 2]),
        }
        for user in [*range(40), None]
        for day in (1, 2)
        for item in rng.sample(range(30), 6)
    ]
    rng.shuffle(rows)
    frame = pl.DataFrame(rows, schema_overrides={"user": pl.Int64, "country": pl.String})
    train = pl.DataFrame(
        {"user": [rng.randrange(50) for _ in range(200)], "item": [rng.randrange(28) for _ in range(200)]}
    )
    features = pl.DataFrame({"item": list(range(30)), "a": [rng.random() for _ in range(30)], "b": [1.0] * 30})
    return frame, train, features


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize(
    "more", [{}, {"per": "country"}, {"per": "user"}, {"by": ["user", "day"]}, {"by": None}], ids=str
)
@pytest.mark.parametrize("known", [True, False], ids=["later", "polars 1.30 to 1.34"])
def test_parts_give_what_the_whole_gives(partitions, more, known, monkeypatch):
    if known and not hasattr(pl.LazyFrame, "pipe_with_schema"):
        pytest.skip("needs polars 1.35")
    monkeypatch.setattr("recframe._engines.polars.lazy.KNOWS_SCHEMA_LATER", known)
    frame, train, _ = sample(3)
    train = train.with_columns(day=1)
    requested = {"metrics": NAMES, "k": [1, 4], "score": ["score", "other"], **more}
    expected = frame.rec.evaluate(**requested, train=train)
    result = frame.lazy().rec.evaluate(**requested, train=train.lazy(), partitions=partitions)
    assert result.collect_schema() == expected.schema
    testing.assert_frame_equal(result.collect(), expected, **TOLERANCE)


def test_parts_find_keys_of_unlike_types_in_both_frames():
    frame, _, _ = sample(3)
    truth = frame.select("user", "item", "relevant").filter(pl.col("relevant") > 0).unique()
    expected = frame.drop("relevant").rec.evaluate(["ndcg", "recall"], 3, truth=truth)
    types = [(pl.Int32, pl.Int64), (pl.Float64, pl.Float32), (pl.String, pl.Categorical)]
    for here, there in types:
        frames = frame.drop("relevant").cast({"user": here}), truth.cast({"user": pl.String}).cast({"user": there})
        served, judged = (each.lazy() for each in frames)
        result = served.rec.evaluate(["ndcg", "recall"], 3, truth=judged, partitions=4).collect()
        testing.assert_frame_equal(result, expected, **TOLERANCE)


def test_models_of_parts_come_in_the_order_of_their_first_rows():
    rows = pl.DataFrame(
        {"user": [*range(9)] * 3, "model": [m for m in "zam" for _ in range(9)], "item": 1, "relevant": 1}
    )
    rows = rows.with_columns(score=1.0, half=pl.col("user") % 2)
    for per in (None, "half"):
        result = rows.lazy().rec.evaluate("recall@1", model="model", partitions=3, per=per).collect()
        assert result.equals(rows.rec.evaluate("recall@1", model="model", per=per))


def test_groups_and_the_largest_relevance_are_those_of_all_parts():
    frame, _, _ = sample(3)
    frame = frame.with_columns(seller=pl.col("item") % 3)
    for metrics, more in (
        (["awrf"], {"group": "seller"}),
        (["err"], {}),
        (["coverage", "gini"], {"catalog": range(50)}),
    ):
        result = frame.lazy().rec.evaluate(metrics, 3, partitions=5, **more).collect()
        testing.assert_frame_equal(result, frame.rec.evaluate(metrics, 3, **more), **TOLERANCE)


def served_by_one_model(name):
    """Return lists that one model serves, the first of which another serves too, and what is relevant in them."""
    served = pl.DataFrame({"user": [*range(8), 0], "item": [1] * 9, "score": [1.0] * 9, "model": ["a"] * 8 + [name]})
    return served, pl.DataFrame({"user": [*range(8)], "item": [1] * 8})


@pytest.mark.parametrize("name", ["b", None])
def test_a_part_judges_models_of_which_it_has_no_row(name):
    served, truth = served_by_one_model(name)
    for frame, given in ((served, {"truth": truth.lazy()}), (served.with_columns(relevant=1), {})):
        result = frame.lazy().rec.evaluate("recall@1", model="model", partitions=4, **given).collect()
        assert dict(result.rows()) == {"a": 1.0, name: 1 / 8}
        lists = frame.lazy().rec.evaluate("recall@1", model="model", partitions=4, per="user", **given).collect()
        assert len(lists) == 16


def test_the_temporary_files_are_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    frame, _, _ = sample(3)
    frame.lazy().rec.ndcg(5, partitions=3).collect()
    with pytest.raises(Exception, match="accepts 0 to 1"):  # polars decides the type
        frame.lazy().rec.evaluate("pfound", 3, partitions=3).collect()
    assert not [*tmp_path.iterdir()]


def test_nothing_is_read_before_the_answer_is_collected(tmp_path):
    frame, _, _ = sample(3)
    path = tmp_path / "rows.parquet"
    answer = pl.scan_parquet(path).rec.ndcg(5, partitions=3)
    assert isinstance(answer, pl.LazyFrame)
    frame.write_parquet(path)
    assert answer.collect().item() == pytest.approx(frame.rec.ndcg(5))
    assert answer.filter(pl.col("ndcg@5") > 2).collect().is_empty()


def test_numbers_of_parts_are_checked():
    frame, _, _ = sample(4)
    with pytest.raises(recframe.OptionError, match="partitions=0 is less than 1"):
        frame.lazy().rec.ndcg(5, partitions=0)
    with pytest.raises(recframe.OptionError, match="partitions=4 is for lazy polars frames, but this is a DataFrame"):
        frame.rec.ndcg(5, partitions=4)
