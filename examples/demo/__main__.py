"""The demo's command: ``python -m examples.demo`` in a checkout, with the extras ``cli`` and ``factors``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from examples.demo.demo import run
from examples.demo.ratings import OPTIONS
from recframe.errors import RecError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit code: 0, or 2 for input that cannot be used."""
    parser = argparse.ArgumentParser(
        "python -m examples.demo",
        description="Rank one list by two models, then compare three simple recommenders on generated data; with "
        "--ratings, on a file of yours.",
        allow_abbrev=False,
    )
    text = "a Parquet or CSV file with the columns user, item and maybe rating, or what options name"
    parser.add_argument("--ratings", type=Path, metavar="FILE", help=text)
    for name, option in OPTIONS.items():
        parser.add_argument(f"--{option}", dest=name, metavar="COLUMN", help=f"the column of the {name}s [{name}]")
    text = "ratings from X on are positive [4; if all ratings are equal, every row is positive]"
    parser.add_argument("--min-rating", type=float, metavar="X", help=text)
    parser.add_argument("-k", "--k", nargs="+", type=int, default=[5, 10], metavar="N", help="the cutoffs [5 10]")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of all that is random [0]")
    named = vars(parser.parse_args(argv))
    if named["seed"] < 0:
        parser.error(f"--seed {named['seed']} is less than 0")
    columns = {name: named[name] for name in OPTIONS if named[name] is not None}
    try:
        run(
            named["ratings"],
            cutoffs=named["k"],
            min_rating=named["min_rating"],
            seed=named["seed"],
            columns=columns,
            progress=progress,
        )
    except RecError as error:
        progress("")
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 2
    return 0


def progress(text: str) -> None:
    """Show what is going on in a line that the next one replaces, if somebody is watching."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main())
