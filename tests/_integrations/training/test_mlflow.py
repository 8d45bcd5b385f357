"""The evaluator of MLflow: what a run holds is what the calls of frames give."""

import random
from importlib.metadata import entry_points

import pytest

import recframe

mlflow = pytest.importorskip("mlflow")
pytest.importorskip("matplotlib")  # which `mlflow.models.evaluate` imports
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore")  # of MLflow

CONFIG = {"metrics": ["ndcg", "map", "fbeta(beta=0.5)@3", "coverage@3"], "k": [2, 5], "charts": False}
NAMES = {
    "ndcg@2": "ndcg_at_2", "ndcg@5": "ndcg_at_5", "map@2": "map_at_2", "map@5": "map_at_5",
    "fbeta(beta=0.5)@3": "fbeta_beta_0.5_at_3", "coverage@3": "coverage_at_3", "lists": "lists", "undefined": "undefined",
}  # fmt: skip


def data(seed=0, lists=30):
    numbers = random.Random(seed)
    rows = [(user, item) for user in range(lists) for item in range(6)]
    return pd.DataFrame(rows, columns=["user", "item"]).assign(
        country=[["no", "se"][user % 2] for user, _ in rows],
        clicked=[numbers.randint(0, 1) for _ in rows],
        score=[numbers.randint(0, 3) / 2 for _ in rows],
    )


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory):
    before = mlflow.get_tracking_uri()
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.create_experiment("ranking", artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment("ranking")
    yield
    mlflow.set_tracking_uri(before)


def evaluated(frame=None, model=None, config=(), **given):
    """Return the result of a run of its own."""
    targets = {"targets": "clicked"} if isinstance(frame, pd.DataFrame | None) else {}
    predictions = {"predictions": "score"} if targets and model is None else {}
    with mlflow.start_run():
        return mlflow.models.evaluate(
            **({"model": model} if model else {}), data=data() if frame is None else frame, model_type="ranker",
            evaluators="recframe", evaluator_config={**CONFIG, **dict(config)}, **{**targets, **predictions, **given},
        )  # fmt: skip


def test_a_run_holds_what_the_calls_give():
    frame = data()
    result = evaluated(config={"per": "country", "charts": True})
    rec = frame.rec(relevant="clicked")
    expected = rec.evaluate(CONFIG["metrics"], CONFIG["k"], counts=True)
    logged = mlflow.get_run(result.run_id).data.metrics
    assert set(logged) == set(result.metrics) == set(NAMES.values())
    for column, name in NAMES.items():
        assert logged[name] == result.metrics[name] == pytest.approx(expected[column].iloc[0], abs=1e-12)

    assert set(result.artifacts) == {"intervals", "segments", "lists", "baseline", "definition", "report", "curve", "distribution"}  # fmt: skip
    logged = {artifact.path for artifact in mlflow.MlflowClient().list_artifacts(result.run_id)}
    assert {name.split(".")[0] for name in logged} == set(result.artifacts)
    by_list = [metric for metric in CONFIG["metrics"] if metric != "coverage@3"]
    pd.testing.assert_frame_equal(result.artifacts["lists"].content, rec.evaluate(by_list, CONFIG["k"], per="user"))
    tables = result.tables
    assert set(tables) == {"intervals", "segments", "lists"}
    segments = rec.evaluate(CONFIG["metrics"], CONFIG["k"], per="country")
    pd.testing.assert_frame_equal(tables["segments"], segments, check_dtype=False, atol=1e-9)
    pd.testing.assert_frame_equal(
        tables["intervals"], rec.describe(by_list, CONFIG["k"], details=True), check_dtype=False, atol=1e-9
    )
    assert result.artifacts["definition"].content.count("ndcg@") >= 2
    assert result.artifacts["curve"].content.format == "PNG"
    assert "<svg" in result.artifacts["report"].content


def test_two_runs_are_compared_by_the_stored_baseline():
    old, new = data(), data().assign(score=data(1)["score"])
    first = evaluated(old)
    second = evaluated(new, config={"baseline": first.run_id})
    both = old.assign(old=old["score"], new=new["score"]).rec(relevant="clicked", score=["old", "new"])
    by_list = [metric for metric in CONFIG["metrics"] if metric != "coverage@3"]
    expected = both.compare(by_list, CONFIG["k"], baseline="old", details=True)
    result = second.tables["comparison"]
    assert result["metric"].tolist() == expected["metric"].tolist()
    for column in ("difference", "low", "high", "p_adjusted"):
        assert result[column].tolist() == pytest.approx(expected[column].tolist(), abs=1e-9)
    assert set(result["changed"]) == {"nothing"}

    file = mlflow.artifacts.download_artifacts(run_id=first.run_id, artifact_path="baseline.parquet")
    by_hand = new.rec(relevant="clicked").compare(by_list, CONFIG["k"], baseline=file, details=True)
    assert by_hand["difference"].tolist() == pytest.approx(expected["difference"].tolist(), abs=1e-12)


def test_a_model_predicts_from_the_features_that_are_named():
    frame = data().rename(columns={"score": "feature"})
    expected = evaluated().metrics
    assert evaluated(frame, lambda rows: rows["feature"] * 2).metrics == expected
    seen = []

    def model(rows):
        seen.append(list(rows.columns))
        return pd.DataFrame({"other": 0, "rating": rows["feature"]})

    result = evaluated(frame, model, config={"features": ["feature"]}, predictions="rating")
    assert result.metrics == expected
    assert seen == [["feature"]]
    with pytest.raises(recframe.InputError, match=r"the model returns the columns \['other', 'rating'\]"):
        evaluated(frame, model)


def test_a_polars_frame_and_a_truth_are_evaluated():
    pl = pytest.importorskip("polars")
    frame = data()
    expected = evaluated().metrics
    dataset = mlflow.data.from_polars(pl.from_pandas(frame), targets="clicked", predictions="score")
    assert evaluated(dataset).metrics == expected
    truth = frame[frame["clicked"] > 0]
    rest = evaluated(frame.drop(columns="clicked"), config={"truth": truth, "relevant": "clicked"}, targets=None)
    assert rest.metrics == {**expected, "lists": rest.metrics["lists"], "undefined": rest.metrics["undefined"]}


def test_one_run_holds_two_data_sets_by_a_prefix():
    with mlflow.start_run() as run:
        given = {
            "data": data(),
            "model_type": "ranker",
            "targets": "clicked",
            "predictions": "score",
            "evaluators": "recframe",
        }
        mlflow.models.evaluate(**given, evaluator_config=CONFIG)
        with pytest.raises(recframe.InputError, match="has results of this evaluator already"):
            mlflow.models.evaluate(**given, evaluator_config=CONFIG)
        mlflow.models.evaluate(**given, evaluator_config={**CONFIG, "metric_prefix": "test_"})
    logged = mlflow.get_run(run.info.run_id).data.metrics
    assert set(logged) == {*NAMES.values(), *(f"test_{name}" for name in NAMES.values())}


@pytest.mark.parametrize(
    ("message", "config", "given"),
    [
        ("evaluator_config names no metrics", {"metrics": None}, {}),
        ("metric 'ndgc' is unknown", {"metrics": ["ndgc"]}, {}),
        ("evaluator_config has 'score'", {"score": "score"}, {}),
        ("neither a model nor a column of scores", {}, {"predictions": None}),
        ("no extra_metrics=", {}, {"extra_metrics": [object()]}),
        ("the data is an array", {}, {"frame": data()[["user", "score"]].to_numpy(), "targets": data()["clicked"].to_numpy(), "model": len}),
        ("tie", {"tie": "worst"}, {}),
    ],
)  # fmt: skip
def test_what_cannot_be_evaluated_is_refused_and_logs_nothing(message, config, given):
    with pytest.raises(recframe.RecError, match=message):
        evaluated(config=config, **given)
    run = mlflow.last_active_run()
    assert run.data.metrics == {}
    assert mlflow.MlflowClient().list_artifacts(run.info.run_id) == []


def test_only_rankers_are_evaluated():
    assert "recframe" in mlflow.models.list_evaluators()
    (entry,) = entry_points(group="mlflow.model_evaluator", name="recframe")
    evaluator = entry.load()
    assert evaluator.can_evaluate(model_type="ranker", evaluator_config={})
    assert not any(evaluator.can_evaluate(model_type=kind, evaluator_config={}) for kind in ("classifier", "retriever", None))  # fmt: skip
