"""Metrics that users write: no metric corrupts another, and none is silently wrong."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, fields
from typing import ClassVar

import narwhals as nw
import pytest

import recframe
from recframe import metrics
from recframe._base.roles import Roles
from recframe._plan.call_frames import CallFrames
from recframe._plan.collect_terms import requirements_of
from recframe._plan.plan import Plan
from recframe._plan.query import Query
from recframe.metrics import METRICS
from recframe.metrics._options import bounds
from spellings import spellings_of

pl = pytest.importorskip("polars")

FRAME = pl.DataFrame({
    "user": [1, 1, 1, 1, 2, 2, 2, 2],
    "item": ["a", "b", "c", "d", "a", "c", "d", "e"],
    "relevant": [1, 0, 2, 0, 0, 1, 0, 0],
    "score": [0.9, 0.8, 0.8, 0.1, 0.9, 0.8, 0.5, None],
    "price": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
})  # fmt: skip
TRAIN = pl.DataFrame({"user": [1, 1, 2, 3, 3], "item": ["a", "e", "a", "a", "b"]})
FEATURES = pl.DataFrame({"item": ["a", "b", "c", "d"], "drama": [1, 1, 0, 0], "comedy": [0, 1, 1, 1]})


@dataclass(frozen=True)
class Graded(metrics.Precision):
    """A subclass of a built-in metric whose own term is called as that of its base class."""

    name: ClassVar[str] = "graded"

    def terms(self, row):
        return {"hits": row.relevance * row.within(self.k)}


@pytest.mark.parametrize("chosen", [["precision@3", Graded(3)], [Graded(3), "precision@3"]])
def test_terms_of_the_same_name_do_not_mix(chosen):
    frame = FRAME.filter(user=1)
    result = frame.rec.evaluate(chosen).row(0, named=True)
    assert result == pytest.approx({"precision@3": 2 / 3, "graded@3": 1.0})


def halved(position):
    return 1 / (2 * position)


def inverse(position):
    return 1 / position


FUNCTIONS = [metrics.NDCG(2, discount=halved), metrics.NDCG(2, discount=inverse), metrics.DCG(2, discount=inverse)]
CHANCES = [metrics.PFound(2, probability={0.5: 0.1, 1: 0.4}), metrics.PFound(2, probability={0: 0.2, 0.5: 0.1, 1: 0.4})]


@pytest.mark.slow
def test_every_option_of_every_metric_computed_with_the_others():
    # An option that the sums of two variants forget would let one of them read the other's sum.
    relevant = FRAME.with_columns(relevant=pl.col("relevant") / 2)
    sides = {"train": TRAIN, "features": FEATURES, "catalog": 7, "value": "price"}
    several = [metrics.parse(label) for name in METRICS for label in spellings_of(name, (1, 2, None))]
    several = list({metric.label: metric for metric in [*several, *FUNCTIONS, *CHANCES]}.values())
    assert len(several) > 150
    together = relevant.rec.evaluate(several, **sides).row(0, named=True)
    backwards = relevant.rec.evaluate(several[::-1], **sides).row(0, named=True)
    for metric in several:
        needed = {
            name: sides[name]
            for name in sides
            if name == "value" or name in (*metric.required_inputs, *metric.optional_inputs)
        }
        alone = relevant.rec.evaluate([metric], **needed).item()
        assert together[metric.label] == pytest.approx(alone, abs=1e-12, nan_ok=True), metric
        assert backwards[metric.label] == pytest.approx(alone, abs=1e-12, nan_ok=True), metric


def test_a_metric_that_reads_the_number_of_relevant_rows_sees_rows_past_that_position():
    class ByRelevant(recframe.Metric):
        name = "by_relevant"

        def terms(self, row):
            return {"share": row.hit / row.relevant_in_list}

        def value(self, sums):
            return sums["share"]

    frame = pl.DataFrame({"user": [1, 1, 1], "relevant": [0, 0, 1], "score": [3, 2, 1]})
    assert frame.rec.evaluate(ByRelevant()).item() == 1


def test_metrics_that_compute_the_same_sum_it_once():
    several = [metrics.Precision(3), metrics.Recall(3, capped=True), metrics.F1(3), metrics.DCG(3), metrics.NDCG(3)]
    assert len(requirements_of(several, Query.of(Roles()), 0, truth=False).sum_columns) == 3


def test_what_a_call_requires_does_not_change():
    required = requirements_of([metrics.NDCG(3)], Query.of(Roles()), 0, truth=False)
    for each in fields(required):
        with pytest.raises(FrozenInstanceError):
            setattr(required, each.name, None)
        assert not isinstance(getattr(required, each.name), (list, set))


def test_metrics_of_one_label_keep_nothing_for_each_other():
    def of(terms):
        class Mine(recframe.Metric):
            name = "mine"

            def terms(self, row):
                return {"sum": terms(row)}

            def value(self, sums):
                return sums["sum"]

        return Mine()

    frame = pl.DataFrame({"relevant": [0, 1, 1], "score": [3, 2, 1], "price": [5.0, 2.0, 0.5]})
    query = Query.of(Roles(by=None, value="price"))
    reads = [(lambda row: row.hit, 2.0), (lambda row: row.value, 7.5), (lambda row: 2 * row.hit, 4.0)]
    for terms, expected in reads:
        assert Plan(CallFrames(frame), query, [of(terms)]).scalar() == expected
    assert Plan(CallFrames(frame), query, [metrics.Precision(2)]).scalar() == 0.5

    class Precision(metrics.Precision):
        def terms(self, row):
            return {name: term * row.value for name, term in super().terms(row).items()}

    assert Precision(2).label == metrics.Precision(2).label
    assert Plan(CallFrames(frame), query, [Precision(2)]).scalar() == 1.0


@pytest.mark.parametrize("tied", [False, True])
def test_the_terms_of_a_metric_are_collected_once(tied):
    requested = []

    class Counted(metrics.NDCG):
        def terms(self, row):
            requested.append("terms")
            return super().terms(row)

        def best_terms(self, row):
            requested.append("best_terms")
            return super().best_terms(row)

        def value(self, sums):
            requested.append("value")
            return super().value(sums)

    frame = FRAME if tied else FRAME.with_columns(score=pl.lit(pl.Series([8, 7, 6, 5, 4, 3, 2, 1])))
    frame.rec.evaluate(Counted(2))
    assert sorted(requested) == ["best_terms", "terms", "value"]


def test_a_term_has_one_meaning_within_its_metric():
    class Twice(recframe.Metric):
        name = "twice"

        def terms(self, row):
            return {"gain": row.relevance}

        def best_terms(self, row):
            return {"gain": row.relevance}

        def value(self, sums):
            return sums["gain"]

    with pytest.raises(recframe.OptionError, match=r"'twice' has two terms of the name 'gain'"):
        FRAME.rec.evaluate(Twice())


class Irrelevant(recframe.CutMetric):
    name = "irrelevant"

    def terms(self, row):
        return {"others": (1 - row.hit) * row.within(self.k)}

    def value(self, sums):
        return sums["others"] / sums.ranked(self.k)


def test_a_metric_sees_every_row_unless_it_says_otherwise():
    frame = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 0], "score": [3, 2, 1]})
    assert frame.rec.evaluate(Irrelevant()).item() == pytest.approx(2 / 3)
    assert frame.rec.evaluate([Irrelevant(2), "precision@2", "ndcg"]).row(0)[:2] == (0.5, 0.5)


class PerCutoff(recframe.CutMetric):
    name = "per_cutoff"

    def terms(self, row):
        return {"hits": row.hit * row.within(self.k)}

    def value(self, sums):
        return sums["hits"] / self.k


class Shrunk(recframe.Metric):
    """0/0 where every relevance is 1."""

    name = "shrunk"

    def terms(self, row):
        return {"more": row.hit * (row.relevance - 1)}

    def value(self, sums):
        return sums["more"] / sums["more"]


@pytest.mark.parametrize(("metric", "count"), [(PerCutoff(), 2), (Shrunk(), 1)], ids=str)
def test_a_value_that_is_missing_where_it_is_defined_is_an_error(engine, metric, count):
    rows = [{"user": user, "item": item, "relevant": item * user, "score": 1.0} for user in (1, 2) for item in (0, 1)]
    if engine.lazy:
        # Nothing can be looked at: the mean is NaN, not that of the other lists.
        assert engine.ask(engine.frame(rows), "evaluate", [metric])[0][metric.label] is None
        return
    message = rf"'{metric.name}' (defines {count} lists? but gives no finite value or weight, such as|cannot be computed: .*NoneType)"
    with pytest.raises(recframe.InputError, match=message) as raised:
        engine.ask(engine.frame(rows), "evaluate", ["ndcg", metric])
    assert "sums.ranked(self.k)" in str(raised.value)
    with pytest.raises(recframe.InputError, match=metric.name):
        engine.ask(engine.frame(rows), "contributions", metric)


def test_a_metric_of_all_lists_that_lacks_its_value_is_an_error():
    class Shown(metrics.ExposureMetric):
        name = "top_rows"

        def recommended_terms(self, row):
            return {"exposures": row.within(self.k)}

        def item_terms(self, item):
            return {"nothing": item["exposures"] * 0}

        def value(self, sums):
            return sums["nothing"] / sums["nothing"]

    with pytest.raises(
        recframe.InputError, match="'top_rows' defines 1 value of `per` but gives no finite value or weight"
    ):
        FRAME.rec.evaluate(Shown())


def test_metrics_of_all_lists_share_what_a_function_makes_of_the_same_sums():
    class Often(metrics.ExposureMetric):
        name = "often"

        def recommended_terms(self, row):
            return {"exposures": row.within(self.k)}

        def item_terms(self, item):
            return {"often": item.shared(more_than_once)}

        def value(self, sums):
            return sums["often"]

    frame = pl.DataFrame({"user": [1, 1, 2, 2, 3], "item": ["a", "b", "b", "a", "b"], "score": [2, 1, 2, 1, 1]})
    assert frame.rec.evaluate([Often(1), Often(2)]).row(0) == (1, 2)
    assert frame.rec.evaluate([Often(2), Often(1)]).row(0) == (2, 1)


def more_than_once(item):
    return (item["exposures"] > 1).cast(nw.Float64())


def broken(**methods):
    own = {"name": "broken", "terms": lambda self, row: {"hits": row.hit}, "value": lambda self, sums: sums["hits"]}
    return type("Broken", (recframe.Metric,), own | methods)()


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"terms": lambda self, row: {"hits": 1.0}}, r"term 'hits' of metric 'broken' is 1.0, which is not a Narwhals"),
        (
            {"terms": lambda self, row: {"hits": row.hit / row.hit.max()}},
            r"term 'hits' .* reads other rows than its own",
        ),
        ({"value": lambda self, sums: None}, r"value\(\) of metric 'broken' returns None"),
        ({"value": lambda self, sums: sums["hits"].rank()}, r"value\(\) of .* reads other rows than its own"),
        ({"value": lambda self, sums: sums["hist"]}, r"sum of 'hist', but the metric's terms are 'hits'"),
        ({"share_terms": lambda self, row: {"hits": row.hit}}, r"'broken' has two terms of the name 'hits'"),
    ],
)
def test_a_broken_metric_gets_an_error_that_names_the_fault(methods, message):
    with pytest.raises(recframe.OptionError, match=message):
        FRAME.rec.contributions(broken(**methods))


@dataclass(frozen=True)
class FirstAndOthers(recframe.CutMetric):
    """The irrelevant rows, a term that is not 0 where a row is one place in a tied block."""

    name: ClassVar[str] = "first_and_others"

    def terms(self, row):
        return {"both": (1 - row.hit) + row.first_hit(inverse, self.k)}

    def value(self, sums):
        return sums["both"]


def test_places_of_tied_blocks_add_only_what_they_stand_for(engine):
    rows = [{"user": 1, "item": item, "relevant": int(item < 2), "score": 1.0} for item in range(4)]
    result = engine.ask(engine.frame(rows), "evaluate", [FirstAndOthers(), "mrr"])[0]
    assert result["first_and_others"] == pytest.approx(2 + result["mrr"])


def test_a_type_for_checkers_only_leaves_the_other_options_checked():
    @dataclass(frozen=True)
    class Mine(metrics.Precision):
        name: ClassVar[str] = "mine"
        unknown: NoSuchType = 1  # noqa: F821 - what a TYPE_CHECKING import leaves
        base: float = field(default=2.0, metadata=bounds(above=0))

    for wrong in ({"k": -1}, {"k": 2.5}, {"k": "3"}, {"base": 0}, {"base": "high"}):
        with pytest.raises(recframe.errors.OptionError, match=f"^{next(iter(wrong))}="):
            Mine(**wrong)
    assert Mine(3, unknown=object).k == 3


def test_no_two_labels_have_one_column():
    def made(label):
        class Made(metrics.Precision):
            name: ClassVar[str] = label

        return Made(1)

    some = [made(label) for label in ("a.b", "a·b", "a·0b", "a·.b", "a.·b")]
    assert len({metric.column for metric in some}) == len(some)
    assert not any("." in metric.column for metric in some)
    assert FRAME.rec.evaluate(some).columns == [metric.label for metric in some]


def custom(**members):
    """Return a metric of some members: the hits of a list, if nothing else is said."""
    plain = {"name": "custom", "terms": lambda _, row: {"hits": row.hit}, "value": lambda _, sums: sums["hits"]}
    return type("Custom", (recframe.Metric,), plain | members)


@pytest.mark.parametrize("wrong", [None, [], 1.0])
@pytest.mark.parametrize("method", ["terms", "best_terms", "share_terms"])
def test_terms_have_names(method, wrong):
    metric = custom(**{method: lambda *_: wrong})()
    with pytest.raises(
        recframe.errors.OptionTypeError, match="the terms of metric 'custom' are .*, which is not a mapping"
    ):
        FRAME.rec.contributions(metric) if method == "share_terms" else FRAME.rec.evaluate(metric)


@pytest.mark.parametrize("method", ["value", "defined", "weighting"])
def test_what_methods_return_is_an_expression(method):
    with pytest.raises(recframe.errors.OptionTypeError, match=rf"{method}\(\) of metric 'custom' returns 2.0, which"):
        FRAME.rec.evaluate(custom(**{method: lambda *_: 2.0})())


def test_a_number_defines_lists_where_it_is_not_0():
    metric = custom(defined=lambda _, sums: sums["hits"] - 1)
    assert FRAME.rec.evaluate(metric()).item() == 2.0
    assert FRAME.lazy().rec.evaluate(metric()).collect().item() == 2.0


@pytest.mark.parametrize("name", ["", " ", "a\x1bb", "a\nb"])
def test_names_of_metrics_are_words(name):
    with pytest.raises(recframe.errors.OptionTypeError, match="is not the name of a metric"):
        FRAME.rec.evaluate(custom(name=name)())


def test_reads_is_one_of_its_words():
    with pytest.raises(
        recframe.errors.OptionError, match="reads of custom='foo' is not one of 'hits', 'graded', 'all'"
    ):
        FRAME.rec.evaluate(custom(reads="foo")())


@pytest.mark.parametrize(
    "members",
    [
        {"value": lambda _, sums: 1 / (sums["hits"] - 2)},
        {"value": lambda _, sums: -1 / (sums["hits"] - 2)},
        {"weighting": lambda _, sums: sums["hits"] - 2},
        {"weighting": lambda _, sums: 1 / (sums["hits"] - 2)},
    ],
    ids=["endless", "minus endless", "below 0", "endless weight"],
)
@pytest.mark.parametrize("frames", ["polars", "pandas"])
def test_endless_values_and_weights_below_0_are_errors(frames, members):
    frame = FRAME if frames == "polars" else pytest.importorskip("pandas").DataFrame(FRAME.to_dict(as_series=False))
    with pytest.raises(recframe.InputError, match="metric 'custom' defines . lists? but gives no finite value"):
        frame.rec.evaluate(custom(**members)())


def test_shared_terms_know_1_from_true():
    def kind(row, number):
        return row.hit * (10 if number is True else 1)

    both = custom(
        terms=lambda _, row: {"one": row.shared(kind, 1), "true": row.shared(kind, True), "in": row.shared(kind, (1,))},
        value=lambda _, sums: sums["true"] - sums["one"],
    )
    assert FRAME.filter(user=2).rec.evaluate(both()).item() == 9.0


class OnlyShare(recframe.Metric):
    name = "only_share"

    def terms(self, row):
        return {"hits": row.hit * row.weight(lambda position: 1 / position, None)}

    def share(self, row, sums):
        return row["hits"] / sums.relevant


def test_the_value_is_the_share_of_all_rows_unless_a_metric_says_it():
    both = type("Both", (OnlyShare,), {"value": lambda _, sums: sums["hits"] / sums.relevant})
    assert FRAME.rec.evaluate(OnlyShare()).item() == FRAME.rec.evaluate(both()).item()
