"""Environments for the libraries that are compared: made once, by the module that makes those of the tests."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.process import ROOT

if TYPE_CHECKING:
    from pathlib import Path

OURS = ("polars", "narwhals")
"""What recframe needs in addition to a library, whose versions its environment decides."""


@dataclass(frozen=True)
class Interpreter:
    """A Python that has a library, or why there is none."""

    python: str | None
    why: str = ""


@dataclass(frozen=True)
class Environment:
    """What is installed together: the modules that are needed, and how they get there, one step after the other."""

    modules: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    least: tuple[int, ...] = (3, 11)
    """The oldest Python that the libraries take."""


def environments() -> dict[str, Environment]:
    """Return the environments by the name of their folder."""
    return {
        # What the tests of the profiles compare with.
        "older": Environment(("rectools", "recommenders", "torchmetrics"), (*_of_tests().ENVIRONMENTS["older"], OURS)),
        "newer": Environment(
            ("ranx", "pytrec_eval", "sklearn"),
            (("ranx>=0.3.20", "pytrec_eval-terrier>=0.5.6", "scikit-learn>=1.5", "pandas", *OURS),),
        ),
        "replay": Environment(("replay",), (("replay-rec[spark]", *OURS),)),
        "lenskit": Environment(("lenskit",), (("lenskit", *OURS),), least=_of_tests().LEAST["lenskit"]),
    }


def interpreters(folder: Path, *, make: bool) -> dict[str, Interpreter]:
    """Return an interpreter for each library, having made the environments that are not there yet on request."""
    ready = {}
    for name, environment in environments().items():
        python = folder / name / "bin" / "python"
        base = _of_tests().python_of(environment.least)
        if make and base is not None and not python.exists():
            _of_tests().install(folder / name, environment.steps, python=base)
        for module in environment.modules:
            if python.exists():
                ready[module] = _interpreter(str(python), module, environment)
            elif base is None:
                least = ".".join(map(str, environment.least))
                ready[module] = Interpreter(None, f"needs Python {least}, which is not installed")
            else:
                ready[module] = Interpreter(None, "no environment yet: --all makes it")
    return ready


def _interpreter(python: str, module: str, environment: Environment) -> Interpreter:
    done = subprocess.run(
        [python, "-W", "ignore", "-c", f"import {module}"], capture_output=True, text=True, check=False
    )
    if not done.returncode:
        return Interpreter(python)
    last = done.stderr.strip().splitlines()[-1]
    return Interpreter(None, f"not importable after {environment.steps[0]}: {last}")


def _of_tests() -> Any:
    sys.path.insert(0, str(ROOT / "tests" / "peers"))
    import environments as module

    return module
