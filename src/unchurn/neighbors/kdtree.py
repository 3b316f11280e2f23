"""Candidate neighbours from SciPy's kd-tree: for few dimensions."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.spatial import KDTree

from unchurn.arrays import IntArray
from unchurn.neighbors.engine import Float64, Propose

# SciPy's distances and its pruning are off by some units in the last place per dimension and level
# of the tree; this is far more than that, and costs a second look only at near-ties.
RELATIVE_SLACK = 1e-9
# Squares of differences this small underflow, where no relative bound holds.
ABSOLUTE_SLACK = 1e-300
# Rows that one thread takes at a time: an interruption waits for no more than these.
CHUNK = 128


def proposer(points: Float64) -> Propose:
    """Build the tree once; it answers on all cores."""
    tree = KDTree(points)

    def propose(rows: IntArray, count: int) -> tuple[IntArray, Float64]:
        chunks = np.array_split(rows, -(-len(rows) // CHUNK))
        # Threads of our own: SciPy's (workers=-1) crash the interpreter when interrupted.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda chunk: tree.query(points[chunk], k=count), chunks))
        distances = np.concatenate([d.reshape(-1, count) for d, _ in found])
        candidates = np.concatenate([c.reshape(-1, count) for _, c in found])
        return candidates, distances[:, -1] ** 2 * (1 - RELATIVE_SLACK) - ABSOLUTE_SLACK

    return propose


def cost_per_row(points: Float64, count: int) -> int:
    """Only the candidates themselves."""
    return count
