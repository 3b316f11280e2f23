"""k-NN labels side by side with the libraries' neighbour searches, in one run, answers checked.

Every contender gives the mean label of each point's k nearest, with the same number of threads;
rounds alternate, medians count; peers that are far from the best in the first round get no other.
Above 200,000 rows (brute force, whose queries all cost the same: above 50,000) peers that would
take more than half a minute answer 5,000 random queries from the full index, and their query time
is extrapolated (marked *). Measurements go to docs/benchmarks.jsonl, line by line, from which
docs/benchmarks.md is written.

Usage: UNCHURN_DATA=… python benchmarks/knn.py [--rounds 3] [--only mnist] [--no-growth]
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

THREADS = len(os.sched_getaffinity(0))
os.environ["OMP_NUM_THREADS"] = str(THREADS)  # pykdtree's and BLAS's, read when they are loaded

import faiss  # noqa: E402
import numpy as np  # noqa: E402
from page import keep, peak  # noqa: E402
from pykdtree.kdtree import KDTree as PyKDTree  # noqa: E402
from scipy.spatial import cKDTree  # noqa: E402
from sklearn.neighbors import NearestNeighbors  # noqa: E402

from unchurn import StableClassifier, knn_labels, load  # noqa: E402
from unchurn.neighbors.distinct import collapse  # noqa: E402
from unchurn.neighbors.inputs import as_points  # noqa: E402
from unchurn.neighbors.search.kdtree import KDTree  # noqa: E402
from unchurn.neighbors.warmup import warmup  # noqa: E402

KS = (10, 100, 500)
GOALS = {10: 2, 100: 3, 500: 5}  # times as fast as the best peer, up to 16 dimensions; beyond, 1
MANY_ROWS, MANY_FOR_BRUTE, QUERIES = 200_000, 50_000, 5_000
IN_FULL = 30.0  # seconds, up to which a peer answers all queries of many rows
BRUTE = ("sklearn brute", "FAISS flat")
FAR = 3  # times the best peer's time, beyond which a peer gets no further round
PATIENCE = 60.0  # seconds of the best peer after which a case gets no further round
Data = tuple[np.ndarray, np.ndarray]


def trained(name: str) -> Callable[[], Data]:
    """Logits of a small network on a real training set."""

    def make() -> Data:
        data = load(name)
        model = StableClassifier(epochs=5, random_state=0).fit(data.x_train, data.y_train)
        return model.fitted_.logits(np.asarray(data.x_train, np.float32)), data.y_train

    return make


def clustered(n: int, d: int, seed: int = 0) -> Data:
    """Points that look like logits: a cloud per class, of unequal widths along axes of its own."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, max(d, 2), n)
    points = np.empty((n, d), np.float32)
    for c in range(max(d, 2)):
        own = labels == c
        spread = rng.normal(size=(d, d)) / np.sqrt(d) * 2.0 ** -np.linspace(0, 4, d)[:, None]
        noise = rng.normal(size=(int(own.sum()), d)) @ spread
        points[own] = 3 * rng.normal(size=d) / np.sqrt(d) + noise + 4 * (np.arange(d) == c)
    flip = rng.random(n) < 0.05
    return points, np.where(flip, rng.integers(0, max(d, 2), n), labels)


CASES: dict[str, Callable[[], Data]] = {
    "mnist": trained("mnist"),
    "fashion-mnist": trained("fashion_mnist"),
    "phishing": trained("phishing"),
    "162,770 × 2": lambda: clustered(162_770, 2),
    "1,000,000 × 2": lambda: clustered(1_000_000, 2),
    "1,000,000 × 10": lambda: clustered(1_000_000, 10),
    "50,000 × 100": lambda: clustered(50_000, 100),
    "50,000 × 1000": lambda: clustered(50_000, 1000),
}


def average(neighbours: np.ndarray, labels: np.ndarray, width: int) -> np.ndarray:
    """Mean labels from indices, the way NumPy does it fastest."""
    out = np.empty((len(neighbours), width), np.float32)
    for start in range(0, len(neighbours), 4096):
        found = labels[neighbours[start : start + 4096]]
        rows = np.arange(len(found))[:, None] * width
        counts = np.bincount((found + rows).ravel(), minlength=len(found) * width)
        out[start : start + 4096] = counts.reshape(-1, width) / neighbours.shape[1]
    return out


def flat(points: np.ndarray) -> Any:
    """FAISS's exact index."""
    index = faiss.IndexFlatL2(points.shape[1])
    index.add(np.ascontiguousarray(points, np.float32))
    return index


# name -> build(points), find(index, queries, k) -> indices
PEERS: dict[str, tuple[Callable[..., Any], Callable[..., np.ndarray]]] = {
    "scipy cKDTree": (cKDTree, lambda t, q, k: t.query(q, k, workers=THREADS)[1]),
    "pykdtree": (PyKDTree, lambda t, q, k: t.query(q, k)[1].astype(np.int64)),
    "sklearn kd_tree": (
        lambda x: NearestNeighbors(algorithm="kd_tree", n_jobs=THREADS).fit(x),
        lambda t, q, k: t.kneighbors(q, k, return_distance=False),
    ),
    "sklearn brute": (
        lambda x: NearestNeighbors(algorithm="brute", n_jobs=THREADS).fit(x),
        lambda t, q, k: t.kneighbors(q, k, return_distance=False),
    ),
    "FAISS flat": (flat, lambda t, q, k: t.search(np.ascontiguousarray(q, np.float32), k)[1]),
}


def contenders(d: int) -> list[str]:
    """The peers to measure: kd-trees are hopeless in many dimensions."""
    return list(PEERS) if d <= 16 else list(BRUTE)


def sampled(peer: str, n: int) -> bool:
    """Whether a peer answers only some queries."""
    return n > (MANY_FOR_BRUTE if peer in BRUTE else MANY_ROWS)


def run_peer(name: str, points: np.ndarray, labels: np.ndarray, k: int, width: int) -> Any:
    """Seconds for all rows, and the mean labels of the rows that were answered."""
    build, find = PEERS[name]
    start = time.perf_counter()
    index = build(points)
    built = time.perf_counter() - start

    def ask(rows: Any) -> tuple[float, np.ndarray]:
        start = time.perf_counter()
        result = average(find(index, points[rows], k), labels, width)
        return time.perf_counter() - start, result

    if sampled(name, len(points)):
        rows = np.random.default_rng(1).choice(len(points), QUERIES, replace=False)
        some, result = ask(rows)
        if (estimate := some * len(points) / QUERIES) > IN_FULL:
            return built + estimate, result, rows
    asked, result = ask(slice(None))
    return built + asked, result, slice(None)


def measure(name: str, rounds: int) -> None:
    """Measure one case for every k."""
    points, labels = CASES[name]()
    labels = labels.astype(np.int64)
    n, d = points.shape
    width, peers = int(labels.max()) + 1, contenders(d)
    for k in KS:
        times: dict[str, list[float]] = {peer: [] for peer in ("unchurn", *peers)}
        differ: dict[str, float] = {}
        extrapolated = set()
        for _ in range(rounds):
            start = time.perf_counter()
            ours = knn_labels(points, labels, k, workers=THREADS)
            times["unchurn"].append(time.perf_counter() - start)
            best = min((times[peer][0] for peer in peers if times[peer]), default=0.0)
            for peer in peers:
                if not times[peer] or times[peer][0] < FAR * best:
                    seconds, result, rows = run_peer(peer, points, labels, k, width)
                    times[peer].append(seconds)
                    extrapolated |= {peer} if isinstance(rows, np.ndarray) else set()
                    differ[peer] = float((np.abs(result - ours[rows]) > 1e-6).any(axis=1).mean())
            if best > PATIENCE:
                break
        medians = {peer: statistics.median(values) for peer, values in times.items()}
        best_peer = min(peers, key=medians.__getitem__)
        keep(
            {
                "key": f"{name}, k={k}",
                "case": name if " × " in name else f"{name} logits, {n:,} × {d}",
                "k": k,
                "rounds": len(times["unchurn"]),
                "medians": medians,
                "best": best_peer,
                "ratio": medians[best_peer] / medians["unchurn"],
                "goal": GOALS[k] if d <= 16 else 1,
                "extrapolated": sorted(extrapolated),
                "parts": parts(points, labels, k, width),
                "differ": differ,
            }
        )


def parts(points: np.ndarray, labels: np.ndarray, k: int, width: int) -> dict[str, float]:
    """Seconds of our search's parts; in many dimensions, only of its products at the peak."""
    if points.shape[1] > 16:
        seconds = len(points) ** 2 * points.shape[1] / peak()
        return {"products at the machine's peak": seconds}
    ticks = [time.perf_counter()]
    distinct, histogram, _ = collapse(as_points(points), labels, width)
    ticks.append(time.perf_counter())
    index = KDTree(distinct, histogram, THREADS)
    ticks.append(time.perf_counter())
    index.answer(None, np.array([k]), lambda _: None)
    ticks.append(time.perf_counter())
    return dict(zip(("equal points", "tree", "search"), np.diff(ticks).tolist(), strict=True))


def growth(d: int, sizes: tuple[int, ...]) -> None:
    """Keep seconds and peak GiB at k = 10 for each number of rows, in a process of its own."""
    for n in sizes:
        command = [sys.executable, __file__, "--one", f"{n},{d}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, gib = (float(value) for value in done.stdout.split())
        keep({"key": f"growth {n} × {d}", "d": d, "n": n, "seconds": seconds, "gib": gib})


def one(n: int, d: int) -> None:
    """Print the seconds of one search and the peak memory, which includes the data."""
    points, labels = clustered(n, d)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    warmup()
    start = time.perf_counter()
    knn_labels(points, labels, 10, workers=THREADS)
    seconds = time.perf_counter() - start
    print(seconds, max(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 2**20)


def main() -> None:
    """Run what is asked for; the page is written after every case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--no-growth", action="store_true")
    parser.add_argument("--one")
    options = parser.parse_args()
    if options.one:
        one(*(int(value) for value in options.one.split(",")))
        return
    warmup()
    faiss.omp_set_num_threads(THREADS)
    for name in (name for name in CASES if options.only in name):
        measure(name, options.rounds)
    if not options.no_growth:
        for d in (2, 10):
            growth(d, (50_000, 200_000, 1_000_000, 5_000_000))


if __name__ == "__main__":
    main()
