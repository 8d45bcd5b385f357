"""Position bias from clicks: the probability that an item at a position is examined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from recframe._base.columns import ITEM, RELEVANCE, SCORE
from recframe._data.common import count_of, query_of_frames
from recframe._data.top import with_single_order
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import open_frames
from recframe._plan.query import check_apart
from recframe._plan.sources import item_spec, key_specs, score_specs, with_list_key
from recframe.errors import InputError, OptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recframe._plan.query import Query
    from recframe._plan.request import Request

OTHER = "other"
OTHER_RATE = "other rate"
RATE = "rate"
CLICK = "click"
PAIRS = "pairs"
ESTIMATE = "propensity"
MOST_STEPS = 200
"""The largest number of steps of Newton's method."""
CONVERGED = 1e-12
"""Newton's method ends when the logarithms change by less."""


def position_bias(request: Request, k: Any) -> Any:
    """Return how likely each position is examined; see `Rec.position_bias`."""
    k = None if k is None else count_of("k", k)
    query = with_single_order(query_of_frames("position_bias", request), "position_bias")
    if not query.by_rank:
        msg = f"position_bias reads the positions at which items were shown, not score={query.orders[0]!r}"
        raise OptionError(msg, "rank='position', the column that holds them")
    check_apart([query.orders[0], ESTIMATE, PAIRS])

    return _result(request.frame, query, *_compare_positions(request.frame, query, k)).to_native()


class _Comparisons(NamedTuple):
    """Comparisons of positions by the items that were shown at both."""

    positions: NDArray[Any]
    rates: NDArray[Any]
    """For each pair of positions, the sum of the items' click rates at the first position."""
    counts: NDArray[Any]
    """For each pair of positions, the number of items."""


def _compare_positions(frame: Any, query: Query, k: int | None) -> _Comparisons:
    """Return the comparisons of all pairs of positions in a log.

    An item of a list that is shown at a position several times has the share of these times in which it is clicked.
    """
    specs = {
        **key_specs(query),
        **item_spec(query),
        **score_specs(query),
        RELEVANCE: ColumnSpec(query.relevant, "relevant", "relevance"),
    }
    session = open_frames({"frame": Source(frame, specs)}, {})
    engine = session.engine
    rows, keys = with_list_key(session.frames["frame"], key_specs(query))
    rows = engine.drop_missing(rows, SCORE)
    rows = rows if k is None else rows.filter(nw.col(SCORE) <= k)
    rows = rows.with_columns((nw.col(RELEVANCE).fill_null(0) > 0).cast(nw.Float64()).alias(CLICK))
    rates = rows.group_by(*keys, ITEM, SCORE).agg(nw.col(CLICK).mean().alias(RATE))
    rates = engine.collect_once(rates.select(*keys, ITEM, nw.col(SCORE).cast(nw.Float64()), RATE))
    pairs = engine.join(rates, rates.rename({SCORE: OTHER, RATE: OTHER_RATE}), [*keys, ITEM])
    pairs = pairs.with_columns(nw.lit(1.0).alias(PAIRS))
    sums = engine.collected(engine.sum_exactly(pairs, [SCORE, OTHER], [RATE, PAIRS]))
    first, second, rate, count = (sums[name].to_numpy() for name in (SCORE, OTHER, RATE, PAIRS))
    positions = np.unique(first)
    pair = np.searchsorted(positions, first), np.searchsorted(positions, second)
    rates_of, counts = np.zeros((2, len(positions), len(positions)))
    rates_of[pair] = rate
    counts[pair] = count
    np.fill_diagonal(rates_of, 0)
    np.fill_diagonal(counts, 0)
    return _Comparisons(positions, rates_of, counts)


def _result(
    frame: Any, query: Query, positions: NDArray[Any], rates: NDArray[Any], counts: NDArray[Any]
) -> nw.DataFrame[Any]:
    """Return a row for each position, as an eager frame of the library of the log."""
    log = nw.from_native(frame)
    schema = log.collect_schema()
    name = query.orders[0]
    integer_if_possible = nw.Int64() if (positions % 1 == 0).all() else nw.Float64()
    kind = schema[name] if name in schema and schema[name].is_numeric() else integer_if_possible
    backend = nw.get_native_namespace(log)
    result = nw.new_series(name, positions, nw.Float64(), backend=backend).cast(kind)
    examined = nw.new_series(ESTIMATE, _examined(rates), nw.Float64(), backend=backend).fill_nan(None)
    pairs = nw.new_series(PAIRS, counts.sum(axis=1), nw.Float64(), backend=backend).cast(nw.Int64())
    return result.to_frame().with_columns(examined, pairs)


def _examined(rates: NDArray[Any]) -> NDArray[Any]:
    """Return the propensities of positions from their click rates, the largest 1; NaN if they are unknown.

    Among the clicks on items that were shown at positions i and j, the share of clicks at i is pᵢ / (pᵢ + pⱼ). This is
    Bradley and Terry's model. Its likelihood has one maximum if clicks at both positions link the positions.
    """
    linked = (rates > 0) & (rates.T > 0)
    reached = np.zeros(len(rates), dtype=bool)
    if len(rates):
        if not linked.any():
            msg = "no item of a list is shown at two positions and clicked at both, so their bias is unknown"
            raise InputError(msg, "give a log in which positions of the same item of the same list vary")
        reached[linked.any(axis=1).argmax()] = True
    while (more := linked[reached].any(axis=0) & ~reached).any():
        reached |= more
    of_reached = rates[np.ix_(reached, reached)]
    both = of_reached + of_reached.T
    logs = np.zeros(len(of_reached))
    for _ in range(MOST_STEPS):
        shares = 1 / (1 + np.exp(logs[None, :] - logs[:, None]))
        slopes = (of_reached - both * shares).sum(axis=1)
        curvature = both * shares * (1 - shares)
        # The first logarithm stays 0, because only the differences of logarithms matter.
        step = np.zeros(len(of_reached))
        step[1:] = np.linalg.solve(np.diag(curvature.sum(axis=1))[1:, 1:] - curvature[1:, 1:], slopes[1:])
        logs += step / max(1.0, np.abs(step).max(initial=0.0))
        if np.abs(step).max(initial=0.0) < CONVERGED:
            break
    examination = np.full(len(rates), np.nan)
    examination[reached] = np.exp(logs - logs.max(initial=-np.inf)) if len(of_reached) else 0
    return examination
