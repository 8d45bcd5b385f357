"""The decisions of a comparison about the models of a table: bold means, and letters of the beaten models."""

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
    """Return the metric that a column is named after, or nothing."""
    # Of a metric that is given without a cutoff, a result may have several.
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
class Decided:
    """The verdicts of a comparison, by segment and metric as text."""

    models: Sequence[str] = ()
    """The models of the table, in its order."""
    tested: Mapping[tuple[str, ...], set[frozenset[str]]] = field(default_factory=dict)
    """The pairs of models that were compared."""
    beaten: Mapping[tuple[str, ...], Mapping[str, set[str]]] = field(default_factory=dict)
    """The models that each model is better than."""
    lower: frozenset[str] = frozenset()
    """The metrics where lower is better."""

    @property
    def lettered(self) -> bool:
        """Whether letters are useful, and there are enough letters for all models."""
        return bool(self.tested) and len(self.models) <= len(LETTERS)

    def letter(self, model: str) -> str:
        """Return the letter of a model."""
        return LETTERS[self.models.index(model)]

    def letters(self, about: tuple[str, ...], model: str) -> str:
        """Return the letters of the models that a model is better than."""
        return "".join(sorted(self.letter(other) for other in self.beaten.get(about, {}).get(model, ())))

    def unbeaten(self, about: tuple[str, ...], means: Mapping[str, Any]) -> set[str]:
        """Return the best model, and all models that were compared with it and are beaten by none."""
        beaten = set().union(*self.beaten.get(about, {}).values())
        left = {model: mean for model, mean in means.items() if model not in beaten and not is_missing(mean)}
        if not beaten or not left:
            return set()
        sign = -1 if about[-1] in self.lower else 1
        best = max(left, key=lambda model: sign * left[model])
        return {best} | {model for model in left if frozenset((model, best)) in self.tested[about]}

    def notes(self, columns: Iterable[Iterable[Cell]], *, letters: bool) -> list[str]:
        """Return the notes that explain the marks in the cells of a table."""
        if not self.tested:
            return []
        if not any(self.beaten.values()):
            return ["No model is found better than another."]
        every = {frozenset(pair) for pair in combinations(self.models, 2)}
        some = any(pairs < every for pairs in self.tested.values())
        bold = any(cell.bold for cells in columns for cell in cells)
        notes = ["Bold: the best mean, and each that the comparison does not find worse than it."] if bold else []
        notes += ["Only some pairs of models were compared."] if some else []
        return notes + (["Letters: the models that this one is better than, by the verdict."] if letters else [])


def decided_of(columns: Mapping[str, Sequence[Any]], models: Sequence[str], records: Mapping[str, Metric]) -> Decided:
    """Return the decisions in the rows of a comparison."""
    names = list(columns)
    tested: dict[tuple[str, ...], set[frozenset[str]]] = {}
    beaten: dict[tuple[str, ...], dict[str, set[str]]] = {}
    labels = zip(*(map(label_text, columns[name]) for name in names[: names.index("metric") + 1]), strict=True)
    pairs = zip(columns["model"], columns["baseline"], strict=True)
    for about, pair, verdict in zip(labels, pairs, columns["verdict"], strict=True):
        model, baseline = map(label_text, pair)
        tested.setdefault(about, set()).add(frozenset((model, baseline)))
        if verdict in ("better", "worse"):
            winner, loser = (model, baseline) if verdict == "better" else (baseline, model)
            beaten.setdefault(about, {}).setdefault(winner, set()).add(loser)
    found = {name: record_of(str(name), records) for name in dict.fromkeys(columns["metric"])}
    lower = frozenset(str(name) for name, record in found.items() if record is not None and not record.higher_is_better)
    return Decided(models, tested, beaten, lower)
