"""`knn_labels`: the mean label over every point's closed-ball neighbourhood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from unchurn.arrays import Array, IntArray, as_array, as_classes, distinct_rows
from unchurn.errors import InputError
from unchurn.neighbors import kdtree, matmul
from unchurn.neighbors.engine import Float64

Float32 = npt.NDArray[np.float32]

# Up to here a kd-tree prunes well on logits; beyond, matrix products win.
KDTREE_MAX_DIMENSIONS = 16

# Size of the largest temporary array, in numbers (32 MiB): large enough to amortise Python's
# overhead, small enough that memory never grows as n·n or n·k.
BLOCK = 1 << 22


@overload
def knn_labels(
    embeddings: npt.ArrayLike, labels: npt.ArrayLike, k: int, *, n_classes: int | None = None
) -> Float32: ...
@overload
def knn_labels(
    embeddings: npt.ArrayLike,
    labels: npt.ArrayLike,
    k: Sequence[int] | IntArray,
    *,
    n_classes: int | None = None,
) -> list[Float32]: ...
def knn_labels(
    embeddings: npt.ArrayLike,
    labels: npt.ArrayLike,
    k: int | Sequence[int] | IntArray,
    *,
    n_classes: int | None = None,
) -> Float32 | list[Float32]:
    """Mean one-hot label over N_k(x), for every point x.

    N_k(x) is the closed ball of Definition 2 of Bahri & Jiang (2021): *all* points whose distance
    to x is at most the k-th smallest one, so x itself and every tie at that distance count.
    Distances are exact: squared differences of the original coordinates, summed in float64 in
    coordinate order.

    Parameters
    ----------
    embeddings
        (n, D) numbers; in the paper, the logits of the reference model. (n,) means D = 1.
    labels
        n class numbers, 0 … n_classes − 1.
    k
        Neighbours asked for, 1 … n. Given a sequence, one search answers for all of them.
    n_classes
        Columns of the result; the largest label plus one if not given.

    Returns
    -------
    (n, n_classes) float32, or a list of them, one per k.

    Examples
    --------
    >>> knn_labels([[0.0], [1.0], [2.0]], labels=[0, 1, 1], k=2)  # the middle point has a tie
    array([[0.5       , 0.5       ],
           [0.33333334, 0.6666667 ],
           [0.        , 1.        ]], dtype=float32)
    """
    points = _as_points(embeddings)
    classes = as_classes(labels, n_classes, n=len(points))
    ks = [
        _as_k(value, len(points)) for value in (k if isinstance(k, Sequence | np.ndarray) else [k])
    ]
    if not ks:
        raise InputError("k is an empty sequence")
    width = n_classes or int(classes.max()) + 1

    # Equal points have equal answers: search once per distinct point, weighted by its labels.
    distinct, which = distinct_rows(points)
    ones = np.ones(len(points), np.int64)
    histogram = csr_array((ones, (which, classes)), shape=(len(distinct), width))
    answers = _search(distinct, histogram, ks)
    results = [answer[which] for answer in answers]
    return results if isinstance(k, Sequence | np.ndarray) else results[0]


def _as_points(embeddings: npt.ArrayLike) -> Float64:
    """Check embeddings and give them as (n, D) float64."""
    array = as_array(embeddings, "embeddings")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"embeddings must be (n, D) with n, D ≥ 1, not {array.shape}")
    if array.dtype.kind not in "fiub":
        raise InputError(f"embeddings must be numbers, not {array.dtype}")
    points = np.ascontiguousarray(array, np.float64)
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        row = int(finite.argmin())
        raise InputError(f"embeddings row {row} holds NaN or infinity: {array[row]}")
    with np.errstate(over="ignore"):
        if not np.isfinite(np.sum(np.ptp(points, axis=0) ** 2)):
            raise InputError("embeddings are so large that squared distances overflow: scale them")
    return points


def _as_k(k: int, n: int) -> int:
    """Check one number of neighbours."""
    if not isinstance(k, int | np.integer) or isinstance(k, bool):
        raise InputError(f"k must be a whole number, not {k!r}")
    if not 1 <= k <= n:
        raise InputError(f"k must be from 1 to the number of points, {n}, not {k}")
    return int(k)


def _search(points: Float64, histogram: csr_array, ks: list[int]) -> list[Float32]:
    """Mean labels of every distinct point for each k; `histogram` counts the labels at a point.

    Ask for a few candidates more than k; where the engine cannot rule out that another point lies
    within the k-th distance (ties at the edge of the list), ask again for twice as many.
    """
    engine = kdtree if points.shape[1] <= KDTREE_MAX_DIMENSIONS else matmul
    propose = engine.proposer(points)
    columns = np.ascontiguousarray(points.T)
    sizes = histogram.sum(axis=1)
    answers = [np.empty(histogram.shape, np.float32) for _ in ks]
    rows, count = np.arange(len(points)), max(ks) + 1
    while rows.size:
        count = min(count, len(points))
        cost = max(engine.cost_per_row(points, count), 2 * histogram.shape[1])
        n_blocks = min(rows.size, 1 + rows.size * cost // BLOCK)
        open_rows = []
        for block in np.array_split(rows, n_blocks):
            candidates, floor = propose(block, count)
            distances = _squared_distances(columns, block, candidates)
            order = np.argsort(distances, axis=1, kind="stable")
            candidates = np.take_along_axis(candidates, order, axis=1)
            distances = np.take_along_axis(distances, order, axis=1)
            reached = np.cumsum(sizes[candidates], axis=1)
            radii = [_kth(distances, reached, k) for k in ks]
            sure = (np.maximum.reduce(radii) < floor) | (count == len(points))
            for answer, radius in zip(answers, radii, strict=True):
                inside = distances[sure] <= radius[sure, None]
                answer[block[sure]] = _mean_labels(candidates[sure], inside, histogram)
            open_rows.append(block[~sure])
        rows, count = np.concatenate(open_rows), 2 * count
    return answers


def _squared_distances(columns: Float64, rows: IntArray, candidates: IntArray) -> Float64:
    """Squared distances as `knn_labels` defines them: float64, summed in coordinate order."""
    total = np.zeros(candidates.shape)
    for column in columns:
        difference = column[candidates]
        difference -= column[rows, None]
        difference *= difference
        total += difference
    return total


def _kth(distances: Float64, reached: IntArray, k: int) -> Float64:
    """Distance within which each row first reaches k points (both arrays in order of distance)."""
    first = (reached >= k).argmax(axis=1)
    radius: Float64 = np.take_along_axis(distances, first[:, None], axis=1)[:, 0]
    return radius


def _mean_labels(candidates: IntArray, inside: Array, histogram: csr_array) -> Float32:
    """Mean label over the candidates inside the ball, counted exactly in integers."""
    ends = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    members = csr_array(
        (np.ones(ends[-1], np.int64), candidates[inside], ends),
        shape=(len(candidates), histogram.shape[0]),
    )
    counts = (members @ histogram).toarray()
    mean: Float32 = (counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
    return mean
