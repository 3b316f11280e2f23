"""Find distinct points and count the labels at each: equal points have equal answers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from unchurn.core.arrays import Float64, IntArray, distinct_rows


def collapse(
    points: Float64, classes: IntArray, width: int
) -> tuple[Float64, csr_array, IntArray | None]:
    """Distinct points, their label counts, and each row's point number (None if all differ)."""
    ones = np.ones(len(classes), np.int32)
    points, which = distinct(points)
    shape = (len(points), width)
    if which is None:
        every = np.arange(len(points) + 1)
        return points, csr_array((ones, classes, every), shape=shape), None
    return points, csr_array((ones, (which, classes)), shape=shape), which


def distinct(points: Float64) -> tuple[Float64, IntArray | None]:
    """Distinct points, and each row's point number (None if all rows differ).

    Rows are compared by a hash, and collisions are checked. `core.arrays.distinct_rows` sorts whole
    rows, which took seven times as long for a million rows of ten numbers, longer than many
    searches.
    """
    hashes = hash_rows(points)
    ordered = np.sort(hashes)
    if not (ordered[1:] == ordered[:-1]).any():
        return points, None
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    found = points[first]
    if any((a != b[which]).any() for a, b in zip(points.T, found.T, strict=True)):
        return distinct_rows(points)  # two different rows have the same hash
    return found, which


def hash_rows(points: Float64) -> npt.NDArray[np.uint64]:
    """A hash of each row: the same for equal rows, almost always different for others."""
    hashes = np.zeros(len(points), np.uint64)
    for column in points.T:
        bits = (column + 0.0).view(np.uint64)  # −0.0 becomes 0.0
        hashes = (hashes ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    return hashes
