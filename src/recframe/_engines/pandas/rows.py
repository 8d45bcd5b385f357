"""The user's own rows of pandas frames."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api import types

from recframe._base.columns import ROW
from recframe._engines.pandas.columns import kept_exact, sort_mixed, with_levels, without_attributes
from recframe._engines.pandas.transfer import to_pandas
from recframe._engines.rows import MODEL_ROW, OTHER_ROW, Rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame


class PandasRows(Rows):
    """Rows of data frames, by their numbers; the answer has a fresh index."""

    def pick(self, result: Frame, new: Mapping[str, str], sort: Sequence[str] = ()) -> pd.DataFrame:
        picked = to_pandas(result.select(ROW, *new)).sort_values(ROW)
        native = self._rows_of("frame").take(picked[ROW].to_numpy()).reset_index(drop=True)
        for name, column in new.items():
            native[_label(native, column)] = picked[name].to_numpy()
        if sort:
            try:
                native = native.sort_values(list(sort), kind="stable", na_position="last", ignore_index=True)
            except (TypeError, ValueError, NotImplementedError):  # 16-bit floats, and categories with nulls, of Arrow
                native = sort_mixed(native, sort).reset_index(drop=True)
        return native

    def _rows_of(self, name: str) -> Any:
        """Return a frame with the named levels of its index as columns: they hold data of the user too."""
        native = self._sources[name].native
        return with_levels(native, native.index.names)

    def extend(
        self, result: Frame, added: Frame, names: Mapping[str, str], new: Mapping[str, str], model: str | None = None
    ) -> pd.DataFrame:
        truth = self._rows_of("truth")
        above = self.pick(result, new)
        numbers = [OTHER_ROW, *([MODEL_ROW] if model is not None else [])]
        added_rows = to_pandas(added.select(*numbers, *new)).sort_values(numbers)
        # The columns of the rows below: from the truth, new, and the name of the model.
        below = {name: truth[name].take(added_rows[OTHER_ROW].to_numpy()) for name in names.values()}
        below |= {column: pd.Series(added_rows[name].to_numpy()) for name, column in new.items()}
        if model is not None:
            below[model] = self._rows_of("frame")[model].take(added_rows[MODEL_ROW].to_numpy())
        absent_in_frame = {column for name, column in new.items() if name not in self._sources["frame"].specs}
        if len(added_rows):
            for number, (_, column) in enumerate(above.items()):
                above.isetitem(number, kept_exact(column))
        # Columns of the frame that the rows below lack are missing there.
        extended = above.reindex(range(len(above) + len(added_rows)))
        for name, values in below.items():
            if len(added_rows):
                matching = _with_matching_type(above[name], values)
                extended[name] = pd.concat([above[name], without_attributes(matching)], ignore_index=True)
            if name in absent_in_frame:
                extended[name] = _typed(extended[name], truth[name].dtype if name in truth else np.dtype("int64"))
        return extended


def _label(frame: Any, name: Any) -> Any:
    """Return a name as a label of columns, which may have several levels."""
    rest = [""] * (frame.columns.nlevels - 1)
    return (name, *rest) if rest and not isinstance(name, tuple) else name


def _typed(series: Any, dtype: Any) -> Any:
    """Return new numbers in the type of the user's column."""
    if types.is_bool_dtype(dtype):
        return series.astype(bool).astype(dtype)
    if types.is_integer_dtype(dtype):
        # A float rounds the largest integers up to a number that the type cannot hold.
        series = series.clip(upper=np.nextafter(2.0 ** (64 if types.is_unsigned_integer_dtype(dtype) else 63), 0))
    return series.astype(dtype) if types.is_any_real_numeric_dtype(dtype) else series


def _with_matching_type(above: Any, below: Any) -> Any:
    """Give values of another frame the type of the column that they extend, where they fit."""
    is_other = isinstance(above.dtype, pd.CategoricalDtype) and not below.dropna().isin(above.cat.categories).all()
    if is_other or above.dtype == below.dtype:
        return below
    with suppress(TypeError, ValueError, OverflowError, NotImplementedError, AttributeError):  # some sparse types
        changed = below.astype(above.dtype)
        if (changed.isna() == below.isna()).all() and (changed[changed.notna()] == below[below.notna()]).all():
            return changed
    return below
