"""Which files of the checkout a contributor is changing: their tests run whole."""

from __future__ import annotations

import subprocess
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@cache
def changed_files(root: Path) -> frozenset[Path]:
    """Return the files that differ from where the branch left `main`, here or at a remote, or that git does not know yet."""
    bases = [base for ref in MAINS for base in _git(root, "merge-base", "HEAD", ref)] or ["HEAD"]
    names = [name for base in dict.fromkeys(bases) for name in _git(root, "diff", "--name-only", "--relative", base)]
    return frozenset(root / name for name in (*names, *_git(root, "ls-files", "--others", "--exclude-standard")))


MAINS = ("main", "origin/main", "upstream/main")


def _git(root: Path, *command: str) -> list[str]:
    """Return the lines that git prints; none where it is missing, fails, or has no checkout of its own there."""
    if not (root / ".git").exists():
        return []
    try:
        call = ["git", "-c", "core.quotepath=off", *command]
        done = subprocess.run(call, cwd=root, capture_output=True, check=False)
    except OSError:
        return []
    return done.stdout.decode(errors="replace").splitlines() if done.returncode == 0 else []
