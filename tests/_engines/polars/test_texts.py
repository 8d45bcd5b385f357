"""Keys of text are numbers within a call, and text again in its result."""

import random

import pytest

pl = pytest.importorskip("polars")

from recframe._engines.polars import pack as polars_pack  # noqa: E402 - needs polars
from recframe._engines.polars import texts as polars_texts  # noqa: E402 - needs polars


def texts_of(different, rows=2000, *, in_runs=False, missing=False):
    rng = random.Random(5)
    texts = [f"user {n % different}" for n in range(rows)]
    rng.shuffle(texts)
    texts = sorted(texts) if in_runs else texts
    return [None if missing and rng.random() < 0.05 else text for text in texts]


def leave_numpy_out(monkeypatch):
    monkeypatch.setattr(polars_pack, "numpy_if_installed", lambda: None)


def check(columns):
    """Whether equal texts have one number, different ones different numbers, and numbers their text."""
    result, known = polars_texts.encoded([pl.Series("user", texts, dtype=pl.String) for texts in columns])
    assert known.n_unique() == len(known)
    for numbers, texts in zip(result, columns, strict=True):
        assert numbers.name == "user"
        assert known.gather(numbers).to_list() == texts


@pytest.mark.parametrize("numpy", [True, False])
@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("in_runs", [True, False])
@pytest.mark.parametrize("different", [1, 20, 2000])
def test_texts_are_numbers(different, in_runs, missing, numpy, monkeypatch):
    monkeypatch.setattr(polars_pack, "FEW_ROWS", 0)
    if numpy:
        pytest.importorskip("numpy")
    else:
        leave_numpy_out(monkeypatch)
    check([texts_of(different, in_runs=in_runs, missing=missing)])


def test_columns_share_their_numbers():
    check([texts_of(20), [], ["user 3"], texts_of(30, 40), [None], ["only here"]])


@pytest.mark.parametrize("way", ["table", "sort"])
@pytest.mark.parametrize("same", [1, 3, 50])
@pytest.mark.parametrize("missing", [True, False])
def test_texts_may_share_a_hash(same, missing, way, monkeypatch):
    def hashes(name):
        number = pl.col(name).str.extract(r"(\d+)").cast(pl.UInt64).fill_null(0)
        return (number % same) * (1 if way == "table" else 2**58)

    monkeypatch.setattr(polars_texts, "_hash", hashes)
    monkeypatch.setattr(polars_texts, "FEW_ROWS", 0 if way == "table" else 2**16)
    check([texts_of(40, missing=missing), texts_of(60, missing=missing)])


@pytest.mark.parametrize("numpy", [True, False])
@pytest.mark.parametrize(
    ("different", "by_table"), [(1, True), (20, True), (150, True), (1000, False)], ids=lambda each: f"{each}"
)
def test_texts_that_repeat_are_found_by_a_table(different, by_table, numpy, monkeypatch):
    monkeypatch.setattr(polars_pack, "FEW_ROWS", 0)
    if numpy:
        pytest.importorskip("numpy")
    else:
        leave_numpy_out(monkeypatch)
    texts = texts_of(different, missing=True)
    monkeypatch.setattr(polars_texts, "FEW_ROWS", 0)
    assert (polars_texts._by_table(pl.Series("text", texts)) is not None) == by_table
    check([texts, texts_of(2 * different, 100)])


@pytest.mark.parametrize("different", [1, 20, 1000])
def test_text_comes_back_as_text(different):
    rng = random.Random(5)
    rows = [(user, rng.random() < 0.2, rng.random(), f"group {n % 3}") for n, user in enumerate(texts_of(different))]
    frame = pl.DataFrame(
        [*rows, (None, True, 0.5, "group 1")], schema=["user", "relevant", "score", "group"], orient="row"
    )
    by_text = frame.rec.ndcg(2, per="user")
    assert by_text.schema["user"] == pl.String
    assert by_text["user"].to_list() == [*sorted(set(frame["user"]) - {None}), None]
    codes = {user: code for code, user in enumerate(by_text["user"])}
    by_code = frame.with_columns(pl.col("user").replace_strict(codes)).rec.ndcg(2, per="user")
    assert by_text["ndcg@2"].to_list() == pytest.approx(by_code["ndcg@2"].to_list(), abs=1e-12, nan_ok=True)
    both = frame.rec.map(2, by=["user", "group"], per=["group", "user"])
    assert both.columns == ["group", "user", "map@2"]
    assert (
        both.select("group", "user").rows()
        == both.select("group", "user").sort("group", "user", nulls_last=True).rows()
    )


def test_the_slow_way_gives_texts_the_same_numbers_in_each_call():
    # Metrics of several levels are joined by these numbers, of a plan for each.
    texts = pl.Series("user", texts_of(700))
    assert polars_texts._by_join(texts).known.to_list() == list(dict.fromkeys(texts))
