"""`KDTree`: the search for few dimensions, a kd-tree that is searched leaf by leaf.

Points are centred, scaled, rotated to their principal axes (for tighter boxes) and rounded to
float32 (twice as fast). All of this only proposes candidates: the original coordinates decide.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from unchurn.core.arrays import Float32, Float64, IntArray
from unchurn.neighbors.kernels import build_tree as trees
from unchurn.neighbors.kernels.count import Slack
from unchurn.neighbors.kernels.points import LEAF, make_labelled_points
from unchurn.neighbors.kernels.search_tree import Tree, search_leaves
from unchurn.neighbors.search.base import Advance
from unchurn.neighbors.search.placement import Placement
from unchurn.neighbors.search.threads import in_threads

# Leaves that one thread takes at a time; an interruption waits for no more than these.
LEAVES_AT_A_TIME = 64
# float32 is used if a leaf is this many times as wide as the rounding of its points. Otherwise (far
# outliers) too many points would be doubtful, and float64 is used for proposals, too.
RESOLVED = 30


class KDTree:
    """A kd-tree of placed points, and their labels."""

    def __init__(self, points: Float64, histogram: csr_array, workers: int) -> None:
        self.workers = workers
        self.n_classes = histogram.shape[1]
        self.placement = Placement.of(points, turned=True)
        self.dtype: npt.DTypeLike = np.float32
        self.order, self.tree = self._grow(points)
        widths = (self.tree.nodes[:, 1] - self.tree.nodes[:, 0]).max(axis=1)  # half are leaves
        if np.median(widths) < RESOLVED * 2 * self.placement.rounding(np.float32):
            self.dtype = np.float64
            self.order, self.tree = self._grow(points)
        self.labelled = make_labelled_points(points, histogram, self.order)

    def answer(self, queries: Float64 | None, ks: IntArray, advance: Advance) -> Float32:
        """Mean labels of the queries (or of the points themselves) for each k."""
        if queries is None:
            order, groups, points = self.order, self.tree, self.labelled.points
        else:
            order, groups = self._grow(queries)
            points = queries[order]
        answers = np.empty((len(ks), len(points), self.n_classes), np.float32)
        n_groups, slack = len(groups.leaves), self._slack()

        def search(first: int) -> int:
            last = min(first + LEAVES_AT_A_TIME, n_groups)
            search_leaves(
                first, last, groups, self.tree, points, order, self.labelled, ks, slack, answers
            )
            return min(last * LEAF, len(points)) - first * LEAF

        in_threads(search, range(0, n_groups, LEAVES_AT_A_TIME), self.workers, advance)
        return answers

    def _grow(self, points: Float64) -> tuple[IntArray, Tree]:
        """Sort points into leaves: their order, and the tree."""
        n, n_dimensions = points.shape
        rows = self.placement.place(points, self.dtype)
        order, keys = np.arange(n), np.empty(n, self.dtype)
        n_leaves = -(-n // LEAF)
        spans = [(0, n_leaves)]  # of leaves: each is split in the middle

        def split(which: int) -> int:
            trees.split(rows, order, keys, *spans[which])
            return 0

        while len(spans) < 8 * self.workers and spans[0][1] - spans[0][0] > 64:
            in_threads(split, range(len(spans)), self.workers, lambda _: None)
            spans = [half for a, b in spans for half in ((a, (a + b) // 2), ((a + b) // 2, b))]
        leaves = np.empty((n_leaves, n_dimensions, LEAF), self.dtype)
        boxes = np.empty((n_leaves, 2, n_dimensions), self.dtype)

        def grow(which: int) -> int:
            trees.grow(rows, order, keys, *spans[which])
            trees.pack(rows, order, *spans[which], leaves, boxes)
            return 0

        in_threads(grow, range(len(spans)), self.workers, lambda _: None)
        nodes = np.empty((2 * n_leaves - 1, 2, n_dimensions), self.dtype)
        trees.enclose(boxes, nodes)
        return order, Tree(leaves, nodes)

    def _slack(self) -> Slack:
        """The error of rough distances by rounding; `absolute` is for a point of norm 1."""
        d, kind = self.placement.centre.size, np.finfo(self.dtype)
        return Slack(
            relative=2 * (d + 8) * float(kind.eps),
            absolute=self.placement.rounding(self.dtype),
            constant=2 * d * float(kind.tiny) + self.placement.lost(),
        )
