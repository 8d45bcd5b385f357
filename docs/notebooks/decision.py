# %% [text]
# # Should the new model replace the old one?
#
# A shop recommends ten items to each visitor. The old model is in service, and two candidates, `deep` and `hybrid`, are ready. This page goes from
# the table of scores to a decision with its reasons.
#
# <details markdown="1">
# <summary>The code that generates the data</summary>
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
# %% [text]
# </details>
#
# The table has one row per visitor and item, with the scores of all three models and what the visitor bought:
# %%
store.drop("item").head(3)
# %% [text]
# ## Is the data sound?
#
# Name the columns once, and check them before you look at any number:
# %%
shop = store.rec(
    by="visitor", relevant="bought", score=["old", "deep", "hybrid"]
)
shop.check(k=10).select("model", "finding", "severity", "count")
# %% [text]
# 96 of 600 visitors bought nothing. They cannot tell which order is better, so they are left out. Nothing else is wrong.
#
# ## How good are the models?
#
# Recall@10 is the share of a visitor's purchases among the ten items. NDCG@10 also rewards purchases near the top.
# %%
recframe.table(shop.evaluate(["ndcg", "recall"], k=10))
# %%
shop.plot.curve("ndcg", k=range(1, 16))
# %% [text]
# ## Is the difference real?
#
# Both candidates have higher means, but a higher mean can be chance. `compare` pairs the models visitor by visitor:
# %%
recframe.table(shop.compare("ndcg@10", baseline="old"), digits=3)
# %% [text]
# Both are better than `old`. Still, every third visitor gets a worse list from `deep`:
# %%
shop(score=["old", "deep"]).plot.differences("ndcg@10")
# %% [text]
# ## For whom?
#
# A mean hides who pays for it. `deep` needs a history, which new visitors do not have:
# %%
shop.plot.segments("ndcg@10", per="segment")
# %% [text]
# The shop set a rule before: a model may lose at most 0.02 in the mean of any segment. So `margin=` is 0.02. The four p-values are adjusted for each
# other: all four verdicts are right with a probability of 95 %.
# %%
segments = shop.compare("ndcg@10", baseline="old", per="segment", margin=0.02)
recframe.table(segments, digits=3)
# %% [text]
# `deep` is worse for new visitors. `hybrid` is not worse: its interval excludes 0, but it is not adjusted for four rows, so read the verdict.
#
# How many visitors lose? `details=True` counts:
# %%
shop.compare("ndcg@10", baseline="old", per="segment", details=True).select(
    "segment", "model", "wins", "ties", "losses"
)
# %% [text]
# ## Does it last?
#
# Both candidates are ahead of `old` in all eight weeks:
# %%
shop.plot.trend("ndcg@10", per="week")
# %% [text]
# ## Decision
#
# A model ships if it is better or not worse in every segment:
# %%
not_worse = pl.col("verdict").is_in(["better", "equivalent", "not worse"])
segments.group_by("model", maintain_order=True).agg(ship=not_worse.all())
# %% [text]
# **Ship `hybrid`.** It is better for regular visitors. For new visitors a gain is not certain, but a loss of more than 0.02 is ruled out. This is
# about means: 51 of 141 new visitors get a worse list than before.
#
# **Do not ship `deep` to everybody.** It has the highest mean for regular visitors, but new visitors lose by it. It may follow for
# regular visitors alone, after a test of its own.
#
# ## The report
#
# One file with the verdicts, tables and charts, for everybody who was not here:
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
# %% [text]
# `python tools/notebook.py decision` in a checkout runs this page again.
