"""The errors for columns of the wrong type, the same on all engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recframe.errors import ColumnTypeError, InputError, MissingColumnError, OptionError, closest_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from recframe._engines.column_spec import ColumnSpec, Source

RELEVANCE_NAMES = "relevant relevance rel isrelevant label labels grade grades rating ratings ytrue"
"""Names that surely mean the relevance. `USUAL_NAMES` also has names of events, whose rows may all be relevant."""
USUAL_NAMES = {
    "by": "user userid uid customer customerid visitor visitorid member memberid session sessionid query queryid qid",
    "item": "item itemid iid product productid sku movie movieid article articleid doc docid docno document documentid",
    "relevant": f"{RELEVANCE_NAMES} click clicks clicked isclicked bought purchased liked watched target",
    "score": "score scores prediction predictions pred preds ypred yscore",
}
"""The usual names of a role's columns, in lower case and without underscores, the most usual first."""
MATCHED = "frames are matched by columns of one name"


def frame_text(name: str) -> str:
    """Return how messages refer to a frame of a call."""
    # The second items of pairs are read from the frame of features, under the name "others".
    return {"frame": "the frame", "others": "features"}.get(name, name)


def missing_columns(
    sources: Mapping[str, Source], in_frames: Mapping[str, Collection[Any]], join: str
) -> MissingColumnError | None:
    """Return one error for all columns that the frames of a call lack, or None if they lack none.

    Parameters
    ----------
    sources : dict of str to Source
        The frames of the call, the one that it is about first, and the columns to read from each.
    in_frames : dict of str to collection
        The names of the columns of each frame.
    join : str
        Code of the frames' library that joins a frame of users, with ``{!r}`` in place of the key.
    """
    lacking = {name: _lacking(source, in_frames[name]) for name, source in sources.items()}
    missing = [(name, spec) for name, specs in lacking.items() for spec in specs]
    if not missing:
        return None
    messages = [_message(specs, name, in_frames[name]) for name, specs in lacking.items() if specs]
    remedies = _Remedies(sources, in_frames, join)
    if len(missing) == 1:
        ((name, spec),) = missing
        return MissingColumnError.of(messages[0], remedies.alone(name, spec), (spec.role, spec.column))
    columns = dict.fromkeys((spec.role, spec.column) for _, spec in missing)
    return MissingColumnError.of("\n".join(messages), remedies.together(missing), *columns)


def _lacking(source: Source, in_frame: Collection[Any]) -> list[ColumnSpec]:
    """Return the columns that a frame must have but lacks, each once for each role.

    A column with a default is optional, unless the user probably has it under another name.
    """
    lacking = {
        (spec.role, spec.column): spec
        for spec in (*source.specs.values(), *source.unread)
        if spec.column not in in_frame and (spec.default is None or _probably_has_another_name(spec, source, in_frame))
    }
    return list(lacking.values())


def _probably_has_another_name(spec: ColumnSpec, source: Source, in_frame: Collection[Any]) -> bool:
    """Return whether a column is refused as missing, although optional: a free column has a name for the relevance."""
    free = [column for column in in_frame if column not in _taken(source)]
    return spec.refuses_other_names and bool(_columns_named(RELEVANCE_NAMES, free))


def _taken(source: Source) -> set[str]:
    """Return the columns that have a role; the columns that `check` tries as the relevance have none."""
    return {spec.column for spec in source.specs.values() if spec.role != "relevant"}


def _message(specs: Sequence[ColumnSpec], name: str, in_frame: Collection[Any]) -> str:
    """Return what a frame lacks, and what it has."""
    roles = ", ".join(f"`{spec.role}={spec.column!r}`" for spec in specs)
    names = ", ".join(map(repr, in_frame)) or "no columns"
    return f"{roles}: {frame_text(name)} has no such column{'s' * (len(specs) > 1)}; it has {names}"


@dataclass(frozen=True)
class _Remedies:
    """What to do about columns that the frames of a call lack."""

    sources: Mapping[str, Source]
    in_frames: Mapping[str, Collection[Any]]
    join: str

    def alone(self, name: str, spec: ColumnSpec) -> str:
        """Return the hint for the only column that is missing."""
        shared = self._shared_column(name, spec)
        if shared is not None:
            return f"`{spec.role}={shared!r}`, which both frames have"
        several = [part.strip() for part in str(spec.column).split(",")]
        if len(several) > 1 and {*several} <= {*self.in_frames[name]}:
            return f"`{spec.role}={several}`"
        if self._is_matched(name, spec):
            return f"{MATCHED}: in {name}, rename {self._renamed(name, spec, spec.column)}"
        near, usual = self._guesses(name, spec)
        if near and not spec.refuses_other_names:
            return f"did you mean {near!r}?"
        return " or ".join(self._other_remedies(name, spec, usual))

    def together(self, lacking: Sequence[tuple[str, ColumnSpec]]) -> str:
        """Return the hint for several columns that are missing: a call to paste, and what it cannot say."""
        new: dict[tuple[str, str], Any] = {}
        renames: dict[str, list[str]] = {}
        others: list[str] = []
        for name, spec in lacking:
            role = spec.role, spec.column
            if self._is_matched(name, spec):
                shared = self._shared_column(name, spec)
                if shared is not None:
                    new.setdefault(role, shared)
                if new.get(role, spec.column) not in self.in_frames[name]:
                    renames.setdefault(name, []).append(self._renamed(name, spec, new.get(role, spec.column)))
                continue
            near, usual = self._guesses(name, spec, new.values())
            if near or usual:
                new[role] = self._guess_in_all_frames(spec, [*([near] if near else []), *usual])
            elif spec.role == "score" and "rank" in self.in_frames[name]:
                new["rank", spec.column] = "rank"
            else:
                others.append(" or ".join(self._other_remedies(name, spec, usual)))
        renamed = [f"in {name}, rename {' and '.join(columns)}" for name, columns in renames.items()]
        renamed = [f"{MATCHED}: {', and '.join(renamed)}"] if renamed else []
        return "; ".join([*self._call_to_paste(new), *renamed, *dict.fromkeys(others)])

    def _call_to_paste(self, new: Mapping[tuple[str, str], Any]) -> list[str]:
        """Return the call to paste, with the new column of each role. A key of several columns is named in full."""
        arguments = {}
        for role in dict.fromkeys(role for role, _ in new):
            read = self._columns_of(role) or [column for other, column in new if other == role]
            columns = [new.get((role, column), column) for column in read]
            arguments[role] = columns[0] if len(columns) == 1 else columns
        texts = {role: f"{role}={value!r}" for role, value in arguments.items()}
        if len(texts) == 1:
            return [f"`{text}`" for text in texts.values()]
        bound = [texts.pop(role) for role in (*USUAL_NAMES, "rank") if role in texts]
        return [*([f"`df.rec({', '.join(bound)})`"] if bound else []), *(f"`{text}`" for text in texts.values())]

    def _columns_of(self, role: str) -> list[str]:
        """Return the columns that the call reads for a role, in its order."""
        specs = (spec for source in self.sources.values() for spec in source.specs.values())
        return list(dict.fromkeys(spec.column for spec in specs if spec.role == role))

    def _is_matched(self, name: str, spec: ColumnSpec) -> bool:
        """Return whether a column is a key by which a further frame is matched with the first one."""
        return spec.role in ("by", "item") and name not in ("frame", "users", "items")

    def _shared_column(self, name: str, spec: ColumnSpec) -> Any:
        """Return the guess for a key that both frames have, if both lack the key; otherwise None."""
        first = next(iter(self.in_frames.values()))
        if not self._is_matched(name, spec) or spec.column in first or len(self.in_frames) == 1:
            return None
        near, usual = self._guesses(name, spec)
        return next((column for column in (*([near] if near else []), *usual) if column in first), None)

    def _guess_in_all_frames(self, spec: ColumnSpec, guesses: Sequence[Any]) -> Any:
        """Return the first guess that is in all frames from which the column is read, otherwise the first guess."""
        holders = [
            self.in_frames[name]
            for name, source in self.sources.items()
            if any((each.role, each.column) == (spec.role, spec.column) for each in source.specs.values())
        ]
        return next((guess for guess in guesses if all(guess in names for names in holders)), guesses[0])

    def _renamed(self, name: str, spec: ColumnSpec, column: Any) -> str:
        """Return what to rename in a further frame, so that it matches a column of the first one."""
        near, usual = self._guesses(name, spec)
        what = ", ".join([repr(near)] if near else map(repr, usual)) or "the column that holds it"
        return f"{what} to {column!r}"

    def _guesses(self, name: str, spec: ColumnSpec, taken: Collection[Any] = ()) -> tuple[str, list[Any]]:
        """Return the column with almost the same name, otherwise "", and the columns with a usual name for the role.

        If there are columns with a usual name, an almost equal name counts only if it is a usual name too.
        """
        read = _taken(self.sources[name]) if spec.role != "per" else set()
        free = [column for column in self.in_frames[name] if column not in read and column not in taken]
        near = closest_of(spec.column, map(str, free))
        usual = _columns_named(USUAL_NAMES.get(spec.role, ""), free)
        return (near if near in map(str, usual) or not usual else ""), usual

    def _other_remedies(self, name: str, spec: ColumnSpec, usual: Sequence[Any]) -> list[str]:
        """Return the remedies if no column has almost the same name."""
        ways = ["`rank='rank'`"] if spec.role == "score" and "rank" in self.in_frames[name] else []
        is_only_key = spec.role == "by" and len(self._columns_of("by")) == 1
        ways += ["`by=None`, if the frame is one list"] if is_only_key and not usual else []
        if spec.role == "relevant" and name != "truth" and not usual:
            ways.append("`truth=`, if another frame holds what was relevant")
        elif spec.refuses_other_names and not usual:
            ways.append(f"`{spec.role}=` names the column that holds it")
        elif name == "truth" and spec.role != "relevant" and not usual:
            ways.append("join it to truth")
        elif spec.use in ("attribute", "value"):
            ways.append(self._joined(spec))
        ways += [f"`{spec.role}={column!r}`" for column in usual]
        if spec.remedy:
            return [*ways[:-1], *(f"{way}, or {spec.remedy}" for way in ways[-1:])] or [spec.remedy]
        return ways or [f"`{spec.role}=` names the column that holds it"]

    def _joined(self, spec: ColumnSpec) -> str:
        """Return how to join a column of another frame to this one."""
        holder = next((f"{name} has it:" for name, names in self.in_frames.items() if spec.column in names), None)
        example = self.join.format((self._columns_of("by") or ["user"])[0])
        into = "the frame or to truth" if "truth" in self.sources else "the frame"
        # The backquotes mark the code as an example, which the command line leaves out.
        return f"{holder or 'if another frame has it,'} join it to {into} first`, as in {example}`"


def several_columns_of_name(name: str, names: Iterable[str]) -> InputError:
    """Return the error for a frame with several columns of one name."""
    msg = f"{frame_text(name)} has several columns of the name {' or '.join(map(repr, dict.fromkeys(names)))}"
    return InputError(msg, "rename all but one of them")


def _columns_named(names: str, in_frame: Collection[Any]) -> list[Any]:
    """Return the columns of a frame that have one of the usual names in `names`, the most usual first."""
    plain = {str(column).lower().replace("_", "").replace(" ", ""): column for column in in_frame}
    return [plain[name] for name in names.split() if name in plain]


def not_a_number(spec: ColumnSpec, dtype: object) -> ColumnTypeError:
    """Return the error for a column whose type its role cannot use."""
    expected = "bool, integer or float" if spec.may_be_bool else "integer or float"
    what = "relevance" if spec.role == "relevant" else f"a {spec.role}"
    msg = f"`{spec.role}={spec.column!r}` has the type {dtype}, but {what} must be {expected}"
    hint = "cast the column to a number first"
    if any(word in str(dtype).lower() for word in ("list", "array")):
        hint = "one row an item: see recframe.from_lists, or explode the column"
    return ColumnTypeError(msg, hint)


def python_objects(spec: ColumnSpec) -> ColumnTypeError:
    """Return the error for a column of polars that holds Python objects, such as UUIDs."""
    msg = f"`{spec.role}={spec.column!r}` holds Python objects, which polars cannot compare"
    return ColumnTypeError(msg, "make the column of str(value), so that it is text")


def large_categories(spec: ColumnSpec) -> ColumnTypeError:
    """Return the error for categories of pandas with large integers, which pandas rounds next to a missing value."""
    msg = f"`{spec.role}={spec.column!r}` has categories above 2**53, which pandas rounds beside a missing value"
    return ColumnTypeError(msg, f"df.astype({{{spec.column!r}: 'Int64'}})")


def not_a_time(spec: ColumnSpec, dtype: object) -> ColumnTypeError:
    """Return the error for a column that holds no points in time, or the wrong kind of them."""
    expected, hint = {
        None: ("a date, a datetime or a number", "parse the column first"),
        True: ("a date or a datetime, as what it is compared with is one", "parse or cast it, or give a number"),
        False: ("a number, as what it is compared with is one", "give a datetime or a timedelta instead"),
    }[spec.dated]
    msg = f"`{spec.role}={spec.column!r}` has the type {dtype}, but a {spec.role} is {expected}"
    return ColumnTypeError(msg, hint)


def no_lists(role: str, column: str, dtype: object) -> ColumnTypeError:
    """Return the error for a column that should hold lists."""
    return ColumnTypeError(
        f"`{role}={column!r}` has the type {dtype}, but lists are needed", "give one ranked list per row"
    )


def unlike_keys(spec: ColumnSpec, left: tuple[str, object], right: tuple[str, object]) -> ColumnTypeError:
    """Return the error for a key whose types in two frames never match. A side is a frame's name and the type."""
    types = ", but ".join(f"{dtype} in {frame_text(name)}" for name, dtype in (left, right))
    msg = f"`{spec.role}={spec.column!r}` has the type {types}"
    return ColumnTypeError(msg, "cast one of them, because no row would match otherwise")


def no_common_type(spec: ColumnSpec, dtypes: Iterable[object]) -> ColumnTypeError:
    """Return the error for a key that has several types, if no type holds all of its values."""
    types = " and ".join(dict.fromkeys(map(str, dtypes)))
    msg = f"`{spec.role}={spec.column!r}` has the types {types}, and none holds the values of all frames"
    return ColumnTypeError(msg, "cast it to one type in all frames")


def check_same_columns(columns: Mapping[str, Iterable[Any]], model: str) -> None:
    """Raise for models' frames with different columns, or with a column named like the new column of models."""
    (first, known), *others = ((name, [*names]) for name, names in columns.items())
    for name, names in [(first, known), *others]:
        if model in names:
            msg = f"the frame of {name!r} has a column {model!r} already, which would name the model"
            raise OptionError(msg, "`model='system'` gives the new column another name")
        only = {
            first: [each for each in known if each not in names],
            name: [each for each in names if each not in known],
        }
        differing = [f"only {owner!r} has {', '.join(map(repr, some))}" for owner, some in only.items() if some]
        if differing:
            msg = f"the models' frames have different columns: {'; '.join(differing)}"
            raise MissingColumnError(msg, "give all of them the columns that the call reads, and no others")
