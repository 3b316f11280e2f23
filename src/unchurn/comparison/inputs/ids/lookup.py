"""Find each id of one table in another, and count repeated ids.

Integers close together, as most ids are, index an array. Other integers and text use a hash table
of our own, whose hits are checked; any other type is left to Polars.

Polars' join could do it all, but takes longer: on 10 million shuffled ids (two busy cores, medians
of 15 rounds in turn) the table took 1.8 s and the join 3.8 s for numbers that lie far apart, 1.2 s
and 2.3 s for text; the best rounds 1.1 s and 1.5 s, 1.1 s and 2.0 s. So it is twice as fast on a
busy machine, less so for numbers on an idle one. `python benchmarks/join.py` measures it anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unchurn.comparison.inputs.casting import fits_int64
from unchurn.comparison.inputs.classes import in_blocks
from unchurn.core.arrays import IntArray

if TYPE_CHECKING:
    import polars as pl

ABSENT = -1
ROOM = 8  # array entries per id, up to which integers index an array
MOST = 2**31 - 1  # rows that 32 bits can number
Rows = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]


def find(ids: pl.Series, among: pl.Series) -> IntArray | None:
    """The row of each of `ids` in `among`, or ABSENT; None if both are equal.

    Ids must be distinct on both sides, and of one type.
    """
    if ids.equals(among):
        return None
    if len(among) <= MOST:
        if (numbers := _numbers(ids)) is not None and (places := _places(among)) is not None:
            return _by_place(numbers, *places)
        if _is_hashed(ids) and (found := _by_hash(ids, among)) is not None:
            return found
    return _by_join(ids, among)


def alike(left: pl.Series, right: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Ids of one type on both sides: integers if both are, else text."""
    import polars as pl

    if left.dtype == right.dtype:
        return left, right
    if fits_int64(left.dtype) and fits_int64(right.dtype):
        return left.cast(pl.Int64), right.cast(pl.Int64)
    return left.cast(pl.String), right.cast(pl.String)


def n_shared(some: pl.Series, ids: pl.Series) -> int:
    """How many of the ids `some` are in `ids`."""
    found = find(*alike(some, ids)) if len(some) else np.empty(0, int)
    return len(some) if found is None else int((found >= 0).sum())


def written_otherwise(one: pl.Series, two: pl.Series, n_paired: int) -> str:
    """A hint for an error if most ids differ only in case, spaces or leading zeros; else empty."""
    import polars as pl

    texts = one.cast(pl.String), two.cast(pl.String)
    ours, theirs = (t.str.strip_chars().str.to_lowercase().str.replace("^0+(.)", "${1}")
                    for t in texts)  # fmt: skip
    if ours.n_unique() < len(ours) or theirs.n_unique() < len(theirs):
        return ""
    found = find(ours, theirs)
    rows = np.arange(len(one)) if found is None else found
    at = np.flatnonzero(rows != ABSENT)
    if len(at) <= max(n_paired, min(len(one), len(two)) / 2):
        return ""
    left, right = texts[0].gather(at), texts[1].gather(rows[at])
    differs = (left != right).arg_max() or 0
    such = f"as {left[differs]!r} and {right[differs]!r}"
    return f". They differ in case, spaces or leading zeros, {such}: write ids alike"


def repeated(ids: pl.Series) -> int:
    """Number of ids that are repetitions of an earlier one."""
    if (numbers := _numbers(ids)) is not None and (spread := _spread(numbers)) is not None:
        low, size = spread
        seen = np.zeros(size, bool)

        def mark(block: slice) -> None:
            seen[numbers[block] - low] = True

        in_blocks(mark, len(numbers))
        return len(numbers) - int(np.count_nonzero(seen))
    if _is_hashed(ids) and ids.hash().n_unique() == len(ids):  # a fraction of the time for text
        return 0
    return len(ids) - ids.n_unique()


def _numbers(ids: pl.Series) -> npt.NDArray[np.int64] | None:
    import polars as pl

    return ids.cast(pl.Int64).to_numpy() if fits_int64(ids.dtype) else None


def _spread(numbers: npt.NDArray[np.int64]) -> tuple[int, int] | None:
    """The least number, and the size of the range of numbers; None if that is too large."""
    if len(numbers) == 0:
        return None
    low, high = int(numbers.min()), int(numbers.max())
    size = high - low + 1
    return (low, size) if size <= ROOM * len(numbers) + 1024 else None


def _places(ids: pl.Series) -> tuple[int, Rows] | None:
    """The least id, and the row of each number from it on; None if ids are far apart."""
    numbers = _numbers(ids)
    if numbers is None or (spread := _spread(numbers)) is None:
        return None
    low, size = spread
    rows = np.full(size, ABSENT, np.int32)

    def put(block: slice) -> None:
        rows[numbers[block] - low] = np.arange(block.start, block.stop, dtype=np.int32)

    in_blocks(put, len(numbers))
    return low, rows


def _by_place(ids: npt.NDArray[np.int64], low: int, rows: Rows) -> Rows:
    found = np.empty(len(ids), np.int32)

    def one(block: slice) -> None:
        at = ids[block] - low
        np.take(rows, at, out=found[block], mode="clip")
        outside = (at < 0) | (at >= len(rows))
        if outside.any():
            found[block][outside] = ABSENT

    in_blocks(one, len(ids))
    return found


def _is_hashed(ids: pl.Series) -> bool:
    """Whether equal ids surely have equal hashes in two tables."""
    import polars as pl

    return ids.dtype == pl.String or ids.dtype.is_integer()


def _by_hash(ids: pl.Series, among: pl.Series) -> Rows | None:
    """The rows by their hashes; None if two different ids have the same hash."""
    found = _with_hash(ids.hash().to_numpy(), among.hash().to_numpy())
    return found if _is_true(found, ids, among) else None


def _with_hash(hashes: Hashes, among: Hashes) -> Rows:
    """Rows by a hash table with linear probing, for all rows at once, repeated for collisions."""
    bits = max(len(among), 8).bit_length() + 1  # two to four slots for each
    shift, last = np.uint64(64 - bits), (1 << bits) - 1
    table = np.full(1 << bits, ABSENT, np.int32)
    rows = np.arange(len(among), dtype=np.int32)
    slots = (among >> shift).astype(np.int64)
    while len(rows):
        free = table[slots] < 0
        table[slots[free]] = rows[free]
        left = table[slots] != rows  # another row took the slot
        rows, slots = rows[left], (slots[left] + 1) & last
    found = np.full(len(hashes), ABSENT, np.int32)

    def one(block: slice) -> None:
        wanted = hashes[block]
        slots, rows = (wanted >> shift).astype(np.int64), np.arange(block.start, block.stop)
        while len(rows):
            at = table[slots]
            hit = (at >= 0) & (among[at] == wanted)
            found[rows[hit]] = at[hit]
            on = (at >= 0) & ~hit
            rows, slots, wanted = rows[on], (slots[on] + 1) & last, wanted[on]

    in_blocks(one, len(hashes))
    return found


def _is_true(found: Rows, ids: pl.Series, among: pl.Series) -> bool:
    """Whether ids are equal where their hashes are."""
    there = found >= 0
    if not there.all():
        ids, found = ids.filter(there), found[there]
    return ids.equals(among.gather(found))


def _by_join(ids: pl.Series, among: pl.Series) -> IntArray:
    import polars as pl

    rows = pl.DataFrame({"id": among}).with_row_index("row")
    joined = pl.DataFrame({"id": ids}).join(rows, on="id", how="left", maintain_order="left")
    return joined["row"].cast(pl.Int64).fill_null(ABSENT).to_numpy()
