"""The columns of a comparison, which follow the columns of `per`."""

from __future__ import annotations

ANSWER: tuple[str, ...] = ("metric", "model", "verdict", "baseline", "p_adjusted", "difference", "low", "high")
"""The columns of every comparison: as many as polars prints. Narrow terminals hide those in the middle."""
COLUMNS: tuple[str, ...] = (
    *ANSWER, "relative", "mean", "baseline_mean", "lists", "effective", "wins", "ties", "losses", "effect",
    "detectable", "p", "p_margin",
)  # fmt: skip
"""The columns of a comparison with details."""
UNPAIRED: tuple[str, ...] = (*ANSWER, "relative", "mean", "baseline_mean", "lists", "baseline_lists", "p", "p_margin")
"""The columns of a comparison of other lists, with details."""
MEANS = ("mean", "baseline_mean")
"""The columns of means, which warnings about the data read."""
RELATIVE = ("relative_low", "relative_high")
"""The ends of the interval of the relative difference."""
CHANGED = "changed"
"""Which lists a baseline in a file and the frame do not share."""
RUN_COLUMNS = ("runs", "baseline_runs", "run_share")
"""How many training runs the model and the baseline have, and which share of the squared error comes from runs."""
RUN_STD = "run_std"
"""The standard deviation of the means of a model's runs."""
DETAILS = frozenset([*COLUMNS, *UNPAIRED, *RELATIVE, CHANGED, *RUN_COLUMNS]) - {*ANSWER}
"""All columns that only some comparisons have."""
