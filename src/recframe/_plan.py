"""From roles and metrics to one plan: the only room that groups and joins.

rank ▸ keep what can matter at the largest k ▸ terms per row ▸ sums per list ▸ values per list ▸ mean over `per`
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe import _rank
from recframe._frames import Take, open_frames
from recframe._need import Need
from recframe._terms import (
    AHEAD,
    BLOCK_HITS,
    CASCADE,
    FIRST_HIT,
    GRADE_RANK,
    GREATEST,
    HIT,
    HITS_BEFORE,
    KNOWN,
    LENGTH,
    POSITION,
    RANKED,
    RELEVANCE,
    RELEVANT,
    ROWS,
    SAME_GRADE,
    SIZE,
    START,
    VALUE,
    CascadeRow,
    FirstHitRow,
    IdealRow,
    Row,
)
from recframe.errors import InputError, OptionError, UndefinedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._frames import Engine
    from recframe._roles import Question
    from recframe.metrics._record import Metric

    Frame = nw.LazyFrame[Any]

MODEL = "model"
TRUE_VALUE = "true_value"
LAZY_DIGITS = 20
"""Of the number of distinct relevances in a list, where it is not known: about a million."""
ZERO = nw.lit(0.0)


def _check_names(question: Question, metrics: Sequence[Metric]) -> None:
    if not metrics:
        msg = "the list of metrics is empty"
        raise OptionError(msg, "evaluate(['ndcg', 'map'], k=10)")
    names = [*([MODEL] if question.several else []), *question.per, *(metric.label for metric in metrics)]
    twice = sorted({name for name in names if names.count(name) > 1}, key=str)
    if twice:
        msg = f"the result would have several columns of the name {', '.join(map(repr, twice))}"
        raise OptionError(msg, "name each metric, cutoff and column of `per` once")


def _key_names(question: Question, *, truth: bool) -> dict[str, str]:
    """Return the user's key columns by the plan's names."""
    keys = question.by if truth else (*question.by, *(name for name in question.per if name not in question.by))
    return {f"key{i}": name for i, name in enumerate(keys)}


def _attribute_names(question: Question, *, truth: bool) -> dict[str, str]:
    """Return the columns of `per` that describe a list without being its key, by the plan's names."""
    others = [name for name in question.per if name not in question.by] if truth else []
    return {f"attribute{i}": name for i, name in enumerate(others)}


def _takes(question: Question, *, truth: bool, value: bool) -> tuple[dict[str, Take], dict[str, Take], dict[str, Take]]:
    """Return what to take from the frame, from the truth, and from whichever has it."""
    keys = {
        name: Take(column, "by" if column in question.by else "per", "key")
        for name, column in _key_names(question, truth=truth).items()
    }
    names = _attribute_names(question, truth=truth)
    attributes = {name: Take(column, "per", "attribute") for name, column in names.items()}
    by_item = question.ties in ("item", "item_desc")
    item = {_rank.ITEM: Take(question.item, "item", "order" if by_item else "key")} if truth or by_item else {}
    worth = {VALUE: Take(question.value, "value", "value")} if value else {}
    role = "rank" if question.by_rank else "score"
    orders = {f"score{i}": Take(column, role, "score") for i, column in enumerate(question.orders)}
    model = {MODEL: Take(question.model, "model", "key")} if question.model is not None else {}
    if not truth:
        relevance = {RELEVANCE: Take(question.relevant, "relevant", "relevance")}
        return keys | item | orders | model | relevance | worth, {}, {}
    relevance = {RELEVANCE: Take(question.relevant, "relevant", "relevance", default=1.0)}
    return keys | item | orders | model | worth, keys | item | relevance | worth, attributes


class Plan:
    """The plan of one call: built by `run`, computed by whoever reads its result."""

    def __init__(self, frame: Any, truth: Any, question: Question, metrics: Sequence[Metric]) -> None:
        _check_names(question, metrics)
        with_truth = truth is not None
        self._question = question
        self._metrics = metrics
        self._need = Need(metrics)
        rows = question.ties == "first"
        self.session = open_frames(
            frame, truth, *_takes(question, truth=with_truth, value=VALUE in self._need.asked), rows=rows
        )
        self._engine: Engine = self.session.engine
        self._check_lazy()
        self._key_names = _key_names(question, truth=with_truth)
        self._attribute_names = _attribute_names(question, truth=with_truth)
        self._keys = list(self._key_names) or ["key0"]
        self._long = question.model is not None
        self._frame = self._worth(self._with_key(self.session.frame))
        self._truth: Frame | None = None
        if self.session.truth is not None:
            whole = self._worth(self._with_key(self.session.truth))
            self._truth_lists = whole
            # What is repeated in the truth counts once.
            numbers = [RELEVANCE, *([VALUE] if VALUE in self._need.asked else [])]
            once = self._relevance(whole).group_by(*self._keys, _rank.ITEM).agg(nw.col(*numbers).max())
            self._truth = self._engine.settle(once)
        self._values = self._value_expressions()

    def run(self) -> Frame:
        """Return one row per model and value of `per`, with the model, the plan's names of `per`, and the labels."""
        self._check_relevance()
        ideal = self._engine.settle(self._ideal_lists())
        upto = self._need.cutoff
        if RELEVANT in self._need.asked:
            # A cutoff at R: known on eager frames, on lazy ones it may be any position.
            most = self._engine.scalar(ideal.select(nw.col(RELEVANT).max())) if self._engine.eager else None
            upto = None if upto is None or most is None else max(upto, int(most))
        results = [self._model(index, ideal, upto) for index in range(len(self._question.orders))]
        return results[0] if len(results) == 1 else nw.concat(results, how="vertical")

    def frame(self) -> Any:
        """Return the result as a frame of the user's kind, sorted by key where it is eager."""
        return self.session.finish(self.run(), self._names(), [*([MODEL] if self._long else []), *self._per()])

    def scalar(self) -> float:
        """Return the one number of an eager frame's one metric, NaN where no list has a value."""
        value = self._engine.scalar(self.run())
        return math.nan if value is None else float(value)

    def _names(self) -> dict[str, str]:
        """Return the user's names of the result's columns by the plan's names."""
        return {
            name: column
            for name, column in (self._key_names | self._attribute_names).items()
            if column in self._question.per
        }

    # --- what is asked ---------------------------------------------------------------------------------------

    def _check_lazy(self) -> None:
        if self._engine.eager:
            return
        if self._question.ties == "first":
            msg = "ties='first' means row order, which a lazy frame does not have"
            raise OptionError(msg, "ties='item', or collect the frame first")
        if self._question.undefined == "raise":
            msg = "undefined='raise' needs the data, which a lazy frame does not have yet"
            raise OptionError(msg, "undefined='skip' or a number, or collect the frame first")

    def _with_key(self, frame: Frame) -> Frame:
        """Give a frame that is one list a key."""
        return frame if self._key_names else frame.with_columns(nw.lit(0).alias("key0"))

    def _per(self) -> list[str]:
        """Return the columns to report by, in the order that was asked for."""
        plans = {column: name for name, column in (self._key_names | self._attribute_names).items()}
        return [plans[column] for column in self._question.per]

    @property
    def _group(self) -> list[str]:
        """The key of a list of one model."""
        return [*self._keys, *([MODEL] if self._long else [])]

    @property
    def _columns(self) -> list[str]:
        """The sums of a list."""
        counts = [name for name in (RANKED, ROWS) if name in self._need.asked]
        known = [KNOWN] if self._pooled else []
        return [RELEVANT, *counts, *known, *self._need.columns.values()]

    @property
    def _pooled(self) -> bool:
        """Whether the models' rows stand below each other and tell together which lists there are."""
        return self._long and self._truth is None

    @property
    def _every_list(self) -> bool:
        """Whether lists without a relevant item show in the result."""
        return bool(self._question.per) or self._question.undefined != "skip"

    def _value_expressions(self) -> list[nw.Expr]:
        """Return the metrics of a list, missing where it is undefined."""
        values: list[nw.Expr] = []
        known = nw.col(KNOWN if self._pooled else RELEVANT) > 0
        for metric in self._metrics:
            sums = self._need.sums(metric)
            defined, value = metric.defined(sums), metric.value(sums)
            if self._pooled:
                # This model has no relevant row in a list that others show to have one.
                defined = None if defined is None else defined | (nw.col(RELEVANT) == 0)
                value = nw.when(nw.col(RELEVANT) > 0).then(value).otherwise(0.0)
            values.append(nw.when(known if defined is None else known & defined).then(value).alias(metric.label))
        return values

    # --- relevance -------------------------------------------------------------------------------------------

    def _relevance(self, frame: Frame) -> Frame:
        """Make relevance a number, missing 0."""
        return frame.with_columns(nw.col(RELEVANCE).cast(nw.Float64()).fill_nan(0.0).fill_null(0.0))

    def _worth(self, frame: Frame) -> Frame:
        """Make values numbers, missing 0, where a metric asks for them."""
        if VALUE not in self._need.asked:
            return frame
        return frame.with_columns(nw.col(VALUE).cast(nw.Float64()).fill_nan(0.0).fill_null(0.0))

    def _hits(self, frame: Frame) -> Frame:
        """Add which rows are relevant."""
        least = self._question.min_relevance
        hit = nw.col(RELEVANCE) > 0 if least is None else nw.col(RELEVANCE) >= least
        return frame.with_columns(hit.cast(nw.Float64()).alias(HIT))

    def _label(self, frame: Frame) -> Frame:
        """Join the truth's relevance; a repeated recommendation is relevant once, where it stands first."""
        assert self._truth is not None  # noqa: S101 - for the type checker
        valued = VALUE in self._need.asked
        truth = self._truth.rename({VALUE: TRUE_VALUE}) if valued else self._truth
        frame = self._engine.join(frame, truth, [*self._keys, _rank.ITEM])
        if valued:
            known = nw.when(~nw.col(TRUE_VALUE).is_null()).then(nw.col(TRUE_VALUE)).otherwise(nw.col(VALUE))
            frame = frame.with_columns(known.alias(VALUE)).drop(TRUE_VALUE)
        unknown = nw.col(RELEVANCE).is_null()
        time = nw.col(START).rank("ordinal").over(*self._group, _rank.ITEM)
        found = self._hits(frame.filter(~unknown)).with_columns(time.alias(POSITION))
        once = [
            nw.when(nw.col(POSITION) == 1).then(nw.col(name)).otherwise(0.0).alias(name) for name in (RELEVANCE, HIT)
        ]
        found = found.with_columns(*once).drop(POSITION)
        # What the truth does not hold is not relevant, however low min_relevance is.
        others = frame.filter(unknown).with_columns(*(nw.lit(0.0).alias(name) for name in (RELEVANCE, HIT)))
        return nw.concat([found, others], how="vertical")

    # --- the ideal side --------------------------------------------------------------------------------------

    def _ideal_lists(self) -> Frame:
        """Return R and the sums in the best order, of each list that has a relevant row."""
        source = self._truth if self._truth is not None else self._frame
        group = self._keys if self._truth is not None else self._group
        columns = [*group, RELEVANCE, *([VALUE] if VALUE in self._need.asked else [])]
        lists = self._best(self._relevance(source.select(*columns)), group, "all")
        if self._long and self._truth is not None:
            lists = lists.join(self._models(), how="cross")
        return lists

    def _best(self, frame: Frame, group: Sequence[str], of: str) -> Frame:
        """Sum what the rows of positive relevance add in their best order."""
        row = IdealRow()
        added = self._need.best_terms(of, row)
        positive = self._hits(frame).filter((nw.col(RELEVANCE) > 0) | (nw.col(HIT) > 0))
        if POSITION in row.asked:
            positive = _rank.best_order(positive, group)
        if of == "all":
            added[RELEVANT] = nw.col(HIT)
        return self._engine.sum_by(positive.select(*group, **added), group, list(added))

    def _models(self) -> Frame:
        return self._engine.settle(self._frame.select(MODEL).unique())

    # --- the ranked side -------------------------------------------------------------------------------------

    def _model(self, index: int, ideal: Frame, upto: int | None) -> Frame:
        """Return the result of one ranking."""
        lists = self._sums(f"score{index}", ideal, upto)
        lists = self._with_constants(lists)
        weights = [
            weight.alias(f"weight {metric.label}")
            for metric in self._metrics
            if (weight := metric.weighting(self._need.sums(metric))) is not None
        ]
        lists = lists.select(*self._group, *self._values, *weights)
        if self._question.undefined != "skip":
            lists = self._fill(lists)
        result = self._mean(self._with_attributes(lists))
        if self._question.several and not self._long:
            name = nw.lit(self._question.orders[index]).alias(MODEL)
            result = result.select(name, *self._per(), *(metric.label for metric in self._metrics))
        return result

    def _sums(self, score: str, ideal: Frame, upto: int | None) -> Frame:
        """Return the sums of every list that matters."""
        group = self._group
        ranked = self._ranked(score)
        kept = self._kept(ranked, upto)
        tied = not self._engine.eager or bool(self._engine.scalar(kept.select((nw.col(SIZE).max() > 1).alias(SIZE))))
        row = Row(tied=tied)
        terms = self._need.terms(row)
        if tied and BLOCK_HITS in row.asked:
            kept = _rank.block_hits(kept, group)
        if FIRST_HIT in row.asked:
            kept = _rank.first_blocks(kept, group)
        kept = self._compared(kept, row.asked)
        rows = self._ready(self._rows_that_matter(kept), row, ideal, upto)
        stacked = [self._wide(rows, terms), *self._other_sums(ranked, kept, ideal, tied=tied)]
        if CASCADE in row.asked:
            stacked.append(self._cascade(kept, tied=tied))
        return self._engine.sum_by(nw.concat(stacked, how="vertical"), group, self._columns)

    def _ranked(self, score: str) -> Frame:
        """Return the rows that one model ranks."""
        keep = [_rank.ITEM] if self._truth is not None or self._question.ties in ("item", "item_desc") else []
        keep += [_rank.ROW] if self._question.ties == "first" else []
        keep += [] if self._truth is not None else [RELEVANCE]
        keep += [VALUE] if VALUE in self._need.asked else []
        ranked = self._frame.select(*self._group, *keep, nw.col(score).alias(_rank.SCORE))
        ranked = self._engine.present(ranked, _rank.SCORE)
        self._check_ranks(ranked)
        return ranked

    def _kept(self, ranked: Frame, upto: int | None) -> Frame:
        """Return the rows that can matter, each with its tied block and its relevance."""
        group = self._group
        by_rank = self._question.by_rank
        placed = None
        if upto is not None and not by_rank:
            placed, ranked = self._engine.shortlist(ranked, group, _rank.SCORE, upto)
        kept = _rank.place(ranked, group, upto, by_rank=by_rank)
        kept = kept if placed is None else nw.concat([kept, placed], how="vertical")
        kept = kept.drop(_rank.SCORE)
        kept = self._hits(self._relevance(kept)) if self._truth is None else self._label(kept)
        for column, descending in _rank.TIE_ORDER[self._question.ties]:
            if column != VALUE or VALUE in self._need.asked:
                kept = _rank.split_ties(kept, group, column, upto, descending=descending)
        return self._engine.settle(_rank.sizes(kept, group))

    def _compared(self, kept: Frame, asked: set[str]) -> Frame:
        """Add what rank correlations ask for."""
        if asked & {LENGTH, GRADE_RANK, SAME_GRADE}:
            kept = _rank.grades(kept, self._group, asked)
        if AHEAD in asked:
            kept = self._engine.settle(_rank.levels(kept, self._group))
            digits = LAZY_DIGITS
            if self._engine.eager:
                most = self._engine.scalar(kept.select(nw.col(_rank.LEVEL).max()))
                digits = max(1, int(most or 0).bit_length())
            kept = _rank.pairs_ahead(kept, self._group, digits)
        return kept

    def _cascade(self, kept: Frame, *, tied: bool) -> Frame:
        """Return what lists get from a user who reads from the top."""
        source = self._truth if self._truth is not None else self._frame
        greatest = self._relevance(source.select(RELEVANCE)).select(nw.col(RELEVANCE).max().alias(GREATEST))
        kept = kept.join(self._engine.settle(greatest), how="cross")
        row = CascadeRow()
        terms = self._need.terms(row)
        stops = [stop(nw.col(RELEVANCE), nw.col(GREATEST)) for stop in row.stops]
        return self._wide(_rank.reading(kept, self._group, stops, tied=tied), terms)

    def _ready(self, rows: Frame, row: Row, ideal: Frame, upto: int | None) -> Frame:
        """Add to the rows that matter what their terms ask for."""
        if HITS_BEFORE in row.asked:
            rows = _rank.hits_before(rows, self._group)
        if RELEVANT in row.asked:
            rows = self._engine.join(rows, ideal.select(*self._group, RELEVANT), self._group)
        if row.tables:
            rows = self._with_tables(rows, row, upto)
        return rows.with_columns(nw.col(START, SIZE).cast(nw.Float64()))

    def _other_sums(self, ranked: Frame, kept: Frame, ideal: Frame, *, tied: bool) -> list[Frame]:
        """Return what lists get from elsewhere than their ranked rows."""
        found = [self._wide(ideal, {name: nw.col(name) for name in self._ideal_columns})]
        if self._need.best_terms("ranked"):
            found.append(self._ranked_ideal(ranked))
        if tied and self._need.first_hit and self._may_hold(kept, _rank.several_first_hits()):
            found.append(self._wide(_rank.chances(kept, self._group), self._need.terms(FirstHitRow())))
        if RANKED in self._need.asked:
            # As many rows as can matter stay, unless positions were given and have gaps.
            counted = ranked if self._question.by_rank else kept
            counts = counted.group_by(*self._group).agg(nw.len().alias(RANKED))
            found.append(self._wide(counts, {RANKED: nw.col(RANKED)}))
        if ROWS in self._need.asked:
            found += [self._wide(counted, {ROWS: nw.col(ROWS)}) for counted in self._row_counts()]
        if self._pooled:
            known = ideal.filter(nw.col(RELEVANT) > 0).select(*self._keys).unique().join(self._models(), how="cross")
            found.append(self._wide(known, {KNOWN: nw.lit(1.0)}))
        if self._every_list:
            found.append(self._wide(self._lists(), {}))
        return found

    def _may_hold(self, frame: Frame, condition: nw.Expr) -> bool:
        """Return whether rows meet a condition; of a lazy frame they may."""
        return not self._engine.eager or self._engine.scalar(frame.filter(condition).select(nw.len())) > 0

    @property
    def _ideal_columns(self) -> list[str]:
        return [RELEVANT, *self._need.best_terms("all")]

    def _row_counts(self) -> list[Frame]:
        """Return frames whose sums are the rows of each list, ranked or not, those of the truth included."""
        group = self._group

        def count(frame: Frame, each: float) -> Frame:
            return self._engine.sum_by(frame.select(*group, nw.lit(each).alias(ROWS)), group, [ROWS])

        if self._truth is None:
            return [count(self._frame, 1.0)]
        known = self._truth.select(*self._keys, _rank.ITEM, RELEVANCE)
        both = self._engine.join(self._frame.select(*group, _rank.ITEM), known, [*self._keys, _rank.ITEM])
        both = both.filter(~nw.col(RELEVANCE).is_null()).select(*group, _rank.ITEM).unique()
        truth = self._truth.join(self._models(), how="cross") if self._long else self._truth
        return [count(self._frame, 1.0), count(truth, 1.0), count(both, -1.0)]

    def _check_relevance(self) -> None:
        """Raise for a relevance that a metric cannot use, where the data can be seen."""
        for metric in self._metrics:
            least, greatest = metric.relevances
            if not self._engine.eager or (least == -math.inf and greatest == math.inf):
                continue
            source = self._relevance((self._truth if self._truth is not None else self._frame).select(RELEVANCE))
            wrong = source.filter((nw.col(RELEVANCE) < least) | (nw.col(RELEVANCE) > greatest))
            if self._engine.scalar(wrong.select(nw.len())):
                found = self._engine.scalar(wrong.select(nw.col(RELEVANCE).max()))
                bounds = f"at most {greatest:g}" if least == -math.inf else f"{least:g} to {greatest:g}"
                msg = f"relevant={self._question.relevant!r} holds {found:g}, but {metric.label} takes {bounds}"
                raise InputError(msg, "see the metric's options, such as probability= or max_relevance=")

    def _check_ranks(self, ranked: Frame) -> None:
        """Raise for a position that is none, where the data can be seen."""
        if not (self._question.by_rank and self._engine.eager):
            return
        rank = nw.col(_rank.SCORE)
        wrong = ranked.filter((rank < 1) | (rank % 1 != 0))
        found = self._engine.scalar(wrong.select(rank.min()))
        if found is not None and found == found:  # noqa: PLR0124 - only NaN differs from itself
            msg = f"rank={self._question.orders[0]!r} holds {found}, but a rank is a whole number from 1"
            raise InputError(msg, "for scores, higher is better, use score=")

    def _rows_that_matter(self, kept: Frame) -> Frame:
        reads = {metric.reads for metric in self._metrics}
        if "all" in reads:
            return kept
        hit = nw.col(HIT) > 0
        return kept.filter(hit | (nw.col(RELEVANCE) != 0) if "graded" in reads else hit)

    def _with_tables(self, rows: Frame, row: Row, upto: int | None) -> Frame:
        """Look up the sums of each weight over the positions before a tied block, and up to its end."""
        start = nw.col(START).cast(nw.Int64())
        end = start + nw.col(SIZE).cast(nw.Int64()) - 1
        last = end if upto is None else nw.when(end < upto).then(end).otherwise(upto)
        rows = rows.with_columns((start - 1).alias("before"), last.cast(nw.Int64()).alias("upto"))
        table = self._engine.positions(rows.select(nw.col("upto").max()) if upto is None else upto)
        position = nw.col(POSITION).cast(nw.Float64())
        weights = []
        for (of, k), index in row.tables.items():
            weight = of(position) if k is None else nw.when(position <= k).then(of(position)).otherwise(0.0)
            weights.append((weight + 0.0 * position).alias(f"weight{index}"))
        table = table.with_columns(*weights)
        for side in ("before", "upto"):
            totals = [
                nw.col(f"weight{index}").cum_sum().over(order_by=POSITION).alias(f"{side}{index}")
                for index in row.tables.values()
            ]
            lookup = table.select(nw.col(POSITION).alias(side), *totals)
            rows = rows.join(lookup, on=side, how="left")
        columns = [f"{side}{index}" for side in ("before", "upto") for index in row.tables.values()]
        return rows.with_columns(nw.col(*columns).fill_null(0.0))

    def _ranked_ideal(self, ranked: Frame) -> Frame:
        """Return the sums in the best order of the ranked rows only."""
        if self._truth is not None:
            placed = _rank.place(ranked, self._group, None, by_rank=self._question.by_rank)
            ranked = self._label(placed.drop(_rank.SCORE))
        else:
            ranked = self._relevance(ranked)
        terms = self._need.best_terms("ranked")
        best = self._best(ranked.select(*self._group, RELEVANCE), self._group, "ranked")
        return self._wide(best, {column: nw.col(column) for column in terms})

    def _wide(self, frame: Frame, present: Mapping[str, nw.Expr]) -> Frame:
        """Return the key and all sums, 0 where the frame adds nothing."""
        columns = [present.get(column, ZERO).cast(nw.Float64()).alias(column) for column in self._columns]
        return frame.select(*self._group, *columns)

    def _lists(self) -> Frame:
        """Return every list, of every model."""
        lists = self._frame.select(*self._keys).unique()
        if self._truth is not None:
            lists = nw.concat([lists, self._truth_lists.select(*self._keys).unique()], how="vertical").unique()
        return lists.join(self._models(), how="cross") if self._long else lists

    # --- from lists to results -------------------------------------------------------------------------------

    def _with_constants(self, lists: Frame) -> Frame:
        """Add the sums of weights that are the same for every list."""
        for (of, k), column in self._need.constants.items():
            weights = self._engine.positions(k).select(of(nw.col(POSITION).cast(nw.Float64())).alias(column))
            lists = lists.join(weights.select(nw.col(column).sum()), how="cross")
        return lists

    def _fill(self, lists: Frame) -> Frame:
        """Let a number stand for lists without a value, or raise."""
        undefined = self._question.undefined
        labels = [metric.label for metric in self._metrics]
        if undefined != "raise":
            return lists.with_columns(nw.col(*labels).fill_null(undefined))
        lists = self._engine.settle(lists)
        for metric in self._metrics:
            without = lists.filter(nw.col(metric.label).is_null()).select(*self._group)
            count = self._engine.scalar(without.select(nw.len()))
            if count:
                some = self.session.finish(without.head(3), self._key_names, ())
                lists_have = "1 list has" if count == 1 else f"{count} lists have"
                msg = f"{lists_have} no {metric.label} for want of a relevant item, such as\n{some}"
                raise UndefinedError(msg, "undefined='skip' leaves them out, undefined=0.0 counts them as 0")
        return lists

    def _with_attributes(self, lists: Frame) -> Frame:
        """Add the columns of `per` that describe a list without being its key."""
        for name, column in self._attribute_names.items():
            source = self._truth_lists if name in self.session.in_truth else self._frame
            known = source.select(*self._keys, name).filter(~nw.col(name).is_null()).unique()
            if self._engine.eager:
                known = self._engine.settle(known)
                several = known.group_by(*self._keys).agg(nw.len().alias(SIZE)).filter(nw.col(SIZE) > 1)
                if self._engine.scalar(several.select(nw.len())):
                    msg = f"per={column!r} has several values within a list"
                    raise InputError(msg, f"make it part of the key: by={[*self._question.by, column]!r}")
            else:
                known = known.group_by(*self._keys).agg(nw.col(name).min())
            lists = self._engine.join(lists, known, self._keys)
        return lists

    def _mean(self, lists: Frame) -> Frame:
        """Average the lists over what is reported by."""
        labels = [metric.label for metric in self._metrics]
        per = self._per()
        by = [*([MODEL] if self._long else []), *per]
        if per and set(per) == set(self._keys) and not self._attribute_names:
            return lists.select(*by, *labels)
        weighted = {metric.label: f"weight {metric.label}" for metric in self._metrics if self._weighs(metric)}
        if not weighted:
            means = [nw.col(label).mean() for label in labels]
            return lists.group_by(*by).agg(*means) if by else lists.select(*means)
        # A weighted mean is a ratio of sums, of the lists that have a value.
        lists = lists.with_columns(
            *((nw.col(label) * nw.col(weight)).alias(f"{label} {weight}") for label, weight in weighted.items()),
            *(
                nw.when(~nw.col(label).is_null()).then(nw.col(weight)).alias(weight)
                for label, weight in weighted.items()
            ),
        )
        parts = [nw.col(label).mean() for label in labels if label not in weighted]
        parts += [nw.col(f"{label} {weight}", weight).sum() for label, weight in weighted.items()]
        result = lists.group_by(*by).agg(*parts) if by else lists.select(*parts)
        ratios = {
            label: nw.when(nw.col(weight) > 0).then(nw.col(f"{label} {weight}") / nw.col(weight)).alias(label)
            for label, weight in weighted.items()
        }
        return result.select(*by, *(ratios.get(label, nw.col(label)) for label in labels))

    def _weighs(self, metric: Metric) -> bool:
        return metric.weighting(self._need.sums(metric)) is not None
