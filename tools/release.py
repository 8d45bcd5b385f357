"""Builds a release and tries it as a user would: `python tools/release.py` writes the archives to ``dist``.

    python tools/release.py --version 1.0.0    # first writes the version into the files that name it
    python tools/release.py --tag v1.0.0       # stops if the files name another version than the tag

It builds the source archive and a wheel of it, checks both and the page that an index shows, and uploads them to an
index on this machine. It installs each from there into an environment of its own, and runs tests of the source archive
against it. It needs Python 3.11 and a package registry, and publishes nothing.
"""

from __future__ import annotations

import argparse
import re
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from contextlib import contextmanager
from email import message_from_bytes
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
TESTS = ("tests/test_accessor.py", "tests/test_models.py", "tests/_inference/comparison/test_compare.py")
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


PATTERNS = {
    "pyproject.toml": r'^(version = ")(.+)(")$',
    "src/recframe/__init__.py": r'^(__version__ = ")(.+)(")$',
    "CITATION.cff": r"^(version: )(.+)()$",
    "conda/recipe.yaml": r'^(  version: ")(.+)(")$',
    "docs/cite.md": r"^(  version = \{)(.+)(\},)$",
}
"""The files that name the version, and the line of each."""


def versions() -> dict[str, str]:
    """Return the version that each file names."""
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in PATTERNS}
    return {name: re.findall(pattern, texts[name], re.MULTILINE)[0][1] for name, pattern in PATTERNS.items()}


def write_version(version: str) -> None:
    """Write a version into all files that name it."""
    for name, pattern in PATTERNS.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        (ROOT / name).write_text(re.sub(pattern, rf"\g<1>{version}\g<3>", text, flags=re.MULTILINE), encoding="utf-8")


@contextmanager
def local_index(tools: Path, directory: Path) -> Iterator[str]:
    """Serve an empty package index on this machine, and yield its address."""
    directory.mkdir()
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [tools, "-m", "pypiserver", "run", "-i", "localhost", "-p", port, "-a", ".", "-P", ".", directory]
    server = subprocess.Popen([str(part) for part in command])  # noqa: S603 - our own
    try:
        for _ in range(100):
            with socket.socket() as client:
                if client.connect_ex(("localhost", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://localhost:{port}"
    finally:
        server.terminate()


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


def rehearse(tools: Path, work: Path, archives: list[Path], version: str) -> None:
    """Upload archives to an index on this machine, install each from there, and run tests against it."""
    source = next(work.glob("recframe-*"))
    # The tests read the tree that they are in, so the package of that tree must not be what they import.
    (source / "src" / "recframe").rename(source / "src" / "unused")
    upload = ("twine", "upload", "--non-interactive", "-u", "anybody", "-p", "anything", "--repository-url")
    with local_index(tools, work / "index") as address:
        run(tools, "-m", *upload, address, *archives)
        for kind in ("--only-binary=recframe", "--no-binary=recframe"):
            python = environment(
                work / kind.strip("-").partition("=")[0],
                kind,
                f"--extra-index-url={address}/simple/",
                f"recframe[{EXTRAS}]=={version}",
                "pytest>=8.3",
                "hypothesis>=6.100",
            )
            run(python, "-c", SMOKE, cwd=work)
            run(python, "-m", "recframe", "--version", cwd=work)
            pytest = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", source / "pyproject.toml")
            run(*pytest, *TESTS, cwd=source)


def main() -> int:
    """Build, check and try a release."""
    parser = argparse.ArgumentParser(description="Build a release and try it.")
    parser.add_argument("directory", nargs="?", type=Path, default=ROOT / "dist", help="where the archives go")
    parser.add_argument("--version", help="the version to write into all files first")
    parser.add_argument("--tag", help="the tag that the files must agree with, such as v1.0.0")
    options = parser.parse_args()
    if options.version is not None:
        write_version(options.version)
    named = versions() | ({} if options.tag is None else {"the tag": options.tag.removeprefix("v")})
    if len({*named.values()}) > 1:
        sys.exit(f"the files name several versions: {named}")
    version = named["pyproject.toml"]
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        tools = environment(work / "tools", "build>=1.2", "twine>=6.1", "pypiserver>=2.3")
        run(tools, "-m", "build", "--outdir", work / "dist", ROOT)
        (sdist,), (wheel,) = (sorted((work / "dist").glob(ending)) for ending in ("*.tar.gz", "*.whl"))
        run(tools, "-m", "twine", "check", "--strict", sdist, wheel)
        check_page(wheel)
        with tarfile.open(sdist) as archive:
            archive.extractall(work, filter="data")
        rehearse(tools, work, [sdist, wheel], version)
        target = options.directory.resolve()
        target.mkdir(exist_ok=True)
        for archive_file in (sdist, wheel):
            (target / archive_file.name).write_bytes(archive_file.read_bytes())
    sys.stderr.write(f"recframe {version} is in {target}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
