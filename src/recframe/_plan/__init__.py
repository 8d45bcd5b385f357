"""From roles and metrics to one plan: the only room that groups and joins.

rank ▸ keep what can matter at the largest k ▸ terms per row ▸ sums per list ▸ values per list ▸ mean over `per`
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._need import Need
from recframe._plan import _report
from recframe._plan._beside import Beside
from recframe._plan._ideal import ideal_lists
from recframe._plan._ranked import Ranking
from recframe._plan._shown import joined
from recframe._plan._tables import MODEL, Given, Tables
from recframe._shown import ShownRow
from recframe._terms import KNOWN, POSITION, RELEVANCE, RELEVANT
from recframe.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._roles import Question
    from recframe.metrics._record import Metric

    Frame = nw.LazyFrame[Any]

__all__ = ["Given", "Plan"]


def _check_names(question: Question, metrics: Sequence[Metric]) -> None:
    if not metrics:
        msg = "the list of metrics is empty"
        raise OptionError(msg, "evaluate(['ndcg', 'map'], k=10)")
    names = [*([MODEL] if question.several else []), *question.per, *(metric.label for metric in metrics)]
    twice = sorted({name for name in names if names.count(name) > 1}, key=str)
    if twice:
        msg = f"the result would have several columns of the name {', '.join(map(repr, twice))}"
        raise OptionError(msg, "name each metric, cutoff and column of `per` once")


class Plan:
    """The plan of one call: built by `run`, computed by whoever reads its result."""

    def __init__(self, given: Given, question: Question, metrics: Sequence[Metric]) -> None:
        _check_names(question, metrics)
        self._question = question
        self._metrics = metrics
        self._need = Need(metrics, len(given.feature_names))
        self._tables = Tables(given, question, self._need)
        self._beside = Beside(self._tables)
        self._engine = self._tables.engine
        self._values = self._value_expressions()

    def run(self) -> Frame:
        """Return one row per model and value of `per`, with the model, the plan's names of `per`, and the labels."""
        self._check_data()
        upto = self._need.cutoff
        ideal = self._engine.settle(ideal_lists(self._tables)) if self._tables.labelled else None
        if ideal is not None and RELEVANT in self._need.asked:
            # A cutoff at R: known on eager frames, on lazy ones it may be any position.
            most = self._engine.scalar(ideal.select(nw.col(RELEVANT).max())) if self._engine.eager else None
            upto = None if upto is None or most is None else max(upto, int(most))
        results = [self._model(index, ideal, upto) for index in range(len(self._question.orders))]
        return results[0] if len(results) == 1 else nw.concat(results, how="vertical")

    def frame(self) -> Any:
        """Return the result as a frame of the user's kind, sorted by key where it is eager."""
        tables = self._tables
        return tables.session.finish(self.run(), tables.names, [*([MODEL] if tables.long else []), *tables.per])

    def scalar(self) -> float:
        """Return the one number of an eager frame's one metric, NaN where no list has a value."""
        value = self._engine.scalar(self.run())
        return math.nan if value is None else float(value)

    def _model(self, index: int, ideal: Frame | None, upto: int | None) -> Frame:
        """Return the result of one ranking."""
        tables = self._tables
        ranking = Ranking(tables, self._beside, index, ideal, upto)
        results = []
        if self._need.accuracy or self._need.shown:
            results.append(self._lists(ranking))
        if self._need.exposure and ranking.shown is not None:
            results.append(ranking.shown.exposure())
        result = joined(tables, results)
        several = self._question.several
        name = [] if not several else [MODEL if tables.long else nw.lit(self._question.orders[index]).alias(MODEL)]
        return result.select(*name, *tables.per, *(metric.label for metric in self._metrics))

    def _lists(self, ranking: Ranking) -> Frame:
        """Return the means of what is measured list by list."""
        tables = self._tables
        metrics = [metric for metric in self._metrics if metric not in self._need.exposure]
        labels = [metric.label for metric in metrics]
        lists = self._beside.with_users(self._with_constants(ranking.sums()))
        weights = {
            metric.label: weight.alias(f"weight {metric.label}")
            for metric in metrics
            if (weight := metric.weighting(self._need.sums(metric))) is not None
        }
        values = [self._values[label] for label in labels]
        lists = lists.select(*tables.group, *values, *weights.values())
        lists = _report.with_attributes(tables, _report.fill(tables, lists, metrics, tables.key_names))
        return _report.mean(tables, lists, labels, {label: f"weight {label}" for label in weights})

    def _value_expressions(self) -> dict[str, nw.Expr]:
        """Return the metrics of a list by their labels, missing where it is undefined."""
        # The models' rows stand below each other and tell together which lists there are.
        pooled = self._tables.pooled
        found: dict[str, nw.Expr] = {}
        known = nw.col(KNOWN if pooled else RELEVANT) > 0
        for metric in self._metrics:
            sums = self._need.sums(metric)
            defined, value = metric.defined(sums), metric.value(sums)
            if metric in self._need.accuracy:
                if pooled:
                    # This model has no relevant row in a list that others show to have one.
                    defined = None if defined is None else defined | (nw.col(RELEVANT) == 0)
                    value = nw.when(nw.col(RELEVANT) > 0).then(value).otherwise(0.0)
                defined = known if defined is None else known & defined
            found[metric.label] = (value if defined is None else nw.when(defined).then(value)).alias(metric.label)
        return found

    def _with_constants(self, lists: Frame) -> Frame:
        """Add the sums of weights that are the same for every list."""
        for (of, k), column in self._need.constants.items():
            weights = self._engine.positions(k).select(of(nw.col(POSITION).cast(nw.Float64())).alias(column))
            lists = lists.join(weights.select(nw.col(column).sum()), how="cross")
        return lists

    def _check_data(self) -> None:
        """Raise for data that a metric cannot use, where they can be seen."""
        tables = self._tables
        for shown in self._need.shown:
            row = ShownRow(self._need.width)
            shown.shown_terms(row)
            if "categories" in row.asked:
                self._beside.check_categories(shown.label)
        for metric in self._need.accuracy:
            least, greatest = metric.relevances
            if not self._engine.eager or (least == -math.inf and greatest == math.inf):
                continue
            source = tables.relevance((tables.truth if tables.truth is not None else tables.frame).select(RELEVANCE))
            wrong = source.filter((nw.col(RELEVANCE) < least) | (nw.col(RELEVANCE) > greatest))
            if self._engine.scalar(wrong.select(nw.len())):
                found = self._engine.scalar(wrong.select(nw.col(RELEVANCE).max()))
                bounds = f"at most {greatest:g}" if least == -math.inf else f"{least:g} to {greatest:g}"
                msg = f"relevant={self._question.relevant!r} holds {found:g}, but {metric.label} takes {bounds}"
                raise InputError(msg, "see the metric's options, such as probability= or max_relevance=")
