"""Spark DataFrames in local mode."""

from __future__ import annotations

import datetime as dt
import os
import sys
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

from engines.arrow import Arrow
from engines.base import python_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engines.base import Data


class Spark(Arrow):
    """Spark DataFrames in local mode."""

    name = library = "spark"
    lazy, sorts, share = True, False, 16
    kinds = frozenset(
        ["null", "bool", "int8", "int16", "int32", "int64", "float32", "float64", "str", "date", "datetime"]
    )

    def started(self, builder: Any) -> Any:
        """Return the builder of a session, told where to run."""
        return builder.master("local[2]")

    @cached_property
    def session(self) -> Any:
        from pyspark.sql import SparkSession

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings = {
            "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "4",
            "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN", "spark.sql.adaptive.enabled": "false",
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.session.timeZone": "UTC", "spark.log.level": "ERROR",
        }  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Spark thinks of the pandas and Java there are
            builder = self.started(SparkSession.builder)
            for name, value in settings.items():
                builder = builder.config(name, value)
            return builder.getOrCreate()

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        # What has no sign is wider in Spark, as where it reads Parquet.
        wide = {"uint8": "int16", "uint16": "int32", "uint32": "int64", "uint64": "decimal"}
        signed = {name: wide.get(kind, kind) for name, kind in (kinds or {}).items()}
        return self.session.createDataFrame(self.table(data, signed))

    def rows(self, result: Any) -> list[dict[str, Any]]:
        from pyspark.sql import DataFrame

        assert isinstance(result, DataFrame), f"Spark in, {type(result)} out"
        rows = [{name: python_value(value) for name, value in row.items()} for row in result.toArrow().to_pylist()]
        # Spark's timestamps are points in time, here of UTC.
        return [
            {
                name: value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value
                for name, value in row.items()
            }
            for row in rows
        ]
