"""Rows of models that were trained several times, and the values of lists of each model and run.

The rows of each run of a model are ranked as if the run were a model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._base.defaults import current
from recframe._base.values import as_tuple
from recframe._call.evaluate import plan_of_lists
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import adapter_of
from recframe._inference.lists.keys import rows_of
from recframe._inference.lists.values import ListValues, check_values_per_list, segments, value_column
from recframe.errors import DataWarning, InputError, OptionError, quoted, warn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from recframe._base.strata import Strata
    from recframe._plan.plan import Plan
    from recframe._plan.request import Request

    Floats = NDArray[np.float64]

ONE_RUN = (
    "{} {} one run in `runs={!r}`, and counts as if every training gave the same model.\nThat is right for models"
    " without randomness, such as the most popular items; otherwise give more runs"
)
TWO_RUNS = (
    "{} {} two runs in `runs={!r}`, which tell little about how much runs vary: an interval of 95 % may hold the true"
    " value in 87 % only.\nGive five runs of each model"
)
SINGLE_RUNS = (
    "each model has one run in `runs={!r}`: the result is about these runs, and cannot tell how much of a difference"
    " another seed would make.\nTrain each model with five seeds, and give the rows of all runs"
)
OF_ONE_MODEL = ("describe", "state")
"""The calls that need no column of models."""
SHARED_LISTS = 0.5
"""Each run of a model must have rows in more than this share of the model's lists."""


@dataclass(frozen=True)
class RunsCall:
    """A call on rows of several runs: what the user asks, and the arguments of the call."""

    name: str
    request: Request
    metrics: Any
    k: Any
    runs: str
    """The column that says which run a row is from."""

    @property
    def model(self) -> str | None:
        """The column that names the models of rows."""
        column: str | None = {**current(), **self.request.named}.get("model")
        return column

    def check(self, refused: Mapping[str, bool], cluster: str | None, strata: Strata | None) -> None:
        """Raise for arguments and frames that cannot have runs, before any row is read.

        `refused` maps the text of each argument that does not go with runs to whether it was given.
        """
        roles = {**current(), **self.request.named}
        named = {"cluster": cluster, "strata": None if strata is None else strata.column}
        named |= {name: roles.get(name) for name in ("per", "per_item", "weight")}
        refused = {**refused, **{f"`{name}={quoted(value)}`": value is not None for name, value in named.items()}}
        for what in (text for text, is_refused in refused.items() if is_refused):
            raise not_with_runs(self.runs, what)
        column = next((name for name in ("score", "rank") if len(as_tuple(roles.get(name))) > 1), None)
        if column is not None or (self.model is None and self.name not in OF_ONE_MODEL):
            what = "but there is no `model=`" if column is None else f"but `{column}={roles[column]!r}` names columns"
            msg = f"`runs={self.runs!r}` is about models in rows, {what}"
            raise OptionError(msg, "stack the rows of all models and runs, and name the models by `model='model'`")
        if self.runs == self.model:
            msg = f"`runs={self.runs!r}` is also the column of models"
            raise OptionError(msg, "name the column that says which training run a row is from, such as a seed")
        frame = self.request.frame
        adapter = adapter_of(frame)
        if not (adapter.eager or adapter.postpones):
            msg = f"`runs={self.runs!r}` needs a frame in memory, but this is a {type(frame).__name__}"
            raise OptionError(msg, adapter.remedy or "pass a frame of polars or pandas")
        adapter.checked("frame", Source(frame, {"run": ColumnSpec(self.runs, "runs", "key")}))

    def plan(self, frame: Any = None, model: str | None = None) -> Plan:
        """Return the plan of the user's frame, or of a frame with another column of models."""
        request = self.request
        if frame is not None:
            request = replace(request, frame=frame, roles={**request.roles, "model": model})
        return plan_of_lists(request, self.metrics, self.k, self.name, None)

    @cached_property
    def rows_of_runs(self) -> RowsOfRuns:
        """The user's frame with a column that names the model and the run of each row."""
        rows = adapter_of(self.request.frame).as_result(self.request.frame)
        columns = [*([] if self.model is None else [self.model]), self.runs]
        for name in columns:
            if rows[name].null_count():
                msg = f"{name!r} is missing in {rows[name].null_count():,} rows, so their run is not known"
                raise InputError(msg, f"fill in the model and the run of each row, or leave `runs={self.runs!r}` out")
        name = " and ".join(columns)
        while name in rows.columns:
            name += "'"
        text = nw.concat_str([nw.col(column).cast(nw.String()) for column in columns], separator=", run ")
        rows = rows.with_columns(text.alias(name))
        names = rows.select(name, *columns).unique()
        values_of_names = {
            row[0]: (None if self.model is None else row[1], row[-1]) for row in rows_of(names, [name, *columns])
        }
        if len(values_of_names) < len(names):
            msg = f"two values of {' or '.join(map(repr, columns))} are the same text"
            raise InputError(msg, "rename models or runs")
        return RowsOfRuns(rows, name, values_of_names)


@dataclass(frozen=True)
class RowsOfRuns:
    """Rows with a column that names their model and their run."""

    rows: nw.DataFrame[Any]
    column: str
    names: dict[str, tuple[Any, Any]]
    """The model and the run by the text of the column."""

    @property
    def several(self) -> bool:
        """Whether a model has several runs."""
        models = [model for model, _ in self.names.values()]
        return len({*models}) < len(models)

    def check_lists(self, by: Sequence[str], runs: str) -> None:
        """Raise if the runs of a model have different lists, as folds do: a list without rows would count as 0."""
        if not {*by} <= {*self.rows.columns}:
            return
        keys = self.rows.select(*by, self.column).unique()
        counts = dict(rows_of(keys.group_by(self.column).agg(nw.len()), [self.column, "len"]))
        for model in dict.fromkeys(model for model, _ in self.names.values()):
            names = [name for name, (other, _) in self.names.items() if other == model]
            lists = len(keys.filter(nw.col(self.column).is_in(names)).select(*by).unique())
            least = min(sorted(names), key=counts.__getitem__)
            if counts[least] <= SHARED_LISTS * lists:
                msg = (
                    f"`runs={runs!r}` has other lists in each run: {least!r} has rows in {counts[least]:,} of {lists:,}"
                )
                raise InputError(msg, "give all runs the same lists; folds are no runs, so leave `runs=` out for them")


def not_with_runs(runs: str, what: str) -> OptionError:
    """Return the error for an argument that cannot be combined with `runs=`."""
    msg = f"`runs={runs!r}` does not go with {what}"
    return OptionError(msg, "leave one of them out")


@dataclass(frozen=True)
class RunValues:
    """The values of lists of each model and run.

    Attributes
    ----------
    models : list
        The models in the order of the rows.
    runs_of : dict
        The numbers of the columns of each model's runs, by the model's number.
    """

    plan: Plan
    values: ListValues
    models: list[Any]
    runs_of: dict[int, list[int]]

    @classmethod
    def of(cls, call: RunsCall) -> RunValues:
        """Return the values of a call on rows of several runs."""
        plan = call.plan(call.rows_of_runs.rows.to_native(), call.rows_of_runs.column)
        check_values_per_list(plan.metrics, f"`runs={call.runs!r}`")
        call.rows_of_runs.check_lists(plan.context.query.by, call.runs)
        values = ListValues(plan)
        if values.weighted:
            metric = plan.list_metrics[min(values.weighted)]
            raise not_with_runs(call.runs, f"{metric.label}, which weights lists")
        named = [call.rows_of_runs.names[name] for name in values.models]
        models = [*dict.fromkeys(model for model, _ in named)]
        # Runs are sorted, because the order of a sum changes its last bits.
        order = sorted(range(len(named)), key=values.models.__getitem__)
        runs = {number: [at for at in order if named[at][0] == model] for number, model in enumerate(models)}
        return cls(plan, values, models, runs)

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """The values of lists by column, NaN in a list without a value."""
        _, (part,) = segments(self.values, self.plan.context)
        return part

    def table(self, model: int, metric: int) -> Floats:
        """Return the values of a model as lists × runs."""
        return np.column_stack([self.columns[value_column(run, metric)] for run in self.runs_of[model]])

    def reported(self) -> nw.DataFrame[Any]:
        """Return a frame without columns of the kind that results are made of."""
        return segments(self.values, self.plan.context)[0]

    def warn(self, runs: str) -> None:
        """Warn about models with too few runs to know how much runs vary."""
        warn_of_few_runs({self.models[model]: len(columns) for model, columns in self.runs_of.items()}, runs)


def warn_of_few_runs(counts: Mapping[Any, int], runs: str) -> None:
    """Warn about models with too few runs to know how much runs vary. `counts` has the runs of each model."""
    text = text_of_few_runs(counts, runs)
    if text is not None:
        warn(text, DataWarning)


def text_of_few_runs(counts: Mapping[Any, int], runs: str) -> str | None:
    """Return the warning about models with few runs, or None if all models have enough runs."""
    if max(counts.values(), default=1) == 1:
        return SINGLE_RUNS.format(runs)
    for count, text in ((1, ONE_RUN), (2, TWO_RUNS)):
        few = [model for model, number in counts.items() if number == count]
        if few:
            names = "the model" if few == [None] else ", ".join(map(repr, few))
            return text.format(names, "has" if len(few) == 1 else "have", runs)
    return None


def warn_of_single_runs(runs: str) -> None:
    """Warn that each model has one run only."""
    warn(SINGLE_RUNS.format(runs), DataWarning)
