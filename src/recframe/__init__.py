"""Ranking and recommendation metrics as a ``.rec`` namespace on polars and pandas DataFrames.

>>> import polars as pl
>>> import recframe
>>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
>>> round(df.rec.ndcg(2), 4)
0.6131
"""

from __future__ import annotations

from recframe import _register, metrics, profiles
from recframe.accessor import EagerRec, LazyRec, rec
from recframe.data import candidates, from_lists
from recframe.errors import (
    ColumnTypeError,
    InputError,
    MissingColumnError,
    MissingExtraError,
    OptionError,
    OptionTypeError,
    RecError,
    RecWarning,
    UndefinedError,
    UndefinedWarning,
)
from recframe.factors import from_factors
from recframe.metrics import CutMetric, Metric
from recframe.profiles import explain

__all__ = [
    "ColumnTypeError",
    "CutMetric",
    "EagerRec",
    "InputError",
    "LazyRec",
    "Metric",
    "MissingColumnError",
    "MissingExtraError",
    "OptionError",
    "OptionTypeError",
    "RecError",
    "RecWarning",
    "UndefinedError",
    "UndefinedWarning",
    "candidates",
    "explain",
    "from_factors",
    "from_lists",
    "metrics",
    "profiles",
    "rec",
]

__version__ = "0.1.0"

_register.install()
