"""Cascade, AUC, money and correlation metrics equal their slow and obvious definitions, on every engine.

An oracle of its own: every tied block in every order, pairs counted one by one.
"""

from __future__ import annotations

import math
import random
import re
from itertools import chain, combinations, groupby, permutations, product

import pytest

from recframe import metrics

CUTOFFS = [1, 2, 3, 9, None]


def lists(seed, count, grades=(0, 0, 0, 1, 2, 3, -1), scores=4):
    rng = random.Random(seed)
    for user in range(count):
        for item in range(rng.randint(1, 6)):
            yield {
                "user": user,
                "item": item,
                "relevant": rng.choice(grades),
                "score": None if rng.random() < 0.15 else rng.randint(0, scores) / 4,
                "price": rng.choice([1.0, 2.0, 5.0, None]),
            }


def blocks(rows):
    """Return the tied blocks of a list's ranked rows, the best first."""
    ranked = sorted((row for row in rows if row["score"] is not None), key=lambda row: -row["score"])
    return [list(block) for _, block in groupby(ranked, key=lambda row: row["score"])]


def orders(rows):
    for arranged in product(*(permutations(block) for block in blocks(rows))):
        yield list(chain.from_iterable(arranged))


def hit(row):
    return row["relevant"] > 0


def fill_missing_values(rows):
    return math.fsum(row["price"] or 0.0 for row in rows)


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)


def ratio(part, whole):
    return part / whole if whole else 0.0


def cascade(chances, weight, k):
    """Return the expected weight of the place where a reader stops who stops at each place with its chance."""
    total, arrives = 0.0, 1.0
    for place, chance in enumerate(chances, 1):
        total += arrives * chance * (weight(place) if k is None or place <= k else 0.0)
        arrives *= 1 - chance
    return total


def chances(rows, stop, ties):
    """Return the chance to stop at each place: shared within a tied block, or in the best or the worst order."""
    found = []
    for block in blocks(rows):
        each = sorted((stop(max(row["relevant"], 0)) for row in block), reverse=ties == "best")
        found += [mean(each)] * len(each) if ties == "average" else each
    return found


def roc_auc(rows, ties):
    """Count all pairs, a tie as one half; unranked rows stand together in the last place."""

    def place(row):
        return (-math.inf,) if row["score"] is None else (row["score"], sign * row["relevant"])

    sign = {"average": 0, "best": 1, "worst": -1}[ties]
    pairs = [(place(a), place(b)) for a in rows for b in rows if hit(a) and not hit(b)]
    return mean((a > b) + (a == b) / 2 for a, b in pairs) if pairs else None


def roc_auc_at(rows, k):
    ordered, pairs = [], []
    for order in orders(rows):
        flags = [hit(row) for row in order[:k]]
        found = [(a, b) for a, b in combinations(flags, 2) if a != b]
        pairs.append(len(found))
        ordered.append(sum(a for a, _ in found))
    return ratio(mean(ordered), mean(pairs)) if sum(pairs) else None


def average_precision(order, total):
    flags = [hit(row) for row in order]
    return math.fsum(sum(flags[: r + 1]) / (r + 1) for r in range(len(flags)) if flags[r]) / total


def stepped(rows):
    """Return the sum over hits of the precision where their tied block ends."""
    total, place, before = 0.0, 0, 0
    for block in blocks(rows):
        here = sum(map(hit, block))
        place, before = place + len(block), before + here
        total += here * before / place
    return total


def average_ranks(values):
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]


def pearson(x, y):
    x, y = [a - mean(x) for a in x], [b - mean(y) for b in y]
    below = math.sqrt(math.fsum(a * a for a in x) * math.fsum(b * b for b in y))
    return math.fsum(a * b for a, b in zip(x, y, strict=True)) / below if below else None


def kendall(x, y):
    def sign(a):
        return (a > 0) - (a < 0)

    pairs = [(sign(a[0] - b[0]), sign(a[1] - b[1])) for a, b in combinations(list(zip(x, y, strict=True)), 2)]
    below = math.sqrt(sum(a != 0 for a, _ in pairs) * sum(b != 0 for _, b in pairs))
    return sum(a * b for a, b in pairs) / below if below else None


def expected(rows, top):
    """Return every metric of one list, by name and tie policy."""
    total = sum(map(hit, rows))
    found = {"average": {}, "best": {}, "worst": {}}
    if not total:
        return found
    every = list(orders(rows))
    for ties, pick in (("average", mean), ("best", max), ("worst", min)):
        values = found[ties]
        for k in CUTOFFS:
            at = "" if k is None else f"@{k}"
            stop = chances(rows, lambda rel: (2.0**rel - 1) / 2.0**top, ties)
            values[f"err{at}"] = cascade(stop, lambda r: 1 / r, k)
            stop = chances(rows, lambda rel: (2.0**rel - 1) / 2.0**5, ties)
            values[f"err(max_relevance=5){at}"] = cascade(stop, lambda r: 1 / r, k)
            stop = chances(rows, lambda rel: {1: 0.1, 2: 0.5, 3: 1.0}.get(rel, 0.0), ties)
            values[f"pfound{at}"] = cascade(stop, lambda r: 0.85 ** (r - 1), k)
            if fill_missing_values(filter(hit, rows)) > 0:
                values[f"money_recall{at}"] = pick(
                    fill_missing_values(filter(hit, order[:k])) / fill_missing_values(filter(hit, rows))
                    for order in every
                )
        values["roc_auc"] = values["gauc"] = roc_auc(rows, ties)
        values["pr_auc"] = pick(average_precision(order, total) for order in every)
        shown = [row for row in rows if row["score"] is not None]
        seen = sum(map(hit, shown))
        values["roc_auc(over=ranked)"] = roc_auc(shown, ties)
        values["pr_auc(over=ranked)"] = ratio(values["pr_auc"] * total, seen)
        values["pr_auc(points=thresholds)"] = stepped(rows) / total
        values["pr_auc(points=thresholds,over=ranked)"] = ratio(stepped(rows), seen)
    for k in CUTOFFS:
        at = "" if k is None else f"@{k}"
        part = mean(fill_missing_values(filter(hit, order[:k])) for order in every)
        found["average"][f"money_precision{at}"] = ratio(part, mean(fill_missing_values(order[:k]) for order in every))
        if k is not None:
            found["average"][f"roc_auc{at}"] = roc_auc_at(rows, k)
    ranked = [row for row in rows if row["score"] is not None]
    grades, scores = [row["relevant"] for row in ranked], [row["score"] for row in ranked]
    if len(ranked) > 1:
        found["average"]["spearman"] = pearson(average_ranks(grades), average_ranks(scores))
        found["average"]["kendall"] = kendall(grades, scores)
    return found


def asked(ties):
    names = [
        "err",
        "err(max_relevance=5)",
        metrics.PFound(probability={1: 0.1, 2: 0.5, 3: 1.0}),
        "roc_auc",
        "money_recall",
    ]
    names += ["gauc", "pr_auc", "roc_auc(over=ranked)", "pr_auc(over=ranked)"]
    if ties != "average":
        return names
    names += ["pr_auc(points=thresholds)", "pr_auc(points=thresholds,over=ranked)"]
    return [*names, "money_precision", "spearman", "kendall"]


@pytest.mark.parametrize("ties", ["average", "best", "worst"])
@pytest.mark.parametrize("grades", [(0, 0, 0, 1, 2, 3, -1), (0, 1)], ids=["graded", "binary"])
def test_every_list(engine, ties, grades):
    rows = list(lists(f"{ties} {grades}", 250, grades))
    top = max(grades)
    found = engine.ask(engine.frame(rows), "evaluate", asked(ties), k=CUTOFFS, per="user", ties=ties)
    by_user = {row["user"]: row for row in found}
    for user, group in groupby(rows, key=lambda row: row["user"]):
        wanted = expected(list(group), top)[ties]
        for label, value in by_user[user].items():
            name = label.replace("(probability={1:0.1,2:0.5,3:1})", "")
            if label == "user" or (
                re.fullmatch(r"roc_auc(\(.*\))?@\d+", name) and (ties != "average" or "over" in name)
            ):
                continue
            if ties != "average" and name.startswith("money") and len(grades) > 2:
                continue  # ordered by grade before value: the bound for relevance that is yes or no
            assert (value is None) == (wanted.get(name) is None), (user, label, value, wanted.get(name))
            assert value is None or value == pytest.approx(wanted[name], abs=1e-12), (user, label)


def test_gauc_weighs_lists_by_their_rows(engine):
    rows = list(lists(5, 60))
    found = engine.ask(engine.frame(rows), "evaluate", ["roc_auc", "gauc"])[0]
    values = {user: list(group) for user, group in groupby(rows, key=lambda row: row["user"])}
    defined = [
        (len(group), value)
        for group in values.values()
        if any(map(hit, group)) and (value := roc_auc(group, "average")) is not None
    ]
    assert found["roc_auc"] == pytest.approx(mean(value for _, value in defined), abs=1e-12)
    weighted = math.fsum(n * value for n, value in defined) / sum(n for n, _ in defined)
    assert found["gauc"] == pytest.approx(weighted, abs=1e-12)


@pytest.mark.parametrize("ties", ["average", "worst", "item"])
def test_a_truth_says_what_the_whole_frame_says(engine, ties):
    rng = random.Random(11)
    rows = [row | {"price": row["price"] or 0.0} for row in lists(12, 80, (0, 0, 1, 2))]
    # What was not recommended and is not relevant is in neither frame.
    shown = [row for row in rows if row["score"] is not None and rng.random() < 0.8]
    truth = [row for row in rows if row["relevant"] > 0]
    pairs = {(row["user"], row["item"]) for row in shown}
    whole = shown + [row | {"score": None} for row in truth if (row["user"], row["item"]) not in pairs]
    of_relevance = [
        name
        for name, kind in metrics.METRICS.items()
        if not kind.needs and not issubclass(kind, metrics.BeyondAccuracyMetric | metrics.ExposureMetric)
    ]
    names = [name for name in of_relevance if name != "pfound"] + [metrics.PFound(probability={1: 0.2, 2: 0.7})]
    columns = ("user", "item", "score", "price")
    by_truth = engine.ask(
        engine.frame([{name: row[name] for name in columns} for row in shown]), "evaluate", names, k=[2, None], per="user",
        ties=ties, truth=engine.frame([{name: row[name] for name in ("user", "item", "relevant", "price")} for row in truth]),
    )  # fmt: skip
    by_frame = engine.ask(engine.frame(whole), "evaluate", names, k=[2, None], per="user", ties=ties)
    by_user = {row["user"]: row for row in by_truth}
    assert len(by_user) == len(by_truth) == len(by_frame)
    for row in by_frame:
        for label, value in row.items():
            other = by_user[row["user"]][label]
            assert (value is None) == (other is None), (row["user"], label, value, other)
            assert value is None or value == pytest.approx(other, abs=1e-12), (row["user"], label)


def test_relevance_that_a_metric_cannot_use_is_named(engine):
    if engine.lazy:
        pytest.skip("needs the data")
    frame = engine.frame([{"user": 1, "item": 1, "relevant": 4, "score": 1.0}])
    with pytest.raises(ValueError, match=r"(?s)relevant='relevant' holds 4, but pfound@5 takes 0 to 1.*probability="):
        engine.ask(frame, "evaluate", ["pfound"], k=5)
    with pytest.raises(ValueError, match=r"holds 4, but err\(max_relevance=3\) takes at most 3"):
        engine.ask(frame, "evaluate", ["err(max_relevance=3)"])
    with pytest.raises(KeyError, match="value='price': the frame has no such column"):
        engine.ask(frame, "evaluate", ["money_recall"])


@pytest.mark.parametrize(
    ("make", "pattern"),
    [
        (lambda: metrics.PFound(p_break=1.0), "p_break=1.0 is not at least 0 and less than 1"),
        (lambda: metrics.PFound(p_break="x"), "p_break='x' is not a number"),
        (lambda: metrics.PFound(probability=5), "probability=5 does not map"),
        (lambda: metrics.PFound(probability={1: 1.5}), "gives relevance 1 the chance 1.5"),
        (lambda: metrics.ERR(max_relevance=-1), "max_relevance=-1 is not at least 0"),
    ],
)
def test_bad_options_are_named(make, pattern):
    with pytest.raises(ValueError, match=pattern):
        make()


def test_kendall_of_many_levels_takes_as_many_digits(engine):
    if engine.lazy:
        pytest.skip("a lazy frame takes twenty")
    rng = random.Random(3)
    rows = [
        {
            "user": user,
            "item": n,
            "relevant": rng.random() if user else rng.randint(0, 9),
            "score": rng.randint(0, 20) / 2,
        }
        for user in (0, 1)
        for n in range(70)
    ]
    found = {row["user"]: row["kendall"] for row in engine.ask(engine.frame(rows), "evaluate", ["kendall"], per="user")}
    for user in (0, 1):
        own = [row for row in rows if row["user"] == user]
        wanted = kendall([row["relevant"] for row in own], [row["score"] for row in own])
        assert found[user] == pytest.approx(wanted, abs=1e-12)


def test_rows_that_tie_together_cannot_be_ordered(engine):
    frame = engine.frame([{"user": 1, "item": 1, "relevant": 1, "score": 1.0}])
    with pytest.raises(ValueError, match=r"ties='best' orders tied rows, but pr_auc\(points=thresholds\) takes them"):
        engine.ask(frame, "pr_auc", points="thresholds", ties="best")


def test_no_ranked_row_leaves_correlations_undefined(engine):
    frame = engine.frame({"user": [1, 1, 2], "item": [1, 2, 1], "relevant": [1, 0, 1], "score": [None, None, None]})
    for metric in ("kendall", "spearman"):
        for by in ("user", None):
            assert math.isnan(engine.ask(frame, metric, by=by))
        assert [row[metric] for row in engine.ask(frame, "evaluate", [metric], per="user")] == [None, None]
