"""Runs a measurement of `benchmarks.child` in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def ask(name: str, *, python: str = sys.executable, **arguments: Any) -> Any:
    """Run one measurement in a fresh process and return what it found."""
    command = [python, "-m", "benchmarks.child", name, json.dumps(arguments)]
    # What is measured is this source, whatever the other environment has.
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])
