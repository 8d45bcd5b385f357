"""Comparisons over lists and training runs, against formulas of their own and a mixed model."""

import random
import warnings

import narwhals as nw
import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import stats

import recframe
from recframe import DataWarning, InputError, OptionError

METRICS = ["ndcg@3", "mrr", "hit_rate@1"]
ASKED = {"model": "model", "runs": "seed"}


def rows_of(runs, lists=25, length=6, seed=0):
    """Return rows of models that were trained several times: their scores differ from run to run."""
    draw = random.Random(seed)
    truth = {(user, item): int(draw.random() < 0.3) for user in range(lists) for item in range(length)}
    scores = {key: draw.gauss(relevant, 1) for key, relevant in truth.items()}
    rows = []
    for model, count in runs.items():
        for run in range(count):
            strength = draw.gauss(0.3, 0.4)
            rows += [
                {"user": user, "item": item, "model": model, "seed": run + len(model), "relevant": relevant,
                 "score": scores[user, item] + strength * relevant + draw.gauss(0, 0.6)}
                for (user, item), relevant in truth.items()
            ]  # fmt: skip
    return rows


@pytest.fixture(params=["polars", "pandas", "lazy"])
def frame_of(request):
    library = pytest.importorskip("polars" if request.param == "lazy" else request.param)
    return lambda rows: library.DataFrame(rows).lazy() if request.param == "lazy" else library.DataFrame(rows)


def collected(result):
    return nw.from_native(result).lazy().collect().rows(named=True)


def asked(frame, call, *args, **given):
    """Return the rows of a result, without the warning of runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return collected(getattr(recframe.rec(frame), call)(*args, **given))


def values_of(frame, metric):
    """Return lists × runs of each model, by lists alone."""
    result = {}
    for model in ("old", "newer"):
        rows = nw.from_native(frame).filter(nw.col("model") == model).to_native()
        for row in asked(rows, "evaluate", metric, by=["user", "seed"], per=["user", "seed"]):
            if row[metric] == row[metric] and row[metric] is not None:
                result.setdefault(model, {}).setdefault(row["seed"], {})[row["user"]] = row[metric]
    users = sorted(set.intersection(*(set(values) for runs in result.values() for values in runs.values())))
    return {model: np.array([[runs[run][user] for run in runs] for user in users]) for model, runs in result.items()}


def crossed(tables, signs):
    """Return the mean, the squared standard error and the degrees of freedom of a sum of models."""
    lists = sum(sign * table.mean(axis=1) for sign, table in zip(signs, tables, strict=True))
    n = len(lists)
    parts, raw = [(lists.var(ddof=1) / n, n - 1)], []
    for sign, table in zip(signs, tables, strict=True):
        runs = table.shape[1]
        if runs > 1:
            residuals = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
            q = (residuals**2).sum() / (n - 1) / (runs - 1)
            spread = table.mean(axis=0).var(ddof=1)
            parts.append((sign**2 * max(0, spread - q / n) / runs, runs - 1))
            raw.append((sign**2 * spread / runs, runs - 1))
    square = sum(part for part, _ in parts)
    degrees = square**2 / sum(part**2 / f for part, f in [parts[0], *raw])
    return lists.mean(), square, max(degrees, min(f for _, f in parts))


@pytest.mark.parametrize("runs", [{"old": 3, "newer": 4}, {"old": 1, "newer": 2}])
def test_lists_and_runs_are_samples(frame_of, runs):
    frame = frame_of(rows_of(runs))
    result = asked(frame, "compare", METRICS, **ASKED, baseline="old", details=True, margin=0.1)
    for row in result:
        tables = values_of(frame, row["metric"])
        mean, square, degrees = crossed([tables["newer"], tables["old"]], [1, -1])
        half = stats.t.ppf(0.975, degrees) * np.sqrt(square)
        assert row["difference"] == pytest.approx(mean, abs=1e-12)
        assert [row["low"], row["high"]] == pytest.approx([max(mean - half, -1), min(mean + half, 1)], abs=1e-9)
        assert row["p"] == pytest.approx(2 * stats.t.sf(abs(mean) / np.sqrt(square), degrees), abs=1e-9)
        assert row["mean"] == pytest.approx(tables["newer"].mean(), abs=1e-12)
        assert (row["runs"], row["baseline_runs"]) == (runs["newer"], runs["old"])
        assert row["lists"] == len(tables["old"])
        lists = (tables["newer"].mean(axis=1) - tables["old"].mean(axis=1)).var(ddof=1) / row["lists"]
        assert row["run_share"] == pytest.approx(1 - lists / square, abs=1e-9)
    assert [*result[0]][-6:] == ["runs", "baseline_runs", "run_share", "low", "high", "verdict"]


def test_description_of_one_model(frame_of):
    rows = rows_of({"old": 4})
    frame = frame_of(rows)
    for row in asked(frame, "describe", METRICS, runs="seed", details=True):
        table = values_of(frame, row["metric"])["old"]
        mean, square, degrees = crossed([table], [1])
        half = stats.t.ppf(0.975, degrees) * np.sqrt(square)
        assert [row["low"], row["high"]] == pytest.approx([max(mean - half, 0), min(mean + half, 1)], abs=1e-9)
        assert row["std"] == pytest.approx(table.mean(axis=1).std(ddof=1))
        assert row["run_std"] == pytest.approx(table.mean(axis=0).std(ddof=1))
        assert (row["mean"], row["runs"]) == (pytest.approx(mean), 4)
    named = asked(frame, "describe", METRICS, **ASKED)
    assert [{**row, "model": "old"} for row in asked(frame, "describe", METRICS, runs="seed")] == named


@pytest.mark.slow
def test_errors_are_those_of_a_mixed_model():
    pandas, models = pytest.importorskip("pandas"), pytest.importorskip("statsmodels.formula.api")
    draw = np.random.default_rng(3)
    users, seeds = 12, 3
    alike = draw.normal(5, 0.2, (users, 1))
    values = {
        model: alike
        + draw.normal(0, 0.1, seeds)
        + draw.normal(0, 0.1, (users, 1))
        + draw.normal(0, 0.1, (users, seeds))
        for model in ("new", "old")
    }
    long = pandas.DataFrame(
        [
            {
                "user": user,
                "seed": seed,
                "model": model,
                "relevant": value,
                "score": 1,
                "one": 1,
                "run": f"{model} {seed}",
            }
            for model, table in values.items()
            for (user, seed), value in np.ndenumerate(table)
        ]
    )
    parts = {"user": "0 + C(user)", "run": "0 + C(run)", "both": "0 + C(user):C(model)"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = models.mixedlm("relevant ~ model", long, groups="one", vc_formula=parts).fit(method=["lbfgs"])
    (row,) = asked(long, "compare", "dcg@1", **ASKED, baseline="old")
    _, square, degrees = crossed([values["new"], values["old"]], [1, -1])
    assert row["difference"] == pytest.approx(-fitted.params["model[T.old]"])
    assert np.sqrt(square) == pytest.approx(fitted.bse["model[T.old]"], rel=1e-4)
    assert row["high"] - row["difference"] == pytest.approx(stats.t.ppf(0.975, degrees) * np.sqrt(square))


@pytest.mark.parametrize("margin", [0.05, "20%", {"mrr": 0.05}])
def test_a_margin_is_ruled_out_if_the_interval_does_not_reach_it(margin):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows_of({"old": 3, "newer": 3}, seed=5))
    result = asked(frame, "compare", METRICS, **ASKED, margin=margin, correction="none", details=True)
    for row in result:
        tables = values_of(frame, row["metric"])
        relative = isinstance(margin, str)
        size = 0.2 if relative else 0.05
        if isinstance(margin, dict) and row["metric"] != "mrr":
            assert pandas.isna(row["p_margin"])
            continue
        keeps = 1 - size if relative else 1.0
        mean, square, degrees = crossed([tables["newer"], tables["old"]], [1, -keeps])
        mean = mean if relative else mean + size
        expected = 2 * stats.t.sf(mean / np.sqrt(square), degrees) if mean > 0 else 1
        assert row["p_margin"] == pytest.approx(expected, abs=1e-9)
        if not relative:
            assert (row["low"] > -size) == (row["p_margin"] < 0.05)


def test_single_runs_are_compared_as_ever(frame_of):
    rows = rows_of({"old": 1, "newer": 1})
    frame = frame_of(rows)

    def of_runs(call, options):
        return collected(getattr(recframe.rec(frame), call)(METRICS, runs="seed", **options))

    for call, more in (("compare", {"baseline": "old", "margin": 0.1}), ("describe", {})):
        options = {"details": True, "model": "model", **more}
        with pytest.warns(DataWarning, match="each model has one run in runs='seed'"):
            result = of_runs(call, options)
        plain = asked(frame, call, METRICS, **options)
        added = {"runs", "baseline_runs", "run_share", "run_std"}
        kept = [{name: value for name, value in row.items() if name not in added} for row in result]
        assert repr(kept) == repr(plain)
        assert {row["runs"] for row in result} == {1}


def test_warnings_of_few_runs():
    polars = pytest.importorskip("polars")
    for runs, text in (({"old": 1, "newer": 2}, "'old' has one run"), ({"old": 3, "newer": 2}, "'newer' has two runs")):
        with pytest.warns(DataWarning, match=text):
            polars.DataFrame(rows_of(runs)).rec.compare("mrr", **ASKED)


def test_names_and_order_of_rows_change_nothing():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(rows_of({"old": 3, "newer": 3}))
    result = asked(frame, "compare", METRICS, **ASKED, baseline="old", details=True)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=2)
    assert asked(shuffled, "compare", METRICS, **ASKED, baseline="old", details=True) == result
    renamed = frame.with_columns(seed=polars.lit("s") + polars.col("seed").cast(polars.String) + polars.col("model"))
    assert asked(renamed, "compare", METRICS, **ASKED, baseline="old", details=True) == result


@pytest.mark.parametrize("runs", [None, "seed"])
@pytest.mark.parametrize("kind", ["Categorical", "Int32", "Date"])
def test_models_of_any_type_on_lazy_frames(kind, runs):
    polars = pytest.importorskip("polars")
    numbered = polars.col("model").replace_strict({"old": 1, "newer": 2}, return_dtype=polars.Int32)
    model = (
        polars.col("model").cast(polars.Categorical) if kind == "Categorical" else numbered.cast(getattr(polars, kind))
    )
    frame = polars.DataFrame(rows_of({"old": 3, "newer": 3}, lists=6)).with_columns(model)
    frame = frame if runs else frame.filter(polars.col("seed") == 5)
    result = frame.rec.compare("mrr", model="model", runs=runs)
    assert frame.lazy().rec.compare("mrr", model="model", runs=runs).collect().equals(result)


def test_runs_without_differences():
    polars = pytest.importorskip("polars")
    once = rows_of({"old": 1, "newer": 1})
    same = [{**row, "seed": seed} for row in once for seed in range(3)]
    (result,) = asked(polars.DataFrame(same), "compare", "mrr", **ASKED)
    (plain,) = asked(polars.DataFrame(once), "compare", "mrr", model="model")
    assert result == pytest.approx(plain, nan_ok=True)
    # All lists differ by the same number, and so do the runs: nothing says how much other lists would.
    equal = [{**row, "score": -row["relevant"] if row["model"] == "old" else row["relevant"]} for row in same]
    (result,) = asked(polars.DataFrame(equal), "compare", "hit_rate@1", **ASKED)
    (plain,) = asked(polars.DataFrame(equal).filter(seed=0), "compare", "hit_rate@1", model="model")
    assert result == pytest.approx(plain, nan_ok=True)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"test": "bootstrap"}, "does not go with test='bootstrap'"),
        ({"correction": "maxt"}, "does not go with correction='maxt'"),
        ({"cluster": "user"}, "does not go with cluster='user'"),
        ({"strata": "user"}, "does not go with strata='user'"),
        ({"weight": "item"}, "does not go with weight='item'"),
        ({"per": "user"}, "does not go with per='user'"),
        ({"relative": True}, "does not go with relative=True"),
        ({"baseline": "old.parquet"}, "does not go with baseline='old.parquet', a file"),
        ({"runs": "sed"}, "runs='sed': the frame has no such column"),
        ({"runs": "model"}, "runs='model' is also the column of models"),
        ({"model": None}, "runs='seed' is about models in rows, but there is no model="),
        ({"model": None, "score": ["a", "b"]}, r"but score=\['a', 'b'\] names columns"),
        ({"margin": 3}, "margin=3 is larger than every difference"),
        ({"baseline": "x"}, "baseline='x' is not one of the models 'old', 'newer'"),
    ],
)
def test_what_does_not_go_with_runs(given, text):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(rows_of({"old": 2, "newer": 2}, lists=4))
    with pytest.raises(recframe.RecError, match=text):
        frame.rec.compare("mrr", **{**ASKED, **given})


def test_rows_and_metrics_that_runs_refuse():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(rows_of({"old": 2, "newer": 2}, lists=8))
    for metric in ("coverage", "gauc"):
        with pytest.raises(OptionError, match=metric):
            frame.rec.compare(metric, **ASKED)
    fold = polars.col("user") % 2 == polars.col("seed") % 2
    with pytest.raises(InputError, match=r"runs='seed' has other lists in each run: 'old, run 3' has rows in 4 of 8"):
        frame.filter(fold | (polars.col("model") != "old")).rec.compare("mrr", **ASKED)
    gap = frame.with_columns(seed=polars.when(polars.col("user") > 0).then("seed"))
    with pytest.raises(InputError, match="'seed' is missing in 24 rows"):
        gap.rec.describe("mrr", **ASKED)
    with pytest.raises(OptionError, match="rank_models, report and state accept runs='seed'"):
        frame.rec.evaluate("mrr", **ASKED)


def test_runs_on_the_command_line(tmp_path, capsys):
    polars, _ = pytest.importorskip("polars"), pytest.importorskip("click")
    from recframe.cli import main

    file = tmp_path / "runs.csv"
    polars.DataFrame(rows_of({"old": 3, "newer": 3})).write_csv(file)
    assert main(["compare", str(file), "-m", "mrr", "--model", "model", "--runs", "seed", "--details", "--json"]) == 0
    assert '"runs": 3' in capsys.readouterr().out
    assert main(["report", "--help"]) == 0
    assert "--runs" in capsys.readouterr().out
