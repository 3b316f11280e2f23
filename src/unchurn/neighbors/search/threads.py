"""Threads of our own, which can be interrupted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed

from unchurn.neighbors.search.base import Advance


def n_workers(workers: int | None) -> int:
    """As many threads as this process may use, if not given."""
    if workers is not None:
        return workers
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(
    function: Callable[[int], int], pieces: Iterable[int], workers: int, advance: Advance
) -> None:
    """Call the function on every piece; it says how many rows are done.

    An interruption waits only for the pieces that are being worked on. (No libraries' own threads:
    those of SciPy crash the interpreter when interrupted.)
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
