"""Means over strata, such as the tasks of a benchmark: values, intervals and tests by hand, and what is refused."""

import importlib.util

import pytest

import recframe

np = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")

SIZES = {"a": 12, "b": 25, "c": 40}
MODELS = ["old", "new"]
ITEMS = 6


def columns(seed=0, sizes=SIZES):
    """Return the columns of a frame of three tasks, in which the new model gains more in later tasks."""
    random = np.random.default_rng(seed)
    rows = {name: [] for name in ("task", "user", "item", "relevant", *MODELS)}
    for number, (task, size) in enumerate(sizes.items()):
        relevant = (random.random((size, ITEMS)) < 0.2 + 0.1 * number) * 1
        relevant[:, 0] = 1
        rows["task"] += [task] * size * ITEMS
        rows["user"] += np.repeat(np.arange(size) + 1000 * number, ITEMS).tolist()
        rows["item"] += list(range(ITEMS)) * size
        rows["relevant"] += relevant.ravel().tolist()
        for model, strength in zip(MODELS, (1.0, 1.2 + number), strict=True):
            rows[model] += (strength * relevant + random.normal(size=relevant.shape)).ravel().tolist()
    return rows


@pytest.fixture(params=["polars", "lazy polars", "pandas"])
def made(request):
    """Return what makes a frame of columns, and what makes rows of a result."""
    library = pytest.importorskip(request.param.split()[-1])

    def frame_of(data):
        frame = library.DataFrame(data)
        return frame.lazy() if "lazy" in request.param else frame

    def rows_of(result):
        result = result.collect() if hasattr(result, "collect") else result
        return result.to_dict("records") if request.param == "pandas" else result.to_dicts()

    return frame_of, rows_of


@pytest.fixture
def frame():
    """Return an eager frame of a library that is installed."""
    library = "polars" if importlib.util.find_spec("polars") else "pandas"
    return pytest.importorskip(library).DataFrame(columns())


def numbers_of(row):
    """Return the numbers of a row."""
    return {name: value for name, value in row.items() if isinstance(value, float)}


def values_of(frame_of, rows_of, metric, model):
    """Return the values of each task's lists, in the order of users."""
    result = rows_of(frame_of(columns()).rec.evaluate(metric, score=model, by=["task", "user"], per=["task", "user"]))
    result = sorted(result, key=lambda row: (row["task"], row["user"]))
    return [np.array([row[metric] for row in result if row["task"] == task]) for task in SIZES]


def by_hand(values, weights):
    """Return the mean of means, its interval and its p-value."""
    sizes = np.array([len(one) for one in values])
    mean = sum(w * one.mean() for w, one in zip(weights, values, strict=True))
    errors = np.array([w**2 * one.var(ddof=1) / len(one) for w, one in zip(weights, values, strict=True)])
    error, degrees = np.sqrt(errors.sum()), errors.sum() ** 2 / (errors**2 / (sizes - 1)).sum()
    half = stats.t.ppf(0.975, degrees) * error
    return mean, mean - half, mean + half, 2 * stats.t.sf(abs(mean) / error, degrees)


@pytest.mark.parametrize("weights", [None, {"c": 3.0, "a": 1, "b": 1}])
def test_means_intervals_and_tests_are_those_of_the_formula(made, weights):
    frame_of, rows_of = made
    frame, how = frame_of(columns()), {"strata": "task", "strata_weights": weights}
    shares = np.full(3, 1 / 3) if weights is None else np.array([weights[task] for task in SIZES]) / 5
    old, new = (values_of(frame_of, rows_of, "ndcg@3", model) for model in MODELS)
    (result,) = rows_of(frame.rec.compare("ndcg@3", score=MODELS, details=True, **how))
    expected = by_hand([one - other for one, other in zip(new, old, strict=True)], shares)
    assert [result[name] for name in ("difference", "low", "high", "p")] == pytest.approx(expected, rel=1e-9)
    assert result["lists"] == result["wins"] + result["ties"] + result["losses"] == sum(SIZES.values())
    assert result["effective"] == pytest.approx(1 / sum(shares**2 / list(SIZES.values())))
    described = rows_of(frame.rec.describe("ndcg@3", score=MODELS, **how))
    evaluated = rows_of(frame.rec.evaluate("ndcg@3", score=MODELS, **how))
    for row, value, one in zip(described, evaluated, (old, new), strict=True):
        assert [row[name] for name in ("mean", "low", "high")] == pytest.approx(by_hand(one, shares)[:3], rel=1e-9)
        assert row["mean"] == pytest.approx(value["ndcg@3"], rel=1e-12)
    assert [row["mean"] for row in described] == pytest.approx([result["baseline_mean"], result["mean"]], rel=1e-12)


@pytest.mark.parametrize("metric", ["ndcg@3", "hit_rate@1"])
def test_a_single_stratum_changes_nothing(made, metric):
    frame_of, rows_of = made
    frame = frame_of(columns() | {"all": ["one"] * len(columns()["task"])})
    for options in ({"margin": 0.1}, {"margin": "10%", "relative": True}):
        plain, strata = (
            rows_of(frame.rec.compare(metric, score=MODELS, details=True, **options, **how))[0]
            for how in ({}, {"strata": "all"})
        )
        assert numbers_of(strata) == pytest.approx(numbers_of(plain), rel=1e-9, abs=1e-12)
    plain, strata = (rows_of(frame.rec.describe(metric, score=MODELS, **how)) for how in ({}, {"strata": "all"}))
    for one, other in zip(plain, strata, strict=True):
        assert numbers_of(other) == pytest.approx(numbers_of(one), rel=1e-9)


def test_strata_may_be_a_key_and_each_segment_has_its_own_mean(made):
    frame_of, rows_of = made
    data = columns() | {"even": [user % 2 for user in columns()["user"]]}
    how = {"score": MODELS, "by": ["task", "user"], "strata": "task", "per": "even"}
    rows = rows_of(frame_of(data).rec.compare("mrr", **how))
    for row in rows:
        part = {name: [v for v, e in zip(data[name], data["even"], strict=True) if e == row["even"]] for name in data}
        (alone,) = rows_of(frame_of(part).rec.compare("mrr", score=MODELS, strata="task"))
        assert [row[name] for name in ("difference", "low", "high")] == pytest.approx(
            [alone[name] for name in ("difference", "low", "high")], rel=1e-9
        )


def test_a_mean_that_lacks_a_stratum_is_missing(made):
    frame_of, rows_of = made
    data = columns()
    data["even"] = [int(task == "b" or user % 2) for task, user in zip(data["task"], data["user"], strict=True)]
    with pytest.warns(recframe.errors.DataWarning, match="no list of 'b' has a value of mrr"):
        rows = rows_of(frame_of(data).rec.compare("mrr", score=MODELS, strata="task", per="even"))
    assert rows[0]["low"] is None or np.isnan(rows[0]["low"])
    assert rows[0]["verdict"] == "open"
    assert rows[1]["low"] < rows[1]["difference"] < rows[1]["high"]
    with pytest.warns(recframe.errors.DataWarning, match="no list of 'b'"):
        rows = rows_of(frame_of(data).rec.evaluate("mrr", score="old", strata="task", per="even"))
    assert rows[0]["mrr"] is None or np.isnan(rows[0]["mrr"])


def test_a_stratum_of_one_list_has_no_interval(frame):
    one = type(frame)(columns(sizes={"a": 1, "b": 25}))
    (result,) = rows(one.rec.compare("mrr", score=MODELS, strata="task"))
    assert result["difference"] is not None
    assert result["low"] is None or np.isnan(result["low"])
    assert result["verdict"] == "open"


def rows(result):
    return result.to_dicts() if hasattr(result, "to_dicts") else result.to_dict("records")


def test_differences_without_spread_have_the_interval_of_equal_differences(frame):
    data = columns()
    data["new"] = [float(value) for value in data["relevant"]]
    data["old"] = [-float(value) for value in data["relevant"]]
    (result,) = rows(type(frame)(data).rec.compare("hit_rate@1", score=MODELS, strata="task", details=True))
    assert result["difference"] == 1 == result["high"]
    assert result["low"] == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / result["effective"])))
    assert result["p"] == pytest.approx(2 ** (1 - result["effective"]))


REFUSED = [
    ("compare", {"cluster": "user"}, "does not go with `cluster='user'`"),
    ("compare", {"weight": "item"}, "does not go with `weight='item'`"),
    ("compare", {"test": "bootstrap"}, "`test='bootstrap'`"),
    ("compare", {"test": "anytime"}, "`test='anytime'`"),
    ("compare", {"correction": "maxt"}, "`correction='maxt'`"),
    ("compare", {"per": "task"}, "also the column of `per=`"),
    ("compare", {"by": "task"}, "also the column of `by=`"),
    ("compare", {"metrics": "coverage@3"}, "coverage@3"),
    ("compare", {"metrics": "gauc"}, "gauc weights its lists"),
    ("compare", {"strata_weights": {"a": 1, "b": 1}}, "no weight for 'c'"),
    ("compare", {"strata_weights": {"a": 1, "b": 1, "c": 1, "d": 1}}, "names 'd'"),
    ("compare", {"strata_weights": {"a": 0, "b": 1, "c": 1}}, "not above 0"),
    ("compare", {"strata": None, "strata_weights": {"a": 1}}, "no `strata=`"),
    ("describe", {"strata": {"a": 1}}, "not one column"),
    ("evaluate", {"counts": True}, "`counts=True`"),
    ("evaluate", {"chance": True}, "`chance=True`"),
    ("evaluate", {"ties": "range"}, "`ties='range'`"),
    ("evaluate", {"mean": "median"}, "`mean='median'`"),
]


@pytest.mark.parametrize(("call", "options", "words"), REFUSED, ids=lambda part: str(part)[:40])
def test_what_does_not_go_with_strata_is_refused(frame, call, options, words):
    named = {"metrics": "mrr", "score": MODELS, "strata": "task"} | options
    with pytest.raises(recframe.errors.OptionError, match=words.replace("`", "")):
        getattr(frame.rec, call)(**named)


def test_a_list_needs_one_stratum(frame):
    data = columns()
    with pytest.raises(recframe.errors.InputError, match="strata='item' has several values within a list"):
        type(frame)(data).rec.evaluate("mrr", score="old", strata="item")
    data["task"] = [None if task == "a" else task for task in data["task"]]
    with pytest.raises(recframe.errors.InputError, match="strata='task' is missing in some lists"):
        type(frame)(data).rec.evaluate("mrr", score="old", strata="task")


def test_lists_without_a_value_need_no_stratum(made):
    frame_of, rows_of = made
    data = columns()
    data["relevant"] = [int(one and user % 5 > 0) for one, user in zip(data["relevant"], data["user"], strict=True)]
    hits = [number for number, one in enumerate(data["relevant"]) if one]
    truth = frame_of({name: [data[name][number] for number in hits] for name in ("user", "item", "task")})
    whole, rest = frame_of(data), frame_of({name: values for name, values in data.items() if name != "task"})
    how = {"score": MODELS, "strata": "task"}
    for call in ("evaluate", "describe", "compare"):
        expected = rows_of(getattr(whole.rec, call)("mrr", **how))
        result = rows_of(getattr(rest.rec, call)("mrr", truth=truth, **how))
        assert [*map(numbers_of, result)] == [pytest.approx(numbers_of(row)) for row in expected]


METRICS = ["ndcg@3", "mrr", "hit_rate@1"]


@pytest.mark.parametrize("per", [None, "even"])
def test_states_per_stratum_give_the_numbers_of_one_call(made, per):
    frame_of, rows_of = made
    data = columns() | {"even": [user % 2 for user in columns()["user"]]}
    parts = [
        {name: [v for v, user in zip(values, data["user"], strict=True) if user % 3 == part] for name, values in data.items()}
        for part in range(3)
    ]  # fmt: skip
    segments = ["task"] if per is None else ["task", per]
    states = [frame_of(part).rec.state(METRICS, score=MODELS, per=segments) for part in parts]
    merged, how = recframe.merge_states(states), {"strata": "task", "strata_weights": {"a": 1, "b": 2, "c": 0.5}}
    for call, more in (
        ("evaluate", {}),
        ("describe", {"details": True}),
        ("compare", {"details": True, "margin": 0.1}),
    ):
        expected = rows_of(getattr(frame_of(data).rec, call)(METRICS, score=MODELS, per=per, **more, **how))
        result = rows_of(getattr(merged, call)(**more, **how))
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            expected_numbers = numbers_of({name: other[name] for name in one})
            assert numbers_of(one) == pytest.approx(expected_numbers, rel=1e-12, abs=1e-12, nan_ok=True)
            assert one.get("verdict") == other.get("verdict")
    if per is None:
        together = recframe.merge_states(states, per=[]).compare(details=True, margin=0.1, **how)
        assert repr(rows_of(together)) == repr(result)


def test_states_that_have_no_strata(frame):
    def merged(**roles):
        return recframe.merge_states(frame.rec.state("mrr", score=MODELS, **roles))

    weighted = type(frame)(columns() | {"twice": [2.0] * len(columns()["user"])}).rec
    for state, how, words in (
        (merged(), {}, r"no column of the states\n\nHint: make the states per segment: state\(..., per='task'\)"),
        (merged(per="task", cluster="user"), {}, "does not go with cluster='user'"),
        (merged(per="task"), {"baseline": merged(per="task")}, "other states as the baseline"),
        (merged(per="task"), {"strata_weights": {"a": 1}}, "no weight for 'b'"),
        (
            recframe.merge_states(weighted.state("mrr", score=MODELS, per="task", weight="twice")),
            {},
            "weight the lists of mrr",
        ),
    ):
        with pytest.raises(recframe.errors.RecError, match=words):
            state.compare(strata="task", **how)
    for call in ({"counts": True}, {}):
        items = frame.rec.state(["mrr", "coverage@3"], score=MODELS, per="task", items=True)
        with pytest.raises(recframe.errors.OptionError, match=r"does not go with c(ounts=True|overage@3)"):
            recframe.merge_states(items).evaluate(strata="task", **call)
    few = columns()
    few["relevant"] = [int(one and task != "b") for one, task in zip(few["relevant"], few["task"], strict=True)]
    state = type(frame)(few).rec.state("mrr", score=MODELS, per="task")
    with pytest.warns(recframe.errors.DataWarning, match="no list of 'b' has a value of mrr"):
        (result,) = rows(recframe.merge_states(state).compare(strata="task"))
    assert result["verdict"] == "open"


def test_other_calls_name_those_that_have_strata(frame):
    state = frame.rec.state("mrr", score=MODELS, per="task")
    for call in (
        lambda: recframe.merge_states(state).rank_models(strata="task"),
        lambda: frame.rec.rank_models("mrr", score=MODELS, strata="task"),
    ):
        with pytest.raises(
            recframe.errors.OptionError,
            match="no argument 'strata'\n\nHint: evaluate, describe and compare of frames and merged",
        ):
            call()


@pytest.mark.slow
def test_the_interval_is_that_of_the_bootstrap_within_strata():
    random = np.random.default_rng(3)
    frame = pytest.importorskip("polars").DataFrame(columns(sizes={"a": 60, "b": 200, "c": 120}))
    lists = frame.rec.evaluate("ndcg@3", score=MODELS, by=["task", "user"], per=["task", "user"])
    wide = lists.pivot(on="model", index=["task", "user"], values="ndcg@3")
    values = [(part["new"] - part["old"]).to_numpy() for (_,), part in wide.group_by("task")]
    draws = np.mean([random.choice(one, (20_000, len(one))).mean(axis=1) for one in values], axis=0)
    (result,) = frame.rec.compare("ndcg@3", score=MODELS, strata="task").to_dicts()
    low, high = np.quantile(draws, [0.025, 0.975])
    half = (high - low) / 2
    assert result["low"] == pytest.approx(low, abs=0.06 * half)
    assert result["high"] == pytest.approx(high, abs=0.06 * half)
