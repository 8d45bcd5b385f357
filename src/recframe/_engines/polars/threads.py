"""Background threads beside polars' own threads."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


def can_wait() -> bool:
    """Return whether the current thread may wait for a background thread that runs a query.

    A thread of polars may not wait, such as when it calls the function of `map_batches`. The query needs a free thread
    of polars. If all of them wait for such queries, none is free and the program hangs.
    """
    return not isinstance(threading.current_thread(), threading._DummyThread)  # noqa: SLF001 - has no public name


def background_pool(workers: int | None = None) -> Executor:
    """Return a pool of background threads, by default as many as polars has.

    If the current thread cannot wait, the pool runs each task immediately in the current thread.
    """
    return ThreadPoolExecutor(workers or pl.thread_pool_size()) if can_wait() else _InTurn()


class _InTurn(Executor):
    """Runs each task when it is submitted."""

    def submit(self, task: Callable[..., Result], /, *args: Any, **keywords: Any) -> Future[Result]:
        future = Future[Result]()
        try:
            future.set_result(task(*args, **keywords))
        except Exception as error:  # noqa: BLE001 - the future raises it
            future.set_exception(error)
        return future
