"""The ranks of models from merged states: the sums of all pairs show how the means vary together."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._inference.lists import paired_sums as paired
from recframe._inference.lists.paired_sums import model_pairs
from recframe._inference.ranks.rank_models import Means, named_rows
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._inference.ranks.rank_models import Options
    from recframe._inference.states.merged_runs import MergedRuns
    from recframe._inference.states.merging import Rows


def ranks_of_states(rows: Rows, options: Options, runs: MergedRuns | None) -> list[dict[str, Any]]:
    """Return the ranks of models in each segment.

    Raises
    ------
    OptionError
        There is one model only, the states do not hold all pairs, or models have values in different lists.
    """
    pairs = [(first, second) for second, first in model_pairs(rows.models, None, "rank_models")]
    missing = [pair for pair in pairs if not rows.holds_pair(*pair)]
    if missing:
        first, second = (rows.models[number] for number in missing[0])
        msg = f"rank_models needs all pairs of models, but not all states compare {second!r} with {first!r}"
        raise OptionError(msg, "state(..., score=[...]) without baseline= holds all pairs")
    ranked = []
    for metric in rows.metrics:
        means = _means(rows, metric, pairs)
        if runs is not None and runs.several:
            means = _with_runs(means, rows, metric, runs)
        upwards = rows.definitions[metric]["higher_is_better"]
        by_segment = [means_of_segment.ranks(options, higher_is_better=upwards) for means_of_segment in means]
        ranked += named_rows(metric, rows.models, by_segment)
    return ranked


def _with_runs(means: Sequence[Means], rows: Rows, metric: str, runs: MergedRuns) -> list[Means]:
    """Return the means of segments with what the runs of each model add to their variances."""
    of_models = []
    for number, model in enumerate(rows.models):
        sums = rows.arrays("metric", metric, model)
        of_models.append(runs.of_model(metric, model, sums, [each.means[number] for each in means]))
    return [each.with_runs(every) for each, every in zip(means, zip(*of_models, strict=True), strict=True)]


def _means(rows: Rows, metric: str, pairs: Sequence[tuple[int, int]]) -> list[Means]:
    """Return the means of each segment."""
    models = [rows.arrays("metric", metric, model) for model in rows.models]
    sums = [rows.pair(metric, second, first) for first, second in pairs]
    for name in ("lists", "weight", "weight_squares"):
        if not all(np.allclose(each[name], models[0][name], rtol=1e-12, atol=0) for each in (*models, *sums)):
            msg = f"models have values of {metric} in different lists, and a state does not say which lists they share"
            raise OptionError(msg, "rank_models on the frames themselves")
    differences = paired.statistics({name: np.array([each[name] for each in sums]) for name in sums[0]})
    means_by_segment = []
    for segment in range(len(rows.segments)):
        variances = np.zeros((len(models), len(models)))
        for number, (first, second) in enumerate(combinations(range(len(models)), 2)):
            variances[first, second] = variances[second, first] = differences.standard_error[number, segment] ** 2
        weight = [model["weight"][segment] for model in models]
        totals = [model["total"][segment] for model in models]
        means = np.array([total / each if each > 0 else np.nan for total, each in zip(totals, weight, strict=True)])
        means_by_segment.append(
            Means(models[0]["lists"][segment], means, variances, differences.degrees[0, segment].item())
        )
    return means_by_segment
