"""Compile the kernels of the k-NN search ahead of their first use."""

from __future__ import annotations

import time

import numpy as np


def warmup() -> float:
    """Compile the kernels of the searches, or read them from Numba's cache; returns the seconds.

    Without this call, the first search compiles them. They are kept in NUMBA_CACHE_DIR; if that is
    not set, beside the package or, if that is read-only, in the user's cache.
    """
    start = time.perf_counter()
    from unchurn.neighbors.distinct import collapse
    from unchurn.neighbors.search.kdtree import KDTree
    from unchurn.neighbors.search.products import Brute

    points = np.random.default_rng(0).normal(size=(200, 2))
    far = np.vstack([points, [[1e12, 1e12]]])  # so far away that float64 must propose, too
    for data in (points, far):
        distinct, histogram, _ = collapse(data, np.arange(len(data)) % 2, 2)
        for search in (KDTree, Brute):
            search(distinct, histogram, 1).answer(None, np.array([2, 1]), lambda _: None)
    return time.perf_counter() - start
