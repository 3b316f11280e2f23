"""Millions of rows in blocks that stay in a core's cache, on all cores; results in their order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unchurn.arrays import IntArray

SIZE = 1 << 16  # rows of a block: small enough for the cache, large enough for NumPy's overhead
Found = TypeVar("Found")


def in_blocks(work: Callable[[slice], Found], n: int) -> list[Found]:
    """What `work` gives for each block of rows. NumPy lets other threads run meanwhile."""
    import polars as pl

    blocks = [slice(start, min(start + SIZE, n)) for start in range(0, n, SIZE)]
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


def count(codes: IntArray, size: int) -> npt.NDArray[np.int64]:
    """How often each of the numbers from 0 to size − 1 is there; negative ones are not counted."""

    def one(block: slice) -> npt.NDArray[np.int64]:
        return np.bincount(codes[block].astype(np.intp) + 1, minlength=size + 1)[1:]

    return np.sum(in_blocks(one, len(codes)), axis=0, dtype=np.int64, initial=0)
