"""Ranking and recommendation metrics as a ``.rec`` namespace on polars and pandas DataFrames.

>>> import polars as pl
>>> import recframe
>>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
>>> round(df.rec.ndcg(2), 4)
0.6131
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recframe import errors
from recframe._call import register as _register
from recframe.errors import *  # noqa: F403 - all that `errors.__all__` names

if TYPE_CHECKING:
    from recframe import datasets, expr, metrics, plot, profiles
    from recframe._data.arrays import from_arrays
    from recframe._data.candidates import candidates
    from recframe._data.files.dicts import from_dict, to_dict
    from recframe._data.files.trec import read_qrels, read_run, write_run
    from recframe._data.lists import from_lists
    from recframe._display.forest import forest
    from recframe._display.table import table
    from recframe._inference.gates import require
    from recframe._inference.states.methods import merge_states
    from recframe._integrations.sql.call import sql
    from recframe._integrations.training.boosters import feval
    from recframe._integrations.training.scorer import scorer
    from recframe.accessor import EagerRec, LazyRec, rec
    from recframe.config import Config
    from recframe.factors import from_factors
    from recframe.metrics import CutMetric, Metric
    from recframe.profiles import explain

__all__ = [
    "Config",
    "CutMetric",
    "EagerRec",
    "LazyRec",
    "Metric",
    "candidates",
    "datasets",
    "explain",
    "expr",
    "feval",
    "forest",
    "from_arrays",
    "from_dict",
    "from_factors",
    "from_lists",
    "merge_states",
    "metrics",
    "plot",
    "profiles",
    "read_qrels",
    "read_run",
    "rec",
    "require",
    "scorer",
    "sql",
    "table",
    "to_dict",
    "write_run",
]
__all__ += errors.__all__

__version__ = "0.1.0"

_LATER = {
    "Config": "recframe.config",
    "CutMetric": "recframe.metrics",
    "EagerRec": "recframe.accessor",
    "LazyRec": "recframe.accessor",
    "Metric": "recframe.metrics",
    "candidates": "recframe._data.candidates",
    "explain": "recframe.profiles",
    "feval": "recframe._integrations.training.boosters",
    "from_arrays": "recframe._data.arrays",
    "from_dict": "recframe._data.files.dicts",
    "from_factors": "recframe.factors",
    "from_lists": "recframe._data.lists",
    "read_qrels": "recframe._data.files.trec",
    "read_run": "recframe._data.files.trec",
    "merge_states": "recframe._inference.states.methods",
    "rec": "recframe.accessor",
    "require": "recframe._inference.gates",
    "scorer": "recframe._integrations.training.scorer",
    "forest": "recframe._display.forest",
    "table": "recframe._display.table",
    "sql": "recframe._integrations.sql.call",
    "to_dict": "recframe._data.files.dicts",
    "write_run": "recframe._data.files.trec",
}
"""The module of each name that is imported at its first use, as the import of this package must be fast."""
_MODULES = ("accessor", "config", "datasets", "expr", "factors", "metrics", "plot", "profiles")
"""The public modules that are imported at their first use."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _LATER:
        attribute = globals()[name] = getattr(import_module(_LATER[name]), name)
        return attribute
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise errors.UnknownMethodError(msg, "" if name.startswith("_") else _hint(name))


def _hint(name: str) -> str:
    """Return the hint for a name that the package lacks, such as a method of frames; empty if there is none."""
    guesses, accessor, metrics = (
        import_module(f"{__name__}.{part}") for part in ("_base.guesses", "accessor", "metrics")
    )
    hint = guesses.new_name(name, __all__) or guesses.METHOD_HINTS.get(name.lower(), "")
    if hint:
        return str(hint)
    meant = (
        guesses.OTHER_METHOD_NAMES.get(name.lower(), "").removeprefix(f"{__name__}.") or metrics.alias_of(name) or name
    )
    if hasattr(accessor.Rec, meant):
        return (
            f"it is a method of frames: df.rec.{meant}(...), or recframe.rec(df).{meant}(...), "
            "where df may be a frame of each model, as in {'old': old, 'new': new}"
        )
    return f"did you mean {meant!r}?" if meant in __all__ else errors.closest(name, __all__)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, "errors", *filter(lambda name: name.startswith("__"), globals())})


_register.install()
