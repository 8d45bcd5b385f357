"""The command line, ``recframe`` or ``python -m recframe``: needs the extra ``cli``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from recframe.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def __dir__() -> list[str]:
    return list(__all__)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 if a gate fails, or 2 if the input cannot be used.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default ``sys.argv[1:]``.
    """
    try:
        from recframe._cli.app import run

        return run(argv)
    except ImportError as error:
        if error.name is None or error.name.split(".")[0] not in ("click", "polars"):
            raise
        sys.stderr.write(f"recframe: {MissingExtraError.of('the command line', 'cli')}\n")
        return 2
