"""Calls inside of a query: polars calls a function, and the function calls recframe."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pl = pytest.importorskip("polars")

from recframe._engines.polars.threads import background_pool, can_wait  # noqa: E402

INSIDE_A_QUERY = """
import faulthandler
import polars as pl
import recframe
faulthandler.dump_traceback_later(100, exit=True)
assert pl.thread_pool_size() == 2
row = pl.int_range(200_000, eager=True)
df = pl.DataFrame({"user": row // 50, "score": row * 7 % 11 + 0.5, "relevant": row % 3 == 0, "old": row % 5 + 0.5})

def mean(rows):
    return pl.Series([rows.struct.unnest().rec.evaluate(["ndcg", "map"], k=5, by="user").item(0, 0)])

means = [pl.struct(pl.all()).map_batches(mean, returns_scalar=True, return_dtype=pl.Float64).alias(str(n)) for n in range(8)]
print(*{round(value, 9) for value in df.select(means).row(0)}, round(df.rec.ndcg(5, by="user"), 9))
"""
"""More rows than one thread computes alone, in as many functions at once as polars has threads."""


def test_calls_inside_of_a_query_end():
    environment = {**os.environ, "POLARS_MAX_THREADS": "2"}
    run = subprocess.run(
        [sys.executable, "-c", INSIDE_A_QUERY], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    inside, outside = run.stdout.split()
    assert inside == outside


IN_PROCESSES = """
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import polars as pl
import recframe

row = pl.int_range(5000, eager=True)
df = pl.DataFrame({"user": row // 5, "score": row * 7 % 11, "relevant": row % 3 == 0})

def values(k):
    return df.rec.evaluate(["ndcg", "map"], k=k).row(0), df.lazy().rec.mrr(k).collect().item()

if __name__ == "__main__":
    expected = [values(k) for k in range(1, 5)]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(values, [1, 2, 3, 4] * 20)) == expected * 20
    context = multiprocessing.get_context(sys.argv[1])
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(values, [1, 2, 3, 4])) == expected
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted({*multiprocessing.get_all_start_methods()} - {"fork"}))
def test_sixteen_threads_and_new_processes_get_the_same_values(method, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(IN_PROCESSES, encoding="utf-8")
    run = subprocess.run([sys.executable, str(program), method], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def inside_a_query(compute):
    """Return what a function returns that polars calls."""
    result = []
    column = pl.col("a").map_batches(lambda values: result.append(compute()) or values, return_dtype=pl.Int64)
    pl.DataFrame({"a": [1]}).select(column.over("a"))
    return result[0]


def test_only_threads_of_python_wait():
    with ThreadPoolExecutor(1) as pool:
        assert can_wait()
        assert pool.submit(can_wait).result()
    assert not inside_a_query(can_wait)


def test_a_pool_inside_of_a_query_runs_tasks_in_turn():
    def run():
        with background_pool() as pool:
            threads = pool.submit(threading.get_ident), threading.get_ident()
            return threads[0].result() == threads[1], pool.submit(divmod, 7, 0).exception()

    same_thread, error = inside_a_query(run)
    assert same_thread
    assert isinstance(error, ZeroDivisionError)
