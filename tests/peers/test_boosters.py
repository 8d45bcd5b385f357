"""Boosters, trained on a small ranking set: the metrics that they report of their model against ours."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import environments
import recframe  # noqa: F401 - registers .rec

TRAIN = Path(__file__).with_name("boosters.py")


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_values_of_a_trained_model(library, tmp_path):
    polars = pytest.importorskip("polars")
    python = environments.interpreters().get(library)
    if python is None:
        pytest.skip(f"no interpreter has {library}: see tests/peers/environments.py")
    done = subprocess.run(
        [python, "-W", "ignore", str(TRAIN), library],
        capture_output=True, text=True, check=False, env=environments.ENV, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    text = json.loads(done.stdout.strip().splitlines()[-1])
    group = [number for number, size in enumerate(text["sizes"]) for _ in range(size)]
    frame = polars.DataFrame({"user": group, "relevant": text["grades"], "score": text["scores"]})
    # Trees of few leaves leave many scores equal.
    assert frame.n_unique(["user", "score"]) < frame.height
    result = frame.rec.evaluate(list(text["values"]), like=library).row(0, named=True)
    assert result == pytest.approx(text["values"], rel=0, abs=1e-12)
