"""How far a judge agrees with humans: Cohen's kappa with its interval over lists, and the order of models."""

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import stats

import recframe  # noqa: F401 - the namespace
from recframe._inference.statistics.kappa import Kappa

NAMES = ("kappa", "kappa_low", "kappa_high")


def grades(seed, lists=12, items=6, most=3, wrong=0.3):
    """Return grades of two judges, and the list of each item."""
    random = np.random.default_rng(seed)
    first = random.integers(0, most + 1, lists * items).astype(float)
    second = np.where(random.random(len(first)) < wrong, random.integers(0, most + 1, len(first)), first)
    return first, second, np.repeat(np.arange(lists), items)


def by_table(first, second, most=3):
    """Return kappa from the table of both grades, as Cohen defines it."""
    observed = np.zeros((most + 1, most + 1))
    for one, other in zip(first.astype(int), second.astype(int), strict=True):
        observed[one, other] += 1 / len(first)
    weights = (np.arange(most + 1)[:, None] - np.arange(most + 1)) ** 2
    return 1 - (weights * observed).sum() / (weights * np.outer(observed.sum(1), observed.sum(0))).sum()


@pytest.mark.parametrize(("seed", "most"), [(0, 3), (1, 1), (2, 4)])
def test_kappa_is_that_of_its_definition_and_of_other_libraries(seed, most):
    first, second, lists = grades(seed, most=most)
    result = Kappa.of(first, second, lists, 0.95)
    assert result.value == pytest.approx(by_table(first, second, most), rel=1e-12)
    sklearn = pytest.importorskip("sklearn.metrics")
    assert result.value == pytest.approx(sklearn.cohen_kappa_score(first, second, weights="quadratic"), rel=1e-12)


def test_kappa_is_that_of_statsmodels():
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    first, second, lists = grades(3)
    table, _ = inter_rater.to_table(np.column_stack([first, second]))
    known = inter_rater.cohens_kappa(table, wt="quadratic")
    assert Kappa.of(first, second, lists, 0.95).value == pytest.approx(known.kappa, rel=1e-12)


def test_the_interval_leaves_out_a_list_at_a_time():
    first, second, lists = grades(4, lists=7)
    result = Kappa.of(first, second, lists, 0.9)
    without = np.arctanh([by_table(first[lists != one], second[lists != one]) for one in range(7)])
    error = np.sqrt(6 / 7 * ((without - without.mean()) ** 2).sum())
    ends = np.tanh(np.arctanh(result.value) + stats.t.ppf([0.05, 0.95], 6) * error)
    assert (result.low, result.high) == pytest.approx(tuple(ends), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [0.1, 0.4])
def test_the_interval_contains_kappa_as_often_as_it_says(wrong):
    """Grades of a list are alike, so an interval over single judgments would be too short."""
    random = np.random.default_rng(0)

    def draw(lists):
        shares, errors = random.beta(2, 4, (lists, 1)), random.beta(1, 1 / wrong - 1, (lists, 1))
        human = random.binomial(3, shares, (lists, 10))
        judge = np.where(random.random((lists, 10)) < errors, random.integers(0, 4, (lists, 10)), human)
        return human.ravel().astype(float), judge.ravel().astype(float), np.repeat(np.arange(lists), 10)

    truth = by_table(*draw(100_000)[:2])
    result = [Kappa.of(*draw(40), 0.95) for _ in range(600)]
    assert 0.925 < np.mean([each.low <= truth <= each.high for each in result]) < 0.98


def test_kappa_without_spread_and_without_lists():
    first, _, lists = grades(5)
    alike = Kappa.of(first, first, lists, 0.95)
    assert alike.value == alike.high == 1 and 0 < alike.low < 1
    for equal in (np.ones(6), np.zeros(6), np.full(6, 0.1)):
        assert np.isnan(Kappa.of(equal, equal, np.repeat([0, 1], 3), 0.95).value)
    one_list = Kappa.of(first[:6], 3 - first[:6], np.zeros(6, dtype=int), 0.95)
    assert one_list.value < 0 and np.isnan(one_list.low) and np.isnan(one_list.high)
    assert np.isnan(Kappa.of(np.empty(0), np.empty(0), np.empty(0, dtype=int), 0.95).value)
    # All disagreement is in one list: without it, kappa is 1.
    second = first.copy()
    second[:3] = 3 - second[:3]
    result = Kappa.of(first, second, lists, 0.95)
    assert -1 <= result.low < result.value < result.high <= 1


def frames_of(seed=0, lists=20, humans=8):
    """Return recommendations of two models, human judgments of some lists and a judge's of all, and both grades."""
    first, second, numbers = grades(seed, lists=lists)
    random = np.random.default_rng(seed)
    keys = [{"user": f"u{number}", "item": place % 6} for place, number in enumerate(numbers)]
    scores = zip(
        (first + random.normal(size=len(first))).tolist(), random.normal(size=len(first)).tolist(), strict=True
    )
    shown = [key | {"a": one, "b": other} for key, (one, other) in zip(keys, scores, strict=True)]
    human = [key | {"relevant": grade} for key, grade in zip(keys, first.tolist(), strict=True)][: humans * 6]
    judge = [key | {"relevant": grade} for key, grade in zip(keys, second.tolist(), strict=True)]
    return shown, human, judge, (first[: humans * 6], second[: humans * 6], numbers[: humans * 6])


def test_estimates_say_how_far_the_judge_agrees(engine):
    shown, human, judge, both = frames_of()
    known = Kappa.of(*both, 0.9)
    frame, truth, by_judge = engine.frames(shown, human, judge)
    given = {"truth": truth, "judge": by_judge, "score": ["a", "b"], "confidence": 0.9}
    for row in engine.ask(frame, "estimate_with_judge", ["ndcg@3", "mrr"], **given):
        assert [row[name] for name in NAMES] == pytest.approx([known.value, known.low, known.high], rel=1e-9)
        assert row["same_order"] is (row["metric"] == "ndcg@3" or _same(engine, frame, truth, by_judge))


def _same(engine, frame, truth, judge):
    """Return whether `mrr` has the models in one order under both truths of the same lists."""
    lists = engine.ask(frame, "evaluate", "mrr", truth=truth, score=["a", "b"], lists="truth")
    values = engine.ask(frame, "evaluate", "mrr", truth=judge, score=["a", "b"], per="user")
    users = [f"u{number}" for number in range(8)]
    means = [
        np.mean([each["mrr"] for each in values if each["user"] in users and each["model"] == model and each["mrr"]])
        for model in ("a", "b")
    ]
    (one, other) = (row["mrr"] for row in lists)
    return bool(np.sign(one - other) == np.sign(means[0] - means[1]))


def test_a_judge_that_turns_grades_around_turns_models_around():
    pl = pytest.importorskip("polars")
    shown, human, _, _ = frames_of(1)
    judge = [row | {"relevant": 3 - row["relevant"]} for row in frames_of(1, humans=20)[1]]
    rec = pl.DataFrame(shown).rec(score=["a", "b"], truth=pl.DataFrame(human))
    result = rec.estimate_with_judge("ndcg", judge=pl.DataFrame(judge))
    assert (result["kappa"] < -0.9).all() and not result["same_order"].any()
    alone = pl.DataFrame(shown).rec(score="a", truth=pl.DataFrame(human))
    assert "same_order" not in alone.estimate_with_judge("ndcg", judge=pl.DataFrame(judge)).columns


def test_unjudged_items_are_left_out_and_segments_have_their_own(engine):
    shown, human, judge, (first, second, numbers) = frames_of(2)
    for row in (*shown, *human, *judge):
        row["half"] = int(row["user"][1:]) % 2
    human[0]["relevant"], judge[1]["relevant"] = None, -1.0
    frame, truth, by_judge = engine.frames(shown, human[:-1], judge)
    kept = np.arange(len(first) - 1)[2:]
    rows = engine.ask(frame, "estimate_with_judge", "ndcg", truth=truth, judge=by_judge, score="a", per="half")
    assert [row["half"] for row in sorted(rows, key=lambda row: row["half"])] == [0, 1]
    for row in rows:
        chosen = kept[numbers[kept] % 2 == row["half"]]
        _, lists = np.unique(numbers[chosen], return_inverse=True)
        known = Kappa.of(first[chosen], second[chosen], lists, 0.95)
        assert [row[name] for name in NAMES] == pytest.approx([known.value, known.low, known.high], rel=1e-9)
