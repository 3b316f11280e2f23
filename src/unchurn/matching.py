"""Where each id of one table is in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unchurn.arrays import IntArray
from unchurn.blocks import in_blocks

if TYPE_CHECKING:
    import polars as pl

ABSENT = -1
ROOM = 8  # places per id, up to which whole numbers are looked up by their place
Rows = npt.NDArray[np.int32]


def find(ids: pl.Series, among: pl.Series) -> IntArray | None:
    """The row of each id among others, which are distinct, or ABSENT; None if they are the same.

    Whole numbers that lie close together, as most ids do, have a place each: no hashing, no
    sorting. Others are joined by Polars.
    """
    import polars as pl

    if ids.equals(among):
        return None
    if (numbers := _numbers(ids)) is not None and (places := _places(among)) is not None:
        return _look_up(numbers, *places)
    rows = pl.DataFrame({"id": among}).with_row_index("row")
    joined = pl.DataFrame({"id": ids}).join(rows, on="id", how="left", maintain_order="left")
    return joined["row"].cast(pl.Int64).fill_null(ABSENT).to_numpy()


def repeated(ids: pl.Series) -> int:
    """How many ids were there before."""
    if (numbers := _numbers(ids)) is not None and (spread := _spread(numbers)) is not None:
        low, size = spread
        seen = np.zeros(size, bool)

        def mark(block: slice) -> None:
            seen[numbers[block] - low] = True

        in_blocks(mark, len(numbers))
        return len(numbers) - int(np.count_nonzero(seen))
    return len(ids) - ids.n_unique()


def _numbers(ids: pl.Series) -> npt.NDArray[np.int64] | None:
    import polars as pl

    if ids.dtype in (pl.Int64, pl.Int32, pl.Int16, pl.Int8, pl.UInt32, pl.UInt16, pl.UInt8):
        return ids.cast(pl.Int64).to_numpy()
    return None


def _spread(numbers: npt.NDArray[np.int64]) -> tuple[int, int] | None:
    """The least number and how many places there are up to the largest; None if too many."""
    if len(numbers) == 0:
        return None
    low, high = int(numbers.min()), int(numbers.max())
    size = high - low + 1
    return (low, size) if size <= ROOM * len(numbers) + 1024 else None


def _places(ids: pl.Series) -> tuple[int, Rows] | None:
    """For whole numbers that lie close together: the least, and the row of each from it on."""
    numbers = _numbers(ids)
    spread = None if numbers is None else _spread(numbers)
    if numbers is None or spread is None or len(numbers) >= 2**31:
        return None
    low, size = spread
    rows = np.full(size, ABSENT, np.int32)

    def put(block: slice) -> None:
        rows[numbers[block] - low] = np.arange(block.start, block.stop, dtype=np.int32)

    in_blocks(put, len(numbers))
    return low, rows


def _look_up(ids: npt.NDArray[np.int64], low: int, rows: Rows) -> Rows:
    found = np.empty(len(ids), np.int32)

    def one(block: slice) -> None:
        at = ids[block] - low
        np.take(rows, at, out=found[block], mode="clip")
        outside = (at < 0) | (at >= len(rows))
        if outside.any():
            found[block][outside] = ABSENT

    in_blocks(one, len(ids))
    return found
