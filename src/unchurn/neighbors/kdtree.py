"""Candidate neighbours from SciPy's kd-tree: for few dimensions."""

from scipy.spatial import KDTree

from unchurn.arrays import IntArray
from unchurn.neighbors.engine import Float64, Propose

# SciPy's distances and its pruning are off by some units in the last place per dimension and level
# of the tree; this is far more than that, and costs a second look only at near-ties.
RELATIVE_SLACK = 1e-9
# Squares of differences this small underflow, where no relative bound holds.
ABSOLUTE_SLACK = 1e-300


def proposer(points: Float64) -> Propose:
    """Build the tree once; it answers on all cores."""
    tree = KDTree(points)

    def propose(rows: IntArray, count: int) -> tuple[IntArray, Float64]:
        distances, candidates = tree.query(points[rows], k=count, workers=-1)
        farthest = distances.reshape(len(rows), count)[:, -1]
        floor = farthest**2 * (1 - RELATIVE_SLACK) - ABSOLUTE_SLACK
        return candidates.reshape(len(rows), count), floor

    return propose


def cost_per_row(points: Float64, count: int) -> int:
    """Only the candidates themselves."""
    return count
