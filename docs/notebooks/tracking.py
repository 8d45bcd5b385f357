# %% [text]
# # Two runs in MLflow, compared by what they stored
#
# The model in production was evaluated last month. Its rows are gone, but its run in MLflow holds the value of each
# list. The new model is compared with it, user by user.
#
# The data is generated, so that anybody can repeat it: `python tools/notebook.py tracking` runs this page again.
# %%
import logging
import tempfile

import mlflow
import numpy as np
import polars as pl

logging.disable()  # the store reports each of its tables
mlflow.set_tracking_uri(
    f"sqlite:///{tempfile.mkdtemp()}/mlflow.db"
)  # yours: the address of your server
mlflow.create_experiment("ranking", artifact_location=tempfile.mkdtemp())
mlflow.set_experiment("ranking")

rng = np.random.default_rng(3)
users, items = 300, 20
taste = rng.normal(size=users * items)
rows = pl.DataFrame(
    {
        "user": np.repeat(np.arange(users), items),
        "item": np.tile(np.arange(items), users),
        "clicked": taste + rng.normal(size=users * items) > 1.5,
        "country": np.repeat(rng.choice(["no", "se"], users), items),
        "old": 0.5 * taste + rng.normal(size=users * items),
        "new": 0.9 * taste + rng.normal(size=users * items),
    }
)
# %% [text]
# ## A run for each model
#
# `mlflow.models.evaluate` finds recframe by the model type `"ranker"`. Each run holds the metrics at each k, tables, charts and a baseline.
# %%
config = {
    "metrics": ["ndcg", "recall"],
    "k": [5, 10],
    "by": "user",
    "per": "country",
}


def evaluated(model, **more):
    data = mlflow.data.from_polars(rows, targets="clicked", predictions=model)
    with mlflow.start_run(run_name=model):
        return mlflow.models.evaluate(
            data=data, model_type="ranker", evaluator_config={**config, **more}
        )


old = evaluated("old")
print(old.metrics)
# %%
print(old.tables["segments"].round(3))
# %%
old.artifacts["curve"].content
# %% [text]
# ## The new model against the stored baseline
#
# The run of the old model is the baseline. Only its artifact is read.
# %%
new = evaluated("new", baseline=old.run_id)
print(
    new.tables["comparison"][
        [
            "metric",
            "difference",
            "low",
            "high",
            "p_adjusted",
            "lists",
            "changed",
        ]
    ].round(3)
)
# %% [text]
# The new model is better at both cutoffs: no interval holds 0, and no list was left out. The users it fails are in the table of lists:
# %%
lists = new.tables["lists"].merge(
    old.tables["lists"], on="user", suffixes=("", "_old")
)
lists["lost"] = lists["ndcg@10_old"] - lists["ndcg@10"]
print(
    lists.nlargest(3, "lost")[["user", "ndcg@10", "ndcg@10_old", "lost"]].round(
        3
    )
)
