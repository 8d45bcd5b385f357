"""Against trec_eval through pytrec_eval: ties broken by descending item name, ideal and recall over all of the truth."""

from __future__ import annotations

from math import exp
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import recframe  # noqa: F401 - registers .rec

if TYPE_CHECKING:
    from collections.abc import Callable

    Scored = dict[str, dict[str, float]]
    Judged = dict[str, dict[str, int]]

pytrec_eval = pytest.importorskip("pytrec_eval")

NAMES = {
    "map": "map(norm=relevant)",
    "map_cut_3": "map(norm=relevant)@3",
    "map_cut_10": "map(norm=relevant)@10",
    "ndcg": "ndcg",
    "ndcg_cut_1": "ndcg@1",
    "ndcg_cut_3": "ndcg@3",
    "ndcg_cut_10": "ndcg@10",
    "P_1": "precision@1",
    "P_3": "precision@3",
    "P_10": "precision@10",
    "recall_3": "recall@3",
    "recall_10": "recall@10",
    "success_1": "hit_rate@1",
    "success_3": "hit_rate@3",
    "recip_rank": "mrr",
    "Rprec": "r_precision",
    "set_P": "precision",
    "set_recall": "recall",
    "set_F": "f1",
    "bpref": "bpref",
    "infAP": "inf_ap",
    "11pt_avg": "iprec",
    "iprec_at_recall_0.00": "iprec(recall=0)",
    "iprec_at_recall_0.30": "iprec(recall=0.3)",
    "num_rel": "num_rel",
    "num_ret": "num_ret",
    "num_rel_ret": "num_rel_ret",
}
"""trec_eval's names, and ours for the same definitions."""
ASKED = {"map", "map_cut.3,10", "ndcg", "ndcg_cut.1,3,10", "P.1,3,10", "recall.3,10", "success.1,3", "recip_rank"} | {
    "Rprec", "set_P", "set_recall", "set_F", "num_rel", "num_ret", "num_rel_ret", "bpref", "infAP", "11pt_avg", "iprec_at_recall",
}  # fmt: skip


@pytest.fixture(params=["polars", "pandas"])
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return pytest.importorskip(request.param).DataFrame


def random_lists(seed: int, levels: int) -> tuple[Scored, Judged]:
    """Return lists of one to thirty items with tied scores, and grades of items both recommended and not."""
    random = Random(seed)
    run: Scored = {}
    qrels: Judged = {}
    for user in range(60):
        name = f"u{user}"
        catalogue = [f"item {number}" for number in random.sample(range(1000), 40)]
        n_shown = random.randint(1, 30)
        # The wheel stores scores as float32: eighths are exact there too.
        run[name] = {item: random.randrange(levels) / 8 for item in catalogue[:n_shown]}
        judged = random.sample(catalogue, 15)
        qrels[name] = {item: random.choice([0, 0, 0, 1, 1, 2, 4]) for item in judged}
    return run, qrels


def long(lists: dict[str, dict[str, Any]], value: str, random: Random) -> dict[str, list[Any]]:
    """Return nested dictionaries as columns, rows in random order."""
    rows = [(user, item, number) for user, items in lists.items() for item, number in items.items()]
    random.shuffle(rows)
    return dict(zip(("user", "item", value), map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # of one level, where all scores tie
@pytest.mark.parametrize(("seed", "levels"), [(0, 1), (1, 4), (2, 40), (3, 100_000)])
def test_every_list(make: Callable[..., Any], seed: int, levels: int) -> None:
    run, qrels = random_lists(seed, levels)
    expected = pytrec_eval.RelevanceEvaluator(qrels, ASKED).evaluate(run)
    random = Random(seed)
    frame, truth = make(long(run, "score", random)), make(long(qrels, "relevant", random))
    table = frame.rec.evaluate(
        # trec_eval counts a list without relevant items as 0.
        list(NAMES.values()), truth=truth, ties="item_desc", per="user", undefined=0.0,
    )  # fmt: skip
    values = {name: dict(zip(table["user"], table[name], strict=True)) for name in NAMES.values()}
    assert values["map(norm=relevant)"].keys() == expected.keys()
    for user, measured in expected.items():
        for theirs, ours in NAMES.items():
            assert values[ours][user] == pytest.approx(measured[theirs], abs=1e-12), (user, theirs)


def test_one_frame_with_rows_that_were_not_recommended(make: Callable[..., Any]) -> None:
    # The same call without a second frame: what was judged and not recommended has no score.
    run, qrels = random_lists(4, 6)
    rows = [
        (user, item, qrels[user].get(item), run[user].get(item))
        for user in run
        for item in sorted({*run[user], *qrels[user]})
    ]
    columns = zip(*rows, strict=True)
    frame = make(dict(zip(("user", "item", "relevant", "score"), map(list, columns), strict=True)))
    table = frame.rec.evaluate(list(NAMES.values()), ties="item_desc", undefined=0.0)
    measured = pytrec_eval.RelevanceEvaluator(qrels, ASKED).evaluate(run)
    for theirs, ours in NAMES.items():
        mean = sum(values[theirs] for values in measured.values()) / len(measured)
        assert table[ours].to_list() == pytest.approx([mean], abs=1e-12), theirs


def test_a_pool_of_which_a_sample_was_judged(make: Callable[..., Any]) -> None:
    run, qrels = random_lists(5, 100_000)
    random = Random(5)
    # A grade of -1: in the pool, and not judged. Topics need some grade from 0 on, or trec_eval may never return.
    pool = {user: {item: random.choice([-1, 0, 1, 2]) for item in judged} for user, judged in qrels.items()}
    pool = {user: {**items, "judged": 0} for user, items in pool.items()}
    expected = pytrec_eval.RelevanceEvaluator(pool, {"infAP", "bpref"}).evaluate(run)
    frame, truth = make(long(run, "score", random)), make(long(pool, "relevant", random))
    table = frame.rec.evaluate(["inf_ap", "bpref"], truth=truth, per="user", like="trec_eval")
    for user, inf_ap, bpref in zip(*(table[name] for name in ("user", "inf_ap", "bpref")), strict=True):
        assert (inf_ap, bpref) == pytest.approx((expected[user]["infAP"], expected[user]["bpref"]), abs=1e-12), user
    # Alone, too, the judged rows are those of a grade from 0 on.
    names = {"ndcg": "ndcg", "map": "map", "P_5": "precision@5", "infAP": "inf_ap"}
    alone = pytrec_eval.RelevanceEvaluator(pool, {"ndcg", "map", "P", "infAP"}, judged_docs_only_flag=True).evaluate(
        run
    )
    table = frame.rec.evaluate([*names.values()], truth=truth, per="user", like="trec_eval", condensed=True)
    for user, *result in zip(*(table[name] for name in ("user", *names.values())), strict=True):
        assert result == pytest.approx([alone[user][name] for name in names], abs=1e-12), user


def test_geometric_mean_and_judged_rows_alone(make: Callable[..., Any]) -> None:
    run, qrels = random_lists(6, 100_000)
    random = Random(6)
    frame, truth = make(long(run, "score", random)), make(long(qrels, "relevant", random))
    measured = pytrec_eval.RelevanceEvaluator(qrels, {"gm_map"}).evaluate(run)
    # Of each topic it gives the logarithm; trec_eval's summary is the power of their mean.
    theirs = exp(sum(values["gm_map"] for values in measured.values()) / len(measured))
    assert frame.rec.map(truth=truth, like="trec_eval", mean="geometric") == pytest.approx(theirs, abs=1e-12)
    condensed = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg", "map", "P"}, judged_docs_only_flag=True).evaluate(run)
    names = {"ndcg": "ndcg", "map": "map", "P_5": "precision@5"}
    table = frame.rec.evaluate([*names.values()], truth=truth, like="trec_eval", condensed=True)
    for theirs_name, ours in names.items():
        mean = sum(values[theirs_name] for values in condensed.values()) / len(condensed)
        assert table[ours].to_list() == pytest.approx([mean], abs=1e-12), ours
