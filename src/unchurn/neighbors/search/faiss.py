"""Searches by FAISS: exact with its flat index, approximate with IVF and HNSW."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import faiss
import numpy as np
from scipy.sparse import csr_array

from unchurn.core.arrays import Float32, Float64, IntArray
from unchurn.neighbors.search.placement import Placement
from unchurn.neighbors.search.proposals import Proposed, by_products

# Neighbours in HNSW's graph, and how many candidates a search keeps (at least, and per neighbour).
LINKS, EFFORT, EFFORT_PER_NEIGHBOUR = 32, 64, 2
# Share of IVF's cells that a search visits.
PROBED = 1 / 8
# Rows on which an approximate search is compared with the exact answer.
SAMPLE = 1000


class ApproximateWarning(UserWarning):
    """The k-NN labels are approximate, as requested; the message says how good they are."""


@dataclass(frozen=True, kw_only=True)
class Quality:
    """How good an approximate search is, measured on some of the fitted rows."""

    recall: float  # share of the k nearest points that were found
    mean_error: float  # of the labels: half the sum of a row's absolute differences
    max_error: float
    rows: int
    k: int

    def __str__(self) -> str:
        return (
            f"approximate k-NN labels: recall {self.recall:.2%} of the {self.k} nearest, labels "
            f"off by {self.mean_error:.3%} on average and {self.max_error:.2%} at most, measured "
            f"on {self.rows:,} rows"
        )


def flat(points: Float64, histogram: csr_array, workers: int) -> Proposed:
    """The exact search, by FAISS's flat index."""
    placement = Placement.of(points)
    index = faiss.IndexFlatL2(points.shape[1])
    index.add(placement.place(points, np.float32))

    def propose(queries: Float64, count: int) -> tuple[IntArray, Float64]:
        placed = placement.place(queries, np.float32)
        faiss.omp_set_num_threads(workers)
        rough, candidates = index.search(placed, count)
        return candidates, placement.no_less_than(rough[:, -1], placed)

    return Proposed(points, histogram, propose)


def approximate(points: Float64, histogram: csr_array, kind: str, workers: int) -> Proposed:
    """The approximate search "ivf" or "hnsw"."""
    placement = Placement.of(points)
    faiss.omp_set_num_threads(workers)
    placed = placement.place(points, np.float32)
    index = _ivf(placed) if kind == "ivf" else faiss.IndexHNSWFlat(points.shape[1], LINKS)
    index.add(placed)
    exact = by_products(points, histogram).propose

    def propose(queries: Float64, count: int) -> tuple[IntArray, Float64]:
        if kind == "hnsw":
            index.hnsw.efSearch = max(EFFORT, EFFORT_PER_NEIGHBOUR * count)
        faiss.omp_set_num_threads(workers)
        _, candidates = index.search(placement.place(queries, np.float32), count)
        few = (candidates < 0).any(axis=1)  # FAISS found fewer than requested
        if few.any():
            candidates[few] = exact(queries[few], count)[0]
        return candidates, np.full(len(queries), np.inf)

    return Proposed(points, histogram, propose)


def _ivf(placed: Float32) -> Any:
    """An IVF index of up to 4√n cells."""
    n_cells = max(1, min(int(4 * len(placed) ** 0.5), len(placed) // 39))  # FAISS wants 39 per cell
    quantizer = faiss.IndexFlatL2(placed.shape[1])
    index = faiss.IndexIVFFlat(quantizer, placed.shape[1], n_cells)
    index.nprobe = max(1, int(n_cells * PROBED))
    index.train(placed)
    return index


def measure(search: Proposed, k: int) -> Quality:
    """Compare an approximate search with the exact one on some of its points, and warn."""
    points, histogram = search.points, search.histogram
    exact = by_products(points, histogram)
    rng = np.random.default_rng(0)
    rows = rng.choice(len(points), min(SAMPLE, len(points)), replace=False)
    queries, ks = points[rows], np.array([k])
    wanted = exact.answer(queries, ks, lambda _: None)[0]
    got = search.answer(queries, ks, lambda _: None)[0]
    count, hits = min(k, len(points)), []
    for part in np.array_split(queries, -(-len(queries) // 100)):
        true = search.distances(part, exact.propose(part, count)[0])
        found = search.distances(part, search.propose(part, count)[0])
        hits.append((found <= true.max(axis=1, keepdims=True)).mean(axis=1))
    errors = np.abs(wanted - got).sum(axis=1) / 2
    quality = Quality(
        recall=float(np.concatenate(hits).mean()),
        mean_error=float(errors.mean()),
        max_error=float(errors.max()),
        rows=len(rows),
        k=k,
    )
    warnings.warn(str(quality), ApproximateWarning, stacklevel=4)
    return quality
