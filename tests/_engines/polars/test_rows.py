"""Rows of polars frames, sorted as polars sorts them by several columns at once."""

import itertools
import random

import pytest

pl = pytest.importorskip("polars")

from recframe._engines.polars.columns import sorted_rows  # noqa: E402 - needs polars
from recframe._engines.polars.runs import ordered_ties  # noqa: E402 - needs polars

COLUMNS = {
    "numbers": [3, None, 1, 2, 1],
    "floats": [0.5, None, -0.0, 0.0, float("nan")],
    "texts": ["b", None, "a", "ab", "a"],
    "flags": [True, None, False, True, False],
    "lists": [[2], None, [1, 2], [], [1]],
    "structs": [{"a": 1}, {"a": None}, {"a": 2}, {"a": 0}, {"a": 1}],
}


@pytest.mark.parametrize("names", [*itertools.product(COLUMNS, repeat=2)])
def test_sorted_rows_are_those_of_polars(names, monkeypatch):
    monkeypatch.setattr("recframe._engines.polars.columns.FEW_ROWS", 0)
    draw = random.Random(str(names))
    for _ in range(5):
        columns = [pl.Series(str(place), draw.choices(COLUMNS[name], k=9)) for place, name in enumerate(names)]
        if any(column.dtype == pl.Null for column in columns):
            continue
        frame = pl.DataFrame([*columns, pl.Series("row", range(9))])
        expected = frame.sort("0", "1", nulls_last=True, maintain_order=True)
        # Names that are patterns to polars.
        named = frame.rename({"0": "^0$", "1": "^1$"})
        assert sorted_rows(named, ["^0$", "^1$"])["row"].to_list() == expected["row"].to_list()


def test_tied_rows_are_sorted_if_only_rows_within_a_block_differ():
    # The first row of the second block has the value of the row before it.
    frame = pl.DataFrame({"block": [1, 1, 2, 2, 3], "value": [1, 1, 1, 0, 0], "row": range(5)})
    assert ordered_ties(frame, ["block"], ["value"])["row"].to_list() == [0, 1, 3, 2, 4]
