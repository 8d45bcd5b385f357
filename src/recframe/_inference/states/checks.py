"""The checks that states can be added up: what they must have in common, and which numbers they may hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._base.values import LARGEST_NUMBER
from recframe._engines.codes import distinct
from recframe._inference.lists.keys import fields_of, unpack
from recframe._inference.statistics import outside
from recframe.errors import InputError, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

ONE_CALL = "make the states by the same call, and make states of an older recframe again"
UNCHANGED = "give what df.rec.state(...) returned, unchanged"
OF_ALL: dict[str, Any] = {"by": list, "truth": bool, "cluster": str | None, "several": bool}
OF_METRIC = {**OF_ALL, "metric": str, "range": list, "higher_is_better": bool}
OF_ITEMS = {**OF_ALL, "record": str, "undefined": str | float, "catalog": int | None}
FIELDS = {"metric": OF_METRIC, "pair": OF_METRIC, "run": OF_METRIC, "exposure": OF_ITEMS, "item": OF_ITEMS}
"""The types of a definition's fields, by the kind of rows."""
PARTS_OF_LISTS = ("zeros", "fractions", "negative", "baseline_negative", "wins", "losses")
"""The columns that count some of the lists with a value."""
COUNTS = ("lists", "undefined", *PARTS_OF_LISTS)
"""The columns of whole numbers."""
ENDS = ("least", "greatest")
NOT_BELOW_0 = (*COUNTS, "weight", "squares", "weight_squares", "weight_cubes", "weighted_squares")
NO_ENDS = (None, None)
ONCE = "a list counts once: leave out what was added twice; lists of several days have the day in by="


def check_versions(versions: Iterable[Any], version_read: int) -> None:
    """Raise for a state of another version."""
    other = next((version for version in versions if version != version_read), version_read)
    if other != version_read:
        msg = f"a state has version {other}, but this recframe reads version {version_read}"
        raise InputError(msg, ONE_CALL)


def definitions_of(columns: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the definition of each metric, or raise if states define a metric differently."""
    definitions: dict[Any, dict[str, Any]] = {}
    texts = dict.fromkeys(zip(*(columns[name] for name in ("kind", "metric", "definition")), strict=True))
    for kind, metric, text in texts:
        what = f"definition of a state{f' of {metric}' if metric else ''}"
        definition = fields_of(text, FIELDS.get(kind, OF_ALL), what, UNCHANGED)
        if not isinstance(definition.setdefault("runs", None), str | None):
            msg = f"{what} holds runs={quoted(definition['runs'])}"
            raise InputError(msg, UNCHANGED)
        ends = definition.get("range", NO_ENDS)
        if len(ends) != len(NO_ENDS) or not all(map(_is_end, ends)):
            msg = f"{what} holds range={quoted(ends)}"
            raise InputError(msg, UNCHANGED)
        other = definitions.setdefault(metric, definition)
        field = next((name for name in definition if definition[name] != other.get(name)), None)
        if field is not None:
            of = "" if metric is None else f" of {metric}"
            msg = f"states{of} differ in {field}: {quoted(other.get(field))} and {quoted(definition[field])}"
            raise InputError(msg, ONE_CALL)
    return definitions


def _is_end(end: Any) -> bool:
    """Return whether a value may be an end of a metric's range."""
    return end is None or (isinstance(end, float | int) and abs(end) <= LARGEST_NUMBER)


def check_sums(columns: Mapping[str, Any], definitions: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise if no lists could add up to these numbers: a damaged state would give wrong means without an error."""
    for name in NOT_BELOW_0:
        _check(name, columns[name], columns[name] < 0, "it is 0 or more")
    for name in COUNTS:
        _check(name, columns[name], columns[name] % 1 != 0, "it is a whole number")
    _check("weight", columns["weight"], np.isinf(columns["weight"]), "it is finite")
    kinds, metrics = (np.array(columns[name], dtype=object) for name in ("kind", "metric"))
    for metric, kind in product(definitions, ("metric", "pair")):
        rows = np.flatnonzero((kinds == kind) & (metrics == metric))
        if len(rows):
            sums = {name: values[rows] for name, values in columns.items() if isinstance(values, np.ndarray)}
            low, high = definitions[metric]["range"]
            _check_metric(metric, kind, sums, -np.inf if low is None else low, np.inf if high is None else high)


def _check_metric(metric: str, kind: str, sums: Mapping[str, Any], low: float, high: float) -> None:
    """Raise for sums that the lists of a metric, or the differences of two models, cannot have."""
    for name in PARTS_OF_LISTS:
        _check(name, sums[name], sums[name] > sums["lists"], "it counts some of the lists")
    _check("wins", sums["wins"], sums["wins"] + sums["losses"] > sums["lists"], "it counts some of the lists")
    in_range = f"a list's {metric} is from {low:g} to {high:g}"
    # Where a range is open at one end, as with relevance below 0, its other end may be passed too.
    is_bounded = np.isfinite(low) and np.isfinite(high)
    low, high = (low, high) if is_bounded else (-np.inf, np.inf)
    ends = (low - high, high - low) if kind == "pair" else (low, high)
    for name in ENDS:
        _check(name, sums[name], outside(sums[name], *ends), in_range)
    least, greatest, weight, weight_squares = (sums[name] for name in (*ENDS, "weight", "weight_squares"))
    # Squares of very large values are infinite.
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.maximum(least**2, greatest**2)
        limits = {
            "total": (least * weight, greatest * weight),
            "squares": (0.0, largest * weight),
            "weighted_total": (least * weight_squares, greatest * weight_squares),
            "weighted_squares": (0.0, largest * weight_squares),
            **({"baseline_total": (low * weight, high * weight)} if kind == "pair" and is_bounded else {}),
        }
        for name, bounds in limits.items():
            reason = f"no lists with its weight and values of {metric} add up to that"
            _check(name, sums[name], outside(sums[name], *bounds), reason)


def _check(name: str, values: Any, wrong: Any, expected: str) -> None:
    """Raise for the first wrong value of a column."""
    if wrong.any():
        msg = f"{name} of a state holds {values[wrong][0]:g}, but {expected}"
        raise InputError(msg, UNCHANGED)


def pairs_of_all_states(columns: Mapping[str, Any], metrics: Sequence[str]) -> set[frozenset[Any]]:
    """Return the pairs of models that every state compares, in all of its segments and clusters."""
    names = ("state", "kind", "metric", "model", "baseline")
    rows = Counter(zip(*(columns[name] for name in names), strict=True))
    states = {state for state, *_ in rows}

    def is_in_all_states(model: Any, baseline: Any) -> bool:
        for state, metric in product(states, metrics):
            pairs = rows[state, "pair", metric, model, baseline] + rows[state, "pair", metric, baseline, model]
            if {pairs} != {rows[state, "metric", metric, name, None] for name in (model, baseline)}:
                return False
        return True

    return {frozenset(pair) for _, kind, _, *pair in rows if kind == "pair" and is_in_all_states(*pair)}


def check_rows(columns: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise if a state holds a row twice."""
    rows = Counter(zip(*(columns[name] for name in ("state", *names)), strict=True))
    ((key, count),) = rows.most_common(1)
    if count > 1:
        msg = f"rows of the state {key[0]} are there twice"
        raise InputError(msg, ONCE)


def ordered(columns: Mapping[str, Any], kinds: Collection[str], name: str) -> list[Any]:
    """Return the metrics or models in rows of some kinds, in the order of the calls."""
    order: dict[Any, int] = {}
    for kind, value, number in zip(columns["kind"], columns[name], columns["place"], strict=True):
        if kind in kinds:
            order[value] = min(number, order.get(value, number))
    return sorted(order, key=lambda value: (order[value], str(value)))


def check_lists(columns: Mapping[str, Any], metrics: Sequence[str], exposures: Sequence[str], *, truth: bool) -> Any:
    """Return the hashes of all lists, or raise if two states share a list or a state lacks rows."""
    hashes_of_lists = _hashes_of_lists(columns)
    kinds = {"lists": hashes_of_lists, "metric": metrics or exposures}
    absent_kind = next((kind for kind, rows in kinds.items() if not rows), None)
    if absent_kind is not None:
        msg = f"the states have no rows of the kind {absent_kind!r}"
        raise InputError(msg, "give all rows of a state")
    _check_shared(hashes_of_lists, truth=truth)
    counts = _counts_of_lists(columns)
    for (state, model), hashes_of_model in hashes_of_lists.items():
        expected = dict.fromkeys(metrics, len(hashes_of_model)) | dict.fromkeys(exposures, 0)
        lacking = next((name for name in expected if counts.get((state, model, name)) != expected[name]), None)
        if lacking is not None:
            of = "" if model is None else f" of the model {model!r}"
            msg = f"the state {state} lacks rows of {lacking}{of}"
            raise InputError(msg, "give all rows of a state; all states have the same metrics")
    (first, lists_of_first), *others = _joined(hashes_of_lists, 1).items()
    for model, hashes_of_model in others:
        if not np.array_equal(np.sort(lists_of_first), np.sort(hashes_of_model)):
            msg = f"the models {first!r} and {model!r} have different lists"
            raise InputError(msg, "give states of all models for each part of the lists")
    return lists_of_first


def _hashes_of_lists(columns: Mapping[str, Any]) -> dict[tuple[Any, Any], Any]:
    """Return the hashes of the lists of each state and model."""
    hashes: dict[tuple[Any, Any], list[Any]] = defaultdict(list)
    names = ("kind", "state", "model", "keys")
    for kind, state, model, keys in zip(*(columns[name] for name in names), strict=True):
        if kind == "lists":
            hashes[state, model].append(unpack(keys))
    return {key: np.concatenate(parts) for key, parts in hashes.items()}


def _counts_of_lists(columns: Mapping[str, Any]) -> dict[tuple[Any, Any, Any], float]:
    """Return how many lists each state, model and metric counts, with or without a value."""
    counts: dict[tuple[Any, Any, Any], float] = defaultdict(float)
    names = ("kind", "state", "model", "metric", "lists", "undefined")
    for kind, state, model, metric, lists, undefined in zip(*(columns[name] for name in names), strict=True):
        if kind in ("metric", "exposure"):
            counts[state, model, metric] += lists + undefined
    return counts


def check_apart(hashes: Any, others: Any) -> None:
    """Raise if states that are compared as different lists share a list."""
    shared = np.intersect1d(hashes, others).size
    if shared:
        msg = f"{shared} list{' is' if shared == 1 else 's are'} also in the baseline, whose lists must be others"
        raise InputError(
            msg, "evaluate(..., save='prod.parquet') keeps what pairs lists; lists of several days have the day in by="
        )


def _check_shared(hashes_of_lists: Mapping[tuple[Any, Any], Any], *, truth: bool) -> None:
    """Raise if two states hold the same list."""
    shared = max(len(hashes) - len(distinct(hashes)) for hashes in _joined(hashes_of_lists, 1).values())
    why = ""
    if not shared and not truth:
        of_states = [distinct(hashes) for hashes in _joined(hashes_of_lists, 0).values()]
        shared = sum(map(len, of_states)) - len(distinct(np.concatenate(of_states)))
        why = ": without truth= all models of a list must be in one state"
    if shared:
        msg = f"{shared} list{' is' if shared == 1 else 's are'} in two states{why}"
        raise InputError(msg, ONCE)


def _joined(hashes_of_lists: Mapping[tuple[Any, Any], Any], part: int) -> dict[Any, Any]:
    """Return the hashes of each state (part 0 of the keys), or of each model (part 1), as one array."""
    by_name: dict[Any, list[Any]] = defaultdict(list)
    for key, hashes in hashes_of_lists.items():
        by_name[key[part]].append(hashes)
    return {name: np.concatenate(parts) for name, parts in by_name.items()}
