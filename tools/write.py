"""Writes every generated file: ``python tools/write.py``.

``--check`` writes nothing, names the files that are out of date, and fails if there are any. Each tool runs in a
process of its own, because the later ones import what the earlier ones wrote.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOLS = (
    "exports",
    "datasets",
    "stubs",
    "metric_table",
    "metric_pages",
    "profile_table",
    "plan_frames",
    "llms",
    "pictures",
    "speed",
)
"""The tools in the order in which one builds on what another wrote."""


def main() -> int:
    """Run all tools with the arguments of this call, and return 1 if one of them failed."""
    folder = Path(__file__).parent
    failed = []
    for name in TOOLS:
        command = [sys.executable, str(folder / f"{name}.py"), *sys.argv[1:]]
        if subprocess.run(command, check=False).returncode != 0:  # noqa: S603 - our own
            failed.append(name)
    if failed:
        hint = "run python tools/write.py" if sys.argv[1:] else "the first error above is the cause"
        sys.stderr.write(f"failed: {', '.join(failed)}\n\nHint: {hint}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
