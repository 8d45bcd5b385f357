"""What each ranked row adds to the value of its list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import narwhals as nw

from recframe._columns import (
    ABSOLUTE,
    CONTRIBUTION,
    HIT,
    ITEM,
    LIST_VALUE,
    MODEL,
    POSITION,
    RANKED_ITEM,
    RELEVANCE,
    RELEVANT,
    SIZE,
    START,
    TIED,
    key_column,
    row_column,
    score_column,
)
from recframe._plan.custom_values import check_values
from recframe._plan.list_sums import Ranking
from recframe._plan.plan import Plan
from recframe._plan.requirements import check_names
from recframe.errors import OptionError
from recframe.metrics._row import Row

if TYPE_CHECKING:
    from recframe._arguments import Query
    from recframe._columns import Frame
    from recframe._engines.base import Later
    from recframe._plan.context import Given
    from recframe.metrics._record import Metric


TOLERANCE = 1e-9


def _check_columns(names: list[Any]) -> None:
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        msg = f"the result would have several columns of the name {', '.join(map(repr, twice))}"
        raise OptionError(msg, "rename these columns of the frame")


class _Shared:
    """A metric that also asks for the terms which only its rows' shares need, and reads all rows, which show."""

    reads = "all"

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def __getattr__(self, name: str) -> Any:
        return getattr(self._metric, name)

    def terms(self, row: Row) -> dict[str, nw.Expr]:
        terms, more = self._metric.terms(row), self._metric.share_terms(row)
        check_names(self._metric, terms, more)
        return {**terms, **more}


class Contributions(Plan):
    """The plan of one call: one row per ranked row that can matter."""

    def __init__(self, given: Given, query: Query, metric: Metric, *, item: bool) -> None:
        if not metric.is_additive:
            msg = f"a list's {metric.name} is no sum over its rows"
            raise OptionError(msg, "contributions takes the metrics whose value is one, such as 'ndcg' or 'map'")
        item = item or given.truth is not None or query.ties in ("item", "item_desc")
        self._shown = {
            **({MODEL: MODEL} if query.several else {}),
            **{key_column(i): name for i, name in enumerate(query.by)},
            **({ITEM: query.item} if item else {}),
            RELEVANCE: query.relevant,
            **{name: name for name in (POSITION, TIED, CONTRIBUTION)},
            LIST_VALUE: query.averaging(metric.label).name,
        }
        _check_columns(list(self._shown.values()))
        self._metric = cast("Metric", _Shared(metric))
        super().__init__(given, query, [self._metric], item=item)
        self._item = [ITEM] if item else []
        self._row_columns = set(self._requirements.terms(Row(tied=True)))
        row, sums = self._requirements.sums(self._metric, self._row_columns), self._requirements.sums(self._metric)
        self._share = metric.share(row, sums)
        self._unranked_share = metric.unranked_share(sums)

    def frame(self) -> Any:
        """Return the rows as a frame of the user's kind, sorted where it is eager by model, key and position."""
        context = self.context
        rows = self.run().select(*self._shown)
        if self._engine.eager:
            rows = self._engine.settle(rows)
        sort = [*([MODEL] if self._query.several else []), *context.key_names, POSITION, *self._item]
        return context.session.finish(rows, self._shown, sort)

    def run(self) -> Frame:
        """Return the rows of all rankings, under the plan's names."""
        ideal, upto = self._ahead()
        results = [self._rows(index, ideal, upto) for index in range(len(self._query.orders))]
        return results[0] if len(results) == 1 else nw.concat(results, how="vertical")

    def _rows(self, index: int, ideal: Later | None, upto: int | None) -> Frame:
        """Return the rows of one ranking."""
        context = self.context
        # A cutoff at R is another one in each list.
        upto = None if RELEVANT in self._requirements.asked else upto
        ranking = Ranking(context, self._side_tables, index, ideal, upto)
        assert ranking.kept is not None  # noqa: S101 - for the type checker: the metric
        assert ideal is not None  # noqa: S101 - reads the relevance
        lists = self._side_tables.with_users(self._with_constants(ranking.sums()))
        lists = check_values(context, lists, [self._metric], self._lacking, context.key_names)
        lists = self._engine.settle(lists.with_columns(self._values[self._metric.column].alias(LIST_VALUE)))
        own = [row_column(column) for column in sorted(self._row_columns)]
        rows = ranking.rows(ranking.kept, ideal()).select(
            *context.group,
            *self._item,
            RELEVANCE,
            nw.col(START).cast(nw.Int64()).alias(POSITION),
            nw.col(SIZE).cast(nw.Int64()).alias(TIED),
            *own,
        )
        found = [self._added(rows, lists, self._share)]
        if self._unranked_share is not None:
            missing = self._unranked(ranking.ranked, index)
            # A number where the relevance is missing, which it never is: NumPy's integers hold no missing value.
            nowhere = nw.when(nw.col(RELEVANCE).is_null()).then(nw.lit(0, dtype=nw.Int64()))
            found.append(
                self._added(
                    missing.with_columns(nowhere.alias(POSITION), nowhere.alias(TIED)), lists, self._unranked_share
                )
            )
        result = nw.concat(found, how="vertical")
        self._check_sums(result)
        if self._query.several and not context.long:
            result = result.with_columns(nw.lit(self._query.model_name(index)).alias(MODEL))
        return result

    def _added(self, rows: Frame, lists: Frame, share: nw.Expr) -> Frame:
        """Return rows with what each adds to its list, missing where the list has no value."""
        context = self.context
        rows = self._engine.join(rows, lists, context.group)
        if context.pooled:
            own = None if self._metric.needs_relevant else self._metric.defined(self._requirements.sums(self._metric))
            share = nw.when(nw.col(RELEVANT) > 0 if own is None else own).then(share).otherwise(0.0)
        share = nw.when(~nw.col(LIST_VALUE).is_null()).then(share).alias(CONTRIBUTION)
        return rows.select(*context.group, *self._item, RELEVANCE, POSITION, TIED, share, LIST_VALUE)

    def _unranked(self, ranked: Frame, index: int) -> Frame:
        """Return the relevant items that a model does not rank."""
        context = self.context
        if context.truth is None:
            rows = context.frame.filter(nw.col(score_column(index)).is_null())
        else:
            key = [*context.group, ITEM]
            known = ranked.select(*key).unique().with_columns(nw.lit(1.0).alias(RANKED_ITEM))
            truth = context.truth.join(context.models(), how="cross") if context.long else context.truth
            rows = self._engine.join(truth, known, key).filter(nw.col(RANKED_ITEM).is_null())
        rows = context.hits(context.relevance(rows))
        return rows.filter(nw.col(HIT) > 0).select(*context.group, *self._item, RELEVANCE)

    def _check_sums(self, rows: Frame) -> None:
        """Raise where rows do not add up to their lists, as those of a metric of one's own may not."""
        if not self._engine.eager:
            return
        group = self.context.group
        rows = rows.filter(~nw.col(LIST_VALUE).is_null()).with_columns(nw.col(CONTRIBUTION).abs().alias(ABSOLUTE))
        lists = rows.group_by(*group).agg(nw.col(CONTRIBUTION, ABSOLUTE).sum(), nw.col(LIST_VALUE).max())
        off = (nw.col(CONTRIBUTION) - nw.col(LIST_VALUE)).abs() > TOLERANCE * (1 + nw.col(ABSOLUTE))
        if self._engine.scalar(lists.filter(off).select(nw.len())):
            msg = f"what rows add does not sum to a list's {self._metric.label}"
            raise OptionError(
                msg, "the metric's share() says what a row adds, or is_additive = False that it cannot be said"
            )
