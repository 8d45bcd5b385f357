"""What the profile says of TorchMetrics' options, where an interpreter has it."""

from __future__ import annotations

import subprocess

import pytest

import environments
import recframe  # noqa: F401 - registers .rec

CODE = """
import torch
from torchmetrics.retrieval import RetrievalAUROC
rows = torch.tensor([0.9, 0.8, 0.7, 0.6]), torch.tensor([1, 1, 1, 0])
print([float(RetrievalAUROC(empty_target_action=action)(*rows, indexes=torch.tensor([0, 0, 1, 1])))
       for action in ("skip", "pos", "neg")])
"""


def test_a_list_without_a_pair_counts_0_under_each_action():
    own = environments.interpreters().get("torchmetrics")
    if own is None:
        pytest.skip("no interpreter has torchmetrics")
    done = subprocess.run([own, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[0.5, 0.5, 0.5]"


SCORED = """
import torch
from torchmetrics import retrieval
rows = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([0, 1, 0])
kinds = retrieval.RetrievalPrecision, retrieval.RetrievalHitRate, retrieval.RetrievalMRR, retrieval.RetrievalMAP
print([float(kind(empty_target_action="skip")(*rows, indexes=torch.tensor([0, 0, 1]))) for kind in kinds])
"""


def test_a_list_without_a_scored_relevant_item_is_empty_there():
    polars = pytest.importorskip("polars")
    truth = polars.DataFrame({"user": [0, 1], "item": ["b", "d"]})
    frame = polars.DataFrame({"user": [0, 0, 1], "item": ["a", "b", "c"], "score": [0.9, 0.8, 0.7]})
    names = ["precision", "hit_rate", "mrr", "map"]
    ours = frame.rec.evaluate(names, truth=truth, like="torchmetrics", undefined="skip")
    assert ours.row(0) == (0.25, 0.5, 0.25, 0.25)
    own = environments.interpreters().get("torchmetrics")
    if own is not None:
        done = subprocess.run([own, "-c", SCORED], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[0.5, 1.0, 0.5, 0.5]"
