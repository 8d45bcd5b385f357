"""The areas under the ROC and the precision-recall curve equal their oracle, on every engine."""

from __future__ import annotations

import pytest

from compare import assert_oracle
from spellings import spellings_of
from strategies import shop

LABELS = [label for name in ("roc_auc", "gauc", "pr_auc") for label in spellings_of(name, (1, 2, 3, 9, None))]


@pytest.mark.parametrize("ties", ["average", "best", "worst"])
@pytest.mark.parametrize("grades", [(0, 0, 0, 1, 2, 3, -1), (0, 1)], ids=["graded", "binary"])
def test_every_list(engine, ties, grades):
    labels = [*LABELS, "pr_auc(points=thresholds,over=ranked)"]
    if ties != "average":
        labels = [label for label in labels if "@" not in label and "points" not in label]
    assert_oracle(engine, shop(f"auc {ties} {grades}", 250, grades=grades), labels, ties)


def test_rows_that_tie_together_cannot_be_ordered(engine):
    frame = engine.frame([{"user": 1, "item": 1, "relevant": 1, "score": 1.0}])
    with pytest.raises(ValueError, match=r"ties='best' orders tied rows, but pr_auc\(points=thresholds\) takes them"):
        engine.ask(frame, "pr_auc", points="thresholds", ties="best")
