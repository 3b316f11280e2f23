"""Candidate neighbours from blocked matrix products, |x|² + |y|² − 2xy: for many dimensions."""

import numpy as np

from unchurn.arrays import IntArray
from unchurn.neighbors.engine import Float64, Propose


def proposer(points: Float64) -> Propose:
    """Centre the points, so that an offset of the data costs no precision."""
    centred = points - points.mean(axis=0)
    norms = np.einsum("ij,ij->i", centred, centred)
    # Rounding of a sum of D products, each at most |x|·|y|, with room to spare.
    slack = 16 * (points.shape[1] + 8) * np.finfo(np.float64).eps * norms.max() + 1e-300

    def propose(rows: IntArray, count: int) -> tuple[IntArray, Float64]:
        distances = centred[rows] @ centred.T
        distances *= -2
        distances += norms
        distances += norms[rows, None]
        candidates = np.argpartition(distances, count - 1, axis=1)[:, :count]
        farthest = distances[np.arange(len(rows)), candidates[:, -1]]
        return candidates, farthest - slack

    return propose


def cost_per_row(points: Float64, count: int) -> int:
    """A distance to every point, and its rank."""
    return 2 * len(points)
