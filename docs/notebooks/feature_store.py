# %% [text]
# # From a feature store to a decision
#
# Feast keeps features with the time from which each value holds. The page joins logged impressions to the features as they were at the time, scores
# them by two models, and decides. It runs on Feast with its local provider, in a folder of its own: `pip install feast`.
#
# The data is generated, so that anybody can repeat it: `python tools/notebook.py feature_store` runs this page again.
# %%
import datetime as dt
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from feast import (
    Entity,
    FeatureStore,
    FeatureView,
    Field,
    FileSource,
    RepoConfig,
    ValueType,
)
from feast.types import Float64, Int64

import recframe  # noqa: F401 - gives frames .rec

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(5)
days, items, users, shown = (
    pd.date_range("2026-03-01", periods=28, tz="UTC"),
    40,
    300,
    12,
)
appeal = rng.normal(size=items)
daily = pd.DataFrame(
    {
        "sku": np.repeat(np.arange(items), len(days)),
        "event_timestamp": np.tile(days, items),
    }
)
trend = np.repeat(appeal, len(days)) + 0.1 * rng.normal(
    size=len(daily)
).cumsum() / np.sqrt(len(daily))
daily["clicks"] = rng.poisson(np.exp(2 + 0.6 * trend))
daily["price"] = rng.integers(2, 9, len(daily)).astype(float)
daily.to_parquet(folder / "items.parquet")
# %% [text]
# ## The store
# %%
sku = Entity(name="sku", join_keys=["sku"], value_type=ValueType.INT64)
view = FeatureView(
    name="items",
    entities=[sku],
    ttl=dt.timedelta(days=7),
    schema=[
        Field(name="clicks", dtype=Int64),
        Field(name="price", dtype=Float64),
    ],
    source=FileSource(
        path=str(folder / "items.parquet"), timestamp_field="event_timestamp"
    ),
)
store = FeatureStore(
    config=RepoConfig(
        project="shop",
        provider="local",
        registry=str(folder / "registry.db"),
        online_store={"type": "sqlite", "path": str(folder / "online.db")},
        entity_key_serialization_version=3,
    )
)
store.apply([sku, view])
# %% [text]
# ## Impressions, with the features as they were
#
# Each user was shown twelve items at one moment. `get_historical_features` gives each row the last value before that moment.
# %%
seconds = np.sort(rng.choice(20 * 86_400, users, replace=False))
seen = np.concatenate(
    [rng.choice(items, shown, replace=False) for _ in range(users)]
)
impressions = pd.DataFrame(
    {
        "user": np.repeat(np.arange(users), shown),
        "sku": seen,
        "event_timestamp": np.repeat(
            days[7] + pd.to_timedelta(seconds, unit="s"), shown
        ),
        "clicked": (appeal[seen] + rng.normal(size=users * shown) > 1.2).astype(
            int
        ),
    }
)
job = store.get_historical_features(
    entity_df=impressions, features=["items:clicks", "items:price"]
)
joined = job.to_df().sort_values(["user", "sku"], ignore_index=True)
print(len(impressions), "impressions,", len(joined), "rows from the store")
# %% [text]
# Count the rows. The store on files keeps one row for each key and time: of two users who were shown the same item at the same moment it drops one.
# Here every moment is one user's. If yours are not, make the user a part of the key.
#
# ## The same join in polars
#
# `join_asof` takes the last row up to the moment. Both sides are sorted by time.
# %%
features = pl.read_parquet(folder / "items.parquet").sort("event_timestamp")
rows = pl.from_pandas(impressions).sort("event_timestamp")
as_of = rows.with_columns(
    pl.col("event_timestamp").cast(pl.Datetime("us", "UTC"))
).join_asof(
    features.with_columns(
        pl.col("event_timestamp").cast(pl.Datetime("us", "UTC"))
    ),
    on="event_timestamp",
    by="sku",
    tolerance="7d",
    check_sortedness=False,
)
as_of = as_of.sort("user", "sku")
print((as_of["clicks"].to_numpy() == joined["clicks"].to_numpy()).all())
# %% [text]
# ## Two models
#
# The models of this page are formulas: the model in production prefers cheap items, the new one those that were clicked. Yours predict here.
# %%
joined["cheap"], joined["popular"] = (
    -joined["price"],
    joined["clicks"] / joined["price"] ** 0.2,
)
as_of = as_of.with_columns(
    cheap=-pl.col("price"), popular=pl.col("clicks") / pl.col("price") ** 0.2
)
roles = {"by": "user", "item": "sku", "relevant": "clicked"}
print(
    as_of.rec.check(k=5, score=["cheap", "popular"], **roles).select(
        "model", "finding", "count"
    )
)
# %% [text]
# Users who clicked nothing tell nothing about the order, and are left out. Equal prices tie, and count by the mean over their orders. No error, so compare.
# %%
metrics = {"metrics": ["ndcg", "recall"], "k": 5}
on_pandas = joined.rec.compare(
    **metrics, score=["cheap", "popular"], baseline="cheap", **roles
)
on_polars = as_of.rec.compare(
    **metrics, score=["cheap", "popular"], baseline="cheap", **roles
)
print(
    on_pandas[
        ["metric", "model", "difference", "low", "high", "verdict"]
    ].round(3)
)
print(np.allclose(on_pandas["difference"], on_polars["difference"]))
# %% [text]
# ## Store the baseline
#
# Both intervals are above 0, and the verdict is `better`: the new model goes into production. Its values are the baseline of whatever comes next, and need no feature store then.
# %%
production = folder / "production.parquet"
as_of.rec.evaluate(**metrics, score="popular", save=production, **roles)
candidate = as_of.with_columns(log=pl.col("clicks").log1p())
later = candidate.rec.compare(
    **metrics, score="log", baseline=production, details=True, **roles
)
print(
    later.select(
        "metric",
        "model",
        "baseline",
        pl.col("difference").round(3),
        "verdict",
        "changed",
    )
)
