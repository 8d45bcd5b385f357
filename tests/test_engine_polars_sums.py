"""The sums over the rows before each row are those of the window."""

from __future__ import annotations

import random

import pytest

pl = pytest.importorskip("polars")
testing = pytest.importorskip("polars.testing")

from recframe._engines.polars_sums import sums_before  # noqa: E402 - needs polars


@pytest.mark.parametrize("longest", [0, 1, 2, 3, 4, 5, 17])
def test_sums_before_each_row(longest):
    rng = random.Random(longest)
    users = [user for user in [None, *range(9)] for _ in range(rng.randint(0, longest))] + [10] * longest
    rows = [(user, "ab"[place % 2], rng.random(), rng.random(), place) for place, user in enumerate(users)]
    rng.shuffle(rows)
    schema = {"user": pl.Int64, "day": pl.String, "x": pl.Float64, "y": pl.Float64, "place": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    for keys in (["user"], ["user", "day"]):
        found = sums_before(frame, {"before_x": "x", "before_y": "y"}, keys, "place")
        before = {f"before_{name}": pl.col(name).cum_sum().over(keys, order_by="place") - pl.col(name) for name in "xy"}
        expected = frame.with_columns(**before)
        testing.assert_frame_equal(found.sort("place"), expected.sort("place"), check_column_order=False)
