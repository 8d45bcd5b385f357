"""The commands with their options and help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from recframe._arguments import CALL_ROLES, FRAMES, ROLES
from recframe._cli import commands
from recframe._cli.options import call_options, policy_options, role_options
from recframe._cli.terminal import say
from recframe._cli.texts import COMMANDS, COMPLETE, NAME, OPTIONS_OF_COMPARE, examples_text
from recframe.accessor import EagerRec
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GATES = ("fail_under", "fail_on_check", "fail_if_worse", "margin")
OUTPUT = ("json", "csv", "markdown", "out")
SHELLS = ("bash", "zsh", "fish")


def command(name: str) -> click.Command:
    """Return a command by its name."""
    return next(each for each in _commands() if each.name == name)


def _commands() -> list[click.Command]:
    gate = click.Option(
        ["--fail-under"],
        multiple=True,
        metavar="METRIC=X",
        help="Exit with 1 if a model's value is below X, or has none; evaluates the metric.",
    )
    counts = click.Option(
        ["--counts"], is_flag=True, help="Add how many lists have a value under every metric, and how many have none."
    )
    on_check = click.Option(
        ["--fail-on-check"],
        multiple=True,
        metavar="LIMIT",
        help="Exit with 1 if a check of the files finds errors; with warning or note, less severe findings too; with "
        "FINDING=SHARE, the finding may have this share. May be repeated. [error]",
    )
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
            "",
            [*_of_metrics(), counts, *role_options("evaluate"), gate, on_check],
            "recframe evaluate recs.parquet -m ndcg -m recall -k 5 10",
            "recframe evaluate old=old.csv new=new.csv --truth test.csv -m ndcg@10 --fail-under ndcg@10=0.3",
            "recframe evaluate results.test --truth qrels.test --like trec_eval -m map -m ndcg",
        ),
        _command(
            "compare",
            commands.compare,
            "The table shows what fits the terminal; --json, --csv, --markdown and --out hold all columns.",
            [
                *_of_metrics(),
                *call_options(EagerRec.compare, OPTIONS_OF_COMPARE),
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
            "",
            [*_of_metrics(), *call_options(EagerRec.describe, commands.OPTIONS_OF_DESCRIBE), *role_options("describe")],
            "recframe describe recs.parquet -m ndcg@10",
        ),
        _command(
            "report",
            commands.report,
            "It is one file, which reads nothing else. It needs the extra plot.",
            [
                *_of_metrics(),
                click.Option(["--title"], metavar="TEXT", help="The title of the page."),
                *call_options(EagerRec.report, commands.OPTIONS_OF_REPORT),
                *role_options("report"),
                click.Option(["--out"], metavar="FILE", default="report.html", help="The file to write. [report.html]"),
            ],
            "recframe report old.csv new.csv --truth test.csv -m ndcg@10 -m recall@10 --out report.html",
            prints=False,
        ),
        _command(
            "check",
            commands.check,
            "",
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
            "",
            [click.Argument(["metric"]), *policy_options()],
            "recframe explain ndcg@10",
            "recframe explain 'map@10' --like rectools",
            files=False,
        ),
        _command(
            "metrics",
            commands.list_metrics,
            "",
            [],
            "recframe metrics",
            files=False,
        ),
        _command(
            "completion",
            _completion,
            "",
            [click.Argument(["shell"], type=click.Choice(SHELLS))],
            "recframe completion zsh",
            files=False,
        ),
    ]


def _command(
    name: str,
    call: Callable[..., Any],
    details: str,
    params: Sequence[click.Parameter],
    *examples: str,
    files: bool = True,
    prints: bool = True,
) -> click.Command:
    """Return a command whose help lists its options by what they are for; `details` follow its line in `COMMANDS`."""
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
    of_files = (
        "Each FILE is one model, named after the file; name=FILE names it, and FILE may then be a pattern in "
        "quotes whose files are parts of it."
    )
    output = output if prints else []
    paragraphs = [COMMANDS[name], details, of_files if files else ""]
    return Command(
        name,
        callback=call,
        help="\n\n".join(filter(None, paragraphs)),
        short_help=COMMANDS[name],
        epilog=examples_text(*examples),
        params=[*common, *params, *output] if files else list(params),
    )


class Command(click.Command):
    """A command whose help lists its options by what they are for, and whose options of one value are given once."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, or raise for a value that another one of the same option would replace."""
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(list(args))
            for parameter in given:
                single = isinstance(parameter, click.Option) and not (parameter.multiple or parameter.is_flag)
                if single and given.count(parameter) > 1:
                    msg = f"{parameter.opts[-1]} is given {given.count(parameter)} times, but it takes one value"
                    raise OptionError(msg, f"give one {parameter.opts[-1]}")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by what they are for."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                sections.setdefault(_section(parameter.name or "", self.name or ""), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=28)


def _section(name: str, command: str) -> str:
    """Return under which title an option is listed."""
    if name in ROLES and ROLES[name].kind == "policy":
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


def _completion(shell: str) -> list[str]:
    """Print the script of a shell."""
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - for the type checker
    say(kind(click.get_current_context().find_root().command, {}, NAME, COMPLETE).source())
    return []
