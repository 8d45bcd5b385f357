# %% [text]
# # Should the new model replace the old one?
#
# Your shop recommends ten items to each visitor. The old model is live, and two candidates, `deep` and `hybrid`, are ready. On this page you go from
# the table of scores to a decision that you can defend: is a candidate better, for whom, and does it last?
#
# You need the extras `polars`, `stats`, `plot` and `tables`.
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
# You have one row per visitor and item, with the scores of all three models and what the visitor bought:
# %%
store.drop("item").head(3)
# %% [text]
# ## Is the data sound?
#
# Name your columns once. Then check the data before you look at any number, because a mistake in the data looks just like a good or bad model:
# %%
shop = store.rec(
    by="visitor", relevant="bought", score=["old", "deep", "hybrid"]
)
shop.check(k=10).select("model", "finding", "severity", "count")
# %% [text]
# 96 of 600 visitors bought nothing. No order is better for them than another, so recframe leaves them out. That is the only finding, and there
# are no errors, so you can go on.
#
# ## How good are the models?
#
# Recall@10 is the share of a visitor's purchases among the ten items. NDCG@10 also rewards purchases near the top, so it is the metric that
# decides here. You should choose the metric before you see a result.
# %%
recframe.table(shop.evaluate(["ndcg", "recall"], k=10))
# %%
shop.plot.curve("ndcg", k=range(1, 16))
# %% [text]
# Both candidates are above `old` at every length of the list, so the choice of ten items does not decide who wins.
#
# ## Is the difference real?
#
# A higher mean can be chance, because you measured only some of your visitors. `compare` pairs the models visitor by visitor:
# %%
recframe.table(shop.compare("ndcg@10", baseline="old"), digits=3)
# %% [text]
# Both candidates are better than `old`. The interval of `deep` runs from 0.047 to 0.118, so the true gain is clearly above 0.
#
# A better mean does not mean that everybody gains. About every third visitor gets a worse list from `deep`:
# %%
shop(score=["old", "deep"]).plot.differences("ndcg@10")
# %% [text]
# ## For whom?
#
# `deep` learns from a visitor's history, which new visitors do not have. So compare the segments:
# %%
shop.plot.segments("ndcg@10", per="segment")
# %% [text]
# Your shop set a rule before the experiment: in no segment may a model lose more than 0.02. You pass this as `margin=0.02`. The p-values are adjusted for
# the four rows, so all four verdicts are right with a probability of 95 %:
# %%
segments = shop.compare("ndcg@10", baseline="old", per="segment", margin=0.02)
recframe.table(segments, digits=3)
# %% [text]
# `deep` is worse for new visitors. `hybrid` is `not worse` for them: a gain is likely but not certain, and a loss of 0.02 is ruled out. Its
# interval excludes 0, but intervals are not adjusted for the four rows, so you read the verdict.
#
# How many visitors gain and lose?
# %%
shop.compare("ndcg@10", baseline="old", per="segment", details=True).select(
    "segment", "model", "wins", "ties", "losses"
)
# %% [text]
# ## Does it last?
#
# A model that wins only in its first weeks is a novelty. Look at the weeks:
# %%
shop.plot.trend("ndcg@10", per="week")
# %% [text]
# Both candidates are ahead of `old` in all eight weeks.
#
# ## The decision
#
# By your rule, a model ships if it is better or not worse in every segment:
# %%
not_worse = pl.col("verdict").is_in(["better", "equivalent", "not worse"])
segments.group_by("model", maintain_order=True).agg(ship=not_worse.all())
# %% [text]
# **Ship `hybrid`.** It is better for regular visitors. For new visitors a gain is not certain, but a loss of more than 0.02 is ruled out. This is
# about means: 51 of 141 new visitors get a worse list than before.
#
# **Do not ship `deep` to everybody.** It gains the most for regular visitors, but new visitors lose. You could ship it to regular visitors
# alone. Confirm that with new data first, because you had this idea after you saw these results.
#
# ## The report
#
# Your colleagues were not here. Send them one file with the verdicts, tables and charts:
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
# To run this page again, call `python tools/notebook.py decision` in a checkout. Next: [how many users you need](howto/sample-size.md), and
# [how to stop a job when quality falls](howto/jobs.md).
