"""Reading states: their checks, and their rows added up by the columns that identify them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable
from hashlib import blake2b
from itertools import product
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._base.values import MOST_EXACT, as_tuple, column_names
from recframe._engines.base import Engine, values_of
from recframe._engines.registry import adapter_of, is_frame
from recframe._inference.lists.keys import floats_of, numbered, pack, unpack
from recframe._inference.lists.paired_sums import NEGATIVE
from recframe._inference.lists.results import new_series
from recframe._inference.lists.sums import ends_by, exchanged, sums_by
from recframe._inference.states.checks import (
    COUNTS,
    ENDS,
    UNCHANGED,
    check_lists,
    check_rows,
    check_sums,
    check_versions,
    definitions_of,
    ordered,
    pairs_of_all_states,
)
from recframe._inference.states.run_rows import RUN
from recframe._inference.states.state import COLUMNS, KEY_COLUMNS, STATE_VERSION, SUMS
from recframe.errors import (
    ColumnTypeError,
    InputError,
    MissingColumnError,
    OptionError,
    OptionTypeError,
    closest,
    quoted,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ADDED = (*COUNTS, *SUMS)
Key = tuple[Any, ...]
"""The segment, then the columns of `KEY_COLUMNS`."""


class Rows:
    """The rows of states, one for each key, with their sums.

    Attributes
    ----------
    per : list
        The columns to report by.
    types : dict
        Their types, None if states differ.
    segments : list of tuple
        Their values, sorted.
    metrics, exposures, evaluated : list of str
        The metrics with a value per list, the metrics of all lists together, and all metrics, in order of the calls.
    definitions : dict
        The definition of each metric, as the state stores it.
    models : list of str
        The models in the order of the calls; a single model has no name.
    backend : str
        The library of the frames.
    hashed : array of int
        The hashes of the keys of all lists.
    segment_names : list of str
        The columns that `per` may name.
    of_lists : bool
        Whether segments are the lists themselves, so that weights of lists change no value.
    """

    def __init__(self, frames: Sequence[nw.DataFrame[Any]], segment_names: Sequence[str], per: Sequence[str]) -> None:
        self.per = list(per)
        self._frames = frames
        self.segment_names = list(segment_names)
        types = {name: {frame.schema[name] for frame in frames} for name in per}
        self.types = {name: kinds.pop() if len(kinds) == 1 else None for name, kinds in types.items()}
        self.backend = nw.get_native_namespace(frames[0]).__name__
        numeric = (*ADDED, *ENDS, "place")
        words = [name for name in (*segment_names, *COLUMNS) if name not in numeric]
        columns: dict[str, Any] = {name: [value for frame in frames for value in _words(frame, name)] for name in words}
        columns |= {name: np.concatenate([_numbers(frame[name]) for frame in frames]) for name in numeric}
        check_versions(columns["version"], STATE_VERSION)
        self.definitions = definitions_of(columns)
        self.metrics = ordered(columns, ["metric"], "metric")
        self.exposures = ordered(columns, ["exposure"], "metric")
        self.evaluated = ordered(columns, ("metric", "exposure"), "metric")
        self.models = ordered(columns, ["lists"], "model")
        shared = next(iter(self.definitions.values()))
        self.several = shared["several"]
        self.hashed = check_lists(columns, self.metrics, self.exposures, truth=shared["truth"])
        check_rows(columns, [*segment_names, *KEY_COLUMNS])
        check_sums(columns, self.definitions)
        self._pairs = pairs_of_all_states(columns, self.metrics)
        self._add_up(columns)
        try:
            segments = {key[: len(per)] for key in self._keys}
            self.segments = sorted(segments, key=lambda segment: [(value is None, value) for value in segment])
        except TypeError as error:
            msg = f"per={list(per)} of the states holds values that have no order: {error}"
            raise ColumnTypeError(msg, "cast it to one type in all frames, as to text, before state(...)") from error
        names = {*map(str, per)}
        by = {*map(str, shared["by"])}
        self.of_lists = names == by
        if per and not self.exposures and not names & by:
            # An unknown segment is reported if one of its lists has a value.
            unknown = (None,) * len(per)
            values = (self.sums(unknown, "metric", *names)["lists"] for names in product(self.metrics, self.models))
            self.segments = [each for each in self.segments if each != unknown or any(values)]

    def _add_up(self, columns: dict[str, Any]) -> None:
        """Sum the rows of each key. Rows of a pair are first turned, so that the model is the later one of the call."""
        # Squares of very large values are infinite.
        arrays = {name: np.nan_to_num(columns[name], posinf=np.inf) for name in ADDED}
        order = {model: number for number, model in enumerate(self.models)}
        pairs = zip(columns["kind"], columns["model"], columns["baseline"], strict=True)
        flipped = np.array(
            [kind == "pair" and order.get(model, 0) < order.get(base, 0) for kind, model, base in pairs], dtype=bool
        )
        for row in np.flatnonzero(flipped):
            columns["model"][row], columns["baseline"][row] = columns["baseline"][row], columns["model"][row]
        arrays |= {name: np.where(flipped, value, arrays[name]) for name, value in exchanged(arrays).items()}
        low, high = columns["least"], columns["greatest"]
        low, high = np.where(flipped, -high, low), np.where(flipped, -low, high)
        codes, numbers = numbered(zip(*(columns[name] for name in (*self.per, *KEY_COLUMNS)), strict=True))
        self._keys = list(numbers)
        count = len(numbers)
        self._sums = {name: sums_by(codes, count, array) for name, array in arrays.items()}
        has_ends = ~np.isnan(low)
        extremes = ends_by(codes[has_ends], count, low[has_ends], high[has_ends])
        self._sums |= dict(zip(ENDS, extremes, strict=True))
        self._first = np.full(count, len(codes))
        np.minimum.at(self._first, codes, np.arange(len(codes)))
        self._definition = columns["definition"]
        self._place = np.full(count, np.inf)
        np.minimum.at(self._place, codes, columns["place"])
        self._packed: dict[int, list[Any]] = defaultdict(list)
        for code, text in zip(codes.tolist(), columns["keys"], strict=True):
            if text is not None:
                self._packed[code].append(unpack(text))
        self._state = blake2b("".join(sorted({*map(str, columns["state"])})).encode(), digest_size=8).hexdigest()
        # Keys without their last two columns, the item and the cluster.
        self._rows_of_key: dict[Key, list[int]] = defaultdict(list)
        for number, key in enumerate(self._keys):
            self._rows_of_key[key[:-2]].append(number)

    def by(self, per: Sequence[str]) -> Rows:
        """Return the rows of the same states by other columns."""
        return self if [*per] == self.per else Rows(self._frames, self.segment_names, per)

    @property
    def runs(self) -> str | None:
        """The column that said which training run a row was from, None if the states hold no runs."""
        column: str | None = next(iter(self.definitions.values()))["runs"]
        return column

    def sums_of_runs(self, segment: Key, metric: str, model: Any, other: Any = None) -> dict[Any, dict[str, float]]:
        """Return the sums of each run of a model, over its lists or those that it shares with another model."""
        rows = self._rows_of_key.get((*segment, RUN, metric, model, other), [])
        names = ("lists", "total", "squares")
        return {self._keys[row][-2]: {name: float(self._sums[name][row]) for name in names} for row in rows}

    def weighted(self) -> str | None:
        """Return the first metric that weights lists, None if there is none."""
        for metric, model in product(self.metrics, self.models):
            sums = self.arrays("metric", metric, model)
            # Only weights of 1 add up, as their squares do, to the number of lists.
            if any((sums["lists"] != sums[name]).any() for name in ("weight", "weight_squares")):
                return str(metric)
        return None

    def items(self, segment: Key, metric: str, model: Any) -> list[int]:
        """Return the rows of the items that a metric counts in a segment."""
        return self._rows_of_key.get((*segment, "item", metric, model, None), [])

    def sums_of(self, rows: list[int], name: str) -> Any:
        """Return the sums of rows."""
        return self._sums[name][rows]

    def names_of_items(self, rows: Any) -> list[str | None]:
        """Return the names of the recommended items in some rows."""
        return [self._keys[number][-2] for number in rows if self._sums["total"][number] > 0]

    def catalog(self, metric: str) -> set[str | None]:
        """Return all items that a metric counts in the frames of the states."""
        at = len(self.per)
        return {key[-2] for key in self._keys if key[at : at + 2] == ("item", metric)}

    def range_of(self, metric: int) -> tuple[float, float]:
        """Return the least and the greatest value of a list under a metric, by its number."""
        low, high = self.definitions[self.metrics[metric]]["range"]
        return -math.inf if low is None else low, math.inf if high is None else high

    def sums(self, segment: Key, kind: str, metric: str | None, model: Any, baseline: Any = None) -> dict[str, float]:
        """Return the sums of one segment, over all of its clusters."""
        rows = self._rows_of_key.get((*segment, kind, metric, model, baseline), [])
        totals = {name: math.fsum(self._sums[name][rows]) for name in ADDED}
        units = {name: self._sums[name][rows] for name in ("total", "weight")}
        clustered = metric is not None and self.definitions[metric]["cluster"] is not None
        totals |= {
            "unit_squares": math.fsum(units["total"] ** 2) if clustered else totals["weighted_squares"],
            "unit_products": math.fsum(units["total"] * units["weight"]) if clustered else totals["weighted_total"],
            "unit_weight_squares": math.fsum(units["weight"] ** 2) if clustered else totals["weight_squares"],
            "unit_weight_cubes": math.fsum(units["weight"] ** 3) if clustered else totals["weight_cubes"],
            "least": np.nanmin([np.inf, *self._sums["least"][rows]]),
            "greatest": np.nanmax([-np.inf, *self._sums["greatest"][rows]]),
            **({"clusters": float((self._sums["lists"][rows] > 0).sum())} if clustered else {}),
        }
        return totals

    def arrays(self, kind: str, metric: str, model: Any, baseline: Any = None) -> dict[str, Any]:
        """Return the sums of all segments under the names of paired sums."""
        rows = [self.sums(segment, kind, metric, model, baseline) for segment in self.segments]
        names = self.sums((), kind, metric, model, baseline)
        columns = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in names}
        columns |= {"difference": columns["total"], "baseline": columns["baseline_total"]}
        columns |= {name: np.where(np.isfinite(columns[name]), columns[name], np.nan) for name in ENDS}
        return columns

    def pair(self, metric: str, model: int, baseline: int) -> dict[str, Any]:
        """Return the sums of a pair of models, by their numbers, in all segments."""
        later, earlier = max(model, baseline), min(model, baseline)
        paired = self.arrays("pair", metric, self.models[later], self.models[earlier])
        if model < baseline:
            paired |= exchanged(paired)
            paired |= {"unit_products": -paired["unit_products"]}
            paired |= {"difference": paired["total"], "baseline": paired["baseline_total"]}
        paired |= dict(zip(NEGATIVE, (paired["negative"], paired["baseline_negative"]), strict=True))
        paired["ties"] = paired["lists"] - paired["wins"] - paired["losses"]
        paired["model"] = paired["baseline"] + paired["difference"]
        return paired

    def holds_pair(self, model: int, baseline: int) -> bool:
        """Return whether all states compare two models, by their numbers."""
        return frozenset([self.models[model], self.models[baseline]]) in self._pairs

    def reported(self) -> nw.DataFrame[Any]:
        """Return the values of `per`, a row for each segment."""
        values = {name: [segment[number] for segment in self.segments] for number, name in enumerate(self.per)}
        made = [new_column(name, column, self.types[name], self.backend) for name, column in values.items()]
        return (
            made[0].to_frame().with_columns(*made)
            if made
            else nw.from_dict({"none": [0]}, backend=self.backend).select()
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of the merged state."""
        count = len(self._keys)
        packed = (self._packed.get(number) for number in range(count))
        return {
            **{name: [key[number] for key in self._keys] for number, name in enumerate([*self.per, *KEY_COLUMNS])},
            **{name: array.tolist() for name, array in self._sums.items()},
            "definition": [self._definition[first] for first in self._first],
            "place": [int(number) for number in self._place],
            "keys": [None if keys is None else pack(np.concatenate(keys)) for keys in packed],
            "version": [STATE_VERSION] * count,
            "state": [self._state] * count,
        }

    def frame(self, columns: Mapping[str, tuple[list[Any], Any]]) -> Any:
        """Return a native frame of columns and their types."""
        made = [new_column(name, values, dtype, self.backend) for name, (values, dtype) in columns.items()]
        return made[0].to_frame().with_columns(*made).to_native()


def _words(frame: nw.DataFrame[Any], name: str) -> list[Any]:
    """Return a column of text or of segments, which are null if the state lacks the column.

    Text may be numbers if the state was read from a file of text.
    """
    if name not in frame.columns:
        return [None] * len(frame)
    column = frame.get_column(name)
    wrong = [each for each in column.filter(~column.is_null()).to_list() if not isinstance(each, Hashable)]
    if wrong:
        msg = f"{name} of a state holds {quoted(wrong[0])}, which is neither text nor a number"
        raise ColumnTypeError(msg, UNCHANGED)
    return values_of(column)


def _numbers(column: nw.Series[Any]) -> Any:
    """Return a column of numbers, or raise if one is missing. Only `ENDS` may be missing, as NaN."""
    if not column.dtype.is_numeric() and column.null_count() < len(column):
        msg = f"{column.name} of a state holds {quoted(column.drop_nulls()[0])}, but it is a column of numbers"
        raise ColumnTypeError(msg, UNCHANGED)
    numbers = floats_of(column)
    wrong = np.isnan(numbers) if column.name in SUMS else ~(np.abs(numbers) < MOST_EXACT)
    if column.name not in ENDS and wrong.any():
        value = numbers[wrong][0]
        msg = f"{column.name} of a state holds {'a missing value' if np.isnan(value) else value}"
        raise InputError(msg, UNCHANGED)
    return numbers


def new_column(name: str, values: list[Any], dtype: Any, backend: Any) -> nw.Series[Any]:
    """Return a column of a type.

    The type of the values replaces a type that Narwhals does not know. Whole numbers become floats if their type cannot
    hold the missing values.
    """
    if dtype == nw.Float64():
        return new_series(name, values, dtype, backend)
    if backend == "pandas" and None in values:
        # Otherwise, missing booleans become False and large whole numbers are rounded.
        large = any(isinstance(value, int) and abs(value) > MOST_EXACT for value in values)
        dtype = nw.Object() if large or dtype == nw.Boolean() else dtype
    try:
        # Types that Narwhals does not know, such as periods, and Arrow's dictionaries become the types of the values.
        inferred = dtype == nw.Unknown or (dtype == nw.Categorical and backend == "pyarrow")
        return nw.new_series(name, values, None if inferred else dtype, backend=backend)
    except (TypeError, ValueError):
        # Whole numbers of pandas lack a missing value, which other states may have.
        return new_series(name, values, nw.Float64(), backend)


def read_states(states: Sequence[Any], per: str | Sequence[str] | None) -> Rows:
    """Return the rows of states, checked and added up."""
    parts = [frame for each in states for frame in (each if isinstance(each, list | tuple) else [each])]
    if not parts:
        msg = "merge_states needs a state"
        raise OptionError(msg, "merge_states(frame.rec.state('ndcg', 10))")
    frames = [_eager(frame) for frame in parts]
    for frame, name in product(frames, COLUMNS):
        if name not in frame.columns:
            msg = f"the frame is no state: it has no column {name!r}"
            raise MissingColumnError(msg, "give what df.rec.state(...) returned, with all of its columns")
    segment_names = list(dict.fromkeys(name for frame in frames for name in frame.columns if name not in COLUMNS))
    wanted = list(dict.fromkeys(segment_names if per is None else as_tuple(column_names("per", per))))
    for frame, name in product(frames, wanted):
        if name not in frame.columns or name in COLUMNS:
            msg = f"per={name!r} is no column of a state"
            in_frame = {*segment_names} & {*frame.columns}
            raise MissingColumnError(msg, closest(name, in_frame) or "all states need it; per=[] adds up all segments")
    if not any(len(frame) for frame in frames):
        msg = "the states have no rows"
        raise InputError(msg, "a state has a row for each metric, also of frames without lists")
    return Rows(frames, segment_names, wanted)


def _eager(frame: Any) -> nw.DataFrame[Any]:
    """Return a state as an eager frame, or raise if it is no frame."""
    if not is_frame(frame):
        msg = f"{quoted(frame)} is no state"
        raise OptionTypeError(
            msg, "merge_states(monday, tuesday, per='week'), of frames that df.rec.state(...) returned"
        )
    adapter = adapter_of(frame)
    if adapter.postpones:
        rows: nw.DataFrame[Any] = nw.from_native(frame).collect()
        return rows
    opened: nw.DataFrame[Any] | nw.LazyFrame[Any] = adapter.as_narwhals(frame)
    if not isinstance(opened, nw.LazyFrame):
        return opened
    return adapter.collected(opened) if isinstance(adapter, Engine) else opened.collect()
