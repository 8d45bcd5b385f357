# %% [text]
# # Should the new model replace the old one?
#
# A shop recommends ten items to each visitor. The old model is in service, and two candidates are ready. This
# page is for the person who decides. It starts from the table that the feature store writes, one row per visitor and item, and
# ends with a decision and its reasons.
#
# The data is generated, so that anybody can repeat it: `python tools/notebook.py decision` runs this page again.
# %%
import datetime as dt
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import recframe

rng = np.random.default_rng(7)
visitors, items = 600, 30
monday = dt.date(2024, 1, 1)
taste = rng.normal(size=visitors * items)
new_visitor = np.repeat(rng.random(visitors) < 0.3, items)
store = pl.DataFrame(
    {
        "visitor": np.repeat(np.arange(visitors), items),
        "item": np.tile(np.arange(items), visitors),
        "bought": taste + rng.normal(size=visitors * items) > 2.2,
        "old": 0.5 * taste + rng.normal(size=visitors * items),
        "deep": np.where(new_visitor, 0.2, 1.1) * taste
        + rng.normal(size=visitors * items),
        "hybrid": 0.8 * taste + rng.normal(size=visitors * items),
        "segment": np.where(new_visitor, "new visitor", "regular"),
        "week": [
            monday + dt.timedelta(weeks=week)
            for week in np.repeat(rng.integers(0, 8, visitors), items).tolist()
        ],
    }
)
shop = store.rec(
    by="visitor", relevant="bought", score=["old", "deep", "hybrid"]
)
store.drop("item").head(3)
# %% [text]
# ## Is the data sound?
#
# Before any number: what does a check find? Visitors who bought nothing tell nothing about the order of items, and are left out.
# %%
found = shop.check(k=10)
found.select("model", "finding", "severity", "count")
# %% [text]
# ## How good are the models?
#
# NDCG@10 rewards purchases near the top of the list, recall@10 counts how many of the purchases were among the ten items.
# %%
values = shop.evaluate(["ndcg", "recall"], k=10, counts=True)
recframe.table(values)
# %%
shop.plot.curve("ndcg", k=range(1, 16))
# %% [text]
# ## Is the difference real?
#
# Both candidates have higher means, which may be chance. The comparison is visitor by visitor, and says how sure it is.
# %%
compared = shop.compare("ndcg@10", baseline="old")
recframe.table(compared, digits=3)
# %%
shop(score=["old", "deep"]).plot.differences("ndcg@10")
# %% [text]
# ## For whom?
#
# A mean hides who pays for it. The deep model needs a history, which new visitors do not have.
# %%
shop.plot.segments("ndcg@10", per="segment")
# %% [text]
# The rule was set before: a model is shipped if the mean of no segment may fall by more than 0.02. Four rows decide
# together, so p-values are adjusted: with a confidence of 95 %, all four verdicts are right.
# %%
by_segment = shop.compare(
    "ndcg@10", baseline="old", per="segment", margin=0.02, details=True
)
recframe.table(by_segment, digits=3)
# %% [text]
# ## Does it last?
# %%
shop.plot.trend("ndcg@10", per="week")
# %% [text]
# ## The report
#
# One file for everybody who was not here.
# %%
report = Path(tempfile.mkdtemp()) / "report.html"
shop.report(
    report,
    ["ndcg", "recall"],
    k=10,
    per="segment",
    baseline="old",
    title="Which model?",
)
print(report.name, "is written")
# %% [text]
# ## Decision
#
# Every segment of a shipped model is better, or not worse by more than the margin.
# %%
worst = (
    by_segment.sort("difference")
    .group_by("model", maintain_order=True)
    .first()
    .sort("model")
)
for row in worst.rows(named=True):
    print(
        f"{row['model']}: {row['verdict']} for the segment {row['segment']!r},",
        f"difference {row['difference']:+.3f},",
    )
    print(
        f"    and {row['losses']} of {row['lists']} visitors get a worse list"
    )
not_worse = pl.col("verdict").is_in(["better", "equivalent", "not worse"])
safe = (
    by_segment.group_by("model")
    .agg(not_worse.all())
    .filter("verdict")["model"]
    .to_list()
)
print("Ship:", ", ".join(safe) or "nothing")
# %% [text]
# The hybrid model is shipped. This is about means: among new visitors its gain is not certain, a loss of more than 0.02 is ruled out, and more than a third of
# them get a worse list than before. The deep model has the higher mean among regular visitors, but new visitors lose by it. It may follow for regular visitors
# alone, after a test of its own.
