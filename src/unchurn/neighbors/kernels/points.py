"""The distinct points and their labels, as the kernels read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unchurn.core.arrays import Array, Float64, IntArray

# Points of a leaf: a few vector registers of float32. Larger leaves prune less, smaller ones spend
# more on boxes (measured: 16 and 64 are both slower).
LEAF = 32


class LabelledPoints(NamedTuple):
    """Distinct points, in the order of whoever searches them, and the labels that lie at each."""

    points: Float64  # (m, D), the original coordinates
    weights: Array  # int32: rows at each point; 0 beyond the last point, up to a full leaf
    labels: Array  # int32: the one class of these rows or, if they differ, −1 − (a mixed point)
    starts: Array  # int64: where a mixed point's entries start below
    mixed_labels: Array  # int32
    mixed_counts: Array  # int32
    weighted: bool  # whether any weight is not 1


def make_labelled_points(
    points: Float64, histogram: csr_array, order: IntArray | None = None
) -> LabelledPoints:
    """Arrange points and their label counts, (m, L), in the given order."""
    sizes = np.diff(histogram.indptr)
    totals = np.add.reduceat(histogram.data, histogram.indptr[:-1])
    labels = histogram.indices[histogram.indptr[:-1]].astype(np.int32)
    mixed = sizes > 1
    labels[mixed] = -1 - np.arange(np.count_nonzero(mixed))
    entries = np.repeat(mixed, sizes)
    if order is not None:
        points, totals, labels = points[order], totals[order], labels[order]
    weights = np.zeros(-(-len(points) // LEAF) * LEAF, np.int32)
    weights[: len(points)] = totals
    return LabelledPoints(
        points=np.require(points, requirements=["C", "W"]),  # Numba types read-only ones apart
        weights=weights,
        labels=labels,
        starts=np.concatenate([[0], np.cumsum(sizes[mixed])]).astype(np.int64),
        mixed_labels=histogram.indices[entries].astype(np.int32),
        mixed_counts=histogram.data[entries].astype(np.int32),
        weighted=bool((totals != 1).any()),
    )
