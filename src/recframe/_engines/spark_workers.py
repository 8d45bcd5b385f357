"""Spark's workers with polars: whole lists go to one worker, and what it sums comes back."""

from __future__ import annotations

import os
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from recframe._columns import MODEL
from recframe._engines.base import lazy
from recframe.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Task

    Batch = Any

WHOSE = "whose"
"""Which frame a row comes from, by number."""
MODELS = "models"
"""All models in long format: a worker may see no row of some of them, but judges each on the same lists."""


def computed(
    frames: Mapping[str, Frame], keys: Sequence[str], parts: int, task: Task, types: Mapping[str, type | None]
) -> Frame:
    """See `Engine.evaluate_on_workers`."""
    if find_spec("polars") is None or find_spec("pyarrow") is None:
        what = "partitions= on Spark, which lets polars rank on the workers,"
        raise MissingExtraError.of(what, "arrow")
    spark, functions = import_module("pyspark.sql.types"), import_module("pyspark.sql.functions")
    natives = {name: frame.to_native() for name, frame in frames.items()}
    fields = {field.name: field for native in natives.values() for field in native.schema.fields}
    numbers = {int: spark.LongType(), float: spark.DoubleType()}
    columns = {name: fields[name].dataType if kind is None else numbers[kind] for name, kind in types.items()}
    schema = spark.StructType([spark.StructField(name, kind) for name, kind in columns.items()])
    rows, *others = natives.values()
    if others:
        rows, *others = (native.withColumn(WHOSE, functions.lit(i)) for i, native in enumerate(natives.values()))
    for other in others:
        rows = rows.unionByName(other, allowMissingColumns=True)
    if MODEL in rows.columns:
        # Within a struct, as sets leave out what is missing.
        models = functions.collect_set(functions.struct(MODEL)).alias(MODELS)
        rows = rows.crossJoin(functions.broadcast(natives["frame"].agg(models)))
    whole_lists = rows.repartition(parts, *keys) if keys else rows.repartition(1)
    evaluate = partial(_evaluated, task, types, {name: native.columns for name, native in natives.items()})
    return lazy(whole_lists.mapInArrow(evaluate, schema))


def _evaluated(
    task: Task, types: Mapping[str, type | None], columns: Mapping[str, Sequence[str]], batches: Iterator[Batch]
) -> Iterator[Batch]:
    """Evaluate one part on a worker."""
    received = list(batches)
    if not sum(batch.num_rows for batch in received):
        return
    # Spark runs as many workers as there are cores, and says in this variable how many each may use.
    os.environ.setdefault("POLARS_MAX_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
    import polars as pl

    pa: Any = import_module("pyarrow")
    table = pa.Table.from_batches(received)
    part: Any = pl.from_arrow(table)
    pieces = [part.filter(pl.col(WHOSE) == i) for i in range(len(columns))] if len(columns) > 1 else [part]
    frames = {name: rows.select(columns[name]) for rows, name in zip(pieces, columns, strict=True)}
    if MODELS in part.columns:
        frames[MODELS] = part.get_column(MODELS)[0].struct.field(MODEL).alias(MODEL).to_frame()
    numbers = {int: pa.int64(), float: pa.float64()}
    fields = [(name, table.schema.field(name).type if kind is None else numbers[kind]) for name, kind in types.items()]
    answer = task(frames).select([name for name, _ in fields])
    yield from answer.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.schema(fields)).to_batches()
