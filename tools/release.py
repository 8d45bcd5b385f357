"""Builds a release and tries it as a user would: `python tools/release.py [DIRECTORY]` writes it to ``dist``.

It checks that all files name one version, builds the source archive and a wheel of it, checks both and the page that an
index shows, and installs each into an environment of its own, where tests of the source archive run against it. It
needs Python 3.11 and a package registry, and uploads nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import venv
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent
TESTS = ("tests/test_accessor.py", "tests/test_models.py", "tests/_comparison/test_compare.py")
"""What is run against each archive; CI runs the whole suite."""
EXTRAS = "polars,pandas,stats,cli"
SMOKE = """
import polars as pl, recframe
frame = pl.DataFrame({"user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "old": [2, 1, 1, 2], "new": [1, 2, 2, 1]})
assert "site-packages" in recframe.__file__, recframe.__file__
assert frame.rec.ndcg(1, score="new") == 1
assert frame.rec.compare("mrr", score=["old", "new"])["difference"].item() == 0.5
print("recframe", recframe.__version__, "computes")
"""


def run(*command: object, cwd: Path = ROOT) -> None:
    """Run a command, and end where it fails."""
    sys.stderr.write(f"== {' '.join(map(str, command))}\n")
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)  # noqa: S603 - our own


def versions() -> dict[str, str]:
    """Return the version that each file names."""
    patterns = {
        "pyproject.toml": r'^version = "(.+)"$',
        "src/recframe/__init__.py": r'^__version__ = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
        "conda/recipe.yaml": r'^  version: "(.+)"$',
    }
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in patterns}
    return {name: re.findall(pattern, texts[name], re.MULTILINE)[0] for name, pattern in patterns.items()}


def environment(path: Path, *packages: object) -> Path:
    """Return the Python of a new environment with some packages."""
    venv.create(path, with_pip=True)
    python = path / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", *packages)
    return python


def check_page(wheel: Path) -> None:
    """Raise if an index would show links that lead nowhere."""
    with ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        page = str(message_from_bytes(archive.read(name)).get_payload())
    broken = re.findall(r"\]\((?!https?://)[^)]*\)", page)
    if broken or "# recframe" not in page:
        sys.exit(f"the page of an index has links that lead nowhere: {broken}")


def main() -> int:
    """Build, check and try a release."""
    named = versions()
    if len({*named.values()}) > 1:
        sys.exit(f"the files name several versions: {named}")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        tools = environment(work / "tools", "build>=1.2", "twine>=6.1")
        run(tools, "-m", "build", "--outdir", work / "dist", ROOT)
        (sdist,), (wheel,) = (sorted((work / "dist").glob(ending)) for ending in ("*.tar.gz", "*.whl"))
        run(tools, "-m", "twine", "check", "--strict", sdist, wheel)
        check_page(wheel)
        with tarfile.open(sdist) as archive:
            archive.extractall(work, filter="data")
        source = next(work.glob("recframe-*"))
        # The tests read the tree that they are in, so the package of that tree must not be what they import.
        (source / "src" / "recframe").rename(source / "src" / "unused")
        for archive_file in (wheel, sdist):
            python = environment(
                work / archive_file.suffix[1:],
                f"recframe[{EXTRAS}] @ {archive_file.as_uri()}",
                "pytest>=8.3",
                "hypothesis>=6.100",
            )
            run(python, "-c", SMOKE, cwd=work)
            run(python, "-m", "recframe", "--version", cwd=work)
            run(
                python,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "-c",
                source / "pyproject.toml",
                *TESTS,
                cwd=source,
            )
        target.mkdir(exist_ok=True)
        for archive_file in (sdist, wheel):
            (target / archive_file.name).write_bytes(archive_file.read_bytes())
    sys.stderr.write(f"recframe {named['pyproject.toml']} is in {target}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
