"""A baseline in a file: the values of one model's lists, with fingerprints of the data they were measured on."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from recframe._base.columns import RELEVANCE
from recframe._base.columns import WEIGHT as LIST_WEIGHT
from recframe._data.files.paths import PARQUET, as_path, check_directory, read_bytes, write_atomically
from recframe._engines.base import values_of
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.parquet import from_parquet, to_parquet
from recframe._engines.registry import open_frames
from recframe._inference.lists.fingerprints import fingerprints_of_frames, fingerprints_of_lists
from recframe._inference.lists.keys import check_fields, fields_of, floats_of, texts_of
from recframe._inference.lists.results import new_series
from recframe._inference.lists.values import (
    ListValues,
    check_independent_lists,
    check_values_per_list,
    value_column,
    weight_column,
)
from recframe._inference.statistics import outside
from recframe._plan.query import check_apart
from recframe._plan.sources import relevance_of_truth
from recframe.errors import DataWarning, InputError, OptionError, closest, quoted, warn
from recframe.metrics import DCG
from recframe.profiles._explain import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from recframe._plan.plan import Plan

BASELINE_VERSION = 1
"""The version of the file's columns and of the metrics' definitions. Files of another version are refused."""
LIST = "list"
"""The column of the file with the key of each list."""
METADATA = "baseline"
"""The column of the file with a description of the call, the same JSON text in each row."""
WEIGHT = "weight of {}"
FINGERPRINTS = ("relevant_rows", "values_of_rows", "subtopics_of_rows")
"""The columns of the file with the fingerprints of a list's data. Only the first one is always there."""
FIELDS = {"recframe": str, "lists": int, "items": bool, "side": dict, "metrics": dict}
"""The types of the fields in the column METADATA that are read, not only compared."""
NOTHING = "nothing"
"""The text of what changed since a baseline was saved, if no list changed."""
SAVE_HINT = "give a file that evaluate with `save='prod.parquet'` wrote, complete and unchanged"


def check_save(path: Any) -> Path:
    """Return the path in `save=`, or raise if no baseline can be written there."""
    file = as_path(path, "save")
    if file.suffix.lower() not in PARQUET:
        msg = f"`save={str(file)!r}` does not end in .parquet, as a baseline does"
        raise OptionError(msg, "`save='prod.parquet'`")
    check_directory(file)
    return file


def save(plan: Plan, path: Path) -> None:
    """Write the values of one model's lists, and the fingerprints of their data, to a file."""
    check_values_per_list(plan.metrics, "`save=`")
    values = ListValues(plan)
    context = plan.context
    if len(values.models) != 1:
        msg = f"{str(path)!r} keeps the lists of one model, but there are {', '.join(map(repr, values.models))}"
        example = "" if context.keys.long else f", such as `score={str(values.models[0])!r}`"
        raise OptionError(msg, f"make a call for the model to keep{example}")
    metrics = _definitions(plan)
    columns = _columns(values, plan, 0)
    check_apart([LIST, METADATA, *FINGERPRINTS, *columns.values()])
    table = values.engine.collected(values.frame.select(*context.keys.key, *columns))
    numbers = {name: floats_of(table[column]) for column, name in columns.items()}
    without = next((name for name in metrics if np.isnan(numbers[name]).all()), None)
    if without is not None:
        msg = f"no list has a value of {without}, so {str(path)!r} is not written"
        raise InputError(msg, "`save=` keeps values to compare with")
    # Metrics without relevance have no fingerprint of relevant rows, but the file always has the column.
    fingerprints = {FINGERPRINTS[0]: [0] * len(table), **fingerprints_of_lists(context, table, items=context.with_item)}
    metadata = {
        "version": BASELINE_VERSION,
        # Read from sys.modules, because an import of the package here would be circular.
        "recframe": sys.modules[__name__.partition(".")[0]].__version__,
        "lists": len(table),
        "items": context.with_item,
        **_measured(plan),
        "side": fingerprints_of_frames(context),
        "metrics": metrics,
    }
    rows = {
        LIST: texts_of(context, table, list(context.keys.key)),
        METADATA: [json.dumps(metadata)] * len(table),
        **fingerprints,
    }
    rows |= {name: [None if math.isnan(value) else value for value in numbers[name].tolist()] for name in numbers}
    types = dict.fromkeys((LIST, METADATA), nw.String()) | dict.fromkeys(fingerprints, nw.Int64())
    write_atomically(path, to_parquet(rows, types | dict.fromkeys(numbers, nw.Float64())))


@dataclass(frozen=True)
class Stored:
    """A baseline that was read from its file."""

    name: str
    """The name of the file."""
    metadata: Mapping[str, Any]
    """The fields of the column METADATA."""
    rows: nw.DataFrame[Any]
    """One row per list."""

    @classmethod
    def read(cls, path: Any) -> Stored:
        """Return the baseline in a file, or raise if `evaluate` did not write the file."""
        path = as_path(path, "baseline")
        rows = from_parquet(read_bytes(path), str(path), SAVE_HINT)
        if {"kind", "keys", "definition"} <= {*rows.columns}:
            msg = f"{str(path)!r} is a state, which holds only sums, but a comparison needs the value of each list"
            raise InputError(msg, SAVE_HINT)
        if [rows.schema.get(name) for name in (LIST, METADATA)] != [nw.String()] * 2:
            msg = f"{str(path)!r} is not a baseline: it has no text columns {LIST!r} and {METADATA!r}"
            raise InputError(msg, SAVE_HINT)
        texts = rows[METADATA].unique().to_list()
        if len(texts) != 1:
            msg = f"{str(path)!r} holds the rows of {len(texts)} baselines"
            raise InputError(msg, SAVE_HINT)
        metadata = _parsed(texts[0], str(path))
        lists = values_of(rows[LIST])
        if len({*lists}) < len(lists):
            ((repeated, _),) = Counter(lists).most_common(1)
            msg = f"{str(path)!r} holds the list {quoted(repeated)} twice"
            raise InputError(msg, SAVE_HINT)
        types_of_columns = {
            name: rows.schema.get(name, nw.String()) for name in (FINGERPRINTS[0], *metadata["metrics"])
        }
        absent = [name for name, dtype in types_of_columns.items() if not dtype.is_numeric()]
        if metadata["lists"] != len(lists) or absent:
            content = (
                f"no numbers in a column {absent[0]!r}" if absent else f"{len(lists)} of its {metadata['lists']} lists"
            )
            msg = f"{str(path)!r} is not complete: it has {content}"
            raise InputError(msg, SAVE_HINT)
        return cls(path.name, metadata, rows)

    def check(self, plan: Plan) -> None:
        """Raise if the call measures something else than the file."""
        metrics = _definitions(plan)
        for name in metrics:
            if name not in self.metadata["metrics"]:
                msg = f"{self.name} has no values of {name}; it has {', '.join(self.metadata['metrics'])}"
                raise InputError(msg, closest(name, self.metadata["metrics"]) or "save the baseline with these metrics")
        measured = {**_measured(plan), **metrics}
        stored = {**self.metadata, **self.metadata["metrics"]}
        different = next((name for name in measured if measured[name] != stored.get(name)), None)
        if different is not None:
            both = f"{quoted(stored.get(different))}, but here {quoted(measured[different])}"
            writer = f"(recframe {self.metadata['recframe']} wrote it)"
            msg = f"{self.name} has another definition: {different} was {both} {writer}"
            raise InputError(msg, "use the same definition here, or save the baseline again")
        for name, hashed in fingerprints_of_frames(plan.context).items():
            if hashed != self.metadata["side"].get(name):
                msg = f"{self.name} was measured with another `{name}=`"
                raise InputError(msg, "give the same, or save the baseline again")

    def _check_numbers(self, values: ListValues, plan: Plan) -> None:
        """Raise for values that no list can have, since a damaged file would silently give wrong differences."""
        for number, name in enumerate(_definitions(plan)):
            low, high = values.range_of(number)
            if math.isfinite(low) and math.isfinite(high):
                self._check_range(name, low, high)
            else:
                # If one end is infinite, such as with negative relevance, values may pass the other end too.
                self._check_range(name, -math.inf, math.inf)
            if number in values.weighted:
                self._check_range(WEIGHT.format(name), 0.0, math.inf)

    def _check_range(self, column: str, low: float, high: float) -> None:
        """Raise if a column holds a number outside a range, or an infinite number."""
        numbers = floats_of(self.rows[column])
        wrong = outside(numbers, low, high) | np.isinf(numbers)
        if wrong.any():
            number = numbers[wrong][0]
            possible = "finite" if np.isinf(number) else f"from {low:g} to {high:g}"
            msg = f"{self.name} holds {number:g} as the {column} of a list, which is {possible}"
            raise InputError(msg, SAVE_HINT)

    def _check_gains(self, values: ListValues, plan: Plan, rows: Any) -> None:
        """Raise for a DCG or NDCG of unchanged lists that only negative relevance allows, if no relevance is negative.

        A damaged file may hold such a value: below 0, or an NDCG above 1.
        """
        query = plan.context.query
        if query.propensity is not None or query.sampled is not None:
            return
        for number, (metric, name) in enumerate(zip(plan.list_metrics, _definitions(plan), strict=True)):
            if not isinstance(metric, DCG) or not (isinstance(metric.gain, str) and isinstance(metric.discount, str)):
                continue
            undefined = query.averaging(metric.label).undefined
            low = min(0.0, undefined) if isinstance(undefined, float) else 0.0
            high = values.range_of(number)[1]
            numbers = floats_of(self.rows[name])[rows]
            wrong = outside(numbers, low, high)
            if wrong.any() and not _has_negative_relevance(plan):
                problem = f"{self.name} holds {numbers[wrong][0]:g} as the {name} of a list"
                msg = f"{problem}, which is from {low:g} to {high:g} if no relevance is negative"
                raise InputError(msg, SAVE_HINT)

    def paired(self, values: ListValues, plan: Plan, policy: str | None, *, shown: bool) -> tuple[ListValues, str]:
        """Return the values of lists with the baseline as the last model, and a text of what changed since the save.

        Lists whose data changed have no value under the baseline. Warn about them if the user chose no policy and the
        text is not `shown` in the result.
        """
        self.check(plan)
        self._check_numbers(values, plan)
        context = plan.context
        models = [None if name is None else str(name) for name in values.models]
        if context.pooled and len(models) > 1:
            msg = (
                "without `truth=` each model's rows have a relevance of their own, so that a file pairs with one model"
            )
            raise OptionError(msg, "give `truth=`, or make a call for each model")
        table = values.engine.collected(values.frame)
        rows = self._rows_of(texts_of(context, table, list(context.keys.key)))
        is_unchanged = rows >= 0
        for name, hashes in fingerprints_of_lists(context, table, items=self.metadata["items"]).items():
            is_unchanged &= self.rows[name].to_numpy()[rows] == hashes
        self._check_gains(values, plan, rows[is_unchanged])
        changes = self._changes(plan, table, rows, is_unchanged, len(models))
        text = self._describe(changes, policy, has_truth=context.truth is not None)
        if text != NOTHING and policy is None and not shown:
            msg = (
                f"some lists differ from {self.name}, and are left out: {text}.\n`changed='leave_out'` accepts"
                " this, `changed='refuse'` makes it an error, and `details=True` has it as a column"
            )
            warn(msg, DataWarning)
        backend = nw.get_native_namespace(table).__name__
        series = [
            new_series(column, np.where(is_unchanged, floats_of(self.rows[name])[rows], np.nan), nw.Float64(), backend)
            for column, name in _columns(values, plan, len(models)).items()
        ]
        result = copy(values)
        result.models = [*models, self.name]
        result.frame = table.with_columns(*series).with_columns(*_known_weights(result, plan, table)).lazy()
        return result, text

    def _rows_of(self, texts: Sequence[str | None]) -> Any:
        """Return the file's row of each list, -1 for a list that the file lacks."""
        rows = {key: row for row, key in enumerate(values_of(self.rows[LIST]))}
        return np.array([rows.get(key, -1) for key in texts], dtype=np.intp)

    def _changes(
        self, plan: Plan, table: nw.DataFrame[Any], rows: Any, is_unchanged: Any, models: int
    ) -> _ChangedLists:
        """Return how many lists changed, came and went since the save, among the lists with a value then or now."""
        columns = [value_column(model, number) for model in range(models) for number in range(len(plan.metrics))]
        has_value = np.any([~np.isnan(floats_of(table[name])) for name in columns], axis=0)
        had_value = np.any([~np.isnan(floats_of(self.rows[name])) for name in _definitions(plan)], axis=0)
        is_stored = rows >= 0
        return _ChangedLists(
            changed=(is_stored & ~is_unchanged & (has_value | had_value[rows])).sum(),
            came=(~is_stored & has_value).sum(),
            went=np.delete(had_value, rows[is_stored]).sum(),
        )

    def _describe(self, changes: _ChangedLists, policy: str | None, *, has_truth: bool) -> str:
        """Return what changed since the baseline was saved, as text, or raise if the policy refuses changes."""
        counts = {
            "truth of {}" if has_truth else "relevant rows of {}": changes.changed,
            "{} came": changes.came,
            "{} went": changes.went,
        }
        texts = [text.format("1 list" if n == 1 else f"{n} lists") for text, n in counts.items() if n]
        if texts and (policy == "refuse" or (policy is None and not has_truth)):
            msg = f"lists differ from {self.name}: {', '.join(texts)}"
            hint = "`changed='leave_out'` compares the lists that stayed as they were"
            if not has_truth:
                hint = f"give `truth=`: without it, what is relevant depends on what each frame holds, or {hint}"
            raise InputError(msg, hint)
        return ", ".join(texts) or NOTHING


def _has_negative_relevance(plan: Plan) -> bool:
    """Return whether a relevance that the call reads is negative."""
    frames = plan.frames
    query = plan.context.query
    if frames.truth is None:
        source = Source(frames.frame, {RELEVANCE: ColumnSpec(query.relevant, "relevant", "relevance")})
    else:
        source = Source(frames.truth, {RELEVANCE: relevance_of_truth(query)})
    opened = open_frames({"frame": source}, {})
    least = opened.engine.scalar(opened.frames["frame"].select(nw.col(RELEVANCE).min()))
    return least is not None and least < 0


class _ChangedLists(NamedTuple):
    """How many lists changed since a baseline was saved, how many are new, and how many are gone."""

    changed: int
    came: int
    went: int


def _known_weights(values: ListValues, plan: Plan, table: nw.DataFrame[Any]) -> list[nw.Expr]:
    """Return the weight columns of all models: the list's weight in the frame, or in the file if the frame has none.

    A list has no weight in the frame if only the baseline served it.
    """
    weights: list[nw.Expr] = []
    if LIST_WEIGHT not in table.columns:
        return weights
    is_in_truth = LIST_WEIGHT in plan.context.session.columns.get("truth", ())
    for number in values.weighted:
        if plan.context.requirements.values[plan.list_metrics[number].label].weighting is None:
            names = [weight_column(model, number) for model in range(len(values.models))]
            stored = nw.col(names[-1])
            is_known = nw.lit(is_in_truth) | ~nw.col(LIST_WEIGHT).is_null() | stored.is_null()
            weight = nw.when(is_known).then(nw.col(names[0])).otherwise(stored)
            weights += [weight.alias(name) for name in names]
    return weights


def _parsed(text: Any, path: str) -> dict[str, Any]:
    """Return the fields of the column METADATA, or raise if they are not of this version."""
    subject = f"{path!r} is not a baseline: its column {METADATA!r}"
    metadata = fields_of(text, {"version": int}, subject, SAVE_HINT)
    if metadata["version"] != BASELINE_VERSION:
        version = f"{metadata['version']}, of recframe {metadata.get('recframe')}"
        msg = f"{path!r} has version {version}, but this recframe reads version {BASELINE_VERSION}"
        raise InputError(msg, "save the baseline again")
    return check_fields(metadata, FIELDS, subject, SAVE_HINT)


def _measured(plan: Plan) -> dict[str, Any]:
    """Return the arguments that must equal the ones of the call that saved the baseline, beside the metrics."""
    query = plan.context.query
    return {
        "by": [str(name) for name in query.by],
        "relevant": str(query.relevant),
        "truth": plan.frames.truth is not None,
        "catalog": plan.frames.catalog_size,
    }


def _definitions(plan: Plan) -> dict[str, str]:
    """Return the definitions of a call's metrics, as text, by the names of the result's columns."""
    check_independent_lists(plan, "a baseline in a file")
    query = plan.context.query
    averagings = [(metric, query.averaging(metric.label)) for metric in plan.metrics]
    return {how.name: spelled(metric, query, how) for metric, how in averagings}


def _columns(values: ListValues, plan: Plan, model: int) -> dict[str, str]:
    """Return the file's columns of values and weights, by the columns of a model."""
    names = list(_definitions(plan))
    columns = {value_column(model, number): name for number, name in enumerate(names)}
    return columns | {weight_column(model, number): WEIGHT.format(names[number]) for number in sorted(values.weighted)}
