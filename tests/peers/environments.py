"""Environments for the libraries that cannot be installed with the newest pandas and NumPy, or are too large for every one.

``python environments.py make DIRECTORY [NAME ...]`` makes them, ``python environments.py record [LIBRARY ...]`` writes
``recorded.json`` from every library (of those named) that some interpreter has: this one, or one below the directory
named by RECFRAME_PEERS.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from cases import CASES, OF_LIBRARY, crowds  # noqa: E402

THEIRS = HERE / "theirs.py"
RECORDED = HERE / "recorded.json"
ENV = {**os.environ, "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"}
"""The environment of a process that has a library and not recframe."""

OLD = ("numpy==1.26.4", "pandas==2.3.3", "scikit-learn>=1.5")
OLDER: tuple[tuple[str, ...], ...] = (
    (*OLD, "RecTools==0.19.0"),
    # Its metrics need none of the models that its other requirements are for.
    ("--no-deps", "recommenders==1.2.1"),
    ("recometrics==0.1.6.post13",),
    # A build without CUDA, which is a tenth of the size of the others; not every index has one.
    (*OLD, "torch==2.13.0+cpu", "torchmetrics==1.9.0"),
    (*OLD, "torch==2.13.0+cpu", "sentence-transformers==6.2.0"),
    (*OLD, "evidently==0.7.23"),
    # The part of MLflow without a server.
    (*OLD, "mlflow-skinny==3.17.2"),
    (*OLD, "replay-rec==0.22.0"),
    (*OLD, "pyspark==4.3.0"),
)
BOOSTERS: tuple[tuple[str, ...], ...] = (
    ("lightgbm==4.7.0",),
    # A build without CUDA.
    ("xgboost-cpu==3.2.0",),
    # CatBoost requires more, for pictures.
    ("pandas>=2.2", "six>=1.16"),
    ("--no-deps", "catboost==1.2.10"),
)
OTHERS: tuple[tuple[str, ...], ...] = (("ir-measures==0.4.3",), ("llama-index-core==0.14.25",))
ENVIRONMENTS = {"older": OLDER, "boosters": BOOSTERS, "others": OTHERS}
"""What is installed in each, one after the other; where one fails, the recorded values replace its libraries."""
LARGE = {
    "recbole": (("numpy==1.26.4", "torch==2.13.0+cpu"), ("recbole==1.2.1",)),
    "tensorflow_ranking": (("numpy<2", "tensorflow-cpu==2.15.1"), ("--no-deps", "tensorflow-ranking==0.5.5")),
    "lenskit": (("lenskit==2026.4.0",),),
}
"""Gigabytes, each in an environment of its own, which ``make DIRECTORY NAME ...`` makes where it is requested to."""
LEAST = {"lenskit": (3, 12, 5)}
"""The oldest Python of an environment, where this one may be too old."""


def make(directory: Path, names: Sequence[str]) -> None:
    """Make the environments of those names."""
    for name in names:
        python = python_of(LEAST.get(name, (3,)))
        if python is None:
            sys.stderr.write(f"no Python {'.'.join(map(str, LEAST[name]))} for {name}\n")
        else:
            install(directory / name, (ENVIRONMENTS | LARGE)[name], python=python)


def python_of(least: tuple[int, ...]) -> str | None:
    """Return this Python or a newer one that is at least of a version and runs, or None."""
    asked = "import sys; sys.exit(sys.version_info < (" + "".join(f"{part}," for part in least) + "))"
    for name in (sys.executable, "python3.12", "python3.13", "python3.14"):
        python = which(name)
        if python and not subprocess.run([python, "-c", asked], capture_output=True, check=False).returncode:
            return python
    return None


def install(environment: Path, steps: Sequence[Sequence[str]], *, python: str = sys.executable) -> None:
    """Make an environment and install in it, step by step; a step that fails is left out."""
    subprocess.run([python, "-m", "venv", str(environment)], check=True)
    own = environment / "bin" / "python"
    for step in steps:
        done = subprocess.run([str(own), "-m", "pip", "install", "--quiet", *step], check=False)
        if done.returncode:
            sys.stderr.write(f"could not install {' '.join(step)}: there is no comparison with it as it runs\n")


@cache
def interpreters() -> dict[str, str]:
    """Return an interpreter for each library that one of them has."""
    result: dict[str, str] = {}
    directory = os.environ.get("RECFRAME_PEERS")
    others = sorted(Path(directory).glob("*/bin/python")) if directory else []
    for python in (sys.executable, *map(str, others)):
        done = subprocess.run(
            [python, "-W", "ignore", str(THEIRS), "--has"], capture_output=True, text=True, check=True
        )
        for library in done.stdout.split():
            result.setdefault(library, python)
    return result


def compute(library: str, cases: dict[str, dict]) -> dict | None:
    """Return what a library computes for some cases, or None where no interpreter has it."""
    python = interpreters().get(library)
    if python is None:
        return None
    # Warnings of the libraries are no concern here.
    done = subprocess.run(
        [python, "-W", "ignore", str(THEIRS), library],
        input=json.dumps(cases), capture_output=True, text=True, check=False,
        env=ENV,
    )  # fmt: skip
    if done.returncode:
        msg = f"{python} failed on {library}:\n{done.stderr[-3000:]}"
        raise RuntimeError(msg)
    return json.loads(done.stdout.strip().splitlines()[-1])


def digest(case: dict) -> str:
    """Return what a case is recognised by."""
    return hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()[:16]


def record(libraries: Sequence[str]) -> None:
    """Write what the libraries compute; those that no interpreter has keep what is written."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    for library in libraries:
        requested = {name: CASES[name] for name in OF_LIBRARY[library]} | crowds(library)
        result = compute(library, requested)
        if result is None:
            sys.stderr.write(f"no interpreter has {library}\n")
            continue
        cases = {
            name: {"case": digest(requested[name]), "means": values["means"]}
            for name, values in result["cases"].items()
        }
        recorded[library] = {"version": result["version"], "cases": cases}
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", directory, *names]:
            make(Path(directory), names or list(ENVIRONMENTS))
        case ["record", *libraries]:
            record(libraries or list(OF_LIBRARY))
        case _:
            sys.exit(__doc__)
