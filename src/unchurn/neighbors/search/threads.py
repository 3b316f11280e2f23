"""Run work in threads that can be interrupted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed

from unchurn.neighbors.search.base import Advance


def n_workers(workers: int | None) -> int:
    """The number of threads; as many as this process may use if not given."""
    if workers is not None:
        return workers
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(
    function: Callable[[int], int], pieces: Iterable[int], workers: int, advance: Advance
) -> None:
    """Call a function on every piece; it returns the number of rows it has done.

    An interruption waits only for the pieces in progress. Libraries' own threads are not used,
    because SciPy's crash the interpreter when interrupted.
    """
    if workers == 1:
        for piece in pieces:
            advance(function(piece))
        return
    pool = ThreadPoolExecutor(workers)
    try:
        for done in as_completed([pool.submit(function, piece) for piece in pieces]):
            advance(done.result())
    finally:
        pool.shutdown(cancel_futures=True)
