"""The verdicts of a comparison on the models of a table, which make means bold and give them letters."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from recframe._display.cells import RAISED, is_missing, label_text
from recframe.errors import OptionError, OptionTypeError, quoted
from recframe.metrics import Metric
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe._display.cells import Cell

LETTERS = "".join(filter(str.isalpha, map(chr, RAISED)))
"""The letters of models."""


def record_of(name: str, records: Mapping[str, Metric]) -> Metric | None:
    """Return the metric that a column is named after, or None."""
    # A record without a cutoff names the columns of the metric at every cutoff.
    for label in (name, name.rpartition("@")[0]):
        if label in records:
            return records[label]
    try:
        return spec_of(name).metric
    except OptionError:
        return None


def records_by_name(metrics: Any) -> dict[str, Metric]:
    """Return metrics by the names of their columns."""
    several = isinstance(metrics, list | tuple)
    if not several and not isinstance(metrics, str | Metric):
        msg = f"metrics={quoted(metrics)} is no list of metrics"
        raise OptionTypeError(msg, "metrics=[TopHeavy()]")
    records = [spec_of(metric).metric for metric in (metrics if several else [metrics])]
    return {record.label: record for record in records}


@dataclass(frozen=True)
class ModelVerdicts:
    """The verdicts of a comparison. The mappings have the texts of the segment and the metric as keys."""

    models: Sequence[str] = ()
    """The models of the table, in its order."""
    compared_pairs: Mapping[tuple[str, ...], set[frozenset[str]]] = field(default_factory=dict)
    """The pairs of models that were compared."""
    beaten: Mapping[tuple[str, ...], Mapping[str, set[str]]] = field(default_factory=dict)
    """The models that each model is better than."""
    lower: frozenset[str] = frozenset()
    """The metrics where lower is better."""

    @property
    def can_use_letters(self) -> bool:
        """Whether letters are useful, and there are enough letters for all models."""
        return bool(self.compared_pairs) and len(self.models) <= len(LETTERS)

    def letter_of(self, model: str) -> str:
        """Return the letter of a model."""
        return LETTERS[self.models.index(model)]

    def letters_of(self, key: tuple[str, ...], model: str) -> str:
        """Return the letters of the models that a model is better than."""
        return "".join(sorted(self.letter_of(other) for other in self.beaten.get(key, {}).get(model, ())))

    def tied_for_best(self, key: tuple[str, ...], means: Mapping[str, Any]) -> set[str]:
        """Return the best unbeaten model, and the unbeaten models that were compared with it.

        The result is empty if no model beats another, or if all unbeaten models lack a mean.
        """
        beaten = set().union(*self.beaten.get(key, {}).values())
        candidates = {model: mean for model, mean in means.items() if model not in beaten and not is_missing(mean)}
        if not beaten or not candidates:
            return set()
        sign = -1 if key[-1] in self.lower else 1
        best = max(candidates, key=lambda model: sign * candidates[model])
        return {best} | {model for model in candidates if frozenset((model, best)) in self.compared_pairs[key]}

    def notes(self, columns: Iterable[Iterable[Cell]], *, letters: bool) -> list[str]:
        """Return the notes that explain the marks in the cells of a table."""
        if not self.compared_pairs:
            return []
        if not any(self.beaten.values()):
            return ["No model is found better than another."]
        every = {frozenset(pair) for pair in combinations(self.models, 2)}
        lacks_pairs = any(pairs < every for pairs in self.compared_pairs.values())
        bold = any(cell.bold for cells in columns for cell in cells)
        notes = ["Bold: the best mean, and each that the comparison does not find worse than it."] if bold else []
        notes += ["Only some pairs of models were compared."] if lacks_pairs else []
        return notes + (["Letters: the models that this one is better than, by the verdict."] if letters else [])


def model_verdicts(
    columns: Mapping[str, Sequence[Any]], models: Sequence[str], records: Mapping[str, Metric]
) -> ModelVerdicts:
    """Return the verdicts in the rows of a comparison."""
    names = list(columns)
    compared_pairs: dict[tuple[str, ...], set[frozenset[str]]] = {}
    beaten: dict[tuple[str, ...], dict[str, set[str]]] = {}
    labels = zip(*(map(label_text, columns[name]) for name in names[: names.index("metric") + 1]), strict=True)
    pairs = zip(columns["model"], columns["baseline"], strict=True)
    for key, pair, verdict in zip(labels, pairs, columns["verdict"], strict=True):
        model, baseline = map(label_text, pair)
        compared_pairs.setdefault(key, set()).add(frozenset((model, baseline)))
        if verdict in ("better", "worse"):
            winner, loser = (model, baseline) if verdict == "better" else (baseline, model)
            beaten.setdefault(key, {}).setdefault(winner, set()).add(loser)
    metrics_by_name = {name: record_of(str(name), records) for name in dict.fromkeys(columns["metric"])}
    lower = frozenset(
        str(name) for name, record in metrics_by_name.items() if record is not None and not record.higher_is_better
    )
    return ModelVerdicts(models, compared_pairs, beaten, lower)
