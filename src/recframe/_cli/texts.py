"""What the command line and its commands are called, and what each does in a line."""

from __future__ import annotations

NAME = "recframe"
COMPLETE = "_RECFRAME_COMPLETE"
"""The variable by which a shell requests completions."""
OPTIONS_OF_COMPARE = ("baseline", "test", "confidence", "correction", "cluster", "resamples", "seed", "interval")
"""The arguments of a comparison that are no roles."""
COMMANDS = {
    "check": "Look for what makes numbers wrong: repeated rows, NaN scores, ties and more.",
    "compare": "Compare models list by list: differences, intervals and p-values.",
    "completion": "Print the script that completes commands and options in a shell.",
    "describe": "Show how the values of lists spread.",
    "evaluate": "Compute metrics: one value for each model, or for each --per.",
    "explain": "Say in words and in a formula what a metric computes, here or in a library.",
    "metrics": "List the metrics with their formulas and options.",
    "report": "Write a page of HTML: means, comparisons, charts, checks, definitions.",
}
"""What each command does, in a line."""


def examples_text(*lines: str) -> str:
    """Return the end of a help text: commands that can be copied."""
    # \b keeps click from joining the lines.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
