"""Compile all kernels of the search ahead of their first use."""

from __future__ import annotations

import time

import numpy as np


def warmup() -> float:
    """Make Numba compile what its searches need, or read it from its cache; gives the seconds.

    Without it, the first search does so. NUMBA_CACHE_DIR says where they are kept, if not beside
    the package or, where that is read-only, in the user's own cache.
    """
    start = time.perf_counter()
    from unchurn.neighbors.distinct import collapse
    from unchurn.neighbors.search.kdtree import KDTree
    from unchurn.neighbors.search.products import Brute

    points = np.random.default_rng(0).normal(size=(200, 2))
    far = np.vstack([points, [[1e12, 1e12]]])  # where float64 has to propose too
    for data in (points, far):
        distinct, histogram, _ = collapse(data, np.arange(len(data)) % 2, 2)
        for search in (KDTree, Brute):
            search(distinct, histogram, 1).answer(None, np.array([2, 1]), lambda _: None)
    return time.perf_counter() - start
