"""The search for many dimensions: matrix products of float32 propose, chunk by chunk.

A block of queries meets the points in chunks that fit into the processor's cache. Each query keeps
what is within its bound, which is narrowed as the list grows: neither n·n nor n·k numbers exist.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from unchurn.core.arrays import Array, Float32, Float64, IntArray
from unchurn.neighbors.kernels.count import Slack
from unchurn.neighbors.kernels.points import LEAF, LabelledPoints, make_labelled_points
from unchurn.neighbors.kernels.search_products import Lists, finish, sift
from unchurn.neighbors.search.base import Advance
from unchurn.neighbors.search.placement import Placement
from unchurn.neighbors.search.threads import in_threads

# Queries and points of one product: large enough for BLAS, small enough for the cache.
QUERIES, CHUNK = 1024, 512
# Numbers in the lists of one block of queries.
ROOM = 1 << 22
# float32 proposes if its error is below this share of a typical squared k-th distance.
RESOLVED = 0.01
# Queries looked at to tell what is typical.
SAMPLE = 16


class Brute:
    """The points, centred and scaled."""

    def __init__(self, points: Float64, histogram: csr_array, workers: int) -> None:
        self.workers = workers
        self.n_classes = histogram.shape[1]
        self.labelled = make_labelled_points(points, histogram)
        self.placement = Placement.of(points)
        self.rows = self.placement.place(points, np.float32)

    def answer(self, queries: Float64 | None, ks: IntArray, advance: Advance) -> Float32:
        """Mean labels of the queries (or of the points themselves) for each k."""
        points = self.labelled.points if queries is None else queries
        dtype = self._precision(points, int(ks[0]))
        rows = (
            self.rows if dtype == np.float32 else self.placement.place(self.labelled.points, dtype)
        )
        answers = np.empty((len(ks), len(points), self.n_classes), np.float32)
        asked = _Asked(
            placement=self.placement,
            labelled=self.labelled,
            rows=rows,
            norms=_norms(rows),
            queries=points,
            ks=ks,
            slack=self._slack(dtype),
            answers=answers,
        )
        todo: IntArray = np.arange(len(points))
        spare = CHUNK + LEAF  # a list has to take one more chunk
        # One BLAS thread for each of ours: blocks of queries share nothing.
        with threadpool_limits(1, user_api="blas"):
            # Short lists do for nearly all queries; those with very many ties need the longest.
            for room in (min(len(rows), 4 * int(ks[0])) + 2 * CHUNK + spare, len(rows) + spare):
                if todo.size:
                    todo = self._round(asked, todo, room, advance)
        return answers

    def _round(self, asked: _Asked, todo: IntArray, room: int, advance: Advance) -> IntArray:
        """Answer these queries with lists of this length; give those that need more."""
        step = max(1, min(QUERIES, ROOM // room))
        too_short: list[IntArray] = []

        def one(start: int) -> int:
            block = todo[start : start + step]
            too_short.append(block[~asked.answer_block(block, room)])
            return len(block) - len(too_short[-1])

        in_threads(one, range(0, len(todo), step), self.workers, advance)
        return np.concatenate(too_short)

    def _precision(self, points: Float64, k: int) -> npt.DTypeLike:
        """float32, unless its error is not small against a typical k-th distance."""
        sample = self.placement.place(points[:: 1 + len(points) // SAMPLE], np.float32)
        distances = _norms(sample)[:, None] + _norms(self.rows) - 2 * (sample @ self.rows.T)
        at = min(k, len(self.rows)) - 1
        typical = float(np.median(np.partition(distances, at, axis=1)[:, at]))
        return np.float32 if self._slack(np.float32).constant < RESOLVED * typical else np.float64

    def _slack(self, dtype: npt.DTypeLike) -> Slack:
        """What rounding can do to a rough distance of points of norm 1 and a query at 0."""
        return Slack(
            relative=2 * (self.rows.shape[1] + 8) * float(np.finfo(np.float64).eps),
            absolute=self.placement.rounding(dtype),
            constant=self.placement.products_error(dtype),
        )


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What is asked of one search, shared by all its blocks of queries."""

    placement: Placement
    labelled: LabelledPoints
    rows: Array
    norms: Array
    queries: Float64
    ks: IntArray
    slack: Slack
    answers: Float32

    def answer_block(self, block: IntArray, room: int) -> npt.NDArray[np.bool_]:
        """Answer one block of queries; tell which of them, the others' lists being too short."""
        dtype, k = self.rows.dtype, int(self.ks[0])
        queries = self.queries[block]
        placed = self.placement.place(queries, dtype)
        own_norms = _norms(placed)
        placed *= -2
        lists = Lists(
            values=np.empty((len(block), room), dtype),
            places=np.empty((len(block), room), np.int32),
            sizes=np.zeros(len(block), np.int64),
            bounds=np.full(len(block), np.inf, dtype),
        )
        buffer = np.empty(len(block) * CHUNK, dtype)
        for start in range(0, len(self.rows), CHUNK):
            chunk = self.rows[start : start + CHUNK]
            products = buffer[: len(block) * len(chunk)].reshape(len(block), len(chunk))
            np.matmul(placed, chunk.T, out=products)
            sift(products, start, self.norms, own_norms, k, self.slack, self.labelled, lists)
        finish(block, queries, own_norms, self.ks, self.slack, self.labelled, lists, self.answers)
        return lists.sizes >= 0


def _norms(rows: Array) -> Array:
    """Squared norms, summed in float64."""
    norms = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return np.asarray(norms, rows.dtype)
