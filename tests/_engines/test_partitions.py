"""Lists that are read in parts give what they give at once."""

from __future__ import annotations

import inspect
import random

import pytest

import recframe

pl = pytest.importorskip("polars")
testing = pytest.importorskip("polars.testing")

from recframe._engines import polars_lazy, polars_schema  # noqa: E402 - needs polars

NAMES = [
    "ndcg", "map", "mrr", "err", "roc_auc", "gauc", "r_precision", "coverage", "personalization", "gini", "entropy",
    "novelty",
]  # fmt: skip
OLD_NAMES = "atol" in inspect.signature(testing.assert_frame_equal).parameters
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


@pytest.fixture(scope="module")
def whole():
    """Return a call's frame and roles with what it answers."""
    frame, train, _ = sample(3)
    requested = {"metrics": NAMES, "k": [1, 4], "score": ["score", "other"], "train": train}
    return frame, requested, frame.lazy().rec.evaluate(**requested).collect()


@pytest.mark.parametrize("version", ["1.30 to 1.34", "1.21 to 1.29"])
@pytest.mark.parametrize("partitions", [None, 3])
def test_polars_that_tells_types_earlier_gives_the_same(whole, version, partitions, monkeypatch):
    if version == "1.30 to 1.34" and not polars_lazy.GIVES_SCHEMA_LATER:
        pytest.skip("this polars takes no function instead of types")
    frame, requested, expected = whole
    monkeypatch.setattr(polars_schema, "KNOWS_SCHEMA_LATER", False)
    monkeypatch.setattr(polars_lazy, "GIVES_SCHEMA_LATER", version == "1.30 to 1.34")
    found = frame.lazy().rec.evaluate(**requested, partitions=partitions)
    testing.assert_frame_equal(found.collect().sort("model"), expected.sort("model"), **TOLERANCE)


def served_by_one_model(name):
    """Return lists that one model serves, the first of which another serves too, and what is relevant in them."""
    served = pl.DataFrame({"user": [*range(8), 0], "item": [1] * 9, "score": [1.0] * 9, "model": ["a"] * 8 + [name]})
    return served, pl.DataFrame({"user": [*range(8)], "item": [1] * 8})


@pytest.mark.parametrize("name", ["b", None])
def test_a_part_judges_models_of_which_it_has_no_row(name):
    served, truth = served_by_one_model(name)
    for frame, given in ((served, {"truth": truth.lazy()}), (served.with_columns(relevant=1), {})):
        found = frame.lazy().rec.evaluate("recall@1", model="model", partitions=4, **given).collect()
        assert dict(found.rows()) == {"a": 1.0, name: 1 / 8}
        lists = frame.lazy().rec.evaluate("recall@1", model="model", partitions=4, per="user", **given).collect()
        assert len(lists) == 16


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # random items repeat
@pytest.mark.skipif(
    tuple(map(int, pl.__version__.split(".")[:2])) < (1, 30), reason="older polars resolves the schema at the call"
)
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
