"""What calls refuse where two of their arguments, or an argument and the frame, do not go together."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pytest

import recframe

pl = pytest.importorskip("polars")

FRAME = pl.DataFrame(
    {
        "user": [1, 1, 2, 2],
        "item": ["a", "b", "a", "c"],
        "relevant": [1, 0, 0, 1],
        "score": [0.9, 0.8, 0.4, 0.1],
        "other": [0.1, 0.8, 0.3, 0.2],
        "genre": ["x", "y", "x", "y"],
        "day": [1, 2, 3, 4],
        "p": [0.5, 1.0, 1.0, 0.5],
    }
)
FEATURES = pl.DataFrame({"item": ["a", "b", "c"], "f": [1.0, 0.5, 0.0]})
MODELS = {"score": ["score", "other"]}
PER_ITEM = {"truth": FRAME.select("user", "item", "relevant", "genre"), "per_item": "genre"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda rec: rec.ndcg(mean="median", weight="p"),
            "mean='median' has no weights, but weight='p' weights the lists",
        ),
        (lambda rec: rec.ndcg(mean="median", partitions=2), "mean='median' needs all lists together"),
        (lambda rec: rec.recall(2, propensity="p", mean="median", estimator="pooled"), "divides sums over all lists"),
        (lambda rec: rec.recall(2, estimator="pooled"), "estimator='pooled' is about propensities"),
        (lambda rec: rec.mrr(**PER_ITEM, by=["user", "genre"]), "per_item='genre' describes items, but by= has it"),
        (lambda rec: rec.mrr(**PER_ITEM, min_relevance=0), "which min_relevance=0 would call relevant"),
        (lambda rec: rec.evaluate("coverage@2", counts=True), "counts=True counts lists with a value, but coverage@2"),
        (lambda rec: rec.compare("coverage@2", **MODELS, test="randomization"), "needs a value per list, but coverage"),
        (lambda rec: rec.partial_auc(negatives=2, points="thresholds"), "negatives=2 counts rows"),
        (lambda rec: rec.partial_auc(positives="first"), "positives='first' counts as many relevant items"),
        (lambda rec: rec.split(time="day", since="last monday"), "since='last monday' is no point in time"),
        (lambda rec: rec.position_bias(relevant="relevant", rank="day"), "no item of a list is shown at two positions"),
        (lambda rec: rec.diversity(2, features=FEATURES.with_columns(f=1e200)), "features holds 1e+200, but a feature"),
    ],
)
def test_of_frames(call, message):
    with pytest.raises(recframe.RecError, match=re.escape(message)):
        call(FRAME.rec(by="user"))


@pytest.mark.parametrize(("metric", "given"), [("ndcg@5", {}), ("mrr", {"k": None})])
def test_of_charts(metric, given):
    pytest.importorskip("altair")
    with pytest.raises(recframe.OptionError, match="curve shows metrics over the cutoff, but"):
        FRAME.rec(by="user").plot.curve([metric], **given)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rec: rec.position_bias(relevant="relevant", rank="day").collect(), "no item of a list is shown at two"),
        (lambda rec: rec.tune_fusion("ndcg", score=["score", "other"]).collect(), "folds=5 is more than the 2 lists"),
    ],
)
def test_of_lazy_frames(call, message):
    # Polars wraps what is raised while it reads a source, older versions under a name of their own.
    with pytest.raises((recframe.RecError, pl.exceptions.ComputeError), match=re.escape(message)):
        call(FRAME.lazy().rec(by="user"))


class Misspelt(recframe.Metric):
    name = "misspelt"

    def terms(self, row):
        return {"hits": row.hits_befor}

    def value(self, sums):
        return sums["hits"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recframe.require(FRAME.rec.evaluate("ndcg"), {3: 0.1}), "3 is not the name of a metric"),
        (lambda: recframe.rec(FRAME).no_such_call(), "the namespace has no method 'no_such_call'"),
        (lambda: recframe.rec(FRAME).merge(), "did you mean 'recframe.merge_states'?"),
        (lambda: recframe.rec(FRAME).ab_test(), "did you mean 'compare'?"),
        (lambda: recframe.rec(FRAME).per_list(10), "per='user' gives a row for each list"),
        (lambda: recframe.rec(FRAME).per_query(10), "per='user' gives a row for each list"),
        (lambda: recframe.rec(FRAME).groupby("user"), "per='country' gives a row for each country"),
        (
            lambda: recframe.rec(FRAME).leave_one_out(),
            "split(last=1, time='timestamp') holds out the last item of each user",
        ),
        (lambda: recframe.rec(FRAME).require(), "did you mean 'recframe.require'?"),
        (lambda: recframe.rec(FRAME).evaluate("mrr", "recall"), "several metrics are one list: metrics=["),
        (lambda: recframe.rec(FRAME).evaluate("mrr@1,2"), "Hint: metrics=['mrr@1', 'mrr@2'], or 'mrr' and k=[1, 2]"),
        (lambda: recframe.rec(FRAME).ndcg(gain="exponential"), "did you mean 'exp2'?"),
        (lambda: recframe.rec(FRAME).ndcg(like="torch"), "did you mean 'torchmetrics'?"),
        (lambda: recframe.feval("ndcg", "lgbm"), "did you mean 'lightgbm'?"),
        (lambda: recframe.candidates(FRAME.rename({"user": "user_id"}), FRAME), "did you mean 'user_id'?"),
        (lambda: recframe.rec(FRAME).evaluate("ndcg", alpha=0.05), "confidence=0.95, which is 1 - alpha"),
        (lambda: recframe.rec(FRAME).rmse(), "errors of predicted numbers do not judge a ranking"),
        (lambda: recframe.rec("file.parquet"), "Hint: read the file first"),
        (lambda: recframe.rec(Path("file.parquet")), "Hint: read the file first"),
        (lambda: recframe.rec({"q": {"d": 1.0}}), "Hint: recframe.from_dict makes a frame"),
        (lambda: recframe.rec([["a", "b"]]), "Hint: recframe.from_lists makes a frame"),
        (lambda: recframe.require(0.5, ndcg=0.8), "Hint: require(result, least, most=..., by=..., verdict=...)"),
        (lambda: recframe.rec(FRAME).fuse(normalise="max"), "Hint: did you mean 'normalize'?"),
        (lambda: recframe.rec(FRAME).split(test_size=0.2), "Hint: did you mean 'fraction'?"),
        (
            lambda: recframe.rec(FRAME).split(random_state=1),
            "Hint: did you mean 'seed'? There are fraction, count, last, since, time, users, ",
        ),
        (lambda: recframe.rec(FRAME).compare("ndcg", n_resamples=9), "Hint: did you mean 'resamples'?"),
        (
            lambda: recframe.rec(FRAME).compare("ndcg", gain="exp2"),
            "not an argument of the call\n\nHint: 'ndcg(gain=exp2)'",
        ),
        (lambda: recframe.rec(FRAME).compare("map", gain="exp2"), "Hint: an option is part of the metric"),
        (lambda: recframe.rec(FRAME).evaluate("ndcg", metric="map"), "Hint: did you mean 'metrics'?"),
        (lambda: recframe.rec(FRAME).evaluate("ndcg", chanse=True), "Hint: did you mean 'chance'?"),
        (
            lambda: recframe.rec(FRAME).contributions("ndcg", bye="user"),
            "Hint: did you mean 'by'? There are metric, k, by, item",
        ),
        (
            lambda: recframe.rec(FRAME).contributions("ndcg", byy="user"),
            "Hint: did you mean 'by'? There are metric, k, by, item",
        ),
        (lambda: recframe.rec(FRAME).changes("ndcg", mots=3), "Hint: did you mean 'most'?"),
        (lambda: recframe.rec(FRAME).plot.trend("ndcg", chnges=3), "there are metric, k, "),
        (lambda: recframe.rec(FRAME).compare("ndcg", base="score"), "Hint: did you mean 'baseline'?"),
        (lambda: recframe.rec(FRAME).tune_fusion("ndcg", cv=3), "Hint: did you mean 'folds'?"),
        (lambda: recframe.rec(FRAME).sample_size("ndcg", effect=0.1), "Hint: did you mean 'difference'?"),
        (lambda: recframe.rec(FRAME).fuse(score=["score", "other"], method="combsum"), "Hint: did you mean 'sum'?"),
        (lambda: recframe.rec(FRAME).ndcg(ascending=True), "Hint: the largest score comes first; rank='rank'"),
        (lambda: recframe.rec(FRAME).ndcg(log_base=2), "Hint: did you mean 'discount'?"),
        (lambda: recframe.rec(FRAME).ndcg(empty_target_action="skip"), "Hint: did you mean 'undefined'?"),
        (lambda: recframe.rec(FRAME).ndcg(like="microsoft"), "Hint: did you mean 'recommenders'?"),
        (lambda: recframe.rec(FRAME).ndcg(per="User"), "Hint: did you mean 'user'?"),
        (lambda: recframe.rec(FRAME).evaluate("ndcg(5)"), "Hint: write 'ndcg@5'"),
        (lambda: recframe.rec(FRAME).evaluate("median_rank"), "Hint: 'first_rank' with mean='median' for the call"),
        (lambda: recframe.rec(FRAME).mean_rank(), "Hint: did you mean 'first_rank'?"),
        (lambda: recframe.rec(FRAME).evaluate("amri"), "Hint: evaluate first_rank with chance=True"),
        (
            lambda: recframe.rec(FRAME).compare("mrr", **MODELS, alternative="greater"),
            "Hint: the tests of compare are two",
        ),
        (
            lambda: recframe.rec(FRAME).rank_models("mrr", **MODELS, one_sided=True),
            "Hint: the tests of compare are two",
        ),
        (
            lambda: recframe.merge_states(recframe.rec(FRAME).state("mrr", **MODELS)).compare(alternative="less"),
            "margin=0.01 asks whether a model is not worse, and confidence=0.9",
        ),
        (
            lambda: recframe.rec(FRAME).agreement("rbo", **MODELS),
            "Hint: measures='rbo', whose column has this name; k=10",
        ),
        (
            lambda: recframe.rec(FRAME).split(count=2, time="day"),
            "Hint: split(last=1, time=...), split(fraction=0.2, time=...), or leave it out",
        ),
        (
            lambda: recframe.rec(FRAME).bounds("ndcg", truth=FRAME, model="genre"),
            "df.pivot(on='genre', index=['user', 'item'], values='score'), and call wide.rec(score=['x', 'y'], ...)",
        ),
        (
            lambda: recframe.rec(FRAME, model="genre").bounds("ndcg", truth=FRAME),
            "df.pivot(on='genre', index=['user', 'item'], values='score'), and call wide.rec(score=['x', 'y'], ...)",
        ),
        (
            lambda: recframe.rec(FRAME.to_pandas(), model="genre").bounds("ndcg", truth=FRAME.to_pandas()),
            "df.pivot(index=['user', 'item'], columns='genre', values='score').reset_index(), and call wide.rec(score=['x', 'y'], ...)",
        ),
        (
            lambda: recframe.rec(FRAME.to_pandas()).evaluate("ndcg", score=pl.selectors.starts_with("s")),
            "Hint: score=df.select(...).columns, the list of their names",
        ),
        (
            lambda: recframe.rec(FRAME).ndcg(truth={"q": {"d": 1}}),
            "truth is a dict, but the frame is a polars DataFrame",
        ),
        (lambda: recframe.rec(FRAME).ndcg(truth={"q": {"d": 1}}), "Hint: recframe.from_dict makes a frame"),
        (lambda: recframe.rec(FRAME).ndcg(truth="test.csv"), "Hint: read the file first, as with"),
        (lambda: recframe.rec(FRAME).rbp(persistence=0.8), "Hint: did you mean 'p'?"),
        (lambda: recframe.rec(FRAME).map(normalize=True), "Hint: did you mean 'norm'?"),
        (lambda: recframe.rec(FRAME).err(max_grade=4), "Hint: did you mean 'max_relevance'?"),
        (lambda: recframe.rec(FRAME).ndcg(gain="2^rel-1"), "Hint: did you mean 'exp2'?"),
        (lambda: recframe.rec(FRAME).evaluate("mrr@1;map@2"), "Hint: metrics=['mrr@1', 'map@2']"),
        (lambda: recframe.table(FRAME, decimals=3), "Hint: did you mean 'digits'?"),
        (lambda: recframe.read_run("a.run", engine="polars"), "Hint: did you mean 'library'?"),
        (lambda: recframe.from_lists({1: ["a"]}, truth={1: ["a"]}), "Hint: did you mean 'actual'?"),
        (lambda: recframe.ndcg_score, "Hint: it is a method of frames: df.rec.ndcg(...)"),
        (lambda: recframe.average_precision_score, "Hint: it is a method of frames: df.rec.pr_auc(...)"),
        (lambda: recframe.RelevanceEvaluator, "Hint: it is a method of frames: df.rec.evaluate(...)"),
        (lambda: recframe.Qrels, "Hint: did you mean 'from_dict'?"),
        (lambda: recframe.read_parquet, "Hint: metrics are methods of frames"),
        (lambda: recframe.metrics.ndcg_score, "Hint: did you mean 'NDCG'?"),
        (lambda: recframe.metrics.MeanReciprocalRank, "Hint: did you mean 'MRR'?"),
        (lambda: recframe.metrics.RetrievalNormalizedDCG, "Hint: did you mean 'NDCG'?"),
        (lambda: recframe.rec(FRAME).evaluate("ndcg", gain=abs), "Hint: metrics.NDCG(gain=...)"),
        (
            lambda: recframe.rec(FRAME).recall(2, truth=FRAME, per_item="genra"),
            "Hint: did you mean 'genre'?",
        ),
        (lambda: recframe.rec(FRAME).recall(2, truth=FRAME, per_item="seller"), "Hint: join it to truth"),
        (
            lambda: recframe.rec(FRAME).recall(2, truth=FRAME.select("user", "item"), relevant="clicked"),
            "Hint: leave relevant= out, if each row of truth is relevant",
        ),
        (
            lambda: recframe.require(pytest.importorskip("scipy") and FRAME.rec.describe("mrr"), {"mrr": 0.1}),
            "Hint: by='mean', 'low' or 'high' reads",
        ),
        (lambda: recframe.explain(ties="best"), "ties= is about one metric, but the call names no metric"),
        (recframe.rec, "Hint: rec(frame, validate=...)"),
        (lambda: recframe.table(FRAME, k=3), "table: there is no argument 'k'\n\nHint: table(result, metrics=..., "),
        (lambda: recframe.forest(FRAME, k=3), "Hint: forest(result, metrics=...)"),
        (lambda: pytest.importorskip("numpy") and recframe.merge_states(k=3), "Hint: merge_states(states, per=...)"),
        (lambda: recframe.scorer("ndcg", "qid"), "Hint: scorer(metric, by=...)"),
        (recframe.feval, "Hint: feval(metric, library)"),
        (recframe.from_factors, "missing a required argument: 'user_factors'"),
        (lambda: recframe.expr.ndgc, "Hint: did you mean 'ndcg'?"),
        (lambda: recframe.rec(FRAME).plot.bar("mrr"), "plot has no chart 'bar'; it has curve, "),
        (lambda: FRAME.rec.evaluate(recframe.metrics.NDCG), "NDCG is a kind of metric, not a metric\n\nHint: NDCG()"),
        (
            lambda: recframe.metrics.NDCG(at=5),
            "NDCG: there is no argument 'at'\n\nHint: did you mean 'k'?",
        ),
        (lambda: recframe.metrics.Kendall(5), "Kendall: too many positional arguments\n\nHint: Kendall()"),
        (lambda: recframe.metrics.ndcg, "Hint: did you mean 'NDCG'?"),
        (lambda: recframe.rec(FRAME).mrr(undefined="zero"), "such as undefined=0"),
        (lambda: recframe.rec(FRAME).evaluate(Misspelt()), "Hint: did you mean 'hits_before'?"),
        (lambda: recframe.rec(FRAME).ndcg(5, FRAME), "ndcg(5, <polars DataFrame>): only k"),
    ],
)
def test_of_names(call, message):
    if "df.select(...)" in message:
        pytest.importorskip("polars", minversion="1.35")  # before, selectors were expressions
    if "df.pivot(index" in message:
        pytest.importorskip("pyarrow")
    with pytest.raises(recframe.RecError, match=re.escape(message)):
        call()


@pytest.mark.parametrize(
    ("result", "columns", "message"),
    [
        (lambda: FRAME.rec.evaluate(["ndcg", "map"], **MODELS), "segment", "columns='segment' needs segments"),
        (lambda: FRAME.rec.rank_models("ndcg", score=["score", "other"]), "metric", "but these are ranks"),
    ],
)
def test_of_tables(result, columns, message):
    pytest.importorskip("scipy")
    with pytest.raises(recframe.OptionError, match=re.escape(message)):
        recframe.table(result(), columns=columns)


def test_two_columns_of_one_name():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1, 1, 1, 1.0]], columns=["user", "score", "relevant", "score"])
    with pytest.raises(recframe.MissingColumnError, match="score='score': the frame has 2 columns of that name"):
        recframe.rec(frame).ndcg(by="user")


def test_moments_of_numpy():
    np = pytest.importorskip("numpy")
    log = FRAME.with_columns(day=pl.date(2026, 1, 1) + pl.duration(days="day"))
    moments = [np.datetime64("2026-01-04"), dt.date(2026, 1, 4), "2026-01-04"]
    first, *others = [log.rec.split(time="day", since=moment)[1] for moment in moments]
    assert first["item"].to_list() == ["b", "a", "c"][-len(first) :]
    assert all(first.equals(other) for other in others)


class Data:
    """What boosters hand over, with the sizes of lists or without."""

    def __init__(self, sizes):
        self._sizes = sizes

    def get_label(self):
        return [1, 0, 0, 1]

    def get_group(self):
        return self._sizes

    def get_uint_info(self, _):
        return pytest.importorskip("numpy").cumsum([0, *(self._sizes or [])])


def test_the_method_of_fuse_may_stand_by_place():
    rec = recframe.rec(FRAME, **MODELS)
    assert rec.fuse("borda").equals(rec.fuse(method="borda"))
    with pytest.raises(recframe.OptionTypeError, match=r"fuse: too many positional(?s:.*)fuse\(method, name=\.\.\."):
        rec.fuse("borda", "fused")


def test_the_remedies_of_hints_work():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    long = pl.concat([FRAME.select("user", "item", score=name, model=pl.lit(name)) for name in ("score", "other")])
    wide = long.pivot(on="model", index=["user", "item"], values="score")
    other = long.to_pandas().pivot(index=["user", "item"], columns="model", values="score").reset_index()
    assert isinstance(other, pandas.DataFrame)
    (one, two) = (
        recframe.rec(frame, **MODELS).bounds("ndcg", truth=truth)["least"].to_list()
        for frame, truth in ((wide, FRAME), (other, FRAME.to_pandas()))
    )
    assert one == pytest.approx(two)


@pytest.mark.parametrize("library", ["lightgbm", "lightgbm.sklearn", "xgboost"])
def test_boosters_without_groups(library):
    evaluate = recframe.feval("mrr", library=library)

    def call(sizes):
        scores = FRAME["score"].to_numpy()
        return (
            evaluate(Data(None).get_label(), scores, None, sizes)
            if library == "lightgbm.sklearn"
            else evaluate(scores, Data(sizes))
        )

    with pytest.raises(recframe.InputError, match="the data has no groups"):
        call(None)
    assert call([2, 2])[1] == pytest.approx(FRAME.rec.mrr(by="user"))


@pytest.mark.parametrize("call", ["fuse", "tune_fusion", "agreement", "changes"])
def test_what_needs_numpy_names_the_extra(call, monkeypatch):
    monkeypatch.setattr("recframe.errors.find_spec", lambda _: None)
    given = ["ndcg"] if call in ("tune_fusion", "changes") else []
    with pytest.raises(recframe.MissingExtraError, match=r"(?s)packages for \w+ are not installed.*pip install numpy"):
        getattr(recframe.rec(FRAME), call)(*given, score=["score", "other"])
