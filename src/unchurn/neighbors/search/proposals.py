"""`Proposed`: a search by a library that only proposes neighbours; NumPy decides exactly.

A proposer is a function

    propose(queries, count) -> candidates (rows, count), least (rows,)

It returns for each query `count` points that are about the nearest, and a bound on the others:
every point left out has an exact squared distance of at least `least`, despite rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from unchurn.core.arrays import Array, Float32, Float64, IntArray
from unchurn.neighbors.search.base import Advance

Propose = Callable[[Float64, int], tuple[IntArray, Float64]]

# Size of the largest temporary array, in numbers (32 MiB): large enough to amortise Python's
# overhead, small enough that memory never grows as n·n or n·k.
BLOCK = 1 << 22


class Proposed:
    """A search by a proposer, which needs working memory for `cost` numbers per query."""

    def __init__(
        self,
        points: Float64,
        histogram: csr_array,
        propose: Propose,
        *,
        cost: int = 0,
    ) -> None:
        self.points, self.histogram = points, histogram
        self.propose, self.cost = propose, cost
        self.sizes = histogram.sum(axis=1)
        self.columns = np.ascontiguousarray(points.T)

    def answer(self, queries: Float64 | None, ks: IntArray, advance: Advance) -> Float32:
        """Mean labels of the queries (or of the points themselves) for each k.

        The proposer is asked for one candidate more than k. If it cannot rule out that another
        point lies within the k-th distance (ties at the edge of the list), it is asked again for
        twice as many.
        """
        queries = self.points if queries is None else queries
        m, n_classes = self.histogram.shape
        answers = np.empty((len(ks), len(queries), n_classes), np.float32)
        rows, count = np.arange(len(queries)), int(ks[0]) + 1
        while rows.size:
            count = min(count, m)
            n_blocks = min(rows.size, 1 + rows.size * max(self.cost, count, 2 * n_classes) // BLOCK)
            open_rows = []
            for block in np.array_split(rows, n_blocks):
                candidates, least = self.propose(queries[block], count)
                distances = self.distances(queries[block], candidates)
                order = np.argsort(distances, axis=1, kind="stable")
                candidates = np.take_along_axis(candidates, order, axis=1)
                distances = np.take_along_axis(distances, order, axis=1)
                reached = np.cumsum(self.sizes[candidates], axis=1)
                radii = [_kth(distances, reached, k) for k in ks]
                sure = (radii[0] < least) | (count == m)
                for answer, radius in zip(answers, radii, strict=True):
                    inside = distances[sure] <= radius[sure, None]
                    answer[block[sure]] = _mean_labels(candidates[sure], inside, self.histogram)
                open_rows.append(block[~sure])
                advance(int(np.count_nonzero(sure)))
            rows, count = np.concatenate(open_rows), 2 * count
        return answers

    def distances(self, queries: Float64, candidates: IntArray) -> Float64:
        """Squared distances as `knn_labels` defines them: float64, summed in coordinate order."""
        total = np.zeros(candidates.shape)
        for column, own in zip(self.columns, queries.T, strict=True):
            difference = column[candidates]
            difference -= own[:, None]
            difference *= difference
            total += difference
        return total


def _kth(distances: Float64, reached: IntArray, k: int) -> Float64:
    """The distance at which each row first reaches k points; both arrays are sorted by distance."""
    first = (reached >= k).argmax(axis=1)
    radius: Float64 = np.take_along_axis(distances, first[:, None], axis=1)[:, 0]
    return radius


def _mean_labels(candidates: IntArray, inside: Array, histogram: csr_array) -> Float32:
    """The mean label of the candidates inside the ball, counted exactly in integers."""
    ends = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    members = csr_array(
        (np.ones(ends[-1], np.int64), candidates[inside], ends),
        shape=(len(candidates), histogram.shape[0]),
    )
    counts = (members @ histogram).toarray()
    mean: Float32 = (counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
    return mean


def by_products(points: Float64, histogram: csr_array) -> Proposed:
    """The search by matrix products, |x|² + |y|² − 2xy, with NumPy only."""
    centre = points.mean(axis=0)  # so that an offset of the data does not cost precision
    centred = points - centre
    norms = np.einsum("ij,ij->i", centred, centred)
    # Rounding of a sum of D products, each at most |x|·|y|, with room to spare.
    share = 16 * (points.shape[1] + 8) * float(np.finfo(np.float64).eps)

    def propose(queries: Float64, count: int) -> tuple[IntArray, Float64]:
        own = queries - centre
        own_norms = np.einsum("ij,ij->i", own, own)
        distances = own @ centred.T
        distances *= -2
        distances += norms
        distances += own_norms[:, None]
        candidates = np.argpartition(distances, count - 1, axis=1)[:, :count]
        farthest = distances[np.arange(len(own)), candidates[:, -1]]
        return candidates, farthest - share * (norms.max() + own_norms) - 1e-300

    return Proposed(points, histogram, propose, cost=2 * len(points))
