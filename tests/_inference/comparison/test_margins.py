"""Several margins in one call, the p-value of a margin, and margins that no difference reaches."""

import numpy as np
import pytest

pytest.importorskip("scipy")

import recframe

METRICS = ["ndcg@3", "recall@3", "precision@1"]


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


def models(library, lists=80):
    random, rows = np.random.default_rng(5), lists * 6
    relevant = (random.random(rows) < 0.4) * 1
    return recframe.rec(
        library.DataFrame({
            "user": np.repeat(np.arange(lists), 6), "relevant": relevant,
            "old": relevant + random.normal(size=rows), "new": 0.2 * relevant + relevant + random.normal(size=rows),
        }),
        score=["old", "new"],
    )  # fmt: skip


def rows(found):
    columns = [found[name].to_list() for name in found.columns]
    return [dict(zip(found.columns, line, strict=True)) for line in zip(*columns, strict=True)]


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "anytime"])
def test_each_metric_has_the_margin_of_its_own(library, test):
    rec, given = models(library), {"test": test, "correction": "none", "resamples": 300, "details": True}
    margins = {"nDCG@3": 0.08, "precision@1": "30%"}
    result = rows(rec.compare(METRICS, margin=margins, **given))
    for row, margin in zip(result, (0.08, None, "30%"), strict=True):
        (alone,) = rows(rec.compare(row["metric"], margin=margin, **given))
        assert row.pop("verdict") == alone.pop("verdict")
        del row["metric"], row["model"], row["baseline"], alone["metric"], alone["model"], alone["baseline"]
        missing = [name for name, value in alone.items() if value is None or np.isnan(value)]
        assert missing == [name for name, value in row.items() if value is None or np.isnan(value)]
        assert ("p_margin" in missing) == (margin is None)
        kept = [name for name in row if name not in missing]
        assert [row[name] for name in kept] == pytest.approx([alone[name] for name in kept], rel=1e-9, abs=1e-12)


def test_the_p_value_of_a_margin_decides(library):
    rec = models(library)
    for margin in (0.02, 0.1, "5%", {"ndcg@3": 0.3, "recall@3": 0.01, "precision@1": "80%"}):
        for correction in ("holm", "bonferroni", "none", "maxt"):
            result = rows(rec.compare(METRICS, margin=margin, correction=correction, resamples=200, details=True))
            for row in result:
                assert (row["p_margin"] < 0.05) == (row["verdict"] in ("not worse", "equivalent")) or (
                    row["p_adjusted"] < 0.05
                )


def test_margins_of_merged_states(library):
    rec = models(library)
    margins = {"ndcg@3": 0.08, "precision@1": 0.3}
    merged = recframe.merge_states(rec.state(METRICS))
    given = {"margin": margins, "details": True}
    ours, theirs = rows(merged.compare(**given)), rows(rec.compare(METRICS, **given))
    for one, other in zip(ours, theirs, strict=True):
        assert one["verdict"] == other["verdict"]
        assert one["p_margin"] == pytest.approx(other["p_margin"], nan_ok=True)
    before = merged.compare(baseline="old", **given)
    assert [row["verdict"] for row in rows(before)] == [row["verdict"] for row in ours]
    with pytest.raises(recframe.OptionError, match="names 'mrr', but the metrics are"):
        merged.compare(margin={"mrr": 0.1})


def test_a_gate_names_the_margin_of_each_metric(library):
    result = models(library).compare(METRICS, baseline="new", margin={"ndcg@3": 0.0001, "recall@3": "0.01%"})
    with pytest.raises(recframe.ThresholdError) as caught:
        recframe.require(result, verdict="not worse")
    text = str(caught.value)
    assert all(word in text for word in ("a loss of 0.0001 is", "by more than 0.01%", "of no gain"))


@pytest.mark.parametrize(
    ("margin", "said"),
    [
        (1.5, r"margin=1.5 is larger than every difference in ndcg@3, whose values are from 0 to 1"),
        ({"precision@1": 5}, r"margin=5 is larger than every difference in precision@1, whose values are from 0 to 1"),
        ({"map": 0.1}, r"margin= names 'map', but the metrics are 'ndcg@3', 'recall@3', 'precision@1'"),
        ({"ndcg@3": "x%"}, r"margin\['ndcg@3'\]='x%' is not a percentage"),
        ({3: 0.1}, r"has the key 3, which is not the name of a metric"),
    ],
)
def test_margins_that_decide_nothing_are_refused(library, margin, said):
    with pytest.raises((recframe.OptionError, recframe.OptionTypeError), match=said):
        models(library).compare(METRICS, margin=margin)


def test_a_margin_may_be_as_large_as_the_range(library):
    assert rows(models(library).compare("ndcg@3", margin=1))[0]["verdict"] in ("better", "equivalent")
    assert rows(models(library).compare("dcg@3", margin=100))[0]["verdict"] in ("better", "equivalent")
