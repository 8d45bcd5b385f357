"""From the scores and the relevances of a group to the values of metrics.

rank ▸ keep what can matter at the largest k ▸ terms per row ▸ sums ▸ values
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import narwhals as nw
import polars as pl

from recframe._columns import (
    HIT,
    LENGTH,
    POSITION,
    RANKED,
    RANKED_RELEVANT,
    RELEVANCE,
    RELEVANT,
    ROWS,
    SCORE,
    constant_column,
    ideal_position_column,
    vacant_column,
)
from recframe._expressions import rows
from recframe._expressions.cascade import cascade_sums
from recframe._expressions.fields import field, on_columns, on_fields, struct_of
from recframe._expressions.steps import Steps
from recframe._plan.relevance import is_hit, is_of_ideal, or_zero
from recframe.metrics._ideal_row import IdealRow
from recframe.metrics._record import BestOf
from recframe.metrics._row import ALL_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from recframe._plan.requirements import Requirements
    from recframe._query import Query
    from recframe.metrics._row import Weight

_GROUP, _COUNTS, _RANKED = "group", "counts", "ranked"
_IDEAL: dict[BestOf, str] = {of: f"sums of the ideal, {of}" for of in get_args(BestOf)}
KNOWN = frozenset({RANKED, ROWS})
"""What a value may read of a list in addition to its sums."""


@dataclass(frozen=True)
class Values:
    """What is computed of a group: lists of rows, sums over them, and the values that these give."""

    reads: tuple[str, ...]
    """Whether they read the scores, and the relevances."""
    lists: Mapping[str, Steps]
    """The lists by their names, from the list of structs of a score and a relevance."""
    sums: Mapping[str, tuple[str, Steps]]
    """The lists of one struct of sums, each with the list that it is made of."""
    values: Mapping[str, pl.Expr]
    """What they give, by the names of the metrics."""

    def on(self, score: pl.Expr, relevance: pl.Expr) -> pl.Expr:
        """Return the struct of values of a group."""
        columns = {SCORE: score, RELEVANCE: relevance}
        # A list of one struct: in `agg` a struct by itself has no way to use a field twice.
        one = pl.concat_list(struct_of({_GROUP: struct_of({name: columns[name] for name in self.reads}).implode()}))
        one = one.list.eval(struct_of({name: steps.on(field(_GROUP)) for name, steps in self.lists.items()}))
        sums = {name: steps.on(field(source)).list.first() for name, (source, steps) in self.sums.items()}
        return one.list.eval(struct_of(sums)).list.eval(struct_of(self.values)).list.first()


def values_of(levels: Iterable[tuple[Requirements, Query]], names: Iterable[str]) -> Values:
    """Return how the values of metrics are computed, of each least relevance, in the order of the names."""
    lists: dict[str, Steps] = {}
    sums: dict[str, tuple[str, Steps]] = {}
    values: dict[str, pl.Expr] = {}
    for number, (requirements, query) in enumerate(levels):
        made = _lists(requirements, query)
        lists |= {f"{name} {number}": steps for name, steps in made.items()}
        sums_of = {name: (name, Steps((), steps.names)) for name, steps in made.items() if name != _RANKED}
        if _RANKED in made:
            sums_of |= _sums(Steps((), made[_RANKED].names), requirements, query)
        sums |= {f"{name} {number}": (f"{source} {number}", steps) for name, (source, steps) in sums_of.items()}
        for label in requirements.values:
            names_of = {f"{name} {number}": steps.names for name, (_, steps) in sums_of.items()}
            values[query.averaging(label).name] = _value(requirements, query, label, names_of)
    reads = {read for steps in lists.values() for read in steps.reads}
    return Values(tuple(sorted(reads)), lists, sums, {name: values[name] for name in names})


def _lists(requirements: Requirements, query: Query) -> dict[str, Steps]:
    """Return the ranked rows, and the sums of all others, that the metrics of one least relevance read."""
    hit = is_hit(nw.col(RELEVANCE), query.min_relevance).cast(nw.Float64())
    counts = {RANKED: field(SCORE).count(), ROWS: pl.len()}
    counts = {name: count.cast(pl.Float64) for name, count in counts.items() if name in requirements.requested}
    if not requirements.ideal["all"].by_column:
        counts[RELEVANT] = _own_hits(query.min_relevance).sum()
    reads = (RELEVANCE, SCORE) if RANKED in counts else (RELEVANCE,)
    lists = {_COUNTS: Steps(reads, reads).select(counts)} if counts else {}
    if requirements.ranked.by_column:
        kept = _kept(requirements, hit, query.min_relevance)
        lists[_RANKED] = rows.ranked(kept, requirements, query.ties)
    for of, name in _IDEAL.items():
        if requirements.ideal[of].by_column:
            lists[name] = _ideal_sums(requirements, of, hit, query.min_relevance)
    return lists


def _sums(ranked: Steps, requirements: Requirements, query: Query) -> dict[str, tuple[str, Steps]]:
    """Return the sums over ranked rows. Those of tied blocks take many steps, of few rows, and of none without ties."""
    parts = {"alone": rows.alone_sums, "tied": rows.tied_sums}
    if requirements.numbers.stops and query.ties == "average":
        parts["cascade"] = cascade_sums
    return {name: (_RANKED, terms(ranked, requirements, query.ties)) for name, terms in parts.items()}


def _own_hits(min_relevance: float | None) -> pl.Expr:
    """Return the hits among rows whose relevance may be missing."""
    return on_fields(is_hit(or_zero(RELEVANCE), min_relevance).cast(nw.Float64()))


def _kept(requirements: Requirements, hit: nw.Expr, min_relevance: float | None) -> Steps:
    """Return the ranked rows that can matter."""
    upto = None if any(metric.cuts_at_relevant for metric in requirements.metrics) else requirements.cutoff
    score, hits = field(SCORE), _own_hits(min_relevance)
    whole = {RELEVANT: hits.sum(), RANKED_RELEVANT: hits.filter(score.is_not_null()).sum(), LENGTH: score.count()}
    group = Steps((SCORE, RELEVANCE), (SCORE, RELEVANCE))
    group = group.add({name: whole[name] for name in rows.OF_LIST if name in requirements.ranked.requested})
    if upto is not None:
        best = score.sort(descending=True, nulls_last=True).head(upto)
        # Rows that tie with the k-th one stay, and those without a score until all are in order.
        group = group.then(pl.element().filter((score >= best.min()).fill_null(True)))  # noqa: FBT003
    relevance = on_fields(or_zero(RELEVANCE))
    return group.add({RELEVANCE: relevance, HIT: on_columns(hit, lambda _: relevance)})


def _ideal_sums(requirements: Requirements, of: BestOf, hit: nw.Expr, min_relevance: float | None) -> Steps:
    """Return the sums over an ideal ranking."""
    terms = requirements.ideal[of]
    of_ideal = None if ALL_ROWS in terms.requested else is_of_ideal(min_relevance)
    reads = (RELEVANCE, SCORE) if of != "all" else (RELEVANCE,)
    best = Steps(reads, reads)
    if of != "all":
        best = best.then(pl.element().filter(field(SCORE).is_not_null()))
    if of_ideal is not None:
        # Most rows go before anything is computed of them. Which missing ones go too is known afterwards.
        best = best.then(pl.element().filter(on_fields(of_ideal).fill_null(True)))  # noqa: FBT003
    best = best.then(on_fields(or_zero(RELEVANCE)))
    if of_ideal is not None:
        best = best.then(pl.element().filter(on_columns(of_ideal, lambda _: pl.element())))
    best = best.then(pl.element().sort(descending=True))
    position = {POSITION: pl.int_range(1, pl.len() + 1).cast(pl.Float64)} if POSITION in terms.requested else {}
    best = best.select({RELEVANCE: pl.element(), HIT: on_columns(hit, lambda _: pl.element()), **position})
    orders = {ideal_position_column(number): order for number, order in enumerate(requirements.numbers.orders)}
    gains = {name: on_fields(order(IdealRow())) for name, order in orders.items() if name in terms.requested}
    best = best.add({name: gain.rank("ordinal", descending=True).cast(pl.Float64) for name, gain in gains.items()})
    relevant = {RELEVANT: field(HIT)} if of == "all" else {}
    added = {column: on_fields(term) for column, term in terms.summands.items()}
    return best.select({name: term.sum() for name, term in (added | relevant).items()})


def _value(requirements: Requirements, query: Query, label: str, sums: Mapping[str, Iterable[str]]) -> pl.Expr:
    """Return the value of a metric from the sums of a list."""
    # Scores leave no position without a row.
    columns = {vacant_column(metric.cutoff): pl.lit(0.0) for metric in requirements.metrics}
    columns |= {constant_column(number): _total(of, k) for number, (of, k) in enumerate(requirements.numbers.constants)}
    for where, names in sums.items():
        for name in names:
            part = field(where).struct.field(name)
            columns[name] = columns[name] + part if name in columns else part
    found = on_columns(requirements.values[label].where_defined(eager=False), columns.__getitem__)
    undefined = query.averaging(label).undefined
    return found.fill_null(undefined) if isinstance(undefined, float) else found


def _total(of: Weight, k: int) -> pl.Expr:
    """Return the sum of a weight over the positions 1 to k."""
    positions = pl.select(position=pl.int_range(1, k + 1).cast(pl.Float64))
    return pl.lit(positions.select(on_columns(of(nw.col(POSITION)), pl.col).sum()).item())
