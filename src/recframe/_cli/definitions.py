"""The commands with their options and help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import click

from recframe._arguments import CALL_ROLES, FRAMES, ROLES
from recframe._cli import commands
from recframe._cli.options import call_options, own_arguments, policy_options, role_options
from recframe._cli.texts import COMMANDS, examples_text
from recframe._sql.call import Dialect
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GATES = ("fail_under", "sure", "fail_on_check", "fail_unless_not_worse")
OUTPUT = ("json", "csv", "markdown", "out", "save", "append", "digits")
SHELLS = ("bash", "zsh", "fish")


PARAMETERS: dict[str, list[click.Parameter]] = {
    "files": [
        click.Argument(["files"], nargs=-1, required=True, metavar="FILE...", type=click.Path()),
        click.Option(
            ["--format"],
            type=click.Choice(("parquet", "csv", "tsv", "ndjson", "arrow", "trec")),
            help="The format of the files, where their endings do not say it.",
        ),
        click.Option(
            ["--separator"],
            metavar="SIGN",
            help="What is between the values of all CSV files, such as ';', '|' or tab. [,]",
        ),
        click.Option(
            ["--with", "constants"],
            multiple=True,
            metavar="COLUMN=VALUE",
            help="A column with one value in all rows of the result, and of the files if an option such as --by names "
            "it: --with day=2026-11-23. May be repeated.",
        ),
    ],
    "metrics": [
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
    ],
    "cutoff": [click.Option(["-k", "--k"], type=int, metavar="N", help="The cutoff at which ties are looked for.")],
    "one_metric": [
        click.Option(["-m", "--metric"], metavar="METRIC", default="ndcg@10", help="The metric. [ndcg@10]"),
        click.Option(["-k", "--k"], type=int, metavar="N", help="The cutoff, if the metric names none."),
    ],
    "most": [
        click.Option(
            ["--most"],
            type=click.IntRange(min=0),
            default=20,
            metavar="N",
            help="How many lists that lost to show, and how many that gained; 0: all lists, unchanged ones too. [20]",
        ),
        click.Option(["--lists-only"], is_flag=True, help="One row for each list, without its items."),
    ],
    "counts": [
        click.Option(
            ["--counts"],
            is_flag=True,
            help="Add how many lists have a value under every metric, and how many have none.",
        )
    ],
    "chance": [
        click.Option(
            ["--chance"],
            is_flag=True,
            help="Add the value of a random order of the same rows, and how far the model is from it to the best.",
        )
    ],
    "fail_under": [
        click.Option(
            ["--fail-under"],
            multiple=True,
            metavar="METRIC=X",
            help="Exit with 1 if a model's value is below X, or has none; evaluates the metric.",
        ),
        click.Option(
            ["--sure"],
            is_flag=True,
            help="Exit so only if the whole interval of the value, with a confidence of 0.95, is below X.",
        ),
    ],
    "fail_on_check": [
        click.Option(
            ["--fail-on-check"],
            multiple=True,
            metavar="LIMIT",
            help="Exit with 1 if a check of the files finds errors; with warning or note, less severe findings too; "
            "with FINDING=SHARE, the finding may have this share. May be repeated. [error]",
        )
    ],
    "save": [
        click.Option(
            ["--save"],
            type=click.Path(),
            metavar="FILE",
            help="Write the values of the lists to this Parquet file, unless a gate fails: a later compare --baseline "
            "FILE reads it.",
        )
    ],
    "fail_unless_not_worse": [
        click.Option(
            ["--fail-unless-not-worse", "--fail-if-worse"],
            "fail_unless_not_worse",
            metavar="[MODEL]",
            is_flag=False,
            flag_value="",
            help="Exit with 1 if another model may be worse than this one by more than the margin: unless the verdict "
            "is better, equivalent or not worse. Sets --baseline; without MODEL, it is that of --baseline.",
        ),
    ],
    "sql": [
        click.Option(
            ["--table"], metavar="TABLE", required=True, help="The table of recommendations, as SQL names it."
        ),
        click.Option(
            ["--dialect"], metavar="DATABASE", required=True, type=click.Choice(get_args(Dialect)), help="The database."
        ),
        click.Option(["--truth"], metavar="TABLE", help="The table of the ground truth."),
        click.Option(["--train"], metavar="TABLE", help="The table of past interactions."),
        click.Option(["--features"], metavar="TABLE", help="The table of features of items."),
        click.Option(
            ["--catalog"], metavar="TABLE|NUMBER", help="The items that could be recommended: a table, or how many."
        ),
        click.Option(
            ["--type", "types"],
            multiple=True,
            metavar="COLUMN=TYPE",
            help="What a column holds: boolean, integer, float or text. May be repeated. "
            "[relevance and scores float, others text]",
        ),
        click.Option(
            ["--truth-column", "truth_columns"],
            multiple=True,
            metavar="COLUMN",
            help="A column of --per or --weight that is one of the truth. May be repeated.",
        ),
        click.Option(
            ["--feature", "feature_columns"],
            multiple=True,
            metavar="COLUMN",
            help="A column of --features that is a feature. May be repeated.",
        ),
    ],
    "title": [click.Option(["--title"], metavar="TEXT", help="The title of the page.")],
    "page": [
        click.Option(["--out"], metavar="FILE", default="report.html", help="The file to write. [report.html]"),
    ],
    "output": [
        click.Option(["--json"], is_flag=True, help="Print JSON, with all digits."),
        click.Option(["--csv"], is_flag=True, help="Print CSV, with all digits."),
        click.Option(["--markdown"], is_flag=True, help="Print a table of Markdown."),
        click.Option(
            ["--out"],
            type=click.Path(),
            metavar="FILE",
            help="Write a file too: .json, .ndjson, .csv, .tsv, .md, .txt or .parquet.",
        ),
        click.Option(
            ["--append"],
            type=click.Path(),
            metavar="FILE",
            help="Add the rows to this Parquet file, instead of those that have the same values of --with.",
        ),
        click.Option(["--digits"], type=int, metavar="N", help="Digits after the point in tables, from 0 to 15. [4]"),
    ],
    "metric": [click.Argument(["metric"])],
    "shell": [click.Argument(["shell"], type=click.Choice(SHELLS))],
}
"""The parameters that are neither roles nor arguments of a call, by the names of the table of commands."""
OF_FILES = (
    "Each FILE is one model, named after the file; name=FILE names it, and FILE may then be a pattern in quotes whose "
    "files are parts of it. A folder is one model, with all files in it; - is standard input."
)


def command(name: str) -> click.Command:
    """Return a command by its name."""
    text = COMMANDS[name]
    paragraphs = (text.summary, text.details, OF_FILES if "files" in text.parameters else "")
    return Command(
        name,
        callback=getattr(commands, call_of(name), None) or _answering(call_of(name)),
        help="\n\n".join(filter(None, paragraphs)),
        short_help=text.summary,
        epilog=examples_text(*text.examples),
        params=[parameter for part in text.parameters for parameter in _parameters(call_of(name), part)],
    )


def _answering(call: str) -> Callable[..., list[str]]:
    """Return what runs a command that shows what a call answers, and never fails."""

    def run(**values: Any) -> list[str]:
        commands.answer(call, values)
        return []

    return run


def call_of(command: str) -> str:
    """Return the name of a command's call."""
    return command.replace("-", "_")


def _parameters(name: str, part: str | tuple[str, ...]) -> Sequence[click.Parameter]:
    """Return what a part of the table stands for: arguments of the command's call, its roles, or other parameters."""
    if not isinstance(part, str):
        return call_options(name, part)
    if part == "arguments":
        return call_options(name, own_arguments(name))
    if part == "roles":
        return role_options(name)
    if part == "roles_of_tables":
        return [option for option in role_options("evaluate") if option.name not in FRAMES]
    return policy_options() if part == "policies" else PARAMETERS[part]


class Command(click.Command):
    """A command whose help lists its options by what they are for, and whose options of one value are given once."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, or raise for a value that another one of the same option would replace."""
        if not ctx.resilient_parsing:
            _, _, parameters = self.make_parser(ctx).parse_args(list(args))
            for parameter in parameters:
                single = isinstance(parameter, click.Option) and not (parameter.multiple or parameter.is_flag)
                if single and parameters.count(parameter) > 1:
                    msg = f"{parameter.opts[-1]} is given {parameters.count(parameter)} times, but it takes one value"
                    raise OptionError(msg, f"give one {parameter.opts[-1]}")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by what they are for."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                sections.setdefault(_section(parameter.name or "", call_of(self.name or "")), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=28)


def _section(name: str, call: str) -> str:
    """Return under which title an option is listed."""
    if name in ROLES and ROLES[name].kind == "policy":
        return "Policies"
    if name in FRAMES:
        return "More files"
    if name in OUTPUT:
        return "Output"
    if name in GATES:
        return "Gates"
    return "Columns" if name in CALL_ROLES.get(call, ()) else "Options"
