"""What metrics of your own may read of rows and lists, by brute force: each expression of docs/custom-metrics.md."""

from __future__ import annotations

import random
from itertools import permutations, product

import pytest

import recframe

K = 2


def inverse(position):
    return 1 / position


def stop(relevance, greatest):
    return relevance / (greatest + 1)


OF_ROW = {
    "relevance": lambda row: row.relevance,
    "hit": lambda row: row.hit,
    "within": lambda row: row.within(K),
    "weight": lambda row: row.weight(inverse, K),
    "weight_of_all": lambda row: row.weight(inverse, None),
    "weight_of_others": lambda row: (1 - row.hit) * row.weight(inverse, K),
    "first_hit": lambda row: row.first_hit(inverse, K),
    "cascade": lambda row: row.cascade(stop, inverse, K),
    "judged": lambda row: row.judged,
    "value": lambda row: row.value,
    "hits_before": lambda row: row.hits_before,
    "hits_before_others": lambda row: (1 - row.hit) * row.hits_before,
    "block_hits": lambda row: row.block_hits,
    "start": lambda row: row.start,
    "size": lambda row: row.size,
    "order": lambda row: row.order,
}
OF_LIST = {
    "relevant": lambda sums: sums.relevant,
    "relevant_up_to": lambda sums: sums.relevant_up_to(K),
    "ranked": lambda sums: sums.ranked(K),
    "ranked_up_to": lambda sums: sums.ranked_up_to(K),
    "rows": lambda sums: sums.rows,
    "total_weight": lambda sums: sums.total_weight(inverse, 3),
}


def metric(name, terms, value):
    members = {"name": name, "terms": lambda _, row: {"sum": terms(row)}, "value": lambda _, sums: value(sums)}
    return type("Read", (recframe.Metric,), members)()


METRICS = [metric(f"row_{name}", term, lambda sums: sums["sum"]) for name, term in OF_ROW.items()]
METRICS += [metric(f"list_{name}", lambda row: row.hit, value) for name, value in OF_LIST.items()]


def expected(rows, greatest):
    """Return what the expressions are in one list, summed over its ranked rows: means over all orders of tied rows."""
    ranked = [row for row in rows if row["score"] is not None]
    blocks = [[row for row in ranked if row["score"] == score] for score in {row["score"] for row in ranked}]
    blocks.sort(key=lambda block: -block[0]["score"])
    orders = [sum(order, ()) for order in product(*map(permutations, blocks))]
    totals = dict.fromkeys(OF_ROW, 0.0)
    for order in orders:
        result, reads = False, 1.0
        for position, row in enumerate(order, 1):
            relevance, tied = row["relevant"] or 0, [other for other in order if other["score"] == row["score"]]
            ahead = [other for other in order if other["score"] > row["score"]]
            hit, near, hits = relevance > 0, position <= K, sum((other["relevant"] or 0) > 0 for other in ahead)
            start = len(ahead) + 1
            own = {
                "relevance": relevance,
                "hit": hit,
                "judged": row["relevant"] is not None,
                "value": row["price"] or 0,
            }
            own |= {"within": near, "weight": near / position, "weight_of_all": 1 / position, "start": start}
            own |= {"weight_of_others": (not hit) * near / position, "hits_before": hits, "order": start}
            own |= {"hits_before_others": (not hit) * hits, "size": len(tied)}
            own |= {"block_hits": sum((other["relevant"] or 0) > 0 for other in tied)}
            own |= {"first_hit": (hit and not result) * near / position}
            own |= {"cascade": reads * stop(relevance, greatest) * near / position}
            result, reads = result or hit, reads * (1 - stop(relevance, greatest))
            for name, value in own.items():
                totals[name] += value / len(orders)
    relevant = sum((row["relevant"] or 0) > 0 for row in rows)
    near = min(len(ranked), K)
    lists = {"relevant": relevant, "relevant_up_to": min(relevant, K), "ranked": near, "ranked_up_to": near}
    lists |= {"rows": len(rows), "total_weight": 1 + 1 / 2 + 1 / 3}
    return {f"row_{name}": value for name, value in totals.items()} | {
        f"list_{name}": value for name, value in lists.items()
    }


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scores", [(None, 1.0, 2.0, 3.0), (None, *map(float, range(1, 90)))])
def test_expressions_are_what_their_page_says(engine, seed, scores):
    rng = random.Random(seed)
    lists = [
        [
            {
                "relevant": rng.choice([0, 1, 2, None]),
                "score": rng.choice(scores),
                "price": rng.choice([2.5, 1.0, None]),
            }
            for _ in range(rng.randint(2, 6))
        ]
        for _ in range(4)
    ]
    rows = [{"user": user, "item": item, **row} for user, own in enumerate(lists) for item, row in enumerate(own)]
    rng.shuffle(rows)
    greatest = max(row["relevant"] or 0 for row in rows)
    frame = engine.frame(rows)
    for row in engine.ask(frame, "evaluate", METRICS, per="user", value="price"):
        means = expected(lists[row["user"]], greatest)
        if means["list_relevant"]:
            assert {each.name: row[each.name] for each in METRICS} == pytest.approx(means)


AROUND = metric("around", lambda row: 100 * row.hits_before + row.block_hits, lambda sums: sums["sum"])


@pytest.mark.parametrize("scores", [[5, 4, 3, 3, 1, 1], [6, 5, 4, 3, 2, 1]])
@pytest.mark.parametrize("beside", [[], ["map", "mrr", "ndcg"]])
def test_hits_are_counted_for_rows_that_are_no_hits(engine, scores, beside):
    hits = [1, 0, 1, 0, 0, 1]
    rows = [
        {"user": user, "item": item, "relevant": hit, "score": score * user}
        for user in (1, 2)
        for item, (hit, score) in enumerate(zip(hits, scores, strict=True))
    ]
    ahead = sum(hit for score in scores for hit, other in zip(hits, scores, strict=True) if other > score)
    inside = sum(hit for score in scores for hit, other in zip(hits, scores, strict=True) if other == score)
    result = engine.ask(engine.frame(rows), "evaluate", [*beside, AROUND])[0]
    assert result["around"] == 100 * ahead + inside
    together = engine.ask(engine.frame(rows), "evaluate", [*beside, "precision"])[0]
    assert all(result[name] == together[name] for name in beside)
