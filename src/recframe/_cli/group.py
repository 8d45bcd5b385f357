"""The command line: its commands by name, and its help.

The parser is click: it has completion for bash, zsh and fish, no dependencies, and starts in a few hundredths of a
second; typer and cyclopts import several times as much before they print their help. What a command computes with, and
its options, are imported when the command is used.
"""

from __future__ import annotations

from pathlib import Path

import click

from recframe import __version__
from recframe._base.guesses import RENAMED
from recframe._cli.terminal import print_text
from recframe._cli.texts import COMMANDS, NAME, examples_text
from recframe.errors import closest_of


class Commands(click.Group):
    """The commands, each defined at its first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return a command by its name."""
        if cmd_name not in COMMANDS:
            return None
        from recframe._cli.definitions import command

        return command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, or raise with the closest name."""
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        meant = closest_of(name, COMMANDS)
        if not meant and Path(name).suffix and Path(name).exists():
            meant = f"{NAME} evaluate {name}"
        hint = f" Did you mean {meant}?" if meant else ""
        renamed = RENAMED.get(name, "").replace("_", "-")
        hint = f" It is now {renamed}." if renamed in COMMANDS else hint
        msg = f"No such command {name!r}.{hint}"
        raise click.UsageError(msg, ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands with their summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text.summary) for name, text in COMMANDS.items()])


def application() -> click.Group:
    """Return the command line."""
    return Commands(
        NAME,
        help="Ranking and recommendation metrics for files of recommendations.\n\n"
        "Files are Parquet, CSV, TSV, or runs and qrels of TREC, BEIR and MS MARCO. The columns user, "
        "item, score and relevant are read unless options name others.",
        epilog=examples_text("recframe evaluate recs.parquet -m ndcg@10 -m map", "recframe metrics"),
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


def _help() -> None:
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is None:
        print_text(ctx.get_help())


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it by position
    if value:
        print_text(f"{NAME} {__version__}")
        ctx.exit()
