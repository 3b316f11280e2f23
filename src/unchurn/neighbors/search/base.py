"""What every engine shares: distinct points with label counts, and threads that can be interrupted.

An engine is a class with

    Engine(points, histogram, workers)      the distinct points (m, D) and their label counts (m, L)
    .answer(queries, ks, advance)           mean labels (len(ks), rows, L) of the queries, or of the
                                            points themselves if `queries` is None

where ks are falling, and `advance` is told of every few rows that are done.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from unchurn.core.arrays import IntArray, distinct_rows

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Advance = Callable[[int], None]
# Up to here a column is a fair part of every cache line that it takes.
SHORT_ROW = 16


class Engine(Protocol):
    """A search structure over distinct points."""

    def answer(self, queries: Float64 | None, ks: IntArray, advance: Advance) -> Float32:
        """Mean labels of the queries for each k."""


def collapse(
    points: Float64, classes: IntArray, width: int
) -> tuple[Float64, csr_array, IntArray | None]:
    """Distinct points, their label counts, and for every row which of them it is (None: itself)."""
    ones = np.ones(len(classes), np.int32)
    points, which = distinct(points)
    shape = (len(points), width)
    if which is None:
        every = np.arange(len(points) + 1)
        return points, csr_array((ones, classes, every), shape=shape), None
    return points, csr_array((ones, (which, classes)), shape=shape), which


def distinct(points: Float64) -> tuple[Float64, IntArray | None]:
    """Distinct points, and for every row which of them it is (None: each row itself).

    Told apart by a hash, which is checked: sorting whole rows takes longer than many a search.
    """
    hashes = np.zeros(len(points), np.uint64)
    for column in points.T:
        bits = (column + 0.0).view(np.uint64)  # −0.0 becomes 0.0
        hashes = (hashes ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    ordered = np.sort(hashes)
    if not (ordered[1:] == ordered[:-1]).any():
        return points, None
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    found = points[first]
    if any((a != b[which]).any() for a, b in zip(points.T, found.T, strict=True)):
        return distinct_rows(points)  # two rows of one hash
    return found, which


def extent(points: Float64) -> tuple[Float64, Float64]:
    """The lowest and highest coordinates of points."""
    if points.shape[1] > SHORT_ROW:
        return points.min(axis=0), points.max(axis=0)
    # Over short rows NumPy takes many times as long as over columns.
    return np.array([c.min() for c in points.T]), np.array([c.max() for c in points.T])


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
