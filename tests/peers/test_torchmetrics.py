"""What the profile says of TorchMetrics' options, where an interpreter has it."""

from __future__ import annotations

import subprocess

import pytest

import environments

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
