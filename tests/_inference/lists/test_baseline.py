"""A stored baseline is compared as its frame would be, and says what changed since."""

from __future__ import annotations

import json
import math
import random
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
from compare import same
from engines import ENGINES

pytest.importorskip("scipy")

METRICS = ["ndcg@2", "mrr", "recall@1", "gauc", "dcg@3"]
KINDS = {"user": "int64", "day": "str", "visitor": "int64", "item": "str", "relevant": "int64", "price": "float64", "score": "float64"}  # fmt: skip


def sample(seed, lists=12):
    """Return a truth, and the rankings of two models: items and lists that only one of them serves among them."""
    rng = random.Random(seed)
    users = [None, *range(1, lists)]
    pairs = [(user, f"i{item}") for user in users for item in range(5)]
    truth = [
        {"user": user, "item": item, "relevant": rng.choice([1, 2]), "price": float(rng.randint(1, 9))}
        for user, item in pairs
        if rng.random() < 0.3
    ]
    models = [
        [
            {
                "user": user,
                "item": item,
                "score": rng.choice([1.0, 2.0, 3.0, None]),
                "day": f"d{(user or 0) % 3}",
                "visitor": (user or 0) % 4,
            }
            for user, item in pairs
            if rng.random() < 0.7
        ]
        for _ in range(2)
    ]
    return truth, *models


def both(old, new):
    """Return the rows of two models in long format."""
    return [{**row, "model": name} for name, rows in (("old", old), ("new", new)) for row in rows]


def frames(engine, *rows):
    return [engine.frame(each, KINDS | {"model": "str"}) for each in rows]


def saved(path, rows, truth=None, metrics=METRICS, **roles):
    """Save a baseline from an eager frame of whichever library is installed."""
    engine = ENGINES["polars"].engine
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame, *truths = frames(engine, rows, *([] if truth is None else [truth]))
        recframe.rec(frame).evaluate(metrics, save=path, **({"truth": truths[0]} if truths else {}), **roles)
    return path


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        for name in set(other) - {"model", "baseline"}:
            assert same(one[name], other[name]) if isinstance(other[name], float) else one[name] == other[name], name


ROLES = {
    "plain": {},
    "per": {"per": "day"},
    "cluster": {"cluster": "visitor"},
    "undefined": {"undefined": 0.5, "lists": "ranked"},
    "bootstrap": {"test": "bootstrap", "resamples": 200},
}


@pytest.fixture
def path(tmp_path):
    pytest.importorskip("polars")
    return tmp_path / "prod.parquet"


def test_a_model_that_is_named_like_a_file_is_a_model():
    engine = next(iter(ENGINES.values())).engine
    rows = [
        {"user": user, "relevant": item, "old.parquet": item / 2, "new.parquet": -item / 2}
        for user in (1, 2)
        for item in (0, 1)
    ]
    frame = engine.frame(
        rows, {"user": "int64", "relevant": "int64", "old.parquet": "float64", "new.parquet": "float64"}
    )
    (row,) = engine.ask(frame, "compare", ["mrr"], score=["old.parquet", "new.parquet"], baseline="old.parquet")
    assert (row["model"], row["baseline"], row["difference"]) == ("new.parquet", "old.parquet", -0.5)


@pytest.mark.parametrize("case", ROLES)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_file_is_compared_as_its_frame_is(engine, path, case, seed):
    if engine.name == "pandas alone":
        pytest.importorskip("pyarrow")
    truth, old, new = sample(seed)
    roles = ROLES[case]
    policies = {name: value for name, value in roles.items() if name in ("undefined", "lists")}
    saved(path, old, truth, **policies)
    frame, answers, stacked = frames(engine, new, truth, both(old, new))
    if engine.library in ("duckdb", "ibis", "spark"):
        with pytest.raises(recframe.OptionError, match=r"is a file, which is compared with polars and pandas"):
            engine.ask(frame, "compare", METRICS, truth=answers, baseline=path)
        return
    result = engine.ask(frame, "compare", METRICS, truth=answers, baseline=path, **roles)
    expected = engine.ask(stacked, "compare", METRICS, truth=answers, model="model", baseline="old", **roles)
    assert {row["changed"] for row in result} == {"nothing"}
    assert {row["baseline"] for row in result} == {"prod.parquet"}
    order = lambda row: (str(row.get("day")), row["metric"])  # noqa: E731
    assert_same(sorted(result, key=order), sorted(expected, key=order))


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_any_pair_of_frames_compares_as_one_call_does(tmp_path_factory, seed):
    pytest.importorskip("polars")
    engine, (truth, old, new) = ENGINES["polars"].engine, sample(seed)
    path = tmp_path_factory.mktemp("baseline") / "prod.parquet"
    saved(path, old, truth)
    frame, answers, stacked = frames(engine, new, truth, both(old, new))
    result = engine.ask(frame, "compare", METRICS, truth=answers, baseline=str(path))
    assert_same(result, engine.ask(stacked, "compare", METRICS, truth=answers, model="model", baseline="old"))


def test_a_list_weighs_what_the_call_says_or_the_file_if_only_the_baseline_served_it(polars_engine, path):
    weights = {"old": {1: 7.0, 2: 2.0, 3: 10.0}, "new": {1: 1.0, 2: 2.0}, "both": {1: 1.0, 2: 2.0, 3: 10.0}}
    truth = [{"user": user, "item": "i0", "relevant": 1} for user in (1, 2, 3)]
    row = lambda user, item, of: {"user": user, "item": item, "score": 1.0, "price": weights[of].get(user)}  # noqa: E731
    old = [("old", 1, "i0"), ("old", 2, "i1"), ("old", 3, "i0"), ("old", 3, "i1")]
    new = [("new", 1, "i0"), ("new", 1, "i1"), ("new", 2, "i0")]
    before, after = ([row(user, item, name) for name, user, item in rows] for rows in (old, new))
    stacked = [{**row(user, item, "both"), "model": name} for name, user, item in old + new]
    saved(path, before, truth, ["mrr", "ndcg"], weight="price")
    frame, answers, rows = frames(polars_engine, after, truth, stacked)
    result = polars_engine.ask(frame, "compare", ["mrr", "ndcg"], truth=answers, baseline=path, weight="price")
    roles = {"truth": answers, "model": "model", "baseline": "old", "weight": "price"}
    assert_same(result, polars_engine.ask(rows, "compare", ["mrr", "ndcg"], **roles))


def test_a_weight_that_the_truth_has_no_more_is_none(polars_engine, path):
    rows = [{"user": user, "item": item, "old": user + item, "new": -item} for user in range(4) for item in range(3)]
    truth = [{"user": user, "item": user % 3, "relevant": 1, "price": float(user + 1)} for user in range(4)]
    later = [{**row, "price": row["price"] if row["user"] else None} for row in truth]
    old, new = ([{**row, "score": row[name]} for row in rows] for name in ("old", "new"))
    saved(path, old, truth, ["mrr"], weight="price")
    frame, answers, stacked = frames(polars_engine, new, later, both(old, new))
    result = polars_engine.ask(frame, "compare", ["mrr"], truth=answers, baseline=path, weight="price")
    roles = {"truth": answers, "model": "model", "baseline": "old", "weight": "price"}
    assert_same(result, polars_engine.ask(stacked, "compare", ["mrr"], **roles))


@pytest.mark.parametrize("with_truth", [False, True])
def test_a_file_of_metrics_that_read_no_relevance_is_compared(polars_engine, path, with_truth):
    truth, old, new = sample(4)
    frame, answers, stacked = frames(polars_engine, new, truth, both(old, new))
    given = {"truth": answers} if with_truth else {}
    saved(path, old, truth if with_truth else None, ["user_coverage@2"])
    result = polars_engine.ask(frame, "compare", "user_coverage@2", baseline=path, **given)
    expected = polars_engine.ask(stacked, "compare", "user_coverage@2", model="model", baseline="old", **given)
    assert_same(result, expected)


def test_a_file_of_one_list_is_compared_with_several_lists(polars_engine, path):
    rows = [{"user": user, "item": item, "relevant": item, "score": 1.0} for user in (1, 2, 3) for item in (0, 1)]
    saved(path, rows[:2], metrics="mrr")
    (row,) = polars_engine.ask(polars_engine.frame(rows), "compare", "mrr", baseline=path, changed="leave_out")
    assert (row["changed"], row["lists"], row["difference"]) == ("2 lists came", 1, 0.0)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_only_lists_whose_truth_is_the_same_are_paired(tmp_path_factory, seed):
    pytest.importorskip("polars")
    engine, (truth, old, new) = ENGINES["polars"].engine, sample(seed)
    known = sorted({row["user"] for row in truth if row["user"] is not None})
    if len(known) < 6:
        return
    path = saved(tmp_path_factory.mktemp("baseline") / "prod.parquet", old, truth, "mrr")
    rng = random.Random(seed)
    other, gone, left = known[0], known[1], known[2:]
    changed = [{**row, "relevant": row["relevant"] + 1} if row["user"] == other else row for row in truth]
    changed = [row for row in changed if row["user"] != gone]
    changed.append({"user": 99, "item": "i1", "relevant": 1, "price": 1.0})
    rng.shuffle(changed)
    served = [row for row in new if row["user"] != gone]
    same_lists = {None, *left} & {row["user"] for row in truth}
    frame, answers = frames(engine, served, changed)
    (result,) = engine.ask(frame, "compare", "mrr", truth=answers, baseline=path)
    assert result["changed"] == "truth of 1 list, 1 list came, 1 list went"
    part = [row for row in truth if row["user"] in same_lists]
    stacked, answers = frames(engine, [row for row in both(old, new) if row["user"] in same_lists], part)
    (expected,) = engine.ask(stacked, "compare", "mrr", truth=answers, model="model", baseline="old")
    assert result["lists"] == expected["lists"]
    assert_same([{name: result[name] for name in expected}], [expected])


def test_a_policy_refuses_what_changed(polars_engine, path):
    truth, old, new = sample(3)
    saved(path, old, truth, "mrr")
    frame, answers = frames(polars_engine, new, [{**row, "relevant": 3} for row in truth])
    with pytest.raises(recframe.InputError, match=r"lists differ from prod.parquet: truth of \d+ lists"):
        frame.rec.compare("mrr", truth=answers, baseline=path, changed="refuse", details=True)
    result = frame.rec.compare("mrr", truth=answers, baseline=path, changed="leave_out", details=True)
    assert result["lists"].to_list() == [0]
    known = {row["user"] for row in truth} & {row["user"] for row in new}
    less = polars_engine.frame([row for row in truth if row["user"] != max(known - {None})], KINDS)
    assert frame.rec.compare("mrr", truth=less, baseline=path, details=True)["changed"].to_list() == ["truth of 1 list"]
    with pytest.raises(recframe.OptionError, match="changed='refuse' is about the file of a baseline"):
        frame.rec.compare("mrr", score=["score", "day"], changed="refuse", details=True)
    with pytest.raises(recframe.OptionError, match="changed='drop' is not one of 'leave_out', 'refuse'"):
        frame.rec.compare("mrr", truth=answers, baseline=path, changed="drop", details=True)


def test_without_truth_other_relevant_rows_are_refused(polars_engine, path):
    rows = [
        {"user": user, "item": item, "relevant": int(item == user), "score": -1.0 * item}
        for user in (1, 2, 3)
        for item in (1, 2, 3)
    ]
    frame, turned = polars_engine.frame(rows), [{**row, "score": -row["score"]} for row in rows]
    frame.rec.evaluate("mrr", save=path)
    result = polars_engine.frame(turned).rec.compare("mrr", baseline=path, details=True)
    assert result.select("changed", "lists", "wins", "losses").row(0) == ("nothing", 3, 1, 1)
    other = [row if row["user"] != 2 else {**row, "relevant": int(row["item"] == 3)} for row in turned]
    with pytest.raises(recframe.InputError, match="(?s)relevant rows of 1 list.*Hint: give truth="):
        polars_engine.frame(other).rec.compare("mrr", baseline=path, details=True)
    result = polars_engine.frame(other).rec.compare("mrr", baseline=path, changed="leave_out", details=True)
    assert result.select("changed", "lists").row(0) == ("relevant rows of 1 list", 2)
    stacked = polars_engine.frame([{**row, "model": name} for name in "ab" for row in rows])
    with pytest.raises(recframe.OptionError, match="a file pairs with one model"):
        stacked.rec.compare("mrr", model="model", baseline=path, details=True)


@pytest.mark.parametrize("library", ["pandas", "pandas alone"])
def test_a_file_means_the_same_to_all_libraries(library, path):
    pytest.importorskip("pandas")
    pytest.importorskip("polars" if library == "pandas" else "pyarrow")
    truth, old, new = sample(5)
    metrics = ["mrr", "money_recall@2", "gauc"]
    engine, polars_engine = ENGINES[library].engine, ENGINES["polars"].engine
    roles = {"value": "price"}
    priced = [{**row, "price": 1.0} for row in old], [{**row, "price": 1.0} for row in new]
    with engine.running():
        frame, answers = frames(engine, priced[0], truth)
        recframe.rec(frame).evaluate(metrics, truth=answers, save=path, **roles)
    frame, answers = frames(polars_engine, priced[1], truth)
    result = polars_engine.ask(frame, "compare", metrics, truth=answers, baseline=path, **roles)
    assert {row["changed"] for row in result} == {"nothing"}
    (row,) = polars_engine.ask(frame, "compare", "mrr", truth=answers, baseline=path)
    assert row["changed"] == "nothing"
    dearer = polars_engine.frame([{**row, "price": row["price"] + 1} for row in truth], KINDS)
    (row,) = polars_engine.ask(frame, "compare", "mrr", truth=dearer, baseline=path)
    assert row["changed"] == "nothing", "mrr reads no price"
    (row,) = polars_engine.ask(frame, "compare", "money_recall@2", truth=dearer, baseline=path, **roles)
    assert row["lists"] == 0
    assert row["changed"].startswith("truth of ")


def test_a_metric_is_not_called_like_a_column_of_the_file(polars_engine, path):
    class Listed(recframe.metrics.MRR):
        name = "list"

    (frame,) = frames(polars_engine, sample(6)[1])
    with pytest.raises(recframe.OptionError, match="the result would have several columns of the name 'list'"):
        frame.rec.evaluate(Listed(), truth=frames(polars_engine, sample(6)[0])[0], save=path)
    assert not path.exists()


def test_a_file_of_another_definition_is_refused(polars_engine, path):
    truth, old, new = sample(6)
    saved(path, old, truth, ["mrr", "ndcg@2"])
    frame, answers = frames(polars_engine, new, truth)
    cases = [
        ("ndcg@3", {}, "prod.parquet has no values of ndcg@3; it has mrr, ndcg@2"),
        ("mrr", {"min_relevance": 2}, r"another definition: mrr was .*, but here .*min_relevance=2"),
        ("mrr", {"undefined": 0.0}, "another definition: mrr was"),
        ("mrr", {"by": ["user", "item"]}, r"another definition: by was \['user'\], but here \['user', 'item'\]"),
        ("mrr", {"relevant": "price"}, "another definition: relevant was 'relevant', but here 'price'"),
    ]
    before = path.read_bytes()
    for metric, roles, message in cases:
        with pytest.raises(recframe.InputError, match=message):
            frame.rec.compare(metric, truth=answers, baseline=path, **roles)
    labelled = polars_engine.frame([{**row, "relevant": 1} for row in new], KINDS)
    with pytest.raises(recframe.InputError, match="another definition: truth was True, but here False"):
        labelled.rec.compare("mrr", baseline=path)
    assert path.read_bytes() == before


def test_side_information_is_part_of_the_definition(polars_engine, path):
    truth, old, new = sample(7)
    saved_train = polars_engine.frame([{"user": 1, "item": "i1"}, {"user": 2, "item": "i2"}])
    frame, answers, of_old = frames(polars_engine, new, truth, old)
    of_old.rec.evaluate("novelty@2", truth=answers, train=saved_train, save=path)
    result = frame.rec.compare("novelty@2", truth=answers, train=saved_train[::-1], baseline=path, details=True)
    assert result["changed"].to_list() == ["nothing"]
    with pytest.raises(recframe.InputError, match="was measured with another train="):
        frame.rec.compare("novelty@2", truth=answers, train=saved_train[:1], baseline=path, details=True)


def test_subtopics_are_part_of_the_truth(polars_engine, path):
    truth, old, new = sample(8)
    truth = [{**row, "topic": topic} for row in truth for topic in "ab"]
    frame, answers, of_old = (polars_engine.frame(rows) for rows in (new, truth, old))
    roles = {"truth": answers, "subtopic": "topic"}
    of_old.rec.evaluate(["alpha_ndcg@3", "mrr"], save=path, **roles)
    roles["truth"] = polars_engine.frame(
        [row for row in truth if (row["user"], row["topic"]) != (truth[0]["user"], "b")]
    )
    result = frame.rec.compare("alpha_ndcg@3", baseline=path, **roles, details=True)
    assert result["changed"].to_list() == ["truth of 1 list"]
    assert frame.rec.compare("mrr", baseline=path, **roles, details=True)["changed"].to_list() == ["nothing"]


def rewritten(path, **columns):
    """Return the file with other values in some columns."""
    import polars as pl

    return pl.read_parquet(path).with_columns(**columns)


def test_a_file_that_nobody_saved_is_refused(polars_engine, path, tmp_path):
    import polars as pl

    truth, old, new = sample(9)
    saved(path, old, truth, "mrr")
    frame, answers = frames(polars_engine, new, truth)
    whole, rows = path.read_bytes(), pl.read_parquet(path)
    about = json.loads(rows["baseline"][0])
    cases = {
        "cut.parquet": (lambda file: file.write_bytes(whole[: len(whole) // 2]), "cannot be read as Parquet"),
        "text.parquet": (lambda file: file.write_text("list,mrr\n1,0.5\n"), "is no Parquet file"),
        "table.csv": (lambda file: file.write_text("list,mrr\n1,0.5\n"), "is no Parquet file"),
        "empty.parquet": (rows[:0].write_parquet, "holds the rows of 0 baselines"),
        "short.parquet": (rows[1:].write_parquet, r"it has \d+ of its \d+ lists"),
        "narrow.parquet": (lambda file: rows.drop("mrr").write_parquet(file), "it has no numbers in a column 'mrr'"),
        "twice.parquet": (lambda file: pl.concat([rows, rows[:1]]).write_parquet(file), "holds the list .* twice"),
        "other.parquet": (frame.write_parquet, "no text columns 'list' and 'baseline'"),
        "state.parquet": (
            lambda file: frame.rec.state("mrr", truth=answers).write_parquet(file),
            "is a state, which holds only sums",
        ),
        "version.parquet": (
            lambda file: rewritten(path, baseline=pl.lit(json.dumps(about | {"version": 0}))).write_parquet(file),
            "has version 0, of recframe",
        ),
        "words.parquet": (
            lambda file: rewritten(path, baseline=pl.lit("words")).write_parquet(file),
            "its column 'baseline' holds 'words'",
        ),
        "lacks.parquet": (
            lambda file: rewritten(path, baseline=pl.lit('{"version": 1}')).write_parquet(file),
            "its column 'baseline' lacks 'recframe'",
        ),
        "kinds.parquet": (
            lambda file: rewritten(path, baseline=pl.lit(json.dumps(about | {"metrics": 1}))).write_parquet(file),
            "its column 'baseline' holds metrics=1",
        ),
        "prints.parquet": (
            lambda file: rows.drop("relevant_rows").write_parquet(file),
            "no numbers in a column 'relevant_rows'",
        ),
        "two.parquet": (
            lambda file: pl.concat(
                [rows, rewritten(path, baseline=pl.lit(json.dumps(about | {"lists": 1})))]
            ).write_parquet(file),
            "holds the rows of 2 baselines",
        ),
        "lists.parquet": (
            lambda file: rewritten(path, list=pl.concat_list("list")).write_parquet(file),
            "no text columns 'list' and 'baseline'",
        ),
        "structs.parquet": (
            lambda file: rewritten(path, baseline=pl.struct("list")).write_parquet(file),
            "no text columns 'list' and 'baseline'",
        ),
        "missing.parquet": (str, "does not exist"),
    }
    for name, (write, message) in cases.items():
        file = tmp_path / name
        write(file)
        with pytest.raises(recframe.InputError, match=message):
            frame.rec.compare("mrr", truth=answers, baseline=str(file), details=True)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("mrr", -1.0, r"holds -1 as the mrr of a list, which is from 0 to 1"),
        ("mrr", 1.5, r"holds 1.5 as the mrr of a list, which is from 0 to 1"),
        ("mrr", math.inf, r"holds inf as the mrr of a list, which is finite"),
        ("dcg", -math.inf, r"holds -inf as the dcg of a list, which is finite"),
        ("weight of mrr", -1.0, r"holds -1 as the weight of mrr of a list, which is from 0 to inf"),
        ("weight of mrr", math.inf, r"holds inf as the weight of mrr of a list, which is finite"),
    ],
)
def test_numbers_that_no_list_has_are_refused(polars_engine, path, column, value, message):
    import polars as pl

    truth, old, new = ([{**row, "weight": 1.0} for row in rows] for rows in sample(9))
    saved(path, old, truth, ["mrr", "dcg"], weight="weight")
    frame, answers = frames(polars_engine, new, truth)
    given = {"truth": answers, "weight": "weight", "baseline": str(path)}
    assert len(frame.rec.compare(["mrr", "dcg"], **given)) == 2
    first = pl.int_range(pl.len()) == pl.col(column).is_not_null().arg_max()
    rewritten(path, **{column: pl.when(first).then(value).otherwise(pl.col(column))}).write_parquet(path)
    with pytest.raises(recframe.InputError, match=message):
        frame.rec.compare(["mrr", "dcg"], **given)


@pytest.mark.parametrize(("metric", "value"), [("ndcg@2", -0.5), ("ndcg@2", 1.5), ("dcg@2", -0.5)])
def test_numbers_that_need_a_relevance_below_0_are_refused(polars_engine, path, metric, value):
    import polars as pl

    truth, old, new = sample(9)
    for lowest, is_refused in ((0, True), (-1, False)):
        judged = [{**row, "relevant": lowest if row["item"] == "i0" else row["relevant"]} for row in truth]
        saved(path, old, judged, metric)
        frame, answers = frames(polars_engine, new, judged)
        changed = pl.when(pl.col(metric).is_not_null()).then(value).alias(metric)
        rewritten(path, **{metric: changed}).write_parquet(path)
        if is_refused:
            with pytest.raises(recframe.InputError, match=rf"holds {value:g} as the {metric} of a list"):
                frame.rec.compare(metric, truth=answers, baseline=str(path))
        else:
            frame.rec.compare(metric, truth=answers, baseline=str(path))


def test_a_file_whose_reader_panics_is_refused(polars_engine, path, monkeypatch):
    import polars as pl

    def panics(_):
        raise pl.exceptions.PanicException("range end index 9 out of range")

    truth, old, new = sample(9)
    saved(path, old, truth, "mrr")
    frame, answers = frames(polars_engine, new, truth)
    monkeypatch.setattr(pl, "read_parquet", panics)
    with pytest.raises(recframe.InputError, match=r"prod.parquet' cannot be read as Parquet: range end index 9"):
        frame.rec.compare("mrr", truth=answers, baseline=path)


def test_bytes_that_are_no_text_are_refused(path, monkeypatch):
    pd, nw = pytest.importorskip("pandas"), pytest.importorskip("narwhals")
    pytest.importorskip("pyarrow")
    from recframe._engines import parquet

    monkeypatch.setattr(parquet, "_library", lambda: pd)
    written = parquet.to_parquet({"list": ["one"], "baseline": ["two"]}, {"list": nw.String(), "baseline": nw.String()})
    path.write_bytes(written.replace(b"two", b"\xffwo"))
    rows = pd.DataFrame({"user": [1], "relevant": [1], "score": [1.0]})
    with pytest.raises(recframe.InputError, match=r"prod.parquet' cannot be read as Parquet"):
        rows.rec.compare("mrr", score="score", baseline=path)


def test_what_cannot_be_saved_is_refused_and_the_old_file_stays(polars_engine, path):
    truth, old, _ = sample(10)
    saved(path, old, truth, "mrr")
    before = path.read_bytes()
    frame, answers = frames(polars_engine, old, truth)
    warnings.simplefilter("ignore")
    nothing = polars_engine.frame([{"user": 77, "item": "i1", "relevant": 0}])
    cases = [
        ("mrr", {"save": "prod.csv"}, "save='prod.csv' does not end in .parquet"),
        ("mrr", {"save": 3}, "save=3 is not a path"),
        ("mrr", {"save": path.parent / "none" / "prod.parquet"}, "there is no directory"),
        ("coverage@2", {"save": path}, "save= needs a value per list, but coverage@2 is one value"),
        ("mrr", {"save": path, "score": ["score", "visitor"]}, "keeps the lists of one model, but there are"),
        ("mrr", {"save": path, "mean": "geometric"}, "mean='geometric' does not go with save="),
        ("mrr", {"save": path, "mean": "median"}, "mean='median' does not go with save="),
        ("mrr", {"save": path, "truth": nothing}, "no list has a value of mrr"),
        ("mrr", {"save": path, "undefined": "raise", "truth": nothing}, "no relevant item"),
    ]
    for metric, roles, message in cases:
        with pytest.raises(recframe.RecError, match=message):
            frame.rec.evaluate(metric, **{"truth": answers, **roles})
    with recframe.Config(mean="median"), pytest.raises(recframe.OptionError, match="does not go with save="):
        frame.rec.evaluate("mrr", truth=answers, save=path)
    with pytest.raises(recframe.OptionError, match="save='.*' writes values, but a lazy frame has none yet"):
        frame.lazy().rec.evaluate("mrr", truth=answers.lazy(), save=path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["prod.parquet"]


def test_a_run_that_is_stopped_while_it_writes_leaves_the_old_file(polars_engine, path, monkeypatch):
    truth, old, new = sample(12)
    saved(path, old, truth, "mrr")
    before = path.read_bytes()

    def stop(*_):
        raise KeyboardInterrupt

    frame, answers = frames(polars_engine, new, truth)
    monkeypatch.setattr(type(path), "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        frame.rec.evaluate("mrr", truth=answers, save=path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["prod.parquet"]


def test_a_baseline_needs_a_library_that_writes_parquet(monkeypatch, path):
    pytest.importorskip("pandas")
    from recframe._engines import parquet

    truth, old, _ = sample(13)
    engine = ENGINES["pandas"].engine
    frame, answers = frames(engine, old, truth)
    monkeypatch.setattr(parquet, "find_spec", lambda name: name == "pandas")
    with pytest.raises(recframe.MissingExtraError, match="packages for Parquet files are not installed"):
        recframe.rec(frame).evaluate("mrr", truth=answers, save=path)
    assert not path.exists()


def test_a_baseline_is_a_name_and_no_data(polars_engine):
    truth, old, new = sample(11)
    frame, answers, of_old = frames(polars_engine, new, truth, old)
    state = of_old.rec.state("mrr", truth=answers)
    for baseline in (of_old, state, state.lazy(), state["lists"], state["lists"].to_numpy()):
        with pytest.raises(recframe.OptionTypeError, match="baseline= is .*, but it is the name of a model or of a f"):
            frame.rec.compare("mrr", truth=answers, baseline=baseline, details=True)


def test_a_column_of_scores_may_be_called_like_a_file(polars_engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"user": u, "relevant": i == u, "a.parquet": i, "b": -i} for u in (1, 2) for i in (1, 2)]
    result = polars_engine.frame(rows).rec.compare("mrr", score=["b", "a.parquet"], baseline="a.parquet", details=True)
    assert result["model"].to_list() == ["b"]
    assert "changed" not in result.columns


@pytest.mark.parametrize("metric", ["err@2", "serendipity(unexpected=ranks)@2"])
def test_metrics_that_read_other_lists_are_refused(polars_engine, tmp_path, metric):
    """Where a list of a higher grade comes, or an item, all others would change, although they are as they were."""
    frame = polars_engine.frame(sample(3)[1], KINDS)
    truth = polars_engine.frame(sample(3)[0], KINDS)
    side = {"train": truth} if metric.startswith("serendipity") else {}
    with pytest.raises(recframe.OptionError, match="which a baseline in a file does not hold"):
        recframe.rec(frame).evaluate(metric, truth=truth, save=tmp_path / "prod.parquet", **side)
    assert not [*tmp_path.iterdir()]
