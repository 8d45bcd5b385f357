"""The commands with their options and help."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import click

from recframe._base.roles import CALL_ROLES, EXPLAINED, FRAMES, ROLES
from recframe._cli import commands
from recframe._cli.formats import FORMATS
from recframe._cli.options import call_options, non_role_arguments, role_options, roles_of
from recframe._cli.texts import COMMANDS, examples_text
from recframe._integrations.sql.call import Dialect
from recframe.errors import OptionError
from recframe.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

GATES = ("fail_under", "fail_over", "sure", "fail_on_check", "fail_unless_not_worse")
OUTPUT = ("json", "csv", "markdown", "out", "save", "digits")


def _option(names: str, metavar: str | None, text: str, **settings: Any) -> click.Option:
    """Return an option with a value."""
    completed = _metric_names if (metavar or "").startswith("METRIC") else None
    return click.Option(names.split(), metavar=metavar, help=text, shell_complete=completed, **settings)


def _metric_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[Any]:
    """Return the metrics whose names start with the given text, for shell completion."""
    return [name for name in METRICS if name.startswith(incomplete)]


def _several(names: str, metavar: str, text: str, **settings: Any) -> click.Option:
    """Return an option that may be repeated."""
    return _option(names, metavar, text, multiple=True, **settings)


def _file(name: str, text: str, **settings: Any) -> click.Option:
    """Return the option of a file."""
    return _option(name, "FILE", text, type=click.Path(), **settings)


def _flag(name: str, text: str) -> click.Option:
    """Return an option without a value."""
    return click.Option([name], is_flag=True, help=text)


PARAMETERS: dict[str, click.Parameter | list[click.Parameter]] = {
    "files": [
        click.Argument(["files"], nargs=-1, required=True, metavar="FILE...", type=click.Path()),
        _option(
            "--format",
            None,
            "The format of the files, where their endings do not say it.",
            type=click.Choice([*FORMATS]),
        ),
        _option("--separator", "SIGN", "What is between the values of all CSV files, such as ';', '|' or tab. [,]"),
    ],
    "metrics": [
        _several(
            "-m --metric --metrics metric",
            "METRIC",
            "Such as ndcg, ndcg@10 or 'ndcg(gain=exp2)@10'; several with commas, ndcg,map, or repeated. "
            "[ndcg, map, recall, precision, mrr and hit_rate at 10]",
        ),
        _several("-k --k", "N", "A cutoff of the metrics that name none; several: -k 5 10. [the whole list]", type=int),
    ],
    "cutoff": _option("-k --k", "N", "The cutoff at which ties are looked for.", type=int),
    "one_metric": [
        _option("-m --metric", "METRIC", "The metric. [ndcg@10]", default="ndcg@10"),
        _option("-k --k", "N", "The cutoff, if the metric names none.", type=int),
    ],
    "most": [
        _option(
            "--most",
            "N",
            "How many lists that lost to show, and how many that gained; 0: all lists, unchanged ones too. [20]",
            type=click.IntRange(min=0),
            default=20,
        ),
        _flag("--lists-only", "One row for each list, without its items."),
    ],
    "counts": _flag("--counts", "Add how many lists have a value under every metric, and how many have none."),
    "chance": _flag(
        "--chance",
        "Add the value of a random order of the same rows, and how far the model is from it to the best.",
    ),
    "fail_under": [
        _several(
            "--fail-under",
            "METRIC=X",
            "Exit with 1 if a model's value is below X, or has none; evaluates the metric.",
        ),
        _several("--fail-over", "METRIC=X", "Exit with 1 if it is above X, for metrics where lower is better."),
        _flag("--sure", "Exit so only if the whole interval of the value, with a confidence of 0.95, is beyond X."),
    ],
    "fail_on_check": _several(
        "--fail-on-check",
        "LIMIT",
        "Exit with 1 if a check of the files finds errors; with warning or note, less severe findings too; with "
        "FINDING=SHARE, the finding may have this share. May be repeated. [error]",
    ),
    "save": _file(
        "--save",
        "Write the values of the lists to this Parquet file, unless a gate fails: a later compare --baseline FILE "
        "reads it.",
    ),
    "fail_unless_not_worse": _option(
        "--fail-unless-not-worse --fail-if-worse fail_unless_not_worse",
        "[MODEL]",
        "Exit with 1 if another model may be worse than this one by more than the margin. All rows of a model must "
        "pass. Sets --baseline. Without MODEL, --baseline names the model.",
        is_flag=False,
        flag_value="",
    ),
    "sql": [
        _option("--table", "TABLE", "The table of recommendations, as SQL names it.", required=True),
        _option("--dialect", "DATABASE", "The database.", required=True, type=click.Choice(get_args(Dialect))),
        _option("--truth", "TABLE", "The table of the ground truth."),
        _option("--train", "TABLE", "The table of past interactions."),
        _option("--features", "TABLE", "The table of features of items."),
        _option("--catalog", "TABLE|NUMBER", "The items that could be recommended: a table, or how many."),
        _several(
            "--type types",
            "COLUMN=TYPE",
            "What a column holds: boolean, integer, float or text. May be repeated. "
            "[relevance and scores float, others text]",
        ),
        _several(
            "--truth-column truth_columns",
            "COLUMN",
            "A column of --per or --weight that is one of the truth. May be repeated.",
        ),
        _several("--feature feature_columns", "COLUMN", "A column of --features that is a feature. May be repeated."),
    ],
    "title": _option("--title", "TEXT", "The title of the page."),
    "page": _file("--out", "The file to write. [report.html]", default="report.html"),
    "output": [
        _flag("--json", "Print JSON, with all digits."),
        _flag("--csv", "Print CSV, with all digits."),
        _flag("--markdown", "Print a table of Markdown."),
        _file(
            "--out",
            "Write a file too: .parquet, .csv, .json or .md. Its folder is made if it is missing. A name such as "
            "day=2026-11-23.parquet adds the column day.",
        ),
        _option("--digits", "N", "Digits after the point in tables, from 0 to 15. [4]", type=int),
    ],
    "metric": click.Argument(["metric"], shell_complete=_metric_names),
    "shell": click.Argument(["shell"], type=click.Choice(("bash", "zsh", "fish"))),
}
"""The parameters that are neither roles nor arguments of a call, by the names of the table of commands."""
FILES_HELP = (
    "Each FILE is one model, named after the file; name=FILE names it, and FILE may then be a pattern in quotes whose "
    "files are parts of it. A folder is one model, with all files in it; - is standard input."
)


def command(name: str) -> click.Command:
    """Return a command by its name."""
    text = COMMANDS[name]
    paragraphs = (text.summary, text.details, FILES_HELP if "files" in text.parameters else "")
    return Command(
        name,
        callback=getattr(commands, call_of(name), partial(commands.answer, call_of(name))),
        help="\n\n".join(filter(None, paragraphs)),
        short_help=text.summary,
        epilog=examples_text(*text.examples),
        params=[parameter for part in text.parameters for parameter in _parameters(call_of(name), part)],
    )


def call_of(command: str) -> str:
    """Return the name of a command's call."""
    return command.replace("-", "_")


def _parameters(name: str, part: str | tuple[str, ...]) -> Sequence[click.Parameter]:
    """Return what a part of the table stands for: arguments of the command's call, its roles, or other parameters."""
    if not isinstance(part, str):
        return call_options(name, part)
    if part == "arguments":
        return call_options(name, non_role_arguments(name))
    if part == "roles":
        return role_options(roles_of(name))
    if part == "roles_of_tables":
        return role_options(role for role in roles_of("evaluate") if role not in FRAMES)
    parameters = role_options((*EXPLAINED, "like")) if part == "policies" else PARAMETERS[part]
    return [parameters] if isinstance(parameters, click.Parameter) else parameters


class Command(click.Command):
    """A command whose help groups its options, and which refuses a repeated option that takes one value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; raise if an option that takes one value is repeated."""
        if not ctx.resilient_parsing:
            _, _, parameters = self.make_parser(ctx).parse_args(list(args))
            for parameter in parameters:
                single = isinstance(parameter, click.Option) and not (parameter.multiple or parameter.is_flag)
                if single and parameters.count(parameter) > 1:
                    msg = f"{parameter.opts[-1]} is given {parameters.count(parameter)} times, but it takes one value"
                    raise OptionError(msg, f"give one {parameter.opts[-1]}")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                sections.setdefault(_section(parameter.name or "", call_of(self.name or "")), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=28)


def _section(name: str, call: str) -> str:
    """Return the title of the group that lists an option."""
    if name in ROLES and ROLES[name].kind == "policy":
        return "Policies"
    if name in FRAMES:
        return "More files"
    if name in OUTPUT:
        return "Output"
    if name in GATES:
        return "Gates"
    return "Columns" if name in CALL_ROLES.get(call, ()) else "Options"
