"""The table of commands: summary, parameters and examples. It imports nothing slow, so ``--help`` is fast."""

from __future__ import annotations

from typing import NamedTuple

NAME = "recframe"
COMPLETE = "_RECFRAME_COMPLETE"
"""The variable by which a shell requests completions."""


class CommandText(NamedTuple):
    """The help text of a command, and its parameters.

    A parameter is a name in `definitions` or a tuple of the call's arguments. ``arguments`` stands for all arguments
    that are not roles.
    """

    summary: str
    examples: tuple[str, ...]
    parameters: tuple[str | tuple[str, ...], ...] = ("files", "metrics", "arguments", "roles", "output")
    details: str = ""


COMMANDS = {
    "bounds": CommandText(
        "Compute the lowest and highest values that the judgments missing from --truth can give.",
        ("recframe bounds results.test --truth qrels.test -m ndcg@10",),
        details="The files are one model.",
    ),
    "changes": CommandText(
        "Show which lists lost and gained most between two models, and the items that did it.",
        ("recframe changes old.csv new.csv --truth test.csv -m ndcg@10 --most 5",),
        ("files", "one_metric", ("baseline",), "most", "roles", "output"),
    ),
    "check": CommandText(
        "Look for what makes numbers wrong: repeated rows, NaN scores, ties and more.",
        ("recframe check recs.parquet -k 10 --fail-on-check",),
        ("files", "cutoff", ("all",), "roles", "fail_on_check", "output"),
    ),
    "compare": CommandText(
        "Compare models list by list: differences, intervals and p-values.",
        (
            "recframe compare old.csv new.csv --truth test.csv -m ndcg@10 --baseline old",
            "recframe compare old.csv new.csv --truth test.csv -m ndcg@10 --fail-unless-not-worse old --margin 0.005",
            "recframe evaluate old.csv --truth test.csv -m ndcg@10 --save prod.parquet",
            "recframe compare new.csv --truth test.csv -m ndcg@10 --baseline prod.parquet --fail-unless-not-worse",
        ),
        ("files", "metrics", "arguments", "roles", "fail_unless_not_worse", "output"),
        "The table shows what fits the terminal; --json, --csv, --markdown and --out hold all columns.",
    ),
    "completion": CommandText(
        "Print the script that completes options, metrics and files.", ("recframe completion zsh",), ("shell",)
    ),
    "describe": CommandText("Show how the values of lists spread.", ("recframe describe recs.parquet -m ndcg@10",)),
    "estimate-with-judge": CommandText(
        "Compute means from human judgments of some lists and a model's judgments of all.",
        ("recframe estimate-with-judge recs.csv --truth human.csv --judge llm.csv -m ndcg@10",),
        details="The lists of --truth must be a random sample of the lists of --judge.",
    ),
    "evaluate": CommandText(
        "Compute metrics: one value for each model, or for each --per.",
        (
            "recframe evaluate recs.parquet -m ndcg -m recall -k 5 10",
            "recframe evaluate old=old.csv new=new.csv --truth test.csv -m ndcg@10 --fail-under ndcg@10=0.3",
            "recframe evaluate results.test --truth qrels.test --like trec_eval -m map -m ndcg",
        ),
        (
            "files",
            "metrics",
            "counts",
            "chance",
            ("strata", "strata_weights"),
            "roles",
            "fail_under",
            "fail_on_check",
            "save",
            "output",
        ),
    ),
    "explain": CommandText(
        "Say in words and in a formula what a metric computes, here or in a library.",
        ("recframe explain ndcg@10", "recframe explain 'map@10' --like rectools"),
        ("metric", "policies"),
    ),
    "metrics": CommandText("List the metrics with their formulas and options.", ("recframe metrics",), ()),
    "rank-models": CommandText(
        "Rank the models: the ranks that the data leave open, and which are tied with the best.",
        ("recframe rank-models old.csv new.csv large.csv --truth test.csv -m ndcg@10",),
    ),
    "report": CommandText(
        "Write a page of HTML: verdicts, comparisons, means, charts, checks, definitions.",
        ("recframe report old.csv new.csv --truth test.csv -m ndcg@10 -m recall@10 --out report.html",),
        (
            "files",
            "metrics",
            "title",
            ("baseline", "confidence", "correction", "cluster", "margin", "runs"),
            "roles",
            "page",
        ),
        "It is one file, which reads nothing else. It needs the extra plot.",
    ),
    "sample-size": CommandText(
        "Say how many lists find a difference between models, from the variance of those seen.",
        ("recframe sample-size old.csv new.csv --truth test.csv -m ndcg@10 --difference 0.01 --tests 12",),
    ),
    "sql": CommandText(
        "Write the query of SQL that computes metrics in a database.",
        ("recframe sql -m ndcg@10 -m map@10 --table recs --by user_id --relevant clicked --dialect snowflake",),
        ("metrics", "sql", "counts", "roles_of_tables"),
        "The query starts with a comment that says what is computed. It needs the extra sql.",
    ),
}


def examples_text(*lines: str) -> str:
    """Return the end of a help text: commands that can be copied."""
    # \b keeps click from joining the lines.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def number_of(text: str) -> int | float | None:
    """Return a text as an int if possible, otherwise as a float; None if it is not a number."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
