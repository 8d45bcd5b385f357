"""The columns of a comparison, which follow the columns of `per`."""

from __future__ import annotations

FIRST = ("metric", "model", "difference", "baseline", "p_adjusted")
"""The columns in front. A terminal of 80 columns hides those in the middle, and with `per` also the difference."""
LAST = ("low", "high", "verdict")
"""The columns at the end, which every terminal shows."""
ANSWER: tuple[str, ...] = (*FIRST, *LAST)
"""The columns of every comparison: as many as polars prints."""
COLUMNS: tuple[str, ...] = (
    *FIRST, "relative", "mean", "baseline_mean", "lists", "effective", "wins", "ties", "losses", "effect",
    "detectable", "p", "p_margin", *LAST,
)  # fmt: skip
"""The columns of a comparison with details."""
UNPAIRED: tuple[str, ...] = (
    *FIRST, "relative", "mean", "baseline_mean", "lists", "baseline_lists", "p", "p_margin", *LAST,
)  # fmt: skip
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
