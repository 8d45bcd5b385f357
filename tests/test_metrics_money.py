"""Money metrics equal their oracle, on every engine."""

from __future__ import annotations

import pytest

from compare import assert_oracle
from spellings import spellings_of
from strategies import shop

CUTOFFS = (1, 2, 3, 9, None)


@pytest.mark.parametrize("grades", [(0, 0, 0, 1, 2, 3, -1), (0, 1)], ids=["graded", "binary"])
def test_every_list(engine, grades):
    labels = [label for name in ("money_precision", "money_recall") for label in spellings_of(name, CUTOFFS)]
    assert_oracle(engine, shop(f"money {grades}", 250, grades=grades), labels)


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_bounds_where_relevance_is_yes_or_no(engine, ties):
    assert_oracle(engine, shop(f"money {ties}", 250, grades=(0, 1)), spellings_of("money_recall", CUTOFFS), ties)


def test_a_missing_column_of_values_is_named(engine):
    if engine.lazy:
        pytest.skip("needs the data")
    frame = engine.frame([{"user": 1, "item": 1, "relevant": 4, "score": 1.0}])
    with pytest.raises(KeyError, match="value='price': the frame has no such column"):
        engine.ask(frame, "evaluate", ["money_recall"])
