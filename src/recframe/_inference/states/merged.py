"""States of parts of the lists, added up: what one call on all lists answers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import narwhals as nw
import numpy as np

from recframe._base.signatures import checked_call
from recframe._base.values import flag
from recframe._engines.registry import is_frame
from recframe._inference.comparison import columns as comparison
from recframe._inference.comparison.columns import RUN_COLUMNS, RUN_STD
from recframe._inference.comparison.compare import row_of
from recframe._inference.comparison.decided import correct
from recframe._inference.comparison.describe import intervals_of_means
from recframe._inference.comparison.option_checks import check_bounded, check_looks, check_stratified
from recframe._inference.comparison.options import SIMULTANEOUS, TESTS_OF_SUMS, Options
from recframe._inference.comparison.tested import tested
from recframe._inference.lists import paired_sums as paired
from recframe._inference.lists.claims import P_OF_DEMANDS
from recframe._inference.lists.clusters import check_clusters
from recframe._inference.lists.paired_sums import Pair, model_pairs
from recframe._inference.lists.result_notes import remember
from recframe._inference.lists.results import INTERNAL, stacked
from recframe._inference.ranks.rank_models import Options as RankOptions
from recframe._inference.ranks.sample_size import COLUMNS as COLUMNS_OF_SIZE
from recframe._inference.ranks.sample_size import Options as SizeOptions
from recframe._inference.ranks.sample_size import Pilot
from recframe._inference.states.merged_items import values_of_items
from recframe._inference.states.merged_ranks import ranks_of_states
from recframe._inference.states.merged_runs import MergedRuns
from recframe._inference.states.merging import Rows, read_states
from recframe._inference.states.state import COLUMNS, TYPES
from recframe._inference.states.strata import check_means, in_strata, strata_of
from recframe._inference.states.unpaired import unpaired
from recframe._inference.statistics.student import check_confidence, without_spread
from recframe._plan.query import check_apart
from recframe.errors import OptionError, no_attribute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._data.methods import Frame
    from recframe._inference.states.strata import StratifiedRows

CALLS = ("evaluate", "describe", "compare", "sample_size", "rank_models", "state")
"""The methods of merged states."""
DESCRIBED = ("metric", "model", "lists", "mean", "low", "high", "std")
DETAILS_OF_DESCRIBE = ("effective", "min", "max", "zeros", "undefined")
"""The columns that `describe` adds with details: quantiles do not add up."""


class Merged:
    """The sums over the lists of several states, which `recframe.merge_states` returns.

    Its methods answer what one call on all rows would answer, without reading the rows again: `evaluate`, `describe`,
    `compare`, `sample_size` and `rank_models`. They take no roles, because the calls of `state` that made the states
    have fixed them. A question that reads the values of single lists, such as a quantile or the bootstrap, has no
    answer here, and the error says so.

    See Also
    --------
    recframe.merge_states : Merge the states of several parts.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __repr__(self) -> str:
        rows = self._rows
        numbers = {"list": len(rows.hashed), "segment": len(rows.segments)}
        counted = (f"{number} {name}{'s' * (number != 1)}" for name, number in numbers.items())
        return f"Merged({', '.join(rows.evaluated)}; {' in '.join(counted)})"

    def __getattr__(self, name: str) -> NoReturn:
        """Raise, and name the methods."""
        raise no_attribute(name, f"merged states have no method {{!r}}; they have {', '.join(CALLS)}", CALLS)

    def evaluate(
        self, *, counts: bool = False, strata: str | None = None, strata_weights: Mapping[Any, float] | None = None
    ) -> Frame:
        """Return the means over the lists of all states.

        The values are those that ``df.rec.evaluate`` returns on all rows at once.

        Parameters
        ----------
        counts : bool, default False
            Whether to add the columns ``lists``, how many lists have a value under every metric, and ``undefined``,
            how many have not.
        strata : str, optional
            A column of the states, such as the task of a benchmark. Then the means of its values are averaged.
        strata_weights : mapping, optional
            How much each value of `strata` counts.

        Returns
        -------
        frame
            The columns of `per`, ``model`` if there are several, and a column for each metric.
        """
        rows = self._rows
        counts = flag("counts", counts)
        of_strata = in_strata(rows, strata_of(rows, strata, strata_weights))
        if of_strata is not None:
            rows = of_strata.rows
            check_means(rows, strata, counts=counts)
        check_apart([*rows.per, *rows.evaluated])
        columns: dict[str, list[Any]] = {}
        for number, name in enumerate(rows.per):
            columns[name] = [segment[number] for segment in rows.segments for _ in rows.models]
        if rows.several:
            columns["model"] = list(rows.models) * len(rows.segments)
        if of_strata is not None:
            columns |= of_strata.means()
        for metric in rows.evaluated if of_strata is None else ():
            if metric in rows.exposures:
                columns[metric] = values_of_items(rows, metric)
                continue
            sums = [rows.sums(segment, "metric", metric, model) for segment in rows.segments for model in rows.models]
            # If each segment is a list, its least value is its value, also if its weight is 0.
            total, weight = ("least", "lists") if rows.of_lists else ("total", "weight")
            columns[metric] = [row[total] / row[weight] if row[weight] > 0 else None for row in sums]
        if counts:
            lists = [rows.sums(segment, "lists", None, model) for segment in rows.segments for model in rows.models]
            columns |= {name: [int(counts[name]) for counts in lists] for name in ("lists", "undefined")}
        types = {**rows.types, "model": nw.String(), "lists": nw.Int64(), "undefined": nw.Int64()}
        return rows.frame({name: (values, types.get(name, nw.Float64())) for name, values in columns.items()})

    def describe(
        self,
        *,
        confidence: float = 0.95,
        strata: str | None = None,
        strata_weights: Mapping[Any, float] | None = None,
        details: bool = False,
    ) -> Frame:
        """Return the mean of each metric and model with its interval, and the spread over lists.

        The result equals ``df.rec.describe`` on all rows at once, without quantiles, because they cannot be added up.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence of the interval of the mean, between 0.5 and 1.
        strata : str, optional
            A column of the states, such as the task of a benchmark. Then the means of its values are averaged.
        strata_weights : mapping, optional
            How much each value of `strata` counts.
        details : bool, default False
            Whether to add the least and the greatest value, the share of lists with the value 0, and the number of
            lists without a value.

        Returns
        -------
        frame
            One row for each segment, metric and model: ``lists``, ``mean``, ``low``, ``high`` and ``std``.
        """
        confidence = check_confidence(confidence)
        rows = self._rows_with_values("describe")
        of_strata = in_strata(rows, strata_of(rows, strata, strata_weights))
        rows = rows if of_strata is None else of_strata.rows
        names = [(number, model) for number in range(len(rows.metrics)) for model in rows.models]
        if of_strata is None:
            parts = [rows.arrays("metric", rows.metrics[number], model) for number, model in names]
        else:
            sums_of_models = of_strata.sums_of_models()
            parts = [{name: array[row] for name, array in sums_of_models.items()} for row in range(len(names))]
        spread = [
            {"model": model, "metric": rows.metrics[number], **_described(sums, rows.range_of(number), confidence)}
            for (number, model), sums in zip(names, parts, strict=True)
        ]
        details = flag("details", details)
        shown: tuple[str, ...] = (*DESCRIBED, *DETAILS_OF_DESCRIBE) if details else DESCRIBED
        runs = MergedRuns.of(rows)
        if runs is not None:
            shown = (*DESCRIBED[:-1], RUN_COLUMNS[0], RUN_STD, *(shown[len(DESCRIBED) - 1 :] if details else ()))
            for row, (number, model), sums in zip(spread, names, parts, strict=True):
                row.update(runs.described(rows.metrics[number], model, sums, rows.range_of(number), confidence))
            runs.warn()
        columns = [name for name in shown if rows.several or name != "model"]
        return remember(_stacked(rows, spread, columns), confidence)

    def compare(
        self,
        *,
        baseline: Any = None,
        test: str = "t",
        confidence: float = 0.95,
        correction: str = "holm",
        strata: str | None = None,
        strata_weights: Mapping[Any, float] | None = None,
        margin: float | str | Mapping[str, float | str] | None = None,
        planned: int = 10_000,
        details: bool = False,
    ) -> Frame:
        """Return which models differ, as `compare` does.

        Parameters
        ----------
        baseline : str, Merged or state, optional
            The model that the others are compared with; None: all pairs that the states hold. Or other states over
            other lists, such as last month's states. Then Welch's test compares the means, not the lists. Each model is
            compared with the baseline's only model, or with its model of the same name. With details, the result has
            ``baseline_lists``, and no wins, ties and losses.
        test : {"t", "anytime", "anytime-bounded"}
            ``"anytime"`` and ``"anytime-bounded"`` allow repeated looks, such as each night after a merge. Other tests
            read the values of lists, which a state does not hold.
        confidence : float
            The confidence of the interval, between 0.5 and 1.
        correction : {"holm", "bonferroni", "bh", "none"}
            How p-values are adjusted for the number of tests.
        strata : str, optional
            A column of the states, such as the task of a benchmark. Then the differences of its values are averaged.
        strata_weights : mapping, optional
            How much each value of `strata` counts.
        margin : float, str or mapping, optional
            How much worse still counts as not worse: a number, a percentage such as ``"1%"`` of the baseline's mean, or
            one for each metric, such as ``{"ndcg@10": 0.01, "mrr": 0.02}``. A percentage needs other states as the
            baseline, because states do not hold what it needs for pairs.
        planned : int
            About how many lists the decision will need, for tests with repeated looks. Use the same number each time.
        details : bool
            Whether to add the columns behind the verdict: means, numbers of lists, unadjusted p-values.
        """
        before = _rows_of(baseline, self._rows.per)
        baseline = baseline if before is None else None
        options = Options.of(
            self._rows.segment_names, baseline=baseline, test=test, confidence=confidence, correction=correction,
            cluster=None, strata=strata, strata_weights=strata_weights, resamples=10_000, seed=0,
            interval="percentile", margin=margin, planned=planned, details=details,
        )  # fmt: skip
        _check_reads_sums(options)
        rows = self._rows_with_values("compare")
        check_looks(options, None)
        check_stratified(options)
        if options.margin is not None:
            options.margin.check({metric: rows.range_of(number) for number, metric in enumerate(rows.metrics)})
        if before is not None:
            self._runs({"other states as the baseline": True})
            if options.strata is not None:
                msg = f"`strata={strata!r}` pairs lists, and does not go with other states as the baseline"
                raise OptionError(msg, "leave one of them out")
            # If both sides hold one model without a name, no column names models.
            shown = comparison.UNPAIRED if options.details else comparison.ANSWER
            columns = [name for name in shown if rows.several or name not in ("model", "baseline")]
            return _compared(rows, unpaired(rows, before, options), columns, options)
        if options.margin is not None and options.margin.any_relative:
            msg = f"margin={margin!r} reads the products of both models' values, but a state holds no such sums"
            raise OptionError(msg, "give the margin as a number, or compare on the frames themselves")
        of_strata = in_strata(rows, options.strata)
        runs = self._runs({f"`test={test!r}`": options.test != "t"})
        pairs, arrays = self._pairs("compare", baseline, of_strata)
        upwards = [rows.definitions[rows.metrics[pair.metric]]["higher_is_better"] for pair in pairs]
        clustered = rows.definitions[rows.metrics[0]]["cluster"] is not None
        are_weighted = (_have_weights(arrays) | clustered).tolist()
        check_bounded(
            options,
            (
                (rows.metrics[pair.metric], rows.range_of(pair.metric), is_weighted)
                for pair, is_weighted in zip(pairs, are_weighted, strict=True)
            ),
        )
        options_of_pairs = options.of_pairs([rows.metrics[pair.metric] for pair in pairs])
        if runs is not None and runs.several:
            tests = runs.tested(arrays, pairs, upwards, options_of_pairs)
        else:
            tests = tested(arrays, pairs, rows.range_of, upwards, options_of_pairs)
            tests.numbers.update({} if runs is None else runs.single(arrays["lists"].shape))
        correct([tests], options)
        numbers = (row_of(tests.numbers, number, higher_is_better=up) for number, up in enumerate(upwards))
        named = [{**row, **self._names(pair)} for row, pair in zip(numbers, pairs, strict=True)]
        shown = comparison.COLUMNS if options.details else comparison.ANSWER
        if runs is not None:
            if options.details:
                shown = (*shown[: -len(comparison.LAST)], *comparison.RUN_COLUMNS, *comparison.LAST)
            runs.warn()
        return _compared(rows if of_strata is None else of_strata.rows, named, shown, options)

    def sample_size(
        self,
        *,
        difference: float | str,
        power: float = 0.8,
        tests: int | None = None,
        confidence: float = 0.95,
        baseline: str | None = None,
    ) -> Frame:
        """Return how many lists it takes to find a difference between models, as `sample_size` does.

        Parameters
        ----------
        difference : float or str
            The true difference to find: a number, or a percentage such as ``"2%"`` of the baseline's mean.
        power : float
            The probability to find it, below 1.
        tests : int, optional
            How many tests the decision will have, which Bonferroni's correction counts; None: the rows of this call.
        confidence : float
            The confidence of the comparison, between 0.5 and 1.
        baseline : str, optional
            The model that the others are compared with; None: all pairs that the states hold.
        """
        options = SizeOptions.of(
            None,
            difference=difference,
            power=power,
            tests=tests,
            confidence=confidence,
            baseline=baseline,
            cluster=None,
        )
        rows = self._rows_with_values("sample_size")
        self._runs({"sample_size": True})
        pairs, arrays = self._pairs("sample_size", baseline)
        differences = paired.statistics(arrays)
        pilot = Pilot.of_sums([self._names(pair) for pair in pairs], rows.reported(), differences, arrays, options)
        clustered = any(rows.definitions[metric]["cluster"] is not None for metric in rows.metrics)
        return _stacked(rows, pilot.rows(options), COLUMNS_OF_SIZE if clustered else COLUMNS_OF_SIZE[:-1])

    def _pairs(
        self, call: str, baseline: Any, of_strata: StratifiedRows | None = None
    ) -> tuple[list[Pair], dict[str, Any]]:
        """Return the pairs of models that all states hold, for each metric, and their sums."""
        rows = self._rows_with_values(call)
        if len(rows.models) == 1:
            msg = f"{call} needs two models, but the states have one"
            raise OptionError(msg, "state(..., score=['old', 'new']) on frames that hold both models")
        wanted = model_pairs(rows.models, baseline, call)
        available = [pair for pair in wanted if rows.holds_pair(*pair)]
        if baseline is not None and len(available) < len(wanted):
            other = rows.models[next(model for model, base in wanted if (model, base) not in available)]
            msg = f"not all states compare {other!r} with {baseline!r}"
            raise OptionError(msg, f"state(..., score=[...], baseline={baseline!r}) on frames that hold both models")
        if not available:
            msg = "no two models are compared by all states"
            raise OptionError(msg, "state(..., score=['old', 'new']) on frames that hold both models")
        pairs = [Pair(number, *pair) for number in range(len(rows.metrics)) for pair in available]
        named = [(rows.metrics[pair.metric], pair.model, pair.baseline) for pair in pairs]
        if of_strata is not None:
            return pairs, of_strata.sums_of_pairs(named)
        sums = [rows.pair(*pair) for pair in named]
        return pairs, {name: np.array([sums_of_pair[name] for sums_of_pair in sums]) for name in sums[0]}

    def rank_models(
        self, *, confidence: float = 0.95, resamples: int = 10_000, seed: int = 0, details: bool = False
    ) -> Frame:
        """Return the rank of each model with the ranks that it may have.

        The result equals ``df.rec.rank_models`` on all rows at once.

        Parameters
        ----------
        confidence : float, default 0.95
            The probability that all models of a metric and segment have a true rank within their interval.
        resamples : int, default 10,000
            How many draws estimate the chance distribution of the largest statistic.
        seed : int, default 0
            The seed of the draws.
        details : bool, default False
            Whether to add ``shrunk``, what to expect of the model with other lists.

        Returns
        -------
        frame
            One row for each segment, metric and model: the mean, the rank, and the interval of ranks.
        """
        options = RankOptions.of(
            None, confidence=confidence, cluster=None, resamples=resamples, seed=seed, details=details
        )
        rows = self._rows_with_values("rank_models")
        runs = MergedRuns.of(rows)
        statistics = ranks_of_states(rows, options, runs)
        if runs is not None:
            runs.warn()
        return remember(_stacked(rows, statistics, options.columns), options.confidence)

    def _runs(self, refused: Mapping[str, bool]) -> MergedRuns | None:
        """Return the runs of the states, None if they hold none; raise for arguments that do not go with runs."""
        runs = MergedRuns.of(self._rows)
        if runs is not None:
            runs.refuse(refused)
        return runs

    def _names(self, pair: Pair) -> dict[str, Any]:
        """Return the metric and the two models of a pair, as columns of a result."""
        models = {"model": self._rows.models[pair.model], "baseline": self._rows.models[pair.baseline]}
        return {"metric": self._rows.metrics[pair.metric], **models}

    def _rows_with_values(self, call: str) -> Rows:
        """Return the rows for a call that needs a value per list, or raise if no metric has one."""
        if not self._rows.metrics:
            msg = f"{call} needs a value per list, but {self._rows.exposures[0]} is one value of all lists together"
            raise OptionError(msg, "look at evaluate()")
        return _with_checked_clusters(self._rows)

    def state(self) -> Frame:
        """Return the merged state as a frame, to store it or to merge it again.

        Merge the states of a month into one, keep this frame as a Parquet file, and merge the months into a year later.
        The result of a merge does not depend on the order of the states or on how you group them.

        Returns
        -------
        frame
            Of the library that the states have, in the format that `recframe.merge_states` reads.
        """
        rows = self._rows
        types = {**rows.types, **TYPES}
        columns = rows.columns()
        return rows.frame({name: (columns[name], types[name]) for name in (*rows.per, *COLUMNS)})


for _name in CALLS:
    setattr(Merged, _name, checked_call(getattr(Merged, _name)))


def _compared(rows: Rows, statistics: Sequence[Mapping[str, Any]], columns: Sequence[str], options: Options) -> Frame:
    """Return the frame of a comparison, and remember what gates read."""
    frame = nw.from_native(_stacked(rows, statistics, (*columns, *P_OF_DEMANDS.values())), eager_only=True)
    answer = frame[:, [number for number, name in enumerate(frame.columns) if name not in P_OF_DEMANDS.values()]]
    return remember(answer.to_native(), options.confidence, partial(options.claims, frame))


def _stacked(rows: Rows, statistics: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Frame:
    """Return a frame with a row for each segment and each of the results, in this order."""
    check_apart([*rows.per, *columns])
    made = stacked(rows.reported(), statistics, columns)
    order = [
        len(rows.segments) * row + segment for segment in range(len(rows.segments)) for row in range(len(statistics))
    ]
    names = {INTERNAL.format(name): name for name in columns}
    table = made[order].rename(names)
    # Select by position, because a label of pandas need not be text.
    table = table[:, [table.columns.index(name) for name in (*rows.per, *columns)]]
    return nw.maybe_reset_index(table).to_native()


def _rows_of(baseline: Any, per: Sequence[str]) -> Rows | None:
    """Return the rows of a baseline that is a state or merged states; None if it is the name of a model."""
    state = baseline.state() if isinstance(baseline, Merged) else baseline
    return _with_checked_clusters(read_states([state], per)) if is_frame(state) else None


def _with_checked_clusters(rows: Rows) -> Rows:
    """Return rows unchanged, or raise if their clusters give no interval."""
    cluster = rows.definitions[rows.metrics[0]]["cluster"] if rows.metrics else None
    if cluster is not None:
        sums = [rows.arrays("metric", metric, model) for metric in rows.metrics for model in rows.models]
        lists, clusters = ([row[name] for row in sums] for name in ("lists", "clusters"))
        check_clusters(cluster, rows.per, lists, clusters)
    return rows


def _check_reads_sums(options: Options) -> None:
    """Raise for a test or a correction that reads the values of lists."""
    if options.test not in TESTS_OF_SUMS:
        msg = f"test={options.test!r} reads the values of lists, but a state holds only their sums"
        raise OptionError(msg, "test='t', or compare on the frames themselves")
    if options.correction in SIMULTANEOUS:
        msg = f"correction={options.correction!r} reads the values of lists, but a state holds only their sums"
        raise OptionError(msg, "correction='holm', or compare on the frames themselves")


def _have_weights(arrays: Mapping[str, Any]) -> Any:
    """Return for each pair of models whether the weights of its lists differ from 1."""
    # Only weights of 1 add up, as their squares do, to the number of lists.
    lists = arrays["lists"]
    return ((lists != arrays["weight"]) | (lists != arrays["weight_squares"])).any(axis=1)


def _described(sums: Mapping[str, Any], bounds: tuple[float, float], confidence: float) -> dict[str, Any]:
    """Return the statistics of a metric in each segment."""
    totals = paired.statistics(sums, rounding=0)
    effective = sums.get("effective")
    if effective is None:
        totals = without_spread(totals, sums["least"] == sums["greatest"])
        effective = totals.units
    low, high = intervals_of_means(totals, confidence, bounds, negative=sums["negative"], fractions=sums["fractions"])
    with np.errstate(invalid="ignore", divide="ignore"):
        zeros = np.where(sums["lists"] > 0, sums["zeros"] / sums["lists"], np.nan)
    return {
        "lists": sums["lists"],
        "mean": totals.mean,
        "std": totals.standard_deviation,
        "effective": effective,
        "zeros": zeros,
        "min": sums["least"],
        "max": sums["greatest"],
        "undefined": sums["undefined"],
        "low": low,
        "high": high,
    }
