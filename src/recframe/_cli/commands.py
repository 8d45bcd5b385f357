"""The work of each command. Commands with gates return the messages that make them fail."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

import recframe
from recframe import rec
from recframe._base.roles import CALL_ROLES, EXPLAINED, FRAMES
from recframe._base.values import as_tuple
from recframe._checks.findings import FINDINGS
from recframe._cli import tables, terminal
from recframe._cli.gates import bounds_of, check_limits, failed_findings
from recframe._cli.metrics import metrics_text
from recframe._cli.options import (
    BETWEEN_METRICS,
    non_role_arguments,
    parse_column_options,
    roles_from_options,
    separator_of,
)
from recframe._cli.terminal import print_text, progress, wrapped
from recframe._cli.texts import COMPLETE, NAME
from recframe._data.files.paths import as_path
from recframe._display.colours import painted
from recframe._inference.gates import values_out_of_bounds, verdict_failures
from recframe._inference.lists.calls import check_save, names_file
from recframe._inference.lists.calls import save as save_lists
from recframe._plan.request import Request
from recframe.errors import OptionError, parts_of
from recframe.metrics import CutMetric
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

DEFAULT_METRICS = ("ndcg", "map", "recall", "precision", "mrr", "hit_rate")
DEFAULT_K = 10
"""The metrics and their cutoff if the command names none."""
COLUMNS_OF_CHECK = ("model", "finding", "severity", "share", "count")
SHOWN = {
    "bounds": ("metric", "mean", "least", "greatest", "judged", "lists"),
    "compare": (
        "metric", "model", "difference", "baseline", "p_adjusted", "relative", "relative_low", "relative_high", "mean",
        "baseline_mean", "lists", "wins", "ties", "losses", "changed", "low", "high", "verdict",
    ),
    "describe": (
        "metric", "model", "lists", "undefined", "mean", "low", "high", "std", "min", "p50", "max", "zeros",
    ),
    "estimate_with_judge": (
        "metric", "model", "mean", "low", "high", "human_mean", "human_low", "human_high", "judge_mean",
        "judge_weight", "kappa", "kappa_low", "kappa_high", "same_order", "human_lists", "judge_lists",
    ),
    "rank_models": ("metric", "model", "rank", "mean", "shrunk", "rank_low", "rank_high", "tied_with_best", "lists"),
    "sample_size": (
        "metric", "model", "baseline", "difference", "power", "tests", "std", "seen", "lists", "lists_careful",
        "lists_equivalent", "clusters",
    ),
}  # fmt: skip
"""The columns of a call's result that the printed table shows, in this order."""
DISPENSABLE = (
    "top_before", "top_after", "position_before", "position_after", "relevant",
    "ties", "zeros", "undefined", "baseline_mean", "lists", "min", "max", "std", "wins", "losses", "p50", "mean",
    "relative_low", "relative_high", "relative", "p_adjusted",
    "baseline", "verdict", "kappa_low", "kappa_high", "human_lists", "judge_lists", "judge_weight", "judge_mean",
)  # fmt: skip
"""The columns to drop on a narrow terminal, in this order."""
PAIRED = ("compare", "changes", "rank_models", "sample_size")
"""The calls that need two models."""


def evaluate(
    *,
    fail_under: Sequence[str],
    fail_over: Sequence[str],
    sure: bool,
    fail_on_check: Sequence[str],
    counts: bool,
    chance: bool,
    save: str | None,
    **values: Any,
) -> list[str]:
    """Evaluate the models, and judge their values."""
    least, most = bounds_of("--fail-under", fail_under), bounds_of("--fail-over", fail_over)
    limits = check_limits(fail_on_check)
    bounds = {**least, **most}
    if sure and not bounds:
        msg = "--sure without --fail-under or --fail-over, which it belongs to"
        raise OptionError(msg, "--fail-under METRIC=X --sure")
    out = _out(values)
    path = None if save is None else check_save(save)
    frame, roles = _read(values, "evaluate")
    failures = []
    if fail_on_check:
        accepted = {name: value for name, value in roles.items() if name in CALL_ROLES["check"]}
        findings = rec(frame).check(all=True, **accepted)
        failures = failed_findings(findings, *limits)
    requested, k = _metrics(values, least, most)
    strata = {name: values[name] for name in ("strata", "strata_weights")}
    result = rec(frame).evaluate(requested, k, counts=counts, chance=chance, **strata, **roles)
    table = tables.table if counts or {"per", "per_item"} & roles.keys() else tables.by_metric
    _show(result, values, out, partial(table, result))
    if sure:
        failures += _surely_beyond(rec(frame), least, most, roles, strata)
    elif bounds:
        failures += values_out_of_bounds(result, least or None, most or None)
    if path is not None and not failures:
        save_lists(Request(frame, {}, roles), requested, k, path)
    return failures


def _surely_beyond(
    frame: Any,
    least: Mapping[str, float],
    most: Mapping[str, float],
    roles: Mapping[str, Any],
    strata: Mapping[str, Any],
) -> list[str]:
    """Return the metrics whose whole interval is beyond their bound."""
    if others := [name for name in roles if name not in CALL_ROLES["describe"]]:
        msg = f"--sure judges the interval of an arithmetic mean, so it does not go with --{others[0]}"
        raise OptionError(msg, "leave one of them out")
    described = frame.describe([*{**least, **most}], **strata, **roles)
    too_low = values_out_of_bounds(described, least, by="high") if least else []
    return too_low + (values_out_of_bounds(described, None, most, by="low") if most else [])


def compare(*, fail_unless_not_worse: str | None, **values: Any) -> list[str]:
    """Compare the models, and judge whether one may be worse than the baseline."""
    gate = fail_unless_not_worse
    if gate is not None:
        gate = gate or values["baseline"]
        if gate is None:
            msg = "--fail-unless-not-worse names no model, and there is no --baseline"
            hint = "--fail-unless-not-worse MODEL, or --baseline prod.parquet --fail-unless-not-worse"
            raise OptionError(msg, hint)
        if values["baseline"] not in (None, gate):
            msg = f"--baseline {values['baseline']} and --fail-unless-not-worse {gate} name two baselines"
            raise OptionError(msg, "give one of them")
        values["baseline"] = gate
    result = answer("compare", **values)
    return verdict_failures(result, "not worse") if gate is not None else []


def answer(call: str, **values: Any) -> pl.DataFrame:
    """Print the main columns of a call's result, and return the whole result."""
    out = _out(values)
    frame, roles = _read(values, call)
    requested, k = _metrics(values, {}, {})
    # Files that arguments of the call name were read together with the files of the roles.
    named = {name: value for name, value in _named(values, non_role_arguments(call)).items() if name not in roles}
    result: pl.DataFrame = getattr(rec(frame), call)(requested, k, **named, **roles)
    _show(result, values, out, _picked(result, roles, SHOWN[call]))
    return result


def changes(*, metric: str, k: int | None, most: int, lists_only: bool, **values: Any) -> None:
    """Show which lists lost and gained most."""
    out = _out(values)
    frame, roles = _read(values, "changes")
    options = {"most": most or None, "items": not lists_only, **_named(values, ("baseline",))}
    result: pl.DataFrame = rec(frame).changes(metric, k, **options, **roles)
    if result.is_empty() and not _format(values):
        print_text("No list changed.")
    _show(result, values, out, None if result.is_empty() else _picked(result, {}, result.columns))


def _named(values: dict[str, Any], options: Sequence[str]) -> dict[str, Any]:
    """Return the options that the command line names."""
    return {name: values[name] for name in options if values[name] is not None}


def report(**values: Any) -> None:
    """Write a report."""
    path = as_path(values["out"], "--out")
    tables.check_folder(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    frame, roles = _read(values, "report")
    requested, k = _metrics(values, {}, {})
    rec(frame).report(values["out"], requested, k, **_named(values, non_role_arguments("report")), **roles)
    print_text(f"Wrote {values['out']}")


def check(*, fail_on_check: Sequence[str], k: int | None, **values: Any) -> list[str]:
    """Print the findings of `check` for the files."""
    limits = check_limits(fail_on_check)
    out = _out(values)
    frame, roles = _read(values, "check")
    result = rec(frame).check(k, all=bool(values["all"]), **roles)
    _show(result, values, out, None if result.is_empty() else _picked(result, roles, COLUMNS_OF_CHECK))
    if not _format(values):
        counted_names = {*result.filter(result["count"] > 0)["finding"]}
        meanings = {finding.name: terminal.with_options(parts_of(finding.meaning)) for finding in FINDINGS}
        lines = [f"{name}: {meaning}" for name, meaning in meanings.items() if name in counted_names]
        print_text("\n".join(lines) or "Nothing found.")
    # A limit of a finding that this check does not look for is an error, so the gate reads all rows.
    return failed_findings(rec(frame).check(k, all=True, **roles), *limits) if fail_on_check else []


def explain(*, metric: str, **values: Any) -> None:
    """Print what a metric computes."""
    print_text(wrapped(recframe.explain(metric, **_named(values, (*EXPLAINED, "like")))))


def sql(*, table: str, dialect: Any, catalog: str | None, types: Sequence[str], **values: Any) -> None:
    """Write the query of metrics."""
    requested, k = _metrics(values, {}, {})
    keywords: dict[str, Any] = _named(values, ("truth", "train", "features"))
    if catalog is not None:
        keywords["catalog"] = int(catalog) if catalog.isdecimal() else catalog
    keywords |= {name: list(values[name]) for name in ("truth_columns", "feature_columns")}
    roles = {name: role for name, role in roles_from_options("evaluate", values).items() if name not in FRAMES}
    kinds: dict[str, Any] = {**parse_column_options("--type", types, "TYPE", "clicked=boolean")}
    query = recframe.sql(
        requested, k, table=table, dialect=dialect, types=kinds, counts=values["counts"], **keywords, **roles
    )
    print_text(query.rstrip("\n"))


def metrics() -> None:
    """List the metrics."""
    print_text(wrapped(metrics_text()))


def completion(*, shell: str) -> None:
    """Print the script that completes commands in a shell."""
    kinds = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    print_text(kinds[shell](click.get_current_context().find_root().command, {}, NAME, COMPLETE).source())


# --- what they share ------------------------------------------------------------------------------------------


def _read(values: dict[str, Any], call: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the frame of the files, and the roles of the call."""
    from recframe._cli.inputs import Inputs

    roles = roles_from_options(call, values) | _named(values, ("judge",) if "judge" in values else ())
    has_one_order = not any(isinstance(roles.get(name), list) for name in ("score", "rank"))
    named = has_one_order and names_file(values.get("baseline"), roles.get("score"))
    also = tuple(column for name in ("cluster", "strata", "runs") for column in as_tuple(values.get(name)))
    files = values["files"], values["format"], roles, also, named, separator_of(values["separator"])
    frame, roles = Inputs(*files).read()
    order = roles.get("rank") or roles.get("score") or "score"
    has_one_model = (
        has_one_order and order in frame.columns and roles.get("model") is None and values.get("baseline") is None
    )
    if call in PAIRED and has_one_model:
        msg = f"{call.replace('_', '-')} needs two models, but there is one"
        raise OptionError(msg, "old.csv new.csv; in one file, --score old --score new, or --model COLUMN")
    if call == "bounds" and roles.pop("model", None) is not None:
        msg = "bounds is about one model, but the files are several"
        raise OptionError(msg, "give the files of one model, and run it for each")
    progress(f"computing with {frame.height:,} rows")
    return frame, roles


def _metrics(
    values: dict[str, Any], least: dict[str, float], most: dict[str, float]
) -> tuple[list[Any], list[int] | None]:
    """Return the metrics that the command needs, including the metrics with a bound, and the cutoffs."""
    bounds = {**most, **least}
    requested = [name for text in values["metric"] for name in BETWEEN_METRICS.split(text)]
    k = list(values["k"]) or None
    if not requested and not bounds:
        return list(DEFAULT_METRICS), k or [DEFAULT_K]
    if uncut := [name for name in bounds if k and "@" not in name and isinstance(spec_of(name).metric, CutMetric)]:
        option = "--fail-under" if uncut[0] in least else "--fail-over"
        msg = f"{option} {uncut[0]} names no column, as -k gives it cutoffs"
        raise OptionError(msg, f"{option} {uncut[0]}@{k[0] if k else ''}={bounds[uncut[0]]:g}")
    names = {spec_of(name).metric.label for name in requested}
    cut = {f"{name}@{cutoff}" for name in names for cutoff in k or ()}
    return [*requested, *(name for name in bounds if name not in names | cut)], k


def _picked(result: pl.DataFrame, roles: dict[str, Any], columns: Sequence[str]) -> Callable[[int], str]:
    """Return a function that prints the ``--per`` columns and as many other columns as fit the terminal."""
    per = (*as_tuple(roles.get("per")), *as_tuple(roles.get("per_item")))
    names = dict.fromkeys(name for name in (*per, *columns) if name in result.columns)
    picked = result.select(*names)
    limit = terminal.width()
    for name in DISPENSABLE:
        if limit is None or max(map(len, tables.table(picked).splitlines())) <= limit:
            break
        picked = picked.drop(name, strict=False)
    return partial(tables.table, picked)


def _format(values: dict[str, Any]) -> str | None:
    """Return the format that the command names for the output; None: a table."""
    named = [name for name in ("json", "csv", "markdown") if values[name]]
    if len(named) > 1:
        msg = f"--{' and --'.join(named)} exclude each other"
        raise OptionError(msg, "give one of them")
    return named[0] if named else None


def _out(values: dict[str, Any]) -> Path | None:
    """Return the file to write, or None; output options are checked before any work."""
    _format(values)
    tables.check_digits(values["digits"])
    return None if values["out"] is None else tables.check_out(values["out"])


def _show(result: pl.DataFrame, values: dict[str, Any], out: Path | None, table: Callable[[int], str] | None) -> None:
    """Print a result in the format that the command names, and write it to a file."""
    digits = tables.DIGITS if values["digits"] is None else values["digits"]
    if out is not None:
        tables.write(tables.with_column_of_name(result, out), out, digits)
    kind = _format(values)
    if kind is not None:
        print_text(tables.PRINTERS[kind](result, digits).rstrip("\n"))
    elif table is not None:
        print_text(table(digits), painted)
