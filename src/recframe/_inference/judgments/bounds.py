"""The call `bounds`: the least and the greatest value of metrics over all possible judgments of unjudged items.

If m unjudged items of a list are relevant, a metric is greatest if they are the m items ranked first, and least if they
are the m items ranked last. So it is enough to evaluate these two candidates for each m. Items after the cutoff only
add to the number of relevant items.
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from recframe._base.columns import ITEM, RELEVANCE, score_column
from recframe._base.defaults import only_these_roles
from recframe._base.values import ROUNDING, number
from recframe._call.evaluate import evaluate
from recframe._inference.lists.keys import numbered, rows_of, segments_of
from recframe._inference.lists.results import result_frame, stacked
from recframe._inference.lists.sums import ranks_by
from recframe._plan.averages import with_attributes
from recframe._plan.request import Request
from recframe.errors import InputError, OptionError, RecWarning
from recframe.metrics import DCG, F1, MAP, MRR, NDCG, RBP, FBeta, HitRate, Judged, Precision, Recall
from recframe.metrics._weights import DISCOUNTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._plan.plan import Plan
    from recframe.metrics import Metric

    Array = Any

COLUMNS = ("metric", "model", "mean", "least", "greatest", "judged", "lists")
"""The columns of a result; `model` is left out if there is one model."""
SUPPORTED = (Precision, Recall, F1, FBeta, HitRate, MRR, MAP, RBP, DCG, NDCG)
EXACT: Mapping[str, Sequence[Any]] = {
    "norm": ("capped", "relevant", "k"), "over": ("all",), "gain": ("linear", "exp2", "binary"),
    "grades": ("all", "positive", "relevant"), "discount": (*DISCOUNTS,), "ideal": ("all",),
}  # fmt: skip
"""The options of these metrics for which the bounds are exact."""
MOST_AT_ONCE = 2**20
"""About how many rows of candidates are evaluated at a time, to limit memory."""


def check_metrics(metrics: Sequence[Metric]) -> None:
    """Raise for metrics whose bounds need not be values of the candidates.

    Raises
    ------
    OptionError
        The metric, or one of its options, is not supported.
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


class Judgments(NamedTuple):
    """The judgments of lists, sorted by list."""

    lists: Array
    items: Array
    relevance: Array


class RankedRows(NamedTuple):
    """Rows that a model ranks, sorted by list."""

    lists: Array
    items: Array
    positions: Array
    """Where the tied block of each row starts."""


@dataclass(frozen=True)
class Lists:
    """The lists that have a relevant item in the truth. Lists and items are numbers."""

    count: int
    judged: Judgments
    row_lists: Array
    """The list of each row of the frame."""
    row_items: Array
    """The item of each row of the frame."""
    table: nw.DataFrame[Any]
    """The user's frame with the scores of each model."""
    table_rows: Array
    """The rows of the table that belong to these lists."""
    reported: nw.DataFrame[Any]
    """The segments."""
    segments: Array
    """The segment number of each list."""

    @classmethod
    def of(cls, plan: Plan) -> Lists:
        """Return the lists of a plan."""
        context = plan.context
        keys = list(context.keys.key)
        relevances = _relevances(plan)
        _, numbers = numbered(pair[:-1] for pair, value in relevances.items() if value > 0)
        names = [score_column(number) for number in range(len(context.query.orders))]
        table = context.engine.collected(context.all_rows.select(*keys, ITEM, *names))
        rows = rows_of(table, [*keys, ITEM])
        items, _ = numbered(pair[-1] for pair in (*relevances, *rows))
        judgment_lists = np.array([numbers.get(pair[:-1], -1) for pair in relevances], dtype=np.intp)
        # In the order of the lists, without lists that have no relevant item.
        order = np.argsort(judgment_lists, kind="stable")[np.sum(judgment_lists < 0) :]
        relevance = np.array([*relevances.values()], dtype=np.float64)
        row_lists = np.array([numbers.get(row[:-1], -1) for row in rows], dtype=np.intp)
        table_rows = np.flatnonzero(row_lists >= 0)
        reported, segments = _segments(plan, numbers)
        return cls(
            count=len(numbers),
            judged=Judgments(judgment_lists[order], items[order], relevance[order]),
            row_lists=row_lists[table_rows],
            row_items=items[len(relevances) :][table_rows],
            table=table,
            table_rows=table_rows,
            reported=reported,
            segments=segments,
        )

    def starts(self, model: int, *, by_rank: bool) -> Array:
        """Return where each row's tied block starts, infinite for a row that the model does not rank."""
        column = self.table[score_column(model)]
        start = np.full(len(self.table_rows), np.inf)
        numbers = column.cast(nw.Float64()).to_numpy()[self.table_rows]
        ranked = np.flatnonzero(~np.isnan(numbers))
        if by_rank:
            start[ranked] = numbers[ranked]
            return start
        # The column itself is ranked, because floats would merge large integers.
        levels = column[self.table_rows[ranked].tolist()].rank("dense").to_numpy()
        start[ranked] = ranks_by(self.row_lists[ranked], -levels, "min")
        return start


def _relevances(plan: Plan) -> dict[tuple[Any, ...], float]:
    """Return the relevance of each judged item by the key of its list and the item."""
    context = plan.context
    keys = list(context.keys.key)
    truth: Any = context.truth_lists
    judged = context.engine.collected(truth.select(*keys, ITEM, RELEVANCE))
    relevances: dict[tuple[Any, ...], float] = {}
    relevance = judged[RELEVANCE].cast(nw.Float64()).to_numpy().tolist()
    for pair, value in zip(rows_of(judged, [*keys, ITEM]), relevance, strict=True):
        if value < 0:
            msg = f"`truth=` holds the relevance {value:g}, but bounds go from 0 to the largest grade"
            raise InputError(msg, "leave unjudged rows out of `truth=`")
        if not math.isnan(value):
            relevances[pair] = max(value, relevances.get(pair, 0.0))
    return relevances


def _segments(plan: Plan, numbers: Mapping[Any, int]) -> tuple[nw.DataFrame[Any], Array]:
    """Return the segments to report, and the segment number of each list in `numbers`."""
    context = plan.context
    keys = list(context.keys.key)
    truth: Any = context.truth_lists
    lists = with_attributes(context, truth.select(*keys).unique())
    table = context.engine.collected(lists.select(*dict.fromkeys([*keys, *context.keys.per])))
    if context.keys.reports_attributes and len(table):
        # The unknown segment is only reported if a list in it has a relevant item.
        pairs = zip(rows_of(table, keys), rows_of(table, context.keys.per), strict=True)
        table = table.filter([key in numbers or {*segment} != {None} for key, segment in pairs])
    reported, list_segments = segments_of(table, context.keys.per)
    segment_of_key = dict(zip(rows_of(table, keys), list_segments.tolist(), strict=True))
    return reported, np.array([segment_of_key[key] for key in numbers], dtype=np.intp)


@dataclass(frozen=True)
class Candidates:
    """The candidates of each list. A candidate makes some unjudged items relevant: the first or the last m of them."""

    lists: Array
    """The list of each candidate: first the candidates with the first 0, 1, 2, … items, then with the last ones."""
    begins: Array
    """The first unjudged item of the list that the candidate makes relevant."""
    ends: Array
    """The first unjudged item after the relevant ones."""
    rows: RankedRows
    """The rows up to the cutoff."""
    unjudged_lists: Array
    """The list of each unjudged item, sorted by list and position."""
    unjudged_items: Array
    judged: Judgments
    grade: float
    """The relevance of the items that a candidate makes relevant."""

    @classmethod
    def of(cls, lists: Lists, start: Array, cutoff: float, grade: float) -> Candidates:
        """Return the candidates of the lists under a model and a cutoff."""
        order = np.lexsort((start, lists.row_lists))
        row_lists = lists.row_lists[order]
        items = lists.row_items[order]
        start = start[order]
        is_near = start <= cutoff
        unjudged = _unjudged_rows(row_lists, items, lists.judged)
        # For each list: how many unjudged items are up to the cutoff, so how many candidates there are.
        inside = np.bincount(row_lists[unjudged[is_near[unjudged]]], minlength=lists.count)
        list_of_candidate, number = _numbered_ranges(2 * inside + 2)
        from_the_end = number - inside[list_of_candidate] - 1
        takes_first_items = from_the_end < 0
        return cls(
            lists=list_of_candidate,
            begins=np.where(takes_first_items, 0, inside[list_of_candidate] - from_the_end),
            ends=np.where(takes_first_items, number, len(items)),
            rows=RankedRows(row_lists[is_near], items[is_near], start[is_near]),
            unjudged_lists=row_lists[unjudged],
            unjudged_items=items[unjudged],
            judged=lists.judged,
            grade=grade,
        )

    def values(self, metrics: Sequence[Metric], min_relevance: float | None, backend: Any) -> dict[str, Array]:
        """Return the value of each candidate by the label of the metric, NaN if it is undefined."""
        if not metrics:
            return {}
        values = {metric.label: np.full(len(self.lists), np.nan) for metric in metrics}
        rows = np.cumsum(np.bincount(self.rows.lists, minlength=self.lists.max(initial=0) + 1)[self.lists])
        parts = max(1, rows.max(initial=0) // MOST_AT_ONCE)
        for batch in np.split(np.arange(len(rows)), np.searchsorted(rows, rows[-1:] * np.arange(1, parts) // parts)):
            frame, truth = (nw.from_dict(columns, backend=backend) for columns in self._columns(batch))
            # A row that the model does not rank has a missing rank.
            frame = frame.with_columns(nw.when(nw.col("rank") < math.inf).then(nw.col("rank")).alias("rank"))
            roles = {"by": "list", "per": "list", "rank": "rank", "truth": truth.to_native()}
            roles["min_relevance"] = min_relevance
            # `Config` is switched off, because its columns are the ones of the user's frame.
            with warnings.catch_warnings(), only_these_roles({}):
                warnings.simplefilter("ignore", RecWarning)
                request = Request(frame.to_native(), {}, roles)
                evaluated = evaluate(request, list(metrics), None, counts=False, chance=False)
            result = nw.from_native(evaluated, eager_only=True)
            candidates = batch[result["list"].to_numpy()]
            for label, column in values.items():
                column[candidates] = result[label].cast(nw.Float64()).to_numpy()
        return values

    def _columns(self, batch: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return the columns of two frames: the rows of some candidates, and the truth that they assume."""
        lists = self.lists[batch]
        ends = self.ends[batch]
        row_candidates, rows = _rows_of_lists(self.rows.lists, lists)
        candidates, judgments = _rows_of_lists(self.judged.lists, lists)
        # Irrelevant judgments only count for the share of judged items, which is read from the first candidate.
        is_read = (self.judged.relevance[judgments] > 0) | (ends[candidates] == 0)
        candidates = candidates[is_read]
        judgments = judgments[is_read]
        added_candidates, added = _rows_of_lists(self.unjudged_lists, lists, self.begins[batch], ends)
        frame = {"list": row_candidates, "item": self.rows.items[rows], "rank": self.rows.positions[rows]}
        truth = {
            "list": np.concatenate((candidates, added_candidates)),
            "item": np.concatenate((self.judged.items[judgments], self.unjudged_items[added])),
            "relevant": np.concatenate((self.judged.relevance[judgments], np.full(len(added), self.grade))),
        }
        return frame, truth


def _unjudged_rows(row_lists: Array, items: Array, judged: Judgments) -> Array:
    """Return the first row of each unjudged item of a list, in the order of the rows."""
    n_items = max((int(numbers.max()) + 1 for numbers in (items, judged.items) if len(numbers)), default=1)
    pairs = row_lists * n_items + items
    rows = np.flatnonzero(~np.isin(pairs, judged.lists * n_items + judged.items))
    return rows[np.sort(np.unique(pairs[rows], return_index=True)[1])]


def _numbered_ranges(lengths: Array) -> tuple[Array, Array]:
    """Return the entries of ranges with these lengths: the number of the range, and the position in it from 0."""
    ranges = np.repeat(np.arange(len(lengths)), lengths)
    return ranges, np.arange(len(ranges)) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _rows_of_lists(
    row_lists: Array, lists: Array, begins: Array | int = 0, ends: Array | float = math.inf
) -> tuple[Array, Array]:
    """Return the candidates and the rows of their lists, as two arrays of numbers with an entry per row.

    `lists` has the list of each candidate, and `row_lists` the list of each row, in sorted order. From the list of a
    candidate come the rows from `begins` to before `ends`.
    """
    first: Array = np.searchsorted(row_lists, lists)
    lengths = np.minimum(np.searchsorted(row_lists, lists, "right") - first, ends).astype(np.intp) - begins
    candidates, number = _numbered_ranges(lengths)
    return candidates, (first + begins)[candidates] + number


def bounds(plan: Plan, grade: Any) -> Any:
    """Return one row per segment, metric and model, as a frame of the user's kind."""
    query = plan.context.query
    check_metrics(plan.metrics)
    grade = None if grade is None else number("grade", grade, "`grade=3`")
    for limit in plan.context.requirements.limits:
        if grade is not None and grade > limit.high:
            msg = f"`grade={grade:g}`, but {limit.metric.label} accepts at most {limit.high:g}"
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
    """Return the largest grade that a judgment may have, or raise if it makes no item relevant."""
    largest = float(max(lists.judged.relevance, default=1.0)) if grade is None else grade
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
    """Return the statistics of a result for one model, by the label of the metric."""
    statistics = {}
    backend = nw.get_native_namespace(lists.table).__name__
    for k in dict.fromkeys(getattr(metric, "k", None) for metric in metrics):
        metrics_at_k = [metric for metric in metrics if getattr(metric, "k", None) == k]
        gains = {
            metric.label: _gains(metric)
            for metric in metrics_at_k
            if isinstance(metric, NDCG) and metric.gain != "binary"
        }
        at_level = {metric.label: metric for metric in (*metrics_at_k, Judged(k))}
        # Sums of gains are computed without min_relevance, so that every list has a value.
        without_level: dict[str, Metric] = {}
        for gain, discount in gains.values():
            (at_level if gain.grades == "relevant" else without_level)[gain.label] = gain
            without_level[discount.label] = discount
        candidates = Candidates.of(lists, start, math.inf if k is None else k, grade)
        values = candidates.values([*at_level.values()], level, backend)
        sums = candidates.values([*without_level.values()], None, backend)
        # The first candidate of each list makes no unjudged item relevant: it has the value as judged.
        first = np.flatnonzero(np.append(True, np.diff(candidates.lists) > 0)[: len(candidates.lists)])
        for metric in metrics_at_k:
            of_candidates = values[metric.label]
            least = _extreme(np.fmin, of_candidates, first)
            greatest = _extreme(np.fmax, of_candidates, first)
            if isinstance(metric, NDCG) and metric.label in gains:
                gain, discount = gains[metric.label]
                base = (values if metric.grades == "relevant" else sums)[gain.label][first]
                added = _added_discounts(sums[discount.label], first)
                greatest = _greatest_ndcg(metric, base, added, lists.judged, grade, level)
            columns = {"mean": of_candidates[first], "least": least, "greatest": greatest}
            statistics[metric.label] = _means({**columns, "judged": values[Judged(k).label][first]}, lists)
    return statistics


def _gains(metric: NDCG) -> tuple[DCG, DCG]:
    """Return two metrics: the sum of the gains of an NDCG, and the sum of the discounts of relevant items."""
    return DCG(metric.k, metric.gain, metric.discount, metric.grades), DCG(metric.k, "binary", metric.discount)


def _extreme(of_two: np.ufunc, values: Array, first: Array) -> Array:
    """Return the least or the greatest value of each list, whose values begin at `first`."""
    return of_two.reduceat(values, first) if len(first) else values


def _added_discounts(discount_sums: Array, first: Array) -> Array:
    """Return the sum of discounts that the first m unjudged items of each list add, -inf if it has fewer than m.

    `first` has the first candidate of each list.
    """
    lists, m = _numbered_ranges(np.diff(np.append(first, len(discount_sums))) // 2)
    added = np.full((len(first), m.max(initial=0) + 1), -np.inf)
    added[lists, m] = discount_sums[first[lists] + m] - discount_sums[first[lists]]
    return added


def _means(columns: Mapping[str, Array], lists: Lists) -> dict[str, Array]:
    """Return the means over the lists that have a value as judged, and the number of these lists, per segment."""
    parts = []
    for segment in range(len(lists.reported) if lists.reported.columns else 1):
        is_counted = ~np.isnan(columns["mean"]) & (lists.segments == segment)
        means = {name: _mean(column[is_counted]) for name, column in columns.items()}
        parts.append(means | {"lists": float(is_counted.sum())})
    return {name: np.array([part[name] for part in parts], dtype=np.float64) for name in (*columns, "lists")}


def _mean(values: Array) -> float:
    """Return the mean of the values that are not NaN, NaN if there are none."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else math.nan


def _greatest_ndcg(
    metric: NDCG, base: Array, added: Array, judged: Judgments, grade: float, level: float | None
) -> Array:
    """Return the greatest NDCG of each list if unjudged items may have any grade from 0 to the largest one.

    For each grade, let the first m unjudged items have at least this grade. The DCG is a sum over grades, and so is the
    ideal DCG. Both are concave in m. So for the greatest quotient t, each grade has the m that maximises
    DCG − t · ideal DCG, and t is found by iteration (Dinkelbach 1967). `base` is the DCG as judged, and `added` has the
    sum of discounts that the first m unjudged items add. Lists with the same grades are computed together.
    """

    def gain(relevance: float) -> float:
        if metric.grades == "relevant" and relevance < (level or 0.0):
            return 0.0
        return float(2.0**relevance - 1 if metric.gain == "exp2" else relevance)

    weight = DISCOUNTS[str(metric.discount)]
    longest = np.bincount(judged.lists).max(initial=0) + added.shape[1]
    discounts = [weight(float(r)) if metric.k is None or r <= metric.k else 0.0 for r in range(1, longest + 1)]
    ideal = np.append(0.0, np.cumsum(discounts))
    best = np.full(len(base), -1.0)
    gaining_grades = {*filter(gain, np.unique(judged.relevance).tolist())}
    for grades, group in _lists_by_grades(judged, len(base), gaining_grades, grade).items():
        steps = np.diff([0.0, *map(gain, grades)])
        # The lists whose value still grows, how many judgments have at least each grade, and the m of each grade.
        lists, counts = (np.array(numbers) for numbers in zip(*group, strict=True))
        chosen = np.zeros_like(counts)
        while len(lists):
            total = base[lists] + sum(step * added[lists, m] for step, m in zip(steps, chosen.T, strict=True))
            divisor = sum(step * ideal[m] for step, m in zip(steps, (counts + chosen).T, strict=True))
            value = np.divide(total, divisor, out=np.full(len(lists), np.nan), where=divisor > 0)
            grows = value > best[lists] + ROUNDING
            best[lists] = np.fmax(best[lists], value)
            lists = lists[grows]
            counts = counts[grows]
            chosen = chosen[grows]
            value = value[grows]
            for column in np.flatnonzero(np.array(grades) <= grade):
                ideals = ideal[counts[:, [column]] + np.arange(added.shape[1])]
                chosen[:, column] = np.argmax(added[lists] - value[:, None] * ideals, axis=1)
    return best


def _lists_by_grades(
    judged: Judgments, count: int, gaining_grades: set[float], grade: float
) -> dict[tuple[float, ...], list[tuple[int, list[int]]]]:
    """Return the lists by the grades that occur in them: each with its judgments of at least each of these grades."""
    groups: dict[tuple[float, ...], list[tuple[int, list[int]]]] = {}
    parts = np.split(judged.relevance, np.searchsorted(judged.lists, np.arange(1, count)))[:count]
    for index, part in enumerate(parts):
        judgments = sorted(part.tolist())
        grades = tuple(sorted({*judgments} & gaining_grades | {grade}))
        counts = [len(judgments) - bisect_left(judgments, lowest) for lowest in grades]
        groups.setdefault(grades, []).append((index, counts))
    return groups
