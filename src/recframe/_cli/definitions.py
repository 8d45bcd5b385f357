"""The commands with their options and help.

The parser is click: it has completion for bash, zsh and fish, no dependencies, and starts in a few hundredths of a
second; typer and cyclopts import several times as much before they print their help.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from recframe import __version__
from recframe._arguments import CALL_ROLES
from recframe._cli import commands
from recframe._cli.options import FRAMES, POLICIES, call_options, policy_options, role_options
from recframe._cli.terminal import say
from recframe.accessor import EagerRec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAME = "recframe"
GATES = ("fail_under", "fail_on_check", "fail_if_worse", "margin")
OUTPUT = ("json", "csv", "markdown", "out")
SHELLS = ("bash", "zsh", "fish")
COMPLETE = "_RECFRAME_COMPLETE"
"""The variable by which a shell asks for completions."""


def application() -> click.Group:
    """Return the command line."""
    group = click.Group(
        NAME,
        help="Ranking and recommendation metrics for files of recommendations.\n\n"
        "Files are Parquet, CSV, TSV, NDJSON, Arrow, or runs and qrels of TREC. The columns user, item, score and "
        "relevant are read unless options name others.",
        epilog=_examples("recframe evaluate recs.parquet -m ndcg@10 -m map", "recframe metrics"),
        invoke_without_command=True,
        callback=_help,
        params=[
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_version,
                help="Print the version.",
            )
        ],
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    for command in _commands():
        group.add_command(command)
    return group


def _commands() -> list[click.Command]:
    gate = click.Option(
        ["--fail-under"],
        multiple=True,
        metavar="METRIC=X",
        help="Exit with 1 if a model's value is below X, or has none; evaluates the metric.",
    )
    on_check = click.Option(["--fail-on-check"], is_flag=True, help="Exit with 1 if a check of the files finds errors.")
    if_worse = click.Option(
        ["--fail-if-worse"],
        metavar="MODEL",
        help="Exit with 1 if another model may be worse than this one: if the interval of the difference reaches below "
        "minus the margin. Sets --baseline.",
    )
    margin = click.Option(["--margin"], type=float, metavar="X", help="How much worse a model may be. [0]")
    return [
        _command(
            "evaluate",
            commands.evaluate,
            "Compute metrics: one value for each model, or for each --per.",
            [*_of_metrics(), *role_options("evaluate"), gate, on_check],
            "recframe evaluate recs.parquet -m ndcg -m recall -k 5 10",
            "recframe evaluate old=old.csv new=new.csv --truth test.csv -m ndcg@10 --fail-under ndcg@10=0.3",
            "recframe evaluate results.test --truth qrels.test --like trec_eval -m map -m ndcg",
        ),
        _command(
            "compare",
            commands.compare,
            "Compare models list by list: differences, intervals and p-values.\n\n"
            "The table shows some of the columns; --json, --csv, --markdown and --out hold all of them.",
            [
                *_of_metrics(),
                *call_options(EagerRec.compare, commands.OPTIONS_OF_COMPARE),
                *role_options("compare"),
                if_worse,
                margin,
            ],
            "recframe compare old.csv new.csv --truth test.csv -m ndcg@10 --baseline old",
            "recframe compare old.csv new.csv --truth test.csv -m ndcg@10 --fail-if-worse old --margin 0.005",
        ),
        _command(
            "describe",
            commands.describe,
            "Show how the values of lists spread.",
            [*_of_metrics(), *call_options(EagerRec.describe, commands.OPTIONS_OF_DESCRIBE), *role_options("describe")],
            "recframe describe recs.parquet -m ndcg@10",
        ),
        _command(
            "check",
            commands.check,
            "Look for what makes numbers wrong: repeated rows, NaN scores, ties and more.",
            [
                click.Option(["-k", "--k"], type=int, metavar="N", help="The cutoff at which ties are looked for."),
                *role_options("check"),
                on_check,
            ],
            "recframe check recs.parquet -k 10 --fail-on-check",
        ),
        _command(
            "explain",
            commands.explain_metric,
            "Say in words and in a formula what a metric computes, here or in a library.",
            [click.Argument(["metric"]), *policy_options()],
            "recframe explain ndcg@10",
            "recframe explain 'map@10' --like rectools",
            files=False,
        ),
        _command(
            "metrics",
            commands.list_metrics,
            "List the metrics with their formulas and options.",
            [],
            "recframe metrics",
            files=False,
        ),
        _command(
            "demo",
            commands.demo,
            "Show what the package computes, on built-in data or on your ratings.\n\n"
            "Ranks one list by two models, then compares three simple recommenders on data that is generated on the "
            "spot; with --ratings, on a file of yours.",
            _of_demo(),
            "recframe demo",
            "recframe demo --seed 1 --k 3 10",
            files=False,
        ),
        _command(
            "completion",
            _completion,
            "Print the script that completes commands and options in a shell.",
            [click.Argument(["shell"], type=click.Choice(SHELLS))],
            "recframe completion zsh",
            files=False,
        ),
    ]


def _command(
    name: str,
    call: Callable[..., Any],
    text: str,
    params: Sequence[click.Parameter],
    *examples: str,
    files: bool = True,
) -> click.Command:
    """Return a command whose help lists its options by what they are for."""
    common = [
        click.Argument(["files"], nargs=-1, required=True, metavar="FILE...", type=click.Path()),
        click.Option(
            ["--format"],
            type=click.Choice(("parquet", "csv", "tsv", "ndjson", "arrow", "trec")),
            help="The format of the files, where their endings do not say it.",
        ),
    ]
    output = [
        click.Option(["--json"], is_flag=True, help="Print JSON, with all digits."),
        click.Option(["--csv"], is_flag=True, help="Print CSV, with all digits."),
        click.Option(["--markdown"], is_flag=True, help="Print a table of Markdown."),
        click.Option(
            ["--out"],
            type=click.Path(),
            metavar="FILE",
            help="Write a file too: .json, .ndjson, .csv, .tsv, .md, .txt or .parquet.",
        ),
    ]
    if files:
        text += (
            "\n\nEach FILE is one model, named after the file; name=FILE names it, and FILE may then be a pattern in "
            "quotes whose files are parts of it."
        )
    command = click.Command(
        name,
        callback=call,
        help=text,
        short_help=text.partition("\n")[0],
        epilog=_examples(*examples),
        params=[*common, *params, *output] if files else list(params),
    )
    setattr(command, "format_options", lambda ctx, formatter: _format_options(command, ctx, formatter))  # noqa: B010
    return command


def _format_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options by what they are for."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None and isinstance(parameter, click.Option):
            sections.setdefault(_section(parameter.name or "", command.name or ""), []).append(record)
    for title, records in sections.items():
        with formatter.section(title):
            formatter.write_dl(records, col_max=28)


def _section(name: str, command: str) -> str:
    """Return under which title an option stands."""
    if name in POLICIES:
        return "Policies"
    if name in FRAMES:
        return "More files"
    if name in OUTPUT:
        return "Output"
    if name in GATES:
        return "Gates"
    return "Columns" if name in CALL_ROLES.get(command, ()) else "Options"


def _of_metrics() -> list[click.Option]:
    return [
        click.Option(
            ["-m", "--metric"],
            multiple=True,
            metavar="METRIC",
            help="Such as ndcg, ndcg@10 or 'ndcg(gain=exp2)@10'; may be repeated. "
            "[ndcg, map, recall, precision, mrr and hit_rate at 10]",
        ),
        click.Option(
            ["-k", "--k"],
            multiple=True,
            type=int,
            metavar="N",
            help="A cutoff of the metrics that name none; several: -k 5 10. [the whole list]",
        ),
    ]


def _of_demo() -> list[click.Parameter]:
    return [
        click.Option(
            ["--ratings"],
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Parquet or CSV file with the columns user, item and maybe rating, or what options name.",
        ),
        *(
            click.Option([f"--{option}"], metavar="COLUMN", help=f"The column of the {name}s. [{name}]")
            for option, name in (("by", "user"), ("item", "item"), ("relevant", "rating"))
        ),
        click.Option(
            ["--min-rating"],
            type=float,
            metavar="X",
            help="Ratings from X on are positive. [4; all rows are where the ratings do not differ]",
        ),
        click.Option(["-k", "--k"], multiple=True, type=int, metavar="N", help="The cutoffs. [5 10]"),
        click.Option(
            ["--seed"], type=click.IntRange(min=0), default=0, metavar="N", help="The seed of all that is random. [0]"
        ),
    ]


def _examples(*lines: str) -> str:
    # \b keeps click from joining the lines.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _help() -> None:
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is None:
        say(ctx.get_help())


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it by position
    if value:
        say(f"{NAME} {__version__}")
        ctx.exit()


def _completion(shell: str) -> list[str]:
    """Print the script of a shell."""
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - for the type checker
    say(kind(application(), {}, NAME, COMPLETE).source())
    return []
