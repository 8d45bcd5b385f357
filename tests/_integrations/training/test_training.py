"""Metrics where models are trained give the values of frames."""

import inspect
import pickle
import warnings

import pytest

import recframe
from compare import item

np = pytest.importorskip("numpy")

METRICS = ["ndcg@3", "map", "mrr", "recall@2", "roc_auc"]


def data(seed=0, lists=40):
    """Return features, grades and the list of each row; lists are of one to seven rows, in order."""
    random = np.random.default_rng(seed)
    query = np.repeat(np.arange(lists), random.integers(1, 8, lists))
    features = random.integers(0, 5, (len(query), 3)).astype(float)
    return features, np.clip(features[:, 0] - features[:, 1] + random.integers(-1, 2, len(query)), 0, 3), query


def of_frame(relevant, score, query, metric, **policies):
    """Return the value of a frame."""
    frame = recframe.from_lists([[]], [[]])
    native = type(frame)({"q": query, "grade": relevant, "s": score})
    return item(recframe.rec(native).evaluate(metric, by="q", relevant="grade", score="s", **policies))


def test_predictions_before_labels_are_warned_of():
    with pytest.warns(recframe.DataWarning, match=r"as if they were swapped: from_arrays\(relevant, score\)"):
        recframe.from_arrays([0.9, 0.2, float("nan")], [1, 0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recframe.from_arrays([0.5, 1], {"old": [1, 0], "new": [0.5, 2]})
        recframe.from_arrays([1, 0, 3], [True, False, True])
        recframe.from_arrays([0.5, 1], [float("nan"), 1])


@pytest.mark.parametrize("metric", METRICS)
def test_arrays_are_a_frame(metric):
    features, grade, query = data()
    score, sizes = features[:, 2], np.bincount(query)
    for group in (query, sizes, query.tolist(), query.astype(str)):
        assert item(recframe.from_arrays(grade, score, by=group).rec.evaluate(metric)) == pytest.approx(
            of_frame(grade, score, query, metric), abs=1e-12
        )
    models = recframe.from_arrays(grade[:, None], {"old": score, "new": -score}, by=sizes)
    assert list(models.rec.evaluate(metric, score=["old", "new"])["model"]) == ["old", "new"]


@pytest.mark.parametrize(
    ("message", "given"),
    [
        ("score has 2 rows, but relevant has 3", {"relevant": [0, 1, 1], "score": [1.0, 2.0]}),
        ("by has 2 values that sum to 4, but there are 3 rows", {"relevant": [0, 1, 1], "score": [1, 2, 3], "by": [3, 1]}),
        ("by has 2 values, but there are 3 rows", {"relevant": [0, 1, 1], "score": [1, 2, 3], "by": ["a", "b"]}),
        (r"(?s)score has the shape \(1, 3\).*Hint: give one column", {"relevant": [0, 1, 1], "score": [[1, 2, 3]]}),
        (r"(?s)relevant has the shape \(2, 3\).*the truth first", {"relevant": [[0, 1, 1]] * 2, "score": [1, 2, 3]}),
        ("by has 1 values of type float64, but there are 2 rows", {"relevant": [0, 1], "score": [1, 2], "by": [2.0]}),
        ("relevant=.* is no array of numbers", {"relevant": ["0", "1"], "score": [1, 2]}),
        ("score=.* is no array of numbers", {"relevant": [0, 1], "score": np.array(["1", None], dtype=object)}),
        ("score has masked values", {"relevant": [0, 1], "score": np.ma.masked_greater([1.0, 2.0], 1)}),
        ("by has masked values", {"relevant": [0, 1], "score": [1, 2], "by": np.ma.masked_greater([1, 2], 1)}),
        ("by=.* holds neither text nor numbers", {"relevant": [0, 1], "score": [1, 2], "by": [{}, {}]}),
        ("by=.* holds whole numbers above 2", {"relevant": [0, 1], "score": [1, 2], "by": [2**63 + 1, -1]}),
        (r"(?s)score=\{\} names no model.*score=\{'old'", {"relevant": [0, 1], "score": {}}),
        ("score has the model 'user'", {"relevant": [0], "score": {"user": [1]}}),
        (r"(?s)from_arrays: .*'lists'.*Hint: from_arrays\(relevant, score, by=", {"relevant": [0], "score": [1], "lists": [1]}),
        ("library='spark' is not one of", {"relevant": [0], "score": [1], "library": "spark"}),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit_are_refused(message, given):
    with pytest.raises(recframe.RecError, match=message):
        recframe.from_arrays(given.pop("relevant"), given.pop("score"), **given)


def test_arrays_name_their_columns_as_config_does():
    with recframe.Config(by="query", relevant="grade", score=["a", "b"]):
        assert list(recframe.from_arrays([1], [0.5]).columns) == ["query", "grade", "score"]
        assert recframe.scorer("mrr", by=None)(Sum(), [[1], [2]], [0, 1]) == 1


@pytest.mark.parametrize("group", [None, [], [0]])
def test_arrays_without_rows_are_a_frame_without_rows(group):
    frame = recframe.from_arrays([], [], by=group)
    assert len(frame) == 0
    with pytest.warns(recframe.UndefinedWarning):
        assert np.isnan(frame.rec.mrr())


class Sum:
    """An estimator that predicts the sum of features."""

    def predict(self, X):  # noqa: N803
        return np.asarray(X).sum(axis=1)


def test_a_scorer_is_the_metric_in_the_direction_of_scikit_learn():
    features, grade, query = data()
    scorer = recframe.scorer("ndcg@3", ties="worst", by="qid")
    expected = of_frame(grade, features.sum(axis=1), query, "ndcg@3", ties="worst")
    assert scorer(Sum(), features, grade, qid=query) == pytest.approx(expected, abs=1e-12)
    again = pickle.loads(pickle.dumps(scorer))
    assert again(Sum(), features, grade, qid=query) == pytest.approx(expected, abs=1e-12)
    assert repr(scorer) == "scorer('ndcg@3', by='qid')"
    lower = recframe.scorer("num_rel", by=None)
    assert lower(Sum(), features, grade) == np.count_nonzero(grade)
    with pytest.raises(recframe.InputError, match="there is no groups="):
        recframe.scorer("mrr")(Sum(), features, grade)
    with pytest.raises(recframe.OptionError, match="'nope'"):
        recframe.scorer("nope")
    for metric in ("coverage@5", "money_recall"):
        with pytest.raises(recframe.OptionError, match=f"{metric} reads more than relevance and scores"):
            recframe.scorer(metric)
    with pytest.raises(recframe.OptionError, match="ties='other'"):
        recframe.scorer("mrr", ties="other")
    with pytest.raises(recframe.InputError, match="predicts nothing"):
        recframe.scorer("mrr", by=None)(object(), features, grade)


@pytest.fixture
def routing():
    sklearn = pytest.importorskip("sklearn")
    with sklearn.config_context(enable_metadata_routing=True):
        yield sklearn


def test_cross_validation_gives_the_values_of_frames_per_fold(routing):
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features, grade, query = data()
    scoring = {name: recframe.scorer(name) for name in METRICS[:2]}
    folds = GroupKFold(3)
    model = make_pipeline(StandardScaler(), Ridge())
    result = cross_validate(
        model, features, grade, scoring=scoring, cv=folds, params={"groups": query}, return_estimator=True
    )
    for fold, (_, test) in enumerate(folds.split(features, grade, query)):
        predicted = result["estimator"][fold].predict(features[test])
        for name in METRICS[:2]:
            expected = of_frame(grade[test], predicted, query[test], name)
            assert result[f"test_{name}"][fold] == pytest.approx(expected, abs=1e-12)
    clicked = (grade > 0).astype(int)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 10.0]}, scoring=recframe.scorer("map"), cv=folds)
    search.fit(features, clicked, groups=query)
    (_, test) = next(iter(folds.split(features, clicked, query)))
    assert 0 < search.best_score_ <= 1
    scores = search.best_estimator_.decision_function(features[test])
    expected = of_frame(clicked[test], scores, query[test], "map")
    assert recframe.scorer("map")(
        search.best_estimator_, features[test], clicked[test], groups=query[test]
    ) == pytest.approx(expected, abs=1e-12)


def test_a_column_of_the_features_tells_the_lists_without_routing():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GroupKFold, cross_val_score
    from sklearn.pipeline import make_pipeline

    features, grade, query = data()
    frame = pd.DataFrame(features, columns=["a", "b", "c"]).assign(query=query)
    model = make_pipeline(make_column_transformer(("passthrough", ["a", "b", "c"])), Ridge())
    scorer = recframe.scorer("ndcg", by="query")
    result = cross_val_score(model, frame, grade, groups=query, scoring=scorer, cv=GroupKFold(2), error_score="raise")
    assert np.isfinite(result).all()


def test_probabilities_of_two_classes_are_scores():
    class Probable:
        def predict_proba(self, X):  # noqa: N803
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    assert recframe.scorer("mrr", by=None)(Probable(), np.array([[0.1], [0.9]]), [0, 1]) == 1


def test_errors_while_training_are_in_words():
    with pytest.raises(recframe.OptionTypeError, match=r"(?s)are several metrics.*'ndcg', then 'map'"):
        recframe.scorer(["ndcg", "map"])
    for make in (recframe.scorer, recframe.feval):
        with pytest.raises(recframe.RecError, match="metric 'recal' is unknown"):
            make("recal@3")
        with pytest.raises(recframe.RecError, match="tie"):
            make("recall@3", tie="worst")
        with pytest.raises(
            recframe.OptionTypeError, match=r"per='query' is about frames.*\n\nHint: leave it out; there are ties"
        ):
            make("recall@3", per="query")
        with pytest.raises(
            recframe.OptionTypeError, match=r"no argument 'k'(?s:.*)Hint: .* its own cutoff, as 'ndcg@10'"
        ):
            make("ndcg", k=10)


def test_lists_of_one_row_each_are_lists():
    call = recframe.feval("mrr", "lightgbm.sklearn", undefined=0)
    assert call([1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6], None, np.ones(4, int)) == ("mrr", 0.5, True)
    assert call([1, 0], [0.9, 0.8], None, [2, 0])[1] == 1


def test_evaluation_functions_are_pickled_and_have_the_parameters_that_lightgbm_counts():
    for library, count in {None: 4, "lightgbm": 2, "lightgbm.sklearn": 4, "xgboost": 2}.items():
        call = pickle.loads(pickle.dumps(recframe.feval("mrr", library)))
        assert len(inspect.signature(call).parameters) == count
    assert (
        pickle.loads(pickle.dumps(recframe.feval("mrr", "lightgbm.sklearn")))([0, 1], [0.9, 0.8], None, [2])[1] == 0.5
    )


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_lightgbm_stops_early_by_a_metric():
    lightgbm = pytest.importorskip("lightgbm")
    features, grade, query = data(1, 200)
    sizes = np.bincount(query)
    train = lightgbm.Dataset(features, grade, group=sizes)
    other, seen, of = data(2, 100)
    valid = lightgbm.Dataset(other, seen, group=np.bincount(of), reference=train)
    kept = {}
    model = lightgbm.train(
        {"objective": "lambdarank", "metric": "None", "verbose": -1, "num_threads": 1}, train, 60, valid_sets=[valid],
        feval=recframe.feval("ndcg@3"), callbacks=[lightgbm.early_stopping(5, verbose=False), lightgbm.record_evaluation(kept)],
    )  # fmt: skip
    values = kept["valid_0"]["ndcg@3"]
    assert len(values) < 60
    assert model.best_iteration == np.argmax(values) + 1
    assert values[model.best_iteration - 1] == pytest.approx(
        of_frame(seen, model.predict(other), of, "ndcg@3"), abs=1e-12
    )
    ranker = lightgbm.LGBMRanker(n_estimators=3, verbose=-1, n_jobs=1)
    ranker.fit(
        features,
        grade,
        group=sizes,
        eval_set=[(other, seen)],
        eval_group=[np.bincount(of)],
        eval_metric=recframe.feval(["map", "ndcg@2"]),
    )
    assert ranker.evals_result_["valid_0"]["map"][-1] == pytest.approx(
        of_frame(seen, ranker.predict(other), of, "map"), abs=1e-12
    )
    plain = lightgbm.Dataset(features, grade)
    with pytest.raises(recframe.InputError, match="has no groups"):
        lightgbm.train({"objective": "l2", "verbose": -1}, plain, 1, valid_sets=[plain], feval=recframe.feval("ndcg"))


def test_xgboost_stops_early_by_a_metric():
    xgboost = pytest.importorskip("xgboost")
    features, grade, query = data(1, 200)
    other, seen, of = data(2, 100)
    train, valid = xgboost.DMatrix(features, grade, qid=query), xgboost.DMatrix(other, seen, qid=of)
    kept = {}
    given = {"objective": "rank:ndcg", "disable_default_eval_metric": True, "nthread": 1}
    model = xgboost.train(
        given, train, 60, evals=[(valid, "valid")], custom_metric=recframe.feval("ndcg@3"), maximize=True,
        early_stopping_rounds=5, evals_result=kept, verbose_eval=False,
    )  # fmt: skip
    values = kept["valid"]["ndcg@3"]
    assert model.best_iteration == np.argmax(values)
    predicted = model.predict(valid, iteration_range=(0, model.best_iteration + 1))
    assert values[model.best_iteration] == pytest.approx(of_frame(seen, predicted, of, "ndcg@3"), abs=1e-6)


def test_the_ranker_of_xgboost_gets_its_queries(routing):
    xgboost = pytest.importorskip("xgboost")
    from sklearn.model_selection import GroupKFold, cross_validate

    features, grade, query = data(3)
    model = xgboost.XGBRanker(n_estimators=3, n_jobs=1).set_fit_request(qid=True)
    folds = GroupKFold(2)
    result = cross_validate(
        model, features, grade, cv=folds, params={"qid": query, "groups": query}, return_estimator=True,
        scoring=recframe.scorer("ndcg@3", by="qid"), error_score="raise",
    )  # fmt: skip
    for fold, (_, test) in enumerate(folds.split(features, grade, query)):
        predicted = result["estimator"][fold].predict(features[test])
        assert result["test_score"][fold] == pytest.approx(
            of_frame(grade[test], predicted, query[test], "ndcg@3"), abs=1e-12
        )


def test_a_booster_that_is_not_known_is_refused():
    with pytest.raises(recframe.OptionError, match="library='catboost' is not one of"):
        recframe.feval("ndcg", "catboost")


@pytest.mark.parametrize("library", [None, "lightgbm", "xgboost"])
def test_what_is_not_the_data_of_a_booster_is_refused(library):
    with pytest.raises(
        recframe.OptionTypeError,
        match=r"data=None is neither a Dataset of LightGBM nor a DMatrix(?s:.*)lightgbm.train\(.*xgboost.train\(.*"
        r"LGBMRanker.fit\(..., eval_metric=, eval_group=\[sizes\]\)",
    ):
        recframe.feval("ndcg@2", library)([0.1, 0.2], None)


class DMatrix:
    """What XGBoost passes."""

    def get_label(self):
        return np.array([0.0, 1.0, 1.0])

    def get_uint_info(self, field):
        assert field == "group_ptr"
        return np.array([0, 2, 3], dtype=np.uint32)


class Dataset:
    """What LightGBM passes."""

    get_label = DMatrix.get_label

    def get_group(self):
        return np.array([2, 1])


@pytest.mark.parametrize("library", [None, "lightgbm", "xgboost"])
def test_the_data_says_which_trainer_calls(library):
    call = recframe.feval("mrr", library)
    assert call([0.9, 0.8, 0.7], DMatrix()) == ("mrr", 0.75)
    assert call([0.9, 0.8, 0.7], Dataset()) == ("mrr", 0.75, True)


def test_one_function_for_every_booster_and_several_metrics():
    call = pickle.loads(pickle.dumps(recframe.feval(["mrr", "recall@1"])))
    assert call([0.9, 0.8, 0.7], DMatrix()) == [("mrr", 0.75), ("recall@1", 0.5)]
    assert call([0.9, 0.8, 0.7], Dataset()) == [("mrr", 0.75, True), ("recall@1", 0.5, True)]
    assert call([0, 1, 1], [0.9, 0.8, 0.7], None, [2, 1]) == [("mrr", 0.75, True), ("recall@1", 0.5, True)]
    assert recframe.feval(["mrr"])([0, 1], [0.9, 0.8], None, [2]) == [("mrr", 0.5, True)]
    with pytest.raises(recframe.OptionError, match="names no metric"):
        recframe.feval([])
