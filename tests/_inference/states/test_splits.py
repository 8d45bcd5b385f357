"""Any frame, split in any way: stored states and ``partitions=`` say what one call on all lists says."""

import random
import warnings
from inspect import signature

import narwhals as nw
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
from engines import ENGINES
from recframe._base.roles import CALL_ROLES
from recframe._engines.registry import adapter_of
from strategies import examples
from tests._inference.states.test_state import KINDS, METRICS, MODELS, assert_same, plain, sample

LISTS = 14
OTHERS = ["map", "ndcg@1", "roc_auc", "r_precision", "novelty@2", "serendipity@2", "diversity@2", "calibration"]
TOGETHER = ["coverage@2", "mrr", "gini@2", "gini(denominator=n-1)@3", "entropy", "personalization@2"]
SPREAD = ["metric", "model", "lists", "mean", "std", "effective", "min", "max", "zeros", "undefined", "low", "high"]


def own_items(rows):
    """Let some items be in few lists only, so that parts lack them."""
    return [{**row, "item": row["item"] if (row["user"] or 0) % 4 else f"own {row['item']}"} for row in rows]


def long(rows):
    """Put the models below each other."""
    return [{**row, "model": model, "score": row[model]} for row in rows for model in MODELS]


def served(rows):
    """Leave out lists that only the truth knows."""
    return [row for row in rows if row["user"] not in (4, 9)]


def served_long(rows):
    return long(served(rows))


def judged(rows):
    return rows


def relevant(rows):
    """Leave out lists that the truth does not know."""
    return [row for row in rows if row["relevant"]]


def bought(_):
    """Return what users bought before, of whichever part the rows are."""
    return [{"user": user, "item": f"i{(user + step) % 6}"} for user in range(LISTS + 2) for step in range(user % 4)]


def described(_):
    return [{"item": f"i{item}", "size": item / 3, "red": float(item % 2)} for item in range(5)]


COLUMNS = {"truth": ["user", "item", "relevant", "day"], "train": ["user", "item"], "features": ["item", "size", "red"]}
WIDE, LONG = [*KINDS], [*KINDS, "model", "score"]
ALL_KINDS = KINDS | {"model": "str", "score": "float64", "size": "float64", "red": "float64"}
SIDE = {"train": bought, "features": described}
ITEMS, LONG_ITEMS = {"items": True, "rows": own_items}, {"items": True, "rows": long, "model": "model"}
CATALOGS = {
    "of the frames": {"per": "day"},
    "counted": {"catalog": 40},
    "named": {"catalog": ["i0", "i1", "i3", "other"]},
}
CASES = {
    "plain": (METRICS, {}),
    "per": (METRICS, {"per": "day"}),
    "per key": (METRICS, {"per": "user"}),
    "per two": (METRICS, {"per": ["day", "user"]}),
    "cluster": (METRICS, {"cluster": "visitor"}),
    "weight": (METRICS, {"weight": "weight"}),
    "weight per key": (METRICS, {"weight": "weight", "per": "user"}),
    "all": (METRICS, {"per": "day", "cluster": "visitor", "weight": "weight", "undefined": 0.0}),
    "truth": (METRICS, {"rows": served, "truth": relevant}),
    "truth per": (METRICS, {"rows": served, "truth": judged, "per": "day"}),
    "unknown segments": (METRICS, {"rows": served, "truth": relevant, "per": "day"}),
    "long": (METRICS, {"rows": long, "model": "model"}),
    "long truth": (METRICS, {"rows": served_long, "truth": relevant, "model": "model"}),
    "long truth per": (METRICS, {"rows": served_long, "truth": judged, "model": "model", "per": "day"}),
    "long unknown segments": (
        METRICS,
        {"rows": served_long, "truth": relevant, "model": "model", "per": "day"},
    ),
    "side": (OTHERS, SIDE),
    "side per": (OTHERS, {**SIDE, "per": "day"}),
    "items per key": (TOGETHER, {**ITEMS, "per": "user"}),
    "items side": (TOGETHER, {**ITEMS, **{name: role for name, role in SIDE.items() if name != "train"}}),
    "items truth": (TOGETHER, {**LONG_ITEMS, "rows": served_long, "truth": relevant, "per": "day"}),
    **{f"items, {name}": (TOGETHER, {**ITEMS, **roles}) for name, roles in CATALOGS.items()},
    **{f"items alone, {name}": (["coverage@1"], {**ITEMS, **roles}) for name, roles in CATALOGS.items()},
    **{f"items long, {name}": (TOGETHER, {**LONG_ITEMS, **roles}) for name, roles in CATALOGS.items()},
}
"""The metrics and roles of each; a role that is a function makes its table of the rows."""


def call_of(engine, rows, case):
    """Return the frame of rows and the roles of a case."""
    roles = {"rows": judged, **CASES[case][1]}
    roles |= {} if "model" in roles else {"score": MODELS}
    tables = {name: role(rows) for name, role in roles.items() if callable(role)}
    for name, table in tables.items():
        columns = COLUMNS.get(name, LONG if "model" in roles else WIDE)
        roles[name] = engine.frame({column: [row[column] for row in table] for column in columns}, ALL_KINDS)
    return roles.pop("rows"), roles


def state_of(engine, rows, case):
    """Return the state of a part, computed once for several merges."""
    frame, roles = call_of(engine, rows, case)
    with engine.running(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = nw.from_native(recframe.rec(frame).state(CASES[case][0], **roles))
        return (state.collect() if isinstance(state, nw.LazyFrame) else state).to_native()


def ask(engine, rows, case, call, **more):
    """Return what a call says of all rows."""
    frame, roles = call_of(engine, rows, case)
    accepted = {*CALL_ROLES[call], *signature(getattr(recframe.rec(frame), call)).parameters}
    roles = {name: role for name, role in roles.items() if name in accepted}
    return in_order(engine.ask(frame, call, CASES[case][0], **roles, **more))


def in_order(rows):
    names = ("day", "user", "model", "baseline", "metric")
    return sorted(rows, key=lambda row: [str(row.get(name)) for name in names])


def split(rows, draw, most):
    """Split the lists at random; who is served nothing is in a part with others, since a part needs a model."""
    parts = draw.randint(1, most)
    part_of = {user or None: draw.randrange(parts) for user in range(LISTS)}
    part_of |= dict.fromkeys((4, 9), part_of[3])
    return [[row for row in rows if part_of[row["user"]] == part] for part in {*part_of.values()}]


@pytest.mark.parametrize("case", CASES)
@examples(4)
@given(st.integers(0, 2**32 - 1))
def test_any_split_adds_up_to_the_whole(engine, case, seed):
    """Of stored states and of ``partitions=``; a list in two parts is refused."""
    pytest.importorskip("scipy")
    draw = random.Random(f"{engine} {case} {seed}")
    rows = sample(draw.random(), LISTS)
    parts = split(rows, draw, most=5 if engine.share == 1 else 2)
    states = [state_of(engine, part, case) for part in parts]
    merged, expected = recframe.merge_states(states), ask(engine, rows, case, "evaluate")
    again = recframe.merge_states(recframe.merge_states(states[:2]).state(), *states[2:])
    for each in (merged, again):
        assert_same(in_order(plain(each.evaluate())), expected)
    if CASES[case][0] not in (TOGETHER, ["coverage@1"]):
        assert_same(in_order(plain(merged.describe(details=True))), ask(engine, rows, case, "describe"), SPREAD)
        assert_same(in_order(plain(merged.compare(details=True))), ask(engine, rows, case, "compare"))
    with pytest.raises(recframe.InputError, match="1 list is in two states"):
        recframe.merge_states(*states, state_of(engine, [row for row in rows if row["user"] == 1], case))
    if engine.name == "polars":
        engine = ENGINES["polars lazy"].engine
    if adapter_of(engine.frame(rows, ALL_KINDS)).reads_parts:
        assert_same(ask(engine, rows, case, "evaluate", partitions=draw.randint(1, 7)), expected)
