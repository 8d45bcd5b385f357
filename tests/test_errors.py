"""Bad input: which error, which built-in type it carries, which value and remedy it names."""

from __future__ import annotations

import narwhals as nw
import pytest

import recframe
from recframe import metrics

COLUMNS = {
    "user": [1, 1, 2],
    "item": ["a", "b", "a"],
    "relevant": [1, 0, 1],
    "score": [0.9, 0.8, 0.1],
    "other": [0.1, 0.2, 0.3],
    "place": [1, 2, 1],
    "text": ["x", "y", "z"],
}


def makers():
    for library in ("polars", "pandas"):
        try:
            module = __import__(library)
        except ImportError:
            continue
        yield pytest.param(module.DataFrame, id=library)


@pytest.fixture(params=makers())
def make(request):
    return request.param


def rec(make, **changed):
    return recframe.rec(make(COLUMNS | changed))


CASES = {
    "missing column": (lambda r: r.ndcg(by="usr"), KeyError, "by='usr'.*no such column.*'user'.*did you mean 'user'"),
    "missing score": (lambda r: r.ndcg(score="scores"), KeyError, "score='scores'.*did you mean 'score'"),
    "missing per": (lambda r: r.ndcg(per="country"), KeyError, "per='country'"),
    "missing item": (lambda r: r.ndcg(ties="item", item="sku"), KeyError, "item='sku'"),
    "text score": (lambda r: r.ndcg(score="text"), TypeError, "score='text' has the type .*integer or float.*cast"),
    "text relevance": (
        lambda r: r.ndcg(relevant="text"),
        TypeError,
        "relevant='text' has the type .*but relevance must be bool, integer or float",
    ),
    "k zero": (lambda r: r.ndcg(k=0), ValueError, "k=0 is less than 1.*whole number from 1"),
    "k negative": (lambda r: r.ndcg(k=-3), ValueError, "k=-3 is less than 1"),
    "k bool": (lambda r: r.ndcg(k=True), ValueError, "k=True is of type bool"),
    "k float": (lambda r: r.ndcg(k=5.0), ValueError, "k=5.0 is of type float"),
    "k text": (lambda r: r.ndcg(k="5"), ValueError, "k='5' is of type str"),
    "k list": (lambda r: r.ndcg(k=[1, 2]), ValueError, r"k=\[1, 2\] is of type list.*evaluate"),
    "k bytes": (lambda r: r.evaluate(["ndcg"], k=b"5"), ValueError, "k=b'5' is of type bytes"),
    "k of evaluate": (lambda r: r.evaluate(["ndcg"], k=[5, 0]), ValueError, "k=0 is less than 1"),
    "k empty": (lambda r: r.evaluate(["ndcg"], k=[]), ValueError, r"k=\[\] is empty"),
    "k in a string": (lambda r: r.evaluate(["ndcg@0"]), ValueError, "k=0 is less than 1"),
    "k word in a string": (lambda r: r.evaluate(["ndcg@ten"]), ValueError, "k='ten'"),
    "k where none is accepted": (lambda r: r.r_precision(5), ValueError, "r_precision.*accepts no k"),
    "k in a string where none is accepted": (
        lambda r: r.evaluate(["r_precision@5"]),
        ValueError,
        "r_precision has no option 'k'",
    ),
    "unknown metric": (lambda r: r.evaluate(["ndgc"]), ValueError, "'ndgc' is unknown.*did you mean 'ndcg'"),
    "no metric's name": (lambda r: r.evaluate(["ndcg@5@6"]), ValueError, "'ndcg@5@6' is not the name of a metric"),
    "option without value": (lambda r: r.evaluate(["ndcg(gain)@5"]), ValueError, "option 'gain' has no value"),
    "unknown option": (lambda r: r.ndcg(gian="exp2"), ValueError, "no option 'gian'.*did you mean 'gain'"),
    "unknown option in a string": (lambda r: r.evaluate(["ndcg(gian=exp2)"]), ValueError, "did you mean 'gain'"),
    "unknown role": (lambda r: r.ndcg(scor="score"), TypeError, "'scor'.*did you mean 'score'"),
    "unknown role of evaluate": (lambda r: r.evaluate(["ndcg"], buy="user"), TypeError, "no argument 'buy'"),
    "unknown bound role": (lambda r: r(scor="score"), TypeError, "'scor'.*did you mean 'score'"),
    "bad gain": (lambda r: r.ndcg(gain="exp"), ValueError, "gain='exp' is not one of 'linear', 'exp2'"),
    "bad discount": (lambda r: r.dcg(discount="log10"), ValueError, "discount='log10' is not one of"),
    "discount of no kind": (lambda r: r.dcg(discount=2), TypeError, "discount=2 does not map positions to numbers"),
    "weight below 0": (lambda r: r.dcg(discount=[1, -1]), ValueError, "gives position 2 the weight -1"),
    "weight that rises": (lambda r: r.ndcg(discount={1: 1, 3: 0.5}), ValueError, "rises from 0 at position 2 to 0.5"),
    "no weight": (lambda r: r.dcg(discount=[0, 0]), ValueError, "has no weight above 0"),
    "bad norm": (lambda r: r.map(norm="n"), ValueError, "norm='n' is not one of"),
    "bad p": (lambda r: r.rbp(p=1.5), ValueError, "p=1.5 is not between 0 and 1"),
    "text p": (lambda r: r.rbp(p="half"), TypeError, "p='half' is not a number"),
    "bad capped": (lambda r: r.recall(capped="yes"), TypeError, "capped='yes'"),
    "bad ties": (lambda r: r.ndcg(ties="mean"), ValueError, "ties='mean' is not one of 'average'"),
    "bad undefined": (
        lambda r: r.ndcg(undefined="drop"),
        ValueError,
        "undefined='drop' is not 'skip', 'raise', 'raise_all' or a number",
    ),
    "undefined none": (lambda r: r.ndcg(undefined=None), ValueError, "undefined=None"),
    "text min_relevance": (lambda r: r.ndcg(min_relevance="3"), TypeError, "min_relevance='3' is not a number"),
    "nan min_relevance": (lambda r: r.ndcg(min_relevance=float("nan")), ValueError, "min_relevance=nan"),
    "score and rank": (
        lambda r: r.ndcg(score="score", rank="place"),
        ValueError,
        "score='score' and rank='place' exclude each other",
    ),
    "several models": (lambda r: r.ndcg(score=["score", "other"]), ValueError, "names several models.*evaluate"),
    "model of a method": (lambda r: r.ndcg(model="text"), ValueError, "names several models"),
    "models twice": (
        lambda r: r.evaluate(["ndcg"], score=["score", "other"], model="text"),
        ValueError,
        "names several models, and so does model",
    ),
    "same model twice": (lambda r: r.evaluate(["ndcg"], score=["score", "score"]), ValueError, "names a column twice"),
    "no model": (lambda r: r.evaluate(["ndcg"], score=[]), ValueError, "names no column"),
    "no metrics": (lambda r: r.evaluate([]), ValueError, "list of metrics is empty"),
    "metrics of no kind": (lambda r: r.evaluate(5), TypeError, "metrics=5 is no list of metrics"),
    "metric of no kind": (lambda r: r.evaluate([5]), TypeError, "5 is neither the name of a metric nor a metric"),
    "metric class": (lambda r: r.evaluate([metrics.NDCG]), TypeError, r"NDCG is a kind of metric.*NDCG\(\)"),
    "duplicate output": (
        lambda r: r.evaluate(["ndcg", "ndcg@5"], k=5),
        ValueError,
        "several columns of the name 'ndcg@5'.*Hint: name each metric and each cutoff once",
    ),
    "duplicate cutoff": (lambda r: r.evaluate("ndcg", k=[5, 5]), ValueError, "Hint: name each metric and each cutoff"),
    "k of numbers": (lambda r: r.evaluate("ndcg", "1,2"), TypeError, r"k='1,2' is no cutoff.*Hint: k=\[5, 10\]"),
    "k of models": (lambda r: r.evaluate("ndcg", "old"), TypeError, "k='old' is no cutoff.*models score="),
    "bytes": (lambda r: r.evaluate(b"ndcg"), TypeError, "b'ndcg' is neither the name of a metric.*Hint: 'ndcg@10'"),
    "second positional": (lambda r: r.ndcg(5, "user"), TypeError, "only k may be given by position"),
    "rank from zero": (
        lambda r: r.ndcg(rank="relevant"),
        ValueError,
        "rank='relevant' holds 0, but a rank is a whole number from 1.*add 1 to ranks from 0; for scores",
    ),
    "rank between": (lambda r: r.ndcg(rank="other"), ValueError, "rank='other' holds 0.1"),
    "truth of no kind": (lambda r: r.ndcg(truth=[1]), TypeError, "truth is a .*list, but the frame is a"),
    "set of columns": (lambda r: r.ndcg(score={"other"}), TypeError, r"{'other'} is not the name.*score=\['other'\]"),
    "column of no kind": (lambda r: r.ndcg(item=None, ties="item"), TypeError, "item=None is not the name of a column"),
}


@pytest.mark.parametrize("case", list(CASES))
def test_bad_input_is_named(make, case):
    call, builtin, pattern = CASES[case]
    with pytest.raises(recframe.RecError, match=f"(?s){pattern}") as caught:
        call(rec(make))
    assert isinstance(caught.value, builtin)


def test_what_is_no_frame_is_named():
    with pytest.raises(TypeError, match=r"(?s)a list is no frame.*polars DataFrame or LazyFrame"):
        recframe.rec([1, 2])
    with pytest.raises(TypeError, match=r"(?s)a narwhals Series is no frame.*give its to_native\(\)"):
        recframe.rec(nw.from_native(recframe.from_lists([[1]]))["user"])


class AnyAttribute:
    """A frame that has a column for any name, as those of SQLFrame have."""

    def __getattr__(self, name):
        return f"column {name}"


def test_hints_do_not_rest_on_attributes_that_a_frame_makes_up():
    with pytest.raises(TypeError, match="AnyAttribute is no frame") as caught:
        recframe.rec(AnyAttribute())
    assert "to_native" not in str(caught.value)
    of_sqlframe = type("DuckDBDataFrame", (AnyAttribute,), {"__module__": "sqlframe.duckdb.dataframe"})
    with pytest.raises(
        TypeError, match=r"(?s)a sqlframe DuckDBDataFrame is no frame.*fetch the rows with toPandas\(\)"
    ):
        recframe.rec(of_sqlframe())


READS_OF_TRUTH = {
    "relevance": lambda rec, truth: rec.ndcg(truth=truth),
    "groups": lambda rec, truth: rec.awrf(group="text", truth=truth),
    "groups of a table": lambda rec, truth: rec.evaluate("awrf", group="text", truth=truth),
    "exposure": lambda rec, truth: rec.exposure(group="text", truth=truth),
}


@pytest.mark.parametrize("call", READS_OF_TRUTH.values(), ids=list(READS_OF_TRUTH))
def test_truth_of_another_kind_is_named(call):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for frame, truth in (
        (pl.DataFrame, pd.DataFrame),
        (pd.DataFrame, pl.DataFrame),
        (pl.DataFrame, pl.LazyFrame),
        (pl.LazyFrame, pd.DataFrame),
        (pl.DataFrame, dict),
    ):
        with pytest.raises(TypeError, match="(?s)truth is a .* but the frame is a .*give both as"):
            call(frame(COLUMNS).rec, truth(COLUMNS))


def test_keys_of_types_that_never_match_are_named(make):
    truth = make({"user": ["1", "2"], "item": ["a", "b"]})
    with pytest.raises(TypeError, match=r"(?s)by='user' has the type .* in the frame, but .* in truth"):
        rec(make).ndcg(truth=truth)


def test_a_frame_without_columns_is_named(make):
    for frame, given in ((make({}), {}), (make(COLUMNS), {"truth": make({})})):
        with pytest.raises(recframe.MissingColumnError, match="has no such columns?; it has no columns"):
            recframe.rec(frame).ndcg(**given)


def test_undefined_lists_can_be_an_error(make):
    frame = rec(make, relevant=[0, 0, 1])
    with pytest.raises(recframe.UndefinedError, match=r"(?s)1 list has no ndcg@5.*user.*1.*Hint: undefined='skip'"):
        frame.ndcg(5, undefined="raise")
    assert frame.ndcg(5, undefined=0.0) == pytest.approx(0.5)
    assert frame.ndcg(5) == 1.0


def test_nothing_defined_is_nan_with_a_warning_that_points_here(make):
    frame = rec(make, relevant=[0, 0, 0])
    with pytest.warns(recframe.UndefinedWarning, match="no list has a value of ndcg@5") as caught:
        value = frame.ndcg(5)
    assert value != value  # noqa: PLR0124 - NaN
    assert caught[0].filename == __file__
    # In a frame it is missing, without a warning.
    result = frame.evaluate(["ndcg"], k=5)
    (missing,) = list(result["ndcg@5"])
    assert missing is None or missing != missing  # noqa: PLR0124


@pytest.mark.parametrize(
    ("columns", "missing", "hint"),
    [
        *(
            (("user", "item", "score", name), "relevant", f"relevant='{name}'")
            for name in ("rating", "label", "clicked", "click", "grade", "rel")
        ),
        (("user", "item", "score", "is_relevant"), "relevant", "did you mean 'is_relevant'"),
        (("user", "item", "score", "clicked", "Rating"), "relevant", "relevant='Rating' or relevant='clicked'"),
        (("customer_id", "item", "score", "relevant"), "user", "by='customer_id'"),
        (("user", "item", "pred", "relevant"), "score", "score='pred'"),
        (("user", "item", "score"), "relevant", "truth=, if another frame holds"),
        (("user", "item", "relevant", "old", "new"), "score", "score= names the column that holds it"),
    ],
)
def test_a_column_that_likely_has_the_role_is_named(make, columns, missing, hint):
    frame = make({name: [1, 2] for name in columns})
    with pytest.raises(
        recframe.MissingColumnError, match=f"(?s)='{missing}': the frame has no such column.*Hint: {hint}"
    ):
        frame.rec.ndcg(10)


UNREAD = {
    "ndcg": "item='itm': the frame has",
    "coverage": "relevant='itm': the frame has",
    "mrr": "value='itm': the frame has",
    "map": "subtopic='itm': truth has",
}
"""What metrics do not read, and what is said where the call names it."""


@pytest.mark.parametrize("metric", list(UNREAD))
def test_what_the_call_names_must_be_there_even_if_no_metric_reads_it(engine, metric):
    frame, truth = engine.frames(*[[{"user": 1, "item": "a", "relevant": 1, "score": 0.5}]] * 2)
    rec, role = recframe.rec(frame, validate=True), UNREAD[metric].partition("=")[0]
    more = {"truth": truth} if role == "subtopic" else {}
    for call in (getattr(rec, metric), lambda k, **given: rec.evaluate([metric], k, **given)):
        with pytest.raises(recframe.MissingColumnError, match=UNREAD[metric]) as caught:
            call(2, **{role: "itm"}, **more)
        assert "Hint: " in str(caught.value)
    # Of two frames, either may have the values; roles that are bound or configured are for several calls.
    rec.ndcg(2, value="itm", truth=truth)
    with recframe.Config(**{role: "itm"}) if role in ("item", "value") else recframe.Config():
        rec(**{role: "itm"}).evaluate([metric], k=2, **more)


@pytest.mark.parametrize(
    ("columns", "hint"),
    [
        (("customer", "item"), "in truth, rename 'customer' to 'user'"),
        (("user_id", "item"), "in truth, rename 'user_id' to 'user'"),
        (("who", "item"), "in truth, rename the column that holds it to 'user'"),
        (("user", "time", "sku"), "in truth, rename 'sku' to 'item'"),
    ],
)
def test_keys_of_the_truth_are_to_be_renamed(make, columns, hint):
    frame = make({"user": [1], "item": [1], "score": [1]})
    with pytest.raises(
        recframe.MissingColumnError, match=f"(?s)truth has no such column.*columns of one name: {hint}$"
    ):
        frame.rec.ndcg(10, truth=make({name: [1] for name in columns}))


MOVIES = {"userId": [1, 1], "movieId": [1, 2], "rating": [1, 0], "prediction": [0.2, 0.1]}


@pytest.mark.parametrize(
    ("columns", "truth", "hint"),
    [
        (MOVIES, None, r"df.rec\(by='userId', item='movieId', relevant='rating', score='prediction'\)"),
        (MOVIES, MOVIES, r"df.rec\(by='userId', item='movieId', relevant='rating', score='prediction'\)"),
        (
            MOVIES,
            {"user_id": [1], "movie": [1]},
            (
                r"df.rec\(by='userId', item='movieId', score='prediction'\); frames are matched by columns of one name:"
                " in truth, rename 'user_id' to 'userId' and 'movie' to 'movieId'"
            ),
        ),
        # Of two likely columns, the one that both frames have.
        (
            {"session": [1], "customer": [1], "sku": [1], "pred": [0.1]},
            {"session": [1], "sku": [1]},
            r"df.rec\(by='session', item='sku', score='pred'\)",
        ),
        (
            {"who": [1], "sku": [1], "rank": [1], "grade": [1]},
            None,
            r"df.rec\(item='sku', relevant='grade'(, rank='rank')?\); by=None, if the frame is one list",
        ),
    ],
)
def test_all_missing_roles_are_in_one_error(engine, columns, truth, hint):
    def frame_of(columns):
        return engine.frame([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])

    given = {} if truth is None else {"truth": frame_of(truth)}
    with pytest.raises(
        recframe.MissingColumnError, match=f"(?s)by='user'.*: the frame has no such.*Hint: {hint}"
    ) as one:
        engine.ask(frame_of(columns), "evaluate", ["ndcg", "coverage"], **given)
    assert str(one.value).count("Hint") == 1
    if "rec(by='userId', item='movieId'" in hint and "rename" not in hint:
        roles = {"by": "userId", "item": "movieId", "relevant": "rating", "score": "prediction"}
        assert len(engine.ask(frame_of(columns), "evaluate", ["ndcg", "coverage"], **given, **roles)) == 1


def test_a_score_with_no_likely_column_is_asked_for(engine):
    frame = engine.frame([{"user": 1, "x": 1}])
    with pytest.raises(recframe.MissingColumnError, match=r"Hint: score= names the column that holds it; truth="):
        engine.ask(frame, "evaluate", ["ndcg"])


def test_of_several_keys_and_models_the_others_stay(make):
    frame = make({"userId": [1], "day": [1], "item": [1], "relevant": [1], "old": [0.1], "newest": [0.2]})
    with pytest.raises(
        recframe.MissingColumnError,
        match=r"(?s)by='user', score='newst': .*Hint: df.rec\(by=\['userId', 'day'\], score=\['old', 'newest'\]\)$",
    ):
        frame.rec.evaluate("ndcg", by=["user", "day"], score=["old", "newst"])


@pytest.mark.parametrize("role", ["per", "weight", "cluster"])
def test_a_column_of_another_frame_is_to_be_joined(make, role):
    if role == "cluster":
        pytest.importorskip("scipy")
    frame, train = make(COLUMNS), make({"user": [1], "item": ["a"], "age": [30]})
    call = frame.rec.describe if role == "cluster" else frame.rec.evaluate
    joined = "df.merge(users, on='user')" if make.__module__.startswith("pandas") else "df.join(users, 'user')"
    with pytest.raises(recframe.MissingColumnError) as caught:
        call(["ndcg"], **{role: "age"})
    assert str(caught.value).endswith(f"Hint: if another frame has it, join it to the frame first, as in {joined}")
    with pytest.raises(recframe.MissingColumnError) as caught:
        call(["novelty"], **{role: "age"}, train=train, truth=make(COLUMNS))
    assert str(caught.value).endswith(f"Hint: train has it: join it to the frame or to truth first, as in {joined}")


def test_a_key_that_both_frames_have_is_named(make):
    frame = make(MOVIES)
    with pytest.raises(recframe.MissingColumnError, match="(?s)by='user': train .*Hint: by='userId', which both"):
        frame.rec.add_popular(frame, item="movieId")
    assert len(frame.rec.add_popular(frame, item="movieId", by="userId")) == 2


def test_a_column_of_lists_is_to_be_exploded(make):
    frame = make({"user": [1], "relevant": [[1, 0]], "score": [[0.1, 0.2]]})
    with pytest.raises(
        recframe.ColumnTypeError,
        match=r"(?s)has the type .*[Ll]ist.*one row an item: see recframe.from_lists, or explode",
    ):
        frame.rec.ndcg(10)


def test_several_values_of_an_attribute_are_named(make):
    frame = make({"user": [1, 1], "item": ["a", "b"], "score": [2.0, 1.0]})
    truth = make({"user": [1, 1], "item": ["a", "b"], "country": ["de", "fr"]})
    with pytest.raises(
        recframe.InputError, match=r"(?s)per='country' has several values within a list.*by=\['user', 'country'\]"
    ):
        frame.rec.ndcg(truth=truth, per="country")


def test_a_missing_extra_is_named():
    error = recframe.MissingExtraError.of("the command line", "cli")
    assert isinstance(error, ImportError)
    assert "pip install click polars" in str(error)
    assert str(error).startswith("packages for the command line are not installed")


SIDE = {"features": ["x", [1], {"a": 1}], "train": ["x", [1], {"a": 1}]}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in SIDE.items() for value in values])
def test_side_information_is_a_frame(make, name, value):
    metric = {"features": "diversity", "train": "novelty"}[name]
    with pytest.raises(recframe.OptionTypeError, match=f"{name} is an? {type(value).__name__}"):
        rec(make).evaluate(f"{metric}@2", **{name: value})


def test_a_role_needs_its_name(make):
    for call in (rec(make), lambda role: recframe.rec(make(COLUMNS), role)):
        with pytest.raises(recframe.OptionTypeError, match="'user' lacks the name of its role"):
            call("user")


@pytest.mark.parametrize("k", [2**31, 2**70, 10**40])
def test_a_cutoff_has_an_end(make, k):
    with pytest.raises(recframe.OptionError, match=f"k={k} is more than 2147483647"):
        rec(make).ndcg(k)


def test_what_lists_are_made_of(make):
    with pytest.raises(recframe.OptionError, match=r"by=\[\] names no column"):
        recframe.candidates([1], [1], by=[])
    with pytest.raises(recframe.OptionTypeError, match="recommended=None"):
        recframe.from_lists(None, None)
    with pytest.raises(recframe.RecError, match="users=5"):
        recframe.from_lists([["a"]], [["a"]], users=5)
    with pytest.raises(recframe.OptionTypeError, match="gives 1 the price 'a', which is not a number"):
        recframe.from_lists("got", "did", frame=make({"got": [[1]], "did": [[1]]}), prices={1: "a"})
