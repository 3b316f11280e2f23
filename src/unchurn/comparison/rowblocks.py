"""Millions of rows in blocks that stay in a core's cache, on all cores; results in their order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray

SIZE = 1 << 16  # rows of a block: small enough for the cache, large enough for NumPy's overhead
Found = TypeVar("Found")
IntTable = npt.NDArray[np.int64]


def in_blocks(work: Callable[[slice], Found], n: int) -> list[Found]:
    """What `work` gives for each block of rows. NumPy lets other threads run meanwhile."""
    import polars as pl

    blocks = [slice(start, min(start + SIZE, n)) for start in range(0, max(n, 1), SIZE)]
    if len(blocks) < 2:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(pl.thread_pool_size()) as pool:  # as many as Polars may use
        return list(pool.map(work, blocks))


def take(values: npt.NDArray[Any], rows: IntArray) -> npt.NDArray[Any]:
    """The values of these rows, which must all be there."""
    found = np.empty(len(rows), values.dtype)

    def one(block: slice) -> None:
        np.take(values, rows[block], out=found[block], mode="clip")  # other modes copy twice

    in_blocks(one, len(rows))
    return found


def count(numbers: IntArray, size: int) -> IntTable:
    """How often each number from 0 to size − 1 is there; negative ones are not counted."""
    if size > SIZE:  # a block is too small for a table of its own
        return np.bincount(numbers[numbers >= 0], minlength=size)

    def one(block: slice) -> IntTable:
        return np.bincount(numbers[block].astype(np.intp) + 1, minlength=size + 1)[1:]

    return _total(in_blocks(one, len(numbers)))


def cross(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> IntTable:
    """How often each pair of two numbers is there, as a table; negative rows are not counted."""
    size = (shape[0] + 1) * shape[1]

    def one(block: slice) -> IntTable:
        pairs = (rows[block].astype(np.intp) + 1) * shape[1] + columns[block]
        return np.bincount(pairs, minlength=size)[shape[1] :]

    found = one(slice(None)) if size > SIZE else _total(in_blocks(one, len(rows)))
    return found.reshape(shape)


def _total(tables: list[IntTable]) -> IntTable:
    total: IntTable = np.sum(tables, axis=0, dtype=np.int64)
    return total
