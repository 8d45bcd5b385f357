"""Paths of files: check them, read them, find the models that they name, and write files atomically."""

from __future__ import annotations

import errno
import gzip
import os
import sys
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from glob import glob
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from recframe.errors import InputError, OptionError, OptionTypeError, quoted

PARQUET = (".parquet", ".pq")
"""The endings of Parquet files."""
STDIN = Path("-")
"""The path that means standard input."""
SINGLE_PATH = (str, bytes, os.PathLike)
"""Types that are iterable, but are a single path."""
GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file, whatever its name."""


def as_path(path: object, argument: str = "path") -> Path:
    """Return a path, or raise if the value of the argument is not a path."""
    if not isinstance(path, str | os.PathLike) or not str(path) or "\0" in str(path):
        msg = f"{argument}={quoted(path)} is not a path"
        raise OptionTypeError(msg, "give the path of a file, such as 'results.run'")
    return Path(path)


def models_of(paths: Any) -> tuple[dict[str, Path], bool]:
    """Return files by the names of their models, and whether the caller named several.

    Parameters
    ----------
    paths : path, glob pattern, sequence of paths, or mapping of names to paths
        A path that exists is a single file, even if it looks like a pattern.
    """
    if isinstance(paths, Mapping):
        wrong = [name for name in paths if not isinstance(name, str)]
        if wrong:
            msg = f"{quoted(wrong[0])} is not the name of a model"
            raise OptionTypeError(msg, "give text, as in {'old': 'old.run', 'new': 'new.run'}")
        files = {name: as_path(path) for name, path in paths.items()}
    elif isinstance(paths, Iterable) and not isinstance(paths, SINGLE_PATH) and not hasattr(paths, "columns"):
        files = by_model_name([as_path(path) for path in paths])
    else:
        path = as_path(paths)
        if not is_pattern(path):
            return {model_name(path): path}, False
        files = by_model_name(expanded(path))
    if not files:
        msg = f"path={quoted(paths)} names no file"
        raise OptionError(msg, "give at least one path")
    return files, True


def is_pattern(path: Path) -> bool:
    """Return whether a path is a glob pattern and not the name of an existing file."""
    return any(sign in str(path) for sign in "*?[") and not os.path.exists(path)  # noqa: PTH110 - false for a name that is too long


def matched(path: Path) -> list[Path]:
    """Return the files that a pattern matches, in the order of their names."""
    names = glob(str(path), recursive=True)  # noqa: PTH207 - Path.glob accepts no absolute pattern
    return [Path(name) for name in sorted(filter(os.path.isfile, names))]


def expanded(path: Path) -> list[Path]:
    """Return the files that a pattern matches, or raise if there are none."""
    paths = matched(path)
    if not paths:
        msg = f"no file matches {str(path)!r}"
        raise InputError(
            msg, f"the current directory is {Path.cwd()}; quote a pattern so that the shell leaves it alone"
        )
    return paths


def by_model_name(paths: Iterable[Path]) -> dict[str, Path]:
    """Return files by the names of their models, or raise if two files have the same model name."""
    files: dict[str, Path] = {}
    for path in paths:
        name = model_name(path)
        if name in files:
            msg = f"{str(files[name])!r} and {str(path)!r} would both be the model {name!r}"
            raise OptionError(msg, "name the models: {'name': 'path', ...}, on the command line name=path")
        files[name] = path
    return files


def model_name(path: Path) -> str:
    """Return the model name of a file: the file's name without folders and endings."""
    if path == STDIN:
        return "stdin"
    name = path.name.removesuffix(".gz")
    return Path(name).stem or name


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file or of standard input, decompressed if needed."""
    check_file(path)
    try:
        data = standard_input() if path == STDIN else path.read_bytes()
        return gzip.decompress(data) if data.startswith(GZIP) else data
    except (OSError, EOFError, zlib.error) as error:
        msg = f"{str(path)!r} cannot be read: {error}"
        raise InputError(msg, "check that the file is complete and that you may read it") from error


@cache
def standard_input() -> bytes:
    """Return the bytes of standard input, cached because they can be read only once."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    return sys.stdin.buffer.read()


def check_file(path: Path) -> None:
    """Raise if a file does not exist or is a directory."""
    if path == STDIN:
        return
    if not os.path.exists(path):  # noqa: PTH110 - false for a name that is too long
        msg = f"the file {str(path)!r} does not exist"
        raise InputError(msg, f"check its name; the current directory is {Path.cwd()}")
    if path.is_dir():
        msg = f"{str(path)!r} is a directory"
        raise InputError(msg, f"name a file, or a pattern such as {str(path / '*')!r}")


def check_directory(path: Path) -> None:
    """Raise if a file cannot be written because its directory does not exist."""
    if not path.parent.is_dir():
        msg = f"{str(path)!r} cannot be written: there is no directory {str(path.parent)!r}"
        raise InputError(msg, "make the directory, or name a file in one that exists")


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file under a temporary name and rename it, so that no reader sees an incomplete file.

    The target of a link is written, and the link stays. Pipes and devices are written directly.
    """
    partial = None
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        path = path.resolve()
        descriptor, name = mkstemp(dir=path.parent, prefix=".")
        partial = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        mode = path.stat().st_mode if path.exists() else 0o666 & ~_umask()
        partial.chmod(mode & 0o777)
        partial.replace(path)
        partial = None
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: circular links, up to Python 3.12
        msg = f"{str(path)!r} cannot be written: {error}"
        raise InputError(msg, "name a file in a directory that has room and that you may write to") from error
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


def _umask() -> int:
    """Return the permissions that new files lack; they can only be read by setting them."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
