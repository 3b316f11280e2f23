"""Split rows at random exactly as scikit-learn does, without its import, which takes a second."""

from __future__ import annotations

import numpy as np

from unchurn.core.arrays import Array, IntArray

Parts = tuple[IntArray, IntArray]  # the rows to train on, and those to test on


def shuffled(n: int, n_test: int, seed: int) -> Parts:
    """Split n rows as `ShuffleSplit` does."""
    order = np.random.RandomState(seed).permutation(n)
    return order[n_test:], order[:n_test]


def stratified(y: Array, n_test: int, seed: int) -> Parts | None:
    """Split rows as `StratifiedShuffleSplit` does; None if a class cannot be in both parts."""
    _, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
    n_train = len(y) - n_test
    if counts.min() < 2 or min(n_train, n_test) < len(counts):
        return None
    rng = np.random.RandomState(seed)
    n_of_train = _shared(counts, n_train, rng)
    n_of_test = _shared(counts - n_of_train, n_test, rng)
    rows = np.split(np.argsort(numbers, kind="stable"), np.cumsum(counts)[:-1])
    train, test = [], []
    for own, count, first, second in zip(rows, counts, n_of_train, n_of_test, strict=True):
        drawn = own[rng.permutation(count)]
        train.append(drawn[:first])
        test.append(drawn[first : first + second])
    return rng.permutation(np.concatenate(train)), rng.permutation(np.concatenate(test))


def _shared(counts: IntArray, n: int, rng: np.random.RandomState) -> IntArray:
    """How many of n rows each class gets: its share, rounded so that the largest rests go up."""
    exact = counts / counts.sum() * n
    shares: IntArray = np.floor(exact).astype(np.int64)
    rests, left = exact - shares, int(n - shares.sum())
    for rest in np.unique(rests)[::-1]:
        if left == 0:
            break
        there = np.flatnonzero(rests == rest)
        chosen = rng.choice(there, size=min(len(there), left), replace=False)
        shares[chosen] += 1
        left -= len(chosen)
    return shares
