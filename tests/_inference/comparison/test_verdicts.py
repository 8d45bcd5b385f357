"""Verdicts and margins of comparisons, against SciPy, statsmodels and a plain reading of the rules."""

import numpy as np
import pytest

pytest.importorskip("scipy")
import narwhals as nw
from scipy import stats

import recframe
from recframe._inference.statistics import verdicts
from sessions import MODELS, pair_of, rows_of


def word(p, direction, level=0.05, loss=1.0, within=1.0):
    """Return the verdict by the rules of the contract, one after the other."""
    if p < level and direction > 0:
        return "better"
    if within < level:
        return "equivalent"
    if p < level and direction < 0:
        return "worse"
    return "not worse" if loss < level else "open"


def by_claims(p, loss, within, direction):
    """Return Holm's adjusted p-values of all claims: at each step, by the tails that may still hold a false one."""
    claims = {(kind, row): each[row] for kind, each in enumerate((p, loss, within)) for row in range(len(p))}
    adjusted, highest = {}, 0.0
    while claims:
        at_risk = 0.0
        for row in range(len(p)):
            # Two tails, or the one beyond the margin on the side of the difference, or none.
            decided = (0, row) in adjusted and direction[row] != 0
            at_risk += 1 - decided / 2 - (decided and (2 if direction[row] > 0 else 1, row) in adjusted) / 2
        claim = min(claims, key=lambda one: claims[one])
        highest = max(highest, claims.pop(claim) * max(at_risk, 1))
        adjusted[claim] = min(highest, 1.0)
    return [[adjusted[kind, row] for row in range(len(p))] for kind in range(3)]


@pytest.mark.parametrize("seed", range(20))
def test_holm_with_a_margin_counts_the_rows_that_may_still_hold_a_false_claim(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 8))
    estimate, margin = random.normal(0, 3, count), 2.0
    p, loss, gain = (2 * stats.norm.sf(np.abs(estimate + by)) for by in (0.0, margin, -margin))
    loss, gain = np.where(estimate > -margin, loss, 1.0), np.where(estimate < margin, gain, 1.0)
    result = verdicts.Evidence(p, np.sign(estimate), loss, gain).adjusted("holm")
    expected = by_claims(p, loss, np.maximum(loss, gain), np.sign(estimate))
    np.testing.assert_allclose([result.p, result.loss, result.equivalence], expected, rtol=1e-12)
    words = [
        word(*row[:1], sign, 0.05, *row[1:]) for row, sign in zip(zip(*expected, strict=True), estimate, strict=True)
    ]
    assert result.verdicts(0.95).tolist() == words


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "none"])
def test_verdicts_follow_the_adjusted_p_value_in_the_direction_of_the_metric(engine, correction):
    rows = rows_of(3, lists=60)
    for row in rows:
        row |= {"a": row["item"], "b": -row["item"], "c": row["relevant"] + row["c"] / 2}
    train = [{"session": number, "item": item} for number, item in [(0, 0), (1, 0), (2, 0), (3, 1)]]
    frame, past = engine.frames(rows, train)
    given = {"by": "session", "score": MODELS, "correction": correction, "confidence": 0.7}
    result = engine.ask(frame, "compare", ["ndcg@3", "arp@2"], train=past, **given)
    assert {row["verdict"] for row in result} >= {"better", "worse"}
    for row in result:
        direction = row["difference"] if row["metric"] == "ndcg@3" else -row["difference"]
        assert row["verdict"] == word(row["p_adjusted"], direction, 0.3)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("size", [0.02, 0.15, 0.4])
def test_a_margin_is_two_one_sided_tests(engine, size, relative):
    frame = engine.frame(rows_of(7, lists=60))
    margin = f"{100 * size}%" if relative else size
    given = {"by": "session", "score": ["a", "b"], "margin": margin}
    for metric in ("ndcg@3", "mrr"):
        (row,) = engine.ask(frame, "compare", metric, **given)
        _, ours, theirs = pair_of(engine, frame, metric, "b", "a")
        moved = [ours - theirs + by * (theirs if relative else 1) for by in (size, -size)]
        ends = [
            stats.ttest_1samp(one, 0, alternative=way).pvalue
            for one, way in zip(moved, ("greater", "less"), strict=True)
        ]
        assert row["verdict"] == word(row["p"], row["difference"], 0.05, 2 * ends[0], 2 * max(ends))


def test_equivalence_is_that_of_statsmodels(library):
    paired = pytest.importorskip("statsmodels.stats.weightstats").ttost_paired
    frame = library.DataFrame(rows_of(11, lists=60))
    values = [frame.rec.evaluate("mrr", by="session", per="session", score=model)["mrr"] for model in "ab"]
    old, new = (np.array(one.to_list(), dtype=float) for one in values)
    known = ~np.isnan(old)
    for size in (0.05, 0.1, 0.2, 0.3):
        p = paired(new[known], old[known], -size, size)[0]
        result = frame.rec.compare("mrr", by="session", score=["a", "b"], margin=size, confidence=0.9, details=True)
        assert (result["verdict"].to_list() == ["equivalent"]) == (p < 0.05)


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


@pytest.mark.parametrize("margin", [0.1, 0.2])
@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap"])
def test_tests_of_a_margin_agree_with_their_intervals(engine, test, margin):
    """A margin lies outside of the interval where it is ruled out."""
    frame = engine.frame(rows_of(12, lists=60))
    given = {"by": "session", "score": MODELS, "test": test, "resamples": 500, "correction": "none", "margin": margin}
    result = engine.ask(frame, "compare", ["ndcg@3", "mrr"], **given)
    for row in result:
        ends = [float(row["low"] <= -margin), float(row["low"] <= -margin or row["high"] >= margin)]
        assert row["verdict"] == word(row["p"], row["difference"], 0.05, *ends)


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "anytime", "anytime-bounded"])
@pytest.mark.parametrize("lists", [5, 40, 400])
def test_equal_models_are_equivalent_where_their_interval_says_so(library, test, lists):
    """All differences are 0: that says nothing of a share of other lists."""
    frame = library.DataFrame(
        [
            {"user": user, "item": item, "relevant": int(item == 0), "a": item, "b": item}
            for user in range(lists)
            for item in range(2)
        ]
    )
    given = {"test": test, "planned": 100, "resamples": 200, "correction": "none"}
    for margin in (0.02, 0.1, 0.5):
        result = frame.rec.compare("mrr", score=["a", "b"], margin=margin, **given, details=True)
        within = result["low"].to_list()[0] > -margin
        assert result["verdict"].to_list() == ["equivalent" if within else "open"]


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap"])
@pytest.mark.parametrize("gain", [0, 1])
def test_a_few_equal_differences_rule_out_a_large_margin_where_their_interval_does(library, test, gain):
    """Flips of so few signs would not reject it."""
    frame = library.DataFrame(
        [
            {"user": user, "relevant": item, "a": -item if gain else item, "b": item}
            for user in range(4)
            for item in range(2)
        ]
    )
    given = {"test": test, "score": ["a", "b"], "resamples": 200, "correction": "none"}
    for margin in (0.3, 0.7):
        result = frame.rec.compare("hit_rate@1", margin=margin, **given)
        ruled_out = result["low"].to_list()[0] > -margin
        assert ruled_out == (margin > 0.5 or gain == 1)
        assert result["verdict"].to_list() == [("not worse" if gain else "equivalent") if ruled_out else "open"]


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "anytime"])
@pytest.mark.parametrize("lists", [8, 400])
def test_equal_models_rule_out_a_share_of_a_baseline_that_varies_as_they_do_its_mean(library, test, lists):
    """That the baseline has a mean above 0 says nothing of lists in which models differ."""
    frame = library.DataFrame(
        [
            {"user": user, "item": item, "relevant": int(item == user % 2), "a": item, "b": item}
            for user in range(lists)
            for item in range(2)
        ]
    )
    given = {"test": test, "planned": 100, "resamples": 200, "correction": "none"}
    for size in (0.05, 0.6):
        as_number, share = (
            frame.rec.compare("mrr", score=["a", "b"], margin=margin, **given, details=True)["verdict"].to_list()
            for margin in (0.75 * size, f"{100 * size}%")
        )
        assert share == as_number
        if lists > 100 or size < 0.5:
            assert share == ["equivalent" if lists > 100 else "open"]


def test_equal_models_of_unbounded_values_are_open(library):
    frame = library.DataFrame(
        [
            {"user": user, "item": item, "relevant": int(item == 0), "a": item, "b": item}
            for user in range(40)
            for item in range(2)
        ]
    )
    assert frame.rec.compare("dcg@1", score=["a", "b"], margin=0.5)["verdict"].to_list() == ["open"]


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("cluster", [None, "user"])
def test_a_share_of_a_constant_baseline_is_a_number(engine, weight, cluster):
    """Where two items of equal score have a reciprocal rank of 0.75 in each list, 20 % of it are 0.15."""
    rows = [{**row, "relevant": int(row["item"] == 0), "flat": 0} for row in rows_of(13, 90) if row["item"] < 2]
    whole = {row["session"] for row in rows if row["item"] == 1}
    frame = engine.frame([row for row in rows if row["session"] in whole])
    given = {"by": "session", "score": ["flat", "b"], "weight": weight, "cluster": cluster}
    for size in (0.1, 0.15, 0.2):
        result = [
            engine.ask(frame, "compare", "mrr", margin=margin, **given)[0] for margin in (size, f"{size / 0.0075}%")
        ]
        as_number, as_share = (row.pop("p_margin") for row in result)
        assert as_number == pytest.approx(as_share)
        assert result[0] == result[1]


def test_states_have_verdicts_and_margins(engine):
    rows = rows_of(14, lists=60)
    frame = engine.frame(rows)
    given = {"by": "session", "score": MODELS}
    state = recframe.rec(frame).state(["ndcg@3", "mrr"], **given)
    expected = engine.ask(frame, "compare", ["ndcg@3", "mrr"], margin=0.1, **given)
    result = nw.from_native(recframe.merge_states(state).compare(margin=0.1))["verdict"].to_list()
    assert result == [row["verdict"] for row in expected]
    assert len(set(result)) > 1
    with pytest.raises(recframe.OptionError, match="products of both models' values"):
        recframe.merge_states(state).compare(margin="10%")


@pytest.mark.parametrize("correction", ["none", "holm"])
def test_verdicts_of_other_lists_follow_the_direction_of_the_metric(library, correction):
    """Relevant items come first in one half of the lists, and last in the other."""
    before, after = (
        library.DataFrame(
            [
                {"user": user, "relevant": int(item == 0), "score": by * (item == 0) + (user * 7 + item) % 5}
                for user in users
                for item in range(4)
            ]
        ).rec.state(["mrr", "eel"])
        for users, by in ((range(20), -3), (range(20, 40), 3))
    )
    for one, other, word in ((after, before, "better"), (before, after, "worse")):
        result = recframe.merge_states(one).compare(baseline=other, correction=correction)
        assert result["verdict"].to_list() == [word] * 2
        assert recframe.merge_states(one).compare(baseline=other, margin=0.01)["verdict"].to_list() == [word] * 2


def test_intervals_of_other_lists_stay_within_the_range_of_values_that_are_not_negative(library):
    before, after = (
        library.DataFrame(
            [{"user": user, "relevant": int(item == user % 3), "score": -item} for user in users for item in range(3)]
        ).rec.state("ndcg")
        for users in (range(2), range(10, 12))
    )
    result = recframe.merge_states(after).compare(baseline=before)
    assert (result["low"].to_list(), result["high"].to_list()) == ([-1.0], [1.0])


@pytest.mark.parametrize("margin", [0.1, 0.3, "20%", "60%"])
def test_means_over_other_lists_have_margins(library, margin):
    old, new = (
        library.DataFrame([{**row, "session": row["session"] + by} for row in rows_of(15 + by, lists=80)])
        for by in (0, 100)
    )
    states = [frame.rec.state("mrr", by="session", score="a") for frame in (old, new)]
    (result,) = (
        recframe.merge_states(states[1]).compare(baseline=states[0], margin=margin, details=True)["verdict"].to_list()
    )
    one, other = (
        np.array(frame.rec.evaluate("mrr", by="session", per="session", score="a")["mrr"].to_list(), dtype=float)
        for frame in (new, old)
    )
    one, other = one[~np.isnan(one)], other[~np.isnan(other)]
    factor, size = (1 - float(margin[:-1]) / 100, 0.0) if isinstance(margin, str) else (1.0, margin)
    below = stats.ttest_ind(one + size, other * factor, equal_var=False, alternative="greater").pvalue
    above = stats.ttest_ind(one - size, other * (2 - factor), equal_var=False, alternative="less").pvalue
    p = stats.ttest_ind(one, other, equal_var=False).pvalue
    assert result == word(p, one.mean() - other.mean(), 0.05, 2 * below, 2 * max(below, above))


@pytest.mark.parametrize(
    ("margin", "message"),
    [
        ("0.1", "margin='0.1' is neither a number nor a percentage"),
        ("x%", "margin='x%' is not a percentage"),
        (-0.1, "margin=-0.1 is not 0 or more"),
        (1e300, r"margin=1e\+300 is not 1e\+100 or less"),
        (float("inf"), "margin=inf is not"),
        ([1], "margin"),
    ],
)
def test_what_is_no_margin_is_refused(library, margin, message):
    frame = library.DataFrame(rows_of(1))
    with pytest.raises(recframe.RecError, match=message):
        frame.rec.compare("mrr", by="session", score=["a", "b"], margin=margin)


def test_ranks_have_no_margin(library):
    frame = library.DataFrame(rows_of(1))
    with pytest.raises(recframe.OptionError, match="test='wilcoxon' accepts no margin="):
        frame.rec.compare("mrr", by="session", score=["a", "b"], margin=0.1, test="wilcoxon")


@pytest.mark.parametrize("truth", ["-margin", "0", "margin"])
def test_false_claims_are_as_rare_as_they_say(truth):
    """A difference at an end of the margin, or of 0: of all claims that are false then, at most 5 % are made."""
    random, margin, lists, rows = np.random.default_rng(5), 0.1, 50, 4
    mean = {"-margin": -margin, "0": 0.0, "margin": margin}[truth]
    draws = random.normal(mean, 0.3, (1_500, rows, lists))
    means, errors = draws.mean(axis=2), draws.std(axis=2, ddof=1) / np.sqrt(lists)
    p, loss, gain = (2 * stats.t.sf(np.abs(means + by) / errors, lists - 1) for by in (0.0, margin, -margin))
    loss, gain = np.where(means > -margin, loss, 1.0), np.where(means < margin, gain, 1.0)
    false = {"-margin": {"better", "not worse", "equivalent"}, "0": {"better", "worse"}, "margin": {"equivalent"}}[
        truth
    ]
    made = 0
    for each in zip(p, np.sign(means), loss, gain, strict=True):
        made += not false.isdisjoint(verdicts.Evidence(*each).adjusted("holm").verdicts(0.95).tolist())
    assert made / 1_500 < (0.06 if truth == "0" else 0.035)


@pytest.mark.slow
def test_rows_that_are_better_may_still_be_equivalent():
    """Six gains as large as the margin, and one difference of 0: of all claims, at most 5 % of the calls hold a false one.

    The errors are such that nearly all gains are found, and those that are not may be taken for equivalence.
    """
    random, draws, margin = np.random.default_rng(12), 6_000, 1.0
    true = np.array([0.0] + [margin] * 6)
    errors = np.where(true > 0, margin / 5.4, margin)
    estimates = random.normal(true, errors, (draws, 7))
    p, loss, gain = (2 * stats.norm.sf(np.abs(estimates + by) / errors) for by in (0.0, margin, -margin))
    loss, gain = np.where(estimates > -margin, loss, 1.0), np.where(estimates < margin, gain, 1.0)
    false = 0
    for each in zip(p, np.sign(estimates), loss, gain, strict=True):
        words = verdicts.Evidence(*each).adjusted("holm").verdicts(0.95).tolist()
        false += words[0] in ("better", "worse") or "equivalent" in words[1:] or "worse" in words[1:]
    assert false / draws <= 0.05
