"""The least and the greatest value of metrics over all judgments of unjudged items.

Of all judgments that make m items relevant, a metric is greatest where these are ranked first, and least where they are
ranked last. So the bounds of a list are those of its candidates: the first m items are relevant, or the last m. Items
behind the cutoff only add to the number of relevant items.
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._columns import ITEM, RELEVANCE, score_column
from recframe._defaults import only
from recframe._evaluate import evaluate
from recframe._lists.keys import numbered, rows_of, segments_of
from recframe._lists.results import result_frame, stacked
from recframe._lists.sums import ranks_by
from recframe._plan.averages import with_attributes
from recframe._statistics import ROUNDING
from recframe._values import number
from recframe.errors import InputError, OptionError, RecWarning
from recframe.metrics import DCG, F1, MAP, MRR, NDCG, RBP, FBeta, HitRate, Judged, Precision, Recall
from recframe.metrics._weights import DISCOUNTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._plan.plan import Plan
    from recframe.metrics import Metric

    Array = Any

COLUMNS = ("metric", "model", "mean", "least", "greatest", "judged", "lists")
"""The columns of a result; the first one of several models only."""
SUPPORTED = (Precision, Recall, F1, FBeta, HitRate, MRR, MAP, RBP, DCG, NDCG)
EXACT: Mapping[str, Sequence[Any]] = {
    "norm": ("capped", "relevant", "k"), "over": ("all",), "gain": ("linear", "exp2", "binary"),
    "grades": ("all", "positive", "relevant"), "discount": (*DISCOUNTS,), "ideal": ("all",),
}  # fmt: skip
"""The options of these metrics with which their bounds are exact."""
MOST_AT_ONCE = 2**20
"""About how many rows of candidates are evaluated at a time."""


def check_metrics(metrics: Sequence[Metric]) -> None:
    """Raise for metrics whose bounds are not those of the candidates.

    Raises
    ------
    OptionError
        The metric, or one of its options, is none of these.
    """
    names = ", ".join(kind.name for kind in SUPPORTED)
    for metric in metrics:
        if type(metric) not in SUPPORTED:
            msg = f"bounds of {metric.label} are not known exactly: more relevant items may raise or lower it"
            raise OptionError(msg, f"bounds knows {names}")
        for name, words in EXACT.items():
            value = getattr(metric, name, None)
            if value is not None and value not in words:
                msg = f"bounds of {metric.label} are not known exactly"
                raise OptionError(msg, f"leave `{name}={value!r}` out")


@dataclass(frozen=True)
class Lists:
    """The lists of a truth with a relevant item, with numbers for names."""

    count: int
    judged: tuple[Array, Array, Array]
    """The list, the number of the item and the relevance of each judgment, by list."""
    frame: tuple[Array, Array]
    """The list of each row of the frame, and the number of its item."""
    table: nw.DataFrame[Any]
    chosen: Array
    reported: nw.DataFrame[Any]
    """The values of `per`."""
    segments: Array
    """The number of each list's value."""

    @classmethod
    def of(cls, plan: Plan) -> Lists:
        """Return the lists of a plan."""
        context = plan.context
        keys = list(context.keys.key)
        truth: Any = context.truth_lists
        judged = context.engine.collected(truth.select(*keys, ITEM, RELEVANCE))
        names = [score_column(number) for number in range(len(context.query.orders))]
        table = context.engine.collected(context.all_rows.select(*keys, ITEM, *names))
        relevances: dict[tuple[Any, ...], float] = {}
        relevance = judged[RELEVANCE].cast(nw.Float64()).to_numpy().tolist()
        for pair, value in zip(rows_of(judged, [*keys, ITEM]), relevance, strict=True):
            if value < 0:
                msg = f"`truth=` holds the relevance {value:g}, but bounds go from 0 to the largest grade"
                raise InputError(msg, "leave unjudged rows out of `truth=`")
            if not math.isnan(value):
                relevances[pair] = max(value, relevances.get(pair, 0.0))
        _, numbers = numbered(pair[:-1] for pair, value in relevances.items() if value > 0)
        of_known = np.array([numbers.get(pair[:-1], -1) for pair in relevances], dtype=np.intp)
        places = np.argsort(of_known, kind="stable")[np.sum(of_known < 0) :]
        rows = rows_of(table, [*keys, ITEM])
        lists = np.array([numbers.get(row[:-1], -1) for row in rows], dtype=np.intp)
        chosen = np.flatnonzero(lists >= 0)
        every = with_attributes(context, truth.select(*keys).unique())
        described = context.engine.collected(every.select(*dict.fromkeys([*keys, *context.keys.per])))
        if context.keys.reports_attributes and len(described):
            segments_of_keys = zip(rows_of(described, keys), rows_of(described, context.keys.per), strict=True)
            described = described.filter([key in numbers or {*row} != {None} for key, row in segments_of_keys])
        reported, of_list = segments_of(described, context.keys.per)
        known_segments = dict(zip(rows_of(described, keys), of_list.tolist(), strict=True))
        segments = np.array([known_segments[key] for key in numbers], dtype=np.intp)
        items, _ = numbered(pair[-1] for pair in (*relevances, *rows))
        judgments = of_known[places], items[places], np.array([*relevances.values()], dtype=np.float64)[places]
        own_rows = lists[chosen], items[len(relevances) :][chosen]
        return cls(len(numbers), judgments, own_rows, table, chosen, reported, segments)

    def starts(self, model: int, *, by_rank: bool) -> Array:
        """Return the position where the tied block of each row starts, infinite where a model does not rank it."""
        column = self.table[score_column(model)]
        start = np.full(len(self.chosen), np.inf)
        numbers = column.cast(nw.Float64()).to_numpy()[self.chosen]
        ranked = np.flatnonzero(~np.isnan(numbers))
        if by_rank:
            start[ranked] = numbers[ranked]
            return start
        # Scores are compared as they are: floats would not tell all integers apart.
        levels = column[self.chosen[ranked].tolist()].rank("dense").to_numpy()
        start[ranked] = ranks_by(self.frame[0][ranked], -levels, "min")
        return start


@dataclass(frozen=True)
class Candidates:
    """Judgments of the unjudged items of each list, among which are those of its bounds."""

    lists: Array
    """The list of each candidate: those with 0, 1, 2, … of the first items come first, then those with the last."""
    begins: Array
    ends: Array
    """The first unjudged item of its list that each candidate makes relevant, and the first one after these."""
    rows: tuple[Array, Array, Array]
    """The list, the item and the position of each row up to the cutoff, by list."""
    unjudged: tuple[Array, Array]
    """The list of each unjudged item, and its number, by list."""
    judged: tuple[Array, Array, Array]
    grade: float

    @classmethod
    def of(cls, lists: Lists, start: Array, cutoff: float, grade: float) -> Candidates:
        """Return the candidates of the lists under a model and a cutoff."""
        of_row, items = lists.frame
        order = np.lexsort((start, of_row))
        of_row, items, start = of_row[order], items[order], start[order]
        near = start <= cutoff
        unjudged = _unjudged(of_row, items, *lists.judged[:2])
        inside = np.bincount(of_row[unjudged[near[unjudged]]], minlength=lists.count)
        index, first = _counted(2 * inside + 2)
        last = first - inside[index] - 1
        begins, ends = np.where(last < 0, 0, inside[index] - last), np.where(last < 0, first, len(items))
        rows = of_row[near], items[near], start[near]
        return cls(index, begins, ends, rows, (of_row[unjudged], items[unjudged]), lists.judged, grade)

    def values(self, metrics: Sequence[Metric], min_relevance: float | None, backend: Any) -> dict[str, Array]:
        """Return the value of each candidate under each metric, by its label, NaN where it has none."""
        if not metrics:
            return {}
        values = {metric.label: np.full(len(self.lists), np.nan) for metric in metrics}
        rows = np.cumsum(np.bincount(self.rows[0], minlength=self.lists.max(initial=0) + 1)[self.lists])
        parts = max(1, rows.max(initial=0) // MOST_AT_ONCE)
        for some in np.split(np.arange(len(rows)), np.searchsorted(rows, rows[-1:] * np.arange(1, parts) // parts)):
            frame, truth = (nw.from_dict(each, backend=backend) for each in self._columns(some))
            # What a model does not rank has no rank.
            frame = frame.with_columns(nw.when(nw.col("rank") < math.inf).then(nw.col("rank")).alias("rank"))
            roles = {"by": "list", "per": "list", "rank": "rank", "truth": truth.to_native()}
            roles["min_relevance"] = min_relevance
            # Whatever `Config` names is about the user's frame.
            with warnings.catch_warnings(), only({}):
                warnings.simplefilter("ignore", RecWarning)
                evaluated = evaluate(frame.to_native(), {}, list(metrics), None, roles, counts=False, chance=False)
            result = nw.from_native(evaluated, eager_only=True)
            candidates = some[result["list"].to_numpy()]
            for label, column in values.items():
                column[candidates] = result[label].cast(nw.Float64()).to_numpy()
        return values

    def _columns(self, some: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return the rows of some candidates, and their truth."""
        index, begins, ends = self.lists[some], self.begins[some], self.ends[some]
        of_top, top = _rows(self.rows[0], index)
        of_judgment, judgments = _rows(self.judged[0], index)
        # Only the first candidate needs those that are not relevant: for the share judged.
        kept = (self.judged[2][judgments] > 0) | (ends[of_judgment] == 0)
        of_judgment, judgments = of_judgment[kept], judgments[kept]
        of_chosen, chosen = _rows(self.unjudged[0], index, begins, ends)
        columns = {"list": (of_judgment, of_chosen), "item": (self.judged[1][judgments], self.unjudged[1][chosen])}
        columns |= {"relevant": (self.judged[2][judgments], np.full(len(chosen), self.grade))}
        truth = {name: np.concatenate(each) for name, each in columns.items()}
        return {"list": of_top, "item": self.rows[1][top], "rank": self.rows[2][top]}, truth


def _unjudged(of_row: Array, items: Array, of_judged: Array, judged: Array) -> Array:
    """Return the first row of each unjudged item of a list, in the order of the rows."""
    many = max((int(each.max()) + 1 for each in (items, judged) if len(each)), default=1)
    pairs = of_row * many + items
    rows = np.flatnonzero(~np.isin(pairs, of_judged * many + judged))
    return rows[np.sort(np.unique(pairs[rows], return_index=True)[1])]


def _counted(lengths: Array) -> tuple[Array, Array]:
    """Return the number of each range, as often as it is long, and the numbers from 0 within it."""
    of = np.repeat(np.arange(len(lengths)), lengths)
    return of, np.arange(len(of)) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _rows(of_row: Array, place: Array, begins: Array | int = 0, ends: Array | float = math.inf) -> tuple[Array, Array]:
    """Return the candidates' rows of their lists, from one to before another, and the candidate of each; by list."""
    first: Array = np.searchsorted(of_row, place)
    lengths = np.minimum(np.searchsorted(of_row, place, "right") - first, ends).astype(np.intp) - begins
    of, number = _counted(lengths)
    return of, (first + begins)[of] + number


def bounds(plan: Plan, grade: Any) -> Any:
    """Return one row per value of `per`, metric and model, as a frame of the kind given."""
    query = plan.context.query
    check_metrics(plan.metrics)
    grade = None if grade is None else number("grade", grade, "`grade=3`")
    for metric, _, high in plan.context.requirements.limits:
        if grade is not None and grade > high:
            msg = f"`grade={grade:g}`, but {metric.label} accepts at most {high:g}"
            raise OptionError(msg, "`grade=` is the largest relevance that an unjudged item may have, such as 3")
    columns = [name for name in COLUMNS if query.several or name != "model"]

    def rows() -> nw.DataFrame[Any]:
        lists = Lists.of(plan)
        largest = _largest(grade, lists, query.min_relevance)
        bounds_of = {}
        for model, name in enumerate(query.orders):
            start = lists.starts(model, by_rank=query.by_rank)
            bounds_of[name] = _bounds(lists, start, plan.metrics, largest, query.min_relevance)
        statistics = [
            {"metric": metric.label, "model": name, **numbers[metric.label]}
            for metric in plan.metrics
            for name, numbers in bounds_of.items()
        ]
        return stacked(lists.reported, statistics, columns)

    return result_frame(plan, rows, columns)


def _largest(grade: float | None, lists: Lists, level: float | None) -> float:
    """Return the largest grade of a judgment, which makes an item relevant."""
    largest = float(max(lists.judged[2], default=1.0)) if grade is None else grade
    if level is not None and level <= 0:
        msg = f"`min_relevance={level:g}` makes items of grade 0 relevant, but bounds treat grade 0 as not relevant"
        raise OptionError(msg, "give `min_relevance=` a value above 0")
    if largest <= 0 or largest < (level or 0.0):
        msg = f"`grade={largest:g}` makes no item relevant" + (f" with `min_relevance={level:g}`" if level else "")
        raise OptionError(msg, "`grade=` is the largest relevance that an unjudged item may have")
    return largest


def _bounds(
    lists: Lists, start: Array, metrics: Sequence[Metric], grade: float, level: float | None
) -> dict[str, dict[str, Array]]:
    """Return what a result says of each metric under a model, by its label."""
    statistics, backend = {}, nw.get_native_namespace(lists.table).__name__
    for k in dict.fromkeys(getattr(metric, "k", None) for metric in metrics):
        cut = [metric for metric in metrics if getattr(metric, "k", None) == k]
        gains = {metric.label: _gains(metric) for metric in cut if isinstance(metric, NDCG) and metric.gain != "binary"}
        every = {each.label: each for each in (*cut, Judged(k))}
        # Sums of gains have a value for each list, whether or not it has a relevant item at the level.
        summed: dict[str, Metric] = {}
        for gain, per_item in gains.values():
            (every if gain.grades == "relevant" else summed)[gain.label] = gain
            summed[per_item.label] = per_item
        candidates = Candidates.of(lists, start, math.inf if k is None else k, grade)
        values = candidates.values([*every.values()], level, backend)
        sums = candidates.values([*summed.values()], None, backend)
        first = np.flatnonzero(np.append(True, np.diff(candidates.lists) > 0)[: len(candidates.lists)])
        for metric in cut:
            each = values[metric.label]
            least, greatest = (end.reduceat(each, first) if len(first) else each for end in (np.fmin, np.fmax))
            if isinstance(metric, NDCG) and metric.label in gains:
                gain, discount = gains[metric.label]
                base, per_item = (values if metric.grades == "relevant" else sums)[gain.label], sums[discount.label]
                of_list, number = _counted(np.diff(np.append(first, len(per_item))) // 2)
                gained = np.full((len(first), number.max(initial=0) + 1), -np.inf)
                gained[of_list, number] = per_item[first[of_list] + number] - per_item[first[of_list]]
                greatest = _greatest_ndcg(metric, base[first], gained, lists.judged, grade, level)
            columns = {"mean": each[first], "least": least, "greatest": greatest}
            statistics[metric.label] = _means({**columns, "judged": values[Judged(k).label][first]}, lists)
    return statistics


def _gains(metric: NDCG) -> tuple[DCG, DCG]:
    """Return the sum of the gains of a metric, and that of the discounts of relevant items."""
    return DCG(metric.k, metric.gain, metric.discount, metric.grades), DCG(metric.k, "binary", metric.discount)


def _means(columns: Mapping[str, Array], lists: Lists) -> dict[str, Array]:
    """Return the means over the lists that have a value as judged, and their number, for each segment."""
    parts = []
    for segment in range(len(lists.reported) if lists.reported.columns else 1):
        there = ~np.isnan(columns["mean"]) & (lists.segments == segment)
        parts.append({name: _mean(each[there]) for name, each in columns.items()} | {"lists": float(there.sum())})
    return {name: np.array([part[name] for part in parts], dtype=np.float64) for name in (*columns, "lists")}


def _mean(values: Array) -> float:
    """Return the mean of values: of the share judged, of the lists that have one."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else math.nan


def _greatest_ndcg(
    metric: NDCG, base: Array, gained: Array, judged: tuple[Array, ...], grade: float, level: float | None
) -> Array:
    """Return the greatest value of each list over all grades of its unjudged items, from 0 to the largest one.

    Where the first m items have at least a grade, the sum of gains adds up over grades, and so does the ideal one. Both
    are concave in m, so that the greatest quotient t has, for each grade, the m of the greatest sum − t · ideal
    (Dinkelbach 1967). `gained` has what the first m items of each list add, -inf for more than it has. Lists of the
    same grades are computed together.
    """

    def gain(relevance: float) -> float:
        if metric.grades == "relevant" and relevance < (level or 0.0):
            return 0.0
        return float(2.0**relevance - 1 if metric.gain == "exp2" else relevance)

    of_judged, _, relevance = judged
    gaining = {*filter(gain, np.unique(relevance).tolist())}
    of_grades: dict[tuple[float, ...], list[tuple[int, list[int]]]] = {}
    for index, own in enumerate(np.split(relevance, np.searchsorted(of_judged, np.arange(1, len(base))))[: len(base)]):
        judgments = sorted(own.tolist())
        grades = tuple(sorted({*judgments} & gaining | {grade}))
        above = [len(judgments) - bisect_left(judgments, each) for each in grades]
        of_grades.setdefault(grades, []).append((index, above))
    weight, most = DISCOUNTS[str(metric.discount)], np.bincount(of_judged).max(initial=0) + gained.shape[1]
    discounts = [weight(float(r)) if metric.k is None or r <= metric.k else 0.0 for r in range(1, most + 1)]
    ideal, best = np.append(0.0, np.cumsum(discounts)), np.full(len(base), -1.0)
    for grades, lists in of_grades.items():
        steps = np.diff([0.0, *map(gain, grades)])
        left, counts = (np.array(column) for column in zip(*lists, strict=True))
        chosen = np.zeros_like(counts)
        while len(left):
            total = base[left] + sum(step * gained[left, m] for step, m in zip(steps, chosen.T, strict=True))
            divisor = sum(step * ideal[m] for step, m in zip(steps, (counts + chosen).T, strict=True))
            value = np.divide(total, divisor, out=np.full(len(left), np.nan), where=divisor > 0)
            better = value > best[left] + ROUNDING
            best[left] = np.fmax(best[left], value)
            left, counts, chosen, value = left[better], counts[better], chosen[better], value[better]
            for place in np.flatnonzero(np.array(grades) <= grade):
                ideals = ideal[counts[:, [place]] + np.arange(gained.shape[1])]
                chosen[:, place] = np.argmax(gained[left] - value[:, None] * ideals, axis=1)
    return best
