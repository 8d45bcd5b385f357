"""What results look like when they are printed without options, in a terminal of 80 columns."""

import re

import pytest

import recframe

pytest.importorskip("scipy")

NAMES = ["old", "new"]
CALLS = {
    "compare": lambda rec, _: rec.compare("ndcg@5", baseline="old"),
    "describe": lambda rec, _: rec.describe("ndcg@5"),
    "rank_models": lambda rec, _: rec.rank_models("ndcg@5"),
    "evaluate": lambda rec, _: rec.evaluate(["ndcg@5", "mrr", "recall@5"]),
    "bounds": lambda rec, truth: rec(score="old").bounds("ndcg@5", truth=truth),
    "check": lambda rec, _: rec.check(20),
    "nothing found": lambda rec, _: rec.check(5),
}
POLARS = {
    "compare": """
shape: (1, 8)
┌────────┬───────┬──────────┬──────────┬─────────┬─────────┬─────────┬─────────┐
│ metric ┆ model ┆ differen ┆ baseline ┆ p_adjus ┆ low     ┆ high    ┆ verdict │
│ ---    ┆ ---   ┆ ce       ┆ ---      ┆ ted     ┆ ---     ┆ ---     ┆ ---     │
│ str    ┆ str   ┆ ---      ┆ str      ┆ ---     ┆ f64     ┆ f64     ┆ str     │
│        ┆       ┆ f64      ┆          ┆ f64     ┆         ┆         ┆         │
╞════════╪═══════╪══════════╪══════════╪═════════╪═════════╪═════════╪═════════╡
│ ndcg@5 ┆ new   ┆ 0.122659 ┆ old      ┆ 0.00002 ┆ 0.06655 ┆ 0.17876 ┆ better  │
│        ┆       ┆          ┆          ┆ 6       ┆ 3       ┆ 5       ┆         │
└────────┴───────┴──────────┴──────────┴─────────┴─────────┴─────────┴─────────┘
""",
    "describe": """
shape: (2, 7)
┌────────┬───────┬───────┬──────────┬──────────┬──────────┬──────────┐
│ metric ┆ model ┆ lists ┆ mean     ┆ low      ┆ high     ┆ std      │
│ ---    ┆ ---   ┆ ---   ┆ ---      ┆ ---      ┆ ---      ┆ ---      │
│ str    ┆ str   ┆ i64   ┆ f64      ┆ f64      ┆ f64      ┆ f64      │
╞════════╪═══════╪═══════╪══════════╪══════════╪══════════╪══════════╡
│ ndcg@5 ┆ old   ┆ 200   ┆ 0.518938 ┆ 0.476209 ┆ 0.561667 ┆ 0.306437 │
│ ndcg@5 ┆ new   ┆ 200   ┆ 0.641597 ┆ 0.601107 ┆ 0.682087 ┆ 0.290379 │
└────────┴───────┴───────┴──────────┴──────────┴──────────┴──────────┘
""",
    "rank_models": """
shape: (2, 8)
┌────────┬───────┬──────┬──────────┬───────┬──────────┬───────────┬────────────┐
│ metric ┆ model ┆ rank ┆ mean     ┆ lists ┆ rank_low ┆ rank_high ┆ tied_with_ │
│ ---    ┆ ---   ┆ ---  ┆ ---      ┆ ---   ┆ ---      ┆ ---       ┆ best       │
│ str    ┆ str   ┆ i64  ┆ f64      ┆ i64   ┆ i64      ┆ i64       ┆ ---        │
│        ┆       ┆      ┆          ┆       ┆          ┆           ┆ bool       │
╞════════╪═══════╪══════╪══════════╪═══════╪══════════╪═══════════╪════════════╡
│ ndcg@5 ┆ old   ┆ 2    ┆ 0.518938 ┆ 200   ┆ 2        ┆ 2         ┆ false      │
│ ndcg@5 ┆ new   ┆ 1    ┆ 0.641597 ┆ 200   ┆ 1        ┆ 1         ┆ true       │
└────────┴───────┴──────┴──────────┴───────┴──────────┴───────────┴────────────┘
""",
    "evaluate": """
shape: (2, 4)
┌───────┬──────────┬──────────┬──────────┐
│ model ┆ ndcg@5   ┆ mrr      ┆ recall@5 │
│ ---   ┆ ---      ┆ ---      ┆ ---      │
│ str   ┆ f64      ┆ f64      ┆ f64      │
╞═══════╪══════════╪══════════╪══════════╡
│ old   ┆ 0.518938 ┆ 0.635754 ┆ 0.602917 │
│ new   ┆ 0.641597 ┆ 0.757094 ┆ 0.70375  │
└───────┴──────────┴──────────┴──────────┘
""",
    "bounds": """
shape: (1, 6)
┌────────┬──────────┬──────────┬──────────┬────────┬───────┐
│ metric ┆ mean     ┆ least    ┆ greatest ┆ judged ┆ lists │
│ ---    ┆ ---      ┆ ---      ┆ ---      ┆ ---    ┆ ---   │
│ str    ┆ f64      ┆ f64      ┆ f64      ┆ f64    ┆ i64   │
╞════════╪══════════╪══════════╪══════════╪════════╪═══════╡
│ ndcg@5 ┆ 0.518938 ┆ 0.518938 ┆ 0.518938 ┆ 1.0    ┆ 200   │
└────────┴──────────┴──────────┴──────────┴────────┴───────┘
""",
    "check": """
shape: (2, 6)
┌───────┬─────────────┬──────────┬───────┬───────┬──────────────────────────┐
│ model ┆ finding     ┆ severity ┆ share ┆ count ┆ meaning                  │
│ ---   ┆ ---         ┆ ---      ┆ ---   ┆ ---   ┆ ---                      │
│ str   ┆ str         ┆ str      ┆ f64   ┆ i64   ┆ str                      │
╞═══════╪═════════════╪══════════╪═══════╪═══════╪══════════════════════════╡
│ old   ┆ high_chance ┆ note     ┆ 1.0   ┆ 200   ┆ random order scores high │
│       ┆             ┆          ┆       ┆       ┆ too                      │
│ new   ┆ high_chance ┆ note     ┆ 1.0   ┆ 200   ┆ random order scores high │
│       ┆             ┆          ┆       ┆       ┆ too                      │
└───────┴─────────────┴──────────┴───────┴───────┴──────────────────────────┘
""",
    "nothing found": """
shape: (0, 6)
┌───────┬─────────┬──────────┬───────┬───────┬─────────┐
│ model ┆ finding ┆ severity ┆ share ┆ count ┆ meaning │
│ ---   ┆ ---     ┆ ---      ┆ ---   ┆ ---   ┆ ---     │
│ str   ┆ str     ┆ str      ┆ f64   ┆ i64   ┆ str     │
╞═══════╪═════════╪══════════╪═══════╪═══════╪═════════╡
└───────┴─────────┴──────────┴───────┴───────┴─────────┘
""",
}
PANDAS = {
    "compare": """
   metric model  difference baseline  p_adjusted       low      high verdict
0  ndcg@5   new    0.122659      old    0.000026  0.066553  0.178765  better
""",
    "describe": """
   metric model  lists      mean       low      high       std
0  ndcg@5   old    200  0.518938  0.476209  0.561667  0.306437
1  ndcg@5   new    200  0.641597  0.601107  0.682087  0.290379
""",
    "rank_models": """
   metric model  rank      mean  lists  rank_low  rank_high  tied_with_best
0  ndcg@5   old     2  0.518938    200         2          2           False
1  ndcg@5   new     1  0.641597    200         1          1            True
""",
    "evaluate": """
  model    ndcg@5       mrr  recall@5
0   old  0.518938  0.635754  0.602917
1   new  0.641597  0.757094  0.703750
""",
    "bounds": """
   metric      mean     least  greatest  judged  lists
0  ndcg@5  0.518938  0.518938  0.518938     1.0    200
""",
    "check": """
  model      finding severity  share  count                       meaning
0   old  high_chance     note    1.0    200  random order scores high too
1   new  high_chance     note    1.0    200  random order scores high too
""",
    "nothing found": """
Empty DataFrame
Columns: [model, finding, severity, share, count, meaning]
Index: []
""",
}
WITH_DETAILS = {"compare": ["difference", "low", "high", "verdict"], "describe": ["lists", "mean", "low", "high"]}


def printed(call, library):
    visits = recframe.datasets.visits(library=library)
    result = CALLS[call](visits.rec(score=NAMES), visits[["user", "item", "relevant"]])
    return "\n".join(line.rstrip() for line in str(result).splitlines())


@pytest.mark.parametrize("call", CALLS)
def test_polars_shows_the_answer(call):
    pl = pytest.importorskip("polars")
    with pl.Config(restore_defaults=True, tbl_width_chars=80):
        text = printed(call, "polars")
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines() == POLARS[call].strip("\n").splitlines()


@pytest.mark.parametrize("call", CALLS)
def test_pandas_shows_the_answer(call, monkeypatch):
    pd = pytest.importorskip("pandas")
    monkeypatch.setenv("COLUMNS", "80")
    pd.reset_option("display")
    with pd.option_context("display.max_columns", 0, "display.width", 80):
        text = printed(call, "pandas")
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines() == PANDAS[call].strip("\n").splitlines()


@pytest.mark.parametrize(
    ("per", "columns"), [(None, ["metric", "model", "difference"]), ("country", ["country", "metric", "model"])]
)
def test_pandas_hides_the_middle_of_wide_comparisons(per, columns):
    pd = pytest.importorskip("pandas")
    names = {"old": "popularity", "new": "item-knn", "deep": "bpr-mf-64", "popular": "lightgcn-3"}
    rec = recframe.datasets.visits(library="pandas").rename(columns=names).rec(score=[*names.values()])
    with pd.option_context("display.max_columns", 0, "display.width", 80):
        compared = str(rec.compare("ndcg@10", baseline="popularity", per=per)).splitlines()[0].split()
        ranked = str(rec.rank_models("ndcg@10")).splitlines()[0].split()
    assert compared == [*columns, "...", "low", "high", "verdict"]
    assert ranked == ["metric", "model", "rank", "...", "rank_low", "rank_high", "tied_with_best"]


def test_pandas_shows_what_several_findings_mean():
    pd = pytest.importorskip("pandas")
    visits = recframe.datasets.visits(library="pandas")
    visits = pd.concat([visits, visits.head(3)], ignore_index=True)
    visits["new"] = visits["new"].where(visits["user"] != 1)
    with pd.option_context("display.max_columns", 0, "display.width", 80):
        head, *rows = str(visits.rec(score=NAMES).check(5)).splitlines()
    assert head.split() == ["model", "finding", "...", "count", "meaning"]
    assert [row for row in rows if "lists_without_ranked" in row and row.endswith("nothing ranked: scores 0")]


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_notebook_shows_every_column(library):
    pytest.importorskip(library)
    visits = recframe.datasets.visits(library=library)
    rec = visits.rec(score=[*NAMES, "deep", "popular"])
    for result, columns in [
        (rec.compare("ndcg@5", baseline="old"), WITH_DETAILS["compare"]),
        (rec.describe("ndcg@5"), WITH_DETAILS["describe"]),
        (rec.rank_models("ndcg@5"), ["mean", "rank", "tied_with_best"]),
    ]:
        html = result._repr_html_()
        heads = re.findall(r"<th>([^<]*)</th>", html)
        assert {*columns} <= {*heads} and "…" not in heads and "..." not in heads
