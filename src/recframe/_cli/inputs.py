"""Read files of any format as frames, with one model or several."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
from polars import selectors as cs

from recframe._base.roles import ROLES, Roles
from recframe._base.values import as_tuple
from recframe._checks.first_rows import FIRST_ROWS
from recframe._cli.csv import align_id_types, first_ragged_line, read_numbers
from recframe._cli.formats import ENDINGS, FORMATS, format_of
from recframe._cli.partitions import files_of, partitions, with_partitions
from recframe._cli.terminal import progress
from recframe._cli.texts import number_of
from recframe._data.files.paths import (
    STDIN,
    as_path,
    check_file,
    expanded,
    is_pattern,
    matched,
    model_name,
    read_bytes,
    standard_input,
)
from recframe._data.files.trec import read_qrels, read_run
from recframe.errors import InputError, OptionError, RecError
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

MODEL_COLUMN = "model"
SIDES = ("truth", "judge", "train", "features")
"""The roles whose files hold no model scores."""
LIST_ROLES = ("per", "per_item", "weight", "propensity")
"""The roles of columns that a truth may hold instead of the frame."""
ID_ROLES = tuple(name for name, role in ROLES.items() if role.kind == "column" and role.holds == "text")
NUMBER_ROLES = tuple(name for name, role in ROLES.items() if role.holds != "text")


@dataclass(frozen=True)
class Inputs:
    """The input of a command: the files of its models, and its roles."""

    files: Sequence[str]
    format: str | None
    roles: dict[str, Any]
    also: tuple[str, ...] = ()
    """Columns to read in addition to the roles' columns."""
    named: bool = False
    """Whether a single file also counts as a named model."""
    separator: str = ","
    """The separator of CSV files."""

    def read(self) -> tuple[pl.DataFrame, dict[str, Any]]:
        """Return the frame and the roles of the call, with frames instead of files."""
        standard_input.cache_clear()
        roles = dict(self.roles)
        models, several = _models(self.files, None if self.format else ENDINGS)
        files = [*self.files, *(roles[name] for name in (*SIDES, "catalog") if name in roles)]
        if sum(str(file).rpartition("=")[2] == str(STDIN) for file in files) > 1:
            msg = "standard input, '-', is given twice, but it can be read only once"
            raise OptionError(msg, "write it to a file first")
        several = several or (self.named and roles.get("model") is None)
        if several and roles.get("model") is not None:
            msg = f"--model {roles['model']} with several files, which are a model each"
            raise OptionError(msg, "leave --model out, or give one file")
        # The models come last, because they are the largest files: a wrong name of another file fails early.
        for name in (*SIDES, "catalog"):
            if (file := roles.get(name)) is not None:
                count = number_of(file) if name == "catalog" else None
                roles[name] = self._side_frame(file) if count is None else count
        frames = {name: self._joined([self._file(path) for path in paths]) for name, paths in models.items()}
        if not several and roles.get("model") is None and self._repeats_items(next(iter(frames.values()))):
            # Read all columns, because the warning about repeated items looks for a column that names models.
            frames = {name: self._joined([self._file(each, every_column) for each in models[name]]) for name in frames}
        frames = dict(zip(frames, align_id_types([*frames.values()], self._ids), strict=True))
        frame = _stacked(frames) if several else next(iter(frames.values()))
        roles |= {"model": MODEL_COLUMN} if several else {}
        sides = [name for name in (*SIDES, "catalog") if isinstance(roles.get(name), pl.DataFrame)]
        frame, *others = align_id_types([frame, *(roles[name] for name in sides)], [*self._by, self._name("item")])
        return frame, roles | dict(zip(sides, others, strict=True))

    def _joined(self, parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """Return the rows of the files of one frame."""
        return _concat(align_id_types(parts, self._ids), "the files of one frame do not fit together")

    @property
    def _ids(self) -> list[str]:
        """The columns of ids: a number in them is a name, not a number to compute with."""
        return [*self._by, self._name("item"), *self._columns(ID_ROLES), *self.also, MODEL_COLUMN]

    def _columns(self, roles: Sequence[str]) -> list[str]:
        """Return the columns that the command names for roles."""
        return [str(value) for name in roles for value in as_tuple(self.roles.get(name))]

    def _name(self, role: str) -> str:
        """Return the column of a role."""
        return str(self.roles.get(role) or getattr(Roles, role))

    @property
    def _by(self) -> tuple[str, ...]:
        """The columns of the list key."""
        return as_tuple(self.roles.get("by", Roles.by))

    def _repeats_items(self, frame: pl.DataFrame) -> bool:
        """Return whether the first rows, or the list of the first row, hold an item twice."""
        keys = [*self._by, self._name("item")]
        if frame.is_empty() or len({*keys}) < len(keys) or not {*keys} <= {*frame.columns}:
            return False
        has_first_key = [pl.col(key) == pl.lit(frame[key][0]) for key in self._by]
        is_in_first_list = pl.all_horizontal(pl.lit(value=True), *has_first_key)
        samples = frame.head(FIRST_ROWS), frame.filter(is_in_first_list)
        return any(sample.select(keys).is_duplicated().any() for sample in samples)

    def _file(self, path: Path, pick: Callable[[pl.LazyFrame], pl.LazyFrame] | None = None) -> pl.DataFrame:
        """Return a model's file, with the columns that `pick` selects or that the call may read."""
        kind = self.format or format_of(path)  # `--format` applies to every model's file
        score = self.roles.get("score")
        run = partial(read_run, score=score if isinstance(score, str) else "score")
        return self._read(path, kind, run, pick or self._needed)

    def _read(
        self,
        path: Path,
        kind: str,
        of_trec: Callable[..., pl.DataFrame],
        pick: Callable[[pl.LazyFrame], pl.LazyFrame],
    ) -> pl.DataFrame:
        """Return the picked columns of a file of any format."""
        progress(f"reading {path}")
        if kind == "trec":
            return of_trec(path, by=str(next(iter(self._by), Roles.by)), item=self._name("item"), library="polars")
        return self._columns_of(path, kind, pick)

    def _columns_of(self, path: Path, kind: str, pick: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
        """Return the picked columns of a file, with the role columns that its folder names hold."""
        check_file(path)
        try:
            frame = self._scan(path, kind, lambda lazy: pick(with_partitions(lazy, path, self._ids)))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, RuntimeError) as error:
            is_empty = isinstance(error, pl.exceptions.NoDataError) or (path.exists() and not path.stat().st_size)
            reason = "it is empty" if is_empty else _first_line(error)
            if kind != "parquet" and "utf-8" not in reason:
                reason = first_ragged_line(path, self._delimiter(kind)) or reason
            msg = f"{str(path)!r} cannot be read as {kind}: {reason}"
            hint = "save it as UTF-8" if "utf-8" in reason else "check the file"
            raise InputError(msg, f"{hint}, or give --format {'|'.join(FORMATS)}") from None
        # A column of nulls has no known type, so read it as Null.
        empty = [values.name for values in frame if values.dtype == pl.String and not values.count()]
        return frame.with_columns(pl.col(empty).cast(pl.Null))

    def _scan(self, path: Path, kind: str, pick: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
        """Return a file as a frame; Parquet and CSV files are read only in the picked columns."""
        if kind == "parquet":
            source = BytesIO(read_bytes(path)) if path == STDIN else path
            return pick(pl.scan_parquet(source, glob=False)).collect()
        text = read_bytes(path) if path == STDIN or path.name.endswith(".gz") else path
        return read_numbers(text, str(path), self._ids, self._numbers, pick, self._delimiter(kind))

    def _delimiter(self, kind: str) -> str:
        """Return the separator of a text file."""
        return "\t" if kind == "tsv" else self.separator

    @property
    def _numbers(self) -> list[str]:
        """The columns that hold numbers to compute with."""
        named = [value for name in NUMBER_ROLES for value in as_tuple(self.roles.get(name) or getattr(Roles, name))]
        return [*map(str, named), *(["score"] if self.roles.get("rank") is None else [])]

    @property
    def _order(self) -> tuple[str, ...]:
        """The columns to rank by."""
        return as_tuple(self.roles.get("rank") or self.roles.get("score") or "score")

    @property
    def _relevance_columns(self) -> list[str]:
        """The column of the relevance, if the models' files hold it."""
        return [self._name("relevant")] if self.roles.get("truth") is None else []

    def _needed(self, lazy: pl.LazyFrame) -> pl.LazyFrame:
        """Return the role columns, or all columns if one is missing, so that the error lists them."""
        columns = lazy.collect_schema().names()
        list_columns = LIST_ROLES if self.roles.get("truth") is None else ()
        needed = {*self._by, *self._order, *self._relevance_columns, *self._columns(("item", "value", *list_columns))}
        if needed - {*columns}:
            return lazy
        texts = [value for name in ROLES for value in as_tuple(self.roles.get(name) or getattr(Roles, name))]
        names = {*needed, *self.also, MODEL_COLUMN, *(text for text in texts if isinstance(text, str))}
        return lazy.select(name for name in columns if name in names)

    def _side_frame(self, file: str) -> pl.DataFrame:
        """Return a file of the truth or of side information with all of its columns."""
        relevant = self._name("relevant")
        qrels = partial(read_qrels, relevant=relevant, subtopic=self.roles.get("subtopic"))
        paths = _paths(as_path(file), ENDINGS)
        return self._joined([self._read(path, format_of(path), qrels, every_column) for path in paths])


def every_column(lazy: pl.LazyFrame) -> pl.LazyFrame:
    """Pick all columns of a file."""
    return lazy


def _paths(path: Path, endings: Collection[str] | None) -> list[Path]:
    """Return the files that a path names: the file itself, the files in a folder, or the files matching a pattern."""
    if path.is_dir():
        return files_of(path, endings)
    return expanded(path) if is_pattern(path) else [path]


class ArgumentModels(NamedTuple):
    """The models of one argument of the command line."""

    files: dict[str, list[Path]]
    """The files of each model."""
    file_count: int
    is_named: bool = False
    """Whether results name the model even if it is the only one."""


def _models(files: Sequence[str], endings: Collection[str] | None) -> tuple[dict[str, list[Path]], bool]:
    """Return the files of each model, and whether results name the models."""
    models: dict[str, list[Path]] = {}
    named = False
    for argument in files:
        of_argument = _models_of(argument, endings)
        named = named or of_argument.is_named
        twice = [name for name in of_argument.files if name in models]
        if twice or sum(map(len, of_argument.files.values())) < of_argument.file_count:
            msg = f"{argument!r} gives several files to the model {(twice or [*of_argument.files])[0]!r}"
            raise OptionError(msg, "name each model: old=a.parquet new=b.parquet")
        models |= of_argument.files
    return models, named or len(models) > 1


def _models_of(argument: str, endings: Collection[str] | None) -> ArgumentModels:
    """Return the models of one argument: a file, a folder or a pattern, perhaps after a name and an equals sign."""
    name, _, file = argument.partition("=")
    path = as_path(argument)
    is_named = bool(name and file) and not {*name} & {*"/\\"} and not path.exists() and not matched(path)
    path = as_path(file) if is_named else path
    if not path.exists() and _is_metric(argument):
        msg = f"the file {argument!r} does not exist"
        raise InputError(msg, f"a metric is an option of its own: -m {argument}")
    paths = _paths(path, endings)
    if is_named:
        return ArgumentModels({name: paths}, len(paths), is_named=True)
    if path.is_dir():
        return ArgumentModels({path.resolve().name: paths}, len(paths))
    if is_pattern(path) and all(map(partitions, paths)):
        return ArgumentModels({model_name(paths[0]): paths}, len(paths))
    return ArgumentModels({model_name(each): [each] for each in paths}, len(paths), is_named=is_pattern(path))


def _is_metric(name: str) -> bool:
    """Return whether a text names a metric."""
    with suppress(RecError):
        return bool(spec_of(name))
    return False


def _stacked(frames: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of all models, with a column of their names."""
    first, columns = next((name, frame.columns) for name, frame in frames.items())
    for name, frame in frames.items():
        if MODEL_COLUMN in frame.columns:
            msg = f"the file of the model {name!r} has a column {MODEL_COLUMN!r} of its own"
            raise OptionError(msg, f"give one file and --model {MODEL_COLUMN}, or drop the column")
        if {*columns} != {*frame.columns}:
            different = sorted({*columns} ^ {*frame.columns})
            msg = f"the files of {first!r} and {name!r} differ in the columns {', '.join(map(repr, different))}"
            raise InputError(msg, "give the files the same columns; --truth names the file with the relevant items")
        if frame.is_empty():
            msg = f"the file of the model {name!r} has no rows"
            raise InputError(msg, "give a file with its rows, or leave the model out")
    named = [frame.select(pl.lit(name).alias(MODEL_COLUMN), pl.all()) for name, frame in frames.items()]
    return _concat(named, "the files of the models have columns of unlike types")


def _concat(frames: Sequence[pl.DataFrame], wrong: str) -> pl.DataFrame:
    """Return the rows of frames, with the columns in the order of the first, or raise where they differ."""
    kinds = [(name, kind) for frame in frames for name, kind in frame.schema.items()]
    remedy = "give them the same columns of the same types"
    for name in (name for name, kind in kinds if kind.is_float() and (name, pl.String()) in kinds):
        msg = f"{wrong}: {name} is fractions in one file and text in another"
        raise InputError(msg, remedy)
    # Older polars makes fractions of UInt64 and Int64, and so one id of two above 2**53.
    signed = [name for name, kind in kinds if kind.is_signed_integer() and kind != pl.Int128]
    unsigned = cs.by_name(*signed, require_all=False) & cs.by_dtype(pl.UInt64)
    try:
        in_order = [frame.select(name for name in dict(kinds) if name in frame.columns) for frame in frames]
        return pl.concat([frame.with_columns(unsigned.cast(pl.Int64)) for frame in in_order], how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        msg = f"{wrong}: {_first_line(error)}"
        raise InputError(msg, remedy) from None


def _first_line(error: Exception) -> str:
    """Return the first line of an error, or the name of its class if it has no text."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
