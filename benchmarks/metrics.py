"""`churn_summary` against the same numbers from scikit-learn's metrics, pair by pair.

Prints the ratio of the two (medians of alternating rounds in one run) and our time for 50 runs of a
million examples. Usage: python benchmarks/metrics.py
"""

import statistics
import time
from collections.abc import Callable
from itertools import combinations

import numpy as np
from sklearn.metrics import zero_one_loss

from unchurn import churn_summary

ROUNDS = 5


def peer(runs: np.ndarray, truth: np.ndarray) -> list[tuple[float, float, float]]:
    """Churn, correct and incorrect churn of every pair, as one writes it with scikit-learn."""
    values = []
    for i, j in combinations(range(len(runs)), 2):
        right = runs[i] == truth
        slices = (slice(None), right, ~right)
        values.append(tuple(float(zero_one_loss(runs[i][s], runs[j][s])) for s in slices))
    return values  # type: ignore[return-value]


def seconds(call: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def predictions(n_runs: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten classes, each run wrong at random on a tenth of the examples."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 10, n)
    runs = np.where(rng.random((n_runs, n)) < 0.1, rng.integers(0, 10, (n_runs, n)), truth)
    return runs, truth


def main() -> None:
    """Compare on a size that the peer finishes, then time ours on the large one."""
    runs, truth = predictions(5, 100_000)
    summary = churn_summary(runs, truth)
    for got, theirs in zip(
        (summary.churn, summary.churn_correct, summary.churn_incorrect),
        np.mean(peer(runs, truth), axis=0),
        strict=True,
    ):
        assert np.isclose(got.mean, theirs)  # noqa: S101
    ours, peers = [], []
    for _ in range(ROUNDS):
        ours.append(seconds(lambda: churn_summary(runs, truth)))
        peers.append(seconds(lambda: peer(runs, truth)))
    ratio = statistics.median(peers) / statistics.median(ours)
    print(f"5 runs × 100,000: {ratio:.0f} times as fast as scikit-learn's zero_one_loss by pairs")

    runs, truth = predictions(50, 1_000_000)
    print(f"50 runs × 1,000,000, integers: {seconds(lambda: churn_summary(runs, truth)):.1f} s")
    names = np.array([f"class {c}" for c in range(10)])
    texts, text_truth = names[runs], names[truth]
    print(
        f"50 runs × 1,000,000, strings: {seconds(lambda: churn_summary(texts, text_truth)):.1f} s"
    )


if __name__ == "__main__":
    main()
