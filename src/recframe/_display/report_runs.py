"""What a report says of models that were trained several times."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._display.chart_texts import name_of
from recframe._display.data import NO_MODEL, Values
from recframe._display.frames import rows_of
from recframe._inference.lists.runs import RunsCall, RunValues, text_of_few_runs
from recframe._inference.lists.values import check_values_per_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._plan.request import Request
    from recframe.metrics import Metric

NOTE_ON_RUNS = "Values of lists are means over the runs of a model, and intervals count lists and runs as samples."


@dataclass(frozen=True)
class ReportRuns:
    """The runs of a report's rows, which are a data frame."""

    _call: RunsCall

    @classmethod
    def of(cls, request: Request, runs: str, refused: Mapping[str, bool], cluster: str | None) -> ReportRuns:
        """Return the runs of a call, or raise for arguments that do not go with runs."""
        made = RunsCall("describe", request, None, None, runs)
        made.check(refused, cluster, None)
        return cls(made)

    @property
    def column(self) -> str:
        """The column that says which run a row is from."""
        return self._call.runs

    def check(self, metrics: Sequence[Metric]) -> None:
        """Raise for metrics that have no value per list."""
        check_values_per_list(metrics, f"`runs={self.column!r}`")

    @property
    def counts(self) -> dict[Any, int]:
        """How many runs each model has."""
        return dict(Counter(model for model, _ in self._call.rows_of_runs.names.values()))

    @property
    def notes(self) -> list[str]:
        """The notes of a report about runs: how values are averaged, and a warning of few runs."""
        notes = [NOTE_ON_RUNS] if max(self.counts.values()) > 1 else []
        text = text_of_few_runs(self.counts, self.column)
        if text is not None:
            text = text.replace("`", "").replace("\n", " ")
            notes.append(f"{text[0].upper()}{text[1:]}.")
        return notes

    @property
    def frame_of_runs(self) -> tuple[Any, str]:
        """The user's frame with a column that names the model and the run of each row, and the name of this column."""
        return self._call.rows_of_runs.rows.to_native(), self._call.rows_of_runs.column

    def named(self, model: Any) -> str:
        """Return the name of a model, with how many runs it has."""
        return f"{name_of(model)} ({self.number_of(model)})"

    def number_of(self, model: Any) -> str:
        """Return how many runs a model has, in words."""
        count = self.counts[model]
        return f"{count} run{'' if count == 1 else 's'}"

    def table(self, spread: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        """Return the means of a description, a row for each model and a column for each metric."""
        columns: dict[str, list[Any]] = {}
        for row in rows_of(spread):
            if "model" in row and row["model"] not in columns.setdefault("model", []):
                columns["model"].append(row["model"])
            columns.setdefault(row["metric"], []).append(row["mean"])
        return nw.from_dict(columns, backend=nw.get_native_namespace(spread))

    def values(self, metric: str | Metric) -> Values:
        """Return the values of lists as means over runs, NaN where a run has none."""
        run_values = RunValues.of(replace(self._call, metrics=metric))
        lists = [run_values.table(model, 0).mean(axis=1) for model in range(len(run_values.models))]
        models = [*map(name_of, run_values.models)] if self._call.model is not None else [NO_MODEL]
        return Values(run_values.plan.metrics[0], models, lists, [np.ones(len(values)) for values in lists])
