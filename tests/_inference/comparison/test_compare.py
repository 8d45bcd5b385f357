"""Comparison and description of models, against SciPy on the values per list that `evaluate` reports."""

import datetime as dt
import importlib.util
import inspect
import random
import warnings
from types import SimpleNamespace

import narwhals as nw
import pytest

import recframe
from sessions import MODELS, only_row, pair_of, rows_of, values_of

np = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")
resampling = pytest.importorskip("recframe._inference.statistics.resampling")

COLUMNS = [
    "metric", "model", "difference", "baseline", "p_adjusted", "relative", "mean", "baseline_mean", "lists",
    "effective", "wins", "ties", "losses", "effect", "detectable", "p", "p_margin", "low", "high", "verdict",
]  # fmt: skip


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    """The libraries whose frames are checked before any work."""
    return pytest.importorskip(request.param)


def assert_same_row(found, expected):
    """Compare two rows, numbers up to rounding."""
    assert list(found) == list(expected)
    for name, value in expected.items():
        if isinstance(value, float):
            assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
        else:
            assert found[name] == value, name


def test_what_nobody_asks_for_is_not_computed(library, monkeypatch):
    from recframe._inference.comparison import decided
    from recframe._inference.lists.claims import Claims

    frame = library.DataFrame(rows_of())
    computed = []
    monkeypatch.setattr(decided, "detectable", lambda *_, **__: computed.append("detectable") or np.ones((1, 1)))
    monkeypatch.setattr(Claims, "of", lambda *_: computed.append("claims"))
    recframe.rec(frame).compare("mrr", by="session", score=MODELS[:2])
    assert computed == []
    recframe.rec(frame).compare("mrr", by="session", score=MODELS[:2], details=True)
    assert computed == ["detectable"]


@pytest.mark.parametrize("metric", ["ndcg@3", "mrr", "precision@2"])
def test_the_t_test_is_scipys(engine, metric):
    frame = engine.frame(rows_of())
    result = engine.ask(frame, "compare", metric, by="session", score=MODELS, correction="none")
    assert [list(row) for row in result] == [COLUMNS] * 3
    assert [(row["model"], row["baseline"]) for row in result] == [("b", "a"), ("c", "a"), ("c", "b")]
    for row in result:
        both, ours, theirs = pair_of(engine, frame, metric, row["model"], row["baseline"])
        expected = stats.ttest_rel(ours, theirs)
        low, high = expected.confidence_interval(0.95)
        d = ours - theirs
        numbers = {
            "lists": len(both), "mean": ours.mean(), "baseline_mean": theirs.mean(), "difference": d.mean(),
            "relative": d.mean() / theirs.mean(), "low": low, "high": high, "p": expected.pvalue,
            "p_adjusted": expected.pvalue, "effect": d.mean() / d.std(ddof=1), "wins": (d > 1e-12).sum(),
            "ties": (abs(d) <= 1e-12).sum(), "losses": (d < -1e-12).sum(),
        }  # fmt: skip
        for name, value in numbers.items():
            assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name


def test_models_in_long_format_compare_as_in_wide_format(engine):
    rows = rows_of(1)
    long = [
        {
            "session": row["session"],
            "item": row["item"],
            "relevant": row["relevant"],
            "model": model,
            "score": row[model],
        }
        for model in MODELS
        for row in rows
    ]
    wide, stacked = engine.frame(rows), engine.frame(long)
    expected = engine.ask(wide, "compare", ["ndcg", "mrr"], k=3, by="session", score=MODELS)
    result = engine.ask(stacked, "compare", ["ndcg", "mrr"], k=3, by="session", model="model")
    assert len(result) == len(expected) == 6
    for ours, theirs in zip(result, expected, strict=True):
        assert_same_row(ours, theirs)


def test_a_baseline_is_compared_with_every_other_model(engine):
    result = engine.ask(engine.frame(rows_of()), "compare", "mrr", by="session", score=MODELS, baseline="b")
    assert [(row["model"], row["baseline"]) for row in result] == [("a", "b"), ("c", "b")]


def test_corrections_count_all_rows_of_the_call(engine):
    frame = engine.frame(rows_of())
    plain = engine.ask(frame, "compare", ["mrr", "ndcg@3"], by="session", score=MODELS, correction="none")
    adjusted = engine.ask(frame, "compare", ["mrr", "ndcg@3"], by="session", score=MODELS, correction="bonferroni")
    for before, after in zip(plain, adjusted, strict=True):
        assert after["p_adjusted"] == pytest.approx(min(1.0, 6 * before["p"]))


def test_segments_are_compared_alone(engine):
    rows = rows_of(2)
    result = engine.ask(engine.frame(rows), "compare", "ndcg@3", by="session", per="country", score=["a", "b"])
    assert [row["country"] for row in sorted(result, key=lambda row: row["country"])] == ["at", "be"]
    for country in ("at", "be"):
        part = engine.frame([row for row in rows if row["country"] == country])
        (expected,) = engine.ask(part, "compare", "ndcg@3", by="session", score=["a", "b"], correction="none")
        row = only_row(result, country=country)
        assert row["p"] == pytest.approx(expected["p"], rel=1e-9)
        assert row["lists"] == expected["lists"]


def weighted_t(d, w):
    """Return the difference, the ends of its interval and its p-value, of units with these values and weights."""
    share = w / w.sum()
    difference = (share * d).sum()
    effective, divisor = 1 / (share**2).sum(), 1 - 2 * (share**3).sum() / (share**2).sum() + (share**2).sum()
    error = np.sqrt((share**2 * (d - difference) ** 2).sum() / divisor)
    degrees = effective * (1 - 1 / effective) ** 2 / divisor
    half = stats.t.ppf(0.975, degrees) * error
    ends = max(difference - half, -1.0), min(difference + half, 1.0)
    return [difference, *ends, 2 * stats.t.sf(abs(difference) / error, degrees)]


def test_clusters_are_the_units_and_weigh_what_they_hold(engine):
    frame = engine.frame(rows_of(3))
    (row,) = engine.ask(frame, "compare", "ndcg@3", by="session", score=["a", "b"], cluster="user", baseline="a")
    both, ours, theirs = pair_of(engine, frame, "ndcg@3", "b", "a")
    users = np.array([key // 3 for key in both])
    of_users = [(ours - theirs)[users == user] for user in np.unique(users)]
    assert len({len(lists) for lists in of_users}) > 1
    expected = weighted_t(
        np.array([np.mean(lists) for lists in of_users]), np.array([len(lists) for lists in of_users])
    )
    assert [row[name] for name in ("difference", "low", "high", "p")] == pytest.approx(expected, rel=1e-8)


def test_a_cluster_may_be_a_column_of_the_key(engine):
    frame = engine.frame(rows_of(3))
    key = ["user", "session"]
    alone = engine.ask(frame, "compare", "mrr", by="session", score=["a", "b"], cluster="user")
    of_key = engine.ask(frame, "compare", "mrr", by=key, score=["a", "b"], cluster="user")
    assert_same_row(of_key[0], alone[0])


def test_weights_of_lists_weigh_every_mean(engine):
    rows = rows_of(4)
    frame = engine.frame(rows)
    weights = {row["session"]: row["weight"] for row in rows}
    values = values_of(engine, frame, "ndcg@3", "a")
    there = [key for key, value in values.items() if value is not None]
    mean = sum(weights[key] * values[key] for key in there) / sum(weights[key] for key in there)
    assert engine.ask(frame, "ndcg", 3, by="session", score="a", weight="weight") == pytest.approx(mean)
    (row,) = engine.ask(frame, "compare", "ndcg@3", by="session", score=["b", "a"], weight="weight")
    both, ours, theirs = pair_of(engine, frame, "ndcg@3", "a", "b")
    w = np.array([weights[key] for key in both])
    d = ours - theirs
    expected = weighted_t(d, w)
    assert [row[name] for name in ("difference", "low", "high", "p")] == pytest.approx(expected, rel=1e-8)
    (described,) = engine.ask(frame, "describe", "ndcg@3", by="session", score="a", weight="weight")
    assert described["mean"] == pytest.approx(mean)


def test_weights_come_from_the_truth_where_it_has_them(engine):
    rows = rows_of(4)
    recommended = [{"session": row["session"], "item": row["item"], "a": row["a"]} for row in rows]
    truth = [{name: row[name] for name in ("session", "item", "relevant", "weight")} for row in rows]
    frame, bought = engine.frames(recommended, truth)
    whole = engine.ask(engine.frame(rows), "ndcg", 3, by="session", score="a", weight="weight")
    result = engine.ask(frame, "ndcg", 3, by="session", score="a", weight="weight", truth=bought)
    assert result == pytest.approx(whole)


def test_gauc_keeps_its_own_weights(engine):
    frame = engine.frame(rows_of(5))
    (row,) = engine.ask(frame, "compare", "gauc", by="session", score=["a", "b"])
    assert row["mean"] == pytest.approx(engine.ask(frame, "gauc", by="session", score="b"))
    assert row["baseline_mean"] == pytest.approx(engine.ask(frame, "gauc", by="session", score="a"))


def test_wins_follow_the_direction_of_the_metric(engine):
    train = [{"session": 0, "item": item} for item in range(3)] + [{"session": 1, "item": 0}]
    frame, past = engine.frames(rows_of(6), train)
    given = {"by": "session", "score": ["a", "b"], "train": past}
    (row,) = engine.ask(frame, "compare", "novelty@2", **given)
    values = [values_of(engine, frame, "novelty@2", name, train=past) for name in ("b", "a")]
    wins = sum(values[0][key] > values[1][key] + 1e-12 for key in values[0] if values[0][key] is not None)
    assert row["wins"] == wins


@pytest.mark.parametrize("test", ["randomization", "bootstrap", "wilcoxon"])
def test_other_tests_read_the_differences_of_the_lists_with_values(engine, test):
    frame = engine.frame(rows_of(7, lists=40))
    given = {"by": "session", "score": ["a", "b"], "resamples": 2_000, "seed": 3}
    (t,) = engine.ask(frame, "compare", "ndcg@3", **given)
    (row,) = engine.ask(frame, "compare", "ndcg@3", test=test, **given)
    both, ours, theirs = pair_of(engine, frame, "ndcg@3", "b", "a")
    assert len(both) < 40
    units = resampling.Units((ours - theirs)[:, None], np.ones((len(both), 1)))
    expected = dict(t)
    if test == "wilcoxon":
        p = float(stats.wilcoxon(np.round(ours - theirs, 12)).pvalue)
        expected |= {"low": None, "high": None, "p": p}
    elif test == "randomization":
        result = resampling.randomization(units, 2_000, 3, 0.95)
        expected |= dict(zip(("low", "high", "p"), np.ravel(result).tolist(), strict=True))
    else:
        result = resampling.bootstrap(units, 2_000, 3, 0.95, "percentile")
        expected |= dict(zip(("low", "high", "p"), np.ravel(result).tolist(), strict=True))
    verdict = "open" if expected["p"] >= 0.05 else "better" if row["difference"] > 0 else "worse"
    assert_same_row(row, expected | {"p_adjusted": expected["p"], "verdict": verdict})


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "wilcoxon"])
@pytest.mark.parametrize("others", [["num_ret"], ["roc_auc", "precision@1"], ["judged@2", "spearman", "novelty@1"]])
def test_another_metric_in_the_call_moves_no_number(library, test, others):
    rows = rows_of(16, lists=40)
    frame = library.DataFrame(rows)
    train = library.DataFrame([{"session": row["session"], "item": row["item"]} for row in rows[::3]])
    given = {"by": "session", "score": MODELS, "test": test, "resamples": 200, "correction": "none"}
    given |= {"interval": "bca"} if test == "bootstrap" else {}

    def compared(metrics):
        extra = {"train": train} if "novelty@1" in metrics else {}
        result = recframe.rec(frame).compare(metrics, **given, **extra, details=True)
        return {name: result[name].to_list() for name in COLUMNS}

    alone, together = compared(["ndcg@3"]), compared([others[0], "ndcg@3", *others[1:]])
    places = [place for place, name in enumerate(together["metric"]) if name == "ndcg@3"]
    sums = ("mean", "baseline_mean", "difference", "relative", "effect", "detectable")
    exact = {"t": (), "wilcoxon": ("low", "high", "p")}.get(test, ("low", "high", "p"))
    for name, column in together.items():
        result = [column[place] for place in places]
        # Sums over lists depend on the order of the lists by a rounding.
        if name not in {*sums, "low", "high", "p", "p_adjusted"} or name in exact:
            np.testing.assert_array_equal(result, alone[name], name)
        else:
            assert result == pytest.approx(alone[name], rel=1e-9, nan_ok=True), name


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "none"])
def test_detectable_holds_after_the_correction(engine, correction):
    frame = engine.frame(rows_of(17, lists=40))
    given = {"by": "session", "score": MODELS}
    result = engine.ask(frame, "compare", ["ndcg@3", "mrr"], correction=correction, **given)
    level = 0.05 if correction == "none" else 0.05 / 6
    for row in result:
        _, ours, theirs = pair_of(engine, frame, row["metric"], row["model"], row["baseline"])
        degrees, shift = len(ours) - 1, row["detectable"] / stats.sem(ours - theirs)
        end = stats.t.ppf(1 - level / 2, degrees)
        power = stats.nct.sf(end, degrees, shift) + stats.nct.cdf(-end, degrees, shift)
        assert power == pytest.approx(0.8, rel=1e-9)


@pytest.mark.parametrize("test", ["t", "bootstrap"])
@pytest.mark.parametrize("per", [None, "country"])
def test_many_pairs_are_compared_in_steps_with_a_bar(test, per, library, monkeypatch, capsys):
    pytest.importorskip("tqdm")
    frame = library.DataFrame(rows_of(18))
    given = {"by": "session", "score": MODELS, "per": per, "test": test, "resamples": 200}

    def compared():
        result = recframe.rec(frame).compare(["ndcg", "mrr"], **given)
        return [result[name].to_list() for name in result.columns]

    expected = compared()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("recframe._inference.comparison.compare.PAIRS_AT_ONCE", 4)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("recframe._base.progress.QUIET", 0)
    assert [pytest.approx(column) if isinstance(column[0], float) else column for column in expected] == compared()
    assert "6/6" in capsys.readouterr().err


def test_the_bootstrap_draws_the_lists_with_a_value(library):
    relevant, b = [1] * 8 + [0] * 992, [1, 3] * 500
    frame = library.DataFrame({"user": range(1000), "relevant": relevant, "a": [2] * 1000, "b": b})
    given = {"score": ["a", "b"], "test": "bootstrap", "resamples": 500}
    result = recframe.rec(frame).compare(["mrr", "num_ret"], **given, details=True)
    assert [result[name].to_list() for name in ("lists", "p")] == [[8, 1000], [1.0, 1.0]]


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_draws_depend_on_the_seed_and_on_nothing_else(test, library, monkeypatch):
    frame = library.DataFrame(rows_of(12))
    monkeypatch.setattr("recframe._inference.statistics.resampling.BATCH", 60)

    def compared(seed, threads):
        monkeypatch.setattr("os.cpu_count", lambda: threads)
        result = frame.rec(by="session", score=MODELS).compare(
            "ndcg", test=test, resamples=200, seed=seed, details=True
        )
        return [value for name in ("p", "low", "high") for value in result[name].to_list()]

    first = pytest.approx(compared(1, 1))
    assert compared(1, 3) == first
    assert compared(1, 1) == first
    assert compared(2, 1) != first


KEYS = {
    "numbers": lambda number: number,
    "fractions": lambda number: number / -3,
    "texts": lambda number: f"u{number}",
    "missing": lambda number: f"u{number}" if number else None,
    "dates": lambda number: dt.date(2026, 1, 1 + number),
    "two": lambda number: f"u{number // 3}",
}


@pytest.mark.parametrize("keys", KEYS)
def test_draws_name_the_same_lists_in_every_library_and_order_of_rows(keys):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    rows = [row | {"key": KEYS[keys](row["session"]), "day": f"d{row['session'] % 3}"} for row in rows_of(12)]
    by = ["key", "day"] if keys == "two" else "key"

    def compared(frame):
        result = frame.rec(by=by, score=["a", "b"]).compare(
            "ndcg", test="randomization", resamples=200, cluster="user", details=True
        )
        result = result.collect() if isinstance(result, pl.LazyFrame) else result
        return result["p"].to_list()

    def frames(rows):
        frame = pl.DataFrame(rows)
        return [frame, frame.lazy(), pd.DataFrame(rows)]

    shuffled = random.Random(1).sample(rows, len(rows))
    first, *others = [compared(frame) for given in (rows, shuffled) for frame in frames(given)]
    assert others == [pytest.approx(first, abs=1e-12)] * 5


def test_wilcoxon_is_scipys(engine):
    frame = engine.frame(rows_of(8))
    (row,) = engine.ask(frame, "compare", "ndcg@3", by="session", score=["a", "b"], test="wilcoxon")
    _, ours, theirs = pair_of(engine, frame, "ndcg@3", "b", "a")
    assert row["p"] == pytest.approx(stats.wilcoxon(np.round(ours - theirs, 12)).pvalue)


@pytest.mark.parametrize("gain", [1, 100, 10**9])
def test_sizes_that_differ_by_rounding_tie_in_wilcoxons_test(engine, gain):
    """2/3 - 1/3 is not 1/3 - 0 in floats, nor is a gain at the second place the same share of every sum."""
    hits = [(1, 0), (2, 1), (3, 2), (1, 2), (0, 1), (3, 1), (2, 0), (0, 2), (1, 1), (3, 0), (2, 3), (2, 1)]
    rows = [
        {"user": user, "relevant": gain * (i < 3), **{name: int(i < h or 3 <= i < 6 - h) for name, h in pair}}
        for user, pair in enumerate([("b", new), ("a", old)] for new, old in hits)
        for i in range(6)
    ]
    expected = stats.wilcoxon([new - old for new, old in hits]).pvalue
    frame = engine.frame(rows)
    for metric in ("precision@3", "dcg@3"):
        (row,) = engine.ask(frame, "compare", metric, by="user", score=["a", "b"], test="wilcoxon")
        assert row["p"] == pytest.approx(expected)


@pytest.mark.parametrize("given", [{"relative": True}, {"test": "bootstrap", "interval": "bca", "resamples": 100}])
def test_the_unit_of_gains_changes_no_test(engine, given):
    result = []
    for unit in (1.0, 1e120):
        frame = engine.frame([{**row, "relevant": unit * (row["relevant"] or 0)} for row in rows_of(8)])
        (row,) = engine.ask(frame, "compare", "dcg@3", by="session", score=["a", "b"], **given)
        of_mean = {name: row[name] / unit for name in ("low", "high")}
        result.append(of_mean | {name: row[name] for name in row if name == "p" or name.startswith("relative")})
    assert result[1] == pytest.approx(result[0], rel=1e-9)


def differences_of(frame, metric, model, baseline):
    """Return the differences of the lists where both models have a value."""
    ours, theirs = (
        np.array(recframe.rec(frame).evaluate(metric, by="session", per="session", score=name)[metric].to_list(), float)
        for name in (model, baseline)
    )
    return (ours - theirs)[~np.isnan(ours - theirs)]


def test_the_randomization_test_is_scipys_where_all_flips_are_enumerated(library):
    frame = library.DataFrame(rows_of(13, lists=12))
    result = recframe.rec(frame).compare("ndcg", by="session", score=["a", "b"], test="randomization", details=True)
    expected = stats.permutation_test(
        (differences_of(frame, "ndcg", "b", "a"),), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert result["p"].to_list() == [pytest.approx(expected.pvalue, rel=1e-9)]


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_the_bootstrap_is_scipys_at_the_same_draws(library, interval):
    frame = library.DataFrame(rows_of(14, lists=60))
    given = {"by": "session", "score": ["a", "b"], "test": "bootstrap", "interval": interval, "resamples": 2_000}
    result = recframe.rec(frame).compare("ndcg", **given)
    d = differences_of(frame, "ndcg", "b", "a")
    draws = resampling._drawn_means(resampling.Units(d[:, None], np.ones((len(d), 1))), 2_000, 0)[:, 0]
    expected = stats.bootstrap(
        (d,), np.mean, n_resamples=0, method=interval, bootstrap_result=SimpleNamespace(bootstrap_distribution=draws)
    ).confidence_interval
    assert [result["low"].to_list()[0], result["high"].to_list()[0]] == pytest.approx(list(expected), rel=1e-9)


@pytest.mark.parametrize(("correction", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")])
def test_corrections_are_those_of_statsmodels(library, correction, theirs):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    frame = library.DataFrame(rows_of(15))
    result = recframe.rec(frame).compare(
        ["ndcg", "mrr"], by="session", score=MODELS, correction=correction, details=True
    )
    expected = multitest.multipletests(result["p"].to_list(), method=theirs)[1]
    assert result["p_adjusted"].to_list() == pytest.approx(expected.tolist(), rel=1e-9)


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "wilcoxon"])
def test_models_that_are_equal_do_not_differ(engine, test):
    rows = [row | {"b": row["a"]} for row in rows_of(9)]
    (row,) = engine.ask(engine.frame(rows), "compare", "mrr", by="session", score=["a", "b"], test=test)
    assert (row["difference"], row["p"], row["wins"], row["losses"]) == (0.0, 1.0, 0, 0)
    assert row["effect"] == 0.0
    if test == "wilcoxon":
        assert row["low"] is row["high"] is None
    else:
        # As many lists would be equal with probability 0.025 if a share of them differed by 1.
        share = 1 - 0.025 ** (1 / row["lists"])
        assert (row["low"], row["high"]) == (pytest.approx(-share), pytest.approx(share))


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "wilcoxon"])
def test_a_single_list_has_a_difference_but_no_interval(engine, test):
    rows = [{"session": 1, "item": 1, "relevant": 1, "a": 1.0, "b": 2.0}, {"session": 1, "item": 2, "relevant": 0, "a": 2.0, "b": 1.0}]  # fmt: skip
    (row,) = engine.ask(engine.frame(rows), "compare", "mrr", by="session", score=["a", "b"], test=test)
    assert row["difference"] == 0.5
    assert row["low"] is row["high"] is row["p"] is row["detectable"] is None


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap"])
@pytest.mark.parametrize("cluster", [None, "user"])
@pytest.mark.parametrize("weight", [1e3, 1e7, 1e8])
def test_one_list_that_weighs_all_has_a_difference_but_no_interval(engine, test, cluster, weight):
    columns = {
        "session": range(7), "user": "wabcdef", "relevant": [1] * 7, "item": range(7),
        "a": [1, 2, 3, 4, 2, 3, 4], "b": [2, 2, 2, 1, 1, 1, 1], "euros": [weight, *[1.0] * 6],
    }  # fmt: skip
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    given = {"by": "session", "rank": ["a", "b"], "weight": "euros", "resamples": 200}
    (row,) = engine.ask(engine.frame(rows), "compare", "mrr", test=test, cluster=cluster, **given)
    assert -0.5 <= row["difference"] < 0
    assert row["low"] is row["high"] is row["p"] is row["p_adjusted"] is row["effect"] is row["detectable"] is None


@pytest.mark.parametrize("weight", [None, "weight"])
def test_clusters_of_one_list_each_change_nothing(engine, weight):
    frame = engine.frame([row | {"alone": f"of {row['session']}"} for row in rows_of(4)])
    given = {"by": "session", "score": ["a", "b"], "weight": weight}
    for method, metrics in (("compare", "ndcg@3"), ("describe", ["mrr", "hit_rate@2"])):
        calls = [engine.ask(frame, method, metrics, **given, cluster=cluster) for cluster in (None, "alone")]
        for alone, of_one in zip(*calls, strict=True):
            for name, value in alone.items():
                expected = pytest.approx(value, rel=1e-12, abs=1e-15) if isinstance(value, float) else value
                assert of_one[name] == expected, name


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "wilcoxon"])
@pytest.mark.parametrize(("lists", "p"), [(2, 0.5), (5, 2**-4), (30, 2**-29)])
def test_lists_with_equal_differences_have_the_p_value_of_flips(engine, test, lists, p):
    rows = [{"session": i, "item": 1, "relevant": 1, "a": 1, "b": 2} for i in range(lists)]
    (row,) = engine.ask(
        engine.frame(rows), "compare", "mrr", by="session", rank=["b", "a"], test=test, resamples=200, baseline="b"
    )
    assert (row["difference"], row["p"], row["detectable"]) == (0.5, p, None)
    share = 1 - 0.025 ** (1 / lists)
    ends = (None, None) if test == "wilcoxon" else (0.5 - share * 1.5, 0.5 + share * 0.5)
    assert (row["low"], row["high"]) == pytest.approx(ends)


@pytest.mark.parametrize("test", ["t", "anytime", "wilcoxon", "randomization", "bootstrap"])
def test_numpy_settings_for_floating_point_errors_do_not_matter(test):
    np = pytest.importorskip("numpy")
    pytest.importorskip("scipy")
    pl = pytest.importorskip("polars")
    lists = range(1200)
    frame = pl.DataFrame(
        {
            "user": [user for user in lists for _ in "ab"],
            "relevant": [0, 1] * len(lists),
            "old": [user % 7 < 3 + place for user in lists for place in range(2)],
            "new": [0.0, 1.0] * len(lists),
        }
    ).cast({"old": pl.Float64})
    expected = frame.rec.compare(["ndcg", "mrr"], score=["old", "new"], test=test, details=True)
    with np.errstate(all="raise"):
        result = frame.rec.compare(["ndcg", "mrr"], score=["old", "new"], test=test, details=True)
        frame.rec.rank_models("ndcg", score=["old", "new"])
        frame.rec.describe("ndcg", score=["old", "new"])
    assert result.equals(expected)


def test_without_a_list_in_common_everything_is_missing(engine):
    rows = [{"session": 1, "item": 1, "relevant": 0, "a": 1.0, "b": 2.0}]
    (row,) = engine.ask(engine.frame(rows), "compare", "mrr", by="session", score=["a", "b"])
    assert (row["lists"], row["wins"], row["difference"], row["p"]) == (0, 0, None, None)


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "wilcoxon"])
def test_a_model_that_ties_every_list_is_compared(test, library):
    frame = library.DataFrame([row | {"b": 1.0} for row in rows_of(10)])
    with pytest.warns(recframe.DataWarning, match="score='b' is the same in all rows"):
        result = frame.rec(by="session", score=["a", "b"]).compare("ndcg", test=test, resamples=200, details=True)
    assert result["lists"].to_list()[0] > 0
    assert 0 < result["p"].to_list()[0] <= 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"score": "a"}, "needs two models, but there is only 'a'"),
        ({"score": ["a", "a"]}, "names a column twice"),
        ({"score": ["a", "b"], "baseline": "d"}, "baseline='d' is not one of the models 'a', 'b'"),
        (
            {"score": ["a", "b"], "baseline": ["a", "b"]},
            "is not one of the models 'a', 'b'\n\nHint: name one model, or leave baseline= out",
        ),
        ({"score": ["a", "b"], "test": "z"}, "test='z' is not one of"),
        ({"score": ["a", "b"], "correction": "hoch"}, "correction='hoch' is not one of"),
        ({"score": ["a", "b"], "confidence": 95}, "confidence=95 is not a number between 0 and 1"),
        ({"score": ["a", "b"], "confidence": 0.05}, "(?s)confidence=0.05 is less than 0.5.*confidence=0.95, which is"),
        ({"score": ["a", "b"], "resamples": 1}, "resamples=1 is less than 100"),
        (
            {"score": ["a", "b"], "resamples": 10**9},
            "resamples=1000000000 is more than 1000000\n\nHint: resamples=10_000",
        ),
        ({"score": ["a", "b"], "seed": -1}, "seed=-1 is less than 0"),
        ({"score": ["a", "b"], "cluster": "usr"}, "cluster='usr'"),
        ({"score": ["a", "b"], "weight": "wait"}, "weight='wait'"),
        ({"score": ["a", "b"], "test": "wilcoxon", "cluster": "user"}, "test='wilcoxon' accepts neither"),
        ({"score": ["a", "b"], "test": "wilcoxon", "weight": "weight"}, "test='wilcoxon' accepts neither"),
        ({"score": ["a", "b"], "interval": "bca"}, "interval='bca' is the bootstrap's, but test='t'"),
        ({"score": ["a", "b"], "test": "t-test"}, "did you mean 't'"),
        ({"score": ["a", "b"], "correction": None}, "did you mean 'none'"),
    ],
)
def test_bad_arguments(library, given, message):
    frame = library.DataFrame(rows_of())
    with pytest.raises(recframe.RecError, match=message):
        recframe.rec(frame).compare("mrr", by="session", **given, details=True)


def test_data_in_place_of_names(library):
    frame = library.DataFrame(rows_of())
    expressions = [library.col("a")] if hasattr(library, "col") else []
    for models in (frame["a"], frame["a"].to_numpy()):
        with pytest.raises(recframe.OptionTypeError, match=r"score=.* not the name of a column"):
            recframe.rec(frame).compare("mrr", by="session", score=models, baseline="prod.parquet")
    for baseline in expressions:
        with pytest.raises(recframe.OptionError, match=r"baseline=.* is not one of the models 'a', 'b'"):
            recframe.rec(frame).compare("mrr", by="session", score=["a", "b"], baseline=baseline)


def test_two_models_of_one_name_are_one_model(library):
    rows = rows_of()
    frame = library.DataFrame([row | {"model": "a", "score": row[name]} for name in "ab" for row in rows])
    given = {"by": "session", "model": "model"}
    with pytest.raises(recframe.RecError, match="compare needs two models, but there is only 'a'"):
        recframe.rec(frame).compare(["mrr"], **given, details=True)
    with pytest.raises(recframe.RecError, match="item='item' repeats items within lists"):
        recframe.rec(frame).agreement(3, **given)
    with pytest.warns(recframe.DataWarning, match="items are repeated in"):
        assert len(recframe.rec(frame).evaluate(["mrr"], **given)) == 1
    with pytest.raises(recframe.RecError, match="names a column twice"):
        recframe.rec(frame).compare(["mrr"], by="session", score=["a", "a"], details=True)


def test_the_unit_that_a_key_names_first_is_advised_as_the_cluster(library):
    # More days than customers: that a column has more values does not make it the unit.
    rows = [{"customer": i % 6, "day": i % 9, "relevant": 1, "a": 1.0, "b": 0.5} for i in range(18)]
    with pytest.warns(recframe.DataWarning) as caught:
        recframe.rec(library.DataFrame(rows)).compare("mrr", by=["customer", "day"], score=["a", "b"], details=True)
    (text,) = [str(one.message) for one in caught if "may be alike" in str(one.message)]
    assert text.startswith("18 lists have 6 values of 'customer'")
    assert text.endswith("cluster='customer', or cluster='day' if lists of one day are more alike")


def test_weights_must_be_one_number_per_list(library):
    rows = rows_of()
    negative = library.DataFrame([row | {"weight": -1.0} for row in rows])
    with pytest.raises(recframe.RecError, match="weight='weight' holds -1, but a weight is 0 or more"):
        recframe.rec(negative).mrr(by="session", score="a", weight="weight")
    varying = library.DataFrame([row | {"weight": float(row["item"])} for row in rows])
    with pytest.raises(recframe.RecError, match="weight='weight' has several values within a list"):
        recframe.rec(varying).mrr(by="session", score="a", weight="weight")


def test_a_wide_result_prints_its_answer(library):
    frame = library.DataFrame(rows_of(2))
    compared = frame.rec(by="session", score=["a", "b"]).compare("mrr")
    described = frame.rec(by="session", score=["a", "b"]).describe("mrr")
    checked = frame.rec(by="session", score=["a", "b"]).check()
    if library.__name__ == "polars":
        printed = [str(one).splitlines()[2] for one in (compared, described, checked)]
    else:
        # As many columns as polars prints: of how many a terminal has room for, pandas asks the terminal.
        with library.option_context("display.width", 200, "display.max_columns", 8):
            printed = [str(one).splitlines()[0] for one in (compared, described, checked)]
    for line, names in zip(
        printed,
        (
            "metric model baseline difference low high p_adjusted verdict",
            "metric model lists mean",
            "finding count share",
        ),
        strict=True,
    ):
        assert set(names.split()) <= set(line.replace("│", " ").replace("┆", " ").split())


def test_description_holds_the_spread_of_values(engine):
    frame = engine.frame(rows_of(10))
    result = engine.ask(frame, "describe", ["ndcg@3", "mrr"], by="session", score=["a", "b"])
    assert [(row["metric"], row["model"]) for row in result] == [
        ("ndcg@3", "a"),
        ("ndcg@3", "b"),
        ("mrr", "a"),
        ("mrr", "b"),
    ]
    for row in result:
        values = list(values_of(engine, frame, row["metric"], row["model"]).values())
        known = np.array([value for value in values if value is not None])
        half = stats.t.ppf(0.975, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known))
        low, high = (known.mean() - half, known.mean() + half)
        numbers = {
            "lists": len(known), "mean": known.mean(), "low": max(low, 0.0), "high": min(high, 1.0),
            "std": known.std(ddof=1), "effective": len(known), "min": known.min(), "p10": np.quantile(known, 0.1),
            "p25": np.quantile(known, 0.25), "p50": np.quantile(known, 0.5), "p75": np.quantile(known, 0.75),
            "p90": np.quantile(known, 0.9), "max": known.max(), "zeros": (known == 0).mean(),
            "undefined": len(values) - len(known),
        }  # fmt: skip
        assert list(row) == ["metric", "model", *numbers]
        for name, value in numbers.items():
            assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name


def test_a_description_says_how_many_equal_clusters_it_has(library):
    rows = [
        {"user": user, "visit": visit, "item": item, "relevant": int(item == user % 3), "a": item % 3, "b": -item}
        for user, visits in enumerate((1, 2, 2, 7))
        for visit in range(visits)
        for item in range(3)
    ]
    given = {"by": ["user", "visit"], "score": ["a", "b"], "cluster": "user", "details": True}
    frame = library.DataFrame(rows)
    described, compared = frame.rec.describe("mrr", **given), frame.rec.compare("mrr", **given)
    assert list(described["effective"]) == pytest.approx([12**2 / (1 + 4 + 4 + 49)] * 2)
    assert [*described["effective"]][:1] == pytest.approx([*compared["effective"]])


def described(engine, relevant, rank, metric="mrr", **given):
    """Return the interval of lists with one row each."""
    rows = [
        {"session": i, "relevant": one, "rank": place}
        for i, (one, place) in enumerate(zip(relevant, rank, strict=True))
    ]
    (row,) = engine.ask(engine.frame(rows), "describe", metric, by="session", rank="rank", **given)
    return [row["low"], row["high"]]


def test_shares_have_wilsons_interval(engine):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for hits, lists in ((0, 2), (2, 2), (4, 50), (46, 50), (50, 50)):
        rank = [1] * hits + [2] * (lists - hits)
        expected = proportion.proportion_confint(hits, lists, 0.05, "wilson")
        assert described(engine, [1] * lists, rank, "hit_rate@1") == pytest.approx(list(expected), rel=1e-9, abs=1e-12)


def test_intervals_stay_within_the_range_of_the_metric(engine):
    assert described(engine, [1, 1], [1, 2]) == [0.0, 1.0]
    # A number for undefined lists counts like any other value.
    low, high = described(engine, [1, 1, 0], [1, 2, 1], undefined=-2.0)
    assert (low, high) == (-2.0, 1.0)
    low, high = described(engine, [1, 1], [1, 2], "dcg@1")
    assert low < 0
    assert high > 1
    rows = [{"session": i, "relevant": 1, "a": 1 + i % 2, "b": 3} for i in range(3)]
    (row,) = engine.ask(engine.frame(rows), "compare", "mrr@2", by="session", rank=["b", "a"], baseline="b")
    assert row["difference"] == pytest.approx(5 / 6)
    assert row["low"] > 0
    assert row["high"] == 1.0


def test_equal_values_have_an_interval_of_more_than_one_point_or_none(engine):
    share = 1 - 0.025 ** (1 / 4)
    assert described(engine, [1] * 4, [2] * 4) == pytest.approx([0.5 - share * 0.5, 0.5 + share * 0.5])
    assert described(engine, [1] * 4, [2] * 4, "num_rel") == [None, None]


@pytest.mark.parametrize(("worst", "cut"), [(0, True), (-1, False)])
def test_ndcg_is_within_0_and_1_unless_relevance_is_negative(engine, worst, cut):
    lists = [(i, one) for i in range(2) for one in (worst, 1)]
    rows = [{"session": i, "item": one, "relevant": one, "a": one if i else -one, "b": -one} for i, one in lists]
    given = {"by": "session", "score": ["b", "a"]}
    described = engine.ask(engine.frame(rows), "describe", "ndcg", **given)
    (compared,) = engine.ask(engine.frame(rows), "compare", "ndcg", **given, baseline="b")
    assert (described[1]["low"] == 0.0) is cut
    assert (compared["high"] == 1.0) is cut


@pytest.mark.parametrize("declared", [False, True])
def test_only_a_range_that_a_custom_metric_declares_cuts_its_intervals(library, declared):
    class Thrice(recframe.Metric):
        name = "thrice"
        if declared:
            range = (0.0, 3.0)

        def terms(self, row):
            return {"hits": 3 * row.hit * row.weight(lambda position: position**-1.0, None)}

        def value(self, sums):
            return sums["hits"]

    frame = library.DataFrame({"session": [0, 1], "relevant": [1, 1], "rank": [1, 2]})
    result = recframe.rec(frame).describe(Thrice(), by="session", rank="rank")
    assert (result["low"].to_list()[0], result["high"].to_list()[0]) == (
        (0.0, 3.0) if declared else pytest.approx((2.25 - 9.529654, 2.25 + 9.529654), rel=1e-6)
    )


def test_estimates_may_leave_the_range_of_their_metric(library):
    frame = library.DataFrame({"session": [0, 1], "relevant": [1, 1], "rank": [1, 2], "seen": [0.5, 1.0]})
    result = recframe.rec(frame).describe("precision@1", by="session", rank="rank", propensity="seen")
    assert result["low"].to_list()[0] < 0
    assert result["high"].to_list()[0] > 1


def test_description_of_nothing(engine):
    rows = [{"session": 1, "item": 1, "relevant": 0, "a": 1.0}, {"session": 2, "item": 1, "relevant": 0, "a": 1.0}]
    (row,) = engine.ask(engine.frame(rows), "describe", "mrr", by="session", score="a")
    assert (row["lists"], row["undefined"], row["mean"], row["max"]) == (0, 2, None, None)


def test_a_key_of_several_columns_asks_for_a_cluster(library):
    rows = rows_of()
    frame = library.DataFrame(rows)
    with pytest.warns(recframe.DataWarning, match="(?s)26 lists have 10 values of 'user'.*cluster='user'") as caught:
        recframe.rec(frame).compare("mrr", by=["user", "session"], score=["a", "b"], details=True)
    assert caught[0].filename == __file__
    recframe.rec(frame).compare("mrr", by=["user", "session"], score=["a", "b"], cluster="user", details=True)
    recframe.rec(frame).compare("mrr", by="session", score=["a", "b"], details=True)


@pytest.mark.parametrize("method", ["compare", "describe"])
@pytest.mark.parametrize("absent", ["numpy", "scipy"])
def test_without_scipy_the_packages_are_named(library, method, absent, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr("recframe.errors.find_spec", lambda name: None if name == absent else find(name))
    frame = library.DataFrame(rows_of())
    with pytest.raises(recframe.MissingExtraError, match="(?s)tests and intervals.*scipy"):
        getattr(recframe.rec(frame), method)("mrr", by="session", score=["a", "b"])


def test_counts_of_pandas_are_whole_numbers_unless_one_is_missing(pandas_engine):
    rows = {
        "user": [1, 1, 2, 2],
        "item": [1, 2, 1, 2],
        "relevant": [0, 1, 1, 0],
        "old": [1, 2, 3, 4],
        "new": [0, 2, 3, 0],
    }
    for metrics, kind in (("mrr", "int64"), (["mrr", "coverage"], "float64")):
        with pandas_engine.running():
            types = pandas_engine.frame(rows).rec.compare(metrics, score=["old", "new"], details=True).dtypes
        assert [str(types[name]) for name in ("lists", "wins", "ties", "losses")] == ["int64", *[kind] * 3]


@pytest.mark.parametrize("name", ["lists", "mean", "p", "model", "metric", "zeros", "other", "overlap@10"])
@pytest.mark.parametrize("call", ["describe", "compare", "agreement", "segments"])
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_segments_named_like_a_column_of_the_result_are_refused(library, call, name):
    rows = {
        "user": [1, 1, 2, 2],
        "item": [1, 2, 1, 2],
        "relevant": [0, 1, 1, 0],
        "old": [1, 2, 3, 4],
        "new": [2, 1, 4, 3],
    }
    frame = pytest.importorskip(library).DataFrame({**rows, name: [1, 1, 2, 2]})
    given = {"score": ["old", "new"], "per": name}
    calls = {
        "describe": lambda: frame.rec.describe("mrr", **given, details=True),
        "compare": lambda: frame.rec.compare("mrr", **given, details=True),
        "agreement": lambda: frame.rec.agreement(**given),
        "segments": lambda: frame.rec.plot.segments("mrr", **given),
    }
    columns = {
        "describe": {"lists", "mean", "model", "metric", "zeros"},
        "compare": {"lists", "mean", "p", "model", "metric"},
        "agreement": {"lists", "model", "other", "overlap@10"},
        "segments": {"lists", "mean", "model", "metric"},
    }[call]
    if call == "segments":
        pytest.importorskip("altair")
    if name in columns:
        with pytest.raises(
            recframe.errors.OptionError, match=f"several columns of the name '{name}'\n\nHint: rename the column"
        ):
            calls[call]()
    else:
        calls[call]()


def test_mnz_counts_the_models_that_give_an_item_a_value():
    pl = pytest.importorskip("polars")
    # By the words of the page: those that retrieve it, but all of them under "borda", which gives each item a value.
    frame = pl.DataFrame({"user": [1, 1], "a": [2.0, 1.0], "b": [5.0, None]})
    given = {"score": ["a", "b"], "method": "mnz"}
    assert frame.rec.fuse(**given)["fused"].to_list() == [14.0, 1.0]
    by_points = [2 * (1 + 1), 2 * (1 / 2 + (1 / 2 - (1 - 1) / 4))]
    assert frame.rec.fuse(**given, normalize="borda")["fused"].to_list() == pytest.approx(by_points)


def test_the_largest_of_negative_scores_becomes_minus_1():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1, 1, 2], "a": [-2.0, -4.0, 0.0], "b": [0.0, 0.0, 0.0]})
    fused = frame.rec.fuse(score=["a", "b"], method="sum", normalize="max")["fused"].to_list()
    assert fused == [-1.0, -2.0, 0.0]


@pytest.mark.parametrize(
    "call",
    [
        "compare",
        "describe",
        "rank_models",
        "sample_size",
        "bounds",
        "estimate_with_judge",
        "fuse",
        "tune_fusion",
        "agreement",
    ],
)
def test_calls_name_the_papers_of_their_methods(call):
    assert "\nReferences\n----------\n" in inspect.getdoc(getattr(recframe.EagerRec, call))


def test_a_baseline_with_a_mean_of_rounding_has_no_relative_difference(engine):
    """0.8 + 0.4 − 0.6 − 0.6 is 2e-16."""
    orders = [(1, 2, 4, 3), (1, 3, 4, 2), (3, 4, 1, 2), (3, 4, 1, 2)]
    rows = [
        {"user": user, "relevant": 5.0 - item, "a": -float(order[item - 1]), "b": -float(item)}
        for user, order in enumerate(orders)
        for item in range(1, 5)
    ]
    correlations = [stats.spearmanr(range(1, 5), order).statistic for order in orders]
    assert np.isclose(correlations, [0.8, 0.4, -0.6, -0.6]).all()
    (row,) = engine.ask(engine.frame(rows), "compare", "spearman", score=["a", "b"])
    assert row["difference"] == pytest.approx(1)
    assert row["relative"] is None


@pytest.mark.parametrize("cluster", [None, "user"])
def test_lists_of_weight_0_change_only_what_counts_lists(library, cluster):
    """Every fifth session weighs 0: its ties have the only values of hit_rate that are neither 0 nor 1, and any below 0."""
    rows = [{**row, "weight": row["session"] % 5 / 2} for row in rows_of(21, 60)]
    for row in rows:
        for model in MODELS:
            row[model] = 0.0 if row["weight"] == 0 else row[model] + row["item"] / 1000
        row["relevant"] = -9 if row["weight"] == row["relevant"] == 0 else row["relevant"]
    metrics = ["hit_rate@1", "ndcg@3", "ndcg(grades=signed)@3"]
    whole, cut = (library.DataFrame([row for row in rows if row["weight"] >= least]) for least in (0, 0.1))
    given = {"by": "session", "score": MODELS, "weight": "weight"}
    paired, counted = {**given, "cluster": cluster}, {"lists", "wins", "ties", "losses", "undefined", "seen"}
    counted |= {"min", "p10", "p25", "p50", "p75", "p90", "max", "zeros"}
    calls = [("describe", paired), ("rank_models", {**paired, "resamples": 100})]
    calls += [
        ("compare", {**paired, "test": test, "resamples": 100})
        for test in ("t", "randomization", "bootstrap", "anytime")
    ]
    calls += [
        ("compare", {**paired, "correction": each, "resamples": 100}) for each in ("maxt", "romano-wolf", "dunnett")
    ]
    pairs = []
    for call, how in calls:
        first = {"baseline": MODELS[0]} if call == "compare" else {}
        pairs.append([getattr(frame.rec, call)(metrics, **how, **first) for frame in (whole, cut)])
    states = [recframe.merge_states(frame.rec.state(metrics, cluster=cluster, **given)) for frame in (whole, cut)]
    pairs += [
        [state.describe(details=True) for state in states],
        [state.compare(test="anytime", details=True) for state in states],
    ]
    for pair in pairs:
        result, expected = (nw.from_native(each) for each in pair)
        for name in set(result.columns) - counted:
            one, other = result[name].to_list(), expected[name].to_list()
            assert one == (pytest.approx(other, rel=1e-9, nan_ok=True) if isinstance(other[0], float) else other), name


def clustered_rows():
    """Lists of 8 users in 2 countries; country and continent are constant within a country, day is not."""
    return [
        {
            "country": user % 2, "continent": f"c{user % 2}", "user": user, "day": user // 2 % 2, "session": session,
            "item": item, "relevant": (user + session + item) % 3 == 0, "a": (user * item) % 5, "b": (session + item) % 4,
        }
        for user in range(8)
        for session in range(3)
        for item in range(4)
    ]  # fmt: skip


CLUSTERED_CALLS = {
    "compare": ("mrr", {}),
    "compare of exposure": ("coverage@2", {}),
    "compare by bootstrap": ("mrr", {"test": "bootstrap", "resamples": 100}),
    "describe": ("mrr", {}),
    "rank_models": ("mrr", {}),
    "sample_size": ("mrr", {"difference": 0.1}),
    "agreement": (2, {"confidence": 0.95}),
}


@pytest.mark.parametrize("given", [{"per": "country"}, {"per": ["country", "day"]}, {}], ids=str)
@pytest.mark.parametrize("call", CLUSTERED_CALLS)
def test_a_cluster_that_is_constant_within_each_segment_is_an_error(engine, call, given):
    first, options = CLUSTERED_CALLS[call]
    rows = clustered_rows() if given else [row for row in clustered_rows() if row["country"] == 0]
    call = call.split()[0]
    roles = {"by": ["user", "session"], "score": ["a", "b"], **given, **options}
    for cluster in ["country", "continent"]:
        with pytest.raises(recframe.errors.OptionError, match=f"cluster='{cluster}' (is also|has only one value)"):
            engine.ask(engine.frame(rows), call, first, **roles, cluster=cluster)
    assert len(engine.ask(engine.frame(rows), call, first, **roles, cluster="user")) > 0


def test_merged_states_refuse_a_cluster_that_is_constant_within_each_segment(library):
    frame = library.DataFrame(clustered_rows())
    roles = {"by": ["user", "session"], "score": ["a", "b"], "per": "country", "cluster": "country"}
    merged = recframe.merge_states(frame.rec.state("mrr", **roles))
    for call in (merged.compare, merged.describe, merged.rank_models, lambda: merged.compare(baseline=merged)):
        with pytest.raises(recframe.errors.OptionError, match="cluster='country' has only one value in each segment"):
            call()
    # Without segments the countries are two clusters.
    assert len(recframe.merge_states(frame.rec.state("mrr", **roles), per=[]).compare()) == 1


@pytest.mark.parametrize("by", [["country", "user"], ["user", "country"]])
def test_no_segment_is_advised_as_a_cluster(library, by):
    roles = {"by": by, "score": ["a", "b"], "item": "position"}
    rows = [row | {"position": row["session"] * 4 + row["item"]} for row in clustered_rows()]
    frame = library.DataFrame(rows)
    with pytest.warns(recframe.DataWarning, match="8 lists have 2 values of 'country'"):
        frame.rec.compare("mrr", **roles, details=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", recframe.DataWarning)
        frame.rec.compare("mrr", **roles, per="country", details=True)
        result = frame.rec.check(**roles | {"score": "a"}, per="country", all=True)
    counts = dict(zip(result["finding"].to_list(), result["count"].to_list(), strict=True))
    assert not counts.get("dependent_lists")


def test_a_key_column_that_repeats_within_a_segment_is_still_advised(library):
    frame = library.DataFrame(clustered_rows())
    with pytest.warns(recframe.DataWarning, match="24 lists have 8 values of 'user'") as caught:
        frame.rec.compare("mrr", by=["country", "user", "session"], score=["a", "b"], per="country", details=True)
    assert "cluster='country'" not in str(caught[0].message)
