"""Run a command: read its arguments, report its errors, return its exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recframe._base.guesses import ARGUMENT_HINTS, role_meant
from recframe._cli.group import application
from recframe._cli.terminal import discard_output, print_error, warnings_as_lines, with_options
from recframe._cli.texts import COMPLETE, NAME
from recframe.errors import RecError, parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
ON_CHECK = "--fail-on-check"
REPLACED_OPTIONS: dict[str, str] = dict.fromkeys(
    ("--append", "--with"), "Write one file for each run: --out results/day=2026-11-23.parquet"
)
"""What to do instead of options that former versions had."""


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0: all is well; 1: a gate says what fell short; 2: input that cannot be used; 130: interrupted.
    """
    arguments = expand_arguments(sys.argv[1:] if argv is None else argv)
    program = f"python -m {NAME}" if Path(sys.argv[0]).parts[-2:] == (NAME, "__main__.py") else NAME
    try:
        with warnings_as_lines(program):
            answer = application().main(arguments, program, complete_var=COMPLETE, standalone_mode=False)
    except click.UsageError as error:
        _with_suggestion(error).show()
        return 2
    except RecError as error:
        print_error(program, with_options(error.parts))
        return 2
    except OSError as error:
        # Without the name of a file it is the output: a disk that is full, or a stream that is closed.
        if error.filename is None:
            discard_output()
        what = "the output" if error.filename is None else repr(error.filename)
        print_error(program, f"{what} cannot be read or written: {error.strerror or error}")
        return 2
    except (KeyboardInterrupt, click.Abort):
        print_error(program, "interrupted")
        return INTERRUPTED
    if isinstance(answer, list) and answer:
        print_error(program, "; ".join(answer))
        return 1
    return answer if isinstance(answer, int) else 0


def expand_arguments(arguments: Sequence[str]) -> list[str]:
    """Return arguments as click reads them.

    Several cutoffs after one ``-k`` have an option each, ``-k 5 10`` and ``-k 5,10``. ``--fail-on-check`` alone says
    ``error``.
    """
    words: list[str] = []
    of_k = False
    for argument in arguments:
        if words and words[-1] == ON_CHECK:
            from recframe._cli.gates import is_check_limit  # imported only here, because it takes long

            words += [] if is_check_limit(argument) else ["error"]
        numbers = argument.split(",")
        if of_k and all(number.lstrip("-").isdigit() for number in numbers):
            pending = words[-1] not in ("-k", "--k")
            for number in numbers:
                words += ["-k", number] if pending else [number]
                pending = True
            continue
        of_k = argument in ("-k", "--k")
        words.append(argument)
    return [*words, "error"] if words and words[-1] == ON_CHECK else words


def _with_suggestion(error: click.UsageError) -> click.UsageError:
    """Return the error for an unknown option, which suggests our option if other libraries use that name."""
    if error.ctx and error.ctx.info_name == "metrics":
        return click.UsageError(f"{error.message.rstrip('.')}. Did you mean {NAME} explain METRIC?", ctx=error.ctx)
    if not isinstance(error, click.NoSuchOption):
        return error
    if hint := REPLACED_OPTIONS.get(error.option_name):
        return click.UsageError(f"No such option {error.option_name}. {hint}", ctx=error.ctx)
    option = error.option_name.lstrip("-").replace("-", "_")
    roles = [parameter.name for parameter in (error.ctx.command.params if error.ctx else [])]
    meant = role_meant(option, [name for name in roles if name])
    hint = (
        f"Did you mean --{meant.replace('_', '-')}?"
        if meant
        else with_options(parts_of(ARGUMENT_HINTS.get(option, "")))
    )
    if not hint:
        return error
    return click.UsageError(f"No such option {error.option_name}. {hint[:1].upper()}{hint[1:]}", ctx=error.ctx)
