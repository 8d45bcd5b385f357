"""A stored baseline: the values of one model's lists, and what they were measured on, in a file."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections import Counter
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._columns import WEIGHT as LIST_WEIGHT
from recframe._engines.base import values_of
from recframe._engines.parquet import from_parquet, to_parquet
from recframe._files.paths import PARQUET, as_path, check_directory, read_bytes, write_whole
from recframe._lists.fingerprints import fingerprints_of_frames, fingerprints_of_lists
from recframe._lists.keys import check_fields, fields_of, floats_of, texts_of
from recframe._lists.results import new_series
from recframe._lists.values import ListValues, check_by_list, check_of_lists, value_column, weight_column
from recframe._query import check_apart
from recframe._statistics import outside
from recframe.errors import DataWarning, InputError, OptionError, closest, quoted, stack_level
from recframe.profiles._explain import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from recframe._plan.plan import Plan

BASELINE_VERSION = 1
"""Of the columns and their meaning, and of what metrics compute: files of another one are refused."""
LIST, ABOUT, WEIGHT = "list", "baseline", "weight of {}"
FINGERPRINTS = ("relevant_rows", "values_of_rows", "subtopics_of_rows")
FIELDS = {"recframe": str, "lists": int, "items": bool, "side": dict, "metrics": dict}
"""The types of what a file says of itself, where it is not only compared."""
NOTHING = "nothing"
"""What changed since a baseline was saved, if all lists are as they were."""
AGAIN = "give a file that evaluate with `save='prod.parquet'` wrote, whole and unchanged"


def check_save(path: Any) -> Path:
    """Return the file to write, or raise before any work."""
    file = as_path(path, "save")
    if file.suffix.lower() not in PARQUET:
        msg = f"`save={str(file)!r}` does not end in .parquet, as a baseline does"
        raise OptionError(msg, "`save='prod.parquet'`")
    check_directory(file)
    return file


def save(plan: Plan, path: Path) -> None:
    """Write the values of the lists of one model, and what they were measured on."""
    check_by_list(plan.metrics, "`save=`")
    values, context = ListValues(plan), plan.context
    if len(values.models) != 1:
        msg = f"{str(path)!r} keeps the lists of one model, but there are {', '.join(map(repr, values.models))}"
        such = "" if context.keys.long else f", such as `score={str(values.models[0])!r}`"
        raise OptionError(msg, f"make a call for the model to keep{such}")
    metrics = _definitions(plan)
    columns = _columns(values, plan, 0)
    check_apart([LIST, ABOUT, *FINGERPRINTS, *columns.values()])
    table = values.engine.collected(values.frame.select(*context.keys.key, *columns))
    numbers = {name: floats_of(table[column]) for column, name in columns.items()}
    without = next((name for name in metrics if np.isnan(numbers[name]).all()), None)
    if without is not None:
        msg = f"no list has a value of {without}, so {str(path)!r} is not written"
        raise InputError(msg, "`save=` keeps values to compare with")
    # Of metrics that read no relevance, lists have no relevant rows.
    prints = {FINGERPRINTS[0]: [0] * len(table), **fingerprints_of_lists(context, table, items=context.with_item)}
    about = {
        "version": BASELINE_VERSION,
        # The package itself imports this module.
        "recframe": sys.modules[__name__.partition(".")[0]].__version__,
        "lists": len(table),
        "items": context.with_item,
        **_measured(plan),
        "side": fingerprints_of_frames(context),
        "metrics": metrics,
    }
    rows = {LIST: texts_of(context, table, list(context.keys.key)), ABOUT: [json.dumps(about)] * len(table), **prints}
    rows |= {name: [None if math.isnan(value) else value for value in numbers[name].tolist()] for name in numbers}
    types = dict.fromkeys((LIST, ABOUT), nw.String()) | dict.fromkeys(prints, nw.Int64())
    write_whole(path, to_parquet(rows, types | dict.fromkeys(numbers, nw.Float64())))


@dataclass(frozen=True)
class Stored:
    """A baseline that was read from its file."""

    name: str
    about: Mapping[str, Any]
    rows: nw.DataFrame[Any]

    @classmethod
    def read(cls, path: Any) -> Stored:
        """Read a file, or raise for what `evaluate` did not write."""
        path = as_path(path, "baseline")
        rows = from_parquet(read_bytes(path), str(path), AGAIN)
        if {"kind", "keys", "definition"} <= {*rows.columns}:
            msg = f"{str(path)!r} is a state, which holds sums: a comparison by lists needs the values of lists"
            raise InputError(msg, AGAIN)
        if [rows.schema.get(name) for name in (LIST, ABOUT)] != [nw.String()] * 2:
            msg = f"{str(path)!r} is no baseline: it has no columns {LIST!r} and {ABOUT!r} of text"
            raise InputError(msg, AGAIN)
        texts = rows[ABOUT].unique().to_list()
        if len(texts) != 1:
            msg = f"{str(path)!r} holds the rows of {len(texts)} baselines"
            raise InputError(msg, AGAIN)
        about = _parsed(texts[0], str(path))
        lists = values_of(rows[LIST])
        if len({*lists}) < len(lists):
            ((twice, _),) = Counter(lists).most_common(1)
            msg = f"{str(path)!r} holds the list {quoted(twice)} twice"
            raise InputError(msg, AGAIN)
        kinds = {name: rows.schema.get(name, nw.String()) for name in (FINGERPRINTS[0], *about["metrics"])}
        absent = [name for name, kind in kinds.items() if not kind.is_numeric()]
        if about["lists"] != len(lists) or absent:
            what = f"no numbers in a column {absent[0]!r}" if absent else f"{len(lists)} of its {about['lists']} lists"
            msg = f"{str(path)!r} is not whole: it has {what}"
            raise InputError(msg, AGAIN)
        return cls(path.name, about, rows)

    def check(self, plan: Plan) -> None:
        """Raise where the call measures something else than the file."""
        metrics = _definitions(plan)
        for name in metrics:
            if name not in self.about["metrics"]:
                msg = f"{self.name} has no values of {name}; it has {', '.join(self.about['metrics'])}"
                raise InputError(msg, closest(name, self.about["metrics"]) or "save the baseline with these metrics")
        measured = {**_measured(plan), **metrics}
        stored = {**self.about, **self.about["metrics"]}
        other = next((name for name in measured if measured[name] != stored.get(name)), None)
        if other is not None:
            was = f"{quoted(stored.get(other))}, but here {quoted(measured[other])}"
            msg = f"{self.name} has another definition: {other} was {was} (recframe {self.about['recframe']} wrote it)"
            raise InputError(msg, "make the call as it was, or save the baseline again")
        for name, hashed in fingerprints_of_frames(plan.context).items():
            if hashed != self.about["side"].get(name):
                msg = f"{self.name} was measured with another `{name}=`"
                raise InputError(msg, "give the same, or save the baseline again")

    def _check_numbers(self, values: ListValues, plan: Plan) -> None:
        """Raise for values that no list can have: a damaged file would give wrong differences without an error."""
        for number, name in enumerate(_definitions(plan)):
            low, high = values.range_of(number)
            if not (math.isfinite(low) and math.isfinite(high)):
                # As with relevance below 0: there, values may pass the other end too.
                low, high = -math.inf, math.inf
            ranges = {name: (low, high), WEIGHT.format(name): (0.0, math.inf)}
            for column in [name, WEIGHT.format(name)] if number in values.weighted else [name]:
                found = floats_of(self.rows[column])
                wrong = outside(found, *ranges[column]) | np.isinf(found)
                if wrong.any():
                    least, greatest = ranges[column]
                    held = f"{self.name} holds {found[wrong][0]:g} as the {column}"
                    msg = f"{held} of a list, which is from {least:g} to {greatest:g}"
                    raise InputError(msg, AGAIN)

    def paired(self, values: ListValues, plan: Plan, policy: str | None, *, shown: bool) -> tuple[ListValues, str]:
        """Return the values of lists with the baseline as the last model, and what changed since it was saved.

        If nobody chose a policy and the result does not show what changed, lists are left out with a warning.
        """
        self.check(plan)
        self._check_numbers(values, plan)
        context, models = plan.context, [None if name is None else str(name) for name in values.models]
        if context.pooled and len(models) > 1:
            msg = (
                "without `truth=` each model's rows have a relevance of their own, so that a file pairs with one model"
            )
            raise OptionError(msg, "give `truth=`, or make a call for each model")
        table = values.engine.collected(values.frame)
        rows = self._places(texts_of(context, table, list(context.keys.key)))
        is_stored = rows >= 0
        same = is_stored.copy()
        for name, hashes in fingerprints_of_lists(context, table, items=self.about["items"]).items():
            same &= self.rows[name].to_numpy()[rows] == hashes
        value_columns = [
            value_column(model, number) for model in range(len(models)) for number in range(len(plan.metrics))
        ]
        has_value = np.any([~np.isnan(floats_of(table[name])) for name in value_columns], axis=0)
        had_value = np.any([~np.isnan(floats_of(self.rows[name])) for name in _definitions(plan)], axis=0)
        changed = is_stored & ~same & (has_value | had_value[rows])
        went = np.delete(had_value, rows[is_stored])
        text = self._said(plan, changed.sum(), (~is_stored & has_value).sum(), went.sum(), policy)
        if text != NOTHING and policy is None and not shown:
            msg = (
                f"some lists are not those of {self.name}, and are left out: {text}.\n`changed='leave_out'` accepts"
                " this, `changed='refuse'` makes it an error, and `details=True` has it as a column"
            )
            warnings.warn(msg, DataWarning, stacklevel=stack_level())
        backend = nw.get_native_namespace(table).__name__
        result = copy(values)
        result.models = [*models, self.name]
        series = [
            new_series(column, np.where(same, floats_of(self.rows[name])[rows], np.nan), nw.Float64(), backend)
            for column, name in _columns(values, plan, len(models)).items()
        ]
        weights, in_truth = [], LIST_WEIGHT in context.session.columns.get("truth", ())
        for number in values.weighted if LIST_WEIGHT in table.columns else ():
            if plan.context.requirements.values[plan.list_metrics[number].label].weighting is None:
                # A list that only the baseline served has no weight in the frame: the file knows it.
                *of_call, stored = (weight_column(model, number) for model in range(len(result.models)))
                is_known = nw.lit(in_truth) | ~nw.col(LIST_WEIGHT).is_null() | nw.col(stored).is_null()
                weight = nw.when(is_known).then(nw.col(of_call[0])).otherwise(nw.col(stored))
                weights += [weight.alias(name) for name in (*of_call, stored)]
        result.frame = table.with_columns(*series).with_columns(*weights).lazy()
        return result, text

    def _places(self, texts: Sequence[str | None]) -> Any:
        """Return the row of each list, -1 where the file has none."""
        rows = {key: row for row, key in enumerate(values_of(self.rows[LIST]))}
        return np.array([rows.get(key, -1) for key in texts], dtype=np.intp)

    def _said(self, plan: Plan, changed: int, came: int, went: int, policy: str | None) -> str:
        """Return what changed since the baseline was saved, or raise where it must not."""
        truth = plan.context.truth is not None
        counts = {"truth of {}" if truth else "relevant rows of {}": changed, "{} came": came, "{} went": went}
        texts = [text.format("1 list" if n == 1 else f"{n} lists") for text, n in counts.items() if n]
        if texts and (policy == "refuse" or (policy is None and not truth)):
            msg = f"not all lists are those of {self.name}: {', '.join(texts)}"
            why = "`changed='leave_out'` compares the lists that stayed as they were"
            alone = "without it, what is relevant depends on what each frame holds, or"
            raise InputError(msg, why if truth else f"give `truth=`: {alone} {why}")
        return ", ".join(texts) or NOTHING


def _parsed(text: Any, path: str) -> dict[str, Any]:
    """Return what a file says of itself."""
    what = f"{path!r} is no baseline: its column {ABOUT!r}"
    about = fields_of(text, {"version": int}, what, AGAIN)
    if about["version"] != BASELINE_VERSION:
        version = f"{about['version']}, of recframe {about.get('recframe')}"
        msg = f"{path!r} has version {version}, but this one reads {BASELINE_VERSION}"
        raise InputError(msg, "save the baseline again")
    return check_fields(about, FIELDS, what, AGAIN)


def _measured(plan: Plan) -> dict[str, Any]:
    """Return what must be the same in the call that saved a baseline, the metrics aside."""
    query, frames = plan.context.query, plan.frames
    measured = {"by": [str(name) for name in query.by], "relevant": str(query.relevant)}
    return {**measured, "truth": frames.truth is not None, "catalog": frames.catalog_size}


def _definitions(plan: Plan) -> dict[str, str]:
    """Return what each metric of a call is, by the name that results have."""
    check_of_lists(plan, "a baseline in a file")
    query = plan.context.query
    averagings = [(metric, query.averaging(metric.label)) for metric in plan.metrics]
    return {how.name: spelled(metric, query, how) for metric, how in averagings}


def _columns(values: ListValues, plan: Plan, model: int) -> dict[str, str]:
    """Return the file's columns of values and weights by those of a model."""
    names = list(_definitions(plan))
    columns = {value_column(model, number): name for number, name in enumerate(names)}
    return columns | {weight_column(model, number): WEIGHT.format(names[number]) for number in sorted(values.weighted)}
