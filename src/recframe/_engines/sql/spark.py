"""Spark DataFrames: one plan of Spark, which runs when the user collects its rows."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recframe._base.columns import POSITION
from recframe._engines.base import lazy
from recframe._engines.sql.base import SqlEngine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw

    from recframe._base.columns import Frame


@cache
def functions() -> Any:
    """Return Spark's functions, imported by name, so that type checkers and this module do not need Spark."""
    return import_module("pyspark.sql.functions")


class Spark(SqlEngine):
    """SQL of a Spark session."""

    remedy = "fetch the rows first: polars.from_arrow(frame.toArrow())"
    instead_of_parts = (
        "Spark ranks the frame itself; to let polars rank on the workers, see the page "
        "'States: Spark, Dask, Ray, Daft' (docs/howto/states.md)"
    )

    def items_frame(self, column: str, items: list[Any]) -> Any:
        return self._frame.sparkSession.createDataFrame([(each,) for each in items], [column])

    def in_kind(self, frame: nw.DataFrame[Any]) -> Any:
        return self._frame.sparkSession.createDataFrame(frame.to_arrow())

    def join(self, left: Frame, right: Frame, on: Sequence[str]) -> Frame:
        first_frame, second_frame = left.to_native(), right.to_native()
        columns = [*first_frame.columns, *(name for name in second_frame.columns if name not in on)]
        # The right keys are renamed, so that both sides may come from the same frame.
        second_frame = second_frame.toDF(*(f"there_{name}" if name in on else name for name in second_frame.columns))
        matches = [functions().col(name).eqNullSafe(functions().col(f"there_{name}")) for name in on]
        return lazy(first_frame.join(second_frame, matches, "left").select(*columns))

    def repeat(self, frame: Frame, times: str) -> Frame:
        numbers = functions().expr(f"explode(sequence(1L, bigint({times})))")
        return lazy(frame.to_native().withColumn(POSITION, numbers))

    def positions(self, upto: int | Frame) -> Frame:
        if isinstance(upto, int):
            return lazy(self._frame.sparkSession.range(1, upto + 1).toDF(POSITION))
        last = upto.to_native().toDF("last").where("last >= 1")
        return lazy(last.selectExpr(f"explode(sequence(1L, bigint(last))) AS {self.spelled(POSITION)}"))

    def folds_case(self, frame: Frame) -> bool:
        return bool(frame.to_native().sparkSession.conf.get("spark.sql.caseSensitive") != "true")

    def spelled(self, column: str) -> str:
        # Without quotes, a dot reads a field of a struct.
        return "`" + column.replace("`", "``") + "`"

    def rename(self, frame: Frame, names: Mapping[str, str]) -> Any:
        native = frame.to_native()
        return native.toDF(*(names.get(name, name) for name in native.columns))

    def untyped(self, native: Any) -> set[str]:
        return {name for name, dtype in native.dtypes if dtype == "void"}

    def sum_by(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        # As SQL: Narwhals' sums of 32 metrics are thousands of calls to Java, which take a second.
        sums = [f"coalesce(sum({name}), 0) AS {name}" for name in map(self.spelled, columns)]
        return lazy(frame.to_native().groupBy(*map(self.spelled, group)).agg(*map(functions().expr, sums)))

    def ratios(self, frame: Frame, columns: Sequence[str], sides: Mapping[str, tuple[str, str]]) -> Frame:
        selected = {name: self.spelled(name) for name in columns}
        for name, (above, below) in sides.items():
            numerator, denominator = self.spelled(above), self.spelled(below)
            selected[name] = f"CASE WHEN {denominator} > 0 THEN {numerator} / {denominator} END AS {selected[name]}"
        return lazy(frame.to_native().selectExpr(*selected.values()))
