"""The command line: ``python -m recframe demo``, ``metrics`` and ``explain``."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recframe import __version__, explain
from recframe.errors import MissingExtraError, RecError
from recframe.metrics import METRICS, CutMetric
from recframe.metrics._options import options_of
from recframe.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recframe.metrics import Metric

__all__ = ["main"]

WIDTH = 88
_ASCII = str.maketrans({
    "Σ": "sum", "Π": "product", "√": "sqrt", "τ": "tau", "≤": "<=", "≥": ">=", "·": "*", "−": "-",
    "₀": "_0", "₁": "_1", "₂": "_2", "ᵢ": "_i", "ᵣ": "_r", "ᵤ": "_u", "ⱼ": "_j", "²": "^2",
    "∩": "and", "α": "alpha",
})  # fmt: skip
"""What stands for the signs of a formula where the terminal does not know them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, or 2 for input that cannot be used.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process if not given.
    """
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        if arguments.command == "metrics":
            _say(_metrics_text())
        elif arguments.command == "explain":
            given = {name: value for name in _POLICIES if (value := getattr(arguments, name)) is not None}
            _say(explain(arguments.metric, arguments.like, **given))
        elif arguments.command == "demo":
            _demo(arguments)
        else:
            _say(parser.format_help().rstrip())
        sys.stdout.flush()
    except RecError as error:
        _progress("")
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 2
    except KeyboardInterrupt:
        _progress("")
        sys.stderr.write(f"{parser.prog}: interrupted\n")
        return 130
    except BrokenPipeError:
        # The reader has seen enough (`| head`). What is left in the buffer must not fail at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m recframe", description="Ranking metrics as a .rec namespace on polars and pandas frames."
    )
    parser.add_argument("--version", action="version", version=f"recframe {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="show what the package computes, on built-in data or on your ratings",
        description="Rank one list by two models, then compare three simple recommenders on a data set "
        "that is generated on the spot; with --ratings, compare them on a file of yours.",
    )
    demo.add_argument(
        "--ratings", type=Path, metavar="FILE", help="Parquet or CSV file with the columns user, item and maybe rating"
    )
    demo.add_argument(
        "--min-rating",
        type=float,
        metavar="X",
        help="ratings from X on are positive (default: 4; all rows are where the ratings do not differ)",
    )
    demo.add_argument("--k", type=int, nargs="+", default=[5, 10], metavar="K", help="the cutoffs (default: 5 10)")
    demo.add_argument("--seed", type=_seed, default=0, metavar="N", help="seed of all that is random (default: 0)")
    commands.add_parser("metrics", help="list the metrics with their formulas and options")
    said = commands.add_parser(
        "explain",
        help="say what a metric computes, by our definition or by another library's",
        description="Say in words and in a formula what a metric computes, such as 'ndcg@10' --like rectools.",
    )
    said.add_argument("metric", metavar="METRIC", help="such as 'ndcg@10' or 'ndcg(gain=exp2)@10'")
    said.add_argument("--like", metavar="LIBRARY", help=f"one of {', '.join(PROFILES)}")
    for name, (kind, text) in _POLICIES.items():
        said.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar="X", help=text)
    return parser


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


_POLICIES: dict[str, tuple[Callable[[str], Any], str]] = {
    "ties": (str, "average, best, worst, item, item_desc or first"),
    "min_relevance": (float, "a row is relevant from this relevance on"),
    "undefined": (_number_or_word, "skip, raise, raise_all or a number: what a list without relevant items counts"),
    "lists": (str, "all, truth, ranked or both: which lists are averaged"),
}


def _seed(text: str) -> int:
    number = int(text)
    if number < 0:
        msg = f"{text} is negative"
        raise argparse.ArgumentTypeError(msg)
    return number


def _demo(arguments: argparse.Namespace) -> None:
    try:
        from recframe._demo import demo
    except ImportError as error:
        if error.name is None or error.name.split(".")[0] not in {"numpy", "polars"}:
            raise
        missing = MissingExtraError.of("the demo", "demo")
        raise missing from error
    demo.run(
        arguments.ratings,
        cutoffs=arguments.k,
        min_rating=arguments.min_rating,
        seed=arguments.seed,
        say=_say,
        progress=_progress,
    )


# --- the table of metrics ---------------------------------------------------------------------------------


def _metrics_text() -> str:
    """Return what there is to know about every metric, from the records."""
    left = 2 + max(len(_heading(metric)) for metric in METRICS.values())
    lines: list[str] = []
    for metric in METRICS.values():
        parts = [metric.summary, f"= {metric.formula}" if metric.formula else "", *_options(metric)]
        heading = _heading(metric)
        for part in filter(None, parts):
            lines += textwrap.wrap(part, WIDTH, initial_indent=heading.ljust(left), subsequent_indent=" " * (left + 2))
            heading = ""
        lines.append("")
    legend = (
        "R: relevant items of the list, ranked or not. N: ranked rows. h(k): relevant items among the top k. "
        "r: position. Without k: the whole list. The first value of an option is its default. "
        "Write a metric as 'ndcg', 'ndcg@10' or 'ndcg(gain=exp2)@10'."
    )
    return "\n".join([*lines, *textwrap.wrap(legend, WIDTH)])


def _heading(metric: type[Metric]) -> str:
    return f"{metric.name}@k" if issubclass(metric, CutMetric) else metric.name


def _options(metric: type[Metric]) -> list[str]:
    """Return each option with its values, the default first."""
    return [f"{option.name}: {' | '.join(option.values)}" for option in options_of(metric) if option.name != "k"]


# --- the terminal -----------------------------------------------------------------------------------------


def _say(text: str) -> None:
    """Print a text, also where the terminal lacks some of its letters."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_ASCII).encode(encoding, "replace").decode(encoding)
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _progress(text: str) -> None:
    """Show what is going on in a line that the next one replaces, if somebody is watching."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
